/* A version as octets, and back; and what is no such thing. */
#include "zone_kit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "zone/image.h"

static struct zoneset *set;
static int n_released;

static void fill(int n)
{
    char name[64], ip[32];
    struct zone_tx *tx = zone_tx_begin(set);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d.a.dev.test", i);
        snprintf(ip, sizeof ip, "10.0.%d.%d", i / 250, i % 250);
        kit_add(tx, name, DNS_A, 1 + (uint32_t)i % 3, ip);
        kit_add(tx, "all.dev.test", DNS_A, 1, ip);
        kit_add(tx, "twice.dev.test", DNS_A, 1, "10.0.0.1");
    }
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static int setup(void **state)
{
    (void)state;
    n_released = 0;
    set = zoneset_new(&(struct zoneset_options){.hash_seed = 42});
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 5), 0);
    assert_int_equal(zoneset_add_zone(set, kit_name("sub.dev.test"), ZONE_FILE, 1), 1);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "sub.dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "cut.dev.test", DNS_NS, 60, "ns.dev.test");
    kit_add(tx, "alias.dev.test", DNS_CNAME, 60, "h1.a.dev.test");
    assert_int_equal(zone_tx_hold(tx, ZONE_BY_NAME, kit_name("alias.dev.test"), true), 0);
    zone_tx_commit(tx, ZONE_READY, NULL);
    fill(700);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zoneset_free(set);
    return 0;
}

/* ---- octets ---- */

static int on_octets(void *arg, const void *bytes, size_t len)
{
    buf_add(arg, bytes, len);
    return 0;
}

static struct buf image_of(const struct zoneset *of)
{
    struct buf out = BUF_EMPTY;
    struct zone_image_about about = {
        .made_ms = 77, .likeness = 88, .n_records = 99, .boot_ms = -5, .boot = "this one"};
    struct zone_image_sink sink = {on_octets, &out};
    assert_int_equal(zone_image_write(zoneset_current(of), &about, &sink), 0);
    return out;
}

static void on_release(void *arg, uint8_t *bytes, size_t len)
{
    (void)arg;
    (void)len;
    n_released++;
    free(bytes);
}

/* A copy of these octets is read; memory that is refused is released here. */
static struct zone_image *read_copy(const struct buf *octets)
{
    uint8_t *copy = mem_copy(octets->bytes, octets->len ? octets->len : 1);
    struct zone_image_memory memory = {.bytes = copy, .len = octets->len, .release = on_release};
    struct zone_image *image = zone_image_read(&memory);
    if (!image)
        free(copy);
    return image;
}

static void seal(struct buf *octets)
{
    uint64_t sum = zone_image_sum((const uint8_t *)octets->bytes, octets->len);
    memcpy(octets->bytes + octets->len - 8, &sum, sizeof sum);
}

static uint32_t soa_serial(const struct zone_version *v, const char *zone)
{
    struct wire_set soa;
    assert_true(zone_node_set(kit_find(v, zone).node, DNS_SOA, &soa));
    return wire_get32(soa.wire + soa.len - 20);
}

/* ---- cases ---- */

static void what_is_read_is_what_was_written(void **state)
{
    (void)state;
    char name[64];
    buf_auto struct buf octets = image_of(set);
    struct zone_image *image = read_copy(&octets);
    assert_non_null(image);
    assert_int_equal(zone_image_about(image)->made_ms, 77);
    assert_int_equal(zone_image_about(image)->likeness, 88);
    assert_int_equal(zone_image_about(image)->n_records, 99);
    assert_int_equal(zone_image_about(image)->boot_ms, -5);
    assert_string_equal(zone_image_about(image)->boot, "this one");
    const struct zone_version *v = zone_image_version(image);
    for (int i = 0; i < 700; i++) {
        snprintf(name, sizeof name, "h%d.a.dev.test", i);
        assert_int_equal(kit_count(v, name, DNS_A), 1);
    }
    assert_int_equal(kit_count(v, "all.dev.test", DNS_A), 700);
    assert_int_equal(kit_count(v, "twice.dev.test", DNS_A), 1);
    assert_int_equal(kit_find(v, "x.cut.dev.test").match, ZONE_CUT);
    assert_int_equal(kit_find(v, "no.dev.test").match, ZONE_MISSING);
    assert_int_equal(kit_find(v, "a.dev.test").match, ZONE_EXACT);
    assert_true(name_equal(zone_apex(kit_find(v, "x.sub.dev.test").zone), kit_name("sub.dev.test")));
    struct zone_info before, after;
    zone_version_info(zoneset_current(set), 0, &before);
    zone_version_info(v, 0, &after);
    assert_true(before.n_nodes == after.n_nodes && before.n_rrs == after.n_rrs &&
                before.serial == after.serial);
    zone_image_free(image);
    assert_int_equal(n_released, 1);
}

