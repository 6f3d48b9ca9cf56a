#include "app.h"
#include "answer/query.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "feed/text.h"
#include "json/writer.h"
#include "wire/rdata.h"
#include "zone/find.h"

#include <stdlib.h>
#include <string.h>

#define EXPLAIN_MAGIC OBJ_MAGIC('E', 'X', 'P', 'L')

/** Registry records that are told; the others are counted. */
#define MAX_SOURCES 100

/*
 *   znode → record → decision → RRset → answer
 *
 *   sources   registry records that give, or could have given, the name: path, what they give, why not
 *   rrsets    what the zone holds at the name
 *   answer    what a client is told
 *   missing   where the chain ends, as a sentence; null when there is an answer
 */
struct explain {
    struct obj obj;
    struct dnsd *app;
    struct http_req *req;
    struct follow_walk *walk;
    uint8_t name[NAME_MAX_LEN];
    uint16_t qtype;
    struct buf body;
    struct jw w;
    size_t n_sources, n_told;
    const char *reason; /* of the last source that gave nothing */
    /* Of the record that is looked at: */
    struct buf lines; /* JSON array of what it gives */
    struct jw lines_w;
    bool has_line;
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
    if (!name_equal(rr->owner, e->name))
        return;
    add_line(e, rr, zoneset_zone_of(e->app->zones, rr->owner) < 0 ? "no zone covers it" : "published");
}

static void on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (!name_equal(rr->owner, e->name))
        return;
    bool is_hidden = !is_ready && follow_n_ready(e->app->follow, rr->owner);
    add_line(e, rr,
             is_hidden  ? "not published: the container is not ready, others are"
             : is_ready ? "published"
                        : "published although the container is not ready: none is");
}

static void on_none(void *arg, const uint8_t *owner, const char *reason)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (name_equal(owner, e->name))
        e->none = reason;
}

static void write_source(struct explain *e, const char *path)
{
    e->n_told++;
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
    if (e->n_sources++ < MAX_SOURCES)
        write_source(e, path);
}

/* ---- the zone's side ---- */

static const char *match_word(enum zone_match match)
{
    switch (match) {
    case ZONE_OUTSIDE: return "outside";
    case ZONE_EXACT: return "exact";
    case ZONE_WILDCARD: return "wildcard";
    case ZONE_MISSING: return "missing";
    case ZONE_CUT: return "delegated";
    case ZONE_DNAME: return "redirected";
    }
    return "";
}

static void write_set(struct explain *e, const struct wire_set *set)
{
    const uint8_t *p = set->wire;
    for (uint32_t i = 0; i < set->n_rrs; i++) {
        buf_auto struct buf text = BUF_EMPTY;
        struct zone_rr rr = {e->name, wire_get16(p + 2), wire_get32(p + 6), p + WIRE_RR_HEADER,
                             wire_get16(p + 10)};
        rr_text(&rr, &text);
        jw_strn(&e->w, text.bytes, text.len - 1);
        p += WIRE_RR_HEADER + rr.rdlen;
    }
}

static void write_zone(struct explain *e, const struct zone_version *v, const struct zone_hit *hit)
{
    struct wire_set set;
    char text[NAME_TEXT_MAX];
    jw_kstr(&e->w, "match", match_word(hit->match));
    jw_kstr(&e->w, "zone", hit->zone ? name_to_text(zone_apex(hit->zone), text) : NULL);
    jw_kint(&e->w, "version", (int64_t)zone_version_number(v));
    jw_key(&e->w, "rrsets");
    jw_array(&e->w);
    for (unsigned i = 0; hit->node && zone_node_nth_set(hit->node, i, &set); i++)
        write_set(e, &set);
    jw_array_end(&e->w);
}

/* ---- the answer ---- */

static void on_answer_rr(void *arg, int section, const char *text)
{
    struct explain *e = obj_cast(arg, struct explain, EXPLAIN_MAGIC);
    if (section == 0)
        jw_str(&e->w, text);
}

static const char *rcode_word(unsigned rcode)
{
    static const char *const words[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                        "NOTIMP",  "REFUSED", "YXDOMAIN"};
    return rcode < ARRAY_LEN(words) ? words[rcode] : "other";
}

/* Ask ourselves. @return rcode; *n_answers records in the answer section. */
static unsigned write_answer(struct explain *e, const struct zone_version *v, unsigned *n_answers)
{
    uint8_t query[12 + NAME_MAX_LEN + 4] = {0};
    struct answer_options opts = {.keep_order = true};
    struct answer a;
    query[5] = 1;
    size_t n = 12 + rdata_put_name(e->name, query + 12);
    wire_put16(query + n, e->qtype);
    wire_put16(query + n + 2, DNS_IN);
    mem_auto uint8_t *response = mem_alloc(65535);
    memset(&a, 0, sizeof a);
    answer_read(&a, query, n + 4, true, v);
    size_t len = answer_write(&a, v, &opts, response, 65535);
    *n_answers = len >= 12 ? wire_get16(response + 6) : 0;
    jw_key(&e->w, "answer");
    jw_object(&e->w);
    jw_kstr(&e->w, "rcode", rcode_word(a.rcode));
    jw_key(&e->w, "records");
    jw_array(&e->w);
    message_each_rr(response, len, on_answer_rr, e);
    jw_array_end(&e->w);
    jw_object_end(&e->w);
    return a.rcode;
}

