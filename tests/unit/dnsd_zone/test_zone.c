/* Zones: what the writer changes and what readers find. */
#include "zone_kit.h"

#include "bobbin/error.h"

static struct zoneset *set;

static int setup(void **state)
{
    (void)state;
    set = zoneset_new(&(struct zoneset_options){.hash_seed = 42});
    assert_int_equal(zoneset_add_zone(set, kit_name("Dev.test"), ZONE_REGISTRY, 5), 0);
    assert_int_equal(zoneset_add_zone(set, kit_name("sub.dev.test"), ZONE_FILE, 1), 1);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "sub.dev.test", DNS_SOA, 60, "ns.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zoneset_free(set);
    return 0;
}

static enum zone_match match(const char *name)
{
    return kit_find(zoneset_current(set), name).match;
}

static unsigned count(const char *name, uint16_t type)
{
    return kit_count(zoneset_current(set), name, type);
}

static uint32_t ttl(const char *name, uint16_t type)
{
    struct wire_set found;
    assert_true(zone_node_set(kit_find(zoneset_current(set), name).node, type, &found));
    return wire_get32(found.wire + 6);
}

static uint32_t serial(unsigned zone)
{
    struct zone_info info;
    zone_version_info(zoneset_current(set), zone, &info);
    struct wire_set soa;
    struct zone_hit hit = kit_find(zoneset_current(set), zone ? "sub.dev.test" : "dev.test");
    assert_true(zone_node_set(hit.node, DNS_SOA, &soa));
    assert_int_equal(wire_get32(soa.wire + soa.len - 20), info.serial);
    return info.serial;
}

static void longest_suffix_picks_the_zone(void **state)
{
    (void)state;
    assert_int_equal(match("example.com"), ZONE_OUTSIDE);
    assert_int_equal(match("test"), ZONE_OUTSIDE);
    assert_int_equal(match("xdev.test"), ZONE_OUTSIDE);
    assert_int_equal(match("dev.test"), ZONE_EXACT);
    assert_int_equal(match("x.dev.test"), ZONE_MISSING);
    struct zone_hit hit = kit_find(zoneset_current(set), "a.b.sub.dev.test");
    assert_int_equal(hit.apex_label, 2);
    assert_true(name_equal(zone_apex(hit.zone), kit_name("sub.dev.test")));
    assert_int_equal(zoneset_zone(set, kit_name("SUB.dev.test")), 1);
    assert_int_equal(zoneset_zone(set, kit_name("test")), ERR_NOTFOUND);
    assert_int_equal(zoneset_add_zone(set, kit_name("DEV.TEST"), ZONE_FILE, 1), ERR_EXISTS);
}

static void a_record_stays_until_all_gave_it_back(void **state)
{
    (void)state;
    struct zone_commit done;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "c.s.dev.test", DNS_A, 30, "10.0.0.1");
    kit_add(tx, "c.s.dev.test", DNS_A, 30, "10.0.0.1");
    kit_add(tx, "c.s.dev.test", DNS_A, 30, "10.0.0.2");
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(done.n_added, 2);
    assert_int_equal(count("c.s.dev.test", DNS_A), 2);
    uint32_t before = serial(0);
    tx = zone_tx_begin(set);
    kit_remove(tx, "c.s.dev.test", DNS_A, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(done.n_removed + done.n_missing, 0);
    assert_int_equal(count("c.s.dev.test", DNS_A), 2);
    assert_int_equal(serial(0), before); /* nobody can see it */
    tx = zone_tx_begin(set);
    kit_remove(tx, "c.s.dev.test", DNS_A, "10.0.0.1");
    kit_remove(tx, "c.s.dev.test", DNS_A, "10.0.0.9");
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(done.n_removed, 1);
    assert_int_equal(done.n_missing, 1);
    assert_int_equal(count("c.s.dev.test", DNS_A), 1);
    assert_int_equal(serial(0), before + 1);
    tx = zone_tx_begin(set);
    kit_remove(tx, "c.s.dev.test", DNS_A, "10.0.0.2");
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(match("c.s.dev.test"), ZONE_MISSING);
    assert_int_equal(match("s.dev.test"), ZONE_MISSING);
}

