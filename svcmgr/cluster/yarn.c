/** The cluster kind yarn: its containers, and what a caller asks of them. See yarn.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/yarn_exit.h"
#include "cluster/yarn_priv.h"
#include "spec/spec.h"

#define STOP_MIN_MS 250 /* the node's own time between SIGTERM and SIGKILL */
#define END_WAIT_MS 30000
#define CALL_MS     10000
#define GPU_BITS    63

static struct on_yarn *on_yarn_of(struct cluster *c)
{
    return obj_cast(container_of(c, struct on_yarn, cluster), struct on_yarn, YARN_MAGIC);
}

static struct yarn_box *box_of(struct cluster *c, const char *container_id)
{
    return map_get(&on_yarn_of(c)->boxes, container_id);
}

/* ---- containers ---- */

struct yarn_box *yarn_box_find(struct on_yarn *y, const struct yarn_container_id *id)
{
    char text[YARN_ID_TEXT_MAX];

    return map_get(&y->boxes, yarn_container_id_text(id, text));
}

/** A node manager does not say which GPUs a container has, but shows it no others: the first as many. */
static int64_t gpus_of(const Yarn__Resource *m)
{
    int64_t n = 0;

    for (size_t i = 0; m && i < m->n_values; i++) {
        if (m->values[i]->key && !strcmp(m->values[i]->key, SPEC_GPU_TYPE) && m->values[i]->has_value)
            n = m->values[i]->value;
    }
    return n <= 0 ? 0 : n >= GPU_BITS ? INT64_MAX : ((int64_t)1 << n) - 1;
}

struct yarn_box *yarn_box_new(struct on_yarn *y, const Yarn__Container *m)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_node *node = yarn_container_id_read(m->id, &id) ? NULL : yarn_node_of(y, m->node_id);

    if (!node || !m->container_token || yarn_box_find(y, &id))
        return NULL;
    struct yarn_box *b = mem_new(struct yarn_box);
    obj_init(&b->obj, YARN_BOX_MAGIC);
    b->owner = y;
    b->node = node;
    b->id = id;
    yarn_token_read(&b->token, m->container_token);
    b->c.id = mem_str(yarn_container_id_text(&id, text));
    b->c.application_id = mem_str(yarn_app_id_text(&id.attempt.app, text));
    b->c.hostname = mem_str(node->host);
    b->c.node_http = mem_str(m->node_http_address);
    b->c.memory_mb = m->resource ? m->resource->memory : 0;
    b->c.vcores = m->resource ? m->resource->virtual_cores : 0;
    b->c.gpus = gpus_of(m->resource);
    b->c.allocated_ms = run_wall_ms();
    b->c.state = CLUSTER_ALLOCATED;
    b->tag = mem_str(m->n_allocation_tags ? m->allocation_tags[0] : NULL);
    map_set(&y->boxes, b->c.id, b);
    const struct cluster_node report = {
        .host = node->host, .http_address = m->node_http_address, .state = "RUNNING"};
    y->cluster.ops->node(y->cluster.ops_arg, &report);
    return b;
}

static void free_box(void *p)
{
    struct yarn_box *b = obj_cast(p, struct yarn_box, YARN_BOX_MAGIC);

    if (b->making)
        yarn_context_cancel(b->making);
    if (b->is_calling)
        yarn_call_cancel(&b->call);
    yarn_context_drop(b->owner->maker, b->c.id);
    run_timer_free(b->stop);
    yarn_token_fini(&b->token);
    free(b->tag);
    free((char *)b->c.id);
    free((char *)b->c.application_id);
    free((char *)b->c.ip);
    free((char *)b->c.hostname);
    free((char *)b->c.node_http);
    obj_fini(&b->obj);
    free(b);
}

void yarn_box_free(struct yarn_box *b)
{
    map_remove(&b->owner->boxes, b->c.id);
    yarn_rounds_room(b->owner);
    free_box(b);
}

void yarn_box_found(struct yarn_box *b)
{
    b->is_reported = true;
    b->owner->cluster.ops->recovered(b->owner->cluster.ops_arg, &b->c);
}

