#include "shim/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int rights_leave_keyring(const struct shim_user *u)
{
    if (!u->is_set || syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
        return 0;
    return errno == ENOSYS || errno == EPERM ? 0 : -1;
}

int rights_take(const struct shim_user *u)
{
    /* EINVAL: a kernel without ambient capabilities. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
        return -1;
    if (u->is_set && (setgroups(u->n_groups, u->groups) || setgid(u->gid) || setuid(u->uid)))
        return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int rights_files_as(const struct shim_user *u)
{
    if (!u->is_set)
        return 0;
    if (setgroups(u->n_groups, u->groups))
        return -1;
    setfsgid(u->gid);
    setfsuid(u->uid);
    /* Both say the value before the call, and nothing of an error: ask with an id that cannot exist. */
    if ((gid_t)setfsgid((gid_t)-1) == u->gid && (uid_t)setfsuid((uid_t)-1) == u->uid)
        return 0;
    errno = EPERM;
    return -1;
}

void rights_files_back(const struct shim_user *u)
{
    if (!u->is_set)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    setgroups(0, NULL); /* Ours are not needed: what they allow, root may. */
}
