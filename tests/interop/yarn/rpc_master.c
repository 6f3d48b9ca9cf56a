/* ApplicationMasterProtocol, and ContainerManagementProtocol for the one container that was allocated. */
#include "rpc.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- resource manager ---- */

static void read_registration(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__Registration *m = yarn_master_register_answer(a);
    r->response_id = 0;
    jw_kstr(&r->w, "queue", m->queue);
    jw_kint(&r->w, "memory", m->maximum_capability ? m->maximum_capability->memory : 0);
}

void rpc_register(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    Yarn__RegisterMaster m = YARN__REGISTER_MASTER__INIT;
    m.host = "localhost";
    m.has_rpc_port = true;
    m.rpc_port = -1;
    m.tracking_url = "";
    rpc_wait(r, yarn_master_register(rpc_master(r), &m, rpc_begin(r), &why), &why, read_registration);
}

static void keep_node_token(struct rpc *r, const Yarn__NodeToken *m)
{
    if (!m->node_id || !m->token)
        return;
    mem_auto char *id = mem_fmt("%s:%d", m->node_id->host, m->node_id->port);
    struct yarn_token *token = mem_new(struct yarn_token), *old;
    yarn_token_read(token, m->token);
    old = map_set(&r->node_tokens, id, token);
    if (old)
        yarn_token_fini(old);
    free(old);
}

static void keep_container(struct rpc *r, const Yarn__Container *m)
{
    if (yarn_container_id_read(m->id, &r->container) != 0 || !m->node_id || !m->container_token)
        return;
    free(r->node_host);
    r->node_host = mem_str(m->node_id->host);
    r->node_port = m->node_id->port;
    yarn_token_fini(&r->container_token);
    yarn_token_read(&r->container_token, m->container_token);
    r->is_completed = false;
}

static void read_allocation(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__Allocation *m = yarn_master_allocate_answer(a);
    char text[YARN_ID_TEXT_MAX];
    r->response_id = m->response_id;
    if (m->am_rm_token) {
        yarn_token_fini(&r->token);
        yarn_token_read(&r->token, m->am_rm_token);
        yarn_link_set_token(r->master, &r->token);
    }
    for (size_t i = 0; i < m->n_node_tokens; i++)
        keep_node_token(r, m->node_tokens[i]);
    for (size_t i = 0; i < m->n_allocated; i++) {
        keep_container(r, m->allocated[i]);
        jw_kstr(&r->w, "container", yarn_container_id_text(&r->container, text));
        jw_kint(&r->w, "request", m->allocated[i]->allocation_request_id);
    }
    for (size_t i = 0; i < m->n_completed; i++) {
        struct yarn_container_id id;
        if (yarn_container_id_read(m->completed[i]->container_id, &id) != 0 ||
            !yarn_container_id_equal(&id, &r->container))
            continue;
        r->is_completed = true;
        r->exit_status = m->completed[i]->exit_status;
        jw_kint(&r->w, "exit_status", r->exit_status);
    }
}

static void allocate(struct rpc *r, Yarn__ResourceRequest *ask)
{
    struct err_info why;
    Yarn__Allocate m = YARN__ALLOCATE__INIT;
    m.has_response_id = true;
    m.response_id = r->response_id;
    m.asks = &ask;
    m.n_asks = ask ? 1 : 0;
    rpc_wait(r, yarn_master_allocate(rpc_master(r), &m, rpc_begin(r), &why), &why, read_allocation);
}

/* allocate: a heartbeat */
void rpc_allocate(struct rpc *r, char *rest)
{
    (void)rest;
    allocate(r, NULL);
}

/* ask MB: one container, request 7 */
void rpc_ask(struct rpc *r, char *rest)
{
    Yarn__ResourceRequest ask = YARN__RESOURCE_REQUEST__INIT;
    Yarn__Resource size = YARN__RESOURCE__INIT;
    Yarn__Priority priority = YARN__PRIORITY__INIT;
    size.has_memory = size.has_virtual_cores = priority.has_priority = true;
    size.memory = atoi(rest);
    size.virtual_cores = 1;
    priority.priority = 1;
    ask.priority = &priority;
    ask.resource_name = "*";
    ask.capability = &size;
    ask.has_n_containers = ask.has_allocation_request_id = true;
    ask.n_containers = 1;
    ask.allocation_request_id = 7;
    allocate(r, &ask);
}

