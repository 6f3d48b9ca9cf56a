/*
 * The mirror: follows a store and turns what it learns into ordered changes.
 *
 *     first read, or another store:  nodes go to `aside`; at its end the trees are swapped           synced
 *                                    the old one is freed in steps
 *     read again after a reconnect:  nodes go to `tree` as differences; at its end a sweep in
 *                                    steps drops what this generation has not seen                  change…, applied
 *     … and it shows an older state: as before; then the tree is published as that of another store synced
 *     a large subtree gone:          dropped in steps; later events of the store are held          change…, then those
 *
 * A store goes back when an old snapshot of it is put in place. Its numbers only rise otherwise, so any that is lower than
 * what the tree has, or than what was applied, shows it. The store will then give numbers out again for other changes,
 * which readers must never take for the earlier ones. Hence the id that readers get is extended by four digits.
 */
#include "store/mirror/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "run/log.h"
#include "run/task.h"
#include "store/mirror/identity.h"
#include "store/mirror/intake.h"
#include "store/mirror/tree.h"
#include "store/mirror/waiters.h"
#include "store/store_backend.h"

#define MIRROR_MAGIC OBJ_MAGIC('M', 'I', 'R', 'R')

#define MIRROR_EVENTS(X)                                                                                     \
    X(store_went_back, LOG_WARN,                                                                             \
      "The store shows an older state than was read before; its revisions are those of another store now.")
LOG_DECLARE(MIRROR_EVENTS)

/** Nodes that a step of the sweep looks at, and that a step of freeing frees (some ten microseconds). */
enum { SWEEP_STEP_NODES = 200, FREE_STEP_NODES = 200 };
/** Most bytes of a node's data that a look-up prefetches: as many cache lines as a core fetches at once. */
enum { DATA_AHEAD = 512 };

enum mirror_state {
    MIRROR_IDLE,     /* nothing is being read; changes go to `tree` */
    MIRROR_READING,  /* a full read of the same store, into `tree` */
    MIRROR_SWEEPING, /* that read is complete; nodes it has not seen are being dropped */
    MIRROR_ASIDE     /* a full read of a new store, into `aside` */
};

struct listener {
    TAILQ_ENTRY(listener) link;
    const struct mirror_listener *ops;
    void *arg;
};

struct mirror {
    struct obj obj;
    struct run_loop *loop;
    struct mirror_intake *intake;
    struct mirror_tree tree, aside;
    enum mirror_state state;
    bool is_ready, is_stale;
    struct err_info stale;
    struct mirror_identity identity;
    char aside_id[STORE_REVISION_MAX]; /* of the store that `aside` is of, as the store names it */
    bool is_older;                     /* the store has gone back; published at the end of the full read */
    uint32_t generation : 24;          /* as in the items */
    int64_t applied;                   /* published to listeners */
    int64_t pending_applied;           /* to be published when the full read is complete */
    int64_t latest;                    /* largest number seen of this store */
    struct mirror_garbage garbage;     /* of trees that nobody reads any more */
    struct run_task *freeing, *sweep;
    struct buf sweep_path; /* last path the sweep has dealt with; empty: none */
    TAILQ_HEAD(, listener) listeners;
    struct mirror_waiters waiters;
};

/* ---- notifying the listeners ---- */

static void notify_change(struct mirror *m, enum mirror_change kind, const char *path,
                          const struct mirror_item *item, const char *old_data, size_t old_len, int64_t zxid)
{
    struct listener *l;
    TAILQ_FOREACH (l, &m->listeners, link) {
        if (l->ops->change)
            l->ops->change(l->arg, kind, path, &item->node, old_data, old_len, zxid);
    }
}

static void notify_stale(struct mirror *m, const struct err_info *why)
{
    struct listener *l;
    m->is_stale = why != NULL;
    if (why)
        m->stale = *why;
    TAILQ_FOREACH (l, &m->listeners, link) {
        if (l->ops->stale)
            l->ops->stale(l->arg, why);
    }
}

static void notify_applied(struct mirror *m, int64_t zxid)
{
    struct listener *l;
    if (zxid > m->applied)
        m->applied = zxid;
    TAILQ_FOREACH (l, &m->listeners, link) {
        if (l->ops->applied)
            l->ops->applied(l->arg, m->applied);
    }
    mirror_waiters_wake(&m->waiters, m->applied);
}

