#include "run/fdlimit.h"

#include <errno.h>
#include <string.h>

#include "base/obj.h"

#define RESERVE ((rlim_t)64)

/** The limit that the process was started with; written once, before there are other threads. */
static struct rlimit first;
static bool is_raised;

static struct rlimit present(void)
{
    struct rlimit limit;
    BUG_IF(getrlimit(RLIMIT_NOFILE, &limit) != 0);
    return limit;
}

int fdlimit_raise(struct err_info *why)
{
    if (is_raised)
        return 0;
    struct rlimit before = present(), wanted = {before.rlim_max, before.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) != 0)
        return err_set(why, ERR_IO, "RLIMIT_NOFILE", "cannot be raised from %llu to %llu: %s",
                       (unsigned long long)before.rlim_cur, (unsigned long long)before.rlim_max,
                       strerror(errno));
    first = before;
    is_raised = true;
    return 0;
}

struct rlimit fdlimit_first(void)
{
    return is_raised ? first : present();
}

bool fdlimit_is_short(int fd, int part)
{
    rlim_t limit = present().rlim_cur, reserve = limit / 8 < RESERVE ? limit / 8 : RESERVE;
    return (rlim_t)fd >= limit - reserve / (rlim_t)part;
}

int fdlimit_give_first(pid_t pid, struct err_info *why)
{
    struct rlimit limit = fdlimit_first();
    if (prlimit(pid, RLIMIT_NOFILE, &limit, NULL) != 0)
        return err_set(why, ERR_IO, "RLIMIT_NOFILE", "cannot be set for process %d: %s", (int)pid,
                       strerror(errno));
    return 0;
}
