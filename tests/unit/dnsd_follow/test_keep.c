/* What is kept over a restart: serials that never go back, and the snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bobbin/record.h"
#include "run/file.h"
#include "base/buf.h"
#include "follow/timestamp.h"
#include "follow/events.h"
#include "follow/serials.h"
#include "follow/snapshot.h"
#include "wire/rdata.h"

struct bed {
    char dir[64];
    char *serials, *snapshot;
    struct run_loop *loop;
    struct zoneset *zones;
    struct writer *writer;
    struct reg *registry;
    struct follow *follow;
    struct metrics *metrics;
    struct outages *needs;
    uint8_t domain[NAME_MAX_LEN];
};

static void ignore(void *arg)
{
    (void)arg;
}

static void add_soa(struct bed *b, int zone, const uint8_t *apex)
{
    uint8_t rdata[600];
    struct rdata_soa soa = {b->domain, b->domain, 0, 1, 1, 1, 1};
    struct zone_rr rr = {apex, DNS_SOA, 1, rdata, (uint16_t)rdata_put_soa(&soa, rdata)};
    struct zone_tx *tx = zone_tx_begin(b->zones);
    assert_int_equal(zone_tx_add(tx, zone, &rr), 0);
    zone_tx_commit(tx, 0, NULL);
}

#define KEEP_METRICS(X) OUTAGE_UP(X, M_UP, "registry") OUTAGE_SINCE(X, M_SINCE, "registry")
enum { METRICS_ENUM(KEEP_METRICS) N_METRICS };
static const struct metric_def metric_rows[] = {METRICS_ROWS(KEEP_METRICS)};
static const struct outage_def outage = {"registry",    &ev_feed_lost, &ev_feed_still_lost,
                                         &ev_feed_back, M_UP,          M_SINCE};

static void new_follow(struct bed *b)
{
    struct follow_def def = {.loop = b->loop,
                             .registry = b->registry,
                             .zones = b->zones,
                             .writer = b->writer,
                             .map = {.domain = b->domain, .ttl_s = 1},
                             .host_refresh_ms = 1000,
                             .registry_outage = outage_new(b->needs, &outage),
                             .store_outage = outage_new(b->needs, &outage),
                             .changed = ignore};
    b->follow = follow_new(&def);
}

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    struct err_info why;
    b->metrics = metrics_new(metric_rows, N_METRICS);
    b->needs = outages_new(b->metrics);
    struct reg_options nowhere = {.url = "http://127.0.0.1:1", .user = "x"};
    strcpy(b->dir, "/tmp/bobbin-keep-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    b->serials = mem_fmt("%s/serials", b->dir);
    b->snapshot = mem_fmt("%s/snapshot", b->dir);
    assert_true(name_from_text("dev.test.", 9, b->domain) > 0);
    b->loop = run_loop_new();
    b->zones = zoneset_new(NULL);
    b->writer = writer_new(b->loop, b->zones);
    add_soa(b, zoneset_add_zone(b->zones, b->domain, ZONE_REGISTRY, 100), b->domain);
    assert_int_equal(reg_open(b->loop, &nowhere, &b->registry, &why), 0);
    new_follow(b);
    *state = b;
    return 0;
}

/* No file can be written any more, or again. */
static void forbid(struct bed *b, bool is_forbidden)
{
    mem_auto char *spare = mem_fmt("%s.spare", b->serials);
    unlink(spare);
    rmdir(spare);
    if (is_forbidden)
        assert_int_equal(mkdir(spare, 0755), 0);
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    follow_stop(b->follow);
    reg_close(b->registry);
    writer_stop(b->writer, ignore, NULL);
    run_loop_free(b->loop);
    outages_free(b->needs);
    metrics_free(b->metrics);
    zoneset_free(b->zones);
    forbid(b, false);
    unlink(b->serials);
    unlink(b->snapshot);
    rmdir(b->dir);
    free(b->serials);
    free(b->snapshot);
    free(b);
    return 0;
}

/* ---- serials ---- */

static void on_stopped(void *arg)
{
    run_loop_stop(arg);
}

static struct serials *open_serials(struct bed *b)
{
    struct err_info why = {0};
    struct serials_def def = {b->loop, b->serials, on_stopped, b->loop};
    struct serials *s = serials_open(&def, &why);
    assert_int_equal(why.code, 0);
    return s;
}

