#include "cluster/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "sim/sim.h"

#define SIMULATED_MAGIC OBJ_MAGIC('S', 'I', 'M', 'C')
#define LOOK_MAGIC      OBJ_MAGIC('S', 'L', 'O', 'K')
#define TURN_EVENTS     32 /* in one turn of the loop: each is a step of the engine */
#define NO_TIME         INT64_MAX

struct simulated {
    struct obj obj;
    struct cluster cluster;
    struct run_loop *loop;
    struct sim_script *script;
    struct sim *sim;
    int64_t speed, begun_ms; /* begun_ms: run_now_ms at virtual time 0 */
    struct run_timer *timer; /* of the next event */
    int64_t armed_ms;        /* virtual time for which the timer is set; NO_TIME: it is not */
    void (*held)(void *arg, void (*each)(void *each_arg, const struct sim_held *c), void *each_arg);
    void *held_arg;
    char **found; /* ids to be reported as recovered */
    size_t n_found, cap_found, next_found;
    size_t next_node; /* of those that are reported after what was found */
    bool is_recovering, is_closing;
    size_t n_posts; /* of ours in the loop */
    void (*closed)(void *arg);
    void *closed_arg;
    void (*all_stopped)(void *arg);
    void *all_stopped_arg;
    struct sim_room largest;       /* node */
    struct cluster_container view; /* of the container that was looked at last */
    char application_id[128];
};

static struct simulated *simulated_of(struct cluster *c)
{
    return obj_cast(container_of(c, struct simulated, cluster), struct simulated, SIMULATED_MAGIC);
}

/* ---- time ---- */

static int64_t virtual_ms(const struct simulated *m)
{
    return (run_now_ms() - m->begun_ms) * m->speed;
}

/** The timer is set for the next event. */
static void arm(struct simulated *m)
{
    int64_t next_ms = m->is_recovering ? 0 : sim_next_ms(m->sim);

    if (m->is_closing || next_ms >= m->armed_ms)
        return;
    int64_t left_ms = next_ms - virtual_ms(m);
    m->armed_ms = next_ms;
    run_timer_start(m->timer, left_ms > 0 ? (uint64_t)((left_ms + m->speed - 1) / m->speed) : 0, 0);
}

/* ---- what a container looks like ---- */

static struct cluster_exit exit_of(const struct sim_container *c)
{
    static const enum eng_exit_cause causes[] = {
        [SIM_EXITED] = CAUSE_EXITED,       [SIM_SIGNALLED] = CAUSE_SIGNALLED,
        [SIM_NOT_STARTED] = CAUSE_LAUNCH,  [SIM_MEMORY] = CAUSE_MEMORY_PHYSICAL,
        [SIM_PREEMPTED] = CAUSE_PREEMPTED, [SIM_LOST] = CAUSE_LOST,
        [SIM_STOPPED] = CAUSE_STOPPED,
    };
    struct eng_exit x = eng_exit_of(causes[c->cause], c->value, NULL);
    struct cluster_exit out = {.origin = x.origin,
                               .cause = x.cause,
                               .raw = x.raw,
                               .was_stopped = c->cause == SIM_STOPPED,
                               .ended_ms = run_wall_ms()};
    mem_auto char *text = eng_exit_text(&x);

    snprintf(out.text, sizeof out.text, "The simulated container: %s.", text);
    return out;
}

static enum cluster_state state_of(const struct sim_container *c)
{
    switch (c->state) {
    case SIM_ASKED:
    case SIM_GRANTED:
    case SIM_HELD: return CLUSTER_ALLOCATED;
    case SIM_STARTING: return CLUSTER_STARTING;
    case SIM_RUNNING:
    case SIM_STOPPING: return CLUSTER_RUNNING;
    case SIM_ENDED: return CLUSTER_EXITED;
    }
    return CLUSTER_EXITED;
}

static const struct cluster_container *look_at(struct simulated *m, const struct sim_container *c)
{
    mem_auto char *application_id = cluster_application_of(c->id);

    snprintf(m->application_id, sizeof m->application_id, "%s", application_id ? application_id : "");
    m->view = (struct cluster_container){
        .id = c->id,
        .application_id = m->application_id,
        .ip = c->ip,
        .hostname = c->node ? c->node->name : NULL,
        .work_dir = "/",
        .log_dir = "/",
        .run_user = "nobody",
        .memory_mb = c->room.memory_mb,
        .vcores = c->room.vcores,
        .gpus = c->gpus,
        .allocated_ms = run_wall_ms(),
        .started_ms = c->started_ms ? run_wall_ms() : 0,
        .attempt = c->attempt,
        .state = state_of(c),
    };
    if (c->state == SIM_ENDED)
        m->view.exit = exit_of(c);
    return &m->view;
}

