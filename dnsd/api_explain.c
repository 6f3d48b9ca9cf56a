#include "app.h"
#include "routes.h"
#include "answer/query.h"
#include "answer/special.h"
#include "explain.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "masters/text.h"
#include "json/writer.h"
#include "names/reverse.h"
#include "wire/rdata.h"
#include "zone/find.h"

#include <stdlib.h>
#include <string.h>

#define EXPLAIN_MAGIC OBJ_MAGIC('E', 'X', 'P', 'L')
#define SECTION_MAGIC OBJ_MAGIC('S', 'E', 'C', 'T')

/** Registry records that are listed; the others are counted. */
#define MAX_SOURCES 100

/*
 *   znode → record → decision → RRset → answer
 *
 *   sources   registry records that give, or could have given, the name or one it is an alias of: path, what they give, why not
 *   rrsets    what the zone holds at the name
 *   chain     each name on the way to the answer, what the zone holds there, and why the next step follows
 *   answer    what a client gets; who is asked instead
 *   stale     why that may be old, as a sentence, or null
 *   missing   where the chain ends, as a sentence; null when there is an answer
 */
struct explain {
    struct obj obj;
    struct dnsd *app;
    struct http_req *req;
    struct walk *walk;
    uint8_t name[NAME_MAX_LEN];
    uint16_t qtype;
    struct explain_chain chain; /* as of the beginning: which records are looked for */
    struct buf body;
    struct jw w;
    size_t n_sources, n_listed;
    const char *reason; /* of the last source that gave nothing */
    bool is_uncovered;  /* a source gives the name, and no zone covers it */
    /* Of the record that is looked at: */
    struct buf lines; /* JSON array of what it gives */
    struct jw lines_w;
    bool has_line;
    bool has_giver; /* a record gave something at a name on the way, and lacked nothing */
    const char *none;
};

static void explain_free(struct explain *e)
{
    buf_fini(&e->body);
    buf_fini(&e->lines);
    obj_fini(&e->obj);
    free(e);
}

/* ---- sources ---- */

static void add_line(struct explain *e, const struct zone_rr *rr, const char *decision)
{
    buf_auto struct buf text = BUF_EMPTY;
    rr_text(rr, &text);
    jw_object(&e->lines_w);
    jw_key(&e->lines_w, "record");
    jw_strn(&e->lines_w, text.bytes, text.len - 1); /* without the newline */
    jw_kstr(&e->lines_w, "decision", decision);
    jw_object_end(&e->lines_w);
    e->has_line = true;
}

static void on_rr(void *arg, const struct zone_rr *rr)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (!explain_is_on_way(&e->chain, rr->owner))
        return;
    bool is_covered = zoneset_zone_of(e->app->zones, rr->owner) >= 0;
    e->is_uncovered |= !is_covered;
    add_line(e, rr, is_covered ? "published" : "no zone covers it");
}

static void on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (!explain_is_on_way(&e->chain, rr->owner))
        return;
    static const char *const decisions[] = {
        [SHARED_VISIBLE] = "published",
        [SHARED_NOT_READY] = "not published: the container is not ready, others are",
        [SHARED_SURPLUS] =
            "not published: the name has more records of the type than hadoop.registry.dns.max-answers"};
    enum shared_state state = follow_shared_state(e->app->follow, rr, is_ready);
    bool is_last_resort = state == SHARED_VISIBLE && !is_ready;
    add_line(e, rr,
             is_last_resort ? "published although the container is not ready: none is" : decisions[state]);
}

static void on_none(void *arg, const uint8_t *owner, uint16_t type, const char *reason)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    bool is_asked = !type || type == e->qtype || e->qtype == DNS_ANY;
    if (is_asked && explain_is_on_way(&e->chain, owner))
        e->none = reason;
}

static void write_source(struct explain *e, const char *path)
{
    e->n_listed++;
    jw_object(&e->w);
    jw_kstr(&e->w, "path", path);
    jw_key(&e->w, "gives");
    jw_raw(&e->w, e->lines.bytes, e->lines.len);
    if (follow_is_held(e->app->follow, path))
        jw_kstr(&e->w, "held", "the record is gone; the guard holds its names until POST /release");
    if (e->none)
        jw_kstr(&e->w, "reason", e->none);
    jw_object_end(&e->w);
}

static void on_record(void *arg, const char *path, const char *packed, size_t len)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    struct map_sink sink = {.rr = on_rr, .arg = e, .shared = on_shared, .none = on_none};
    buf_clear(&e->lines);
    e->lines_w = jw_on(&e->lines);
    e->has_line = false;
    e->none = NULL;
    jw_array(&e->lines_w);
    map_produce(follow_map_options(e->app->follow), path, packed, len, &sink);
    jw_array_end(&e->lines_w);
    if (!e->has_line && !e->none)
        return;
    e->reason = e->none ? e->none : e->reason;
    e->has_giver |= !e->none;
    if (e->n_sources++ < MAX_SOURCES)
        write_source(e, path);
}

/* ---- the answer ---- */

/* One section of the answer as an array. */
struct section {
    struct obj obj;
    struct explain *e;
    int number;
};

