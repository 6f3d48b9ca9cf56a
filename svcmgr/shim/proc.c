#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "shim/wire.h"

int shim_proc_read(pid_t pid, struct shim_proc *out)
{
    char path[48], text[1024];
    struct shim_proc p;
    int parent, group, session;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ERR_NOTFOUND;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return ERR_NOTFOUND;
    text[n] = '\0';
    /* The program's name is in parentheses and may hold any byte: the fields begin after the last one. */
    const char *p_fields = strrchr(text, ')');
    if (!p_fields ||
        sscanf(p_fields + 1,
               " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64, &p.state,
               &parent, &group, &session, &p.start) != 5)
        return ERR_NOTFOUND;
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

    if (!d)
        return ERR_IO;
    while ((e = readdir(d))) {
        int64_t pid;
        struct shim_proc proc;
        if (!str_to_i64(e->d_name, 1, INT32_MAX, &pid) && !shim_proc_read((pid_t)pid, &proc))
            fn(arg, (pid_t)pid, &proc);
    }
    closedir(d);
    return 0;
}
