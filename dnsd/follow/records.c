#include "follow/follow_priv.h"
#include "follow/events.h"
#include "base/mem.h"

#include <string.h>

/** Records that are looked at at once when a zone comes or goes. */
#define REZONE_SLICE 16

unsigned follow_flags(const struct follow *f)
{
    const struct follow_state *s = &f->state;
    if (!s->is_ready || s->is_expired)
        return 0;
    return ZONE_READY | (follow_is_stale(f) ? ZONE_STALE : 0u);
}

/* ---- differences ---- */

/* One side of a difference: records added to, or taken from, the transaction. */
struct half {
    struct follow *follow;
    struct zone_tx *tx;
    bool is_add;
};

static void put_rr(void *arg, const struct zone_rr *rr, bool is_add)
{
    struct half *h = arg;
    int err = is_add ? zone_tx_add(h->tx, ZONE_BY_NAME, rr) : zone_tx_remove(h->tx, ZONE_BY_NAME, rr);
    if (err && is_add)
        h->follow->state.n_unzoned++;
}

static void on_rr(void *arg, const struct zone_rr *rr)
{
    struct half *h = arg;
    put_rr(h, rr, h->is_add);
}

static void on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct half *h = arg;
    struct shared_sink sink = {put_rr, h};
    shared_change(&h->follow->shared, rr, is_ready, h->is_add, &sink);
}

static void produce(struct follow *f, struct zone_tx *tx, const struct packed *k, bool is_add)
{
    struct half half = {f, tx, is_add};
    struct map_sink sink = {.rr = on_rr, .arg = &half, .shared = on_shared};
    struct packed_text *text = &f->text;
    packed_read(k, text);
    unsigned left_out = map_produce(&f->def.map, text->path, text->packed, text->len, &sink);
    if (left_out && is_add) {
        f->state.n_left_out += left_out;
        log_emit(&ev_feed_left_out, LOG_STR("path", text->path), LOG_INT("names", left_out));
    }
}

static bool has_names(const struct packed *k)
{
    return map_has_names(packed_kind(k));
}

bool follow_is_removal(const struct packed *old, const struct packed *new)
{
    return old && has_names(old) && (!new || !has_names(new));
}

/* Count a record that is kept (+1) or no longer (-1). */
static void count_record(struct follow *f, const struct packed *k, int by)
{
    size_t *count = has_names(k) ? &f->state.n_records : &f->state.n_nameless;
    *count += (size_t)by;
}

/* The host that a record names, or NULL. */
static const char *host_of(const struct packed *k, struct packed_text *text)
{
    if (!k || !has_names(k))
        return NULL;
    packed_read(k, text);
    return map_host(text->packed, text->len);
}

/* Tell the resolver which host a path names now. Same host: its addresses stay. */
static void change_host(struct follow *f, const struct packed *old, const struct packed *new)
{
    const char *before = host_of(old, &f->before);
    const char *after = host_of(new, &f->text);
    if (before && after && strcmp(before, after) == 0)
        return;
    if (after)
        hosts_use(f->hosts, after, f->text.path);
    if (before)
        hosts_drop(f->hosts, before, f->before.path);
}

void follow_replace(struct follow *f, struct zone_tx *tx, struct packed *old, struct packed *take_new)
{
    if (old && take_new && packed_equal(old, take_new)) {
        packed_free(&f->prefixes, take_new);
        return;
    }
    if (old)
        produce(f, tx, old, false);
    change_host(f, old, take_new);
    if (take_new) {
        count_record(f, take_new, 1);
        packed_put(&f->records, take_new);
        produce(f, tx, take_new, true);
    } else if (old) {
        packed_take(&f->records, old);
    }
    if (old) {
        count_record(f, old, -1);
        packed_free(&f->prefixes, old);
    }
}

/* ---- host names ---- */

struct host_run {
    struct follow *follow;
    struct zone_tx *tx;
    bool is_add;
};

static void on_host_user(void *arg, const char *path)
{
    struct host_run *r = arg;
    const struct packed *k = packed_get(&r->follow->records, &r->follow->prefixes, path);
    if (k)
        produce(r->follow, r->tx, k, r->is_add);
}

void follow_move_host(struct follow *f, struct zone_tx *tx, const char *host)
{
    struct host_run run = {f, tx, false};
    hosts_each_user(f->hosts, host, on_host_user, &run);
    hosts_apply(f->hosts, host);
    run.is_add = true;
    hosts_each_user(f->hosts, host, on_host_user, &run);
    log_emit(&ev_feed_host, LOG_STR("host", host));
}

void follow_host_changed(void *arg, const char *host)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    map_set(&f->moved_hosts, host, f);
    follow_commit(f);
}

/* ---- zones that come and go ---- */

struct rezone {
    const struct follow *follow;
    struct zone_tx *tx;
    int zone, from, to;
};

static void move_rr(void *arg, const struct zone_rr *rr)
{
    struct rezone *r = arg;
    if (zoneset_zone_of(r->follow->def.zones, rr->owner) != r->zone)
        return;
    /* A zone that does not cover the name refuses it, as it did when the record came. */
    if (r->from >= 0)
        zone_tx_remove(r->tx, r->from, rr);
    if (r->to >= 0)
        zone_tx_add(r->tx, r->to, rr);
}

static void move_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct rezone *r = arg;
    if (is_ready || !shared_n_ready(&r->follow->shared, rr->owner))
        move_rr(r, rr);
}

bool follow_rezone_part(struct follow *f, struct zone_tx *tx, const struct follow_move *move,
                        uint32_t *cursor)
{
    struct rezone r = {f, tx, move->zone, move->from, move->to};
    struct map_sink sink = {.rr = move_rr, .arg = &r, .shared = move_shared};
    for (unsigned n = 0; n < REZONE_SLICE && *cursor < f->records.n_places; n++) {
        const struct packed *k = packed_at(&f->records, (*cursor)++);
        if (!k)
            continue;
        packed_read(k, &f->text);
        map_produce(&f->def.map, f->text.path, f->text.packed, f->text.len, &sink);
    }
    return *cursor < f->records.n_places;
}