/* ---- nodes ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void learn_number(struct mirror *m, int64_t zxid)
{
    m->latest = larger(m->latest, zxid);
}

static struct mirror_tree *tree_now(struct mirror *m)
{
    return m->state == MIRROR_ASIDE ? &m->aside : &m->tree;
}

/** Remove an item without children, and notify when the tree is the visible one. The parent's new stat comes as an event of its own. */
static void item_drop(struct mirror *m, struct mirror_tree *tree, struct mirror_item *item)
{
    buf_auto struct buf path = BUF_EMPTY;
    int64_t zxid = larger(m->latest, larger(item->node.stat.mzxid, item->node.stat.pzxid));
    mirror_path(&item->node, &path);
    mirror_tree_remove(tree, item);
    if (tree == &m->tree)
        notify_change(m, MIRROR_DELETE, buf_cstr(&path), item, item->node.data, item->node.stat.data_len,
                      zxid);
    mirror_item_free(item);
}

/** Drop an item and everything below it, children first, at most *n_left nodes. @return true: all of it is gone. */
static bool subtree_drop(struct mirror *m, struct mirror_tree *tree, struct mirror_item *top, size_t *n_left)
{
    struct mirror_item *at = top;
    while (*n_left) {
        while (at->children)
            at = mirror_child_next(at, "", 0);
        struct mirror_item *parent = at == top ? NULL : mirror_item_of(at->node.parent);
        item_drop(m, tree, at);
        (*n_left)--;
        if (!parent)
            return true;
        at = parent;
    }
    return false;
}

/** Item to be at a path: found or made. @return NULL: its parent is not there, the node is gone again already. */
static struct mirror_item *item_for(struct mirror_tree *tree, const char *path, bool *is_new)
{
    struct mirror_item *item = mirror_tree_find(tree, path);
    *is_new = !item;
    if (item)
        return item;
    if (!path[1])
        return mirror_tree_add(tree, NULL, path);
    mem_auto char *parent_path = path_parent(path);
    struct mirror_item *parent = mirror_tree_find(tree, parent_path);
    return parent ? mirror_tree_add(tree, parent, path) : NULL;
}

/** Take over a stat; the counts of children and bytes stay the mirror's own. */
static void item_set_stat(struct mirror_item *item, const struct store_stat *stat)
{
    struct store_stat *own = &item->node.stat;
    struct store_stat merged = *stat;
    if (own->czxid == stat->czxid)
        merged.pzxid = larger(own->pzxid, stat->pzxid);
    merged.n_children = own->n_children;
    merged.data_len = own->data_len;
    *own = merged;
}

/** Is this an earlier state of the node than the one that is here? */
static bool is_earlier(const struct store_stat *own, const struct store_stat *stat)
{
    return stat->czxid < own->czxid ||
           (stat->czxid == own->czxid && (stat->mzxid < own->mzxid || stat->pzxid < own->pzxid));
}

/** Only the stat is known: what belongs to the data stays as it is until the data come. */
static void item_touch(struct mirror *m, const char *path, const struct store_stat *stat)
{
    struct mirror_item *item = mirror_tree_find(tree_now(m), path);
    if (!item)
        return;
    struct store_stat merged = *stat, *own = &item->node.stat;
    merged.czxid = own->czxid;
    merged.ctime_ms = own->ctime_ms;
    merged.mzxid = own->mzxid;
    merged.mtime_ms = own->mtime_ms;
    merged.version = own->version;
    item_set_stat(item, &merged);
    item->generation = m->generation;
}

/** The node was deleted and made again between two reads: what is below it was the old one's. At most *n_left nodes are
 *  dropped. @return true: all of it is gone. */
static bool children_drop(struct mirror *m, struct mirror_tree *tree, const struct mirror_item *item,
                          size_t *n_left)
{
    struct mirror_item *child;
    while ((child = mirror_child_next(item, "", 0))) {
        if (!subtree_drop(m, tree, child, n_left))
            return false;
    }
    return true;
}