static uint32_t first(struct bed *b, enum zone_kind kind, uint32_t at_least)
{
    struct serials *s = open_serials(b);
    uint32_t serial = serials_first(s, b->domain, kind, at_least);
    serials_free(s);
    return serial;
}

/* Let the zone have this serial, in a version that readers may see. */
static const struct zone_version *reach(struct bed *b, uint32_t serial)
{
    struct zone_tx *tx = zone_tx_begin(b->zones);
    zone_tx_raise_serial(tx, 0, serial);
    zone_tx_commit(tx, ZONE_READY, NULL);
    return zoneset_newest(b->zones);
}

static void a_clean_stop_keeps_the_serial_itself(void **state)
{
    struct bed *b = *state;
    serials_stop(open_serials(b), zoneset_newest(b->zones), on_stopped, b->loop);
    run_loop_run(b->loop);
    assert_int_equal(first(b, ZONE_REGISTRY, 50), 101);
    assert_int_equal(first(b, ZONE_REGISTRY, 5000), 5000);
    assert_int_equal(first(b, ZONE_FILE, 100), 100);
    assert_int_equal(first(b, ZONE_FILE, 50), 101);              /* 100 may have had other content */
    assert_int_equal(first(b, ZONE_REGISTRY, 0xfffffff0u), 101); /* RFC 1982: 101 is later */
}

static void a_crash_skips_what_may_have_been_used(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct serials *s = open_serials(b);
    assert_int_equal(serials_reserve(s, zoneset_newest(b->zones), &why), 0);
    serials_free(s);
    assert_int_equal(first(b, ZONE_REGISTRY, 50), 100 + SERIALS_RESERVE + 1);
}

static void a_serial_is_covered_when_its_limit_is_on_disk(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct serials *s = open_serials(b);
    assert_true(serials_cover(s, zoneset_newest(b->zones))); /* not ready: nobody sees it */
    assert_false(serials_cover(s, reach(b, 101)));
    assert_int_equal(serials_reserve(s, zoneset_newest(b->zones), &why), 0);
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    assert_true(serials_cover(s, reach(b, 101 + SERIALS_RESERVE)));
    assert_false(serials_cover(s, reach(b, 102 + SERIALS_RESERVE)));
    serials_mind(s, zoneset_newest(b->zones));
    assert_false(serials_cover(s, zoneset_newest(b->zones))); /* on the way is not there */
    run_loop_run(b->loop);
    assert_null(serials_error(s));
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    serials_free(s);
    assert_true(first(b, ZONE_REGISTRY, 50) > 102 + SERIALS_RESERVE);
}

static void the_reserve_is_extended_before_it_is_used_up(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct serials *s = open_serials(b);
    assert_int_equal(serials_reserve(s, reach(b, 1000), &why), 0);
    serials_mind(s, reach(b, 1000 + SERIALS_RESERVE / 2 + 1));
    run_loop_run(b->loop); /* ends with the write */
    assert_true(serials_cover(s, reach(b, 1000 + SERIALS_RESERVE + SERIALS_RESERVE / 2)));
    serials_free(s);
}

static void what_cannot_be_written_is_tried_again(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct serials *s = open_serials(b);
    assert_int_equal(serials_reserve(s, reach(b, 1000), &why), 0);
    forbid(b, true);
    serials_mind(s, reach(b, 1001 + SERIALS_RESERVE));
    run_loop_run(b->loop);
    assert_non_null(serials_error(s));
    assert_non_null(strstr(serials_error(s)->where, b->serials));
    assert_false(serials_cover(s, zoneset_newest(b->zones)));
    assert_int_equal(first(b, ZONE_REGISTRY, 50), 1001 + SERIALS_RESERVE); /* what was seen was below it */
    forbid(b, false);
    run_loop_run(b->loop);
    assert_null(serials_error(s));
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    serials_free(s);
}

static void the_first_write_may_fail_too(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct serials *s = open_serials(b);
    forbid(b, true);
    assert_int_equal(serials_reserve(s, reach(b, 1000), &why), ERR_IO);
    assert_false(serials_cover(s, zoneset_newest(b->zones)));
    forbid(b, false);
    run_loop_run(b->loop);
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    serials_free(s);
}

