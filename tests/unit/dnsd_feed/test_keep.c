/* What is kept over a restart: serials that never go back, and the snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bobbin/record.h"
#include "feed/file.h"
#include "feed/serials.h"
#include "feed/snapshot.h"
#include "wire/rdata.h"

struct bed {
    char dir[64];
    char *serials, *snapshot;
    struct run_loop *loop;
    struct zoneset *zones;
    struct writer *writer;
    struct reg *registry;
    struct follow *follow;
    uint8_t domain[NAME_MAX_LEN];
};

static void ignore(void *arg)
{
    (void)arg;
}

static void add_soa(struct bed *b, int zone)
{
    uint8_t rdata[600];
    struct rdata_soa soa = {b->domain, b->domain, 0, 1, 1, 1, 1};
    struct zone_rr rr = {b->domain, DNS_SOA, 1, rdata, (uint16_t)rdata_put_soa(&soa, rdata)};
    struct zone_tx *tx = zone_tx_begin(b->zones);
    assert_int_equal(zone_tx_add(tx, zone, &rr), 0);
    zone_tx_commit(tx, 0, NULL);
}

static void new_follow(struct bed *b)
{
    struct follow_def def = {.loop = b->loop,
                             .registry = b->registry,
                             .zones = b->zones,
                             .writer = b->writer,
                             .map = {.domain = b->domain, .ttl_s = 1},
                             .host_refresh_ms = 1000,
                             .changed = ignore};
    b->follow = follow_new(&def);
}

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    struct err_info why;
    struct reg_options nowhere = {.url = "http://127.0.0.1:1", .user = "x"};
    strcpy(b->dir, "/tmp/bobbin-keep-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    b->serials = mem_fmt("%s/serials", b->dir);
    b->snapshot = mem_fmt("%s/snapshot", b->dir);
    assert_true(name_from_text("dev.test.", 9, b->domain) > 0);
    b->loop = run_loop_new();
    b->zones = zoneset_new(NULL);
    b->writer = writer_new(b->loop, b->zones);
    add_soa(b, zoneset_add_zone(b->zones, b->domain, ZONE_REGISTRY, 100));
    assert_int_equal(reg_open(b->loop, &nowhere, &b->registry, &why), 0);
    new_follow(b);
    *state = b;
    return 0;
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    follow_stop(b->follow);
    reg_close(b->registry);
    writer_stop(b->writer, ignore, NULL);
    run_loop_free(b->loop);
    zoneset_free(b->zones);
    unlink(b->serials);
    unlink(b->snapshot);
    rmdir(b->dir);
    free(b->serials);
    free(b->snapshot);
    free(b);
    return 0;
}

static uint32_t first(const struct bed *b, enum zone_kind kind, uint32_t at_least)
{
    struct err_info why = {0};
    struct serials *s = serials_open(b->loop, b->serials, &why);
    assert_int_equal(why.code, 0);
    uint32_t serial = serials_first(s, b->domain, kind, at_least);
    serials_free(s);
    return serial;
}

static void a_clean_stop_keeps_the_serial_itself(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    struct serials *s = serials_open(b->loop, b->serials, &why);
    assert_int_equal(serials_close(s, zoneset_current(b->zones), &why), 0);
    serials_free(s);
    assert_int_equal(first(b, ZONE_REGISTRY, 50), 101);
    assert_int_equal(first(b, ZONE_REGISTRY, 5000), 5000);
    assert_int_equal(first(b, ZONE_FILE, 50), 100);
    assert_int_equal(first(b, ZONE_REGISTRY, 0xfffffff0u), 101); /* RFC 1982: 101 is later */
}

static void a_crash_skips_what_may_have_been_used(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    struct run_loop *loop = run_loop_new();
    struct serials *s = serials_open(loop, b->serials, &why);
    serials_mind(s, zoneset_current(b->zones));
    serials_free(s); /* the write under way ends by itself */
    run_loop_free(loop);
    uint32_t serial = first(b, ZONE_REGISTRY, 50);
    assert_true(serial > 5000 && serial < 100000);
}