void rpc_until_allocated(struct rpc *r, char *rest)
{
    (void)rest;
    for (int i = 0; i < RPC_MAX_POLLS && !r->has_failed && r->container.id == 0; i++) {
        rpc_pause(r, RPC_POLL_MS);
        allocate(r, NULL);
    }
}

void rpc_until_completed(struct rpc *r, char *rest)
{
    (void)rest;
    for (int i = 0; i < RPC_MAX_POLLS && !r->has_failed && !r->is_completed; i++) {
        rpc_pause(r, RPC_POLL_MS);
        allocate(r, NULL);
    }
}

static void read_finish(struct rpc *r, const struct yarn_answer *a)
{
    r->is_completed = yarn_master_finish_answer(a)->is_unregistered;
}

void rpc_finish(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    Yarn__FinishMaster m = YARN__FINISH_MASTER__INIT;
    m.diagnostics = "all done";
    m.has_final_status = true;
    m.final_status = YARN__FINAL_STATUS__FINAL_SUCCEEDED;
    r->is_completed = false;
    for (int i = 0; i < RPC_MAX_POLLS && !r->has_failed && !r->is_completed; i++) {
        rpc_wait(r, yarn_master_finish(rpc_master(r), &m, rpc_begin(r), &why), &why, read_finish);
        if (!r->is_completed)
            rpc_pause(r, RPC_POLL_MS);
    }
    jw_kbool(&r->w, "unregistered", r->is_completed);
}

/* ---- node manager ---- */

/* What a bulk call says of its one element. */
static void put_failed(struct rpc *r, Yarn__ContainerException *const *failed, size_t n)
{
    struct yarn_failure why;
    jw_kint(&r->w, "n_failed", (int64_t)n);
    if (n == 0)
        return;
    yarn_failure_element("", failed[0]->exception, &why);
    jw_kstr(&r->w, "error", err_name(why.why.code));
    jw_kstr(&r->w, "text", why.why.text);
}

static void read_start(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__StartAnswer *m = yarn_container_start_answer(a);
    jw_kint(&r->w, "n_started", (int64_t)m->n_succeeded);
    put_failed(r, m->failed, m->n_failed);
}

/* start COMMAND: in the container that was allocated */
void rpc_start(struct rpc *r, char *rest)
{
    struct err_info why;
    Yarn__LaunchContext launch;
    Yarn__Token token;
    Yarn__StartContainer one = YARN__START_CONTAINER__INIT, *all[] = {&one};
    Yarn__StartContainers m = YARN__START_CONTAINERS__INIT;
    rpc_launch(&launch, &rest);
    yarn_token_point(&r->container_token, &token);
    one.launch_context = &launch;
    one.container_token = &token;
    m.requests = all;
    m.n_requests = 1;
    rpc_wait(r, yarn_container_start(rpc_node(r, NULL), &m, rpc_begin(r), &why), &why, read_start);
}

static void read_statuses(struct rpc *r, const struct yarn_answer *a)
{
    static const char *const states[] = {"?", "SCHEDULED", "RUNNING", "PAUSED", "COMPLETING", "DONE"};
    const Yarn__ContainerStatuses *m = yarn_container_statuses_answer(a);
    put_failed(r, m->failed, m->n_failed);
    if (m->n_statuses == 0)
        return;
    const Yarn__ContainerStatus *s = m->statuses[0];
    size_t state = (size_t)s->sub_state;
    r->exit_status = s->exit_status;
    jw_kstr(&r->w, "sub_state", state < ARRAY_LEN(states) ? states[state] : states[0]);
    jw_kint(&r->w, "exit_status", s->exit_status);
    jw_kstr(&r->w, "diagnostics", s->diagnostics);
    for (size_t i = 0; i < s->n_attributes; i++)
        jw_kstr(&r->w, s->attributes[i]->key, s->attributes[i]->value);
}