/* A file's own serial needs no other file to say it; one that rose above it, because something else changed in the zone, does. */
static void a_file_covers_its_own_serial(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    uint8_t apex[NAME_MAX_LEN];
    assert_true(name_from_text("file.test.", 10, apex) > 0);
    struct serials *s = open_serials(b);
    int zone = zoneset_add_zone(b->zones, apex, ZONE_FILE, serials_first(s, apex, ZONE_FILE, 7));
    add_soa(b, zone, apex);
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    struct zone_tx *tx = zone_tx_begin(b->zones);
    zone_tx_raise_serial(tx, zone, 8);
    zone_tx_commit(tx, 0, NULL);
    assert_false(serials_cover(s, zoneset_newest(b->zones)));
    assert_int_equal(serials_reserve(s, zoneset_newest(b->zones), &why), 0);
    assert_true(serials_cover(s, zoneset_newest(b->zones)));
    serials_free(s);
    s = open_serials(b);
    assert_true(serials_first(s, apex, ZONE_FILE, 7) > 8);
    serials_free(s);
}

static void where_nothing_is_kept_everything_is_covered(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    struct serials_def def = {b->loop, NULL, on_stopped, b->loop};
    struct serials *s = serials_open(&def, &why);
    assert_true(serials_cover(s, reach(b, 1000)));
    assert_int_equal(serials_reserve(s, zoneset_newest(b->zones), &why), 0);
    serials_mind(s, zoneset_newest(b->zones));
    serials_stop(s, zoneset_newest(b->zones), ignore, NULL);
}

static void a_damaged_line_is_reported(void **state)
{
    struct bed *b = *state;
    struct err_info why = {0};
    struct serials_def def = {b->loop, b->serials, ignore, NULL};
    assert_int_equal(file_write(b->serials, "dev.test. 7\nnonsense\nx.test. 9", 30, &why), 0);
    struct serials *s = serials_open(&def, &why);
    assert_int_equal(why.code, ERR_PARSE);
    assert_int_equal(serials_first(s, b->domain, ZONE_REGISTRY, 0), 8);
    assert_int_equal(serials_first(s, (const uint8_t *)"\1x\4test", ZONE_REGISTRY, 0), 10);
    serials_free(s);
}

/* What is written is written over what the one before the last has: no file grows, and what is read is the last. */
static void a_file_is_replaced_in_place(void **state)
{
    struct bed *b = *state;
    struct err_info why;
    struct stat first_file, spare_file, now;
    mem_auto char *spare = mem_fmt("%s.spare", b->serials);
    assert_int_equal(file_swap(b->serials, "a 1\n", 4, &why), 0);
    assert_int_equal(stat(b->serials, &first_file) || stat(spare, &spare_file), 0);
    assert_int_equal(file_swap(b->serials, "a 2\nb 3\n", 8, &why), 0);
    assert_int_equal(stat(b->serials, &now), 0);
    assert_true(now.st_ino == spare_file.st_ino && now.st_blocks == spare_file.st_blocks);
    assert_int_equal(stat(spare, &now), 0);
    assert_true(now.st_ino == first_file.st_ino);
    buf_auto struct buf text = BUF_EMPTY;
    assert_int_equal(file_read(b->serials, &text, &why), 0);
    assert_int_equal(strncmp(buf_cstr(&text), "a 2\nb 3\n\n\n", 10), 0);
    assert_int_equal(strspn(text.bytes + 8, "\n"), text.len - 8);
}

/* ---- snapshots ---- */

/* free() */
static char *pack(const char *ip, size_t *len)
{
    mem_auto char *json =
        mem_fmt("{\"type\":\"JSONServiceRecord\",\"description\":\"w\",\"yarn:persistence\":"
                "\"container\",\"yarn:ip\":\"%s\",\"yarn:component\":\"c\"}",
                ip);
    struct reg_record *record = NULL;
    struct err_info why;
    assert_int_equal(reg_record_read(json, strlen(json), REG_STRICT, &record, &why), 0);
    char *packed = map_pack(record, len);
    reg_record_free(record);
    return packed;
}

static void restore_one(struct bed *b, const char *path, const char *ip)
{
    size_t len;
    mem_auto char *packed = pack(ip, &len);
    follow_restore(b->follow, path, packed, len);
}

static uint64_t likeness(void *arg)
{
    (void)arg;
    return 4711;
}

static void a_snapshot_of_an_unread_registry_is_not_written(void **state)
{
    struct bed *b = *state;
    restore_one(b, "/users/a/services/c/s/components/x", "10.0.0.1");
    follow_restored(b->follow, 0);
    struct snapshots_def def = {.loop = b->loop,
                                .follow = b->follow,
                                .zones = b->zones,
                                .path = b->snapshot,
                                .interval_ms = 1000,
                                .likeness = likeness};
    struct snapshots *s = snapshots_new(&def);
    snapshots_changed(s);
    snapshots_stop(s, on_stopped, b->loop);
    run_loop_run(b->loop);
    assert_int_not_equal(access(b->snapshot, F_OK), 0);
}