static void a_damaged_line_is_told(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    assert_int_equal(file_write(b->serials, "dev.test. 7\nnonsense\n", 21, &why), 0);
    struct serials *s = serials_open(b->loop, b->serials, &why);
    assert_int_equal(why.code, ERR_PARSE);
    assert_int_equal(serials_first(s, b->domain, ZONE_REGISTRY, 0), 8);
    serials_free(s);
}

/* ---- snapshots ---- */

static void restore_one(struct bed *b, const char *path, const char *ip)
{
    mem_auto char *json =
        mem_fmt("{\"type\":\"JSONServiceRecord\",\"description\":\"w\",\"yarn:persistence\":"
                "\"container\",\"yarn:ip\":\"%s\",\"yarn:component\":\"c\"}",
                ip);
    struct reg_record *record = NULL;
    struct err_info why;
    size_t len;
    assert_int_equal(reg_record_read(json, strlen(json), REG_STRICT, &record, &why), 0);
    mem_auto char *packed = map_pack(record, &len);
    follow_restore(b->follow, path, packed, len);
    reg_record_free(record);
}

static void on_stopped(void *arg)
{
    run_loop_stop(arg);
}

static void a_snapshot_of_an_unread_registry_is_not_written(void **state)
{
    struct bed *b = *state;
    restore_one(b, "/users/a/services/c/s/components/x", "10.0.0.1");
    follow_restored(b->follow, 0);
    struct snapshots *s = snapshots_new(b->loop, b->follow, b->snapshot, 1000);
    snapshots_changed(s);
    snapshots_stop(s, on_stopped, b->loop);
    run_loop_run(b->loop);
    assert_int_not_equal(access(b->snapshot, F_OK), 0);
}

static void expect_refused(struct bed *b, const char *bytes, size_t len)
{
    struct err_info why = {0};
    struct follow_state now;
    assert_int_equal(file_write(b->snapshot, bytes, len, &why), 0);
    assert_int_equal(snapshot_restore(b->snapshot, b->follow, &why), ERR_PARSE);
    assert_non_null(strstr(why.where, "snapshot"));
    follow_state(b->follow, &now);
    assert_false(now.is_ready);
}

static void what_is_no_snapshot_is_refused(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    char zeros[200] = "bobbin dnsd snapshot 2\n";
    assert_int_equal(snapshot_restore(b->snapshot, b->follow, &why), ERR_NOTFOUND);
    expect_refused(b, "", 0);
    expect_refused(b, "bobbin", 6);
    expect_refused(b, zeros, sizeof zeros);
}

static void restored_records_are_answered_and_stale(void **state)
{
    struct bed *b = *state;
    struct follow_state now;
    struct zone_info zone;
    restore_one(b, "/users/a/services/c/s/components/x", "10.0.0.1");
    restore_one(b, "/users/a/services/c/s/components/y", "10.0.0.2");
    restore_one(b, "/users/a/services/c/s/components/y", "10.0.0.3"); /* twice: the later one counts */
    follow_restored(b->follow, 5000);
    follow_state(b->follow, &now);
    assert_true(now.is_ready && !now.is_synced && !now.is_connected);
    assert_int_equal(now.n_records, 2);
    assert_true(now.stale_ms >= 5000 && now.stale_ms < 60000);
    assert_int_equal(zone_version_flags(zoneset_current(b->zones)), ZONE_READY | ZONE_STALE);
    zone_version_info(zoneset_current(b->zones), 0, &zone);
    assert_int_equal(zone.n_rrs, 1 + 2 + 2 + 3); /* SOA; x.D and y.D; two at c; two and one shared TXT at w */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_clean_stop_keeps_the_serial_itself, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_crash_skips_what_may_have_been_used, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_damaged_line_is_told, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_snapshot_of_an_unread_registry_is_not_written, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(what_is_no_snapshot_is_refused, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(restored_records_are_answered_and_stale, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
