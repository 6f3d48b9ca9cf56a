/** `bobbin launcher import`: the store of an original FrameworkLauncher is read, and svcmgr asked for its frameworks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "framework/framework.h"
#include "json/json.h"
#include "kit/accessor.h"
#include "kit/commands.h"
#include "kit/out.h"
#include "kit/progress.h"
#include "kit/services.h"
#include "plan.h"
#include "run/log.h"
#include "tree.h"

#define CONNECT_MS 20000
/** Most bytes of all descriptors, which are held at once. */
#define DESCRIPTORS_MAX ((size_t)1 << 30)
#define CLUSTER         "ClusterConfiguration"
#define ACL             "AclConfiguration"

struct importing {
    struct cli *cli;
    struct framework_client client;
    struct tree *tree;
    struct plan plan;
    struct progress progress;
    size_t n_bytes; /* of the descriptors */
    bool is_dry, overwrites, with_completed;
};

static void show_progress(struct importing *m, const char *what, size_t i, size_t n)
{
    mem_auto char *text = mem_fmt("%s: %zu of %zu", what, i, n);

    progress_show(&m->progress, text);
}

/* ---- what the launcher has ---- */

/** The payload of an object: a reason of its own is in *malformed, one of the whole import is returned. */
static int read_object(struct importing *m, const char *path, struct buf *out, struct err_info *malformed,
                       struct err_info *why)
{
    int err = tree_object(m->tree, path, out, malformed);

    if (err != ERR_CANCELLED && err != ERR_UNAVAILABLE)
        return 0;
    *why = *malformed;
    return err;
}

static struct stored_bytes bytes_of(const struct buf *b)
{
    return (struct stored_bytes){b->bytes, b->len};
}

/** Tasks of a framework that run at the launcher; roles without status count none. */
static int count_running(struct importing *m, struct plan_entry *e, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int64_t n_running = 0;
    int err = 0;

    for (size_t i = 0; !err && i < e->request.n_roles; i++) {
        mem_auto char *path = mem_fmt("/Statuses/%s/%s/TaskStatuses", e->request.name, e->request.roles[i]);
        struct err_info reason = {0};
        size_t n = 0;
        err = read_object(m, path, &bytes, &reason, why);
        if (!err && !reason.code && stored_tasks_read(bytes_of(&bytes), &n, &reason) == 0)
            n_running += (int64_t)n;
        else if (reason.code != ERR_NOTFOUND)
            return err; /* it stays unknown */
    }
    e->n_running = n_running;
    return err;
}

/** Name an entry as malformed whose node, below the root, cannot be read. */
static void name_malformed(struct plan_entry *e, const char *path, struct err_info *reason)
{
    mem_auto char *where = mem_fmt("%s%s%s", path, reason->where[0] ? " " : "", reason->where);
    mem_auto char *text = mem_str(reason->text);

    (void)err_set(reason, reason->code, where, "%s", text);
    plan_malformed(e, reason);
}

/** How far it has come, as a client of the launcher has said. */
static int read_progress(struct importing *m, struct plan_entry *e, struct err_info *why)
{
    mem_auto char *path = mem_fmt("/Requests/%s/OverrideApplicationProgressRequest", e->request.name);
    buf_auto struct buf bytes = BUF_EMPTY;
    struct err_info reason = {0};
    int err = read_object(m, path, &bytes, &reason, why);

    if (err || reason.code == ERR_NOTFOUND)
        return err;
    if (!reason.code)
        (void)stored_progress_read(bytes_of(&bytes), &e->progress, &reason);
    if (reason.code)
        name_malformed(e, path, &reason);
    return 0;
}

/** What the launcher shows of a framework: whether it has completed. */
static int read_status(struct importing *m, struct plan_entry *e, struct err_info *why)
{
    mem_auto char *path = mem_fmt("/Statuses/%s", e->request.name);
    buf_auto struct buf bytes = BUF_EMPTY;
    struct stored_state state = {0};
    struct err_info reason = {0};
    int err = read_object(m, path, &bytes, &reason, why);

    if (err || reason.code == ERR_NOTFOUND)
        return err;
    if (!reason.code)
        (void)stored_state_read(bytes_of(&bytes), &state, &reason);
    if (reason.code) {
        name_malformed(e, path, &reason);
        return 0;
    }
    if (state.version != e->request.version)
        return 0; /* the status of another version */
    snprintf(e->state, sizeof e->state, "%s", state.state);
    if (strcmp(state.state, "FRAMEWORK_COMPLETED") == 0 && !m->with_completed)
        e->action = PLAN_COMPLETED;
    return m->is_dry ? count_running(m, e, why) : 0;
}