/* Where the chain ends; free(). NULL: nowhere, there is an answer. */
static char *missing_link(const struct explain *e, const struct zone_hit *hit, unsigned rcode,
                          unsigned n_answers)
{
    struct follow_state state;
    char type[16];
    follow_state(e->app->follow, &state);
    if (n_answers)
        return NULL;
    if (hit->match == ZONE_OUTSIDE)
        return mem_str("no zone of this server contains the name; GET /zones lists them");
    if (rcode == DNS_SERVFAIL)
        return mem_str(state.is_expired ? "the registry is away for longer than hadoop.registry.dns.stale.max"
                       : !state.is_ready ? "the registry was not read completely yet"
                                         : "the zone has no SOA");
    if (hit->match == ZONE_CUT)
        return mem_str("the name is delegated to other servers");
    if (e->reason)
        return mem_fmt("a registry record could give this name, but %s", e->reason);
    if (hit->match == ZONE_MISSING)
        return mem_str(e->n_sources ? "registry records give this name, but it is not published"
                                    : "no record in the registry, and no master file, gives this name");
    return mem_fmt("the name exists, but it has no %s record", dns_type_text(e->qtype, type));
}

static void finish(struct explain *e)
{
    const struct zone_version *v = zoneset_current(e->app->zones);
    struct name_key key;
    struct zone_hit hit;
    unsigned n_answers;
    jw_array_end(&e->w);
    jw_kint(&e->w, "moreSources", (int64_t)(e->n_sources - e->n_told));
    name_key_read(e->name, NAME_MAX_LEN, &key);
    name_key_hash(&key, zone_version_seed(v));
    zone_find(v, &key, e->qtype == DNS_DS, &hit);
    write_zone(e, v, &hit);
    unsigned rcode = write_answer(e, v, &n_answers);
    mem_auto char *missing = missing_link(e, &hit, rcode, n_answers);
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
    follow_walk_cancel(e->walk);
    explain_free(e);
}

/* ---- the request ---- */

static int read_type(const char *text, uint16_t *out)
{
    static const char *const words[] = {
#define TYPE_WORD(token, number, text) [number] = text,
        DNS_TYPES(TYPE_WORD)
#undef TYPE_WORD
    };
    for (uint16_t i = 0; i < ARRAY_LEN(words); i++) {
        if (words[i] && strcasecmp(words[i], text) == 0) {
            *out = i;
            return 0;
        }
    }
    int64_t number;
    if (strncasecmp(text, "TYPE", 4) != 0 || str_to_i64(text + 4, 1, UINT16_MAX, &number))
        return ERR_PARSE;
    *out = (uint16_t)number;
    return 0;
}

static int read_request(struct http_req *req, struct explain *e, struct err_info *why)
{
    const char *name = http_query(req, "name"), *type = http_query(req, "type");
    if (!name || !*name)
        return err_set(why, ERR_USAGE, "name",
                       "give the name to explain, as web-0.shop.alice.cluster.example");
    if (name_from_text(name, strlen(name), e->name) < 0)
        return err_set(why, ERR_USAGE, "name", "\"%s\" is no domain name", name);
    e->qtype = DNS_A;
    if (type && read_type(type, &e->qtype))
        return err_set(why, ERR_USAGE, "type", "\"%s\" is no record type, as A, SRV or TYPE65", type);
    return 0;
}

void dnsd_api_explain(struct http_req *req, void *arg)
{
    static const struct follow_walk_ops ops = {.record = on_record, .done = on_done};
    struct explain *e = mem_new(struct explain);
    struct err_info why;
    char name[NAME_TEXT_MAX], type[16];
    obj_init(&e->obj, EXPLAIN_MAGIC);
    e->app = arg;
    e->req = req;
    if (read_request(req, e, &why)) {
        http_reply_error(req, why.code, &why);
        explain_free(e);
        return;
    }
    e->w = jw_on(&e->body);
    jw_object(&e->w);
    jw_kstr(&e->w, "name", name_to_text(e->name, name));
    jw_kstr(&e->w, "type", dns_type_text(e->qtype, type));
    jw_key(&e->w, "sources");
    jw_array(&e->w);
    http_reply_later(req, on_client_gone, e);
    e->walk = follow_walk_start(e->app->follow, &ops, e);
}