static void an_empty_set_has_an_image_too(void **state)
{
    (void)state;
    struct zoneset *empty = zoneset_new(NULL);
    buf_auto struct buf octets = image_of(empty);
    struct zone_image *image = read_copy(&octets);
    assert_non_null(image);
    assert_int_equal(kit_find(zone_image_version(image), "dev.test").match, ZONE_OUTSIDE);
    zone_image_free(image);
    zoneset_free(empty);
}

static int on_full(void *arg, const void *bytes, size_t len)
{
    (void)bytes;
    size_t *left = arg;
    *left -= len < *left ? len : *left;
    return *left ? 0 : ERR_NOSPC;
}

static void a_sink_that_fails_ends_it(void **state)
{
    (void)state;
    size_t left = 5000;
    struct zone_image_about about = {.n_records = 0};
    struct zone_image_sink sink = {on_full, &left};
    assert_int_equal(zone_image_write(zoneset_current(set), &about, &sink), ERR_NOSPC);
}

static void every_damage_is_found(void **state)
{
    (void)state;
    buf_auto struct buf octets = image_of(set);
    for (size_t at = 0; at < octets.len; at += 97) {
        octets.bytes[at] ^= 0x20;
        assert_null(read_copy(&octets));
        octets.bytes[at] ^= 0x20;
    }
    size_t whole = octets.len;
    for (octets.len = 0; octets.len < whole; octets.len += octets.len < 400 ? 1 : 1009)
        assert_null(read_copy(&octets));
    octets.len = whole;
    zone_image_free(read_copy(&octets));
}

/* With a sum that is right: whoever wrote it, reading it touches nothing outside (the sanitizers say so), and ends. */
static void what_has_another_meaning_is_refused_or_harmless(void **state)
{
    (void)state;
    int n_refused = 0;
    buf_auto struct buf octets = image_of(set);
    for (size_t at = 24; at + 8 < octets.len; at += 13) {
        char before = octets.bytes[at];
        octets.bytes[at] = (char)(before + 1 + (char)(at % 7));
        seal(&octets);
        struct zone_image *image = read_copy(&octets);
        n_refused += !image;
        if (image) {
            kit_find(zone_image_version(image), "h1.a.dev.test");
            kit_find(zone_image_version(image), "x.cut.dev.test");
            zone_image_free(image);
        }
        octets.bytes[at] = before;
    }
    assert_true(n_refused > 1000);
}

/* As the program wrote it that knew no boot. */
static void an_image_of_version_1_is_read(void **state)
{
    enum { LEN_AT = 56, HEAD_1 = 88, HEAD = 192 };
    (void)state;
    buf_auto struct buf octets = image_of(set);
    uint64_t len = octets.len -= HEAD - HEAD_1;
    octets.bytes[sizeof "bobbin zone image 2" - 2] = '1';
    memcpy(octets.bytes + LEN_AT, &len, sizeof len);
    memmove(octets.bytes + HEAD_1, octets.bytes + HEAD, len - HEAD_1);
    seal(&octets);
    struct zone_image *image = read_copy(&octets);
    assert_non_null(image);
    assert_int_equal(zone_image_about(image)->made_ms, 77);
    assert_int_equal(zone_image_about(image)->n_records, 99);
    assert_string_equal(zone_image_about(image)->boot, "");
    assert_int_equal(kit_count(zone_image_version(image), "all.dev.test", DNS_A), 700);
    zone_image_free(image);
    for (octets.len = 0; octets.len < HEAD + 8; octets.len++)
        assert_null(read_copy(&octets));
}