static void check_memory(struct importing *m, struct plan_entry *e)
{
    size_t n = e->request.descriptor ? strlen(e->request.descriptor) : 0;
    struct err_info reason;

    if (n <= DESCRIPTORS_MAX - m->n_bytes) {
        m->n_bytes += n;
        return;
    }
    (void)err_set(&reason, ERR_TOOBIG, NULL, "the descriptors before it have more than %zu bytes",
                  m->n_bytes);
    free(e->request.descriptor);
    e->request.descriptor = NULL;
    plan_malformed(e, &reason);
}

static int read_framework(struct importing *m, const char *name, struct err_info *why)
{
    mem_auto char *path = mem_fmt("/Requests/%s", name);
    buf_auto struct buf bytes = BUF_EMPTY;
    struct err_info reason = {0};
    int err = read_object(m, path, &bytes, &reason, why);

    if (err || reason.code == ERR_NOTFOUND)
        return err; /* deleted meanwhile */
    struct plan_entry *e = plan_add(&m->plan, path);
    if (reason.code)
        e->request.name = mem_str(name);
    else
        (void)stored_request_read(name, bytes_of(&bytes), &e->request, &reason);
    if (reason.code)
        plan_malformed(e, &reason);
    else
        check_memory(m, e);
    if (e->action != PLAN_MALFORMED)
        err = read_progress(m, e, why);
    return err || e->action == PLAN_MALFORMED ? err : read_status(m, e, why);
}

static void add_document(struct importing *m, const char *word, json_t *value)
{
    if (!value || plan_is_empty(value))
        return;
    struct plan_entry *e = plan_add(&m->plan, "/Requests");
    e->document = word;
    e->request.name = mem_str(word);
    e->value = json_incref(value);
}

/** Documents of the launcher itself. */
static int read_documents(struct importing *m, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    struct stored_documents documents = {0};
    struct err_info reason = {0};
    int err = tree_object(m->tree, "/Requests", &bytes, &reason);

    if (err == ERR_NOTFOUND)
        return err_set(why, ERR_NOTFOUND, m->cli->operands[0], "there is no launcher: no node Requests");
    if (err == ERR_CANCELLED || err == ERR_UNAVAILABLE) {
        *why = reason;
        return err;
    }
    if (!err)
        err = stored_documents_read(bytes_of(&bytes), &documents, &reason);
    if (err) {
        struct plan_entry *e = plan_add(&m->plan, "/Requests");
        e->document = "LauncherRequest";
        e->request.name = mem_str(e->document);
        plan_malformed(e, &reason);
    }
    add_document(m, CLUSTER, documents.cluster);
    add_document(m, ACL, documents.acl);
    stored_documents_fini(&documents);
    return 0;
}

static int read_launcher(struct importing *m, struct err_info *why)
{
    struct tree_names names = {0};
    int err = read_documents(m, why);

    err = err ? err : tree_names(m->tree, "/Requests", &names, why);
    for (size_t i = 0; !err && i < names.n_items; i++) {
        show_progress(m, "read", i, names.n_items);
        err = read_framework(m, names.items[i], why);
    }
    tree_names_fini(&names);
    return err;
}

/* ---- what svcmgr has ---- */

static void decide_documents(struct importing *m, const json_t *there)
{
    for (size_t i = 0; i < m->plan.n_items; i++) {
        struct plan_entry *e = m->plan.items[i];
        if (!e->document || e->action == PLAN_MALFORMED)
            continue;
        bool is_acl = strcmp(e->document, ACL) == 0;
        plan_document(e, json_object_get(there, is_acl ? "aclConfiguration" : "clusterConfiguration"),
                      m->overwrites);
    }
}

