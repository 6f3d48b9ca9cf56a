/** Names of entries of archives: see localizer.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "localizer/localizer.h"

static char *refuse(const char *name, enum source_problem problem, struct source_fault *f)
{
    source_fault_detail(f, name);
    localizer_fault(f, problem, 0);
    return NULL;
}

char *entry_name(const char *name, struct source_fault *f)
{
    buf_auto struct buf out = BUF_EMPTY;
    size_t depth = 0;

    if (*name == '/')
        return refuse(name, SOURCE_ENTRY_OUTSIDE, f);
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "/");
        bool is_void = n == 0 || (n == 1 && *p == '.');
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return refuse(name, SOURCE_ENTRY_OUTSIDE, f);
        if (n > NAME_MAX || depth == ENTRY_DEPTH_MAX || out.len + n >= PATH_MAX)
            return refuse(name, SOURCE_ENTRY_NAME, f);
        if (!is_void && depth++)
            buf_add_char(&out, '/');
        if (!is_void)
            buf_add(&out, p, n);
        p += n + (p[n] == '/');
    }
    return buf_take(&out);
}

bool entry_link_is_inside(const char *name, const char *target)
{
    size_t depth = 0;
    bool is_below = false; /* something other than ".." came */

    for (const char *p = name; (p = strchr(p, '/')); p++)
        depth++;
    if (!*target || *target == '/')
        return false;
    for (const char *p = target; *p;) {
        size_t n = strcspn(p, "/");
        bool is_up = n == 2 && p[0] == '.' && p[1] == '.';
        if (is_up && (is_below || depth-- == 0))
            return false;
        is_below = is_below || (!is_up && n > 0 && !(n == 1 && *p == '.'));
        p += n + (p[n] == '/');
    }
    return true;
}

/** Go into one directory of an entry's name. Closes dir. */
static int step_into(int dir, const char *name)
{
    int made = mkdirat(dir, name, 0755);
    int fd =
        made && errno != EEXIST ? -1 : openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;

    close(dir);
    errno = error;
    return fd;
}

int entry_open_parent(int top, const char *name, const char **last, struct source_fault *f)
{
    int at = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *p = name;

    for (const char *slash; at >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
        mem_auto char *element = mem_strn(p, (size_t)(slash - p));
        at = step_into(at, element);
    }
    *last = p;
    if (at >= 0)
        return at;
    int error = errno;
    source_fault_detail(f, name);
    return error == ENOTDIR || error == ELOOP ? localizer_fault(f, SOURCE_ENTRY_OUTSIDE, error)
                                              : localizer_fault(f, SOURCE_UNWRITTEN, error);
}
