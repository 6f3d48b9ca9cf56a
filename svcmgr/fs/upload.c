#include "fs/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define UPLOAD_MAGIC OBJ_MAGIC('F', 'S', 'U', 'P')

/* look ── it is there ──> done;   look ──> directory ──> file ──> look again */
enum phase { UPLOAD_LOOK, UPLOAD_DIRECTORY, UPLOAD_FILE, UPLOAD_CHECK };

struct fs_upload {
    struct obj obj;
    struct http_client *http;
    struct fs_upload_def def;
    char *user;
    enum phase phase;
    struct fs_call *call;
    void (*done)(void *arg, int err, const struct fs_status *status, const struct err_info *why);
    void *arg;
};

static void step(struct fs_upload *u, enum phase phase);

static void finish(struct fs_upload *u, int err, const struct fs_status *status, const struct err_info *why)
{
    u->done(u->arg, err, status, why);
    free(u->user);
    obj_fini(&u->obj);
    free(u);
}

static void looked(struct fs_upload *u, int err, const struct fs_status *status, const struct err_info *why)
{
    struct err_info wrong = {0};
    if (!err && !status->is_dir && status->len == u->def.content.len) {
        finish(u, 0, status, why);
    } else if (u->phase == UPLOAD_LOOK && (!err || err == ERR_NOTFOUND)) {
        step(u, UPLOAD_DIRECTORY);
    } else if (err) {
        finish(u, err, NULL, why);
    } else {
        err_set(&wrong, ERR_IO, u->def.file->path, "%s has %lld bytes, not %lld", u->def.file->path,
                (long long)status->len, (long long)u->def.content.len);
        finish(u, ERR_IO, NULL, &wrong);
    }
}

static void on_done(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct fs_upload *u = obj_cast(arg, struct fs_upload, UPLOAD_MAGIC);
    if (err == ERR_CANCELLED)
        finish(u, err, NULL, why);
    else if (u->phase == UPLOAD_LOOK || u->phase == UPLOAD_CHECK)
        looked(u, err, status, why);
    else if (err)
        finish(u, err, NULL, why);
    else
        step(u, u->phase == UPLOAD_DIRECTORY ? UPLOAD_FILE : UPLOAD_CHECK);
}

static void step(struct fs_upload *u, enum phase phase)
{
    static const enum fs_op ops[] = {[UPLOAD_LOOK] = FS_STATUS,
                                     [UPLOAD_DIRECTORY] = FS_MKDIRS,
                                     [UPLOAD_FILE] = FS_CREATE,
                                     [UPLOAD_CHECK] = FS_STATUS};
    bool is_directory = phase == UPLOAD_DIRECTORY;
    u->phase = phase;
    u->call =
        fs_start(u->http, &(struct fs_request){.op = ops[phase],
                                               .place = is_directory ? u->def.directory : u->def.file,
                                               .user = u->user,
                                               .content = u->def.content,
                                               .overwrites = true,
                                               .mode = is_directory ? u->def.directory_mode : u->def.mode,
                                               .done = on_done,
                                               .arg = u});
}

struct fs_upload *fs_upload_start(struct http_client *http, const struct fs_upload_def *def,
                                  void (*done)(void *arg, int err, const struct fs_status *status,
                                               const struct err_info *why),
                                  void *arg)
{
    struct fs_upload *u = mem_new(struct fs_upload);
    obj_init(&u->obj, UPLOAD_MAGIC);
    u->http = http;
    u->def = *def;
    u->user = mem_str(def->user);
    u->done = done;
    u->arg = arg;
    step(u, UPLOAD_LOOK);
    return u;
}

void fs_upload_cancel(struct fs_upload *u)
{
    fs_cancel(u->call);
}

int fs_upload_content(const void *bytes, size_t len, struct http_file *out, struct err_info *why)
{
    int fd = memfd_create("content", MFD_CLOEXEC);
    size_t at = 0;

    while (fd >= 0 && at < len) {
        ssize_t n = write(fd, (const char *)bytes + at, len - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (fd >= 0 && at == len) {
        *out = (struct http_file){fd, (int64_t)len};
        return 0;
    }
    err_set(why, ERR_IO, "memfd", "%s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return ERR_IO;
}
