#include "cluster/shim_autopsy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/shortage.h"
#include "run/loop.h"

int shim_lock(const char *dir, int *fd, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, SHIM_LOCK_FILE);

    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return err_set(why, shortage_code(errno), path, "%s", strerror(errno));
    if (!flock(*fd, LOCK_EX | LOCK_NB))
        return 0;
    int error = errno;
    close(*fd);
    *fd = -1;
    if (error == EWOULDBLOCK)
        return err_set(why, ERR_UNAVAILABLE, path, "its shim lives and does not answer yet");
    return err_set(why, shortage_code(error), path, "%s", strerror(error));
}

/** Read one line. @return 0; ERR_NOTFOUND: there is no such file, or it is empty; ERR_LIMIT, ERR_IO: it cannot be read now. */
static int read_line_file(const char *dir, const char *name, char out[SHIM_LINE_MAX], struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, out, SHIM_LINE_MAX - 1);
    int error = errno;

    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    if (n > 0)
        return 0;
    if (n == 0 || error == ENOENT || error == ENOTDIR)
        return ERR_NOTFOUND;
    return err_set(why, shortage_code(error), path, "%s", strerror(error));
}

/** What became of the container is known to a newer version only. */
static int refuse_newer(const char *dir, const char *name, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);

    return err_set(why, ERR_UNAVAILABLE, path,
                   "a newer version has written %s, this one reads formats up to %d: start that version",
                   name, SHIM_FORMAT);
}

static int read_exit(const char *dir, struct shim_exit *out, struct err_info *why)
{
    char line[SHIM_LINE_MAX];
    int err = read_line_file(dir, SHIM_EXIT_FILE, line, why);

    if (!err)
        err = shim_exit_read(line, out);
    if (err == ERR_UNSUPPORTED)
        return refuse_newer(dir, SHIM_EXIT_FILE, why);
    return err == ERR_PARSE ? ERR_NOTFOUND : err;
}

/* ---- what a dead shim has left ---- */

#define HUNT_MAGIC OBJ_MAGIC('H', 'U', 'N', 'T')

struct hunt {
    struct obj obj;
    const struct shim_status *dead;
    uid_t uid; /* whom the container ran as */
    size_t n_left;
};

static void hunt_one(void *arg, pid_t pid, const struct shim_proc *proc)
{
    struct hunt *h = obj_cast(arg, struct hunt, HUNT_MAGIC);
    char path[48];
    struct stat st;

    if (proc->session != h->dead->shim || proc->start < h->dead->shim_start || proc->state == 'Z')
        return;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &st) || st.st_uid != h->uid)
        return;
    int err = shim_proc_signal(pid, proc->start, SIGKILL);
    h->n_left += err != ERR_NOTFOUND && err != ERR_PERMISSION;
}

/**
 * Kill what the dead shim's session still has. The kernel does not reuse a number while a session has it: a process that
 * has the shim's number says that the session was empty before.
 */
static int kill_leftovers(const char *dir, const struct shim_status *dead, struct err_info *why)
{
    mem_auto char *work = mem_fmt("%s/work", dir);
    struct hunt h = {.obj = {HUNT_MAGIC}, .dead = dead, .uid = geteuid()};
    struct shim_proc proc;
    struct stat st;
    int err = shim_proc_read(dead->shim, &proc);

    if (!err && proc.start != dead->shim_start)
        return 0;
    if (!stat(work, &st))
        h.uid = st.st_uid;
    if (err != ERR_UNAVAILABLE)
        err = shim_proc_each(hunt_one, &h);
    if (err)
        return err_set(why, ERR_LIMIT, "/proc", "it cannot be read now: %s", strerror(errno));
    if (h.n_left)
        return err_set(why, ERR_UNAVAILABLE, dir, "its shim is dead, %zu processes that it left are killed",
                       h.n_left);
    return 0;
}

int shim_kill(const char *dir, pid_t pid, struct err_info *why)
{
    char line[SHIM_LINE_MAX], boot[SHIM_BOOT_MAX];
    struct shim_status s;
    int err = read_line_file(dir, SHIM_RUNNING_FILE, line, why);

    if (err && err != ERR_NOTFOUND)
        return ERR_LIMIT;
    if (err || shim_status_read(line, &s))
        return err_set(why, ERR_NOTFOUND, dir, "no file names its shim");
    if (shim_boot_id(boot))
        return err_set(why, ERR_LIMIT, "boot_id", "it cannot be read now: %s", strerror(errno));
    if (s.shim != pid || strcmp(s.boot, boot))
        return err_set(why, ERR_NOTFOUND, dir, "its file does not name process %d as its shim", (int)pid);
    err = shim_proc_signal(s.shim, s.shim_start, SIGKILL);
    if (err)
        err_set(why, err == ERR_UNAVAILABLE ? ERR_LIMIT : err, dir, "its shim %d is not killed: %s", (int)pid,
                err_text(err));
    return err == ERR_UNAVAILABLE ? ERR_LIMIT : err;
}

/** 0: the shim that wrote the running file is dead and has left nothing. */
static int check_identity(const char *dir, const struct shim_status *s, struct err_info *why)
{
    char boot[SHIM_BOOT_MAX];

    if (shim_boot_id(boot))
        return err_set(why, ERR_LIMIT, "boot_id", "it cannot be read now: %s", strerror(errno));
    if (*s->boot && strcmp(s->boot, boot))
        return 0;
    int err = shim_proc_signal(s->shim, s->shim_start, 0);
    if (err == ERR_UNAVAILABLE)
        return err_set(why, ERR_LIMIT, "/proc", "it cannot be read now: %s", strerror(errno));
    if (err != ERR_NOTFOUND)
        return err_set(why, ERR_UNAVAILABLE, dir, "its shim lives and does not answer yet");
    return *s->boot ? kill_leftovers(dir, s, why) : 0;
}

/** With the lock held, or none there to hold. */
static int judge(const char *dir, struct shim_exit *out, struct err_info *why)
{
    char line[SHIM_LINE_MAX];
    struct shim_status s = {.started_ms = 0};
    int err = read_exit(dir, out, why);

    if (err != ERR_NOTFOUND)
        return err;
    err = read_line_file(dir, SHIM_RUNNING_FILE, line, why);
    int unread = err ? err : shim_status_read(line, &s);
    if (unread == ERR_UNSUPPORTED)
        return refuse_newer(dir, SHIM_RUNNING_FILE, why);
    if (!unread)
        err = check_identity(dir, &s, why);
    if (err && err != ERR_NOTFOUND)
        return err;
    *out = (struct shim_exit){.kind = SHIM_LOST, .started_ms = s.started_ms, .ended_ms = run_wall_ms()};
    snprintf(out->text, sizeof out->text, "the shim is gone");
    return 0;
}

int shim_autopsy(const char *dir, struct shim_exit *out, struct err_info *why)
{
    int lock_fd;
    int err = read_exit(dir, out, why);

    if (err != ERR_NOTFOUND)
        return err;
    err = shim_lock(dir, &lock_fd, why);
    if (err == ERR_UNAVAILABLE || err == ERR_LIMIT)
        return err;
    /* Without a lock file, on a full disk for instance, the running file alone says who lived. */
    err = judge(dir, out, why);
    if (lock_fd >= 0)
        close(lock_fd);
    return err;
}
