/** Statuses of tasks: see view.h. */
#include "launcher/view.h"

#include "base/mem.h"
#include "launcher/exits.h"
#include "launcher/view_parts.h"

/** A task, and which container of it is shown. */
struct task {
    const struct launcher_role_look *of;
    const struct eng_instance *inst;
    enum launcher_task_state state;
    const char *container_id; /* NULL: it has none, and had none */
    const char *node_http;
    bool is_stopped; /* it ended with its application */
};

static struct task task_of(const struct launcher_role_look *of, const struct eng_instance *inst)
{
    struct task t = {.of = of, .inst = inst, .state = launcher_task_state_of(inst, of->state)};
    bool has_decided = inst->state == INST_SUCCEEDED || inst->state == INST_FAILED;
    t.is_stopped = t.state == TASK_COMPLETED && !has_decided;
    if (t.state == TASK_WAITING || t.state == CONTAINER_REQUESTED)
        return t;
    bool is_held = inst->container_id && inst->state != INST_REQUESTED;
    t.container_id = is_held ? inst->container_id : inst->last_container_id;
    t.node_http = is_held ? inst->node_http : inst->last_node_http;
    return t;
}

static bool has_exit(const struct task *t)
{
    return t->state == CONTAINER_COMPLETED || t->state == TASK_COMPLETED;
}

static void write_log_address(struct jw *w, const struct task *t)
{
    mem_auto char *url = NULL;
    if (t->container_id && t->node_http)
        url = mem_fmt("http://%s/node/containerlogs/%s/%s/", t->node_http, t->container_id,
                      t->inst->component->service->user);
    jw_literal_key(w, "containerLogHttpAddress");
    jw_str(w, url);
}

static void write_container(struct jw *w, const struct task *t)
{
    const struct eng_instance *inst = t->inst;
    bool has = t->container_id != NULL;
    mem_auto char *ports = has ? eng_task_ports_text(inst) : NULL;
    jw_literal_key(w, "containerId");
    jw_str(w, t->container_id);
    jw_literal_key(w, "containerHost");
    jw_str(w, has ? inst->bare_host : NULL);
    jw_literal_key(w, "containerIp");
    jw_str(w, has ? inst->ip : NULL);
    jw_literal_key(w, "containerPorts");
    jw_str(w, ports);
    jw_literal_key(w, "containerGpus");
    if (has)
        jw_int(w, inst->gpus);
    else
        jw_null(w);
    write_log_address(w, t);
    jw_literal_key(w, "containerConnectionLostCount");
    if (has)
        jw_int(w, 0);
    else
        jw_null(w);
    jw_literal_key(w, "containerIsDecommissioning");
    jw_null(w);
}

/** Time of day at which its container ended; 0: it has not. */
static int64_t container_ended_ms(const struct task *t)
{
    if (!t->container_id || !has_exit(t))
        return 0;
    if (t->is_stopped && t->of->app_completed_ms > 0)
        return t->of->app_completed_ms;
    return t->inst->last_exit ? t->inst->last_exit->ended_ms : 0;
}

static void write_exit(struct jw *w, const struct task *t)
{
    static const struct launcher_exit none = {0};
    bool has = has_exit(t) && (t->is_stopped || t->inst->last_exit);
    struct launcher_exit x = !has            ? none
                             : t->is_stopped ? launcher_exit_of_code(t->of->e, LAUNCHER_TASK_STOPPED)
                                             : launcher_exit_of(t->of->e, t->inst->last_exit, LAUNCHER_TASK);
    mem_auto char *diagnostics = has && !t->is_stopped ? launcher_exit_diagnostics(t->inst->last_exit) : NULL;
    jw_literal_key(w, "containerExitCode");
    if (has)
        jw_int(w, x.code);
    else
        jw_null(w);
    jw_literal_key(w, "containerExitDescription");
    jw_str(w, x.description);
    jw_literal_key(w, "containerExitDiagnostics");
    jw_str(w, diagnostics);
    jw_literal_key(w, "containerExitType");
    jw_str(w, has ? launcher_exit_type_word(x.type) : NULL);
}

/** Time of day at which it was over; 0: it is not. */
static int64_t ended_ms(const struct task *t)
{
    if (t->state != TASK_COMPLETED)
        return 0;
    return t->is_stopped && t->of->app_completed_ms > 0 ? t->of->app_completed_ms : t->inst->completed_ms;
}

void launcher_write_task(struct jw *w, const struct launcher_role_look *of, const struct eng_instance *inst)
{
    struct task t = task_of(of, inst);
    jw_object(w);
    jw_literal_key(w, "taskIndex");
    jw_int(w, inst->index);
    jw_literal_key(w, "taskRoleName");
    jw_str(w, of->role);
    jw_literal_key(w, "taskState");
    jw_str(w, launcher_task_state_word(t.state));
    jw_literal_key(w, "taskRetryPolicyState");
    launcher_write_retries(w, inst->retries);
    jw_literal_key(w, "taskCreatedTimestamp");
    launcher_write_time(w, inst->created_ms);
    jw_literal_key(w, "taskCompletedTimestamp");
    launcher_write_time(w, ended_ms(&t));
    jw_literal_key(w, "taskServiceStatus");
    jw_object(w);
    jw_literal_key(w, "serviceVersion");
    jw_int(w, of->service_version);
    jw_object_end(w);
    write_container(w, &t);
    jw_literal_key(w, "containerLaunchedTimestamp");
    launcher_write_time(w, t.container_id ? inst->launched_ms : 0);
    jw_literal_key(w, "containerCompletedTimestamp");
    launcher_write_time(w, container_ended_ms(&t));
    write_exit(w, &t);
    jw_object_end(w);
}

void launcher_write_unmade_task(struct jw *w, const struct launcher_role_look *of, int64_t index)
{
    const struct eng_instance inst = {.index = index, .state = INST_PENDING, .created_ms = of->created_ms};
    launcher_write_task(w, of, &inst);
}
