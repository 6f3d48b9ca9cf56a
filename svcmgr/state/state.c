#include "state/state_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "json/writer.h"
#include "repeats/claims.h"
#include "state/clock.h"

/* Of ZooKeeper: who waits for an answer to a request must hear within seconds that the store is away. */
#define SESSION_TIMEOUT_MS 6000
#define CONNECT_TIMEOUT_MS 3000
#define NO_RETRIES         (-1) /* what became of a write is found out first */

/** A name that no other process has had: random, so that a restart is another writer. */
static char *new_name(void)
{
    uint64_t name;

    BUG_IF(getrandom(&name, sizeof name, 0) != (ssize_t)sizeof name);
    return mem_fmt("%016llx", (unsigned long long)name);
}

static int open_as(struct run_loop *loop, const char *url, const char *account, const char *manager,
                   int64_t timeout_ms, struct state **out, struct err_info *why)
{
    const struct store_options options = {.session_timeout_ms = timeout_ms,
                                          .connect_timeout_ms = CONNECT_TIMEOUT_MS,
                                          .retry_times = NO_RETRIES,
                                          .digest = account};
    struct state *s = mem_new(struct state);
    int err = state_access_init(s, account, manager, why);

    if (!err)
        err = store_open(loop, url, &options, &s->store, why);
    if (err) {
        state_access_fini(s);
        free(s);
        return err;
    }
    obj_init(&s->obj, STATE_MAGIC);
    s->loop = loop;
    if (store_has_aside(s->store))
        s->repeats =
            claims_new(&(struct claims_def){.loop = loop, .store = s->store, .acl = state_acl(s, "/")});
    s->me = new_name();
    s->process = state_process_name();
    s->is_shared = strcmp(store_kind(s->store), "zookeeper") == 0;
    *out = s;
    return 0;
}

int state_open(struct run_loop *loop, const char *url, const char *account, struct state **out,
               struct err_info *why)
{
    int err = open_as(loop, url, account, NULL, SESSION_TIMEOUT_MS, out, why);
    if (!err)
        (*out)->writer_path = mem_str(WRITER_PATH);
    return err;
}

int state_open_service(struct run_loop *loop, const char *url, const struct state_scope *scope,
                       struct state **out, struct err_info *why)
{
    int err = open_as(loop, url, scope->account, scope->manager, STATE_MASTER_TIMEOUT_MS, out, why);
    if (err)
        return err;
    struct state *s = *out;
    s->scope = mem_fmt("/%s", scope->service);
    s->definition = mem_fmt("/%s", scope->definition);
    s->attempt = scope->attempt;
    s->account = mem_str(scope->account);
    s->is_ours = scope->is_ours;
    s->is_ours_arg = scope->is_ours_arg;
    s->writer_path = state_attempt_path(s->scope);
    BUG_IF(!s->writer_path);
    return 0;
}

void state_set_node(struct map *nodes, const char *path, int32_t version, bool is_gone)
{
    struct node *n = mem_new(struct node);

    *n = (struct node){.version = version, .is_gone = is_gone};
    free(map_set(nodes, path, n));
}

void state_saw_node(struct state *s, const char *path, const struct store_stat *stat)
{
    struct node *n = mem_new(struct node);

    *n = (struct node){.version = stat->version, .zxid = stat->mzxid};
    free(map_set(&s->known, path, n));
}

static void finish(struct state *s, enum state_outcome outcome, const struct err_info *why)
{
    STATE_DONE = s->done;

    s->is_busy = false;
    done(s->done_arg, outcome, why);
}

/* ---- the writer's node ---- */

char *state_writer_text(struct state *s)
{
    struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);

    jw_object(&w);
    jw_kint(&w, "version", STATE_WRITER_FORMAT);
    if (s->scope)
        jw_kint(&w, "attempt", s->attempt);
    jw_kstr(&w, "writer", s->me);
    jw_kint(&w, "change", s->change);
    jw_kstr(&w, "url", s->url ? s->url : "");
    jw_kstr(&w, "place", s->place ? s->place : "");
    jw_kint(&w, "lease_ms", s->lease_ms);
    jw_kstr(&w, "process", s->process);
    jw_object_end(&w);
    return buf_take(&text);
}

