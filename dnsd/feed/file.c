#include "feed/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(struct err_info *why, const char *path, const char *what)
{
    return err_set(why, ERR_IO, path, "%s: %s", what, strerror(errno));
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
    return fsync(fd) ? ERR_IO : 0;
}

int file_write(const char *path, const void *bytes, size_t len, struct err_info *why)
{
    mem_auto char *beside = mem_fmt("%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return failed(why, beside, "the file cannot be made");
    int err = write_all(fd, bytes, len) ? failed(why, beside, "the file cannot be written") : 0;
    close(fd);
    if (!err && rename(beside, path))
        err = failed(why, path, "the file cannot be put in place");
    if (err)
        unlink(beside);
    return err;
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

int file_make_dir(const char *path, struct err_info *why)
{
    mem_auto char *part = mem_str(path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (mkdir(part, 0755) && errno != EEXIST)
            return failed(why, part, "the directory cannot be made");
        *p = '/';
    }
    return mkdir(part, 0755) && errno != EEXIST ? failed(why, part, "the directory cannot be made") : 0;
}
