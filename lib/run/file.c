#include "run/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "run/degraded.h"
#include "run/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(struct err_info *why, const char *path, const char *what)
{
    return err_set(why, shortage_code(errno), path, "%s: %s", what, strerror(errno));
}

static int failed(struct err_info *why, const char *path, const char *what)
{
    degraded_report(errno, path);
    return refused(why, path, what);
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR)
            return ERR_IO;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The name in its directory is on the disk, too: without it the old file may be back after a loss of power. */
static int sync_dir_of(const char *path)
{
    mem_auto char *dir = path_parent(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = fd < 0 || fsync(fd) ? ERR_IO : 0;
    if (fd >= 0)
        close(fd);
    return err;
}

/** Octets that are written together. */
#define PIECE_BYTES (1u << 20)

struct file_out {
    char *path, *beside;
    int fd, err;
    struct buf waiting;
    struct err_info why;
};

static void write_waiting(struct file_out *o)
{
    if (!o->err && write_all(o->fd, o->waiting.bytes, o->waiting.len))
        o->err = failed(&o->why, o->beside, "the file cannot be written");
    buf_clear(&o->waiting);
}

struct file_out *file_out_open(const char *path, mode_t mode, struct err_info *why)
{
    mem_auto char *beside = mem_fmt("%s.new", path);
    unlink(beside); /* of a run that was killed, with whatever mode it had */
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0) {
        failed(why, beside, "the file cannot be made");
        return NULL;
    }
    struct file_out *o = mem_new(struct file_out);
    o->path = mem_str(path);
    o->beside = mem_str(beside);
    o->fd = fd;
    return o;
}

int file_out_put(struct file_out *o, const void *bytes, size_t len)
{
    buf_add(&o->waiting, bytes, len);
    if (o->waiting.len >= PIECE_BYTES)
        write_waiting(o);
    return o->err;
}

/* The file is whole: onto the disk, and in place. */
static void put_whole(struct file_out *o)
{
    if (!o->err && fsync(o->fd))
        o->err = failed(&o->why, o->beside, "the file cannot be written");
    if (!o->err && rename(o->beside, o->path))
        o->err = failed(&o->why, o->path, "the file cannot be put in place");
    if (o->err) {
        unlink(o->beside);
        return;
    }
    degraded_over(o->beside);
    if (sync_dir_of(o->path))
        o->err = failed(&o->why, o->path, "the file's directory cannot be written to the disk");
}

int file_out_end(struct file_out *take_o, struct err_info *why)
{
    struct file_out *o = take_o;
    write_waiting(o);
    put_whole(o);
    int err = o->err;
    if (err && why)
        *why = o->why;
    close(o->fd);
    buf_fini(&o->waiting);
    free(o->path);
    free(o->beside);
    free(o);
    return err;
}

int file_write(const char *path, const void *bytes, size_t len, struct err_info *why)
{
    struct err_info own = {0};
    struct file_out *o = file_out_open(path, 0644, &own);
    if (!o) {
        if (why)
            *why = own;
        return own.code;
    }
    file_out_put(o, bytes, len);
    return file_out_end(o, why);
}

/** Size that a small file is padded to: the least that a file system allocates. */
#define SWAP_BYTES 4096

/* Over what the file has: no block comes unless there is more to say. */
static int write_over(int fd, const char *bytes, size_t len)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct stat st;
    size_t size = (len / SWAP_BYTES + 1) * SWAP_BYTES;
    memset(buf_room(&text, size), '\n', size);
    memcpy(text.bytes, bytes, len);
    if (fstat(fd, &st) || ((size_t)st.st_size > size && ftruncate(fd, (off_t)size)))
        return ERR_IO;
    return write_all(fd, text.bytes, size) || fsync(fd) ? ERR_IO : 0;
}

/* Put the file beside in place. @param has_spare  the one that was there is the file beside now [out] */
static int put_in_place(const char *beside, const char *path, bool *has_spare)
{
    *has_spare = renameat2(AT_FDCWD, beside, AT_FDCWD, path, RENAME_EXCHANGE) == 0;
    bool is_refused = errno == ENOENT || errno == EINVAL || errno == ENOSYS;
    if (!*has_spare && (!is_refused || rename(beside, path)))
        return ERR_IO;
    return sync_dir_of(path);
}

static int swap_once(const char *path, const char *bytes, size_t len, bool *has_spare, struct err_info *why)
{
    mem_auto char *beside = mem_fmt("%s.spare", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return failed(why, beside, "the file cannot be made");
    int err = write_over(fd, bytes, len) ? failed(why, beside, "the file cannot be written") : 0;
    close(fd);
    if (!err && put_in_place(beside, path, has_spare))
        err = failed(why, path, "the file cannot be put in place");
    if (!err)
        degraded_over(beside);
    return err;
}

int file_swap(const char *path, const void *bytes, size_t len, struct err_info *why)
{
    bool is_new = access(path, F_OK) != 0, has_spare;
    int err = swap_once(path, bytes, len, &has_spare, why);
    return !err && is_new ? swap_once(path, bytes, len, &has_spare, why) : err;
}

int file_read(const char *path, struct buf *out, struct err_info *why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? err_set(why, ERR_NOTFOUND, path, "there is no such file")
                               : failed(why, path, "the file cannot be opened");
    int err = fstat(fd, &st) ? failed(why, path, "the file cannot be read") : 0;
    if (!err && st.st_size > FILE_MAX_BYTES)
        err = err_set(why, ERR_TOOBIG, path, "the file is larger than 4 GiB");
    size_t left = err ? 0 : (size_t)st.st_size;
    while (!err && left) {
        ssize_t n = read(fd, buf_room(out, left), left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            err = failed(why, path, "the file cannot be read");
        out->len += n > 0 ? (size_t)n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return err;
}

int file_make_dir(const char *path, mode_t mode, struct err_info *why)
{
    mem_auto char *part = mem_str(path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (mkdir(part, mode) && errno != EEXIST)
            return refused(why, part, "the directory cannot be made");
        *p = '/';
    }
    return mkdir(part, mode) && errno != EEXIST ? refused(why, part, "the directory cannot be made") : 0;
}

/* ---- a lock ---- */

/* Another process has the lock, and wrote its pid. */
static int in_use(int fd, const char *dir, const char *what, struct err_info *why)
{
    char pid[24] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    pid[strcspn(pid, "\n")] = 0;
    return err_set(why, ERR_WRONGSTATE, dir, "the %s is in use by process %s", what, n > 0 ? pid : "unknown");
}

static int lock_fd(int fd, const char *dir, const char *what, struct err_info *why)
{
    char pid[24];
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (flock(fd, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK
                   ? in_use(fd, dir, what, why)
                   : err_set(why, ERR_IO, dir, "cannot lock the directory: %s", strerror(errno));
    if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)len, 0) != len)
        return err_set(why, ERR_IO, dir, "cannot write the lock: %s", strerror(errno));
    return 0;
}

int file_lock_dir(const char *dir, const char *what, int *fd, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/pid", dir);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return err_set(why, ERR_IO, path, "cannot open the lock: %s", strerror(errno));
    int err = lock_fd(*fd, dir, what, why);
    if (err) {
        close(*fd);
        *fd = -1;
    }
    return err;
}
