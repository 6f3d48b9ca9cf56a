#include "cluster/cluster.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define CONTAINER "container_"

const char *cluster_name(const struct cluster *c)
{
    return c->kind->name;
}

void cluster_recover(struct cluster *c)
{
    c->kind->recover(c);
}

void cluster_request(struct cluster *c, const struct cluster_ask *ask)
{
    c->kind->request(c, ask);
}

void cluster_cancel(struct cluster *c, const char *container_id)
{
    if (c->kind->cancel)
        c->kind->cancel(c, container_id);
}

int cluster_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why)
{
    return c->kind->launch(c, container_id, launch, why);
}

bool cluster_reinits(const struct cluster *c)
{
    return c->kind->reinit != NULL;
}

int cluster_reinit(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why)
{
    return c->kind->reinit(c, container_id, launch, why);
}

bool cluster_names_containers(const struct cluster *c)
{
    return !c->kind->cancel;
}

void cluster_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    c->kind->stop(c, container_id, grace_ms);
}

void cluster_release(struct cluster *c, const char *container_id)
{
    c->kind->release(c, container_id);
}

void cluster_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded)
{
    c->kind->exclude(c, application_id, host, excluded);
}

const struct cluster_container *cluster_find(struct cluster *c, const char *container_id)
{
    return c->kind->find(c, container_id);
}

bool cluster_probe(struct cluster *c, const char *container_id)
{
    return c->kind->probe && c->kind->probe(c, container_id);
}

void cluster_unprobe(struct cluster *c, const char *container_id)
{
    if (c->kind->unprobe)
        c->kind->unprobe(c, container_id);
}

char *cluster_log_dir(struct cluster *c, const char *container_id)
{
    return c->kind->log_dir(c, container_id);
}

char *cluster_last_container(struct cluster *c, const char *application_id, const char *instance)
{
    return c->kind->last_container(c, application_id, instance);
}

bool cluster_is_of(struct cluster *c, const char *application_id, const char *owner, const char *service)
{
    return c->kind->is_of(c, application_id, owner, service);
}

char *cluster_application_of(const char *container_id)
{
    static const char digits[] = "0123456789";
    const char *p = str_starts(container_id, CONTAINER) ? container_id + strlen(CONTAINER) : "";
    size_t n_timestamp = strspn(p, digits);
    size_t n_application = n_timestamp && p[n_timestamp] == '_' ? strspn(p + n_timestamp + 1, digits) : 0;
    const char *rest = p + n_timestamp + 1 + n_application;

    /* Only characters of an id follow: the result becomes part of a path. */
    if (!n_application || *rest != '_' || rest[strspn(rest, "_0123456789")])
        return NULL;
    return mem_fmt("application_%.*s", (int)(n_timestamp + 1 + n_application), p);
}

void cluster_capacity(struct cluster *c, struct cluster_capacity *out)
{
    c->kind->capacity(c, out);
}

void cluster_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                  void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg)
{
    c->kind->look(c, owner, paths, n, done, arg);
}

int cluster_signal(struct cluster *c, const char *container_id, int signal, struct err_info *why)
{
    if (!c->kind->signal)
        return err_set(why, ERR_UNSUPPORTED, container_id, "a cluster of kind %s runs no processes",
                       c->kind->name);
    return c->kind->signal(c, container_id, signal, why);
}

int cluster_exec(struct cluster *c, const char *container_id, const struct cluster_exec *what,
                 void (*done)(void *arg, int code), void *arg, struct cluster_session **out,
                 struct err_info *why)
{
    if (!c->kind->exec)
        return err_set(why, ERR_UNSUPPORTED, container_id, "a cluster of kind %s runs no processes",
                       c->kind->name);
    return c->kind->exec(c, container_id, what, done, arg, out, why);
}

void cluster_exec_end(struct cluster *c, struct cluster_session *s)
{
    c->kind->exec_end(s);
}

void cluster_usage(struct cluster *c, const char *const *ids, size_t n,
                   void (*done)(void *arg, const struct cluster_usage *usage), void *arg)
{
    if (c->kind->usage)
        c->kind->usage(c, ids, n, done, arg);
    else
        done(arg, NULL);
}

void cluster_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    c->kind->stop_all(c, done, arg);
}

void cluster_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    c->kind->close(c, closed, arg);
}
