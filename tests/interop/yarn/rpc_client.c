/* ApplicationClientProtocol. */
#include "rpc.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AM_MEMORY_MB = 128, NO_PORT = -1 };

static const char *const states[] = {"?",       "NEW",      "NEW_SAVING", "SUBMITTED", "ACCEPTED",
                                     "RUNNING", "FINISHED", "FAILED",     "KILLED"};

static void put_state(struct rpc *r, const Yarn__ApplicationReport *m)
{
    size_t state = (size_t)m->state;
    jw_kstr(&r->w, "state", state < ARRAY_LEN(states) ? states[state] : states[0]);
}

static void read_new(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__NewApplication *m = yarn_client_new_application_answer(a);
    char text[YARN_ID_TEXT_MAX];
    if (yarn_app_id_read(m->application_id, &r->app) == 0)
        jw_kstr(&r->w, "id", yarn_app_id_text(&r->app, text));
    if (m->maximum_capability)
        jw_kint(&r->w, "memory", m->maximum_capability->memory);
}

/* new: an id, which what follows is about */
void rpc_new(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    const Yarn__Nothing nothing = YARN__NOTHING__INIT;
    rpc_wait(r, yarn_client_new_application(rpc_client(r), &nothing, rpc_begin(r), &why), &why, read_new);
}

static void submit(struct rpc *r, Yarn__SubmissionContext *context, char *tag)
{
    struct err_info why;
    struct yarn_id_message id;
    Yarn__SubmitApplication m = YARN__SUBMIT_APPLICATION__INIT;
    char *tags[] = {tag};
    yarn_app_id_point(&r->app, &id);
    context->application_id = &id.app;
    context->application_name = "bobbin-rpc";
    context->application_type = "TEST";
    context->queue = "default";
    context->tags = tags;
    context->n_tags = 1;
    context->has_max_attempts = true;
    context->max_attempts = 1;
    m.context = context;
    rpc_wait(r, yarn_client_submit(rpc_client(r), &m, rpc_begin(r), &why), &why, NULL);
}

/* submit-unmanaged TAG */
void rpc_submit_unmanaged(struct rpc *r, char *rest)
{
    Yarn__SubmissionContext context = YARN__SUBMISSION_CONTEXT__INIT;
    Yarn__LaunchContext launch = YARN__LAUNCH_CONTEXT__INIT;
    context.has_unmanaged_am = context.unmanaged_am = true;
    context.am_container_spec = &launch;
    submit(r, &context, rest);
}

/* A file of this host, as it is. */
struct resource {
    Yarn__NamedLocalResource named;
    Yarn__LocalResource local;
    Yarn__Url url;
};

static void point_at(struct resource *out, char *name, char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        exit(1);
    }
    yarn__named_local_resource__init(&out->named);
    yarn__local_resource__init(&out->local);
    yarn__url__init(&out->url);
    out->url.scheme = "file";
    out->url.has_port = true;
    out->url.port = NO_PORT;
    out->url.file = path;
    out->local.resource = &out->url;
    out->local.has_size = out->local.has_timestamp = out->local.has_type = out->local.has_visibility = true;
    out->local.size = st.st_size;
    out->local.timestamp = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    out->local.type = YARN__LOCAL_RESOURCE_TYPE__FILE;
    out->local.visibility = YARN__LOCAL_RESOURCE_VISIBILITY__APPLICATION;
    out->named.key = name;
    out->named.value = &out->local;
}

/* submit TAG PROGRAM SCRIPT: this program as the application master, with the commands of a file */
void rpc_submit(struct rpc *r, char *rest)
{
    Yarn__SubmissionContext context = YARN__SUBMISSION_CONTEXT__INIT;
    Yarn__LaunchContext launch;
    Yarn__Resource size = YARN__RESOURCE__INIT;
    struct resource files[2];
    Yarn__NamedLocalResource *named[] = {&files[0].named, &files[1].named};
    char *tag = strtok(rest, " "), *program = strtok(NULL, " "), *script = strtok(NULL, " ");
    char *command = "./yarn-rpc <script 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
    rpc_launch(&launch, &command);
    point_at(&files[0], "yarn-rpc", program);
    point_at(&files[1], "script", script);
    launch.local_resources = named;
    launch.n_local_resources = ARRAY_LEN(named);
    size.has_memory = size.has_virtual_cores = true;
    size.memory = AM_MEMORY_MB;
    size.virtual_cores = 1;
    context.am_container_spec = &launch;
    context.resource = &size;
    submit(r, &context, tag);
}

static void read_report(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__ApplicationReport *m = yarn_client_application_answer(a)->report;
    put_state(r, m);
    jw_kstr(&r->w, "user", m->user);
    jw_kstr(&r->w, "diagnostics", m->diagnostics);
    jw_kint(&r->w, "final", (int64_t)m->final_status);
    jw_kbool(&r->w, "token", m->am_rm_token != NULL);
    if (!m->am_rm_token)
        return;
    yarn_token_fini(&r->token);
    yarn_token_read(&r->token, m->am_rm_token);
}

