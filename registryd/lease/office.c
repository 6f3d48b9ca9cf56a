/** The term of office of the keeper. See keeper.h. */
#include "lease/priv.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define KEEPER_PATH STORE_ASIDE "/keeper"
#define BEAT_PATH   STORE_ASIDE "/beat"

/** Looks of one that stands by, and prolongations of the keeper, in one term. */
enum { LOOKS_PER_TERM = 5, BEATS_PER_TERM = 3, OUT_LOOK_MS = 2000 };

void office_check(const struct leases *l, struct store_op ops[OFFICE_CHECKS])
{
    ops[0] = (struct store_op){.kind = STORE_OP_CHECK, .path = KEEPER_PATH, .version = l->epoch};
    ops[1] = (struct store_op){.kind = STORE_OP_CHECK, .path = STORE_ASIDE, .version = l->n_offices};
}

static void look_again(struct leases *l, int64_t pause_ms)
{
    l->is_asking = false;
    l->next_look_ms = run_boot_ms() + pause_ms;
}

static void stand(struct leases *l, enum lease_office office, const char *url, size_t n)
{
    l->office = office;
    free(l->keeper_url);
    l->keeper_url = mem_str(url);
    l->n_elsewhere = n;
}

void office_lose(struct leases *l, const char *reason)
{
    if (l->office >= LEASE_LOADING)
        log_emit(&ev_lease_keeper_lost, LOG_STR("reason", reason));
    lease_table_fini(&l->table);
    l->n_terms++;
    memset(l->bucket_pzxid, 0, sizeof l->bucket_pzxid);
    stand(l, LEASE_OUT, "", 0);
    l->seen_ms = 0;
    l->next_look_ms = 0;
}

/* ---- loading ---- */

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    l->is_scanning = false;
    if (l->office != LEASE_LOADING)
        return;
    if (!err) {
        office_begin(l);
        return;
    }
    if (log_trouble_is_news(&l->trouble, why, run_now_ms()))
        log_emit(&ev_lease_failed, LOG_ERR(why));
    l->next_scan_ms = run_boot_ms() + OUT_LOOK_MS;
}

static void load(struct leases *l)
{
    if (l->is_scanning || run_boot_ms() < l->next_scan_ms)
        return;
    l->is_scanning = true;
    load_leases(l, NULL, on_loaded, l);
}

static void take_office(struct leases *l)
{
    stand(l, LEASE_LOADING, "", 0);
    l->n_terms++;
    l->until_ms = l->sent_ms + l->def.term_ms;
    l->next_scan_ms = 0;
    memset(l->bucket_pzxid, 0, sizeof l->bucket_pzxid);
    look_again(l, l->def.term_ms / BEATS_PER_TERM);
}

/* ---- taking it ---- */

static void on_taken(void *arg, int err, const struct store_result *r)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    bool is_of_beat = r->failed_op == 1;
    if (!lease_call_ends(l))
        return;
    if (is_of_beat && (err == ERR_EXISTS || err == ERR_NOTFOUND))
        l->has_beat = err == ERR_EXISTS; /* somebody has removed one of the two nodes */
    if (err)                             /* another was faster; or the next look finds our own node */
        look_again(l, l->def.term_ms / LOOKS_PER_TERM);
    else
        take_office(l);
}

/* version -1: there is no such node. */
static void take(struct leases *l, int32_t version)
{
    struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);
    jw_object(&w);
    jw_kstr(&w, "holder", l->me);
    jw_kstr(&w, "url", l->url);
    jw_object_end(&w);
    enum store_op_kind kind = version < 0 ? STORE_OP_CREATE : STORE_OP_SET;
    enum store_op_kind of_beat = l->has_beat ? STORE_OP_SET : STORE_OP_CREATE;
    const struct store_op ops[] = {{kind, KEEPER_PATH, text.bytes, text.len, version, l->def.acl, 0, NULL},
                                   {of_beat, BEAT_PATH, "0", 1, -1, l->def.acl, 0, NULL},
                                   {STORE_OP_SET, STORE_ASIDE, "", 0, l->n_offices, NULL, 0, NULL}};
    l->epoch = version + 1;
    l->n_offices++;
    l->sent_ms = run_boot_ms();
    lease_call_begins(l);
    store_multi(l->def.store, ops, ARRAY_LEN(ops), on_taken, l);
    buf_fini(&text);
}

/* ---- keeping it ---- */

