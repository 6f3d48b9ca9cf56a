/**
 * Output of a container of YARN, from its node manager:
 *
 *     of the application master: the resource manager says which container and node ─┐
 *     of an instance: its document does ─────────────────────────────────────────────┴─> which files there are ──> a piece of one
 *
 * A node manager keeps the files of a container that has ended, and of an application that has ended until they are aggregated or their
 * time is over. What it lacks may be read by `yarn logs`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/logs.h"
#include "http/client.h"
#include "svcmgr/app.h"
#include "svcmgr/app_remote.h"
#include "yarn/ids.h"
#include "yarn/node_log.h"

#define READING_MAGIC OBJ_MAGIC('A', 'N', 'L', 'G')
#define TRIES_MAX     3
#define NAMES_MAX     20 /* files that an error names */

/** A request that waits for a piece. */
struct reading {
    struct obj obj;
    struct app *app;
    char *user, *application_id, *container_id, *node_http, *file;
    int64_t offset;
    struct node_log log;
    bool is_whole; /* what is wanted of the file has come, and the rest of the answer is not waited for */
    int n_tries;   /* as the file grows quickly */
    struct http_call *call;
    void (*done)(void *arg, const struct face_log_piece *piece, const struct err_info *why);
    void *arg;
};

static void reading_free(struct reading *r)
{
    node_log_fini(&r->log);
    free(r->user);
    free(r->application_id);
    free(r->container_id);
    free(r->node_http);
    free(r->file);
    obj_fini(&r->obj);
    free(r);
}

static void finish(struct reading *r, int64_t size)
{
    const struct face_log_piece piece = {r->container_id, size, &r->log.text};

    r->done(r->arg, &piece, NULL);
    reading_free(r);
}

/** What Hadoop's own command would be. free() */
static char *remedy(const struct reading *r)
{
    if (r->container_id)
        return mem_fmt("yarn logs -applicationId %s -containerId %s", r->application_id, r->container_id);
    return mem_fmt("yarn logs -applicationId %s -am -1", r->application_id);
}

static void fail(struct reading *r, int code, const char *text)
{
    mem_auto char *command = remedy(r);
    struct err_info why;

    err_set(&why, code, r->container_id ? r->container_id : r->application_id,
            "%s; when they are aggregated, `%s` has them", text, command);
    r->done(r->arg, NULL, &why);
    reading_free(r);
}

static void fail_by(struct reading *r, const char *who, const struct err_info *why)
{
    mem_auto char *text = mem_fmt("%s does not answer: %s", who, why->text);

    fail(r, why->code == ERR_CANCELLED ? ERR_CANCELLED : ERR_UNAVAILABLE, text);
}

/** The node has the container's files, and not this one. */
static void fail_by_name(struct reading *r, const char *names)
{
    struct err_info why;

    err_set(&why, ERR_NOTFOUND, r->file, "the container %s has no such file; it has %s", r->container_id,
            names);
    r->done(r->arg, NULL, &why);
    reading_free(r);
}

/* ---- a piece ---- */

static void ask_piece(struct reading *r, int64_t size);

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);

    if (node_log_take(&r->log, bytes, len))
        return;
    r->is_whole = true;
    http_call_cancel(r->call);
}

static void on_piece_done(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);

    bool has_grown = r->log.is_bad && r->log.has_head;

    if (!r->is_whole && err)
        fail_by(r, "the node manager", why);
    else if (has_grown && r->n_tries++ < TRIES_MAX && !r->app->is_ending)
        ask_piece(r, r->log.length);
    else if (!r->is_whole && answer->status != 200)
        fail(r, ERR_NOTFOUND, "the node manager has no logs of the container any more");
    else if (!node_log_is_whole(&r->log))
        fail(r, ERR_UNAVAILABLE, "the node manager answers with what is no log, or a part of it");
    else
        finish(r, r->log.length > 0 ? r->log.length : 0);
}

static char *log_url(const struct reading *r, const char *rest)
{
    mem_auto char *base = app_remote_node_url(r->app, r->node_http);
    struct buf url = BUF_EMPTY;

    if (!base)
        return NULL;
    buf_addf(&url, "%s/ws/v1/node/containers/%s/logs%s%s", base, r->container_id, rest ? "/" : "",
             rest ? rest : "");
    http_query_add(&url, "user.name", r->user);
    return buf_take(&url);
}

static void ask_piece(struct reading *r, int64_t size)
{
    static const char *const headers[] = {"Accept: text/plain", NULL};

    node_log_fini(&r->log);
    r->is_whole = false;
    node_log_begin(&r->log, size, r->offset, LOGS_PIECE);
    mem_auto char *url = log_url(r, r->file);
    mem_auto char *sized = mem_fmt("%s&size=-%lld", url, (long long)r->log.n_asked);
    const struct http_call_def def = {.url = sized,
                                      .headers = headers,
                                      .timeout_ms = REMOTE_TIMEOUT_MS,
                                      .no_follow = true,
                                      .on_data = on_piece,
                                      .done = on_piece_done,
                                      .arg = r};

    r->call = http_call(r->app->http, &def);
}

/* ---- the files ---- */