static void lowest_ttl_wins_for_the_set(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "h.dev.test", DNS_A, 1800, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(ttl("h.dev.test", DNS_A), 1800);
    tx = zone_tx_begin(set);
    kit_add(tx, "h.dev.test", DNS_A, 1, "10.0.0.2");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(ttl("h.dev.test", DNS_A), 1);
    uint32_t before = serial(0);
    tx = zone_tx_begin(set);
    kit_remove(tx, "h.dev.test", DNS_A, "10.0.0.2");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(ttl("h.dev.test", DNS_A), 1800);
    assert_int_equal(serial(0), before + 1);
}

static void empty_names_live_as_long_as_names_below(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "a.b.c.dev.test", DNS_A, 1, "10.0.0.1");
    kit_add(tx, "x.c.dev.test", DNS_A, 1, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("b.c.dev.test"), ZONE_EXACT);
    assert_int_equal(match("c.dev.test"), ZONE_EXACT);
    assert_int_equal(count("c.dev.test", DNS_A), 0);
    struct zone_info info;
    zone_version_info(zoneset_current(set), 0, &info);
    assert_int_equal(info.n_nodes, 5); /* apex, c, b.c, a.b.c, x.c */
    assert_int_equal(info.n_rrs, 3);
    tx = zone_tx_begin(set);
    kit_remove(tx, "a.b.c.dev.test", DNS_A, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("b.c.dev.test"), ZONE_MISSING);
    assert_int_equal(match("c.dev.test"), ZONE_EXACT);
    zone_version_info(zoneset_current(set), 0, &info);
    assert_int_equal(info.n_nodes, 3);
}

static void wildcards_stop_at_the_closest_encloser(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "*.w.sub.dev.test", DNS_A, 1, "10.0.0.1");
    kit_add(tx, "x.e.w.sub.dev.test", DNS_A, 1, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("any.w.sub.dev.test"), ZONE_WILDCARD);
    assert_int_equal(match("far.any.w.sub.dev.test"), ZONE_WILDCARD);
    assert_int_equal(match("y.e.w.sub.dev.test"), ZONE_MISSING);
    assert_int_equal(match("e.w.sub.dev.test"), ZONE_EXACT);
    assert_int_equal(match("*.w.sub.dev.test"), ZONE_EXACT);
    assert_int_equal(match("w.sub.dev.test"), ZONE_EXACT);
    assert_int_equal(kit_find(zoneset_current(set), "q.r.s.e.w.sub.dev.test").label, 3);
}