/* ---- events ---- */

static void report_node(const struct simulated *m, const struct sim_node *node)
{
    const char *label = node->label ? node->label : "";
    const struct cluster_node n = {.host = node->name,
                                   .rack = node->rack,
                                   .state = node->is_down ? "LOST" : "RUNNING",
                                   .labels = &label,
                                   .n_labels = *label ? 1 : 0,
                                   .memory_mb = node->has.memory_mb,
                                   .vcores = node->has.vcores,
                                   .n_gpus = node->has.amounts[SIM_GPU_TYPE]};

    m->cluster.ops->node(m->cluster.ops_arg, &n);
}

/** Why a request waits, in the engine's terms. */
static void report_lack(const struct simulated *m, const struct sim_event *ev)
{
    static const enum eng_wait reasons[] = {
        [SIM_LACKS_NOTHING] = WAIT_ALLOCATION,   [SIM_LACKS_LABEL] = WAIT_LABEL,
        [SIM_LACKS_SIZE] = WAIT_RESOURCE,        [SIM_LACKS_ROOM] = WAIT_RESOURCE,
        [SIM_LACKS_CONSTRAINT] = WAIT_PLACEMENT,
    };
    mem_auto char *text = sim_lack_text(ev->lack, ev->lacking);
    const struct eng_waiting why = {.why = reasons[ev->lack], .name = (char *)ev->lacking, .text = text};

    m->cluster.ops->waits(m->cluster.ops_arg, ev->container->id, &why);
}

static void report(struct simulated *m, const struct sim_event *ev)
{
    const struct cluster_ops *ops = m->cluster.ops;
    void *arg = m->cluster.ops_arg;

    if (ev->container)
        look_at(m, ev->container);
    m->view.attempt = ev->attempt;
    switch (ev->kind) {
    case SIM_EV_ALLOCATED: ops->allocated(arg, &m->view); break;
    case SIM_EV_WAITS: report_lack(m, ev); break;
    case SIM_EV_STARTED: ops->started(arg, &m->view); break;
    case SIM_EV_ENDED: ops->exited(arg, &m->view); break;
    case SIM_EV_READINESS:
        ops->probed(arg, m->view.id, ev->attempt, ev->is_ready,
                    ev->is_ready ? NULL : "not ready by the script");
        break;
    case SIM_EV_NODE: report_node(m, ev->node); break;
    }
}

/** Containers of an earlier life, and the nodes, are reported before anything happens. @return whether there may be more of them */
static bool report_found(struct simulated *m)
{
    const struct cluster_ops *ops = m->cluster.ops;
    const struct sim_nodes *nodes = sim_nodes_of(m->sim);

    for (int i = 0; i < TURN_EVENTS && m->next_found < m->n_found; i++) {
        const struct sim_container *c = sim_find(m->sim, m->found[m->next_found]);
        free(m->found[m->next_found++]);
        if (c)
            ops->recovered(m->cluster.ops_arg, look_at(m, c));
    }
    if (m->next_found < m->n_found)
        return true;
    for (int i = 0; i < TURN_EVENTS && m->next_node < nodes->n; i++)
        report_node(m, &nodes->list[m->next_node++]);
    if (m->next_node < nodes->n)
        return true;
    m->is_recovering = false;
    ops->recovery_done(m->cluster.ops_arg);
    return false;
}

static void on_timer(void *arg)
{
    struct simulated *m = obj_cast(arg, struct simulated, SIMULATED_MAGIC);
    struct sim_event ev;
    int64_t now_ms = virtual_ms(m);

    m->armed_ms = NO_TIME;
    if (!m->is_recovering || !report_found(m)) {
        for (int i = 0; i < TURN_EVENTS && !m->is_closing && sim_take(m->sim, now_ms, &ev); i++)
            report(m, &ev);
    }
    arm(m);
}

/* ---- recovery ---- */

