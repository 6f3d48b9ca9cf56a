#include "lease/priv.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "base/str.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING_MAGIC OBJ_MAGIC('L', 'E', 'N', 'D')
#define DROP_MAGIC   OBJ_MAGIC('L', 'D', 'R', 'P')

enum {
    TICK_MS = 200,
    IDLE_TICK_MS = 1000,
    GAP_MS = 1000,   /* a tick that comes so late: renewals may have waited as long */
    RETRY_MS = 1000, /* an end that failed */
    FLIGHT_MS = 3600000,
    ENDING_MAX = 32,  /* ends under way */
    SEARCHES_MAX = 8, /* of one round, through all leases: each takes up to 1 ms */
    GONE_MAX = 1000,  /* paths in one answer */
    KEY_BYTES = 16,
    NAME_BYTES = 8,
};

/* ---- calls under way ---- */

static void let_go(struct leases *l)
{
    if (!l->is_released || l->n_calls)
        return;
    lease_table_fini(&l->table);
    for (size_t i = 0; i < l->n_suspects; i++)
        free(l->suspects[i]);
    free(l->suspects);
    free(l->url);
    free(l->me);
    free(l->keeper_url);
    obj_fini(&l->obj);
    free(l);
}

void lease_call_begins(struct leases *l)
{
    l->n_calls++;
}

bool lease_call_ends(struct leases *l)
{
    l->n_calls--;
    return !l->is_stopped;
}

/* ---- keys and names ---- */

