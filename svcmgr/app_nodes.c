#include "svcmgr/app_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/client.h"
#include "json/scan.h"
#include "run/task.h"
#include "svcmgr/app.h"
#include "svcmgr/app_remote.h"

#define NODES_MAGIC OBJ_MAGIC('A', 'N', 'D', 'S')
#define DEPTH_MAX   16

/** Who waits for the nodes. */
struct waiter {
    TAILQ_ENTRY(waiter) link;
    void (*done)(void *arg);
    void *arg;
};

struct app_nodes {
    struct obj obj;
    struct app *app;
    struct map known;             /* host -> struct eng_node */
    bool is_known;                /* it was read once */
    int64_t most_mb, most_vcores; /* of one container: app_nodes_largest */
    int64_t read_ms;              /* when it was asked for last, and answered or not; 0: never */
    struct map coming;            /* what is being read */
    struct buf text;              /* in which it is read */
    struct js js;
    bool is_reading; /* js is open */
    struct run_task *task;
    bool is_asking;
    TAILQ_HEAD(, waiter) waiters;
};

static void free_nodes(struct map *nodes)
{
    for (MAP_EACH (nodes, slot)) {
        struct eng_node *node = slot->value;
        eng_node_free(node);
    }
    map_fini(nodes, NULL);
}

static void go_on(struct app_nodes *n)
{
    struct waiter *w;

    n->is_asking = false;
    n->read_ms = run_now_ms();
    while ((w = TAILQ_FIRST(&n->waiters))) {
        TAILQ_REMOVE(&n->waiters, w, link);
        w->done(w->arg);
        free(w);
    }
}

static void end_reading(struct app_nodes *n)
{
    if (n->is_reading)
        js_fini(&n->js);
    n->is_reading = false;
    buf_fini(&n->text);
    free_nodes(&n->coming);
}

/* ---- one node ---- */

static void set_text(char **slot, const struct js *js)
{
    free(*slot);
    *slot = js->text.len ? mem_strn(js->text.bytes, js->text.len) : NULL;
}

static enum eng_node_state state_of(const char *word)
{
    for (int s = NODE_RUNNING; s <= NODE_SHUTDOWN; s++) {
        if (word && strcmp(word, eng_node_state_word((enum eng_node_state)s)) == 0)
            return (enum eng_node_state)s;
    }
    return NODE_RUNNING;
}

/** A list of texts, or one text. @return false: it is no JSON */
static bool read_labels(struct js *js, enum js_token token, struct eng_node *out)
{
    bool is_list = token == JS_ARRAY;

    for (token = is_list ? js_next(js) : token; token == JS_STRING; token = js_next(js)) {
        if (js->text.len) {
            out->labels = mem_resize(out->labels, out->n_labels + 1, sizeof *out->labels);
            out->labels[out->n_labels++] = mem_strn(js->text.bytes, js->text.len);
        }
        if (!is_list)
            return true;
    }
    return is_list && token == JS_ARRAY_END;
}

static int64_t number_of(const struct js *js)
{
    mem_auto char *text = mem_strn(js->text.bytes, js->text.len);
    int64_t value = 0;

    return str_to_i64(text, 0, INT64_MAX, &value) ? 0 : value;
}

/** A member whose value begins with the next token. @param state  its word [out] @return false: it is no JSON */
static bool read_member(struct js *js, const char *key, struct eng_node *out, char **state)
{
    const struct {
        const char *key;
        char **slot;
    } texts[] = {{"id", &out->host},
                 {"rack", &out->rack},
                 {"nodeHTTPAddress", &out->http_address},
                 {"healthReport", &out->health},
                 {"state", state}};
    const struct {
        const char *key;
        int64_t *slot;
    } numbers[] = {{"lastHealthUpdate", &out->updated_ms}, /* used and free make all */
                   {"usedMemoryMB", &out->memory_mb},
                   {"availMemoryMB", &out->memory_mb},
                   {"usedVirtualCores", &out->vcores},
                   {"availableVirtualCores", &out->vcores}};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (strcmp(key, texts[i].key) != 0)
            continue;
        bool is_text = js_next(js) == JS_STRING;
        if (is_text)
            set_text(texts[i].slot, js);
        return is_text;
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (strcmp(key, numbers[i].key) != 0)
            continue;
        enum js_token token = js_next(js);
        *numbers[i].slot += number_of(js);
        return token == JS_INTEGER || token == JS_STRING;
    }
    if (strcmp(key, "nodeLabels") == 0)
        return read_labels(js, js_next(js), out);
    return js_skip(js) == 0;
}

/** The members of a node whose object has begun. @return false: it is no JSON */
static bool read_node(struct js *js, struct eng_node *out)
{
    mem_auto char *state = NULL;
    enum js_token token = js_next(js);

    for (; token == JS_KEY; token = js_next(js)) {
        mem_auto char *key = mem_strn(js->text.bytes, js->text.len);
        if (!read_member(js, key, out, &state))
            return false;
    }
    out->state = state_of(state);
    char *port = out->host ? strrchr(out->host, ':') : NULL; /* its id is host:port */
    if (port)
        *port = '\0';
    return token == JS_OBJECT_END;
}

static void free_members(struct eng_node *node)
{
    for (size_t i = 0; i < node->n_labels; i++)
        free(node->labels[i]);
    free(node->labels);
    free(node->host);
    free(node->rack);
    free(node->http_address);
    free(node->health);
}

