/**
 * Records `key=value`, each ended by a NUL: the format of the launch file and of the request to a reader of sources.
 *
 * Thread: any.   Source: ours.
 */
#ifndef SHIM_RECORDS_H
#define SHIM_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"

#define SHIM_GROUPS_MAX 64

/** Whose rights a process shall have. */
struct shim_user {
    bool is_set; /* become uid, gid and exactly these groups; false: stay who we are */
    uid_t uid;
    gid_t gid;
    gid_t groups[SHIM_GROUPS_MAX];
    size_t n_groups;
};

/** Append one record; a NULL value: nothing. */
void record_text(struct buf *out, const char *key, const char *value);
/** As record_text, with a number in decimal digits. */
void record_int(struct buf *out, const char *key, int64_t value);
/** Append the records uid, gid and group; a user that is not set: nothing. */
void record_user(struct buf *out, const struct shim_user *u);

/** The key is one of a user's. */
bool record_is_user(const char *key);
/** Take one of a user's records. @return 0; ERR_PARSE: no number, or more than SHIM_GROUPS_MAX groups. */
int record_take_user(struct shim_user *u, const char *key, const char *value);
/**
 * Call take for each record, in order.
 *
 * @param bytes  len bytes                                                           [borrowed]
 * @param take   sets a member of *into from a record; returns 0, or anything else to end it
 * @return 0; or ERR_PARSE: a record without '=' or NUL, or one that take refused; *why says at which byte.
 */
int records_each(const char *bytes, size_t len, int (*take)(void *into, const char *key, const char *value),
                 void *into, struct err_info *why);

#endif
