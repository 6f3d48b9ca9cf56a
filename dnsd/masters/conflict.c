#include "masters/conflict.h"
#include "base/map.h"
#include "base/mem.h"
#include "wire/name.h"
#include "wire/types.h"

/* Types that DNSSEC, old and new, puts at every name. */
enum { TYPE_SIG = 24, TYPE_KEY = 25, TYPE_NXT = 30, TYPE_RRSIG = 46, TYPE_NSEC = 47 };

/** What the records read so far have at a name that is an alias. */
struct alias {
    const uint8_t *cname, *dname; /* rdata, in the list */
    bool has_other;
};

/* May a type stand beside a CNAME? Those that sign do: RFC 4035 2.5, RFC 2535 2.3.5. */
static bool is_beside_alias(uint16_t type)
{
    return type == TYPE_SIG || type == TYPE_KEY || type == TYPE_NXT || type == TYPE_RRSIG ||
           type == TYPE_NSEC;
}

static const char *key_of(const uint8_t *owner, char text[NAME_TEXT_MAX])
{
    uint8_t lower[NAME_MAX_LEN];
    name_lower(owner, lower);
    return name_to_text(lower, text);
}

/* The names that are aliases; most zones have few. */
static void collect(const struct rrlist *rrs, struct map *aliases, struct alias *room)
{
    struct zone_rr rr;
    char text[NAME_TEXT_MAX];
    for (size_t at = 0; rrlist_next(rrs, &at, &rr);)
        if (rr.type == DNS_CNAME || rr.type == DNS_DNAME)
            map_set(aliases, key_of(rr.owner, text), room++);
}

/* Note a record that leads elsewhere. @return false: there is another one already. */
static bool note_target(const uint8_t **first, const uint8_t *rdata)
{
    bool is_same = !*first || name_equal(*first, rdata); /* the same record twice is one: RFC 2181 5 */
    *first = *first ? *first : rdata;
    return is_same;
}

static const char *note(struct alias *a, const struct zone_rr *rr, const uint8_t *apex)
{
    if (is_beside_alias(rr->type))
        return NULL;
    if (rr->type == DNS_CNAME && name_equal(rr->owner, apex))
        return "the apex of a zone has SOA and NS, so it is no CNAME (RFC 1034 3.6.2)";
    if (rr->type == DNS_CNAME && !note_target(&a->cname, rr->rdata))
        return "a name has one CNAME (RFC 2181 10.1)";
    if (rr->type == DNS_DNAME && !note_target(&a->dname, rr->rdata))
        return "a name has one DNAME (RFC 6672 2.4)";
    a->has_other |= rr->type != DNS_CNAME;
    return a->cname && a->has_other ? "a name with a CNAME has no other records (RFC 1034 3.6.2)" : NULL;
}

const char *conflict_find(const struct rrlist *rrs, const uint8_t *apex, size_t *index)
{
    struct map aliases = MAP_EMPTY;
    struct zone_rr rr;
    char text[NAME_TEXT_MAX];
    const char *what = NULL;
    size_t n = 0, i = 0;
    for (size_t at = 0; rrlist_next(rrs, &at, &rr);)
        n += rr.type == DNS_CNAME || rr.type == DNS_DNAME;
    if (!n)
        return NULL;
    mem_auto struct alias *room = mem_array(n, sizeof *room);
    collect(rrs, &aliases, room);
    for (size_t at = 0; !what && rrlist_next(rrs, &at, &rr); i++) {
        struct alias *a = map_get(&aliases, key_of(rr.owner, text));
        what = a ? note(a, &rr, apex) : NULL;
    }
    *index = i - 1;
    map_fini(&aliases, NULL);
    return what;
}