static void cuts_hide_what_is_below(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "cut.sub.dev.test", DNS_NS, 1, "ns.cut.sub.dev.test");
    kit_add(tx, "ns.cut.sub.dev.test", DNS_A, 1, "10.0.0.1");
    kit_add(tx, "d.sub.dev.test", DNS_DNAME, 1, "e.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("cut.sub.dev.test"), ZONE_CUT);
    assert_int_equal(match("ns.cut.sub.dev.test"), ZONE_CUT);
    assert_int_equal(kit_find(zoneset_current(set), "a.b.cut.sub.dev.test").label, 2);
    assert_int_equal(match("x.d.sub.dev.test"), ZONE_DNAME);
    assert_int_equal(match("d.sub.dev.test"), ZONE_EXACT);
    assert_int_equal(match("cut2.sub.dev.test"), ZONE_MISSING);
    tx = zone_tx_begin(set);
    kit_remove(tx, "cut.sub.dev.test", DNS_NS, "ns.cut.sub.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("ns.cut.sub.dev.test"), ZONE_EXACT);
}

static void old_versions_do_not_change(void **state)
{
    (void)state;
    char name[64];
    struct zone_tx *tx = zone_tx_begin(set);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "h%d.dev.test", i);
        kit_add(tx, name, DNS_A, 1, "10.0.0.1");
    }
    zone_tx_commit(tx, ZONE_READY, NULL);
    const struct zone_version *old = zoneset_current(set);
    for (int i = 0; i < 500; i++) {
        tx = zone_tx_begin(set);
        snprintf(name, sizeof name, "h%d.dev.test", i);
        kit_remove(tx, name, DNS_A, "10.0.0.1");
        snprintf(name, sizeof name, "g%d.dev.test", i);
        kit_add(tx, name, DNS_A, 1, "10.0.0.2");
        zone_tx_commit(tx, ZONE_READY, NULL);
    }
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "h%d.dev.test", i);
        assert_int_equal(kit_count(old, name, DNS_A), 1);
        assert_int_equal(count(name, DNS_A), 0);
        snprintf(name, sizeof name, "g%d.dev.test", i);
        assert_int_equal(kit_count(old, name, DNS_A), 0);
        assert_int_equal(count(name, DNS_A), 1);
    }
    struct zoneset_memory before, after;
    zoneset_memory(set, &before);
    assert_int_equal(zoneset_reclaim(set, zone_version_number(old)) > 0, 1);
    assert_int_equal(kit_count(old, "h77.dev.test", DNS_A), 1);
    zoneset_reclaim(set, UINT64_MAX);
    zoneset_memory(set, &after);
    assert_true(before.waiting_bytes > 0);
    assert_int_equal(after.waiting_bytes, 0);
    assert_int_equal(after.version_bytes, before.version_bytes);
}

/** h0.dev.test and so on. */
static void fill(int n)
{
    char name[64];
    struct zone_tx *tx = zone_tx_begin(set);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d.dev.test", i);
        kit_add(tx, name, DNS_A, 1, "10.0.0.1");
    }
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static bool may_publish(void *owner, const struct zone_version *next)
{
    (void)next;
    return *(bool *)owner;
}

static void give(const char *ip, unsigned flags)
{
    static const char *last;
    struct zone_tx *tx = zone_tx_begin(set);
    if (last && kit_count(zoneset_newest(set), "moving.dev.test", DNS_A))
        kit_remove(tx, "moving.dev.test", DNS_A, last);
    kit_add(tx, "moving.dev.test", DNS_A, 1, ip);
    zone_tx_commit(tx, flags, NULL);
    last = ip;
}

static void a_gate_keeps_readers_at_a_version(void **state)
{
    (void)state;
    bool is_open = false;
    struct zoneset_memory first, last;
    struct zone_gate gate = {may_publish, &is_open};
    fill(2000);
    const struct zone_version *seen = zoneset_current(set);
    uint32_t seen_serial = serial(0);
    zoneset_gate(set, &gate);
    give("10.9.0.1", ZONE_READY);
    zoneset_memory(set, &first);
    for (int i = 0; i < 500; i++)
        give(i % 2 ? "10.9.0.1" : "10.9.0.2", ZONE_READY | ZONE_STALE);
    assert_true(zoneset_is_frozen(set));
    assert_ptr_equal(zoneset_current(set), seen);
    assert_int_equal(serial(0), seen_serial);
    assert_int_equal(count("moving.dev.test", DNS_A), 0);
    assert_int_equal(kit_count(zoneset_newest(set), "moving.dev.test", DNS_A), 1);
    assert_int_equal(zone_version_flags(seen),
                     ZONE_READY | ZONE_STALE); /* whoever waits for a disk may say so */
    zoneset_memory(set, &last);
    assert_true(last.waiting_bytes + last.version_bytes <
                (first.waiting_bytes + first.version_bytes) * 5 / 4);
    zoneset_reclaim(set, UINT64_MAX); /* not what is current */
    assert_int_equal(count("h7.dev.test", DNS_A), 1);
    assert_false(zoneset_publish(set));
    is_open = true;
    assert_true(zoneset_publish(set));
    assert_false(zoneset_is_frozen(set));
    assert_int_equal(count("moving.dev.test", DNS_A), 1);
    assert_int_equal(serial(0), seen_serial + 501);
    zoneset_reclaim(set, UINT64_MAX);
    zoneset_memory(set, &last);
    assert_int_equal(last.waiting_bytes, 0);
}

