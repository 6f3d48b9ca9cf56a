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
#include "faces/face.h"

/** The files there are; no other name ever reaches the file system. NULL: none of them. */
static const char *known_file(const char *name)
{
    static const char *const names[] = {"stdout.txt", "stderr.txt"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return names[i];
    }
    return NULL;
}

static const struct eng_instance *find_instance(const struct eng_service *s, const char *name)
{
    for (size_t i = 0; s && i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        for (size_t k = 0; k < c->n_instances; k++) {
            if (strcmp(c->instances[k]->name, name) == 0)
                return c->instances[k];
        }
    }
    return NULL;
}

/**
 * Open a container's file. The container's user owns the directory: links of both kinds and everything that is no file
 * are refused, so that nobody reads through us what he may not read himself.
 *
 * @return descriptor; -1: there is none yet, or it is refused.
 */
static int open_log(const char *dir, const char *file, int64_t *size)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, file);
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1) {
        *size = st.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static void reply_piece(struct http_req *req, const char *container_id, const char *dir, const char *file,
                        int64_t offset)
{
    struct buf body = BUF_EMPTY;
    int64_t size = 0;
    int fd = open_log(dir, file, &size);
    ssize_t n = fd >= 0 ? pread(fd, buf_room(&body, LOGS_PIECE), LOGS_PIECE, offset) : 0;

    if (n > 0) {
        body.len = (size_t)n;
        body.bytes[n] = '\0';
    }
    if (fd >= 0)
        close(fd);
    mem_auto char *size_text = mem_fmt("%lld", (long long)size);
    http_reply_header(req, "Bobbin-Container", container_id);
    http_reply_header(req, "Bobbin-Log-Size", size_text);
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

static void answer(struct http_req *req, struct face *face, const struct asked *a, int64_t offset)
{
    const struct eng_service *s =
        engine_find(face->ops->engine(face->app), http_user(req) ? http_user(req) : "", a->service);
    const struct eng_instance *inst = find_instance(s, a->instance);
    const char *id = inst ? (inst->container_id ? inst->container_id : inst->last_container_id) : NULL;
    const char *dir = id ? face->ops->log_dir(face->app, id) : NULL;
    const char *file = known_file(a->file);

    if (!s)
        refuse(req, ERR_NOTFOUND, a->service, "no such service");
    else if (!inst)
        refuse(req, ERR_NOTFOUND, a->instance, "the service has no such instance");
    else if (!file)
        refuse(req, ERR_NOTFOUND, a->file, "the files are stdout.txt and stderr.txt");
    else if (!dir)
        refuse(req, ERR_NOTFOUND, a->instance, "the instance has no container now");
    else
        reply_piece(req, id, dir, file, offset);
}

void logs_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct asked asked = {0};
    struct err_info why = {0};
    int64_t offset;
    int err = read_path(req, &asked, &why);

    if (!err)
        err = http_query_int(req, "offset", 0, 0, INT64_MAX, &offset, &why);
    if (err)
        http_reply_error(req, err, &why);
    else
        answer(req, face, &asked, offset);
    asked_fini(&asked);
}