static void decide_frameworks(struct importing *m, const json_t *list)
{
    struct map there = MAP_EMPTY;
    size_t i;
    json_t *one;

    json_array_foreach(list, i, one) map_set(&there, services_text(one, "frameworkName"), one);
    for (i = 0; i < m->plan.n_items; i++) {
        struct plan_entry *e = m->plan.items[i];
        if (!e->document && e->action != PLAN_MALFORMED && e->action != PLAN_COMPLETED)
            plan_framework(e, map_get(&there, e->request.name), m->overwrites);
    }
    map_fini(&there, NULL);
}

static int decide(struct importing *m, struct err_info *why)
{
    json_auto json_t *frameworks = NULL, *launcher = NULL;
    buf_auto struct buf text = BUF_EMPTY;
    int err = framework_get(&m->client, "", &frameworks, why);

    err = err ? err : framework_api(&m->client, "GET", "/LauncherRequest", NULL, &text, why);
    err = err ? err : json_read(text.bytes, text.len, &launcher, why);
    if (err)
        return err;
    decide_documents(m, launcher);
    decide_frameworks(m, json_object_get(frameworks, "summarizedFrameworkInfos"));
    plan_order(&m->plan);
    return 0;
}

/* ---- puts ---- */

static int put_progress(struct importing *m, const struct plan_entry *e, struct err_info *why)
{
    mem_auto char *path = framework_path(e->request.name, "ApplicationProgress");
    json_auto json_t *body = json_pack("{s:f}", "applicationProgress", e->progress);

    return framework_call(&m->client, "PUT", path, body, NULL, why);
}

static int put_framework(struct importing *m, const struct plan_entry *e, struct err_info *why)
{
    const struct stored_request *r = &e->request;
    mem_auto char *path = framework_path(r->name, NULL);
    json_auto json_t *descriptor = NULL;

    BUG_IF(json_read(r->descriptor, strlen(r->descriptor), &descriptor, NULL) != 0);
    framework_act(&m->client, r->user, r->client);
    int err = framework_call(&m->client, "PUT", path, descriptor, NULL, why);
    return err || e->progress < 0 ? err : put_progress(m, e, why);
}

static int put_document(struct importing *m, const struct plan_entry *e, struct err_info *why)
{
    mem_auto char *path = mem_fmt("/LauncherRequest/%s", e->document);

    framework_act(&m->client, m->cli->user, "CLI");
    return framework_api(&m->client, "PUT", path, e->value, NULL, why);
}

/** Put all that is to be put. One that is refused keeps no other from being put. */
static int carry_out(struct importing *m, struct err_info *why)
{
    for (size_t i = 0; i < m->plan.n_items; i++) {
        struct plan_entry *e = m->plan.items[i];
        struct err_info reason = {0};
        if (!plan_is_put(e->action))
            continue;
        show_progress(m, "put", i, m->plan.n_items);
        int err = e->document ? put_document(m, e, &reason) : put_framework(m, e, &reason);
        if (err == ERR_CANCELLED) {
            *why = reason;
            return err;
        }
        e->action = err ? PLAN_REFUSED : plan_done(e->action);
        e->why = reason;
        e->why.code = err;
    }
    return 0;
}

/* ---- output ---- */

/** Why an entry is left out: a member or a place, then a sentence. New; NULL: it is not. */
static char *reason_of(const struct plan_entry *e)
{
    const struct err_info *why = &e->why;
    bool has_place = why->where[0] && strcmp(why->where, e->path) != 0 && e->action != PLAN_REFUSED;

    if (!plan_is_left_out(e->action))
        return NULL;
    return mem_fmt("%s%s%s", has_place ? why->where : "", has_place ? ": " : "",
                   why->text[0] ? why->text : err_text(why->code));
}

static json_t *json_of(const struct plan_entry *e)
{
    const struct stored_request *r = &e->request;
    mem_auto char *reason = reason_of(e);
    json_t *out = json_pack("{s:s, s:s, s:s, s:s?}", e->document ? "document" : "framework", r->name, "path",
                            e->path, "action", plan_word(e->action), "reason", reason);

    if (e->document || !r->descriptor)
        return out;
    json_t *more =
        json_pack("{s:s, s:I, s:s, s:s, s:s?, s:I, s:I, s:s?}", "user", r->user, "version",
                  (json_int_t)r->version, "executionType", r->is_stopped ? "STOP" : "START",
                  "launchClientType", r->client, "parent", r->parent, "taskRoles", (json_int_t)r->n_roles,
                  "tasks", (json_int_t)r->n_tasks, "state", e->state[0] ? e->state : NULL);
    json_object_set_new(more, "applicationProgress", e->progress < 0 ? json_null() : json_real(e->progress));
    json_object_set_new(more, "runningTasks", e->n_running < 0 ? json_null() : json_integer(e->n_running));
    json_object_update(out, more);
    json_decref(more);
    return out;
}

