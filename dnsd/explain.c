#include "explain.h"
#include "base/mem.h"
#include "masters/text.h"
#include "wire/rdata.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- following ---- */

static void put_owner(struct explain_link *l, const struct name_key *key)
{
    const uint8_t *suffix = key->lower + key->start[l->hit.label];
    size_t n = (size_t)key->len - key->start[l->hit.label];
    bool is_wildcard = l->hit.match == ZONE_WILDCARD;
    if (l->hit.match == ZONE_MISSING || l->hit.match == ZONE_OUTSIDE) {
        memcpy(l->owner, key->lower, key->len);
        return;
    }
    if (is_wildcard) {
        l->owner[0] = 1;
        l->owner[1] = '*';
    }
    memcpy(l->owner + (is_wildcard ? 2 : 0), suffix, n);
}

static void look_up(const struct zone_version *v, uint16_t qtype, struct explain_link *l)
{
    struct name_key key;
    name_key_read(l->name, NAME_MAX_LEN, &key);
    name_key_hash(&key, zone_version_seed(v));
    zone_find(v, &key, qtype == DNS_DS, &l->hit);
    put_owner(l, &key);
}

/* Is the name an alias? @param set its CNAME or DNAME [out] */
static bool alias_of(const struct explain_link *l, uint16_t qtype, struct wire_set *set)
{
    struct wire_set asked;
    if (l->hit.match == ZONE_DNAME)
        return zone_node_set(l->hit.node, DNS_DNAME, set);
    if (l->hit.match != ZONE_EXACT && l->hit.match != ZONE_WILDCARD)
        return false;
    return qtype != DNS_ANY && !zone_node_set(l->hit.node, qtype, &asked) &&
           zone_node_set(l->hit.node, DNS_CNAME, set);
}

/* The target of an alias. @return false: it is none, or the target would be too long. */
static bool next_name(struct explain_chain *c, const struct explain_link *l, uint8_t *out)
{
    struct wire_set set;
    struct name_key key;
    if (!alias_of(l, c->qtype, &set))
        return false;
    size_t before = 0, n = wire_get16(set.wire + 10);
    if (l->hit.match == ZONE_DNAME) {
        name_key_read(l->name, NAME_MAX_LEN, &key);
        before = key.start[l->hit.label];
    }
    c->is_too_long = before + n > NAME_MAX_LEN;
    if (c->is_too_long)
        return false;
    memcpy(out, l->name, before);
    memcpy(out + before, set.wire + WIRE_RR_HEADER, n);
    return true;
}

void explain_follow(const struct zone_version *v, const uint8_t *name, uint16_t qtype,
                    struct explain_chain *out)
{
    memset(out, 0, sizeof *out);
    out->qtype = qtype;
    name_lower(name, out->links[0].name);
    bool has_next = true;
    while (has_next && out->n_links < EXPLAIN_LINKS) {
        struct explain_link *l = &out->links[out->n_links++];
        look_up(v, qtype, l);
        uint8_t next[NAME_MAX_LEN];
        has_next = next_name(out, l, next);
        if (has_next && out->n_links < EXPLAIN_LINKS)
            name_lower(next, l[1].name);
    }
}

bool explain_is_on_way(const struct explain_chain *c, const uint8_t *owner)
{
    for (unsigned i = 0; i < c->n_links; i++)
        if (name_equal(c->links[i].name, owner) || name_equal(c->links[i].owner, owner))
            return true;
    return false;
}

/* ---- sentences ---- */

/* Name servers of a delegation, or the name an alias leads to. */
static void add_targets(struct buf *out, const struct wire_set *set)
{
    char name[NAME_TEXT_MAX];
    const uint8_t *p = set->wire;
    for (uint32_t i = 0; i < set->n_rrs; i++) {
        buf_addf(out, "%s%s", i ? ", " : "", name_to_text(p + WIRE_RR_HEADER, name));
        p += WIRE_RR_HEADER + wire_get16(p + 10);
    }
}