/* The calls that take a list with the one container. */
static void ask_of_all(struct rpc *r,
                       int (*start)(struct yarn_link *, const Yarn__ContainerIds *, struct yarn_call *,
                                    struct err_info *),
                       void (*read)(struct rpc *r, const struct yarn_answer *a))
{
    struct err_info why;
    struct yarn_id_message id;
    Yarn__ContainerIds m = YARN__CONTAINER_IDS__INIT;
    Yarn__ContainerId *ids[] = {&id.container};
    yarn_container_id_point(&r->container, &id);
    m.ids = ids;
    m.n_ids = 1;
    rpc_wait(r, start(rpc_node(r, NULL), &m, rpc_begin(r), &why), &why, read);
}

void rpc_status(struct rpc *r, char *rest)
{
    (void)rest;
    ask_of_all(r, yarn_container_statuses, read_statuses);
}

/* until TEXT: until the status has this text; heartbeats go on */
void rpc_until(struct rpc *r, char *rest)
{
    for (int i = 0; i < RPC_MAX_POLLS && !r->has_failed && !strstr(buf_cstr(&r->out), rest); i++) {
        rpc_pause(r, RPC_POLL_MS);
        rpc_begin_output(r);
        allocate(r, NULL);
        ask_of_all(r, yarn_container_statuses, read_statuses);
    }
}

static void read_stop(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__StopAnswer *m = yarn_container_stop_answer(a);
    jw_kint(&r->w, "n_stopped", (int64_t)m->n_succeeded);
    put_failed(r, m->failed, m->n_failed);
}

void rpc_stop(struct rpc *r, char *rest)
{
    (void)rest;
    ask_of_all(r, yarn_container_stop, read_stop);
}

/* reinit COMMAND: not committed */
void rpc_re_initialize(struct rpc *r, char *rest)
{
    struct err_info why;
    struct yarn_id_message id;
    Yarn__LaunchContext launch;
    Yarn__ReInitialize m = YARN__RE_INITIALIZE__INIT;
    rpc_launch(&launch, &rest);
    yarn_container_id_point(&r->container, &id);
    m.container_id = &id.container;
    m.launch_context = &launch;
    m.has_auto_commit = true;
    m.auto_commit = false;
    rpc_wait(r, yarn_container_re_initialize(rpc_node(r, NULL), &m, rpc_begin(r), &why), &why, NULL);
}

static void ask_of_one(struct rpc *r, int (*start)(struct yarn_link *, const Yarn__ContainerId *,
                                                   struct yarn_call *, struct err_info *))
{
    struct err_info why;
    struct yarn_id_message id;
    yarn_container_id_point(&r->container, &id);
    rpc_wait(r, start(rpc_node(r, NULL), &id.container, rpc_begin(r), &why), &why, NULL);
}

void rpc_roll_back(struct rpc *r, char *rest)
{
    (void)rest;
    ask_of_one(r, yarn_container_roll_back);
}

void rpc_commit(struct rpc *r, char *rest)
{
    (void)rest;
    ask_of_one(r, yarn_container_commit);
}

/* signal: SIGTERM, by the node manager */
void rpc_signal(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    struct yarn_id_message id;
    Yarn__SignalContainer m = YARN__SIGNAL_CONTAINER__INIT;
    yarn_container_id_point(&r->container, &id);
    m.container_id = &id.container;
    m.command = YARN__SIGNAL_COMMAND__SIGNAL_GRACEFUL_SHUTDOWN;
    rpc_wait(r, yarn_container_signal(rpc_node(r, NULL), &m, rpc_begin(r), &why), &why, NULL);
}

/* wrong-token: the master's token to the node manager */
void rpc_wrong_token(struct rpc *r, char *rest)
{
    (void)rest;
    rpc_close(r, &r->node);
    rpc_node(r, &r->token);
    ask_of_all(r, yarn_container_statuses, read_statuses);
    rpc_close(r, &r->node);
}
