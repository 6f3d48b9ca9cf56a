/**
 * Drops svcmgr's rights permanently, in a process that then acts for a caller.
 *
 * Thread: the program's only one.   Source: ours; credentials(7), capabilities(7), keyrings(7).
 */
#ifndef SHIM_RIGHTS_H
#define SHIM_RIGHTS_H

#include "shim/wire.h"

/**
 * Leave svcmgr's session keyring, which would stay readable after a change of user. Before rights_take, as root: a
 * keyring counts against its maker's quota.
 * @param u  as for rights_take; when it is not set nothing is left                  [borrowed]
 * @return 0, also where the kernel or a filter has no keyrings; -1 with errno.
 */
int rights_leave_keyring(const struct shim_user *u);
/**
 * Become the user with exactly its groups, without capabilities, and without a way to more rights: also when the user
 * stays the same, a set-user-ID program gives nothing from now on.
 * @param u  whom; not set: only the rest                                            [borrowed]
 * @return 0; -1 with errno: end the process, it may have changed in part.
 */
int rights_take(const struct shim_user *u);

/**
 * Open, rename and remove files with the rights of a user, until rights_files_back.
 * @param u  whom; not set: nothing changes                                          [borrowed]
 * @return 0; -1 with errno: call rights_files_back and leave the files alone.   Source: setfsuid(2).
 */
int rights_files_as(const struct shim_user *u);
/** Open files with our own rights again; errno may change. */
void rights_files_back(const struct shim_user *u);

#endif