static void a_frozen_version_that_is_not_ready_stays_so(void **state)
{
    (void)state;
    bool is_open = false;
    struct zone_gate gate = {may_publish, &is_open};
    zone_tx_commit(zone_tx_begin(set), 0, NULL);
    zoneset_gate(set, &gate);
    give("10.9.0.1", ZONE_READY);
    assert_int_equal(zone_version_flags(zoneset_current(set)), 0);
    is_open = true;
    give("10.9.0.2", ZONE_READY);
    assert_int_equal(zone_version_flags(zoneset_current(set)), ZONE_READY);
}

/* What is left when the set ends in between is released, too. */
static void a_frozen_set_can_end(void **state)
{
    (void)state;
    bool is_open = false;
    struct zone_gate gate = {may_publish, &is_open};
    fill(200);
    zoneset_gate(set, &gate);
    give("10.9.0.1", ZONE_READY);
    give("10.9.0.2", ZONE_READY);
    assert_int_equal(zoneset_add_zone(set, kit_name("more.test"), ZONE_FILE, 1), 2);
    assert_int_equal(zone_version_zone(zoneset_current(set), kit_name("more.test")), ERR_NOTFOUND);
    assert_int_equal(zone_version_zone(zoneset_newest(set), kit_name("more.test")), 2);
}

static void abort_and_empty_commits_leave_no_trace(void **state)
{
    (void)state;
    struct zone_commit done;
    uint64_t number = zone_version_number(zoneset_current(set));
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "x.dev.test", DNS_A, 1, "10.0.0.1");
    zone_tx_abort(tx);
    assert_int_equal(match("x.dev.test"), ZONE_MISSING);
    zone_tx_commit(zone_tx_begin(set), ZONE_READY, &done);
    assert_int_equal(done.version, number);
    zone_tx_commit(zone_tx_begin(set), ZONE_READY | ZONE_STALE, &done);
    assert_int_equal(done.version, number + 1);
    assert_int_equal(zone_version_flags(zoneset_current(set)), ZONE_READY | ZONE_STALE);
    assert_int_equal(done.n_zones, 0);
}

static void serials_move_by_zone_and_wrap(void **state)
{
    (void)state;
    uint32_t first = serial(0), other = serial(1);
    assert_int_equal(first, 5);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "x.dev.test", DNS_A, 1, "10.0.0.1");
    kit_add(tx, "y.dev.test", DNS_A, 1, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(serial(0), first + 1);
    assert_int_equal(serial(1), other);
    assert_int_equal(zoneset_add_zone(set, kit_name("wrap"), ZONE_FILE, UINT32_MAX), 2);
    for (int i = 0; i < 2; i++) {
        tx = zone_tx_begin(set);
        kit_add(tx, "wrap", DNS_TXT, 1, i ? "second" : "first");
        zone_tx_commit(tx, ZONE_READY, NULL);
    }
    struct zone_info info;
    zone_version_info(zoneset_current(set), 2, &info);
    assert_int_equal(info.serial, 0);
}

static void soa_is_one_and_can_be_replaced(void **state)
{
    (void)state;
    uint32_t before = serial(0);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(serial(0), before);
    tx = zone_tx_begin(set);
    kit_remove(tx, "dev.test", DNS_SOA, "ns.dev.test");
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns2.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(count("dev.test", DNS_SOA), 1);
    assert_int_equal(serial(0), before + 1);
}

/** A SOA that differs in its serial only is the same: the served one stays, even where the node is written anew. */
static void the_serial_of_a_given_soa_is_not_served(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_TXT, 60, "t");
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    uint32_t before = serial(0);
    tx = zone_tx_begin(set);
    kit_remove(tx, "dev.test", DNS_TXT, "t");
    kit_remove(tx, "dev.test", DNS_SOA, "ns.dev.test");
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "dev.test", DNS_TXT, 60, "t");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(serial(0), before);
}

static unsigned n_hidden;