static void on_beat(void *arg, int err, const struct store_result *r)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    int64_t now_ms = run_boot_ms();
    if (!lease_call_ends(l))
        return;
    look_again(l, err ? l->def.term_ms / (2 * LOOKS_PER_TERM) : l->def.term_ms / BEATS_PER_TERM);
    if (l->office < LEASE_LOADING)
        return;
    if (err == ERR_CONFLICT || err == ERR_NOTFOUND) {
        office_lose(l, r->why.text);
        return;
    }
    if (err)
        return;
    if (now_ms >= l->until_ms)
        lease_table_grant(&l->table, now_ms); /* no renewal was taken meanwhile */
    l->until_ms = l->sent_ms + l->def.term_ms;
}

static void beat(struct leases *l)
{
    mem_auto char *text = mem_fmt("%zu", l->table.n_living);
    struct store_op ops[OFFICE_CHECKS + 1] = {
        [OFFICE_CHECKS] = {STORE_OP_SET, BEAT_PATH, text, strlen(text), -1, NULL, 0, NULL}};
    office_check(l, ops);
    l->is_asking = true;
    l->sent_ms = run_boot_ms();
    lease_call_begins(l);
    store_multi(l->def.store, ops, ARRAY_LEN(ops), on_beat, l);
}

/* ---- looking ---- */

/* Whether the keeper has been silent for a term, by our clock. */
static bool is_over(struct leases *l, int32_t epoch, int32_t beat_version)
{
    int64_t now_ms = run_boot_ms();
    if (!l->seen_ms || epoch != l->seen_epoch || beat_version != l->seen_beat) {
        l->seen_epoch = epoch;
        l->seen_beat = beat_version;
        l->seen_ms = now_ms;
    }
    return now_ms - l->seen_ms > l->def.term_ms + l->def.term_ms / LOOKS_PER_TERM;
}

static void on_beat_read(void *arg, int err, const struct store_result *r)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    if (!lease_call_ends(l))
        return;
    if (!err || err == ERR_NOTFOUND)
        l->has_beat = !err;
    if (!err)
        l->n_elsewhere = (size_t)strtoull(r->data, NULL, 10);
    if (err && err != ERR_NOTFOUND)
        look_again(l, l->def.term_ms / LOOKS_PER_TERM);
    else if (is_over(l, l->epoch, err ? -1 : r->stat.version))
        take(l, l->epoch);
    else
        look_again(l, l->def.term_ms / LOOKS_PER_TERM);
}

static const char *member(const json_t *doc, const char *name)
{
    const char *text = json_string_value(json_object_get(doc, name));
    return text ? text : "";
}

static void on_keeper(void *arg, int err, const struct store_result *r)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    json_auto json_t *doc = NULL;
    if (!lease_call_ends(l))
        return;
    if (err == ERR_NOTFOUND) {
        take(l, -1);
        return;
    }
    if (err) {
        look_again(l, l->def.term_ms / LOOKS_PER_TERM);
        return;
    }
    l->epoch = r->stat.version;
    if (json_read(r->data, r->data_len, &doc, NULL)) {
        take(l, l->epoch); /* it names nobody */
        return;
    }
    if (strcmp(member(doc, "holder"), l->me) == 0) {
        take(l, l->epoch); /* the answer to our claim was lost, or we gave up: a new term */
        return;
    }
    stand(l, LEASE_STANDBY, member(doc, "url"), l->n_elsewhere);
    lease_call_begins(l);
    store_get(l->def.store, BEAT_PATH, on_beat_read, l);
}

static void on_aside(void *arg, int err, const struct store_result *r)
{
    struct leases *l = obj_cast(arg, struct leases, LEASES_MAGIC);
    if (!lease_call_ends(l))
        return;
    if (err) {
        look_again(l, err == ERR_NOTFOUND ? OUT_LOOK_MS : l->def.term_ms / LOOKS_PER_TERM);
        return;
    }
    l->n_offices = r->stat.version;
    lease_call_begins(l);
    store_get(l->def.store, KEEPER_PATH, on_keeper, l);
}

static void look(struct leases *l)
{
    l->is_asking = true;
    lease_call_begins(l);
    store_stat(l->def.store, STORE_ASIDE, on_aside, l);
}

void office_step(struct leases *l)
{
    if (l->office == LEASE_OUT && !l->is_shared)
        stand(l, LEASE_LOADING, "", 0);
    if (l->office == LEASE_LOADING)
        load(l);
    if (!l->is_shared || l->is_asking || run_boot_ms() < l->next_look_ms)
        return;
    if (l->office >= LEASE_LOADING)
        beat(l);
    else
        look(l);
}