/** The node is ours from when it was sent on. */
void state_hold(struct state *s)
{
    s->held_until_ms = s->sent_ms + s->lease_ms;
}

bool state_is_held(const struct state *s)
{
    return !s->is_shared || s->scope || run_boot_ms() < s->held_until_ms;
}

/** Number of the change in a writer's node of ours; -1: it names another writer, or none. */
static int64_t change_in(const struct state *s, const struct store_result *r)
{
    json_auto json_t *doc = NULL;

    if (json_read(r->data, r->data_len, &doc, NULL))
        return -1;
    const char *writer = json_string_value(json_object_get(doc, "writer"));
    if (!writer || strcmp(writer, s->me) != 0)
        return -1;
    return json_integer_value(json_object_get(doc, "change"));
}

/* ---- writing ---- */

static void free_ops(struct state *s)
{
    for (size_t i = 0; i < s->n_ops; i++)
        free((char *)s->ops[i].path);
    mem_free_ptr(&s->ops);
    mem_free_ptr(&s->writer);
    s->n_ops = 0;
    map_fini(&s->changed, free);
}

/** The node when the ops so far are done; NULL: there is none. */
static const struct node *node_now(const struct state *s, const char *path)
{
    const struct node *n = map_get(&s->changed, path);

    n = n ? n : map_get(&s->known, path);
    return n && !n->is_gone ? n : NULL;
}

static void add_op(struct state *s, enum store_op_kind kind, char *take_path, const char *bytes, size_t len)
{
    const struct node *n = node_now(s, take_path);

    s->ops = mem_resize(s->ops, s->n_ops + 1, sizeof *s->ops);
    s->ops[s->n_ops++] = (struct store_op){.kind = kind,
                                           .path = take_path,
                                           .bytes = bytes,
                                           .len = len,
                                           .version = n ? n->version : -1,
                                           .acl = kind == STORE_OP_CREATE ? state_acl(s, take_path) : NULL};
    state_set_node(&s->changed, take_path, n && kind == STORE_OP_SET ? n->version + 1 : 0,
                   kind == STORE_OP_DELETE);
}