static void on_answer_rr(void *arg, int section, const char *text)
{
    const struct section *s = obj_cast(arg, struct section, SECTION_MAGIC);
    if (section == s->number)
        jw_str(&s->e->w, text);
}

static void write_section(struct explain *e, const char *key, int number, const uint8_t *msg, size_t len)
{
    struct section s = {.e = e, .number = number};
    obj_init(&s.obj, SECTION_MAGIC);
    jw_key(&e->w, key);
    jw_array(&e->w);
    message_each_rr(msg, len, on_answer_rr, &s);
    jw_array_end(&e->w);
}

static const char *rcode_word(unsigned rcode)
{
    static const char *const words[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                        "NOTIMP",  "REFUSED", "YXDOMAIN"};
    return rcode < ARRAY_LEN(words) ? words[rcode] : "other";
}

static const char *relayed_word(enum answer_hand_off hand_off)
{
    switch (hand_off) {
    case ANSWER_FORWARD:
        return "the upstream servers are asked, for clients of hadoop.registry.dns.forward.acl";
    case ANSWER_FALL_THROUGH:
        return "the upstream servers are asked first where hadoop.registry.dns.fallthrough says so, for "
               "clients of "
               "hadoop.registry.dns.forward.acl";
    default: return NULL;
    }
}

/* The answer that a client gets with the options in force. */
static void write_answer(struct explain *e, const struct zone_version *v, struct answer *a,
                         unsigned *n_answers)
{
    uint8_t query[12 + NAME_MAX_LEN + 4] = {0};
    struct answer_options opts = *net_answer_options(e->app->net);
    query[2] = 1; /* RD: as a resolver behind which a client stands asks */
    query[5] = 1;
    opts.keep_order = true;
    opts.needs_cookie = false;
    size_t n = 12 + rdata_put_name(e->name, query + 12);
    wire_put16(query + n, e->qtype);
    wire_put16(query + n + 2, DNS_IN);
    mem_auto uint8_t *response = mem_alloc(65535);
    memset(a, 0, sizeof *a);
    answer_read(a, query, n + 4, true, v);
    size_t len = answer_write(a, v, &opts, response, 65535);
    *n_answers = len >= 12 ? wire_get16(response + 6) : 0;
    jw_key(&e->w, "answer");
    jw_object(&e->w);
    jw_kstr(&e->w, "rcode", rcode_word(a->rcode));
    write_section(e, "records", 0, response, len);
    write_section(e, "authority", 1, response, len);
    write_section(e, "additional", 2, response, len);
    jw_kstr(&e->w, "relayed", relayed_word(a->hand_off));
    jw_object_end(&e->w);
}

static bool has_held_name(const struct explain_chain *c)
{
    for (unsigned i = 0; i < c->n_links; i++)
        if (c->links[i].hit.match == ZONE_EXACT && zone_node_is_held(c->links[i].hit.node))
            return true;
    return false;
}

static void write_stale(struct explain *e, const struct zone_version *v)
{
    struct follow_state state;
    follow_state(e->app->follow, &state);
    bool is_stale = (zone_version_flags(v) & ZONE_STALE) && e->chain.links[0].hit.zone &&
                    zone_is_dynamic(e->chain.links[0].hit.zone);
    mem_auto char *text =
        is_stale ? mem_fmt("%s for %lld s: what was known then is answered, with EDE 3",
                           state.is_behind ? "the registry is being read again; it was away or not complete"
                                           : "the registry is away",
                           (long long)(state.stale_ms / 1000))
        : has_held_name(&e->chain)
            ? mem_str("a registry record is gone, and the guard holds its removal: its names are answered, "
                      "with EDE 3, until POST /release")
            : NULL;
    jw_kstr(&e->w, "stale", text);
}

/* The built-in zone that a name is in. */
static const char *empty_zone_of(const uint8_t *name, char text[NAME_TEXT_MAX])
{
    struct name_key key;
    name_key_read(name, NAME_MAX_LEN, &key);
    const uint8_t *apex = special_empty_apex(&key);
    return apex ? name_to_text(apex, text) : "";
}

/* Why there is no answer although the zones were ready; free(). */
static char *missing_records(const struct explain *e, bool is_built_in)
{
    const struct explain_link *last = &e->chain.links[e->chain.n_links - 1];
    char type[16], name[NAME_TEXT_MAX];
    if (last->hit.match == ZONE_OUTSIDE && e->chain.n_links > 1)
        return mem_fmt("%s is in no zone of this server: resolvers go on there",
                       name_to_text(last->name, name));
    if (last->hit.match == ZONE_OUTSIDE && e->is_uncovered)
        return mem_str("a registry record gives this name, but no zone covers it; for addresses set "
                       "hadoop.registry.dns.zone-subnet or hadoop.registry.dns.reverse-subnets");
    if (e->reason && !e->has_giver)
        return mem_fmt("a registry record could give this name, but %s", e->reason);
    if (last->hit.match == ZONE_OUTSIDE && is_built_in)
        return mem_fmt(
            "no zone of this server contains the name; the built-in empty zone %s answers (RFC 6303, "
            "hadoop.registry.dns.empty-zones)",
            empty_zone_of(last->name, name));
    if (last->hit.match == ZONE_OUTSIDE)
        return mem_str("no zone of this server contains the name; GET /zones lists them");
    if (e->chain.is_too_long)
        return mem_str("the name that a DNAME makes of it is longer than 255 octets");
    if (last->hit.match == ZONE_CUT)
        return mem_str("the name is delegated to other servers");
    if (e->reason && !e->has_giver)
        return mem_fmt("a registry record could give this name, but %s", e->reason);
    if (last->hit.match == ZONE_MISSING)
        return mem_str(e->n_sources ? "registry records give this name, but it is not published"
                                    : "no record in the registry, and no master file, gives this name");
    return mem_fmt("the name exists, but it has no %s record", dns_type_text(e->qtype, type));
}

