#include "cluster/cluster.h"

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
    c->kind->cancel(c, container_id);
}

int cluster_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why)
{
    return c->kind->launch(c, container_id, launch, why);
}

void cluster_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    c->kind->stop(c, container_id, grace_ms);
}

void cluster_release(struct cluster *c, const char *container_id)
{
    c->kind->release(c, container_id);
}

const struct cluster_container *cluster_find(struct cluster *c, const char *container_id)
{
    return c->kind->find(c, container_id);
}

void cluster_capacity(struct cluster *c, struct cluster_capacity *out)
{
    c->kind->capacity(c, out);
}

void cluster_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    c->kind->stop_all(c, done, arg);
}

void cluster_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    c->kind->close(c, closed, arg);
}
