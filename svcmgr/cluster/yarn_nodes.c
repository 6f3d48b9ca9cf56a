/**
 * Node managers: a link each, containers that are started, and polls of those of which something must be known.
 *
 * A poll is one call for all containers of a node that wait. The first one comes soon after a start, the next ones less and less
 * often; none comes when no container waits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "cluster/yarn_exit.h"
#include "cluster/yarn_exit.h"
#include "cluster/yarn_priv.h"

#define POLL_FIRST_MS  50
#define POLL_MAX_MS    1000
#define ADDRESS_MS     5000 /* a container whose address the node does not say has that of the node */
#define REINIT_MS      3000 /* a process that was never seen down was replaced between two polls */
#define CALL_MS        15000
#define STOP_MIN_MS    250 /* the node's own grace */
#define END_WAIT_MS    30000
#define STATUS_UNKNOWN (-1000)

struct yarn_node *yarn_node_of(struct on_yarn *y, const Yarn__NodeId *id)
{
    if (!id || !id->host || !id->has_port)
        return NULL;
    mem_auto char *key = mem_fmt("%s:%d", id->host, id->port);
    struct yarn_node *n = map_get(&y->nodes, key);
    if (n)
        return n;
    n = mem_new(struct yarn_node);
    obj_init(&n->obj, YARN_NODE_MAGIC);
    n->owner = y;
    n->key = mem_str(key);
    n->host = mem_str(id->host);
    n->port = id->port;
    map_set(&y->nodes, key, n);
    return n;
}

void yarn_node_take_token(struct on_yarn *y, const Yarn__NodeToken *m)
{
    struct yarn_node *n = m->token ? yarn_node_of(y, m->node_id) : NULL;

    if (!n)
        return;
    yarn_token_fini(&n->token);
    yarn_token_read(&n->token, m->token);
    n->has_token = true;
    if (n->link)
        yarn_link_set_token(n->link, &n->token);
}

static void on_link_closed(void *arg)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);

    y->n_links--;
    if (y->is_closing && y->n_links == 0 && y->end)
        run_timer_start(y->end, 0, 0);
}

void yarn_node_free(void *p)
{
    struct yarn_node *n = obj_cast(p, struct yarn_node, YARN_NODE_MAGIC);

    run_timer_free(n->timer);
    if (n->link) {
        n->owner->n_links++;
        yarn_call_cancel(&n->poll);
        yarn_link_close(n->link, on_link_closed, n->owner);
    }
    yarn_node_forget_lookup(n);
    yarn_token_fini(&n->token);
    free(n->ip);
    free(n->key);
    free(n->host);
    obj_fini(&n->obj);
    free(n);
}

struct yarn_link *yarn_node_link(struct yarn_node *n)
{
    struct yarn_addresses addresses = ADDRESSES_EMPTY;
    struct yarn_link_config config = {.noun = "node manager",
                                      .protocol = yarn_container_protocol,
                                      .auth = YARN_AUTH_TOKEN,
                                      .token = &n->token,
                                      YARN_LINK_DEFAULTS};
    struct err_info why;

    if (n->link || !n->has_token)
        return n->link;
    config.wish = n->owner->wish;
    yarn_addresses_add(&addresses, n->host, (uint16_t)n->port);
    if (yarn_link_open(n->owner->loop, &config, &addresses, &n->link, &why))
        n->link = NULL;
    yarn_addresses_fini(&addresses);
    return n->link;
}

/* ---- what a node says of its containers ---- */

static const char *attribute(const Yarn__ContainerStatus *m, const char *key)
{
    for (size_t i = 0; i < m->n_attributes; i++) {
        if (m->attributes[i]->key && !strcmp(m->attributes[i]->key, key))
            return m->attributes[i]->value;
    }
    return NULL;
}

static void set_text(const char **slot, const char *text, size_t len)
{
    free((char *)*slot);
    *slot = mem_strn(text, len);
}

/** @return its address is known */
static bool take_address(struct yarn_box *b, const Yarn__ContainerStatus *m)
{
    const char *ips = attribute(m, "IPS"), *host = attribute(m, "HOST");
    bool is_late = run_now_ms() - b->running_ms >= ADDRESS_MS;

    if (ips && *ips) {
        set_text(&b->c.ip, ips, strcspn(ips, ","));
        if (host && *host)
            set_text(&b->c.hostname, host, strlen(host));
        return true;
    }
    if (!is_late)
        return false;
    const char *ip = !strcmp(b->node->host, "localhost") ? "127.0.0.1" : b->node->host;
    set_text(&b->c.ip, ip, strlen(ip));
    return true;
}