static void add_parents(struct state *s, const char *path)
{
    size_t ours = s->scope ? strlen(s->scope) : 1; /* above it all is there */

    for (const char *slash = strchr(path + ours, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *parent = mem_strn(path, (size_t)(slash - path));
        if (node_now(s, parent))
            free(parent);
        else
            add_op(s, STORE_OP_CREATE, parent, "", 0);
    }
}

static void add_doc(struct state *s, const struct state_doc *doc)
{
    char *path = s->scope && strcmp(doc->key, CLOCK_KEY) == 0 ? mem_fmt("%s/" CLOCK_NAME, s->scope)
                                                              : mem_fmt("/%s", doc->key);
    BUG_IF(s->scope && !state_is_below(path, s->scope)); /* The rest is another's. */
    bool exists = node_now(s, path) != NULL;

    if (!doc->bytes && !exists) {
        free(path);
        return;
    }
    if (doc->bytes)
        add_parents(s, path);
    add_op(s,
           !doc->bytes ? STORE_OP_DELETE
           : exists    ? STORE_OP_SET
                       : STORE_OP_CREATE,
           path, doc->bytes ? doc->bytes : "", doc->len);
}

/** Delete a document whose node stays for what is below it. */
static void empty_doc(struct state *s, const char *key)
{
    char *path = mem_fmt("/%s", key);

    if (node_now(s, path))
        add_op(s, STORE_OP_SET, path, "", 0);
    else
        free(path);
}

/* ---- attempt nodes ---- */

/** Nobody has taken the service since we read its attempt node. */
static void check_attempt(struct state *s, const char *path)
{
    const struct node *n = node_now(s, path);

    s->ops = mem_resize(s->ops, s->n_ops + 1, sizeof *s->ops);
    s->ops[s->n_ops++] =
        (struct store_op){.kind = STORE_OP_CHECK, .path = mem_str(path), .version = n->version};
}

/** Of each service in the documents that are written: its attempt node is as we know it, or made. They come sorted. */
static void add_attempts(struct state *s, const struct state_doc *docs, size_t n)
{
    char *last = NULL;

    for (size_t i = 0; i < n; i++) {
        mem_auto char *path = mem_fmt("/%s", docs[i].key);
        char *attempt = state_attempt_path(path);
        bool is_gone = !docs[i].bytes && path[state_service_part(path)] == '\0';
        if (!attempt || is_gone || (last && strcmp(attempt, last) == 0)) {
            free(attempt);
            continue;
        }
        free(last);
        last = attempt;
        if (node_now(s, attempt))
            check_attempt(s, attempt);
        else if (docs[i].bytes)
            add_op(s, STORE_OP_CREATE, mem_str(attempt), STATE_ATTEMPT_NONE, strlen(STATE_ATTEMPT_NONE));
    }
    free(last);
}

/** The service goes, and before it its attempt node and the clock of who ran it. */
static void delete_attempt(struct state *s, const char *key)
{
    mem_auto char *path = mem_fmt("/%s", key);
    char *attempt = path[state_service_part(path)] == '\0' ? state_attempt_path(path) : NULL;
    char *clock = attempt ? mem_fmt("%s/" CLOCK_NAME, path) : NULL;

    if (clock && node_now(s, clock))
        add_op(s, STORE_OP_DELETE, clock, "", 0);
    else
        free(clock);

    if (attempt && node_now(s, attempt))
        add_op(s, STORE_OP_DELETE, attempt, "", 0);
    else
        free(attempt);
}

/** The write has happened, as the change of the store with this number or one shortly before. */
static void happened(struct state *s, int64_t zxid)
{
    state_hold(s);
    for (MAP_EACH (&s->changed, slot)) {
        const struct node *n = slot->value;
        const struct store_stat stat = {.version = n->version, .mzxid = zxid};
        if (n->is_gone)
            free(map_remove(&s->known, slot->key));
        else
            state_saw_node(s, slot->key, &stat);
    }
    free_ops(s);
    finish(s, STATE_WRITTEN, NULL);
}

static void not_happened(struct state *s, enum state_outcome outcome)
{
    struct err_info why = s->why;

    free_ops(s);
    finish(s, outcome, &why);
}

/* ---- finding out what became of a write ---- */

/** The store said of an op that a node is not as it was read. */
bool state_is_of_another(int err)
{
    return err == ERR_CONFLICT || err == ERR_EXISTS || err == ERR_NOTFOUND || err == ERR_NOTEMPTY;
}

/** The write did not happen: for the reason it gave, if it gave one. */
static void not_written(struct state *s)
{
    not_happened(s, state_is_of_another(s->why.code) ? STATE_FENCED : STATE_FAILED);
}

static void on_writer_seen(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (err && err != ERR_NOTFOUND) {
        finish(s, STATE_UNKNOWN, &r->why);
        return;
    }
    int64_t change = err ? -1 : change_in(s, r);
    if (change < 0) {
        err_set(&s->why, ERR_CONFLICT, s->writer_path, "another process writes the state");
        not_happened(s, STATE_FENCED);
        return;
    }
    state_set_node(&s->known, s->writer_path, r->stat.version, false);
    if (change != s->lost) {
        not_written(s);
        return;
    }
    state_set_node(&s->changed, s->writer_path, r->stat.version, false);
    happened(s, r->stat.mzxid);
}

static void on_number_taken(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    /* The embedded store reports what it has not done: the content of the node is the truth. */
    bool is_certain = state_is_of_another(err) || !s->is_shared;

    if (!err) {
        state_set_node(&s->known, s->writer_path, r->stat.version, false);
        state_hold(s);
        not_written(s);
    } else if (is_certain) {
        store_get(s->store, s->writer_path, on_writer_seen, s);
    } else {
        finish(s, STATE_UNKNOWN, &r->why);
    }
}

/** Write the writer's node at the version before the lost write: it can then never happen any more. */
static void take_number(struct state *s)
{
    const struct node *n = map_get(&s->known, s->writer_path);

    s->change++;
    s->sent_ms = run_boot_ms();
    mem_auto char *text = state_writer_text(s);
    store_set(s->store, s->writer_path, text, strlen(text), n->version, on_number_taken, s);
}

static void on_written(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (!err) {
        happened(s, r->zxid);
        return;
    }
    s->why = r->why;
    s->why.code = err;
    switch (err) {
    case ERR_TOOBIG:
    case ERR_PATH:
    case ERR_INVALID: not_happened(s, STATE_REFUSED); break;
    case ERR_NOSPC:
    case ERR_UNAVAILABLE:
    case ERR_PERMISSION:
    case ERR_AUTH:
    case ERR_CANCELLED: not_happened(s, STATE_FAILED); break;
    default: take_number(s); break;
    }
}

static void begin(struct state *s, STATE_DONE, void *arg)
{
    BUG_IF(s->is_busy);
    s->is_busy = true;
    s->done = done;
    s->done_arg = arg;
}

/** Whether something below a document is written with it: a service that is made anew while the one before is removed. They come sorted. */
static bool has_written_below(const struct state_doc *docs, size_t n, size_t at)
{
    for (size_t i = at + 1; i < n && str_starts(docs[i].key, docs[at].key); i++) {
        if (docs[i].bytes && state_is_below(docs[i].key, docs[at].key))
            return true;
    }
    return false;
}

void state_write(struct state *s, const struct state_doc *docs, size_t n, STATE_DONE, void *arg)
{
    begin(s, done, arg);
    s->lost = ++s->change;
    s->sent_ms = run_boot_ms();
    s->writer = state_writer_text(s);
    add_op(s, STORE_OP_SET, mem_str(s->writer_path), s->writer, strlen(s->writer));
    for (size_t i = 0; i < n; i++) {
        if (docs[i].bytes)
            add_doc(s, &docs[i]);
    }
    if (!s->scope)
        add_attempts(s, docs, n);
    for (size_t i = n; i > 0; i--) { /* a node is deleted after what is below it */
        if (docs[i - 1].bytes)
            continue;
        if (has_written_below(docs, n, i - 1)) {
            empty_doc(s, docs[i - 1].key);
            continue;
        }
        delete_attempt(s, docs[i - 1].key);
        add_doc(s, &docs[i - 1]);
    }
    store_multi(s->store, s->ops, s->n_ops, on_written, s);
}

void state_write_attempt(struct state *s, const char *path, const char *text, STATE_DONE, void *arg)
{
    begin(s, done, arg);
    s->lost = ++s->change;
    s->sent_ms = run_boot_ms();
    s->writer = state_writer_text(s);
    add_op(s, STORE_OP_SET, mem_str(s->writer_path), s->writer, strlen(s->writer));
    add_op(s, node_now(s, path) ? STORE_OP_SET : STORE_OP_CREATE, mem_str(path), text, strlen(text));
    store_multi(s->store, s->ops, s->n_ops, on_written, s);
}

bool state_is_busy(const struct state *s)
{
    return s->is_busy;
}

void state_find_out(struct state *s, STATE_DONE, void *arg)
{
    begin(s, done, arg);
    take_number(s);
}

/* ---- closing ---- */

static void on_store_closed(void *arg)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    void (*closed)(void *) = s->closed;
    void *closed_arg = s->closed_arg;

    claims_free(s->repeats);
    state_follow_free(s);
    state_take_back_free(s);
    free_ops(s);
    state_access_fini(s);
    free(s->writer_path);
    free(s->scope);
    free(s->definition);
    free(s->account);
    free(s->url);
    free(s->place);
    free(s->take_from);
    free(s->process);
    free(s->me);
    map_fini(&s->known, free);
    obj_fini(&s->obj);
    free(s);
    closed(closed_arg);
}

struct claims *state_repeats(struct state *s)
{
    return s->repeats;
}

static void on_follow_closed(void *arg)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    store_close(s->store, on_store_closed, s);
}

void state_close(struct state *s, void (*closed)(void *arg), void *arg)
{
    if (s->repeats)
        claims_stop(s->repeats);
    s->closed = closed;
    s->closed_arg = arg;
    run_timer_free(s->look_timer);
    s->look_timer = NULL;
    state_take_back_stop(s);
    state_follow_close(s, on_follow_closed, s);
}