/** @return whether it is done; false: the old node still has children, and is as it was. */
static bool item_put(struct mirror *m, const char *path, const struct store_stat *stat, const char *bytes,
                     size_t len, size_t *n_left)
{
    struct mirror_tree *tree = tree_now(m);
    bool is_new = false;
    struct mirror_item *item = item_for(tree, path, &is_new);
    if (!item)
        return true;
    if (!is_new && m->state == MIRROR_READING && is_earlier(&item->node.stat, stat))
        m->is_older = true;
    if (!is_new && item->node.stat.czxid != stat->czxid && !children_drop(m, tree, item, n_left))
        return false;
    size_t old_len = item->node.stat.data_len;
    bool is_same = !is_new && item->node.stat.czxid == stat->czxid && item->node.stat.mzxid == stat->mzxid &&
                   old_len == len && memcmp(item->node.data, bytes, len) == 0;
    item->generation = m->generation;
    item_set_stat(item, stat);
    if (is_same)
        return true;
    const char *old_data = mirror_tree_set_data(tree, item, bytes, len);
    if (is_new && item->node.parent) {
        struct mirror_item *parent = mirror_item_of(item->node.parent);
        parent->node.stat.pzxid = larger(parent->node.stat.pzxid, stat->czxid);
    }
    if (tree == &m->tree)
        notify_change(m, MIRROR_PUT, path, item, is_new ? NULL : old_data, is_new ? 0 : old_len, stat->mzxid);
    mirror_data_free(old_data);
    return true;
}

/* ---- the end of a full read ---- */

static void notify_synced(struct mirror *m)
{
    struct listener *l;
    TAILQ_FOREACH (l, &m->listeners, link) {
        if (l->ops->synced)
            l->ops->synced(l->arg);
    }
}

/** The store has gone back behind `seen`, the newest number that readers have got: they get a new id. */
static void renew_identity(struct mirror *m, int64_t seen)
{
    char old_id[STORE_REVISION_MAX];
    memcpy(old_id, m->identity.store_id, sizeof old_id);
    mirror_identity_renew(&m->identity);
    log_emit(&ev_store_went_back, LOG_STR("was", old_id), LOG_INT("applied", seen),
             LOG_STR("store", m->identity.store_id), LOG_INT("zxid", m->pending_applied));
}

/** The tree stays, under another id. */
static void become_another(struct mirror *m)
{
    for (struct mirror_item *item = m->tree.root; item; item = mirror_tree_walk(m->tree.root, item))
        item->node.user = NULL;
    renew_identity(m, m->applied);
    m->applied = m->pending_applied;
    notify_synced(m);
}

static void read_complete(struct mirror *m)
{
    bool is_another = m->is_older;
    m->state = MIRROR_IDLE;
    m->is_older = false;
    if (is_another)
        become_another(m);
    if (m->is_stale)
        notify_stale(m, NULL);
    notify_applied(m, m->pending_applied);
}

static bool sweep_step(void *arg)
{
    struct mirror *m = obj_cast(arg, struct mirror, MIRROR_MAGIC);
    size_t n_left = SWEEP_STEP_NODES;
    struct mirror_item *item =
        m->sweep_path.len ? mirror_tree_after(&m->tree, buf_cstr(&m->sweep_path)) : m->tree.root;
    while (item && n_left) {
        buf_auto struct buf path = BUF_EMPTY;
        struct mirror_item *next = NULL;
        if (item->generation == m->generation) {
            n_left--;
            next = mirror_tree_walk(m->tree.root, item);
            if (n_left && next) {
                item = next;
                continue;
            }
            mirror_path(&item->node, &path);
        } else {
            mirror_path(&item->node, &path);
            if (!subtree_drop(m, &m->tree, item, &n_left))
                break;
            next = mirror_tree_after(&m->tree, buf_cstr(&path));
        }
        buf_clear(&m->sweep_path);
        buf_add(&m->sweep_path, path.bytes, path.len);
        item = next;
    }
    if (!item)
        read_complete(m);
    return item != NULL;
}

static bool free_step(void *arg)
{
    struct mirror *m = obj_cast(arg, struct mirror, MIRROR_MAGIC);
    return mirror_garbage_free(&m->garbage, FREE_STEP_NODES);
}

/** Give a tree up: it may be large, so it is freed in steps, from the next turn on. */
static void tree_drop(struct mirror *m, struct mirror_tree *tree)
{
    mirror_tree_discard(tree, &m->garbage);
    if (m->garbage.first)
        run_task_start(m->freeing);
}

/** The tree that was read aside becomes the mirror's; the old one lives until the listeners have let go of it. */
static void aside_publish(struct mirror *m)
{
    struct mirror_tree old = m->tree;
    m->tree = m->aside;
    m->aside = (struct mirror_tree){0};
    int64_t seen = mirror_identity_adopt(&m->identity, m->aside_id);
    if (m->pending_applied < seen)
        renew_identity(m, seen);
    m->is_ready = true;
    m->state = MIRROR_IDLE;
    m->applied = m->pending_applied;
    notify_synced(m);
    tree_drop(m, &old);
    read_complete(m);
}