static void random_hex(size_t n_bytes, char *out)
{
    unsigned char bytes[KEY_BYTES];
    BUG_IF(n_bytes > sizeof bytes || gnutls_rnd(GNUTLS_RND_KEY, bytes, n_bytes) != 0);
    for (size_t i = 0; i < n_bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void lease_key_make(char *out)
{
    random_hex(KEY_BYTES, out);
}

int lease_key_check(const char *key, struct err_info *why)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t len = strlen(key);
    if (len >= LEASE_KEY_MIN && len <= LEASE_KEY_MAX && strspn(key, letters) == len)
        return 0;
    return err_set(why, ERR_INVALID, "lease",
                   "the key of a lease is %d to %d letters, digits, '-', '_' or '.'", LEASE_KEY_MIN,
                   LEASE_KEY_MAX);
}

void lease_node_init(struct lease_node *n, const char *key, const char *path, int64_t ttl_ms)
{
    char id[LEASE_ID_LEN + 1], own[2 * NAME_BYTES + 1];
    lease_id(key, id);
    random_hex(NAME_BYTES, own);
    *n = (struct lease_node){.name = mem_fmt("%s%s", id, own),
                             .bucket = mem_fmt(STORE_ASIDE "/%.2s", id),
                             .bytes = lease_data(path, ttl_ms, false)};
    n->path = lease_path(n->name);
    n->lease = (struct reg_store_lease){n->path, n->bucket, n->bytes, strlen(n->bytes)};
}

void lease_node_fini(struct lease_node *n)
{
    free(n->name);
    free(n->path);
    free(n->bucket);
    free(n->bytes);
    *n = (struct lease_node){0};
}

/* ---- what is known ---- */

bool leases_is_keeper(const struct leases *l)
{
    return l->office == LEASE_KEEPING && (!l->is_shared || run_boot_ms() < l->until_ms);
}

const char *leases_keeper_url(const struct leases *l)
{
    return l->keeper_url ? l->keeper_url : "";
}

size_t leases_n(const struct leases *l)
{
    return l->table.n_living + l->n_elsewhere;
}

int leases_check(const struct leases *l, int64_t ttl_ms, struct err_info *why)
{
    if (ttl_ms < l->def.ttl_min_ms || ttl_ms > l->def.ttl_max_ms)
        return err_set(why, ERR_USAGE, "ttl",
                       "a lease lasts from %" PRId64 " to %" PRId64
                       " ms (hadoop.registry.lease.min-ttl, .max-ttl)",
                       l->def.ttl_min_ms, l->def.ttl_max_ms);
    if (!store_has_aside(l->def.store))
        return err_set(
            why, ERR_UNSUPPORTED, "ttl",
            "a registry at ZooKeeper's own root (hadoop.registry.zk.root=/) has no place for leases");
    if (leases_n(l) >= l->def.n_max)
        return err_set(why, ERR_LIMIT, "ttl",
                       "the registry holds %zu leases; hadoop.registry.lease.max-records allows no more",
                       leases_n(l));
    return 0;
}

bool leases_of_path(const struct leases *l, const char *path, int64_t *ttl_ms, int64_t *left_ms)
{
    const struct lease_record *r = lease_table_at(&l->table, path);
    if (!r || r->state != LEASE_LIVING)
        return false;
    int64_t left = lease_record_due_ms(&l->table, r) - run_boot_ms();
    *ttl_ms = r->ttl_ms;
    *left_ms = left > 0 ? left : 0;
    return true;
}

/* ---- nodes of leases that are over ---- */

struct drop {
    struct obj obj;
    struct leases *leases;
};

static void on_dropped(void *arg, int err, const struct store_result *r)
{
    struct drop *d = obj_cast(arg, struct drop, DROP_MAGIC);
    (void)err;
    (void)r;
    lease_call_ends(d->leases);
    let_go(d->leases);
    obj_fini(&d->obj);
    free(d);
}

void lease_drop_node(struct leases *l, const char *name)
{
    mem_auto char *path = lease_path(name);
    struct drop *d = mem_new(struct drop);
    obj_init(&d->obj, DROP_MAGIC);
    d->leases = l;
    lease_call_begins(l);
    store_delete(l->def.store, path, -1, on_dropped, d);
}

/* Forget what has ended of an owner of whom nothing lives: nobody is left to notify. */
static void forget_owner(struct leases *l, struct lease_owner *o)
{
    struct lease_record *r = TAILQ_FIRST(&o->records), *next;
    bool is_over = o->n_living == 0;
    TAILQ_FOREACH (r, &o->records, link)
        is_over = is_over && r->state != LEASE_ENDING;
    for (r = is_over ? TAILQ_FIRST(&o->records) : NULL; r; r = next) {
        next = TAILQ_NEXT(r, link);
        if (r->state == LEASE_LOST)
            lease_drop_node(l, r->name);
        lease_table_remove(&l->table, r); /* frees the owner with the last */
    }
}

/* ---- records that others have written or deleted ---- */

/* Of an owner not all records are known yet. */
static bool is_loading(const struct leases *l)
{
    return l->n_loads || l->office == LEASE_LOADING;
}

static void lost(struct leases *l, struct lease_record *r)
{
    struct lease_owner *o = r->owner;
    lease_table_state(&l->table, r, LEASE_LOST);
    if (is_loading(l))
        l->has_orphans = true;
    else
        forget_owner(l, o);
}

void lease_sweep(struct leases *l)
{
    if (!l->has_orphans || is_loading(l))
        return;
    l->has_orphans = false;
    for (MAP_EACH (&l->table.owners, slot))
        forget_owner(l, slot->value);
}

void lease_judge(struct leases *l, struct lease_record *r)
{
    const struct mirror_node *node = mirror_find(l->def.mirror, r->path);
    bool is_read = mirror_applied(l->def.mirror) >= r->zxid;
    bool is_same = node && node->stat.mzxid == r->zxid;
    if (r->state != LEASE_LIVING || is_same || (!is_read && !(node && node->stat.mzxid > r->zxid)))
        return;
    lost(l, r);
}

/* Of two records of one path the older one is over: the owner has bound it again, or it is another's now. */
static void supersede(struct leases *l, struct lease_record *older)
{
    bool is_own = lease_table_at(&l->table, older->path)->owner == older->owner;
    if (older->state == LEASE_ENDING)
        return;
    if (is_own) {
        lease_drop_node(l, older->name);
        lease_table_remove(&l->table, older);
    } else if (older->state == LEASE_LIVING) {
        lost(l, older);
    }
}

void lease_add(struct leases *l, const struct lease_def *def)
{
    struct lease_record *older, *r = lease_table_add(&l->table, def, run_boot_ms(), &older);
    if (older)
        supersede(l, older);
    if (older != r)
        lease_judge(l, r);
}

static void on_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                      const char *old_data, size_t old_len, int64_t zxid)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    (void)kind;
    (void)node;
    (void)old_data;
    (void)old_len;
    (void)zxid;
    if (!l->table.n_heap || !lease_table_at(&l->table, path))
        return;
    l->suspects = mem_resize(l->suspects, l->n_suspects + 1, sizeof *l->suspects);
    l->suspects[l->n_suspects++] = mem_str(path);
}

