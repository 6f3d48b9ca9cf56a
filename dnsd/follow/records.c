#include "follow/records.h"
#include "follow/events.h"
#include "follow/held.h"
#include "base/mem.h"
#include "base/obj.h"
#include "names/hosts.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAGIC OBJ_MAGIC('R', 'C', 'D', 'S')
#define EDIT_MAGIC    OBJ_MAGIC('E', 'D', 'I', 'T')
#define REZONE_MAGIC  OBJ_MAGIC('R', 'E', 'Z', 'N')

/** Records that are moved at once when a zone comes or goes. */
#define REZONE_PART 16

struct records {
    struct obj obj;
    struct records_def def;
    struct hosts *hosts;
    struct shared_names shared;
    struct held_names held;
    struct packed_prefixes prefixes;
    struct packed_set set;
    struct packed_text text, before; /* of the record that is worked on */
    struct records_counts counts;
};

/* ---- the RRs of a record ---- */

/** One side of a difference: the RRs of a record are added to the transaction, or removed. */
struct edit {
    struct obj obj;
    struct records *records;
    struct zone_tx *tx;
    bool is_add;
};

static void put_rr(void *arg, const struct zone_rr *rr, bool is_add)
{
    struct edit *e = obj_cast(arg, struct edit, EDIT_MAGIC);
    int err = is_add ? zone_tx_add(e->tx, ZONE_BY_NAME, rr) : zone_tx_remove(e->tx, ZONE_BY_NAME, rr);
    if (err && is_add)
        e->records->counts.n_unzoned++;
}

static void on_rr(void *arg, const struct zone_rr *rr)
{
    struct edit *e = obj_cast(arg, struct edit, EDIT_MAGIC);
    put_rr(e, rr, e->is_add);
}

static void on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct edit *e = obj_cast(arg, struct edit, EDIT_MAGIC);
    struct shared_sink sink = {put_rr, e};
    shared_change(&e->records->shared, rr, is_ready, e->is_add, &sink);
}

static void produce(struct records *r, struct zone_tx *tx, const struct packed *k, bool is_add)
{
    struct edit edit = {{EDIT_MAGIC}, r, tx, is_add};
    struct map_sink sink = {.rr = on_rr, .arg = &edit, .shared = on_shared};
    struct packed_text *text = &r->text;
    packed_read(k, text);
    unsigned left_out = map_produce(&r->def.map, text->path, text->packed, text->len, &sink);
    if (left_out && is_add) {
        r->counts.n_left_out += left_out;
        log_emit(&ev_feed_left_out, LOG_STR("path", text->path), LOG_INT("names", left_out));
    }
}

/* ---- the names of a record that is held ---- */

static void hold_name(void *arg, const struct zone_rr *rr)
{
    struct edit *e = obj_cast(arg, struct edit, EDIT_MAGIC);
    if (held_count(&e->records->held, rr->owner, e->is_add))
        zone_tx_hold(e->tx, ZONE_BY_NAME, rr->owner, e->is_add);
}

/* Count the names of a held record, or no longer; they are those that produce gives at the same time. */
static void hold_names(struct records *r, struct zone_tx *tx, const struct packed *k, bool is_held)
{
    struct edit edit = {{EDIT_MAGIC}, r, tx, is_held};
    struct map_sink sink = {.rr = hold_name, .arg = &edit};
    packed_read(k, &r->text);
    map_produce(&r->def.map, r->text.path, r->text.packed, r->text.len, &sink);
}

static void set_held(struct records *r, struct zone_tx *tx, struct packed *k, bool is_held)
{
    if (packed_is_held(k) == is_held)
        return;
    packed_set_held(k, is_held);
    hold_names(r, tx, k, is_held);
}

void records_hold(struct records *r, struct zone_tx *tx, struct packed *old)
{
    set_held(r, tx, old, true);
}

/* ---- a change of one record ---- */

static bool has_names(const struct packed *k)
{
    return map_has_names(packed_kind(k));
}

bool records_is_removal(const struct packed *old, const struct packed *new)
{
    return old && has_names(old) && (!new || !has_names(new));
}

/* Count a record that comes (+1) or goes (-1). */
static void count(struct records *r, const struct packed *k, int by)
{
    size_t *n = has_names(k) ? &r->counts.n_named : &r->counts.n_nameless;
    *n += (size_t)by;
}

/* The host that a record names, or NULL. */
static const char *host_of(const struct packed *k, struct packed_text *text)
{
    if (!k || !has_names(k))
        return NULL;
    packed_read(k, text);
    return map_host(text->packed, text->len);
}

/* Which host a path names is the resolver's to know. Same host: its addresses stay. */
static void change_host(struct records *r, const struct packed *old, const struct packed *new)
{
    const char *before = host_of(old, &r->before);
    const char *after = host_of(new, &r->text);
    if (before && after && strcmp(before, after) == 0)
        return;
    if (after)
        hosts_use(r->hosts, after, r->text.path);
    if (before)
        hosts_drop(r->hosts, before, r->before.path);
}