static void is_running(struct yarn_box *b, const Yarn__ContainerStatus *m)
{
    struct on_yarn *y = b->owner;
    bool was_replaced = !b->is_reinit || b->was_seen_down || run_now_ms() - b->running_ms >= REINIT_MS;

    if (!b->running_ms)
        b->running_ms = run_now_ms();
    if (!was_replaced || !take_address(b, m))
        return;
    b->is_reinit = false;
    b->c.state = CLUSTER_RUNNING;
    b->c.started_ms = run_wall_ms();
    b->c.attempt = b->attempt;
    enum yarn_wish wish = b->wish;
    b->wish = WISH_NOTHING;
    b->is_launched = true;
    if (wish == WISH_FOUND)
        yarn_box_found(b);
    else
        y->cluster.ops->started(y->cluster.ops_arg, &b->c);
}

static void take_status(struct on_yarn *y, const Yarn__ContainerStatus *m)
{
    struct yarn_container_id id;
    struct yarn_box *b = yarn_container_id_read(m->container_id, &id) ? NULL : yarn_box_find(y, &id);

    if (!b || b->wish == WISH_NOTHING)
        return;
    if (m->has_state && m->state == YARN__CONTAINER_STATE__CONTAINER_COMPLETE)
        yarn_box_ended(b, m->exit_status, m->diagnostics);
    else if (m->has_sub_state && m->sub_state == YARN__CONTAINER_SUB_STATE__SUB_RUNNING)
        is_running(b, m);
    else
        b->was_seen_down = true;
}

static void take_failure(struct on_yarn *y, const char *server, const Yarn__ContainerException *m)
{
    struct yarn_container_id id;
    struct yarn_failure failure;
    struct yarn_box *b = yarn_container_id_read(m->container_id, &id) ? NULL : yarn_box_find(y, &id);

    if (!b || b->wish == WISH_NOTHING || b->is_calling)
        return;
    yarn_failure_element(server, m->exception, &failure);
    yarn_box_ended(b, STATUS_UNKNOWN, failure.why.text); /* the node has it no more */
}

static void poll_later(struct yarn_node *n);

static void on_polled(void *arg, const struct yarn_answer *a)
{
    struct yarn_node *n = obj_cast(arg, struct yarn_node, YARN_NODE_MAGIC);
    struct on_yarn *y = n->owner;
    const Yarn__ContainerStatuses *m = yarn_container_statuses_answer(a);

    n->is_polling = false;
    for (size_t i = 0; m && i < m->n_statuses; i++)
        take_status(y, m->statuses[i]);
    for (size_t i = 0; m && i < m->n_failed; i++)
        take_failure(y, a->server, m->failed[i]);
    poll_later(n);
}

static void poll(void *arg)
{
    struct yarn_node *n = obj_cast(arg, struct yarn_node, YARN_NODE_MAGIC);
    struct on_yarn *y = n->owner;
    struct yarn_link *link = yarn_node_link(n);
    Yarn__ContainerIds m = YARN__CONTAINER_IDS__INIT;
    size_t n_boxes = y->boxes.n_items;
    mem_auto struct yarn_id_message *ids = mem_array(n_boxes + 1, sizeof *ids);
    mem_auto Yarn__ContainerId **list = mem_array(n_boxes + 1, sizeof *list);

    if (n->is_polling || !link)
        return;
    m.ids = list;
    for (MAP_EACH (&y->boxes, slot)) {
        struct yarn_box *b = slot->value;
        if (b->node != n || b->wish == WISH_NOTHING || b->is_calling || b->making)
            continue;
        yarn_container_id_point(&b->id, &ids[m.n_ids]);
        list[m.n_ids] = &ids[m.n_ids].container;
        m.n_ids++;
    }
    if (!m.n_ids)
        return;
    n->poll = (struct yarn_call){.done = on_polled, .arg = n, .timeout_ms = CALL_MS};
    n->is_polling = !yarn_container_statuses(link, &m, &n->poll, NULL);
    if (!n->is_polling)
        poll_later(n);
}

static bool has_waiting(const struct yarn_node *n)
{
    for (MAP_EACH (&n->owner->boxes, slot)) {
        const struct yarn_box *b = slot->value;
        if (b->node == n && b->wish != WISH_NOTHING)
            return true;
    }
    return false;
}

static void poll_later(struct yarn_node *n)
{
    if (!has_waiting(n))
        return;
    run_timer_start(n->timer, (uint64_t)n->pause_ms, 0);
    n->pause_ms = backoff_next(n->pause_ms, POLL_FIRST_MS, POLL_MAX_MS);
}

void yarn_node_poll(struct yarn_node *n)
{
    if (!n->timer)
        n->timer = run_timer_new(n->owner->loop, poll, n);
    n->pause_ms = POLL_FIRST_MS;
    if (!n->is_polling)
        poll_later(n);
}

/* ---- starting ---- */

static void not_started(struct yarn_box *b, int32_t status, const char *text)
{
    b->is_launched = false;
    yarn_box_ended(b, status, text);
}