/* report [ID]: of an application; an unmanaged one's token is kept */
void rpc_report(struct rpc *r, char *rest)
{
    struct err_info why;
    struct yarn_id_message id;
    Yarn__OneApplication m = YARN__ONE_APPLICATION__INIT;
    struct yarn_app_id app = r->app;
    if (*rest)
        yarn_app_id_parse(rest, &app);
    yarn_app_id_point(&app, &id);
    m.application_id = &id.app;
    rpc_wait(r, yarn_client_application(rpc_client(r), &m, rpc_begin(r), &why), &why, read_report);
}

/* until-report TEXT: until the report has this text */
void rpc_until_report(struct rpc *r, char *rest)
{
    for (int i = 0; i < RPC_MAX_POLLS && !r->has_failed && !strstr(buf_cstr(&r->out), rest); i++) {
        rpc_pause(r, RPC_POLL_MS);
        rpc_begin_output(r);
        rpc_report(r, "");
    }
}

static void read_applications(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__Applications *m = yarn_client_applications_answer(a);
    jw_key(&r->w, "ids");
    jw_array(&r->w);
    for (size_t i = 0; i < m->n_reports; i++) {
        struct yarn_app_id id;
        char text[YARN_ID_TEXT_MAX];
        if (yarn_app_id_read(m->reports[i]->application_id, &id) == 0)
            jw_str(&r->w, yarn_app_id_text(&id, text));
    }
    jw_array_end(&r->w);
}

/* applications TAG */
void rpc_applications(struct rpc *r, char *rest)
{
    struct err_info why;
    Yarn__ApplicationsFilter m = YARN__APPLICATIONS_FILTER__INIT;
    m.tags = &rest;
    m.n_tags = 1;
    m.has_limit = true;
    m.limit = 10;
    rpc_wait(r, yarn_client_applications(rpc_client(r), &m, rpc_begin(r), &why), &why, read_applications);
}

static void read_attempts(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__Attempts *m = yarn_client_attempts_answer(a);
    jw_key(&r->w, "states");
    jw_array(&r->w);
    for (size_t i = 0; i < m->n_reports; i++)
        jw_int(&r->w, (int64_t)m->reports[i]->state);
    jw_array_end(&r->w);
}

void rpc_attempts(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    struct yarn_id_message id;
    Yarn__OneApplication m = YARN__ONE_APPLICATION__INIT;
    yarn_app_id_point(&r->app, &id);
    m.application_id = &id.app;
    rpc_wait(r, yarn_client_attempts(rpc_client(r), &m, rpc_begin(r), &why), &why, read_attempts);
}

static void read_nodes(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__Nodes *m = yarn_client_nodes_answer(a);
    jw_key(&r->w, "nodes");
    jw_array(&r->w);
    for (size_t i = 0; i < m->n_reports; i++) {
        mem_auto char *id = mem_fmt("%s:%d", m->reports[i]->node_id->host, m->reports[i]->node_id->port);
        jw_str(&r->w, id);
    }
    jw_array_end(&r->w);
}

/* nodes: those that run */
void rpc_nodes(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    Yarn__NodesFilter m = YARN__NODES_FILTER__INIT;
    Yarn__NodeState running = YARN__NODE_STATE__NODE_RUNNING;
    m.states = &running;
    m.n_states = 1;
    rpc_wait(r, yarn_client_nodes(rpc_client(r), &m, rpc_begin(r), &why), &why, read_nodes);
}

static void read_timeouts(struct rpc *r, const struct yarn_answer *a)
{
    const Yarn__UpdateTimeoutsAnswer *m = yarn_client_update_timeouts_answer(a);
    if (m->n_timeouts == 1)
        jw_kstr(&r->w, "expires", m->timeouts[0]->expire_time);
}

/* timeout TIME: when the application is killed */
void rpc_timeout(struct rpc *r, char *rest)
{
    struct err_info why;
    struct yarn_id_message id;
    Yarn__UpdateTimeouts m = YARN__UPDATE_TIMEOUTS__INIT;
    Yarn__TimeoutUpdate lifetime = YARN__TIMEOUT_UPDATE__INIT, *all[] = {&lifetime};
    yarn_app_id_point(&r->app, &id);
    m.application_id = &id.app;
    lifetime.has_type = true;
    lifetime.type = YARN__TIMEOUT_TYPE__TIMEOUT_LIFETIME;
    lifetime.expire_time = rest;
    m.timeouts = all;
    m.n_timeouts = 1;
    rpc_wait(r, yarn_client_update_timeouts(rpc_client(r), &m, rpc_begin(r), &why), &why, read_timeouts);
}

static void read_kill(struct rpc *r, const struct yarn_answer *a)
{
    jw_kbool(&r->w, "completed", yarn_client_kill_answer(a)->is_completed);
}

void rpc_kill(struct rpc *r, char *rest)
{
    (void)rest;
    struct err_info why;
    struct yarn_id_message id;
    Yarn__KillApplication m = YARN__KILL_APPLICATION__INIT;
    yarn_app_id_point(&r->app, &id);
    m.application_id = &id.app;
    m.diagnostics = "by test_rpc.py";
    rpc_wait(r, yarn_client_kill(rpc_client(r), &m, rpc_begin(r), &why), &why, read_kill);
}
