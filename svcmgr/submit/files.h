/**
 * Files that node managers fetch from svcmgr by HTTP where there is no HDFS: the archive of package.h, by its content, and for each
 * application the configuration of its master, whose name nobody can guess and which is the only thing that protects it.
 *
 *     GET PREFIX/TOKEN/NAME       TOKEN: of submit_files_token, or the hash of an archive
 *
 * A master that is started again fetches the same URLs, so they stay until the application has ended, over restarts of svcmgr, too: a token
 * follows from a secret that lasts and from the application's tag.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef SUBMIT_FILES_H
#define SUBMIT_FILES_H

#include "base/buf.h"
#include "bobbin/error.h"
#include "http/server.h"

/** Hexadecimal digits of a token, and its NUL. */
#define SUBMIT_TOKEN_ROOM 65

struct submit_files;

/** @param dir  of the archives: DIR/am-HASH.tar.gz [copied]. Free with submit_files_free. */
struct submit_files *submit_files_new(const char *dir);
/** No answer of it is on its way any more: the server has stopped. NULL is fine. */
void submit_files_free(struct submit_files *f);
/** Write the token of an application. @param secret  len octets that nobody else knows, 16 or more [borrowed] @return out. */
const char *submit_files_token(const void *secret, size_t len, const char *tag, char out[SUBMIT_TOKEN_ROOM]);
/**
 * The secret for tokens in a directory, made there when it is missing: it lasts, as masters that are started again fetch the same names.
 *
 * @param dir     exists; only svcmgr may enter it                               [borrowed]
 * @param secret  len octets                                                     [out]
 * @return 0; ERR_IO with *why filled
 */
int submit_files_secret(const char *dir, uint8_t *secret, size_t len, struct err_info *why);
/** Serve a content; another one of the token is replaced. @param take_content  emptied */
void submit_files_put(struct submit_files *f, const char *token, struct buf *take_content);
/** Serve it no more; the content is overwritten. */
void submit_files_remove(struct submit_files *f, const char *token);
/**
 * Answer a request of the route PREFIX/{token}/{name}; its path is a secret and not logged by us. ERR_NOTFOUND: nothing is there.
 * @param req  not answered [in,out]
 */
void submit_files_reply(struct submit_files *f, struct http_req *req);

#endif