/** What stands in a list whose brackets are left away when there is one. @return its i-th item; NULL: there are no more */
static const json_t *item_of(const json_t *list, size_t i)
{
    if (json_is_array(list))
        return json_array_get(list, i);
    return json_is_object(list) && i == 0 ? list : NULL;
}

static int64_t size_of(const json_t *file)
{
    const json_t *size = json_object_get(file, "fileSize");
    int64_t n = 0;

    if (json_is_integer(size))
        return json_integer_value(size);
    return json_string_value(size) && !str_to_i64(json_string_value(size), 0, INT64_MAX, &n) ? n : 0;
}

/** Look for the file among those on the node's disk. @param names  of those that are there [out] @return its size; -1: it is not there */
static int64_t find_file(const json_t *doc, const char *file, struct buf *names)
{
    const json_t *infos = json_object_get(doc, "containerLogsInfo"), *info, *one;
    int64_t size = -1;
    size_t n = 0;

    for (size_t i = 0; (info = item_of(infos ? infos : doc, i)); i++) {
        const char *where = json_string_value(json_object_get(info, "logAggregationType"));
        const json_t *files = json_object_get(info, "containerLogInfo");
        for (size_t k = 0; where && strcmp(where, "LOCAL") == 0 && (one = item_of(files, k)); k++) {
            const char *name = json_string_value(json_object_get(one, "fileName"));
            if (name && strcmp(name, file) == 0)
                size = size_of(one);
            if (name && n++ < NAMES_MAX)
                buf_addf(names, "%s%s", names->len ? ", " : "", name);
        }
    }
    return size;
}

static void on_files(void *arg, const json_t *doc, const struct err_info *why)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);
    buf_auto struct buf names = BUF_EMPTY;

    if (!doc && why->code != ERR_NOTFOUND) {
        fail_by(r, "the node manager", why);
        return;
    }
    int64_t size = doc ? find_file(doc, r->file, &names) : -1;
    if (!names.len)
        fail(r, ERR_NOTFOUND, "the node manager has no logs of the container, or has removed them");
    else if (size < 0 && !logs_is_output(r->file))
        fail_by_name(r, buf_cstr(&names));
    else if (size <= r->offset) /* also one that is not there yet */
        finish(r, size < 0 ? 0 : size);
    else
        ask_piece(r, size);
}

static void ask_files(struct reading *r)
{
    mem_auto char *url = log_url(r, NULL);

    if (url)
        app_remote_get(r->app, url, on_files, r);
    else
        fail(r, ERR_NOTFOUND, "it is not known which node manager has the logs of the container");
}

/* ---- the application master ---- */

/** "http://node1:8042/node/containerlogs/container_…/alice". */
static void read_place(struct reading *r, const char *url)
{
    const char *host = strstr(url, "://"), *id = strstr(url, "/containerlogs/");
    struct yarn_container_id container;
    char text[YARN_ID_TEXT_MAX];

    if (!host || !id || host > id)
        return;
    id += strlen("/containerlogs/");
    mem_auto char *name = mem_strn(id, strcspn(id, "/"));
    if (yarn_container_id_parse(name, &container))
        return;
    free(r->container_id);
    free(r->node_http);
    r->container_id = mem_str(yarn_container_id_text(&container, text));
    r->node_http = mem_strn(host + 3, strcspn(host + 3, "/"));
}

static void on_application(void *arg, const json_t *doc, const struct err_info *why)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);
    const json_t *app = json_object_get(doc, "app");
    const char *url = json_string_value(json_object_get(app, "amContainerLogs"));

    if (url)
        read_place(r, url);
    if (r->container_id && r->node_http && r->node_http[0])
        ask_files(r);
    else if (!doc && why->code == ERR_NOTFOUND)
        fail(r, ERR_NOTFOUND, "the resource manager does not know the application");
    else if (!doc)
        fail_by(r, "the resource manager", why);
    else
        fail(r, ERR_NOTFOUND, "the application master has no container yet");
}

void app_node_log(void *app, const struct face_log *what,
                  void (*done)(void *arg, const struct face_log_piece *piece, const struct err_info *why),
                  void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct reading *r = mem_new(struct reading);

    obj_init(&r->obj, READING_MAGIC);
    r->app = a;
    r->user = mem_str(what->user);
    r->application_id = mem_str(what->application_id);
    r->container_id = mem_str(what->container_id);
    r->node_http = mem_str(what->node_http);
    r->file = mem_str(what->file);
    r->offset = what->offset;
    r->done = done;
    r->arg = arg;
    if (!what->is_master) {
        ask_files(r);
        return;
    }
    if (a->role == ROLE_WHOLE) {
        const struct err_info why = {.code = ERR_UNSUPPORTED,
                                     .text = "services of this cluster have no application master"};
        done(arg, NULL, &why);
        reading_free(r);
        return;
    }
    if (r->container_id && !app_remote_is_of(r->container_id, r->application_id))
        mem_free_ptr(&r->container_id);
    mem_auto char *path = mem_fmt("/ws/v1/cluster/apps/%s?deSelects=resourceRequests", r->application_id);
    app_remote_rm(r->app, path, on_application, r);
}