/* Only now it is certain what of the mirror is older than a lease: a delete is reported with the number of a later change. */
static void on_applied(void *arg, int64_t zxid)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    (void)zxid;
    for (size_t i = 0; i < l->n_suspects; i++) {
        struct lease_record *r = lease_table_at(&l->table, l->suspects[i]);
        if (r)
            lease_judge(l, r);
        free(l->suspects[i]);
    }
    free(l->suspects);
    l->suspects = NULL;
    l->n_suspects = 0;
}

static void plan(struct leases *l, int64_t pause_ms)
{
    l->planned_ms = run_boot_ms() + pause_ms;
    run_timer_start(l->tick, (uint64_t)pause_ms, 0);
}

/* There are leases: who keeps them? */
static void look_now(struct leases *l)
{
    if (l->office != LEASE_OUT || l->is_asking || l->is_stopped)
        return;
    l->next_look_ms = 0;
    plan(l, 0);
}

static void on_synced(void *arg)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    if (l->is_stopped)
        return;
    office_lose(l, "the store was read anew");
    if (l->url)
        plan(l, 0);
}

static const struct mirror_listener listener = {
    .synced = on_synced, .change = on_change, .applied = on_applied};

/* ---- ending ---- */

/* A lease that ends. Its record is found again by name: it may have gone from the table meanwhile. */
struct ending {
    struct obj obj;
    struct leases *leases;
    char *name, *path;
    int64_t zxid, ttl_ms;
};

static struct lease_record *ending_record(const struct ending *e)
{
    return map_get(&e->leases->table.names, e->name);
}

static void ending_free(struct ending *e)
{
    struct leases *l = e->leases;
    if (--l->n_ending == ENDING_MAX / 2 && !l->is_stopped)
        plan(l, 0); /* more may be due */
    free(e->name);
    free(e->path);
    obj_fini(&e->obj);
    free(e);
    let_go(l);
}

static void ending_retry(struct ending *e, const struct err_info *why)
{
    struct leases *l = e->leases;
    struct lease_record *r = ending_record(e);
    if (r)
        lease_table_put_off(&l->table, r, run_boot_ms() + RETRY_MS);
    if (log_trouble_is_news(&l->trouble, why, run_now_ms()))
        log_emit(&ev_lease_failed, LOG_ERR(why));
    ending_free(e);
}

static void on_record_deleted(void *arg, int err, const struct reg_store_result *result)
{
    struct ending *e = obj_cast(arg, struct ending, ENDING_MAGIC);
    struct leases *l = e->leases;
    bool goes_on = lease_call_ends(l);
    if (goes_on && err && err != ERR_CONFLICT) {
        ending_retry(e, &result->why);
        return;
    }
    struct lease_record *r = goes_on ? ending_record(e) : NULL;
    if (!err && result->changed) {
        metric_add(l->def.metrics, M_LEASE_EXPIRATIONS, 1);
        log_emit(&ev_lease_expired, LOG_STR("path", e->path), LOG_INT("ttl_ms", e->ttl_ms));
    }
    if (goes_on)
        lease_drop_node(l, e->name);
    if (r) {
        lease_table_state(&l->table, r, LEASE_ENDED);
        forget_owner(l, r->owner);
        r = ending_record(e);
    }
    if (r && r->is_reported)
        lease_table_remove(&l->table, r);
    ending_free(e);
}

static void delete_record(struct ending *e)
{
    const struct reg_store_cond cond = {REG_IF_MZXID, e->zxid};
    lease_call_begins(e->leases);
    reg_store_delete(e->leases->def.ops, e->path, true, &cond, on_record_deleted, e);
}

static void on_marked(void *arg, int err, const struct store_result *result)
{
    struct ending *e = obj_cast(arg, struct ending, ENDING_MAGIC);
    struct leases *l = e->leases;
    bool goes_on = lease_call_ends(l);
    struct lease_record *r = goes_on ? ending_record(e) : NULL;
    bool is_of_term = l->is_shared && result->failed_op < OFFICE_CHECKS;
    if (!r) {
        ending_free(e);
    } else if (!err || (err == ERR_CONFLICT && !is_of_term)) {
        r->is_marked = true;
        lease_table_state(&l->table, r, LEASE_ENDING);
        delete_record(e);
    } else if (err == ERR_CONFLICT || (err == ERR_NOTFOUND && is_of_term)) {
        office_lose(l, result->why.text);
        ending_free(e);
    } else if (err == ERR_NOTFOUND) {
        lease_table_remove(&l->table, r);
        ending_free(e);
    } else {
        ending_retry(e, &result->why);
    }
}

