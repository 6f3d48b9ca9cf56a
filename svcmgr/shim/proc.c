#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/str.h"
#include "shim/wire.h"

int shim_proc_read(pid_t pid, struct shim_proc *out)
{
    char path[48], text[1024];
    struct shim_proc p;
    int parent, group, session;
    uint64_t ticks[4]; /* of it in user and system mode, of its ended children likewise */

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? ERR_NOTFOUND : ERR_UNAVAILABLE;
    ssize_t n = read(fd, text, sizeof text - 1);
    int error = n < 0 ? errno : ESRCH;
    close(fd);
    if (n <= 0)
        return error == ESRCH ? ERR_NOTFOUND : ERR_UNAVAILABLE;
    text[n] = '\0';
    /* The program's name is in parentheses and may hold any byte: the fields begin after the last one. */
    const char *p_fields = strrchr(text, ')');
    if (!p_fields || sscanf(p_fields + 1,
                            " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
                            " %" SCNu64 " %*d %*d %*d %*d %" SCNu64 " %*u %" SCNd64,
                            &p.state, &parent, &group, &session, &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                            &p.start, &p.rss_pages) != 10)
        return ERR_NOTFOUND;
    p.cpu_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
    p.parent = parent;
    p.group = group;
    p.session = session;
    *out = p;
    return 0;
}

int shim_proc_each(void (*fn)(void *arg, pid_t pid, const struct shim_proc *proc), void *arg)
{
    DIR *d = opendir("/proc");
    const struct dirent *e;

    int result = 0;

    if (!d)
        return ERR_UNAVAILABLE;
    while ((e = readdir(d))) {
        int64_t pid;
        struct shim_proc proc;
        if (str_to_i64(e->d_name, 1, INT32_MAX, &pid))
            continue;
        int err = shim_proc_read((pid_t)pid, &proc);
        if (!err)
            fn(arg, (pid_t)pid, &proc);
        else if (err == ERR_UNAVAILABLE)
            result = err;
    }
    closedir(d);
    return result;
}

int shim_boot_id(char out[SHIM_BOOT_MAX])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, SHIM_BOOT_MAX - 1);

    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n == SHIM_BOOT_MAX - 1 ? 0 : ERR_IO;
}

/** Whether pid is still that process. @return 0, ERR_NOTFOUND or ERR_UNAVAILABLE. */
static int check_identity(pid_t pid, uint64_t start)
{
    struct shim_proc proc;
    int err = shim_proc_read(pid, &proc);

    if (err)
        return err;
    return proc.start == start && proc.state != 'Z' ? 0 : ERR_NOTFOUND;
}

static int send_by(int pid_fd, int signal)
{
    if (!signal || !pidfd_send_signal(pid_fd, signal, NULL, 0))
        return 0;
    return errno == ESRCH ? ERR_NOTFOUND : ERR_PERMISSION;
}

int shim_proc_signal(pid_t pid, uint64_t start, int signal)
{
    int err = check_identity(pid, start);
    if (err)
        return err;
    int pid_fd = pidfd_open(pid, 0);
    if (pid_fd < 0)
        return errno == ESRCH ? ERR_NOTFOUND : ERR_UNAVAILABLE;
    /* What had the number when it was opened keeps it while it is open: the second look is about that process. */
    err = check_identity(pid, start);
    if (!err)
        err = send_by(pid_fd, signal);
    close(pid_fd);
    return err;
}
