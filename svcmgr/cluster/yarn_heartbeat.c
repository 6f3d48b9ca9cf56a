/** The resource manager: registration, heartbeats, the end. See yarn.h. */
#include <stdlib.h>
#include <string.h>

#include "cluster/yarn_exit.h"
#include "cluster/yarn_priv.h"

#define SOON_MS         10
#define WAITING_MS      200 /* something is asked for */
#define REST_MS         1000
#define RETRY_MS        500
#define FINISH_AGAIN_MS 100
#define FINISH_LIMIT_MS 30000
#define FOUND_MS        5000 /* of earlier containers: a node that has not answered by then may later */

static bool is_class(const struct yarn_answer *a, const char *name)
{
    return a->failure && strstr(a->failure->class_name, name) != NULL;
}

static bool is_text(const struct yarn_answer *a, const char *words)
{
    return a->failure && strstr(a->failure->why.text, words) != NULL;
}

static void beat_in(struct on_yarn *y, uint64_t ms)
{
    if (!y->is_closing && !y->is_over)
        run_timer_start(y->beat, ms, 0);
}

static void is_over(struct on_yarn *y, const struct err_info *why)
{
    y->is_over = true;
    if (y->cluster.ops->over)
        y->cluster.ops->over(y->cluster.ops_arg, why);
}

/* ---- containers of earlier attempts ---- */

static void recovered(struct on_yarn *y)
{
    if (!y->is_recovering)
        return;
    y->is_recovering = false;
    run_timer_stop(y->recovery);
    y->cluster.ops->recovery_done(y->cluster.ops_arg);
}

static bool has_unknown(const struct on_yarn *y)
{
    for (MAP_EACH (&y->boxes, slot)) {
        if (((const struct yarn_box *)slot->value)->wish == WISH_FOUND)
            return true;
    }
    return false;
}

/** Each that is not known yet is reported as such, and again when it is. */
static void on_recovery_over(void *arg)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);
    mem_auto const char **keys = map_sorted_keys(&y->boxes);

    if (has_unknown(y) && run_now_ms() < y->recovery_until_ms) {
        run_timer_start(y->recovery, SOON_MS, 0);
        return;
    }
    for (size_t i = 0; keys[i]; i++) {
        struct yarn_box *b = map_get(&y->boxes, keys[i]);
        if (b && b->wish == WISH_FOUND && !b->is_reported) {
            b->is_reported = true;
            b->c.state = CLUSTER_RECOVERING;
            y->cluster.ops->recovered(y->cluster.ops_arg, &b->c);
        }
    }
    recovered(y);
}

static void take_earlier(struct on_yarn *y, Yarn__Container **list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct yarn_box *b = yarn_box_new(y, list[i]);
        if (!b)
            continue;
        b->wish = WISH_FOUND;
        b->is_found = b->is_launched = true;
        b->c.state = CLUSTER_RECOVERING;
        yarn_node_poll(b->node);
    }
}

/* ---- registration ---- */

static void on_registered(void *arg, const struct yarn_answer *a)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);
    const Yarn__Registration *m = yarn_master_register_answer(a);
    bool was_registered = is_class(a, "InvalidApplicationMasterRequestException"); /* its answer was lost */

    y->is_calling = false;
    if (!m && !was_registered) {
        if (is_class(a, "ApplicationAttemptNotFound") || a->failure->why.code == ERR_AUTH)
            is_over(y, &a->failure->why);
        else
            beat_in(y, RETRY_MS);
        return;
    }
    y->is_registered = true;
    y->response_id = 0;
    if (m && m->maximum_capability) {
        y->max_memory_mb = m->maximum_capability->memory;
        y->max_vcores = m->maximum_capability->virtual_cores;
    }
    for (size_t i = 0; m && i < m->n_node_tokens_from_previous_attempts; i++)
        yarn_node_take_token(y, m->node_tokens_from_previous_attempts[i]);
    if (m)
        take_earlier(y, m->containers_from_previous_attempts, m->n_containers_from_previous_attempts);
    if (y->is_recovering) {
        y->recovery_until_ms = run_now_ms() + FOUND_MS;
        run_timer_start(y->recovery, SOON_MS, 0);
    }
    beat_in(y, 0);
}

