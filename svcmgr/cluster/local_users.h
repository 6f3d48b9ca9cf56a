/**
 * Assigns a uid to each owner of services, from a range that no other user has: yarn.service.local.user-range.
 *
 * An owner gets the first unused uid when his first container is launched, and keeps it permanently: the file of
 * assignments is on the disk before the uid is used, and a uid is never given to another owner, also when all services
 * of the first are gone, since files that he left could be anywhere.
 *
 *   200000 alice        one line an owner, in the order of assignment
 *
 * Thread: any; calls wait for the disk.   Source: ours; passwd(5), subuid(5).
 */
#ifndef CLUSTER_LOCAL_USERS_H
#define CLUSTER_LOCAL_USERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "bobbin/error.h"

/** A range may have so many uids. */
#define LOCAL_USERS_MAX 1000000

struct local_users;

/**
 * Check a range without using it.
 *
 * @param range  "200000-200999", both ends belong to it                            [borrowed]
 * @param etc    directory of passwd, group, subuid and subgid: "/etc"              [borrowed]
 * @return 0; ERR_CONFIG: no range, one with 0 or of more than LOCAL_USERS_MAX uids, or one that is not free: a user or group has
 *         a number of it, or may use it in a user namespace; *why names file and line.
 */
int local_users_check(const char *range, const char *etc, struct err_info *why);
/**
 * Open a range with what was assigned before. Assignments outside the range stay: an owner keeps his uid when the range moves.
 *
 * @param range  checked                                                             [borrowed]
 * @param file   of the assignments; it need not be there yet                        [borrowed]
 * @return 0; ERR_CONFIG: the file cannot be understood, *why names the line; or as file_read.
 */
int local_users_open(const char *range, const char *file, struct local_users **out, struct err_info *why);
/** Free; NULL is fine. */
void local_users_close(struct local_users *u);
/**
 * The uid of an owner, assigned when he has none. A number that the system has given a name meanwhile is left out.
 *
 * @param uid  of the owner; his group has the same number                           [out]
 * @return 0; ERR_INVALID: no such name can be kept; ERR_CONFIG: no uid is left; or as file_write: nothing is assigned.
 */
int local_users_find(struct local_users *u, const char *owner, uid_t *uid, struct err_info *why);

/** The uid of an owner who has one, without waiting for anything. @return false: he has none, or it is not known now. */
bool local_users_peek(struct local_users *u, const char *owner, uid_t *uid);

#endif