static void a_boot_without_end_is_cut(void **state)
{
    enum { BOOT_AT = 96, BOOT_LEN = 96 };
    (void)state;
    buf_auto struct buf octets = image_of(set);
    memset(octets.bytes + BOOT_AT, 'b', BOOT_LEN);
    seal(&octets);
    struct zone_image *image = read_copy(&octets);
    assert_non_null(image);
    assert_int_equal(strlen(zone_image_about(image)->boot), BOOT_LEN - 1);
    zone_image_free(image);
}

static void another_kind_of_program_is_refused(void **state)
{
    (void)state;
    buf_auto struct buf octets = image_of(set);
    octets.bytes[sizeof "bobbin zone image 2" - 2] = '3'; /* version of the format */
    seal(&octets);
    assert_null(read_copy(&octets));
    octets.bytes[sizeof "bobbin zone image 2" - 2] = '2';
    char first = octets.bytes[24];
    octets.bytes[24] = octets.bytes[27]; /* order of octets */
    octets.bytes[27] = first;
    seal(&octets);
    assert_null(read_copy(&octets));
}

static bool may_publish(void *owner, const struct zone_version *next)
{
    (void)next;
    return *(bool *)owner;
}

static void an_image_stands_in_until_the_gate_opens(void **state)
{
    (void)state;
    bool is_open = false;
    struct zone_gate gate = {may_publish, &is_open};
    struct zoneset *fresh = zoneset_new(&(struct zoneset_options){.hash_seed = 7});
    buf_auto struct buf octets = image_of(set);
    zoneset_add_zone(fresh, kit_name("sub.dev.test"), ZONE_FILE, 1); /* other numbers, another seed */
    zoneset_add_zone(fresh, kit_name("dev.test"), ZONE_REGISTRY, 900);
    zoneset_gate(fresh, &gate);
    uint64_t number = zone_version_number(zoneset_current(fresh));
    struct zone_image *image = read_copy(&octets);
    zone_image_set_serial(image, 0, 901);
    zoneset_use_image(fresh, image, ZONE_READY | ZONE_STALE);
    const struct zone_version *seen = zoneset_current(fresh);
    assert_true(zone_version_number(seen) > number && zoneset_is_frozen(fresh));
    assert_int_equal(soa_serial(seen, "dev.test"), 901);
    assert_int_equal(zone_version_flags(seen), ZONE_READY | ZONE_STALE);

    struct zone_tx *tx = zone_tx_begin(fresh);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "new.dev.test", DNS_A, 60, "10.0.0.1");
    zone_tx_commit(tx, ZONE_READY, NULL);
    zoneset_reclaim(fresh, UINT64_MAX);
    assert_int_equal(kit_count(zoneset_current(fresh), "h77.a.dev.test", DNS_A), 1);
    assert_int_equal(kit_count(zoneset_current(fresh), "new.dev.test", DNS_A), 0);
    assert_int_equal(zone_version_flags(seen), ZONE_READY);
    is_open = true;
    assert_true(zoneset_publish(fresh));
    assert_true(zone_version_number(zoneset_current(fresh)) > zone_version_number(seen));
    assert_int_equal(kit_count(zoneset_current(fresh), "new.dev.test", DNS_A), 1);
    zoneset_reclaim(fresh, zone_version_number(seen));
    assert_int_equal(n_released, 0); /* somebody reads it */
    zoneset_reclaim(fresh, UINT64_MAX);
    assert_int_equal(n_released, 1);
    zoneset_free(fresh);
}

static void an_image_ends_with_its_set(void **state)
{
    (void)state;
    bool is_open = false;
    struct zone_gate gate = {may_publish, &is_open};
    struct zoneset *fresh = zoneset_new(NULL);
    buf_auto struct buf octets = image_of(set);
    zoneset_gate(fresh, &gate);
    zoneset_use_image(fresh, read_copy(&octets), ZONE_READY);
    zoneset_free(fresh);
    assert_int_equal(n_released, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_is_read_is_what_was_written),
        CASE(an_empty_set_has_an_image_too),
        CASE(a_sink_that_fails_ends_it),
        CASE(every_damage_is_found),
        CASE(what_has_another_meaning_is_refused_or_harmless),
        CASE(an_image_of_version_1_is_read),
        CASE(a_boot_without_end_is_cut),
        CASE(another_kind_of_program_is_refused),
        CASE(an_image_stands_in_until_the_gate_opens),
        CASE(an_image_ends_with_its_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
