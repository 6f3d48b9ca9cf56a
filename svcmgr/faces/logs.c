/** See logs.h. */
#include "faces/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "faces/face.h"
#include "faces/services_routes.h"

#define OLDEST 99 /* number of a file: the option that says how many there are allows 100 */

/** The files there are, and the numbered older ones; no other name ever reaches the file system. */
static bool is_known_file(const char *name)
{
    static const char *const names[] = {"stdout.txt", "stderr.txt"};
    int64_t number;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(name, names[i], len) != 0)
            continue;
        if (!name[len])
            return true;
        return name[len] == '.' && name[len + 1] != '0' && !str_to_i64(name + len + 1, 1, OLDEST, &number);
    }
    return false;
}

/** A file of the directory's owner that has no other name. */
static bool is_own(const struct stat *file, const struct stat *dir)
{
    return S_ISREG(file->st_mode) && file->st_nlink == 1 && file->st_uid == dir->st_uid;
}

/**
 * Open a container's file. The container's user owns the directory: links of both kinds, everything that is no file, and
 * another's file that he has moved there are refused, so that svcmgr serves nothing that the caller may not read.
 *
 * @return descriptor; -1: there is none yet, or it is refused.
 */
static int open_log(const char *dir, const char *file, struct stat *st)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, file);
    struct stat dir_st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && !fstat(fd, st) && !lstat(dir, &dir_st) && is_own(st, &dir_st))
        return fd;
    if (fd >= 0)
        close(fd);
    *st = (struct stat){.st_size = 0};
    return -1;
}

static void reply_piece(struct http_req *req, const char *container_id, const char *dir, const char *file,
                        int64_t offset)
{
    struct buf body = BUF_EMPTY;
    struct stat st = {.st_size = 0};
    int fd = open_log(dir, file, &st);
    ssize_t n = fd >= 0 ? pread(fd, buf_room(&body, LOGS_PIECE), LOGS_PIECE, offset) : 0;

    if (n > 0) {
        body.len = (size_t)n;
        body.bytes[n] = '\0';
    }
    if (fd >= 0)
        close(fd);
    mem_auto char *size_text = mem_fmt("%lld", (long long)st.st_size);
    mem_auto char *id_text = mem_fmt("%llu", (unsigned long long)st.st_ino);
    http_reply_header(req, "Bobbin-Container", container_id);
    http_reply_header(req, "Bobbin-Log-Size", size_text);
    http_reply_header(req, "Bobbin-Log-Id", id_text);
    http_reply(req, 200, "text/plain;charset=utf-8", &body);
}

static void refuse(struct http_req *req, int code, const char *where, const char *text)
{
    struct err_info why;

    err_set(&why, code, where, "%s", text);
    http_reply_error(req, code, &why);
}

/** The elements of the path, decoded; owned. */
struct asked {
    char *service, *instance, *file;
};

static void asked_fini(struct asked *a)
{
    free(a->service);
    free(a->instance);
    free(a->file);
}

static int read_path(struct http_req *req, struct asked *out, struct err_info *why)
{
    int err = http_path_element(req, "s", &out->service, why);

    if (!err)
        err = http_path_element(req, "i", &out->instance, why);
    return err ? err : http_path_element(req, "file", &out->file, why);
}

/** The container that a name stands for, with its log directory. */
struct place {
    char *container_id, *dir; /* owned; NULL: there is none */
};

/** Of an instance: what it has; before that has begun to run, and after its end, what it had. */
static void find_of_instance(const struct face *face, const struct eng_instance *inst, struct place *out)
{
    const char *const ids[] = {inst->container_id, inst->last_container_id};

    for (size_t i = 0; i < ARRAY_LEN(ids) && !out->dir; i++) {
        out->dir = ids[i] ? face->ops->log_dir(face->app, ids[i]) : NULL;
        out->container_id = out->dir ? mem_str(ids[i]) : NULL;
    }
}

/**
 * Of an instance that the present application of the service has no more; or of a container by its own id, of an earlier
 * application of the service as well, also when the service itself is gone.
 *
 * @param s  the service, or NULL
 */
static void find_gone(const struct face *face, const char *user, const struct eng_service *s,
                      const struct asked *a, struct place *out)
{
    const char *present = s && s->app_id ? s->app_id : "";
    mem_auto char *last = *present ? face->ops->last_container(face->app, present, a->instance) : NULL;
    const char *id = last ? last : a->instance;
    mem_auto char *application = face->ops->application_of(face->app, id);

    if (!application ||
        (strcmp(application, present) != 0 && !face->ops->is_of(face->app, application, user, a->service)))
        return;
    out->dir = face->ops->log_dir(face->app, id);
    out->container_id = out->dir ? mem_str(id) : NULL;
}

static void answer(struct http_req *req, struct face *face, const struct asked *a, int64_t offset)
{
    const char *user = http_user(req) ? http_user(req) : "";
    const struct eng_service *s = engine_find(face->ops->engine(face->app), KIND_SERVICE, user, a->service);
    const struct eng_instance *inst = s ? eng_service_instance(s, a->instance) : NULL;
    struct place place = {NULL, NULL};

    if (inst)
        find_of_instance(face, inst, &place);
    else
        find_gone(face, user, s, a, &place);
    if (!s && !place.dir)
        refuse(req, ERR_NOTFOUND, a->service, "no such service");
    else if (!inst && !place.dir)
        refuse(req, ERR_NOTFOUND, a->instance,
               "the service has no such instance, nor kept logs of such a container");
    else if (!is_known_file(a->file))
        refuse(req, ERR_NOTFOUND, a->file,
               "the files are stdout.txt, stderr.txt and older ones: stdout.txt.1, …");
    else if (!place.dir)
        refuse(req, ERR_NOTFOUND, a->instance,
               "the instance has no container now, nor kept logs of an earlier one");
    else
        reply_piece(req, place.container_id, place.dir, a->file, offset);
    free(place.container_id);
    free(place.dir);
}

void logs_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct asked asked = {0};
    struct err_info why = {0};
    int err = read_path(req, &asked, &why);

    if (err)
        http_reply_error(req, err, &why);
    else
        answer(req, face, &asked, http_param_int(req, LOGS_OFFSET));
    asked_fini(&asked);
}
