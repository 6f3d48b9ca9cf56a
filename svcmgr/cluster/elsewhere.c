#include "cluster/elsewhere.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fs/client.h"

#define ELSEWHERE_MAGIC OBJ_MAGIC('C', 'E', 'L', 'S')
#define LOOK_MAGIC      OBJ_MAGIC('C', 'E', 'L', 'K')

#define LOOK_MS 5000 /* a person waits */

/** A look for files. */
struct look {
    struct obj obj;
    TAILQ_ENTRY(look) link;
    struct elsewhere *owner;
    char *user, **paths;
    bool *absent;
    size_t n, at; /* the one that is looked for */
    struct err_info problem;
    struct fs_call *call;
    struct run_timer *deadline;
    void (*done)(void *arg, const bool *absent, const struct err_info *problem);
    void *arg;
};

struct elsewhere {
    struct obj obj;
    struct cluster cluster;
    struct cluster_kind kind;
    struct run_loop *loop;
    struct fs_conf fs;
    struct http_client *http;
    TAILQ_HEAD(, look) looks;
    struct run_timer *timer; /* what follows in a later turn of the loop */
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct elsewhere *elsewhere_of(struct cluster *c)
{
    return obj_cast(container_of(c, struct elsewhere, cluster), struct elsewhere, ELSEWHERE_MAGIC);
}

/** All that there is has been reported; or it closes. */
static void on_later(void *arg)
{
    struct elsewhere *e = obj_cast(arg, struct elsewhere, ELSEWHERE_MAGIC);
    void (*closed)(void *) = e->closed;
    void *closed_arg = e->closed_arg;

    if (!closed) {
        e->cluster.ops->recovery_done(e->cluster.ops_arg);
        return;
    }
    run_timer_free(e->timer);
    obj_fini(&e->obj);
    free(e);
    closed(closed_arg);
}

static void elsewhere_recover(struct cluster *c)
{
    run_timer_start(elsewhere_of(c)->timer, 0, 0);
}

static void elsewhere_request(struct cluster *c, const struct cluster_ask *ask)
{
    (void)elsewhere_of(c);
    (void)ask;
}

static void elsewhere_change(struct cluster *c, const char *container_id)
{
    (void)elsewhere_of(c);
    (void)container_id;
}

static int elsewhere_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                            struct err_info *why)
{
    (void)elsewhere_of(c);
    (void)launch;
    return err_set(why, ERR_NOTFOUND, container_id, "The application master launches the containers.");
}

static void elsewhere_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    (void)grace_ms;
    elsewhere_change(c, container_id);
}

static void elsewhere_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded)
{
    (void)host;
    (void)excluded;
    elsewhere_change(c, application_id);
}

static const struct cluster_container *elsewhere_find(struct cluster *c, const char *container_id)
{
    elsewhere_change(c, container_id);
    return NULL;
}

static char *elsewhere_log_dir(struct cluster *c, const char *container_id)
{
    elsewhere_change(c, container_id);
    return NULL;
}

static char *elsewhere_last_container(struct cluster *c, const char *application_id, const char *instance)
{
    (void)instance;
    return elsewhere_log_dir(c, application_id);
}

static bool elsewhere_is_of(struct cluster *c, const char *application_id, const char *owner,
                            const char *service)
{
    (void)owner;
    (void)service;
    return elsewhere_find(c, application_id) != NULL;
}

static void elsewhere_capacity(struct cluster *c, struct cluster_capacity *out)
{
    (void)elsewhere_of(c);
    *out = (struct cluster_capacity){0};
}

/* ---- files ---- */

/** @param is_known  what was found counts; else it is unknown, for the problem */
static void end_look(struct look *k, bool is_known)
{
    struct fs_call *call = k->call;

    k->call = NULL;
    if (call)
        fs_cancel(call);
    TAILQ_REMOVE(&k->owner->looks, k, link);
    k->done(k->arg, is_known ? k->absent : NULL, &k->problem);
    for (size_t i = 0; i < k->n; i++)
        free(k->paths[i]);
    free(k->paths);
    free(k->absent);
    free(k->user);
    run_timer_free(k->deadline);
    obj_fini(&k->obj);
    free(k);
}

/** What is not there by now is looked for by its launch. */
static void on_deadline(void *arg)
{
    end_look(obj_cast(arg, struct look, LOOK_MAGIC), true);
}