static void hold(void *arg, const struct sim_held *c)
{
    struct simulated *m = obj_cast(arg, struct simulated, SIMULATED_MAGIC);
    mem_auto char *application = cluster_application_of(c->id);
    const struct sim_ask ask = {.id = c->id,
                                .application = application,
                                .room = {.memory_mb = c->memory_mb, .vcores = c->vcores},
                                .component = c->component,
                                .needs = c->needs,
                                .label = c->label,
                                .ip = c->ip};

    sim_restore(m->sim, &ask, c->host, c->attempt, c->is_running, c->instance, virtual_ms(m));
    if (m->n_found == m->cap_found) {
        m->cap_found = m->cap_found ? 2 * m->cap_found : TURN_EVENTS;
        m->found = mem_resize(m->found, m->cap_found, sizeof *m->found);
    }
    m->found[m->n_found++] = mem_str(c->id);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void simulated_recover(struct cluster *c)
{
    struct simulated *m = simulated_of(c);

    m->is_recovering = true;
    if (m->held)
        m->held(m->held_arg, hold, m);
    if (m->n_found)
        qsort(m->found, m->n_found, sizeof *m->found, by_text);
    arm(m);
}

/* ---- requests ---- */

static void simulated_request(struct cluster *c, const struct cluster_ask *ask)
{
    struct simulated *m = simulated_of(c);
    const struct sim_ask a = {.id = ask->container_id,
                              .application = ask->application_id,
                              .host = ask->host,
                              .room = {.memory_mb = ask->memory_mb, .vcores = ask->vcores},
                              .component = ask->component,
                              .needs = ask->needs,
                              .label = ask->label,
                              .ip = ask->ip};

    sim_request(m->sim, &a, virtual_ms(m));
    arm(m);
}

static void simulated_cancel(struct cluster *c, const char *container_id)
{
    sim_cancel(simulated_of(c)->sim, container_id, virtual_ms(simulated_of(c)));
    arm(simulated_of(c));
}

static int simulated_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                            struct err_info *why)
{
    struct simulated *m = simulated_of(c);
    int err = sim_launch(m->sim, container_id, launch->attempt, launch->instance, virtual_ms(m));

    arm(m);
    return err ? err_set(why, err, container_id, "The simulated container cannot start a process now.") : 0;
}

static void simulated_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    struct simulated *m = simulated_of(c);

    sim_stop(m->sim, container_id, grace_ms == 0, virtual_ms(m));
    arm(m);
}

static void simulated_release(struct cluster *c, const char *container_id)
{
    struct simulated *m = simulated_of(c);

    sim_release(m->sim, container_id, virtual_ms(m));
    arm(m);
}

static void simulated_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded)
{
    sim_exclude(simulated_of(c)->sim, application_id, host, excluded, virtual_ms(simulated_of(c)));
    arm(simulated_of(c));
}

static const struct cluster_container *simulated_find(struct cluster *c, const char *container_id)
{
    struct simulated *m = simulated_of(c);
    const struct sim_container *found = sim_find(m->sim, container_id);

    return found && found->state != SIM_ASKED && found->state != SIM_GRANTED ? look_at(m, found) : NULL;
}

static bool simulated_probe(struct cluster *c, const char *container_id)
{
    struct simulated *m = simulated_of(c);

    sim_probe(m->sim, container_id, virtual_ms(m));
    arm(m);
    return true;
}

static void simulated_unprobe(struct cluster *c, const char *container_id)
{
    sim_unprobe(simulated_of(c)->sim, container_id);
}

static void simulated_capacity(struct cluster *c, struct cluster_capacity *out)
{
    const struct simulated *m = simulated_of(c);
    const struct sim *sim = m->sim;
    const struct sim_nodes *nodes = sim_nodes_of(sim);

    *out = (struct cluster_capacity){.memory_mb = nodes->has.memory_mb,
                                     .vcores = nodes->has.vcores,
                                     .max_memory_mb = m->largest.memory_mb,
                                     .max_vcores = m->largest.vcores,
                                     .used_memory_mb = nodes->used.memory_mb,
                                     .used_vcores = nodes->used.vcores};
    sim_count(sim, &out->n_containers, &out->n_waiting);
}

/* ---- no logs, and every file ---- */

static char *simulated_log_dir(struct cluster *c, const char *container_id)
{
    (void)c;
    (void)container_id;
    return NULL;
}

static char *simulated_last_container(struct cluster *c, const char *application_id, const char *instance)
{
    (void)c;
    (void)application_id;
    (void)instance;
    return NULL;
}

static bool simulated_is_of(struct cluster *c, const char *application_id, const char *owner,
                            const char *service)
{
    (void)c;
    (void)application_id;
    (void)owner;
    (void)service;
    return false;
}

/** The end of a look, a turn later. */
struct look {
    struct obj obj;
    struct simulated *cluster;
    size_t n;
    void (*done)(void *arg, const bool *absent, const struct err_info *problem);
    void *arg;
};

static void check_end(struct simulated *m);