/** Of several node managers of a host, one that runs. */
static void keep(struct app_nodes *n, const struct eng_node *node)
{
    const struct eng_node *other = node->host ? map_get(&n->coming, node->host) : NULL;

    if (!node->host || (other && other->state == NODE_RUNNING))
        return;
    struct eng_node *old = map_set(&n->coming, node->host, eng_node_copy(node));
    eng_node_free(old);
}

/* ---- all of them ---- */

/** The member of an object that has begun. */
static bool find_key(struct js *js, const char *key)
{
    enum js_token token = js_next(js);

    for (; token == JS_KEY; token = js_next(js)) {
        if (js->text.len == strlen(key) && memcmp(js->text.bytes, key, js->text.len) == 0)
            return true;
        if (js_skip(js))
            return false;
    }
    return false;
}

/** {"nodes":{"node":[ — or without a list: there is no node. */
static bool find_list(struct js *js)
{
    return js_next(js) == JS_OBJECT && find_key(js, "nodes") && js_next(js) == JS_OBJECT &&
           find_key(js, "node") && js_next(js) == JS_ARRAY;
}

/** An amount that Hadoop's file has, or its default. */
static int64_t key_of(const struct app *a, const char *key, int64_t otherwise)
{
    const char *text = app_hadoop_key(daemon_options(a->daemon), key);
    int64_t value = otherwise;

    return text && str_to_i64(text, 1, INT64_MAX, &value) ? otherwise : value;
}

/** Of the nodes that were read. */
static void find_most(struct app_nodes *n)
{
    int64_t memory_mb = 0, vcores = 0;
    int64_t limit_mb = key_of(n->app, "yarn.scheduler.maximum-allocation-mb", 8192);
    int64_t limit_vcores = key_of(n->app, "yarn.scheduler.maximum-allocation-vcores", 4);

    for (MAP_EACH (&n->known, slot)) {
        const struct eng_node *node = slot->value;
        if (node->state != NODE_RUNNING)
            continue;
        memory_mb = node->memory_mb > memory_mb ? node->memory_mb : memory_mb;
        vcores = node->vcores > vcores ? node->vcores : vcores;
    }
    n->most_mb = memory_mb < limit_mb ? memory_mb : limit_mb;
    n->most_vcores = vcores < limit_vcores ? vcores : limit_vcores;
}

static void all_read(struct app_nodes *n, bool is_good)
{
    if (is_good) {
        free_nodes(&n->known);
        n->known = n->coming;
        n->coming = MAP_EMPTY;
        n->is_known = true;
        find_most(n);
    }
    end_reading(n);
    go_on(n);
}

/** A node a step. */
static bool read_step(void *arg)
{
    struct app_nodes *n = obj_cast(arg, struct app_nodes, NODES_MAGIC);
    enum js_token token = js_next(&n->js);
    struct eng_node node = {.host = NULL};

    bool is_read = token == JS_OBJECT && read_node(&n->js, &node);
    if (is_read)
        keep(n, &node);
    free_members(&node);
    if (!is_read)
        all_read(n, token == JS_ARRAY_END);
    return is_read;
}

static void on_document(void *arg, int err, struct buf *take_body)
{
    struct app_nodes *n = obj_cast(arg, struct app_nodes, NODES_MAGIC);

    if (err) {
        go_on(n);
        return;
    }
    n->text = *take_body;
    *take_body = BUF_EMPTY;
    js_init(&n->js, n->text.bytes ? n->text.bytes : "", n->text.len, DEPTH_MAX);
    n->is_reading = true;
    if (find_list(&n->js))
        run_task_start(n->task);
    else
        all_read(n, false);
}

static struct app_nodes *nodes_get(struct app *a)
{
    struct app_nodes *n = a->nodes;

    if (n)
        return n;
    n = a->nodes = mem_new(struct app_nodes);
    obj_init(&n->obj, NODES_MAGIC);
    n->app = a;
    n->task = run_task_new(a->loop, read_step, n);
    TAILQ_INIT(&n->waiters);
    return n;
}

void app_know_nodes(void *app, void (*done)(void *arg), void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct app_nodes *n = a->role == ROLE_WHOLE ? NULL : nodes_get(a);

    if (!n || (n->read_ms && !n->is_asking && run_now_ms() - n->read_ms < NODES_FRESH_MS)) {
        if (done)
            done(arg);
        return;
    }
    if (done) {
        struct waiter *w = mem_new(struct waiter);
        *w = (struct waiter){.done = done, .arg = arg};
        TAILQ_INSERT_TAIL(&n->waiters, w, link);
    }
    if (n->is_asking)
        return;
    n->is_asking = true;
    app_remote_rm_text(a, "/ws/v1/cluster/nodes", on_document, n);
}

const struct map *app_nodes(void *app)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);

    return a->nodes && a->nodes->is_known ? &a->nodes->known : NULL;
}

void app_nodes_largest(const struct app *a, int64_t *memory_mb, int64_t *vcores)
{
    const struct app_nodes *n = a->nodes;

    *memory_mb = n ? n->most_mb : 0;
    *vcores = n ? n->most_vcores : 0;
}

void app_nodes_fini(struct app *a)
{
    struct app_nodes *n = a->nodes;

    if (!n)
        return;
    run_task_free(n->task);
    end_reading(n);
    go_on(n);
    free_nodes(&n->known);
    obj_fini(&n->obj);
    free(n);
    a->nodes = NULL;
}