static void on_alias(void *owner, const uint8_t *name, bool is_hidden)
{
    (void)owner;
    assert_true(name_equal(name, kit_name("www.dev.test")));
    n_hidden += is_hidden ? 1u : -1u;
}

/** A CNAME beside other records is hidden, whichever comes first, and comes back. */
static void an_alias_gives_way_to_records(void **state)
{
    (void)state;
    struct zoneset *plain = set;
    struct zoneset_options opts = {.aliases = {on_alias, NULL}};
    set = zoneset_new(&opts);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 5), 0);
    static const struct {
        bool is_alias, is_add;
        unsigned n_alias, n_a;
    } steps[] = {{true, true, 1, 0},
                 {false, true, 0, 1},
                 {true, false, 0, 1},
                 {true, true, 0, 1},
                 {false, false, 1, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct zone_tx *tx = zone_tx_begin(set);
        uint16_t type = steps[i].is_alias ? DNS_CNAME : DNS_A;
        const char *rdata = steps[i].is_alias ? "x.dev.test" : "10.0.0.1";
        if (steps[i].is_add)
            kit_add(tx, "www.dev.test", type, 60, rdata);
        else
            kit_remove(tx, "www.dev.test", type, rdata);
        zone_tx_commit(tx, ZONE_READY, NULL);
        assert_int_equal(count("www.dev.test", DNS_CNAME), steps[i].n_alias);
        assert_int_equal(count("www.dev.test", DNS_A), steps[i].n_a);
    }
    assert_int_equal(n_hidden, 0);
    zoneset_free(set);
    set = plain;
}

static bool is_held(const char *name)
{
    struct zone_hit hit = kit_find(zoneset_current(set), name);
    return hit.match == ZONE_EXACT && zone_node_is_held(hit.node);
}

/** Marks of held names are not part of the records: they stay over a change, and go with the last record. */
static void a_held_name_is_marked_while_it_has_records(void **state)
{
    (void)state;
    enum { NOTHING, HOLD, FREE, ADD, REMOVE };
    static const struct {
        int edits[3];
        bool is_held;
        uint32_t n_zones; /* whose serial rises */
    } steps[] = {{{HOLD}, false, 0},  {{ADD, HOLD}, true, 1},
                 {{HOLD}, true, 0},   {{FREE}, false, 0},
                 {{HOLD}, true, 0},   {{REMOVE, ADD, ADD}, true, 0},
                 {{REMOVE}, true, 0}, {{FREE, REMOVE, ADD}, false, 0},
                 {{HOLD}, true, 0},   {{REMOVE}, false, 1},
                 {{ADD}, false, 1},   {{REMOVE}, false, 1}};
    assert_int_equal(zoneset_add_zone(set, kit_name("held.test"), ZONE_REGISTRY, 5), 2);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct zone_tx *tx = zone_tx_begin(set);
        struct zone_commit done;
        for (size_t k = 0; k < 3 && steps[i].edits[k]; k++) {
            int edit = steps[i].edits[k];
            if (edit == ADD)
                kit_add(tx, "www.held.test", DNS_A, 60, "10.0.0.1");
            else if (edit == REMOVE)
                kit_remove(tx, "www.held.test", DNS_A, "10.0.0.1");
            else
                assert_int_equal(zone_tx_hold(tx, ZONE_BY_NAME, kit_name("WWW.held.test"), edit == HOLD), 0);
        }
        zone_tx_commit(tx, ZONE_READY, &done);
        assert_int_equal(is_held("www.held.test"), steps[i].is_held);
        assert_int_equal(done.n_zones, steps[i].n_zones);
    }
    struct zone_tx *tx = zone_tx_begin(set);
    assert_int_equal(zone_tx_hold(tx, ZONE_BY_NAME, kit_name("elsewhere.example"), true), ERR_NOTFOUND);
    zone_tx_abort(tx);
}