static void on_looked(void *arg)
{
    struct look *look = obj_cast(arg, struct look, LOOK_MAGIC);
    struct simulated *m = look->cluster;
    mem_auto bool *absent = mem_array(look->n + 1, sizeof *absent);
    const struct err_info problem = {0};

    look->done(look->arg, absent, &problem);
    obj_fini(&look->obj);
    free(look);
    m->n_posts--;
    check_end(m);
}

static void simulated_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                           void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                           void *arg)
{
    struct simulated *m = simulated_of(c);
    struct look *look = mem_new(struct look);

    (void)owner;
    (void)paths;
    obj_init(&look->obj, LOOK_MAGIC);
    look->cluster = m;
    look->n = n;
    look->done = done;
    look->arg = arg;
    m->n_posts++;
    run_post(m->loop, on_looked, look);
}

/* ---- the end ---- */

static void free_simulated(struct simulated *m)
{
    run_timer_free(m->timer);
    while (m->next_found < m->n_found)
        free(m->found[m->next_found++]);
    free(m->found);
    sim_free(m->sim);
    sim_script_free(m->script);
    obj_fini(&m->obj);
    free(m);
}

static void check_end(struct simulated *m)
{
    void (*closed)(void *) = m->closed;
    void *closed_arg = m->closed_arg;

    if (!m->is_closing || m->n_posts)
        return;
    free_simulated(m);
    closed(closed_arg);
}

static void on_closing(void *arg)
{
    struct simulated *m = obj_cast(arg, struct simulated, SIMULATED_MAGIC);

    m->n_posts--;
    check_end(m);
}

static void simulated_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    struct simulated *m = simulated_of(c);

    m->is_closing = true;
    m->closed = closed;
    m->closed_arg = arg;
    m->n_posts++;
    run_timer_stop(m->timer);
    run_post(m->loop, on_closing, m);
}

static void on_all_stopped(void *arg)
{
    struct simulated *m = obj_cast(arg, struct simulated, SIMULATED_MAGIC);

    m->n_posts--;
    m->all_stopped(m->all_stopped_arg); /* It may close the cluster, which ends later. */
}

/** Nothing is left of what is simulated when it is not looked at any more. */
static void simulated_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    struct simulated *m = simulated_of(c);

    m->all_stopped = done;
    m->all_stopped_arg = arg;
    m->n_posts++;
    run_timer_stop(m->timer);
    run_post(m->loop, on_all_stopped, m);
}

/* ---- opening ---- */

/** The most memory, and the most cores, of a node. */
static struct sim_room largest_of(const struct sim_nodes *nodes)
{
    struct sim_room most = {0};

    for (size_t i = 0; i < nodes->n; i++) {
        const struct sim_room *has = &nodes->list[i].has;
        most.memory_mb = has->memory_mb > most.memory_mb ? has->memory_mb : most.memory_mb;
        most.vcores = has->vcores > most.vcores ? has->vcores : most.vcores;
    }
    return most;
}

static const struct cluster_kind simulated_kind = {
    .name = "sim",
    .recover = simulated_recover,
    .request = simulated_request,
    .cancel = simulated_cancel,
    .launch = simulated_launch,
    .stop = simulated_stop,
    .release = simulated_release,
    .exclude = simulated_exclude,
    .find = simulated_find,
    .probe = simulated_probe,
    .unprobe = simulated_unprobe,
    .log_dir = simulated_log_dir,
    .last_container = simulated_last_container,
    .is_of = simulated_is_of,
    .capacity = simulated_capacity,
    .look = simulated_look,
    .stop_all = simulated_stop_all,
    .close = simulated_close,
};

int cluster_sim_check(const char *script, struct err_info *why)
{
    struct sim_script *read = NULL;
    int err = sim_script_read(script, &read, why);

    sim_script_free(read);
    return err;
}

int cluster_sim_open(struct run_loop *loop, const struct sim_options *options, const struct cluster_ops *ops,
                     void *ops_arg, struct cluster **out, struct err_info *why)
{
    struct sim_script *script = NULL;
    int err = sim_script_read(options->script, &script, why);

    if (err)
        return err;
    struct simulated *m = mem_new(struct simulated);
    obj_init(&m->obj, SIMULATED_MAGIC);
    m->cluster = (struct cluster){&simulated_kind, ops, ops_arg};
    m->loop = loop;
    m->script = script;
    m->sim = sim_new(script, options->seed);
    m->largest = largest_of(sim_nodes_of(m->sim));
    m->speed = options->speed;
    m->begun_ms = run_now_ms();
    m->timer = run_timer_new(loop, on_timer, m);
    m->armed_ms = NO_TIME;
    m->held = options->held;
    m->held_arg = options->held_arg;
    *out = &m->cluster;
    return 0;
}
