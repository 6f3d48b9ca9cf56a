#include "submit/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "base/str.h"

#define PARTS_MAGIC OBJ_MAGIC('S', 'P', 'A', 'R')
#define JOB_MAGIC   OBJ_MAGIC('S', 'P', 'A', 'C')

enum { PIECE = 65536, SHA256_LEN = 32, MODE_PROGRAM = 0755 };

struct submit_parts {
    struct obj obj;
    struct map paths; /* of files, by their names in the archive; values are owned */
};

/* ---- what belongs to it ---- */

/* Of the C library: it fits the kernel and the loader of its host, not ours. */
static bool is_of_libc(const char *name)
{
    static const char *const own[] = {"libc.so",      "libm.so",    "libpthread.so", "libdl.so",   "librt.so",
                                      "libresolv.so", "libutil.so", "libanl.so",     "libmvec.so", "libnss_",
                                      "ld-linux",     "linux-vdso", "linux-gate",    "ld64.so"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_starts(name, own[i]))
            return true;
    return false;
}

static void add_part(struct submit_parts *parts, const char *name, const char *path)
{
    free(map_set(&parts->paths, name, mem_str(path)));
}

static int on_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct submit_parts *parts = obj_cast(arg, struct submit_parts, PARTS_MAGIC);
    (void)size;
    const char *file = path_name(info->dlpi_name ? info->dlpi_name : "");
    if (!*file || file == info->dlpi_name || is_of_libc(file))
        return 0;
    mem_auto char *name = mem_fmt(SUBMIT_PACKAGE_LIBS "/%s", file);
    add_part(parts, name, info->dlpi_name);
    return 0;
}

struct submit_parts *submit_parts_new(void)
{
    struct submit_parts *parts = mem_new(struct submit_parts);
    obj_init(&parts->obj, PARTS_MAGIC);
    parts->paths = MAP_EMPTY;
    add_part(parts, SUBMIT_PACKAGE_PROGRAM, "/proc/self/exe");
    dl_iterate_phdr(on_library, parts);
    return parts;
}

void submit_parts_free(struct submit_parts *parts)
{
    if (!parts)
        return;
    map_fini(&parts->paths, free);
    obj_fini(&parts->obj);
    free(parts);
}

/* ---- the archive ---- */

static int put_content(struct archive *a, int fd)
{
    char piece[PIECE];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0)
        if (archive_write_data(a, piece, (size_t)n) != n)
            return -1;
    return n < 0 ? -1 : 0;
}

static int put_part(struct archive *a, const char *name, const char *path, struct err_info *why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_set(why, ERR_IO, path, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_IO;
    }
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, MODE_PROGRAM);
    archive_entry_set_size(e, st.st_size);
    archive_entry_set_mtime(e, 0, 0);
    int err = archive_write_header(a, e) == ARCHIVE_OK ? put_content(a, fd) : -1;
    archive_entry_free(e);
    close(fd);
    return err ? err_set(why, ERR_IO, path, "%s cannot be packed: %s", path,
                         archive_error_string(a) ? archive_error_string(a) : strerror(errno))
               : 0;
}

static int put_all(struct archive *a, const struct submit_parts *parts, int fd, struct err_info *why)
{
    mem_auto const char **names = map_sorted_keys(&parts->paths);
    bool is_ready = archive_write_set_format_ustar(a) == ARCHIVE_OK &&
                    archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
                    archive_write_set_filter_option(a, "gzip", "timestamp", NULL) == ARCHIVE_OK &&
                    archive_write_open_fd(a, fd) == ARCHIVE_OK;
    int err = is_ready ? 0 : err_set(why, ERR_IO, NULL, "no archive: %s", archive_error_string(a));
    for (size_t i = 0; !err && names[i]; i++)
        err = put_part(a, names[i], map_get(&parts->paths, names[i]), why);
    if (archive_write_close(a) != ARCHIVE_OK && !err)
        err = err_set(why, ERR_IO, NULL, "the archive cannot be written: %s", archive_error_string(a));
    return err;
}

static int read_hash(int fd, struct submit_package *out)
{
    char piece[PIECE];
    unsigned char digest[SHA256_LEN];
    gnutls_hash_hd_t hash;
    ssize_t n;
    out->size = 0;
    BUG_IF(gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0);
    while ((n = pread(fd, piece, sizeof piece, out->size)) > 0) {
        gnutls_hash(hash, piece, (size_t)n);
        out->size += n;
    }
    gnutls_hash_deinit(hash, digest);
    for (size_t i = 0; i < SHA256_LEN; i++)
        snprintf(out->hash + 2 * i, 3, "%02x", digest[i]);
    return n < 0 ? -1 : 0;
}

static int write_archive(const struct submit_parts *parts, int fd, struct submit_package *out,
                         struct err_info *why)
{
    struct archive *a = archive_write_new();
    int err = put_all(a, parts, fd, why);
    archive_write_free(a);
    if (!err && (read_hash(fd, out) != 0 || fsync(fd) != 0))
        err = err_set(why, ERR_IO, NULL, "the archive: %s", strerror(errno));
    return err;
}

int submit_package_make(const struct submit_parts *parts, const char *dir, struct submit_package *out,
                        struct err_info *why)
{
    struct submit_package made = {.path = NULL};
    mem_auto char *temporary = mem_fmt("%s/am-XXXXXX", dir);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set(why, ERR_IO, dir, "%s: %s", dir, strerror(errno));
    int err = write_archive(parts, fd, &made, why);
    close(fd);
    if (!err) {
        made.path = mem_fmt("%s/am-%s.tar.gz", dir, made.hash);
        if (rename(temporary, made.path) != 0)
            err = err_set(why, ERR_IO, made.path, "%s: %s", made.path, strerror(errno));
    }
    if (err) {
        unlink(temporary);
        submit_package_fini(&made);
        return err;
    }
    *out = made;
    return 0;
}

void submit_package_fini(struct submit_package *p)
{
    free(p->path);
    *p = (struct submit_package){.path = NULL};
}

/* ---- on the pool ---- */

struct job {
    struct obj obj;
    uv_work_t work;
    struct submit_parts *parts;
    char *dir;
    struct submit_package package;
    int err;
    struct err_info why;
    void (*done)(void *arg, int err, struct submit_package *take_package, const struct err_info *why);
    void *arg;
};

static void make(uv_work_t *work)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    j->err = submit_package_make(j->parts, j->dir, &j->package, &j->why);
}

static void made(uv_work_t *work, int status)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    BUG_IF(status != 0);
    j->done(j->arg, j->err, &j->package, &j->why);
    submit_package_fini(&j->package);
    submit_parts_free(j->parts);
    free(j->dir);
    obj_fini(&j->obj);
    free(j);
}

void submit_package_start(struct run_loop *loop, const char *dir,
                          void (*done)(void *arg, int err, struct submit_package *take_package,
                                       const struct err_info *why),
                          void *arg)
{
    struct job *j = mem_new(struct job);
    obj_init(&j->obj, JOB_MAGIC);
    j->parts = submit_parts_new();
    j->dir = mem_str(dir);
    j->done = done;
    j->arg = arg;
    j->work.data = j;
    BUG_IF(uv_queue_work(run_loop_uv(loop), &j->work, make, made) != 0);
}