/** A jump of nearly half the space is none: the next change would go back for who has seen the serial before it (RFC 1982). */
static void a_serial_rises_by_less_than_half_the_space(void **state)
{
    (void)state;
    assert_true(zone_serial_rises(5, 6) && zone_serial_rises(UINT32_MAX, 0) &&
                zone_serial_rises(7, 7 + (1u << 30)));
    assert_false(zone_serial_rises(5, 5) || zone_serial_rises(6, 5) || zone_serial_rises(5, 5 + (1u << 31)) ||
                 zone_serial_rises(5, 4 + (1u << 31)));
}

static void bad_records_are_refused(void **state)
{
    (void)state;
    struct kit_rr k;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_rr(&k, "x.example.com", DNS_A, 1, "10.0.0.1");
    assert_int_equal(zone_tx_add(tx, ZONE_BY_NAME, &k.rr), ERR_NOTFOUND);
    kit_rr(&k, "x.dev.test", DNS_A, 1, "10.0.0.1");
    assert_int_equal(zone_tx_add(tx, 1, &k.rr), ERR_NOTFOUND);
    assert_int_equal(zone_tx_add(tx, 77, &k.rr), ERR_NOTFOUND);
    k.rr.rdlen = 5;
    assert_int_equal(zone_tx_add(tx, ZONE_BY_NAME, &k.rr), ERR_PARSE);
    kit_rr(&k, "x.dev.test", DNS_A, 0x80000000u, "10.0.0.1");
    assert_int_equal(zone_tx_add(tx, ZONE_BY_NAME, &k.rr), ERR_PARSE);
    kit_rr(&k, "x.dev.test", DNS_AXFR, 1, "x");
    assert_int_equal(zone_tx_add(tx, ZONE_BY_NAME, &k.rr), ERR_PARSE);
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_int_equal(match("x.dev.test"), ZONE_MISSING);
}

static int count_record(void *owner, const struct zone_rr *rr)
{
    unsigned *n = owner;
    if (*n == 0)
        assert_int_equal(rr->type, DNS_SOA);
    return ++*n == 0;
}

/** More operations than a transaction keeps, with many shards, against simple counting. */
static void many_names_in_one_transaction(void **state)
{
    (void)state;
    enum { N = 30000 };
    char name[64];
    struct zone_commit done;
    struct zone_tx *tx = zone_tx_begin(set);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "i%d.s%d.dev.test", i, i % 100);
        kit_add(tx, name, DNS_A, 1, "10.0.0.1");
        kit_add(tx, name, DNS_TXT, 1, name);
        snprintf(name, sizeof name, "c.s%d.dev.test", i % 100);
        char address[32];
        snprintf(address, sizeof address, "10.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
        kit_add(tx, name, DNS_A, 1, address);
    }
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(done.n_added, 3 * N);
    assert_int_equal(done.n_zones, 1);
    struct zone_info info;
    zone_version_info(zoneset_current(set), 0, &info);
    assert_int_equal(info.n_nodes, N + 201);
    assert_int_equal(info.n_rrs, 3 * N + 1);
    assert_int_equal(count("c.s7.dev.test", DNS_A), N / 100);
    unsigned n_dumped = 0;
    struct zone_visitor visitor = {count_record, &n_dumped};
    assert_int_equal(zone_dump(zoneset_current(set), 0, &visitor), 0);
    assert_int_equal(n_dumped, 3 * N + 1);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "I%d.s%d.DEV.test", i, i % 100);
        assert_int_equal(count(name, DNS_A), 1);
    }
    tx = zone_tx_begin(set);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "i%d.s%d.dev.test", i, i % 100);
        kit_remove(tx, name, DNS_A, "10.0.0.1");
        kit_remove(tx, name, DNS_TXT, name);
        snprintf(name, sizeof name, "c.s%d.dev.test", i % 100);
        char address[32];
        snprintf(address, sizeof address, "10.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
        kit_remove(tx, name, DNS_A, address);
    }
    zone_tx_commit(tx, ZONE_READY, &done);
    assert_int_equal(done.n_removed, 3 * N);
    zone_version_info(zoneset_current(set), 0, &info);
    assert_int_equal(info.n_nodes, 1);
}