struct outcome {
    struct bed *bed;
    int err;
    struct err_info why;
};

static void on_restored(void *arg, int err, const struct err_info *why)
{
    struct outcome *o = arg;
    o->err = err;
    o->why = *why;
    run_loop_stop(o->bed->loop);
}

static struct outcome restore(struct bed *b)
{
    struct outcome o = {b, 0, {0}};
    struct snapshot_restore_def def = {b->loop, b->follow, b->snapshot, on_restored, &o};
    snapshot_restore_start(&def);
    run_loop_run(b->loop);
    return o;
}

static void expect_refused(struct bed *b, const char *bytes, size_t len)
{
    struct err_info why = {0};
    struct follow_state now;
    assert_int_equal(file_write(b->snapshot, bytes, len, &why), 0);
    struct outcome o = restore(b);
    assert_int_equal(o.err, ERR_PARSE);
    assert_non_null(strstr(o.why.where, "snapshot"));
    follow_state(b->follow, &now);
    assert_false(now.is_ready);
}

static void what_is_no_snapshot_is_refused(void **state)
{
    struct bed *b = *state;
    char zeros[200] = "bobbin dnsd snapshot 2\n";
    assert_int_equal(restore(b).err, ERR_NOTFOUND);
    expect_refused(b, "", 0);
    expect_refused(b, "bobbin", 6);
    expect_refused(b, zeros, sizeof zeros);
}

/* ---- the age of a snapshot ---- */

static void put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (56 - 8 * i));
}

/* FNV-1a over eight octets at a time, the rest one by one; then as the last eight. */
static void seal(struct buf *file)
{
    uint64_t h = 0xcbf29ce484222325u;
    uint8_t tail[8];
    for (size_t i = 0; i < file->len;) {
        uint64_t word = 0;
        for (size_t end = i + (file->len - i < 8 ? 1 : 8); i < end; i++)
            word = word << 8 | (uint8_t)file->bytes[i];
        h = (h ^ word) * 0x100000001b3u;
    }
    put64(tail, h);
    buf_add(file, tail, sizeof tail);
}

/* A snapshot of one record. @param boot NULL: of version 2, which has none */
static void write_snapshot(struct bed *b, int64_t wall_ms, int64_t boot_ms, const char *boot)
{
    buf_auto struct buf file = BUF_EMPTY;
    struct err_info why;
    uint8_t numbers[16], since[8], head[8];
    char id[RUN_BOOT_ID_LEN] = "";
    size_t len;
    mem_auto char *packed = pack("10.0.0.1", &len);
    const char path[] = "/users/a/services/c/s/components/x";
    put64(numbers, (uint64_t)wall_ms);
    put64(numbers + 8, 1);
    put64(since, (uint64_t)boot_ms);
    put64(head, (uint64_t)sizeof path << 32 | len);
    buf_addf(&file, "bobbin dnsd snapshot %d\n", boot ? 3 : 2);
    buf_add(&file, numbers, sizeof numbers);
    if (boot) {
        strcpy(id, boot);
        buf_add(&file, since, sizeof since);
        buf_add(&file, id, sizeof id);
    }
    buf_add(&file, head, sizeof head);
    buf_add(&file, path, sizeof path);
    buf_add(&file, packed, len);
    seal(&file);
    assert_int_equal(file_write(b->snapshot, file.bytes, file.len, &why), 0);
}

/* As such a snapshot is restored: how stale it is then. */
static int64_t restored_age_ms(struct bed *b, int64_t wall_ms, int64_t boot_ms, const char *boot)
{
    struct follow_state now;
    write_snapshot(b, wall_ms, boot_ms, boot);
    assert_int_equal(restore(b).err, 0);
    follow_state(b->follow, &now);
    assert_int_equal(now.n_records, 1);
    return now.stale_ms;
}

enum { MINUTE = 60 * 1000, DAY = 24 * 60 * MINUTE };

static void in_one_boot_the_time_of_day_does_not_matter(void **state)
{
    struct bed *b = *state;
    char boot[RUN_BOOT_ID_LEN];
    run_boot_id(boot);
    assert_true(boot[0]);
    int64_t age_ms = restored_age_ms(b, run_wall_ms() - DAY, run_boot_ms() - MINUTE, boot);
    assert_true(age_ms >= MINUTE && age_ms < DAY);
}