/* Where the chain ends; free(). NULL: nowhere, there is an answer, or somebody else is asked. */
static char *missing_link(const struct explain *e, const struct answer *a, unsigned n_answers)
{
    const struct explain_link *last = &e->chain.links[e->chain.n_links - 1];
    struct follow_state state;
    struct wire_set set;
    follow_state(e->app->follow, &state);
    bool is_found = n_answers && last->hit.node &&
                    (last->hit.match == ZONE_EXACT || last->hit.match == ZONE_WILDCARD) &&
                    (e->qtype == DNS_ANY || zone_node_set(last->hit.node, e->qtype, &set));
    bool is_built_in = e->chain.n_links == 1 && last->hit.match == ZONE_OUTSIDE && n_answers;
    if (is_found || is_built_in || a->hand_off == ANSWER_FORWARD)
        return NULL;
    if (a->rcode == DNS_SERVFAIL && e->chain.links[0].hit.zone)
        return mem_str(state.is_expired ? "the registry is away for longer than hadoop.registry.dns.stale.max"
                       : !state.is_ready
                           ? "the registry was not read completely yet"
                           : "the records are more than one message holds, or the zone has no SOA");
    return missing_records(e, a->rcode == DNS_NXDOMAIN || a->rcode == DNS_NOERROR);
}

static void finish(struct explain *e)
{
    const struct zone_version *v = zoneset_current(e->app->zones);
    struct answer a;
    unsigned n_answers;
    jw_array_end(&e->w);
    jw_kint(&e->w, "moreSources", (int64_t)(e->n_sources - e->n_listed));
    explain_follow(v, e->name, e->qtype, &e->chain);
    jw_kint(&e->w, "version", (int64_t)zone_version_number(v));
    explain_write_chain(&e->chain, &e->w);
    write_answer(e, v, &a, &n_answers);
    write_stale(e, v);
    mem_auto char *missing = missing_link(e, &a, n_answers);
    jw_kstr(&e->w, "missing", missing);
    jw_object_end(&e->w);
    http_reply(e->req, 200, "application/json", &e->body);
}

static void on_done(void *arg, int err)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (err)
        http_reply_error(e->req, err, NULL);
    else
        finish(e);
    explain_free(e);
}

static void on_client_gone(void *arg)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    walk_cancel(e->walk);
    explain_free(e);
}

/* ---- the request ---- */

static int read_request(struct http_req *req, struct explain *e, struct err_info *why)
{
    const char *name = http_param_text(req, EXPLAIN_NAME), *type = http_param_text(req, EXPLAIN_TYPE);
    struct addr address;
    if (!*name)
        return err_set(why, ERR_USAGE, "name",
                       "give the name to explain, as web-0.shop.alice.cluster.example");
    bool is_address = addr_read(name, &address) == 0;
    if (is_address)
        reverse_name(&address, e->name);
    else if (name_from_text(name, strlen(name), e->name) < 0)
        return err_set(why, ERR_USAGE, "name", "\"%s\" is no domain name", name);
    e->qtype = is_address ? DNS_PTR : DNS_A;
    if (type && dns_type_read(type, &e->qtype))
        return err_set(why, ERR_USAGE, "type", "\"%s\" is no record type, as A, SRV or TYPE65", type);
    return 0;
}

void dnsd_api_explain(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    static const struct walk_ops ops = {.record = on_record, .done = on_done};
    struct explain *e = mem_new(struct explain);
    struct err_info why;
    char name[NAME_TEXT_MAX], type[16];
    obj_init(&e->obj, EXPLAIN_MAGIC);
    e->app = app;
    e->req = req;
    if (read_request(req, e, &why)) {
        http_reply_error(req, why.code, &why);
        explain_free(e);
        return;
    }
    explain_follow(zoneset_current(e->app->zones), e->name, e->qtype, &e->chain);
    e->w = jw_on(&e->body);
    jw_object(&e->w);
    jw_kstr(&e->w, "name", name_to_text(e->name, name));
    jw_kstr(&e->w, "type", dns_type_text(e->qtype, type));
    jw_key(&e->w, "sources");
    jw_array(&e->w);
    http_reply_later(req, on_client_gone, e);
    e->walk = follow_walk_start(e->app->follow, &ops, e);
}