static void aborting_a_large_transaction(void **state)
{
    (void)state;
    char name[64];
    struct zone_tx *tx = zone_tx_begin(set);
    for (int i = 0; i < 70000; i++) {
        snprintf(name, sizeof name, "i%d.dev.test", i);
        kit_add(tx, name, DNS_A, 1, "10.0.0.1");
    }
    zone_tx_abort(tx);
    struct zone_info info;
    zone_version_info(zoneset_current(set), 0, &info);
    assert_int_equal(info.n_nodes, 1);
    assert_int_equal(match("i1.dev.test"), ZONE_MISSING);
}

static void note_change(void *owner, unsigned zone, bool is_gain, const struct zone_rr *rr)
{
    char *text = owner, name[NAME_TEXT_MAX], type[16];
    name_to_text(rr->owner, name);
    sprintf(text + strlen(text), "%u %c %s %u %s %u\n", zone, is_gain ? '+' : '-', name, rr->ttl_s,
            dns_type_text(rr->type, type), rr->rdata[3]);
}

static void a_watcher_is_notified_of_what_readers_see(void **state)
{
    (void)state;
    char changes[2000] = "";
    struct zoneset_options opts = {.watcher = {note_change, changes}};
    struct zoneset *watched = zoneset_new(&opts);
    assert_int_equal(zoneset_add_zone(watched, kit_name("dev.test"), ZONE_REGISTRY, 1), 0);
    struct zone_tx *tx = zone_tx_begin(watched);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "h.dev.test", DNS_A, 30, "10.0.0.1");
    kit_add(tx, "h.dev.test", DNS_A, 30, "10.0.0.1");
    kit_add(tx, "h.dev.test", DNS_A, 30, "10.0.0.2");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_string_equal(changes, "0 + h.dev.test. 30 A 1\n0 + h.dev.test. 30 A 2\n");
    changes[0] = 0;
    tx = zone_tx_begin(watched);
    kit_remove(tx, "h.dev.test", DNS_A, "10.0.0.1");
    kit_remove(tx, "h.dev.test", DNS_A, "10.0.0.2");
    kit_add(tx, "h.dev.test", DNS_A, 30, "10.0.0.3");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_string_equal(changes, "0 - h.dev.test. 30 A 2\n0 + h.dev.test. 30 A 3\n");
    changes[0] = 0;
    tx = zone_tx_begin(watched);
    kit_remove(tx, "h.dev.test", DNS_A, "10.0.0.3");
    kit_add(tx, "h.dev.test", DNS_A, 5, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    assert_string_equal(changes, "0 - h.dev.test. 30 A 1\n0 + h.dev.test. 5 A 1\n0 - h.dev.test. 30 A 3\n");
    zoneset_free(watched);
}

enum { MODEL_NAMES = 81, MODEL_VALUES = 4 };

/** A name of up to four labels a, b or *, below dev.test. */
static const char *model_name(unsigned n, char out[32])
{
    static const char *const labels[] = {"a.", "b.", "*."};
    out[0] = 0;
    for (unsigned left = n + 1; left; left = (left - 1) / 3)
        strcat(out, labels[(left - 1) % 3]);
    return strcat(out, "dev.test");
}

static bool model_has_below(unsigned counts[MODEL_NAMES][MODEL_VALUES], const char *name)
{
    char other[32];
    for (unsigned i = 0; i < MODEL_NAMES; i++)
        for (unsigned k = 0; k < MODEL_VALUES; k++)
            if (counts[i][k] && name_is_within(kit_name(model_name(i, other)), kit_name(name)))
                return true;
    return false;
}

static void model_change(struct zone_tx *tx, unsigned counts[MODEL_NAMES][MODEL_VALUES])
{
    char name[32], address[16];
    unsigned n = (unsigned)rand() % MODEL_NAMES, k = (unsigned)rand() % MODEL_VALUES;
    bool is_add = !counts[n][k] || rand() % 3 == 0;
    snprintf(address, sizeof address, "10.0.0.%u", k);
    if (is_add)
        kit_add(tx, model_name(n, name), DNS_A, 1, address);
    else
        kit_remove(tx, model_name(n, name), DNS_A, address);
    counts[n][k] += is_add ? 1u : UINT32_MAX;
}