void yarn_register(struct on_yarn *y)
{
    Yarn__RegisterMaster m = YARN__REGISTER_MASTER__INIT;

    m.host = y->host;
    m.has_rpc_port = true;
    m.rpc_port = y->rpc_port;
    m.tracking_url = y->tracking_url;
    y->call = (struct yarn_call){.done = on_registered, .arg = y};
    y->is_calling = !yarn_master_register(y->master, &m, &y->call, NULL);
    if (!y->is_calling)
        beat_in(y, RETRY_MS);
}

/** The resource manager has restarted: everything is sent to it again. */
static void resync(struct on_yarn *y)
{
    y->is_registered = false;
    y->n_sent_releases = 0;
    yarn_asks_failed(y);
    yarn_asks_resync(y);
    for (size_t i = 0; i < y->n_news; i++)
        free(y->news[i]);
    y->n_news = 0;
    for (MAP_EACH (&y->excluded, slot)) {
        y->news = mem_resize(y->news, y->n_news + 1, sizeof *y->news);
        y->news[y->n_news++] = mem_str(slot->key);
    }
    yarn_register(y);
}

/* ---- answers ---- */

static void take_allocated(struct on_yarn *y, const Yarn__Container *m)
{
    struct yarn_box *b = yarn_box_new(y, m);
    int64_t priority = m->priority ? m->priority->priority : 0;

    yarn_asks_granted(y, priority, m->allocation_request_id);
    if (!b)
        return;
    b->c.allocation_id = yarn_round_allocation(m->allocation_request_id);
    if (yarn_node_address(b))
        y->cluster.ops->allocated(y->cluster.ops_arg, &b->c);
}

static void take_completed(struct on_yarn *y, const Yarn__ContainerStatus *m)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_container_id_read(m->container_id, &id))
        return;
    struct yarn_box *b = yarn_box_find(y, &id);
    if (b) {
        yarn_box_ended(b, m->exit_status, m->diagnostics);
        return;
    }
    /* of an earlier attempt: it ended while no attempt was there */
    struct cluster_container gone = {.id = yarn_container_id_text(&id, text), .state = CLUSTER_EXITED};
    yarn_exit_read(m->exit_status, m->diagnostics, false, &gone.exit);
    gone.exit.ended_ms = run_wall_ms();
    y->cluster.ops->recovered(y->cluster.ops_arg, &gone);
}

static const char *const node_words[] = {NULL,   "NEW",      "RUNNING",         "UNHEALTHY", "DECOMMISSIONED",
                                         "LOST", "REBOOTED", "DECOMMISSIONING", "SHUTDOWN"};

static void take_node(struct on_yarn *y, const Yarn__NodeReport *m)
{
    struct yarn_node *n = yarn_node_of(y, m->node_id);
    bool is_word = m->has_state && m->state > 0 && (size_t)m->state < ARRAY_LEN(node_words);

    if (!n)
        return;
    const struct cluster_node node = {.host = n->host,
                                      .rack = m->rack,
                                      .http_address = m->http_address,
                                      .health = m->health_report,
                                      .state = is_word ? node_words[m->state] : "RUNNING",
                                      .labels = (const char *const *)m->labels,
                                      .n_labels = m->n_labels,
                                      .memory_mb = m->capability ? m->capability->memory : 0,
                                      .vcores = m->capability ? m->capability->virtual_cores : 0};
    y->cluster.ops->node(y->cluster.ops_arg, &node);
}

static void drop_acknowledged(struct on_yarn *y)
{
    if (!y->n_sent_releases)
        return;
    y->n_releases -= y->n_sent_releases;
    memmove(y->releases, y->releases + y->n_sent_releases, y->n_releases * sizeof *y->releases);
    y->n_sent_releases = 0;
}

