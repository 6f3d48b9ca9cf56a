/**
 * All documents are read at start-up. Many reads are under way at once; the documents are given out in the order of a list,
 * each node before what is below it:
 *
 *     head                                    next
 *      │ given out as soon as it is there      │ to be asked for
 *      ▼                                       ▼
 *     READ  ASKED  READ  ASKED … ASKED        QUEUED  QUEUED …
 *
 * The children of a node are put behind it, so `next` may move back. A node without children, as most are, is not asked for them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "state/clock.h"
#include "state/state_priv.h"

#define ENTRY_MAGIC OBJ_MAGIC('L', 'O', 'A', 'D')
#define ASKED_MAX   256
#define HELD_MAX    (16 << 20) /* bytes that wait for a document before them */

enum progress { QUEUED, ASKED, READ };

struct entry {
    struct obj obj;
    TAILQ_ENTRY(entry) link;
    struct state *state;
    char *path;
    enum progress progress;
    char *bytes; /* READ: not given out yet; NULL: nothing is to be */
    size_t len;
    bool awaits_children;
};

struct load {
    TAILQ_HEAD(, entry) entries; /* in the order of delivery */
    struct entry *next;          /* first one that is QUEUED, or one before it */
    size_t n_asked;              /* reads under way */
    size_t n_held;               /* bytes read and not given out */
    struct map fresh;            /* with service: paths that are there */
    char *service;               /* path of the one that is read; NULL: all that is ours */
    bool is_renewing, is_pumping;
    int err;
    struct err_info why;
};

static void pump(struct state *s);

static struct entry *entry_new(struct state *s, char *take_path)
{
    struct entry *e = mem_new(struct entry);

    obj_init(&e->obj, ENTRY_MAGIC);
    e->state = s;
    e->path = take_path;
    return e;
}

static void entry_remove(struct load *l, struct entry *e)
{
    if (l->next == e)
        l->next = TAILQ_NEXT(e, link);
    TAILQ_REMOVE(&l->entries, e, link);
    l->n_held -= e->bytes ? e->len : 0;
    free(e->path);
    free(e->bytes);
    obj_fini(&e->obj);
    free(e);
}

static void fail(struct load *l, int err, const struct err_info *why)
{
    if (l->err)
        return;
    l->err = err;
    l->why = *why;
}

/* ---- reads ---- */

static void on_children(void *arg, int err, const struct store_result *r)
{
    struct entry *e = obj_cast(arg, struct entry, ENTRY_MAGIC);
    struct state *s = e->state;
    struct load *l = s->load;

    l->n_asked--;
    e->awaits_children = false;
    if (err && err != ERR_NOTFOUND)
        fail(l, err, &r->why);
    for (size_t i = err ? 0 : r->n_children; i > 0; i--) {
        struct entry *child =
            entry_new(s, mem_fmt("%s/%s", strcmp(e->path, "/") ? e->path : "", r->children[i - 1]));
        TAILQ_INSERT_AFTER(&l->entries, e, child, link);
        l->next = TAILQ_FIRST(
            &l->entries); /* Replies come in any order: some that were put before may be QUEUED, too. */
    }
    pump(s);
}

/** The attempt node of the service that is read: as we took it, or another has taken it since. */
static bool is_taken(struct state *s, const char *path, const struct store_stat *stat)
{
    const struct node *n = state_is_attempt(path) ? map_get(&s->known, path) : NULL;
    struct err_info why = {0};

    if (!n)
        return false;
    if (n->version != stat->version)
        fail(s->load, err_set(&why, ERR_WRONGSTATE, path, "a later attempt has taken the service"), &why);
    return true;
}

/** To be given out: not what only processes ask of each other, and the clock of a service to who runs it only. */
static bool is_document(const struct state *s, const char *path)
{
    return !state_is_attempt(path) && (s->scope || !state_is_clock(path));
}

static const char *key_of(const struct state *s, const char *path)
{
    return s->scope && state_is_clock(path) ? CLOCK_KEY : path + 1;
}

static void on_node(void *arg, int err, const struct store_result *r)
{
    struct entry *e = obj_cast(arg, struct entry, ENTRY_MAGIC);
    struct state *s = e->state;
    struct load *l = s->load;
    /* Of these we know what we have written. */
    bool is_own =
        strcmp(e->path, s->writer_path) == 0 || (l->service && !err && is_taken(s, e->path, &r->stat));

    l->n_asked--;
    e->progress = READ;
    if (err && err != ERR_NOTFOUND)
        fail(l, err, &r->why);
    if (!err && l->service)
        map_set(&l->fresh, e->path, l);
    if (!err && !is_own)
        state_saw_node(s, e->path, &r->stat);
    if (!err && r->data_len && !is_own && is_document(s, e->path)) {
        e->bytes = mem_alloc(r->data_len);
        memcpy(e->bytes, r->data, r->data_len);
        e->len = r->data_len;
        l->n_held += e->len;
    }
    if (!err && r->stat.n_children) {
        e->awaits_children = true;
        l->n_asked++;
        store_children(s->store, e->path, on_children, e);
    }
    pump(s);
}