void records_replace(struct records *r, struct zone_tx *tx, struct packed *old, struct packed *take_new)
{
    if (old)
        set_held(r, tx, old, false);
    if (old && take_new && packed_equal(old, take_new)) {
        packed_free(&r->prefixes, take_new);
        return;
    }
    if (old)
        produce(r, tx, old, false);
    change_host(r, old, take_new);
    if (take_new) {
        count(r, take_new, 1);
        packed_put(&r->set, take_new);
        produce(r, tx, take_new, true);
    } else if (old) {
        packed_take(&r->set, old);
    }
    if (old) {
        count(r, old, -1);
        packed_free(&r->prefixes, old);
    }
}

/* ---- host names ---- */

static void on_host_user(void *arg, const char *path)
{
    struct edit *e = obj_cast(arg, struct edit, EDIT_MAGIC);
    const struct packed *k = records_get(e->records, path);
    if (!k)
        return;
    /* With other addresses it may give other names; a name is marked while it has records. */
    if (packed_is_held(k) && !e->is_add)
        hold_names(e->records, e->tx, k, false);
    produce(e->records, e->tx, k, e->is_add);
    if (packed_is_held(k) && e->is_add)
        hold_names(e->records, e->tx, k, true);
}

void records_move_host(struct records *r, struct zone_tx *tx, const char *host)
{
    struct edit edit = {{EDIT_MAGIC}, r, tx, false};
    hosts_each_user(r->hosts, host, on_host_user, &edit);
    hosts_apply(r->hosts, host);
    edit.is_add = true;
    hosts_each_user(r->hosts, host, on_host_user, &edit);
    log_emit(&ev_feed_host, LOG_STR("host", host));
}

/* ---- zones that come and go ---- */

struct rezone {
    struct obj obj;
    const struct records *records;
    struct zone_tx *tx;
    const struct records_move *move;
    bool is_held; /* the record that is moved */
};

/* The mark follows the records of the name, those that another record gives it, too. */
static void move_hold(const struct rezone *z, const uint8_t *owner)
{
    if (z->move->from >= 0)
        zone_tx_hold(z->tx, z->move->from, owner, false);
    if (z->move->to >= 0)
        zone_tx_hold(z->tx, z->move->to, owner, true);
}

static void move_rr(void *arg, const struct zone_rr *rr)
{
    struct rezone *z = obj_cast(arg, struct rezone, REZONE_MAGIC);
    if (zoneset_zone_of(z->records->def.zones, rr->owner) != z->move->zone)
        return;
    /* A zone that does not cover the name refuses it, as it did when the record came. */
    if (z->move->from >= 0)
        zone_tx_remove(z->tx, z->move->from, rr);
    if (z->move->to >= 0)
        zone_tx_add(z->tx, z->move->to, rr);
    if (z->is_held)
        move_hold(z, rr->owner);
}

static void move_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct rezone *z = obj_cast(arg, struct rezone, REZONE_MAGIC);
    if (records_shared_state(z->records, rr, is_ready) == SHARED_VISIBLE)
        move_rr(z, rr);
}

bool records_rezone_part(struct records *r, struct zone_tx *tx, const struct records_move *move,
                         uint32_t *cursor)
{
    struct rezone rezone = {{REZONE_MAGIC}, r, tx, move, false};
    struct map_sink sink = {.rr = move_rr, .arg = &rezone, .shared = move_shared};
    for (unsigned n = 0; n < REZONE_PART && *cursor < r->set.n_places; n++) {
        const struct packed *k = packed_at(&r->set, (*cursor)++);
        if (!k)
            continue;
        rezone.is_held = packed_is_held(k);
        packed_read(k, &r->text);
        map_produce(&r->def.map, r->text.path, r->text.packed, r->text.len, &sink);
    }
    return *cursor < r->set.n_places;
}

/* ---- beginning and end ---- */

static size_t on_addresses(void *arg, const char *host, struct addr *out)
{
    struct records *r = obj_cast(arg, struct records, RECORDS_MAGIC);
    return hosts_get(r->hosts, host, out, MAP_MAX_ADDRESSES);
}

struct records *records_new(const struct records_def *def)
{
    struct records *r = mem_new(struct records);
    obj_init(&r->obj, RECORDS_MAGIC);
    r->def = *def;
    r->def.map.addresses = on_addresses;
    r->def.map.addresses_arg = r;
    r->shared.max_members = def->map.max_answers;
    struct hosts_def hosts = {def->loop, def->host_refresh_ms, def->host_outage, def->host_changed, def->arg};
    r->hosts = hosts_new(&hosts);
    return r;
}

void records_free(struct records *r)
{
    if (!r)
        return;
    hosts_free(r->hosts);
    shared_fini(&r->shared);
    held_fini(&r->held);
    packed_set_fini(&r->set, &r->prefixes);
    packed_text_fini(&r->text);
    packed_text_fini(&r->before);
    obj_fini(&r->obj);
    free(r);
}

const struct packed_set *records_set(const struct records *r)
{
    return &r->set;
}

struct packed_prefixes *records_prefixes(struct records *r)
{
    return &r->prefixes;
}

struct packed *records_get(const struct records *r, const char *path)
{
    return packed_get(&r->set, &r->prefixes, path);
}

const struct records_counts *records_counts(const struct records *r)
{
    return &r->counts;
}

void records_room(struct records *r, size_t n_records)
{
    packed_set_room(&r->set, n_records);
}

const struct map_options *records_map_options(const struct records *r)
{
    return &r->def.map;
}

enum shared_state records_shared_state(const struct records *r, const struct zone_rr *rr, bool is_ready)
{
    return shared_state(&r->shared, rr, is_ready);
}