static void take_allocation(struct on_yarn *y, const Yarn__Allocation *m)
{
    if (m->am_rm_token) {
        yarn_token_fini(&y->token);
        yarn_token_read(&y->token, m->am_rm_token);
        yarn_link_set_token(y->master, &y->token);
    }
    y->response_id = m->response_id;
    yarn_asks_sent(y);
    drop_acknowledged(y);
    if (m->limit) {
        y->limit_memory_mb = m->limit->memory;
        y->limit_vcores = m->limit->virtual_cores;
    }
    for (size_t i = 0; i < m->n_node_tokens; i++)
        yarn_node_take_token(y, m->node_tokens[i]);
    take_earlier(y, m->containers_from_previous_attempts, m->n_containers_from_previous_attempts);
    for (size_t i = 0; i < m->n_updated_nodes; i++)
        take_node(y, m->updated_nodes[i]);
    for (size_t i = 0; i < m->n_allocated; i++)
        take_allocated(y, m->allocated[i]);
    for (size_t i = 0; i < m->n_completed; i++)
        take_completed(y, m->completed[i]);
    for (size_t i = 0; i < m->n_rejections; i++)
        yarn_rounds_rejected(y, m->rejections[i]);
    yarn_asks_explain(y);
}

static void beat_failed(struct on_yarn *y, const struct yarn_answer *a)
{
    bool is_of_rounds = is_class(a, "SchedulerInvalidResoureRequest") || /* spelt so */
                        is_text(a, "cannot handle placement constraints");
    bool is_ours = is_class(a, "InvalidResourceRequest") || is_class(a, "InvalidLabelResourceRequest");

    if (is_class(a, "ApplicationMasterNotRegistered")) {
        resync(y);
        return;
    }
    if (is_class(a, "ApplicationAttemptNotFound") || a->failure->why.code == ERR_AUTH) {
        is_over(y, &a->failure->why);
        return;
    }
    if (is_of_rounds && yarn_rounds_refused(y, a->failure->why.text))
        yarn_asks_failed(y);
    else if (is_ours)
        yarn_asks_refused(y, a->failure->why.text);
    else
        yarn_asks_failed(y);
    y->n_sent_releases = 0;
    beat_in(y, RETRY_MS);
}

static void on_beaten(void *arg, const struct yarn_answer *a)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);
    const Yarn__Allocation *m = yarn_master_allocate_answer(a);

    y->is_calling = false;
    if (!m) {
        beat_failed(y, a);
        return;
    }
    take_allocation(y, m);
    bool is_busy = yarn_asks_are_dirty(y) || y->n_releases > 0 || y->n_news > 0;
    beat_in(y, is_busy ? SOON_MS : yarn_asks_wait(y) ? WAITING_MS : REST_MS);
}

/* ---- a heartbeat ---- */

static void write_releases(struct on_yarn *y, struct arena *a, Yarn__Allocate *m)
{
    m->releases = arena_alloc(a, (y->n_releases + 1) * sizeof *m->releases);
    for (size_t i = 0; i < y->n_releases; i++) {
        struct yarn_id_message *id = arena_alloc(a, sizeof *id);
        yarn_container_id_point(&y->releases[i], id);
        m->releases[m->n_releases++] = &id->container;
    }
    y->n_sent_releases = y->n_releases;
}

static void write_blacklist(struct on_yarn *y, struct arena *a, Yarn__Allocate *m)
{
    Yarn__Blacklist *b = arena_alloc(a, sizeof *b);

    if (!y->n_news)
        return;
    yarn__blacklist__init(b);
    b->additions = arena_alloc(a, (y->n_news + 1) * sizeof *b->additions);
    b->removals = arena_alloc(a, (y->n_news + 1) * sizeof *b->removals);
    for (size_t i = 0; i < y->n_news; i++) {
        char *host = arena_alloc(a, strlen(y->news[i]) + 1);
        memcpy(host, y->news[i], strlen(y->news[i]) + 1);
        if (map_get(&y->excluded, host))
            b->additions[b->n_additions++] = host;
        else
            b->removals[b->n_removals++] = host;
        free(y->news[i]);
    }
    y->n_news = 0;
    m->blacklist = b;
}

