/**
 * Tokens of Hadoop, and the blobs and files that they are stored in: what HADOOP_TOKEN_FILE_LOCATION names, and what a launch context
 * carries.
 *
 *     "HDTS" 00  VInt n tokens   n × (Text alias, VInt + identifier, VInt + password, Text kind, Text service)
 *                VInt n secrets  n × (Text alias, VInt + value)                    Text: VInt + UTF-8
 *     "HDTS" 01  the same as a message of protobuf, its length before it
 *
 * VInt is Hadoop's own: -112..127 in one octet, else an octet with sign and length, then the value, big-endian.
 * Identifier and password are octets that only servers understand. Passwords are secrets: they are overwritten before their memory
 * is released, and nothing logs them.
 *
 * Pure. Thread: any.   Source: Hadoop, Credentials, WritableUtils.
 */
#ifndef YARN_TOKEN_H
#define YARN_TOKEN_H

#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "records.pb-c.h"

#define TOKEN_KIND_MASTER    "YARN_AM_RM_TOKEN"
#define TOKEN_KIND_NODE      "NMToken"
#define TOKEN_KIND_CONTAINER "ContainerToken"

struct yarn_token {
    char *kind, *service;
    struct buf identifier, password;
};

/** Copy a token; *out is empty before, yarn_token_fini releases it. */
void yarn_token_copy(struct yarn_token *out, const struct yarn_token *token);
/** The same from a message. @param m  also one without service or kind: they are "" */
void yarn_token_read(struct yarn_token *out, const Yarn__Token *m);
/** Point a message at a token: it borrows everything. */
void yarn_token_point(const struct yarn_token *token, Yarn__Token *out);
/** Release; the password is overwritten. The token is empty and usable again. */
void yarn_token_fini(struct yarn_token *token);

struct yarn_secret {
    char *alias;
    struct buf value;
};

struct yarn_named_token {
    char *alias;
    struct yarn_token token;
};

/** Most entries of either kind that are read. */
#define CREDENTIALS_MAX_ITEMS 1024

struct yarn_credentials {
    struct yarn_named_token *tokens;
    size_t n_tokens;
    struct yarn_secret *secrets;
    size_t n_secrets;
};

#define CREDENTIALS_EMPTY ((struct yarn_credentials){NULL, 0, NULL, 0})

/**
 * Read a blob of either format.
 *
 * @param out  empty before; yarn_credentials_fini releases it                   [out]
 * @param why  filled on error; may be NULL                                      [out]
 * @return 0; or ERR_PARSE (no such blob, or cut); ERR_UNSUPPORTED: a format of the future; ERR_TOOBIG: more than
 *         CREDENTIALS_MAX_ITEMS. *out stays empty then.
 */
int yarn_credentials_read(const void *blob, size_t len, struct yarn_credentials *out, struct err_info *why);
/** Append a blob of format 0, which every version of Hadoop reads. */
void yarn_credentials_write(const struct yarn_credentials *c, struct buf *out);
/** Add a token. @param alias  "" as a rule [copied] @param token [copied] */
void yarn_credentials_add(struct yarn_credentials *c, const char *alias, const struct yarn_token *token);
/** The first token of a kind, or NULL. Aliases and services do not matter. Borrowed. */
const struct yarn_token *yarn_credentials_find(const struct yarn_credentials *c, const char *kind);
/** Release; passwords and secrets are overwritten. Empty and usable again. */
void yarn_credentials_fini(struct yarn_credentials *c);

#endif