void yarn_box_ended(struct yarn_box *b, int32_t status, const char *diagnostics)
{
    struct on_yarn *y = b->owner;
    bool was_found = b->is_found && !b->is_reported;

    b->wish = WISH_NOTHING;
    b->c.state = CLUSTER_EXITED;
    b->c.exit.was_stopped = b->is_stopping;
    b->c.exit.started_ms = b->c.started_ms;
    b->c.exit.ended_ms = run_wall_ms();
    yarn_exit_read(status, diagnostics, b->is_stopping, &b->c.exit);
    yarn_release(y, &b->id); /* of one that was never started it is given back */
    mem_auto char *id = mem_str(b->c.id);
    if (was_found)
        yarn_box_found(b);
    else
        y->cluster.ops->exited(y->cluster.ops_arg, &b->c);
    b = map_get(&y->boxes, id); /* the caller may have released it */
    if (b && b->c.state == CLUSTER_EXITED)
        yarn_box_free(b);
}

/* ---- operations ---- */

static void yarn_recover(struct cluster *c)
{
    struct on_yarn *y = on_yarn_of(c);

    y->is_recovering = true;
    yarn_register(y);
}

/** One that is held: it is given once more, or has gone. */
static void confirm(struct on_yarn *y, const char *container_id)
{
    struct yarn_box *b = map_get(&y->boxes, container_id);
    struct cluster_container gone = {.id = container_id, .state = CLUSTER_EXITED};

    if (b) {
        y->cluster.ops->allocated(y->cluster.ops_arg, &b->c);
        return;
    }
    yarn_exit_read(-100, "Container released on a *lost* node", false, &gone.exit);
    y->cluster.ops->exited(y->cluster.ops_arg, &gone);
}

static void yarn_request(struct cluster *c, const struct cluster_ask *ask)
{
    struct on_yarn *y = on_yarn_of(c);

    if (ask->allocation_id)
        yarn_asks_set(y, ask);
    else
        confirm(y, ask->container_id);
}

static int yarn_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                       struct err_info *why)
{
    struct yarn_box *b = box_of(c, container_id);

    if (!b)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (b->c.state != CLUSTER_ALLOCATED)
        return err_set(why, ERR_WRONGSTATE, container_id, "The container runs, or has run.");
    yarn_box_start(b, launch);
    return 0;
}

static int yarn_reinit(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                       struct err_info *why)
{
    struct yarn_box *b = box_of(c, container_id);

    if (!b)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (b->making)
        yarn_context_cancel(b->making);
    b->is_reinit = true;
    yarn_box_start(b, launch);
    return 0;
}

/** Its end was not reported in time: it is given back, which the resource manager reports at once. */
static void on_no_end(void *arg)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);

    yarn_release(b->owner, &b->id);
}

static void kill_now(void *arg)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);

    run_timer_free(b->stop);
    b->stop = run_timer_new(b->owner->loop, on_no_end, b);
    run_timer_start(b->stop, END_WAIT_MS, END_WAIT_MS);
    yarn_box_kill(b);
}

static void on_signalled(void *arg, const struct yarn_answer *a)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);

    (void)a; /* it is killed when its grace is over, whatever became of the signal */
    b->is_calling = false;
}

static int send_signal(struct yarn_box *b, Yarn__SignalCommand command, struct err_info *why)
{
    struct yarn_link *link = yarn_node_link(b->node);
    Yarn__SignalContainer m = YARN__SIGNAL_CONTAINER__INIT;
    struct yarn_id_message id;

    if (!link)
        return err_set(why, ERR_UNAVAILABLE, b->node->key, "There is no token for the node.");
    if (b->is_calling)
        return err_set(why, ERR_WRONGSTATE, b->c.id, "The container is being started or stopped.");
    yarn_container_id_point(&b->id, &id);
    m.container_id = &id.container;
    m.command = command;
    b->call = (struct yarn_call){.done = on_signalled, .arg = b, .timeout_ms = CALL_MS};
    int err = yarn_container_signal(link, &m, &b->call, why);
    b->is_calling = !err;
    return err;
}