/* In our term, if it still is ours: durable, so that the next keeper goes on with it. */
static void mark(struct ending *e)
{
    struct leases *l = e->leases;
    mem_auto char *path = lease_path(e->name);
    mem_auto char *text = lease_data(e->path, e->ttl_ms, true);
    struct store_op ops[OFFICE_CHECKS + 1] = {
        [OFFICE_CHECKS] = {STORE_OP_SET, path, text, strlen(text), 0, NULL, 0, NULL}};
    size_t first = l->is_shared ? 0 : OFFICE_CHECKS;
    office_check(l, ops);
    lease_call_begins(l);
    store_multi(l->def.store, ops + first, ARRAY_LEN(ops) - first, on_marked, e);
}

/* What is below a record may have leases by other registryds that the table lacks: all are read after the record was due. */
static bool knows_below(struct leases *l, struct lease_record *r, int64_t now_ms)
{
    int64_t living_ms =
        l->table.granted_ms > r->owner->renewed_ms ? l->table.granted_ms : r->owner->renewed_ms;
    if (!l->is_shared)
        return true;
    if (!r->looked_ms || r->looked_ms < living_ms)
        r->looked_ms = now_ms;
    if (l->scanned_ms > r->looked_ms)
        return true;
    l->next_scan_ms = now_ms;
    return false;
}

/* A record below one that lives goes with nobody: the upper one waits for it. @return how long, ms; 0: it need not. */
static int64_t wait_ms(struct leases *l, struct lease_record *r, int64_t now_ms)
{
    const struct mirror_node *node = mirror_find(l->def.mirror, r->path);
    if (!node || node->stat.n_children == 0)
        return 0;
    if (!knows_below(l, r, now_ms))
        return TICK_MS;
    l->n_searches++;
    return lease_table_has_below(&l->table, r->path) ? r->ttl_ms : 0;
}

static void end(struct leases *l, struct lease_record *r, int64_t now_ms)
{
    int64_t pause_ms = wait_ms(l, r, now_ms);
    if (pause_ms) {
        r->looked_ms = pause_ms == TICK_MS ? r->looked_ms : 0;
        lease_table_put_off(&l->table, r, now_ms + pause_ms);
        return;
    }
    struct ending *e = mem_new(struct ending);
    obj_init(&e->obj, ENDING_MAGIC);
    e->leases = l;
    e->name = mem_str(r->name);
    e->path = mem_str(r->path);
    e->zxid = r->zxid;
    e->ttl_ms = r->ttl_ms;
    l->n_ending++;
    lease_table_state(&l->table, r, LEASE_ENDING);
    lease_table_put_off(&l->table, r, now_ms + FLIGHT_MS);
    if (r->is_marked)
        delete_record(e);
    else
        mark(e);
}

/* ---- rounds ---- */

static void on_scanned(void *arg, int err, const struct err_info *why)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    (void)why; /* the next scan reads what this one could not */
    l->is_scanning = false;
    if (!err)
        l->scanned_ms = l->scan_begun_ms;
}

static void scan_when_due(struct leases *l, int64_t now_ms)
{
    if (!l->is_shared || l->is_scanning || now_ms < l->next_scan_ms)
        return;
    l->is_scanning = true;
    l->scan_begun_ms = now_ms;
    l->next_scan_ms = now_ms + l->def.term_ms;
    load_leases(l, NULL, on_scanned, l);
}

static void keep(struct leases *l, int64_t now_ms)
{
    struct lease_record *r;
    scan_when_due(l, now_ms);
    l->n_searches = 0;
    while (l->n_ending < ENDING_MAX && l->n_searches < SEARCHES_MAX) {
        r = lease_table_next(&l->table, now_ms);
        if (!r)
            break;
        end(l, r, now_ms);
    }
}

static void on_tick(void *arg)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    int64_t now_ms = run_boot_ms();
    if (now_ms - l->planned_ms > GAP_MS)
        lease_table_grant(
            &l->table,
            now_ms); /* the process or the host stood still: so did the renewals that it was sent */
    if (mirror_ready(l->def.mirror))
        office_step(l);
    if (leases_is_keeper(l))
        keep(l, now_ms);
    metric_set(l->def.metrics, M_LEASES, (int64_t)l->table.n_living);
    metric_set(l->def.metrics, M_LEASE_KEEPER, leases_is_keeper(l));
    plan(l, l->table.n_heap || l->is_asking || l->is_scanning ? TICK_MS : IDLE_TICK_MS);
}