/* ---- events of the store ---- */

static void on_begin(struct mirror *m, const char *store_id)
{
    run_task_stop(m->sweep);
    tree_drop(m, &m->aside);
    m->generation++;
    if (m->is_ready && strcmp(store_id, m->identity.tree_id) == 0) {
        m->state = MIRROR_READING;
        m->latest = larger(m->latest, m->applied);
        m->pending_applied = m->applied;
    } else {
        m->state = MIRROR_ASIDE;
        m->is_older = false;
        m->latest = 0;
        m->pending_applied = 0;
        snprintf(m->aside_id, sizeof m->aside_id, "%s", store_id);
    }
}

/** Before the first read, and after one that was broken off, there is no tree to put it into. */
static bool is_listening(const struct mirror *m)
{
    return m->is_ready || m->state == MIRROR_ASIDE;
}

static bool on_node(struct mirror *m, const struct mirror_event *event, size_t *n_left)
{
    const struct store_stat *stat = event->stat;
    if (!is_listening(m))
        return true;
    learn_number(m, larger(stat->mzxid, larger(stat->czxid, stat->pzxid)));
    if (event->bytes)
        return item_put(m, event->text, stat, event->bytes, event->len, n_left);
    item_touch(m, event->text, stat);
    return true;
}

static bool on_gone(struct mirror *m, const char *path, int64_t zxid, size_t *n_left)
{
    struct mirror_item *item = is_listening(m) ? mirror_tree_find(tree_now(m), path) : NULL;
    if (!item)
        return true;
    learn_number(m, zxid);
    return subtree_drop(m, tree_now(m), item, n_left);
}

static void on_end(struct mirror *m, int64_t zxid)
{
    learn_number(m, zxid);
    if (m->state == MIRROR_READING && zxid < m->applied)
        m->is_older = true;
    if (m->is_older)
        m->latest = m->pending_applied = zxid;
    m->pending_applied = larger(m->pending_applied, zxid);
    if (m->state == MIRROR_ASIDE) {
        aside_publish(m);
    } else if (m->state == MIRROR_READING) {
        m->state = MIRROR_SWEEPING;
        buf_clear(&m->sweep_path);
        run_task_now(m->sweep);
    }
}

static void on_applied(struct mirror *m, int64_t zxid)
{
    learn_number(m, zxid);
    if (m->state != MIRROR_IDLE)
        m->pending_applied = larger(m->pending_applied, zxid);
    else if (m->is_ready)
        notify_applied(m, zxid);
}

static void on_lost(struct mirror *m, const struct err_info *why)
{
    run_task_stop(m->sweep);
    m->state = MIRROR_IDLE;
    notify_stale(m, why);
}

/** One event of the store; see intake.h. Only removing nodes may be too much for a turn. */
static bool take(void *arg, const struct mirror_event *event, size_t *n_left)
{
    struct mirror *m = obj_cast(arg, struct mirror, MIRROR_MAGIC);
    switch (event->kind) {
    case MIRROR_BEGIN: on_begin(m, event->text); break;
    case MIRROR_NODE: return on_node(m, event, n_left);
    case MIRROR_GONE: return on_gone(m, event->text, event->zxid, n_left);
    case MIRROR_END: on_end(m, event->zxid); break;
    case MIRROR_APPLIED: on_applied(m, event->zxid); break;
    case MIRROR_LOST: on_lost(m, event->why); break;
    }
    return true;
}

/* ---- waiting ---- */

void mirror_when_applied(struct mirror *m, int64_t zxid, int64_t timeout_ms, void (*fn)(void *arg, int err),
                         void *arg)
{
    mirror_waiters_add(&m->waiters, zxid, m->is_ready && zxid <= m->applied, timeout_ms, fn, arg);
}

void mirror_forget(struct mirror *m, void *arg)
{
    mirror_waiters_forget(&m->waiters, arg);
}

/* ---- life and reading ---- */

struct mirror *mirror_new(struct store *s)
{
    struct mirror *m = mem_new(struct mirror);
    obj_init(&m->obj, MIRROR_MAGIC);
    m->loop = s->loop;
    m->sweep = run_task_new(m->loop, sweep_step, m);
    m->freeing = run_task_new(m->loop, free_step, m);
    TAILQ_INIT(&m->listeners);
    mirror_waiters_init(&m->waiters, m->loop);
    m->intake = mirror_intake_new(s, take, m);
    return m;
}