static void yarn_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    struct yarn_box *b = box_of(c, container_id);
    bool is_running = b && b->c.state == CLUSTER_RUNNING;

    if (!b || !cluster_state_is_live(b->c.state))
        return;
    b->is_stopping = true;
    b->is_reinit = false;
    b->wish = WISH_NOTHING;
    if (b->making) {
        yarn_context_cancel(b->making);
        b->making = NULL;
    }
    run_timer_free(b->stop);
    b->stop = NULL;
    if (!is_running || grace_ms <= STOP_MIN_MS ||
        send_signal(b, YARN__SIGNAL_COMMAND__SIGNAL_GRACEFUL_SHUTDOWN, NULL)) {
        kill_now(b);
        return;
    }
    b->stop = run_timer_new(b->owner->loop, kill_now, b);
    run_timer_start(b->stop, (uint64_t)grace_ms, 0);
}

static void yarn_release_one(struct cluster *c, const char *container_id)
{
    struct on_yarn *y = on_yarn_of(c);
    struct yarn_box *b = map_get(&y->boxes, container_id);

    if (!b)
        return;
    if (b->c.state != CLUSTER_EXITED)
        yarn_release(y, &b->id); /* the resource manager has its node kill what runs */
    yarn_box_free(b);
}

static void yarn_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded)
{
    struct on_yarn *y = on_yarn_of(c);
    bool was = map_get(&y->excluded, host) != NULL;

    (void)application_id;
    if (was == excluded)
        return;
    if (excluded)
        map_set(&y->excluded, host, y);
    else
        map_remove(&y->excluded, host);
    y->news = mem_resize(y->news, y->n_news + 1, sizeof *y->news);
    y->news[y->n_news++] = mem_str(host);
    yarn_beat_soon(y);
}

static const struct cluster_container *yarn_find(struct cluster *c, const char *container_id)
{
    const struct yarn_box *b = box_of(c, container_id);

    return b ? &b->c : NULL;
}

/** Logs are on the nodes. */
static char *yarn_log_dir(struct cluster *c, const char *container_id)
{
    (void)c;
    (void)container_id;
    return NULL;
}

static char *yarn_last_container(struct cluster *c, const char *application_id, const char *instance)
{
    (void)c;
    (void)application_id;
    (void)instance;
    return NULL;
}

static bool yarn_is_of(struct cluster *c, const char *application_id, const char *owner, const char *service)
{
    (void)c;
    (void)application_id;
    (void)owner;
    (void)service;
    return false;
}

static void yarn_capacity(struct cluster *c, struct cluster_capacity *out)
{
    struct on_yarn *y = on_yarn_of(c);

    *out = (struct cluster_capacity){.n_containers = y->boxes.n_items};
    for (MAP_EACH (&y->boxes, slot)) {
        const struct yarn_box *b = slot->value;
        out->used_memory_mb += b->c.memory_mb;
        out->used_vcores += b->c.vcores;
    }
    for (MAP_EACH (&y->asks, slot))
        out->n_waiting += (size_t)((const struct yarn_ask *)slot->value)->n_wanted;
}

/** Files are looked for where they are localised. */
static void yarn_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                      void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg)
{
    const struct err_info none = {0};
    mem_auto bool *absent = mem_array(n + 1, sizeof *absent);

    (void)c;
    (void)owner;
    (void)paths;
    done(arg, absent, &none);
}

static int yarn_signal(struct cluster *c, const char *container_id, int signal, struct err_info *why)
{
    struct yarn_box *b = box_of(c, container_id);

    if (!b || b->c.state != CLUSTER_RUNNING)
        return err_set(why, ERR_NOTFOUND, container_id, "No process runs in the container.");
    switch (signal) {
    case SIGTERM: return send_signal(b, YARN__SIGNAL_COMMAND__SIGNAL_GRACEFUL_SHUTDOWN, why);
    case SIGKILL: return send_signal(b, YARN__SIGNAL_COMMAND__SIGNAL_FORCEFUL_SHUTDOWN, why);
    case SIGQUIT: return send_signal(b, YARN__SIGNAL_COMMAND__SIGNAL_THREAD_DUMP, why);
    default:
        return err_set(why, ERR_UNSUPPORTED, container_id, "A node manager sends TERM, KILL and QUIT only.");
    }
}

