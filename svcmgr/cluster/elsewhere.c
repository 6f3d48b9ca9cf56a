#include "cluster/elsewhere.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"

#define ELSEWHERE_MAGIC OBJ_MAGIC('C', 'E', 'L', 'S')

struct elsewhere {
    struct obj obj;
    struct cluster cluster;
    struct cluster_kind kind;
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

/** Files are looked for where they are localised: by the nodes. */
static void elsewhere_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                           void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                           void *arg)
{
    const struct err_info none = {0};
    mem_auto bool *absent = mem_array(n + 1, sizeof *absent);

    (void)elsewhere_of(c);
    (void)owner;
    (void)paths;
    done(arg, absent, &none);
}

static void elsewhere_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    (void)elsewhere_of(c);
    done(arg);
}

static void elsewhere_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    struct elsewhere *e = elsewhere_of(c);

    e->closed = closed;
    e->closed_arg = arg;
    run_timer_start(e->timer, 0, 0);
}

struct cluster *cluster_elsewhere_open(struct run_loop *loop, const char *name, const struct cluster_ops *ops,
                                       void *ops_arg)
{
    struct elsewhere *e = mem_new(struct elsewhere);

    obj_init(&e->obj, ELSEWHERE_MAGIC);
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