static void allocate(struct on_yarn *y)
{
    struct arena *a = arena_new(0);
    Yarn__Allocate m = YARN__ALLOCATE__INIT;

    m.has_response_id = m.has_progress = true;
    m.response_id = y->response_id;
    m.progress = 0.5F;
    yarn_asks_write(y, a, &m);
    write_releases(y, a, &m);
    write_blacklist(y, a, &m);
    y->call = (struct yarn_call){.done = on_beaten, .arg = y};
    y->is_calling = !yarn_master_allocate(y->master, &m, &y->call, NULL);
    arena_free(a);
    if (y->is_calling)
        return;
    yarn_asks_failed(y);
    y->n_sent_releases = 0;
    beat_in(y, RETRY_MS);
}

/* ---- the end ---- */

static void finished(struct on_yarn *y)
{
    void (*done)(void *) = y->finished;

    y->finished = NULL;
    run_timer_stop(y->finish_limit);
    if (done)
        done(y->finished_arg);
}

static void on_finish_limit(void *arg)
{
    finished(obj_cast(arg, struct on_yarn, YARN_MAGIC));
}

static void on_finished(void *arg, const struct yarn_answer *a)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);
    const Yarn__FinishAnswer *m = yarn_master_finish_answer(a);

    y->is_calling = false;
    if ((m && m->is_unregistered) || is_class(a, "ApplicationAttemptNotFound")) {
        finished(y);
        return;
    }
    if (is_class(a, "ApplicationMasterNotRegistered"))
        y->is_registered = false;
    beat_in(y, FINISH_AGAIN_MS);
}

static void finish(struct on_yarn *y)
{
    static const Yarn__FinalStatus statuses[] = {[YARN_FINAL_SUCCEEDED] = YARN__FINAL_STATUS__FINAL_SUCCEEDED,
                                                 [YARN_FINAL_FAILED] = YARN__FINAL_STATUS__FINAL_FAILED,
                                                 [YARN_FINAL_ENDED] = YARN__FINAL_STATUS__FINAL_ENDED};
    Yarn__FinishMaster m = YARN__FINISH_MASTER__INIT;

    m.diagnostics = y->diagnostics;
    m.has_final_status = true;
    m.final_status = statuses[y->final];
    y->call = (struct yarn_call){.done = on_finished, .arg = y};
    y->is_calling = !yarn_master_finish(y->master, &m, &y->call, NULL);
    if (!y->is_calling)
        beat_in(y, RETRY_MS);
}

static void on_beat(void *arg)
{
    struct on_yarn *y = obj_cast(arg, struct on_yarn, YARN_MAGIC);

    if (y->is_calling || y->is_over)
        return;
    if (!y->is_registered)
        yarn_register(y);
    else if (y->is_finishing)
        finish(y);
    else
        allocate(y);
}

void yarn_beat_soon(struct on_yarn *y)
{
    if (y->is_registered && !y->is_calling)
        beat_in(y, SOON_MS);
}

void yarn_release(struct on_yarn *y, const struct yarn_container_id *id)
{
    y->releases = mem_resize(y->releases, y->n_releases + 1, sizeof *y->releases);
    y->releases[y->n_releases++] = *id;
    yarn_beat_soon(y);
}

void yarn_heartbeat_init(struct on_yarn *y)
{
    y->beat = run_timer_new(y->loop, on_beat, y);
    y->recovery = run_timer_new(y->loop, on_recovery_over, y);
    y->finish_limit = run_timer_new(y->loop, on_finish_limit, y);
}

void cluster_yarn_finish(struct cluster *c, enum yarn_final_status status, const char *diagnostics,
                         void (*done)(void *arg), void *arg)
{
    struct on_yarn *y = obj_cast(container_of(c, struct on_yarn, cluster), struct on_yarn, YARN_MAGIC);

    BUG_IF(y->is_finishing);
    y->is_finishing = true;
    y->final = status;
    y->diagnostics = mem_str(diagnostics ? diagnostics : "");
    y->finished = done;
    y->finished_arg = arg;
    run_timer_start(y->finish_limit, FINISH_LIMIT_MS, 0);
    if (!y->is_calling)
        beat_in(y, 0);
}