static void yarn_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    (void)c; /* containers outlive their master */
    done(arg);
}

/* ---- the end ---- */

static void on_end(void *arg)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);
    void (*closed)(void *) = y->closed;
    void *closed_arg = y->closed_arg;

    run_timer_free(y->end);
    yarn_token_fini(&y->token);
    for (size_t i = 0; i < y->n_news; i++)
        free(y->news[i]);
    free(y->news);
    free(y->releases);
    free(y->host);
    free(y->tracking_url);
    free(y->diagnostics);
    map_fini(&y->excluded, NULL);
    obj_fini(&y->obj);
    free(y);
    closed(closed_arg);
}

static void on_master_closed(void *arg)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);

    if (--y->n_links == 0)
        run_timer_start(y->end, 0, 0);
}

static void yarn_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    struct on_yarn *y = on_yarn_of(c);
    struct run_timer *const timers[] = {y->beat, y->recovery, y->finish_limit};

    y->is_closing = true;
    y->closed = closed;
    y->closed_arg = arg;
    y->end = run_timer_new(y->loop, on_end, y);
    for (size_t i = 0; i < ARRAY_LEN(timers); i++)
        run_timer_free(timers[i]);
    if (y->is_calling)
        yarn_call_cancel(&y->call);
    map_fini(&y->boxes, free_box);
    map_fini(&y->nodes, yarn_node_free);
    map_fini(&y->asks, yarn_ask_free);
    y->n_links++;
    yarn_link_close(y->master, on_master_closed, y);
}

/* ---- opening ---- */

static const struct cluster_kind yarn_kind = {
    .name = "yarn",
    .recover = yarn_recover,
    .request = yarn_request,
    .launch = yarn_launch,
    .reinit = yarn_reinit,
    .stop = yarn_stop,
    .release = yarn_release_one,
    .exclude = yarn_exclude,
    .find = yarn_find,
    .log_dir = yarn_log_dir,
    .last_container = yarn_last_container,
    .is_of = yarn_is_of,
    .capacity = yarn_capacity,
    .look = yarn_look,
    .signal = yarn_signal,
    .stop_all = yarn_stop_all,
    .close = yarn_close,
};

int cluster_yarn_open(struct run_loop *loop, const struct yarn_options *options,
                      const struct cluster_ops *ops, void *ops_arg, struct cluster **out,
                      struct err_info *why)
{
    struct yarn_link_config config = {.noun = "resource manager",
                                      .protocol = yarn_master_protocol,
                                      .auth = YARN_AUTH_TOKEN,
                                      .token = options->token,
                                      .reach = options->reach,
                                      .reach_arg = options->reach_arg,
                                      YARN_LINK_DEFAULTS};
    struct on_yarn *y = mem_new(struct on_yarn);
    config.wish = options->wish;
    int err = yarn_link_open(loop, &config, options->scheduler, &y->master, why);

    if (err) {
        free(y);
        return err;
    }
    obj_init(&y->obj, YARN_MAGIC);
    y->cluster = (struct cluster){&yarn_kind, ops, ops_arg};
    y->loop = loop;
    y->attempt = options->attempt;
    y->host = mem_str(options->host);
    y->tracking_url = mem_str(options->tracking_url);
    y->rpc_port = options->rpc_port;
    y->maker = options->maker;
    y->constraints = options->constraints;
    y->wish = options->wish;
    yarn_token_copy(&y->token, options->token);
    y->limit_memory_mb = y->limit_vcores = -1;
    yarn_heartbeat_init(y);
    *out = &y->cluster;
    return 0;
}