static void say_exact(const struct explain_chain *c, const struct explain_link *l, struct buf *out)
{
    struct wire_set set;
    char type[16];
    if (zone_node_set(l->hit.node, c->qtype, &set) || c->qtype == DNS_ANY) {
        buf_addf(out, "the zone has %s records at the name", dns_type_text(c->qtype, type));
    } else if (zone_node_set(l->hit.node, DNS_CNAME, &set)) {
        buf_add_str(out, "the name is an alias (CNAME) of ");
        add_targets(out, &set);
    } else if (zone_node_nth_set(l->hit.node, 0, &set)) {
        buf_addf(out, "the name has records, but none of type %s", dns_type_text(c->qtype, type));
    } else {
        buf_add_str(out, "only names below it have records");
    }
}

static void say_because(const struct explain_chain *c, const struct explain_link *l, struct buf *out)
{
    char owner[NAME_TEXT_MAX];
    struct wire_set set;
    name_to_text(l->owner, owner);
    switch (l->hit.match) {
    case ZONE_EXACT:
        say_exact(c, l, out);
        if (zone_node_hides_alias(l->hit.node))
            buf_add_str(out, "; the master file's CNAME at the name gives way to the registry's records");
        if (zone_node_is_held(l->hit.node))
            buf_add_str(out, "; a registry record of the name is gone, and the guard holds its removal");
        return;
    case ZONE_WILDCARD:
        buf_addf(out, "no such name, so the wildcard %s stands for it: ", owner);
        say_exact(c, l, out);
        return;
    case ZONE_CUT:
        buf_addf(out, "the zone delegates %s to ", owner);
        if (zone_node_set(l->hit.node, DNS_NS, &set))
            add_targets(out, &set);
        return;
    case ZONE_DNAME:
        buf_addf(out, "%s redirects (DNAME) every name below it to ", owner);
        if (zone_node_set(l->hit.node, DNS_DNAME, &set))
            add_targets(out, &set);
        buf_add_str(out, c->is_too_long ? "; this name becomes longer than 255 octets" : "");
        return;
    case ZONE_MISSING: buf_add_str(out, "the zone has no such name, and none below it"); return;
    case ZONE_OUTSIDE: buf_add_str(out, "no zone of this server contains the name"); return;
    }
}

/* ---- JSON ---- */

static void write_set(const struct explain_link *l, const struct wire_set *set, struct jw *w)
{
    const uint8_t *p = set->wire;
    for (uint32_t i = 0; i < set->n_rrs; i++) {
        buf_auto struct buf text = BUF_EMPTY;
        struct zone_rr rr = {l->owner, wire_get16(p + 2), wire_get32(p + 6), p + WIRE_RR_HEADER,
                             wire_get16(p + 10)};
        rr_text(&rr, &text);
        jw_strn(w, text.bytes, text.len - 1);
        p += WIRE_RR_HEADER + rr.rdlen;
    }
}

static void write_place(const struct explain_link *l, struct jw *w)
{
    struct wire_set set;
    char text[NAME_TEXT_MAX];
    jw_kstr(w, "match", match_word(l->hit.match));
    jw_kstr(w, "zone", l->hit.zone ? name_to_text(zone_apex(l->hit.zone), text) : NULL);
    jw_key(w, "rrsets");
    jw_array(w);
    for (unsigned i = 0; l->hit.node && zone_node_nth_set(l->hit.node, i, &set); i++)
        write_set(l, &set, w);
    jw_array_end(w);
}

void explain_write_chain(const struct explain_chain *c, struct jw *w)
{
    char text[NAME_TEXT_MAX];
    write_place(&c->links[0], w);
    jw_key(w, "chain");
    jw_array(w);
    for (unsigned i = 0; i < c->n_links; i++) {
        buf_auto struct buf because = BUF_EMPTY;
        say_because(c, &c->links[i], &because);
        jw_object(w);
        jw_kstr(w, "name", name_to_text(c->links[i].name, text));
        jw_kstr(w, "because", buf_cstr(&because));
        write_place(&c->links[i], w);
        jw_object_end(w);
    }
    jw_array_end(w);
}