void office_begin(struct leases *l)
{
    l->office = LEASE_KEEPING;
    l->next_scan_ms = run_boot_ms() + l->def.term_ms;
    lease_table_grant(&l->table, run_boot_ms());
    lease_sweep(l);
    if (l->is_shared || l->table.n_heap)
        log_emit(&ev_lease_keeper, LOG_INT("leases", (int64_t)l->table.n_living));
}

/* ---- renewing ---- */

/* The owner knows that this one is gone, or has bound it anew. */
static bool is_known_gone(const struct leases *l, const struct lease_record *r)
{
    const struct lease_record *newest = lease_table_at(&l->table, r->path);
    return r->is_reported ||
           (newest && newest != r && newest->owner == r->owner && newest->state == LEASE_LIVING);
}

static void take_gone(struct leases *l, struct lease_owner *o, struct lease_renewal *out)
{
    struct lease_record *r, *next;
    size_t n = 0;
    for (r = TAILQ_FIRST(&o->records); r; r = next) {
        next = TAILQ_NEXT(r, link);
        if (r->state == LEASE_LIVING) {
            out->ttl_ms = out->n_records++ && out->ttl_ms < r->ttl_ms ? out->ttl_ms : r->ttl_ms;
            continue;
        }
        if (n == GONE_MAX)
            continue;
        if (!is_known_gone(l, r)) {
            out->gone = mem_resize(out->gone, n + 2, sizeof(char *));
            out->gone[n++] = mem_str(r->path);
            out->gone[n] = NULL;
        }
        r->is_reported = true; /* one that is ending stays until it has ended */
        if (r->state == LEASE_LOST)
            lease_drop_node(l, r->name);
        if (r->state != LEASE_ENDING)
            lease_table_remove(&l->table, r); /* the last one takes the owner with it */
    }
}

int leases_renew(struct leases *l, const char *key, bool is_loaded, struct lease_renewal *out,
                 struct err_info *why)
{
    char id[LEASE_ID_LEN + 1];
    *out = (struct lease_renewal){0};
    look_now(l);
    if (!leases_is_keeper(l))
        return err_set(why, ERR_UNAVAILABLE, "lease",
                       "no registryd keeps the leases now; try again in a moment");
    lease_id(key, id);
    struct lease_owner *o = lease_table_renew(&l->table, id, run_boot_ms());
    if (!o || (!o->n_living && !is_loaded))
        return err_set(why, ERR_NOTFOUND, "lease", "no record has this lease: bind what has gone anew");
    metric_add(l->def.metrics, M_LEASE_RENEWALS, 1);
    take_gone(l, o, out);
    return 0;
}

void leases_load(struct leases *l, const char *key,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    char id[LEASE_ID_LEN + 1];
    lease_id(key, id);
    load_leases(l, id, done, arg);
}

void leases_bound(struct leases *l, const struct lease_node *n, const char *path, int64_t ttl_ms,
                  int64_t zxid)
{
    char id[LEASE_ID_LEN + 1];
    snprintf(id, sizeof id, "%.*s", LEASE_ID_LEN, n->name);
    look_now(l);
    if (l->office < LEASE_LOADING || !zxid)
        return;
    const struct lease_def def = {.owner = id, .name = n->name, .path = path, .ttl_ms = ttl_ms, .zxid = zxid};
    lease_add(l, &def);
    lease_table_renew(&l->table, id, run_boot_ms());
}

/* ---- life ---- */

struct leases *leases_new(const struct leases_def *def)
{
    struct leases *l = mem_new(struct leases);
    char me[2 * KEY_BYTES + 1];
    obj_init(&l->obj, LEASES_MAGIC);
    random_hex(KEY_BYTES, me);
    l->def = *def;
    l->me = mem_str(me);
    l->is_shared = strcmp(store_kind(def->store), "zookeeper") == 0;
    l->tick = run_timer_new(def->loop, on_tick, l);
    mirror_listen(def->mirror, &listener, l);
    return l;
}

void leases_start(struct leases *l, const char *url)
{
    l->url = mem_str(url);
    plan(l, 0);
}

void leases_stop(struct leases *l)
{
    l->is_stopped = true;
    run_timer_free(l->tick);
    l->tick = NULL;
}

void leases_free(struct leases *l)
{
    if (!l)
        return;
    l->is_released = true;
    let_go(l);
}