/** A source of a task that is not there, or that its user may not have, is so for every container. */
static int32_t status_of(const struct yarn_box *b, int err)
{
    bool is_lasting =
        err == ERR_NOTFOUND || err == ERR_PERMISSION || err == ERR_INVALID || err == ERR_UNSUPPORTED;

    return b->is_task && is_lasting ? YARN_EXIT_SOURCE : STATUS_UNKNOWN;
}

/** It was not started, for sure or perhaps: the container goes, and another one is asked for. */
static void on_started(void *arg, const struct yarn_answer *a)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);
    const Yarn__StartAnswer *m = yarn_container_start_answer(a);

    b->is_calling = false;
    if (!m && a->failure->why.code != ERR_UNKNOWN_OUTCOME) {
        not_started(b, STATUS_UNKNOWN, a->failure->why.text);
        return;
    }
    if (m && m->n_failed > 0) {
        struct yarn_failure failure;
        yarn_failure_element(a->server, m->failed[0]->exception, &failure);
        not_started(b, STATUS_UNKNOWN, failure.why.text);
        return;
    }
    b->is_launched = true;
    yarn_node_poll(b->node);
}

static void on_reinitialized(void *arg, const struct yarn_answer *a)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);

    b->is_calling = false;
    if (a->failure && a->failure->why.code != ERR_UNKNOWN_OUTCOME)
        yarn_box_kill(b); /* its end says that it could not be replaced */
    b->running_ms = run_now_ms();
    yarn_node_poll(b->node);
}

static int call_start(struct yarn_box *b, const Yarn__LaunchContext *context, struct yarn_link *link,
                      struct err_info *why)
{
    Yarn__StartContainers m = YARN__START_CONTAINERS__INIT;
    Yarn__StartContainer one = YARN__START_CONTAINER__INIT, *list = &one;
    Yarn__Token token = YARN__TOKEN__INIT;

    yarn_token_point(&b->token, &token);
    one.launch_context = (Yarn__LaunchContext *)context;
    one.container_token = &token;
    m.requests = &list;
    m.n_requests = 1;
    b->call = (struct yarn_call){.done = on_started, .arg = b, .timeout_ms = CALL_MS};
    return yarn_container_start(link, &m, &b->call, why);
}

static int call_reinit(struct yarn_box *b, const Yarn__LaunchContext *context, struct yarn_link *link,
                       struct err_info *why)
{
    Yarn__ReInitialize m = YARN__RE_INITIALIZE__INIT;
    struct yarn_id_message id;

    yarn_container_id_point(&b->id, &id);
    m.container_id = &id.container;
    m.launch_context = (Yarn__LaunchContext *)context;
    b->call = (struct yarn_call){.done = on_reinitialized, .arg = b, .timeout_ms = CALL_MS};
    return yarn_container_re_initialize(link, &m, &b->call, why);
}

static void on_made(void *arg, int err, const Yarn__LaunchContext *context, const struct err_info *why)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);
    struct yarn_link *link = yarn_node_link(b->node);
    struct err_info problem = {0};

    const int made_err = err;

    b->making = NULL;
    if (err)
        problem = *why;
    else if (!link)
        err = err_set(&problem, ERR_UNAVAILABLE, b->node->key,
                      "the resource manager has given no token for the node");
    if (!err)
        err = b->is_reinit ? call_reinit(b, context, link, &problem) : call_start(b, context, link, &problem);
    b->is_calling = !err;
    if (!err)
        return;
    if (b->is_reinit)
        yarn_box_kill(b);
    else
        not_started(b, made_err ? status_of(b, made_err) : STATUS_UNKNOWN, problem.text);
}

void yarn_box_start(struct yarn_box *b, const struct cluster_launch *launch)
{
    b->wish = WISH_STARTED;
    b->attempt = launch->attempt;
    b->is_task = launch->is_task;
    b->running_ms = 0;
    b->was_seen_down = false;
    b->c.state = CLUSTER_STARTING;
    b->making = yarn_context_make(b->owner->maker, &b->c, launch, on_made, b);
}

/* ---- ending ---- */

static void on_killed(void *arg, const struct yarn_answer *a)
{
    struct yarn_box *b = obj_cast(arg, struct yarn_box, YARN_BOX_MAGIC);

    (void)a; /* its end is reported by the resource manager, or b->stop gives it back */
    b->is_calling = false;
}

void yarn_box_kill(struct yarn_box *b)
{
    struct yarn_link *link = yarn_node_link(b->node);
    Yarn__ContainerIds m = YARN__CONTAINER_IDS__INIT;
    struct yarn_id_message id;
    Yarn__ContainerId *list = &id.container;

    if (b->is_calling)
        yarn_call_cancel(&b->call);
    b->is_calling = false;
    if (!link)
        return;
    yarn_container_id_point(&b->id, &id);
    m.ids = &list;
    m.n_ids = 1;
    b->call = (struct yarn_call){.done = on_killed, .arg = b, .timeout_ms = CALL_MS};
    b->is_calling = !yarn_container_stop(link, &m, &b->call, NULL);
}