/** Random changes, against a table of counters. */
static void any_history_ends_in_the_right_zone(void **state)
{
    (void)state;
    static unsigned counts[MODEL_NAMES][MODEL_VALUES];
    char name[32];
    srand(7);
    memset(counts, 0, sizeof counts);
    for (int round = 0; round < 300; round++) {
        struct zone_commit done;
        struct zone_tx *tx = zone_tx_begin(set);
        for (int i = rand() % 12; i >= 0; i--)
            model_change(tx, counts);
        zone_tx_commit(tx, ZONE_READY, &done);
        zoneset_reclaim(set, UINT64_MAX);
        assert_int_equal(done.n_missing, 0);
        for (unsigned n = 0; n < MODEL_NAMES; n++) {
            unsigned wanted = 0;
            for (unsigned k = 0; k < MODEL_VALUES; k++)
                wanted += counts[n][k] > 0;
            assert_int_equal(count(model_name(n, name), DNS_A), wanted);
            assert_int_equal(match(name) == ZONE_EXACT, model_has_below(counts, name));
        }
    }
}

/** A component of hundreds of instances: random arrivals, departures, shared addresses and TTLs. */
static void a_large_set_follows_its_members(void **state)
{
    (void)state;
    enum { N = 600 };
    static unsigned counts[N];
    char address[16];
    struct zone_commit done;
    srand(11);
    memset(counts, 0, sizeof counts);
    for (int round = 0; round < 2000; round++) {
        struct zone_tx *tx = zone_tx_begin(set);
        for (int i = round ? rand() % 3 : 400; i >= 0; i--) {
            unsigned n = (unsigned)rand() % N;
            bool is_add = !counts[n] || rand() % 20 == 0;
            snprintf(address, sizeof address, "10.0.%u.%u", n / 256, n % 256);
            if (is_add)
                kit_add(tx, "c.dev.test", DNS_A, rand() % 40 ? 30 : 20, address);
            else
                kit_remove(tx, "c.dev.test", DNS_A, address);
            counts[n] += is_add ? 1u : UINT32_MAX;
        }
        zone_tx_commit(tx, ZONE_READY, &done);
        zoneset_reclaim(set, UINT64_MAX);
        unsigned wanted = 0;
        for (unsigned n = 0; n < N; n++)
            wanted += counts[n] > 0;
        assert_int_equal(done.n_missing, 0);
        assert_int_equal(count("c.dev.test", DNS_A), wanted);
        struct zone_info info;
        zone_version_info(zoneset_current(set), 0, &info);
        assert_int_equal(info.n_rrs, wanted + 1);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(longest_suffix_picks_the_zone),
        CASE(a_record_stays_until_all_gave_it_back),
        CASE(lowest_ttl_wins_for_the_set),
        CASE(empty_names_live_as_long_as_names_below),
        CASE(wildcards_stop_at_the_closest_encloser),
        CASE(cuts_hide_what_is_below),
        CASE(old_versions_do_not_change),
        CASE(a_gate_keeps_readers_at_a_version),
        CASE(a_frozen_version_that_is_not_ready_stays_so),
        CASE(a_frozen_set_can_end),
        CASE(abort_and_empty_commits_leave_no_trace),
        CASE(serials_move_by_zone_and_wrap),
        CASE(soa_is_one_and_can_be_replaced),
        CASE(the_serial_of_a_given_soa_is_not_served),
        CASE(an_alias_gives_way_to_records),
        CASE(a_held_name_is_marked_while_it_has_records),
        CASE(a_serial_rises_by_less_than_half_the_space),
        CASE(bad_records_are_refused),
        CASE(many_names_in_one_transaction),
        CASE(aborting_a_large_transaction),
        CASE(a_watcher_is_notified_of_what_readers_see),
        CASE(any_history_ends_in_the_right_zone),
        CASE(a_large_set_follows_its_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