static void add_number(struct out_table *t, bool is_known, int64_t n)
{
    mem_auto char *text = is_known ? mem_fmt("%lld", (long long)n) : NULL;

    out_table_add(t, text);
}

static void add_row(struct out_table *t, const struct plan_entry *e)
{
    const struct stored_request *r = &e->request;
    bool is_known = r->descriptor != NULL;
    mem_auto char *reason = reason_of(e);
    mem_auto char *about = reason ? mem_fmt("%s: %s", e->path, reason) : NULL;

    out_table_add(t, plan_word(e->action));
    out_table_add(t, r->name);
    out_table_add(t, r->user);
    add_number(t, is_known, r->version);
    out_table_add(t, !is_known ? NULL : r->is_stopped ? "STOP" : "START");
    add_number(t, is_known, (int64_t)r->n_roles);
    add_number(t, is_known, r->n_tasks);
    add_number(t, e->n_running >= 0, e->n_running);
    out_table_add(t, e->state);
    out_table_add(t, about);
}

static void print(const struct importing *m)
{
    struct out_table t;

    if (m->cli->is_json) {
        json_t *entries = json_array();
        for (size_t i = 0; i < m->plan.n_items; i++)
            json_array_append_new(entries, json_of(m->plan.items[i]));
        json_auto json_t *v = json_pack("{s:b, s:o}", "dryRun", m->is_dry, "entries", entries);
        out_json(v);
        return;
    }
    out_table_begin(&t, (const char *const[]){"ACTION", "NAME", "USER", "VERSION", "TYPE", "ROLES", "TASKS",
                                              "RUNNING", "STATE", "REASON", NULL});
    for (size_t i = 0; i < m->plan.n_items; i++)
        add_row(&t, m->plan.items[i]);
    out_table_print(&t);
}

/** The error of the first entry that is left out. */
static int judge(const struct importing *m, struct err_info *why)
{
    size_t n = 0;
    int first = 0;

    for (size_t i = 0; i < m->plan.n_items; i++) {
        const struct plan_entry *e = m->plan.items[i];
        if (!plan_is_left_out(e->action))
            continue;
        first = first ? first : e->why.code;
        n++;
    }
    if (!n)
        return 0;
    return err_set(why, first, m->cli->operands[0], "%zu of %zu %s left out", n, m->plan.n_items,
                   m->is_dry ? "would be" : "were");
}

/** Everything between the connections. */
static int import(struct importing *m, const struct tree_options *options, struct err_info *why)
{
    int err = tree_open(&m->client.api.wait, m->cli->operands[0], options, &m->tree, why);

    err = err ? err : read_launcher(m, why);
    tree_close(m->tree);
    err = err ? err : decide(m, why);
    if (err)
        return err;
    if (!m->is_dry)
        err = carry_out(m, why);
    progress_hide(&m->progress);
    print(m);
    return err ? err : judge(m, why);
}

int launcher_import(struct cli *cli, struct err_info *why)
{
    struct importing m = {.cli = cli,
                          .is_dry = cli_has(cli, CLI_DRY_RUN),
                          .overwrites = cli_has(cli, CLI_REPLACE),
                          .with_completed = cli_has(cli, CLI_COMPLETED)};
    mem_auto char *digest = NULL;
    struct tree_options options = {0};
    int err = cli_timeout_ms(cli, CONNECT_MS, &options.limit_ms, why);

    err = err ? err : accessor_find(cli, &digest, why);
    if (err)
        return err;
    options.digest = digest;
    log_set_level(LOG_ERROR); /* the session's events are no output of a command */
    framework_open(cli, &m.client);
    progress_begin(&m.progress, cli_has(cli, CLI_QUIET));
    err = import(&m, &options, why);
    progress_end(&m.progress, NULL);
    framework_close(&m.client);
    plan_fini(&m.plan);
    return err;
}
