/* What the zones hold of a record that comes, changes and goes. */
#include "zone_kit.h"

#include "base/mem.h"
#include "bobbin/record.h"
#include "follow/records.h"

enum { TTL_S = 30 };

struct bed {
    struct run_loop *loop;
    struct zoneset *zones;
    struct records *records;
    uint8_t domain[NAME_MAX_LEN];
    uint64_t n_rrs; /* of the zone without any record */
};

static uint64_t n_rrs(const struct bed *b)
{
    struct zone_info info;
    zone_version_info(zoneset_current(b->zones), 0, &info);
    return info.n_rrs;
}

static void add_zone(struct bed *b, const char *name)
{
    assert_true(zoneset_add_zone(b->zones, kit_name(name), ZONE_REGISTRY, 1) >= 0);
    struct zone_tx *tx = zone_tx_begin(b->zones);
    kit_add(tx, name, DNS_SOA, 60, "ns.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static void on_host_changed(void *arg, const char *host)
{
    (void)arg;
    fail_msg("no record names a host, but %s has changed", host);
}

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->loop = run_loop_new();
    b->zones = zoneset_new(NULL);
    memcpy(b->domain, kit_name("dev.test"), NAME_MAX_LEN);
    add_zone(b, "dev.test");
    struct records_def def = {.loop = b->loop,
                              .zones = b->zones,
                              .map = {.domain = b->domain, .ttl_s = TTL_S},
                              .host_refresh_ms = 1000,
                              .host_changed = on_host_changed};
    b->records = records_new(&def);
    b->n_rrs = n_rrs(b);
    *state = b;
    return 0;
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    records_free(b->records);
    run_loop_free(b->loop);
    zoneset_free(b->zones);
    free(b);
    return 0;
}

/* As map_pack and packed_new make it. */
static struct packed *pack(struct bed *b, const char *path, const char *json)
{
    struct err_info why;
    struct reg_record *record = NULL;
    size_t len = 0;
    assert_int_equal(reg_record_read(json, strlen(json), REG_STRICT, &record, &why), 0);
    mem_auto char *block = map_pack(record, &len);
    assert_non_null(block);
    reg_record_free(record);
    return packed_new(records_prefixes(b->records), path, block, len);
}

static struct packed *container(struct bed *b, const char *path, const char *ip, bool is_ready)
{
    mem_auto char *json =
        mem_fmt("{\"type\":\"JSONServiceRecord\",\"description\":\"w\",\"yarn:persistence\":\"container\","
                "\"yarn:ip\":\"%s\",\"yarn:component\":\"c\"%s}",
                ip, is_ready ? "" : ",\"bobbin:ready\":\"false\"");
    return pack(b, path, json);
}

/* In a version of its own. */
static void replace(struct bed *b, const char *path, struct packed *take_new)
{
    struct zone_tx *tx = zone_tx_begin(b->zones);
    records_replace(b->records, tx, records_get(b->records, path), take_new);
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static unsigned n_at(const struct bed *b, const char *name, uint16_t type)
{
    return kit_count(zoneset_current(b->zones), name, type);
}

#define DIR "/users/a/services/k/s/components/"
#define X   DIR "x"
#define Y   DIR "y"

static void a_record_comes_and_leaves_nothing(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", true));
    assert_int_equal(n_at(b, "x.dev.test", DNS_A), 1);
    assert_int_equal(n_at(b, "w.s.a.dev.test", DNS_A), 1);
    assert_int_equal(n_at(b, "c.s.a.dev.test", DNS_A), 1);
    assert_int_equal(records_counts(b->records)->n_named, 1);
    assert_int_equal(records_set(b->records)->n_items, 1);
    replace(b, X, NULL);
    assert_int_equal(n_rrs(b), b->n_rrs);
    assert_int_equal(records_counts(b->records)->n_named, 0);
    assert_null(records_get(b->records, X));
}

static void a_change_is_the_difference(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", true));
    uint64_t n = n_rrs(b);
    replace(b, X, container(b, X, "2001:db8::1", true));
    assert_int_equal(n_at(b, "x.dev.test", DNS_A), 0);
    assert_int_equal(n_at(b, "x.dev.test", DNS_AAAA), 1);
    assert_int_equal(n_rrs(b), n);
    assert_int_equal(records_counts(b->records)->n_named, 1);
    uint64_t version = zone_version_number(zoneset_current(b->zones));
    struct zone_tx *tx = zone_tx_begin(b->zones);
    records_replace(b->records, tx, records_get(b->records, X), container(b, X, "2001:db8::1", true));
    assert_int_equal(zone_tx_n_edits(tx), 0); /* the same again */
    zone_tx_abort(tx);
    assert_int_equal(zone_version_number(zoneset_current(b->zones)), version);
}

/** What became of an address at the component's name. */
static enum shared_state at_component(const struct bed *b, uint8_t last, bool is_ready)
{
    const uint8_t ip[4] = {10, 0, 0, last};
    struct zone_rr rr = {kit_name("c.s.a.dev.test"), DNS_A, 30, ip, 4};
    return records_shared_state(b->records, &rr, is_ready);
}

/** One that is not ready is left out at the shared name, unless it is the last. */
static void containers_share_the_name_of_their_component(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", false));
    assert_int_equal(n_at(b, "c.s.a.dev.test", DNS_A), 1);
    assert_int_equal(at_component(b, 1, false), SHARED_VISIBLE);
    replace(b, Y, container(b, Y, "10.0.0.2", true));
    assert_int_equal(n_at(b, "c.s.a.dev.test", DNS_A), 1);
    assert_int_equal(at_component(b, 1, false), SHARED_NOT_READY);
    replace(b, X, container(b, X, "10.0.0.1", true));
    assert_int_equal(n_at(b, "c.s.a.dev.test", DNS_A), 2);
    replace(b, X, NULL);
    replace(b, Y, NULL);
    assert_int_equal(n_rrs(b), b->n_rrs);
}

static void only_records_with_names_are_removals(void **state)
{
    struct bed *b = *state;
    struct packed *named = container(b, X, "10.0.0.1", true);
    struct packed *nameless = pack(b, X, "{\"type\":\"JSONServiceRecord\",\"description\":\"w\"}");
    assert_true(records_is_removal(named, NULL));
    assert_true(records_is_removal(named, nameless));
    assert_false(records_is_removal(named, named));
    assert_false(records_is_removal(nameless, NULL));
    assert_false(records_is_removal(NULL, NULL));
    assert_false(records_is_removal(NULL, named));
    replace(b, X, nameless);
    assert_int_equal(records_counts(b->records)->n_named, 0);
    assert_int_equal(records_counts(b->records)->n_nameless, 1);
    replace(b, X, named);
    assert_int_equal(records_counts(b->records)->n_named, 1);
    assert_int_equal(records_counts(b->records)->n_nameless, 0);
}

/** A PTR needs a reverse zone; the other names do not wait for it. */
static void an_rr_that_no_zone_covers_is_counted(void **state)
{
    struct bed *b = *state;
    struct packed *k =
        pack(b, X,
             "{\"type\":\"JSONServiceRecord\",\"description\":\"w\",\"yarn:persistence\":\"container\","
             "\"yarn:ip\":\"10.0.0.1\",\"yarn:hostname\":\"h\",\"yarn:component\":\"c\"}");
    replace(b, X, k);
    assert_int_equal(records_counts(b->records)->n_unzoned, 1);
    assert_int_equal(n_at(b, "w.s.a.dev.test", DNS_A), 1);
}

static void declare_zone_below(struct bed *b)
{
    uint32_t cursor = 0;
    add_zone(b, "s.a.dev.test");
    struct records_move move = {1, 0, 1};
    struct zone_tx *tx = zone_tx_begin(b->zones);
    while (records_rezone_part(b->records, tx, &move, &cursor))
        continue;
    zone_tx_commit(tx, ZONE_READY, NULL);
}

/** A zone is declared below the one that holds the names: those within it move, the others stay. */
static void names_within_a_new_zone_move_to_it(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", true));
    uint64_t before = n_rrs(b);
    declare_zone_below(b);
    assert_int_equal(n_at(b, "w.s.a.dev.test", DNS_A), 1);
    assert_int_equal(n_at(b, "c.s.a.dev.test", DNS_A), 1);
    assert_int_equal(n_at(b, "x.dev.test", DNS_A), 1);
    assert_true(n_rrs(b) <= before - 2);
    replace(b, X, NULL); /* from where they are now */
    assert_int_equal(n_at(b, "w.s.a.dev.test", DNS_A), 0);
    assert_int_equal(n_rrs(b), b->n_rrs);
}

static void hold(struct bed *b, const char *path)
{
    struct zone_tx *tx = zone_tx_begin(b->zones);
    records_hold(b->records, tx, records_get(b->records, path));
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static bool is_held(const struct bed *b, const char *name)
{
    return zone_node_is_held(kit_find(zoneset_current(b->zones), name).node);
}

/** A shared name is held as long as one of its records is; a record is so until it is replaced, by the same one even. */
static void names_of_a_held_record_are_marked(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", true));
    replace(b, Y, container(b, Y, "10.0.0.2", true));
    assert_false(is_held(b, "x.dev.test"));
    hold(b, X);
    hold(b, X);
    assert_true(is_held(b, "x.dev.test") && is_held(b, "c.s.a.dev.test"));
    assert_false(is_held(b, "y.dev.test"));
    hold(b, Y);
    replace(b, X, container(b, X, "10.0.0.1", true));
    assert_false(is_held(b, "x.dev.test"));
    assert_true(is_held(b, "y.dev.test") && is_held(b, "c.s.a.dev.test"));
    replace(b, Y, container(b, Y, "10.0.0.3", true));
    assert_false(is_held(b, "y.dev.test") || is_held(b, "c.s.a.dev.test"));
    hold(b, X);
    replace(b, X, NULL);
    assert_false(is_held(b, "c.s.a.dev.test"));
    replace(b, Y, NULL);
    assert_int_equal(n_rrs(b), b->n_rrs);
}

/** The mark moves to a new zone with the names that it covers. */
static void marks_of_held_names_move_to_a_new_zone(void **state)
{
    struct bed *b = *state;
    replace(b, X, container(b, X, "10.0.0.1", true));
    hold(b, X);
    declare_zone_below(b);
    assert_true(is_held(b, "w.s.a.dev.test") && is_held(b, "c.s.a.dev.test") && is_held(b, "x.dev.test"));
    replace(b, X, container(b, X, "10.0.0.2", true));
    assert_false(is_held(b, "w.s.a.dev.test") || is_held(b, "c.s.a.dev.test") || is_held(b, "x.dev.test"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_comes_and_leaves_nothing, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_change_is_the_difference, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(containers_share_the_name_of_their_component, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(only_records_with_names_are_removals, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(an_rr_that_no_zone_covers_is_counted, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(names_within_a_new_zone_move_to_it, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(names_of_a_held_record_are_marked, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(marks_of_held_names_move_to_a_new_zone, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