void mirror_free(struct mirror *m)
{
    struct listener *l;
    mirror_waiters_fini(&m->waiters);
    while ((l = TAILQ_FIRST(&m->listeners))) {
        TAILQ_REMOVE(&m->listeners, l, link);
        free(l);
    }
    mirror_intake_free(m->intake);
    run_task_free(m->sweep);
    run_task_free(m->freeing);
    mirror_garbage_free(&m->garbage, SIZE_MAX);
    mirror_tree_fini(&m->tree);
    mirror_tree_fini(&m->aside);
    buf_fini(&m->sweep_path);
    obj_fini(&m->obj);
    free(m);
}

void mirror_listen(struct mirror *m, const struct mirror_listener *ops, void *arg)
{
    struct listener *l = mem_new(struct listener);
    l->ops = ops;
    l->arg = arg;
    TAILQ_INSERT_TAIL(&m->listeners, l, link);
}

bool mirror_ready(const struct mirror *m)
{
    return m->is_ready;
}

void mirror_continue(struct mirror *m, const struct mirror_past *past)
{
    BUG_IF(m->is_ready);
    m->identity.past = *past;
}

void mirror_present(const struct mirror *m, struct mirror_past *out)
{
    memcpy(out->tree_id, m->identity.tree_id, sizeof out->tree_id);
    memcpy(out->store_id, m->identity.store_id, sizeof out->store_id);
    out->newest = mirror_newest(m);
}

const char *mirror_store_id(const struct mirror *m)
{
    return m->identity.store_id;
}

int64_t mirror_applied(const struct mirror *m)
{
    return m->applied;
}

int64_t mirror_newest(const struct mirror *m)
{
    return m->state == MIRROR_ASIDE ? m->applied : larger(m->latest, m->applied);
}

const struct err_info *mirror_stale(const struct mirror *m)
{
    return m->is_stale ? &m->stale : NULL;
}

size_t mirror_n_nodes(const struct mirror *m)
{
    return m->tree.n_nodes;
}

size_t mirror_n_bytes(const struct mirror *m)
{
    return m->tree.n_bytes + m->tree.n_place_bytes + m->aside.n_bytes + m->aside.n_place_bytes +
           m->garbage.n_bytes + mirror_intake_n_bytes(m->intake);
}

const struct mirror_node *mirror_find(const struct mirror *m, const char *path)
{
    struct mirror_item *item = mirror_tree_find(&m->tree, path);
    if (!item)
        return NULL;
    size_t len = item->node.stat.data_len;
    mem_prefetch(item->node.data, len < DATA_AHEAD ? len : DATA_AHEAD);
    return &item->node;
}

const struct mirror_node *mirror_child_after(const struct mirror_node *node, const char *after)
{
    struct mirror_item *item =
        mirror_child_next(mirror_item_of(node), after ? after : "", after ? strlen(after) : 0);
    return item ? &item->node : NULL;
}

const struct mirror_node *mirror_walk(const struct mirror *m, const struct mirror_node *top,
                                      const struct mirror_node *node)
{
    (void)m;
    if (!node)
        return top;
    struct mirror_item *item = mirror_tree_walk(mirror_item_of(top), mirror_item_of(node));
    return item ? &item->node : NULL;
}

void mirror_path(const struct mirror_node *node, struct buf *out)
{
    size_t len = 0;
    for (const struct mirror_node *at = node; at->parent; at = at->parent)
        len += 1 + strlen(at->name);
    if (!len) {
        buf_add_char(out, '/');
        return;
    }
    char *end = buf_room(out, len) + len;
    for (const struct mirror_node *at = node; at->parent; at = at->parent) {
        size_t name_len = strlen(at->name);
        end -= name_len;
        memcpy(end, at->name, name_len);
        *--end = '/';
    }
    out->len += len;
    out->bytes[out->len] = '\0';
}

uint8_t mirror_node_note(const struct mirror_node *node)
{
    return (uint8_t)mirror_item_of(node)->note;
}

void mirror_node_set_note(const struct mirror_node *node, uint8_t note)
{
    mirror_item_of(node)->note = note;
}

void mirror_node_user(const struct mirror_node *node, void *user)
{
    mirror_item_of(node)->node.user = user;
}