/* ---- the lease ---- */

static void on_renewed(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    s->load->is_renewing = false;
    if (err) {
        fail(s->load, err, &r->why);
    } else {
        state_set_node(&s->known, s->writer_path, r->stat.version, false);
        state_hold(s);
    }
    pump(s);
}

/** A large state takes longer to read than a lease. */
static void renew(struct state *s)
{
    const struct node *n = map_get(&s->known, s->writer_path);

    s->load->is_renewing = true;
    s->change++;
    s->sent_ms = run_boot_ms();
    mem_auto char *text = state_writer_text(s);
    store_set(s->store, s->writer_path, text, strlen(text), n->version, on_renewed, s);
}

static bool must_renew(const struct state *s)
{
    return s->is_shared && !s->scope && !s->load->is_renewing && run_boot_ms() - s->sent_ms > s->lease_ms / 3;
}

/* ---- the list ---- */

/** Give out what is there, up to the first document that is not. */
static void deliver(struct state *s)
{
    struct load *l = s->load;
    struct entry *e;

    while (!l->err && (e = TAILQ_FIRST(&l->entries)) && e->progress == READ) {
        if (e->bytes)
            s->one(s->done_arg, key_of(s, e->path), e->bytes, e->len);
        l->n_held -= e->bytes ? e->len : 0;
        mem_free_ptr(&e->bytes);
        if (e->awaits_children)
            return;
        entry_remove(l, e);
    }
}

static void ask(struct state *s)
{
    struct load *l = s->load;

    while (!l->err && (!l->n_asked || (l->n_asked < ASKED_MAX && l->n_held < HELD_MAX))) {
        while (l->next && l->next->progress != QUEUED)
            l->next = TAILQ_NEXT(l->next, link);
        if (!l->next)
            return;
        l->n_asked++;
        l->next->progress = ASKED;
        store_get(s->store, l->next->path, on_node, l->next);
    }
}

/** What is known of the service and was not found is no longer there. */
static void forget_vanished(struct state *s)
{
    const struct load *l = s->load;

    for (MAP_EACH (&s->known, slot)) {
        if (state_is_below(slot->key, l->service) && !map_get(&l->fresh, slot->key))
            free(map_remove(&s->known, slot->key));
    }
}

static void ended(struct state *s)
{
    struct load *l = s->load;
    int err = l->err;
    struct err_info why = l->why;
    struct entry *e;

    while ((e = TAILQ_FIRST(&l->entries)))
        entry_remove(l, e);
    if (!err && l->service)
        forget_vanished(s);
    map_fini(&l->fresh, NULL);
    free(l->service);
    free(l);
    s->load = NULL;
    s->is_busy = false;
    s->loaded(s->done_arg, err, err ? &why : NULL);
}

static void pump(struct state *s)
{
    struct load *l = s->load;

    if (l->err ? l->n_asked || l->is_renewing : l->is_pumping)
        return;
    if (!l->err) {
        l->is_pumping = true;
        deliver(s);
        if (must_renew(s))
            renew(s);
        ask(s);
        l->is_pumping = false;
    }
    if ((l->err || TAILQ_EMPTY(&l->entries)) && !l->n_asked && !l->is_renewing)
        ended(s);
}

static void add(struct state *s, const char *path)
{
    struct entry *e = entry_new(s, mem_str(path));

    TAILQ_INSERT_TAIL(&s->load->entries, e, link);
    if (!s->load->next)
        s->load->next = e;
}

static void begin(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                  void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy);
    s->is_busy = true;
    s->one = one;
    s->loaded = done;
    s->done_arg = arg;
    s->load = mem_new(struct load);
    TAILQ_INIT(&s->load->entries);
}

void state_load(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    begin(s, one, done, arg);
    if (s->scope) {
        add(s, "/" CLOCK_KEY);
        add(s, s->definition);
    }
    add(s, s->scope ? s->scope : "/");
    pump(s);
}

void state_load_service(struct state *s, const char *path,
                        void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                        void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    begin(s, one, done, arg);
    s->load->service = mem_str(path);
    add(s, path);
    pump(s);
}