static void look_on(struct look *k);

static void on_found(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct look *k = obj_cast(arg, struct look, LOOK_MAGIC);
    const char *path = k->paths[k->at];

    if (!k->call)
        return; /* it has ended */
    k->call = NULL;
    k->absent[k->at] = err == ERR_NOTFOUND;
    if (err == ERR_PERMISSION && !k->problem.code)
        err_set(&k->problem, ERR_INVALID, path, "src_file %.140s, as user %.32s: %.300s.", path, k->user,
                why->text);
    else if (!err && status->is_dir && !k->problem.code)
        err_set(&k->problem, ERR_INVALID, path, "src_file %.140s: it is no regular file.", path);
    k->at++;
    look_on(k);
}

/** The next one in HDFS; the others may be there. */
static void look_on(struct look *k)
{
    for (; k->at < k->n && !k->call; k->at += !k->call) {
        struct fs_place place = {.path = NULL};
        struct err_info why = {0};
        int err = fs_place_read(&k->owner->fs, k->paths[k->at], k->user, &place, &why);
        k->absent[k->at] = err == ERR_INVALID;
        if (err == ERR_CONFIG && !k->problem.code)
            err_set(&k->problem, ERR_INVALID, k->paths[k->at], "%s", why.text);
        if (!err && place.kind == FS_HDFS)
            k->call =
                fs_start(k->owner->http,
                         &(struct fs_request){
                             .op = FS_STATUS, .place = &place, .user = k->user, .done = on_found, .arg = k});
        fs_place_fini(&place);
    }
    if (!k->call)
        end_look(k, true);
}

static void elsewhere_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                           void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                           void *arg)
{
    struct elsewhere *e = elsewhere_of(c);
    struct look *k = mem_new(struct look);

    obj_init(&k->obj, LOOK_MAGIC);
    k->owner = e;
    k->user = mem_str(owner);
    k->n = n;
    k->paths = mem_array(n + 1, sizeof *k->paths);
    for (size_t i = 0; i < n; i++)
        k->paths[i] = mem_str(paths[i]);
    k->absent = mem_array(n + 1, sizeof *k->absent);
    k->done = done;
    k->arg = arg;
    k->deadline = run_timer_new(e->loop, on_deadline, k);
    run_timer_start(k->deadline, LOOK_MS, 0);
    TAILQ_INSERT_TAIL(&e->looks, k, link);
    look_on(k);
}

/* ---- its end ---- */

static void elsewhere_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    (void)elsewhere_of(c);
    done(arg);
}

static void elsewhere_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    struct elsewhere *e = elsewhere_of(c);
    struct look *k;

    while ((k = TAILQ_FIRST(&e->looks))) {
        err_set(&k->problem, ERR_CANCELLED, NULL, "svcmgr ends.");
        end_look(k, false);
    }
    e->closed = closed;
    e->closed_arg = arg;
    run_timer_start(e->timer, 0, 0);
}

struct cluster *cluster_elsewhere_open(struct run_loop *loop, const struct fs_conf *fs,
                                       struct http_client *http, const char *name,
                                       const struct cluster_ops *ops, void *ops_arg)
{
    struct elsewhere *e = mem_new(struct elsewhere);

    obj_init(&e->obj, ELSEWHERE_MAGIC);
    e->loop = loop;
    e->fs = *fs;
    e->http = http;
    TAILQ_INIT(&e->looks);
    e->kind = (struct cluster_kind){
        .name = name,
        .recover = elsewhere_recover,
        .request = elsewhere_request,
        .cancel = elsewhere_change,
        .launch = elsewhere_launch,
        .stop = elsewhere_stop,
        .release = elsewhere_change,
        .exclude = elsewhere_exclude,
        .find = elsewhere_find,
        .log_dir = elsewhere_log_dir,
        .last_container = elsewhere_last_container,
        .is_of = elsewhere_is_of,
        .capacity = elsewhere_capacity,
        .look = elsewhere_look,
        .stop_all = elsewhere_stop_all,
        .close = elsewhere_close,
    };
    e->cluster = (struct cluster){&e->kind, ops, ops_arg};
    e->timer = run_timer_new(loop, on_later, e);
    return &e->cluster;
}