static void a_clock_that_was_set_back_makes_nothing_younger(void **state)
{
    struct bed *b = *state;
    char boot[RUN_BOOT_ID_LEN];
    run_boot_id(boot);
    int64_t age_ms = restored_age_ms(b, run_wall_ms() + DAY, run_boot_ms() - MINUTE, boot);
    assert_true(age_ms >= MINUTE && age_ms < DAY);
}

static void after_a_reboot_the_time_of_day_counts(void **state)
{
    int64_t age_ms = restored_age_ms(*state, run_wall_ms() - DAY, run_boot_ms() - MINUTE, "another boot");
    assert_true(age_ms >= DAY && age_ms < 2 * DAY);
}

static void after_a_reboot_no_age_is_negative(void **state)
{
    int64_t age_ms = restored_age_ms(*state, run_wall_ms() + DAY, 0, "another boot");
    assert_true(age_ms >= 0 && age_ms < DAY);
}

static void a_snapshot_of_version_2_has_the_time_of_day(void **state)
{
    int64_t age_ms = restored_age_ms(*state, run_wall_ms() - DAY, 0, NULL);
    assert_true(age_ms >= DAY && age_ms < 2 * DAY);
}

static void an_age_is_never_negative(void **state)
{
    static const struct {
        struct timestamp then, now;
        int64_t age_ms;
    } rows[] = {
        {{100, 5, "a"}, {1000, 7, "a"}, 2},
        {{1000, 5, "a"}, {100, 7, "a"}, 2},
        {{100, 7, "a"}, {1000, 5, "a"}, 0},
        {{100, -50, "a"}, {1000, 7, "a"}, 57}, /* old when it was written */
        {{100, 5, "a"}, {1000, 7, "b"}, 900},
        {{100, 5, ""}, {1000, 7, ""}, 900}, /* no /proc: it equals no other */
        {{1000, 5, "a"}, {100, 7, "b"}, 0},
        {{INT64_MAX, 5, "a"}, {100, 7, "b"}, 0},
        {{INT64_MIN, 5, "a"}, {100, 7, "b"}, TIMESTAMP_AGE_MAX},
        {{100, INT64_MIN, "a"}, {100, 7, "a"}, TIMESTAMP_AGE_MAX},
        {{100, INT64_MAX, "a"}, {100, -7, "a"}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(timestamp_age_ms(&rows[i].then, &rows[i].now), rows[i].age_ms);
}

static void a_restore_can_be_forgotten(void **state)
{
    struct bed *b = *state;
    struct outcome o = {b, 0, {0}};
    struct snapshot_restore_def def = {b->loop, b->follow, b->snapshot, on_restored, &o};
    snapshot_restore_cancel(snapshot_restore_start(&def));
    snapshot_restore_cancel(NULL);
}

static void stop_when_ready(void *arg)
{
    struct bed *b = arg;
    struct follow_state now;
    follow_state(b->follow, &now);
    if (now.is_ready)
        run_loop_stop(b->loop);
}

/* A commit goes on in later turns of the loop when the machine is slow. */
static void until_ready(struct bed *b)
{
    struct run_timer *look = run_timer_new(b->loop, stop_when_ready, b);
    run_timer_start(look, 0, 1);
    run_loop_run(b->loop);
    run_timer_free(look);
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
    until_ready(b);
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
        cmocka_unit_test_setup_teardown(a_serial_is_covered_when_its_limit_is_on_disk, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(the_reserve_is_extended_before_it_is_used_up, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_tried_again, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(the_first_write_may_fail_too, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_file_covers_its_own_serial, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(where_nothing_is_kept_everything_is_covered, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_damaged_line_is_reported, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_file_is_replaced_in_place, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_snapshot_of_an_unread_registry_is_not_written, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(what_is_no_snapshot_is_refused, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(in_one_boot_the_time_of_day_does_not_matter, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_back_makes_nothing_younger, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(after_a_reboot_the_time_of_day_counts, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(after_a_reboot_no_age_is_negative, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_snapshot_of_version_2_has_the_time_of_day, make_bed, free_bed),
        cmocka_unit_test(an_age_is_never_negative),
        cmocka_unit_test_setup_teardown(a_restore_can_be_forgotten, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(restored_records_are_answered_and_stale, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
