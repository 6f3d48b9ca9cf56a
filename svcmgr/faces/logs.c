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
#include "faces/services_kit.h"

#define OLDEST 99 /* number of a file: the option that says how many there are allows 100 */

#define NODE_MAGIC OBJ_MAGIC('F', 'L', 'O', 'G')
#define FILE_MAX   255

bool logs_is_output(const char *name)
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

/* ---- kept by the node manager of a container ---- */

/** A name that stands for itself in a URL, and leads nowhere else. */
static bool is_plain_name(const char *name)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~";
    size_t len = strlen(name);

    return len && len <= FILE_MAX && name[0] != '.' && strspn(name, chars) == len;
}

/** A request that waits for a piece from elsewhere. */
struct elsewhere {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
};

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct elsewhere, NODE_MAGIC)->req = NULL;
}

static void on_piece(void *arg, const struct face_log_piece *piece, const struct err_info *why)
{
    struct elsewhere *e = obj_cast(arg, struct elsewhere, NODE_MAGIC);

    if (e->req && piece) {
        struct buf body = BUF_EMPTY;
        mem_auto char *size = mem_fmt("%lld", (long long)piece->size);
        buf_add(&body, piece->text->len ? piece->text->bytes : "", piece->text->len);
        http_reply_header(e->req, "Bobbin-Container", piece->container_id);
        http_reply_header(e->req, "Bobbin-Log-Size", size);
        http_reply(e->req, 200, "text/plain;charset=utf-8", &body);
    } else if (e->req) {
        http_reply_error(e->req, why->code, why);
    }
    obj_fini(&e->obj);
    free(e);
}

static void ask_elsewhere(struct http_req *req, const struct face *face, const struct face_log *what)
{
    if (!is_plain_name(what->file)) {
        refuse(req, ERR_NOTFOUND, what->file, "a file of a container has a plain name, as stdout.txt");
        return;
    }
    struct elsewhere *e = mem_new(struct elsewhere);

    obj_init(&e->obj, NODE_MAGIC);
    e->req = req;
    http_reply_later(req, on_client_gone, e);
    face->ops->node_log(face->app, what, on_piece, e);
}

/* ---- what the path names ---- */

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
    /* instead of dir: the node manager that has its logs [borrowed]; NULL: none is known */
    const char *node_http;
};

/** On a node: of an instance what it has, and before it has one what it had; a container by its own id. */
static void find_on_node(const struct eng_instance *inst, const char *id, struct place *out)
{
    const char *const ids[] = {inst->node_http ? inst->container_id : NULL, inst->last_container_id};
    const char *const nodes[] = {inst->node_http, inst->last_node_http};

    for (size_t i = 0; i < ARRAY_LEN(ids) && !out->node_http; i++) {
        if (!ids[i] || !nodes[i] || (id && strcmp(id, ids[i]) != 0))
            continue;
        out->container_id = mem_str(ids[i]);
        out->node_http = nodes[i];
    }
}

/** On a node, what an instance or a container is named that the service may have no more. */
static void find_by_name(const struct eng_service *s, const char *name, struct place *out)
{
    const struct eng_failure *f = s->failure;
    const struct eng_instance *inst;

    for (size_t i = 0; i < s->n_components; i++)
        TAILQ_FOREACH (inst, &s->components[i]->instances, link)
            find_on_node(inst, name, out);
    if (out->node_http || !f || !f->container_id || !f->node_http)
        return;
    if (strcmp(name, f->instance) != 0 && strcmp(name, f->container_id) != 0)
        return;
    out->container_id = mem_str(f->container_id);
    out->node_http = f->node_http;
}

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

/** Where the logs are of what the path names. @param inst  NULL: the service has no instance of that name */
static void find(const struct face *face, const char *user, const struct eng_service *s,
                 const struct eng_instance *inst, const struct asked *a, struct place *out)
{
    if (inst)
        find_of_instance(face, inst, out);
    else
        find_gone(face, user, s, a, out);
    if (out->dir || !s)
        return;
    if (inst)
        find_on_node(inst, NULL, out);
    else
        find_by_name(s, a->instance, out);
}

static void refuse_absent(struct http_req *req, const struct eng_service *s, const struct eng_instance *inst,
                          const struct asked *a)
{
    bool is_elsewhere = s && (s->has_application || s->master);
    mem_auto char *elsewhere =
        mem_fmt("no node manager is known that has logs of it; when they are aggregated, "
                "`yarn logs -applicationId %s` has them",
                s && s->app_id ? s->app_id : "ID");

    if (!s)
        refuse(req, ERR_NOTFOUND, a->service, "no such service");
    else if (is_elsewhere)
        refuse(req, ERR_NOTFOUND, a->instance, elsewhere);
    else if (!inst)
        refuse(req, ERR_NOTFOUND, a->instance,
               "the service has no such instance, nor kept logs of such a container");
    else
        refuse(req, ERR_NOTFOUND, a->instance,
               "the instance has no container now, nor kept logs of an earlier one");
}

static void answer(struct http_req *req, const struct face *face, const struct asked *a, int64_t offset)
{
    const char *user = http_user(req) ? http_user(req) : "";
    const struct eng_service *s = engine_find(face->ops->engine(face->app), KIND_SERVICE, user, a->service);
    const struct eng_instance *inst = s ? eng_service_instance(s, a->instance) : NULL;
    struct place place = {0};

    find(face, user, s, inst, a, &place);
    if (place.node_http)
        ask_elsewhere(req, face,
                      &(struct face_log){.user = s->user,
                                         .application_id = s->app_id,
                                         .container_id = place.container_id,
                                         .node_http = place.node_http,
                                         .file = a->file,
                                         .offset = offset});
    else if (!place.dir && !inst)
        refuse_absent(req, s, inst, a);
    else if (!logs_is_output(a->file))
        refuse(req, ERR_NOTFOUND, a->file,
               "the files are stdout.txt, stderr.txt and older ones: stdout.txt.1, …");
    else if (!place.dir)
        refuse_absent(req, s, inst, a);
    else
        reply_piece(req, place.container_id, place.dir, a->file, offset);
    free(place.container_id);
    free(place.dir);
}

void logs_reply_container(struct http_req *req, const struct face *face, const struct face_log *what)
{
    mem_auto char *dir = what->node_http ? NULL : face->ops->log_dir(face->app, what->container_id);
    if (what->node_http)
        ask_elsewhere(req, face, what);
    else if (dir && logs_is_output(what->file))
        reply_piece(req, what->container_id, dir, what->file, what->offset);
    else
        refuse(req, ERR_NOTFOUND, what->file,
               dir ? "the files are stdout.txt, stderr.txt and older ones: stdout.txt.1, …"
                   : "the output of the container is not kept any more");
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

void logs_get_master(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *service = services_path_name(req);
    mem_auto char *file = service ? services_path_element(req, "file") : NULL;
    const struct eng_service *s = file ? services_find(req, face, service, 0) : NULL;

    if (!s)
        return;
    if (!s->app_id)
        refuse(req, ERR_NOTFOUND, service, "the service was never started");
    else
        ask_elsewhere(req, face,
                      &(struct face_log){.user = s->user,
                                         .application_id = s->app_id,
                                         .is_master = true,
                                         .container_id = s->master ? s->master->container_id : NULL,
                                         .node_http = s->master ? s->master->node_http : NULL,
                                         .file = file,
                                         .offset = http_param_int(req, MASTER_LOGS_OFFSET)});
}
