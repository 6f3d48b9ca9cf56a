/* Changes of zones take turns, and large ones leave the loop its time. */
#include "dns_kit.h"

#include "base/mem.h"
#include "follow/writer.h"
#include "zone/find.h"

struct bed {
    struct run_loop *loop;
    struct zoneset *zones;
    struct writer *writer;
    char said[64]; /* what happened, a letter each */
    unsigned n_rounds;
    struct run_timer *rounds; /* the loop's other work */
};

/** A change of n records at names of its own. */
struct change {
    struct bed *bed;
    char letter;
    unsigned n, at;
    int begin_err;
};

static void on_round(void *arg)
{
    struct bed *b = arg;
    b->n_rounds++;
    run_timer_start(b->rounds, 0, 0);
}

static void say(struct bed *b, char letter)
{
    size_t n = strlen(b->said);
    assert_true(n + 1 < sizeof b->said);
    b->said[n] = letter;
}

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->loop = run_loop_new();
    b->zones = zoneset_new(NULL);
    b->writer = writer_new(b->loop, b->zones);
    b->rounds = run_timer_new(b->loop, on_round, b);
    assert_int_equal(zoneset_add_zone(b->zones, kit_name("dev.test"), ZONE_FILE, 1), 0);
    struct zone_tx *tx = zone_tx_begin(b->zones);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    zone_tx_commit(tx, 0, NULL);
    *state = b;
    return 0;
}

static void on_stopped(void *arg)
{
    say(arg, '.');
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    if (b->writer)
        writer_stop(b->writer, on_stopped, b);
    run_timer_free(b->rounds);
    run_loop_free(b->loop);
    zoneset_free(b->zones);
    free(b);
    return 0;
}

static int on_begin(void *arg)
{
    struct change *c = arg;
    return c->begin_err;
}

static bool on_step(void *arg, struct zone_tx *tx)
{
    struct change *c = arg;
    char owner[64];
    for (int i = 0; i < 8 && c->at < c->n; i++, c->at++) {
        snprintf(owner, sizeof owner, "%c-%u.dev.test", c->letter, c->at);
        kit_add(tx, owner, DNS_A, 30, "10.0.0.1");
    }
    return c->at < c->n;
}

static unsigned on_flags(void *arg)
{
    (void)arg;
    return 0;
}

static void on_done(void *arg, int err)
{
    struct change *c = arg;
    say(c->bed, err ? '!' : c->letter);
}

static void on_done_stop(void *arg, int err)
{
    struct change *c = arg;
    on_done(arg, err);
    run_timer_stop(c->bed->rounds);
    run_loop_stop(c->bed->loop);
}

static struct writer_change edits_of(struct change *c)
{
    return (struct writer_change){
        .begin = on_begin, .step = on_step, .flags = on_flags, .done = on_done, .arg = c};
}

static uint64_t n_rrs(const struct bed *b)
{
    struct zone_info info;
    zone_version_info(zoneset_current(b->zones), 0, &info);
    return info.n_rrs;
}

static void a_small_change_is_published_at_once(void **state)
{
    struct bed *b = *state;
    struct change c = {b, 'a', 20, 0, 0};
    struct writer_change edits = edits_of(&c);
    writer_run(b->writer, &edits);
    assert_string_equal(b->said, "a");
    assert_int_equal(n_rrs(b), 21);
    assert_int_equal(writer_n_slices(b->writer), 0);
}

/** 100 000 names: the loop has hundreds of rounds meanwhile, and readers see none of them before they see all. */
static void a_large_change_leaves_the_loop_its_time(void **state)
{
    struct bed *b = *state;
    struct change c = {b, 'a', 100000, 0, 0}, after = {b, 'b', 1, 0, 0};
    struct writer_change edits = edits_of(&c), next = edits_of(&after);
    uint64_t version = zone_version_number(zoneset_current(b->zones));
    next.done = on_done_stop;
    writer_run(b->writer, &edits);
    writer_run(b->writer, &next);
    assert_string_equal(b->said, "");
    assert_int_equal(n_rrs(b), 1);
    run_timer_start(b->rounds, 0, 0);
    run_loop_run(b->loop);
    assert_string_equal(b->said, "ab");
    assert_true(writer_n_slices(b->writer) >= 10 && b->n_rounds >= 10);
    assert_int_equal(n_rrs(b), 100002);
    assert_int_equal(zone_version_number(zoneset_current(b->zones)), version + 2);
    struct zoneset_memory memory;
    assert_int_equal(zoneset_reclaim_some(b->zones, UINT64_MAX, 1), 1);
    zoneset_memory(b->zones, &memory);
    assert_true(memory.waiting_bytes > 0);
    assert_true(zoneset_reclaim_some(b->zones, UINT64_MAX, SIZE_MAX) > 0);
    zoneset_memory(b->zones, &memory);
    assert_int_equal(memory.waiting_bytes, 0);
}

static void before_the_loop_runs_nothing_waits(void **state)
{
    struct bed *b = *state;
    struct change c = {b, 'a', 70000, 0, 0};
    struct writer_change edits = edits_of(&c);
    writer_run_now(b->writer, &edits);
    assert_string_equal(b->said, "a");
    assert_int_equal(n_rrs(b), 70001);
}

static void a_change_that_cannot_begin_is_reported(void **state)
{
    struct bed *b = *state;
    struct change bad = {b, 'x', 5, 0, -1}, good = {b, 'a', 5, 0, 0};
    struct writer_change edits[] = {edits_of(&bad), edits_of(&good)};
    writer_run(b->writer, &edits[0]);
    writer_run(b->writer, &edits[1]);
    assert_string_equal(b->said, "!a");
    assert_int_equal(n_rrs(b), 6);
}

/** Whatever it is at, waiting, between steps or on the pool's thread: nothing of a cancelled change is seen. */
static void cancelled_changes_leave_nothing(void **state)
{
    struct bed *b = *state;
    struct change c = {b, 'a', 100000, 0, 0}, waiting = {b, 'w', 5, 0, 0}, last = {b, 'b', 5, 0, 0};
    struct writer_change edits[] = {edits_of(&c), edits_of(&waiting), edits_of(&last)};
    edits[2].done = on_done_stop;
    for (int i = 0; i < 3; i++)
        writer_run(b->writer, &edits[i]);
    writer_cancel(b->writer, &waiting);
    while (c.at < 60000) /* past what is applied at once: the pool has had a part, or has it now */
        uv_run(run_loop_uv(b->loop), UV_RUN_NOWAIT);
    writer_cancel(b->writer, &c);
    run_loop_run(b->loop);
    assert_string_equal(b->said, "b");
    assert_int_equal(n_rrs(b), 6);
}

/** Work that keeps the pool's threads from anything else. */
struct blocker {
    uv_work_t work;
    uv_sem_t *go;
    bool is_through;
};

static void on_block(uv_work_t *work)
{
    uv_sem_wait(((struct blocker *)work->data)->go);
}

static void on_unblocked(uv_work_t *work, int status)
{
    assert_int_equal(status, 0);
    ((struct blocker *)work->data)->is_through = true;
}

/** The end waits for the pool's thread, which works on the zones. */
static void stopping_waits_for_the_pool(void **state)
{
    enum { MORE_THAN_THREADS = 16 };
    struct bed *b = *state;
    struct change c = {b, 'a', 100000, 0, 0};
    struct writer_change edits = edits_of(&c);
    struct blocker blockers[MORE_THAN_THREADS];
    uv_sem_t go;
    assert_int_equal(uv_sem_init(&go, 0), 0);
    for (int i = 0; i < MORE_THAN_THREADS; i++) {
        blockers[i] = (struct blocker){.work.data = &blockers[i], .go = &go};
        uv_queue_work(run_loop_uv(b->loop), &blockers[i].work, on_block, on_unblocked);
    }
    writer_run(b->writer, &edits);
    while (c.at < ZONE_TX_PART)
        uv_run(run_loop_uv(b->loop), UV_RUN_NOWAIT);
    writer_cancel(b->writer, &c);
    writer_stop(b->writer, on_stopped, b);
    b->writer = NULL;
    uv_run(run_loop_uv(b->loop), UV_RUN_NOWAIT);
    assert_string_equal(b->said, "");
    for (int i = 0; i < MORE_THAN_THREADS; i++)
        uv_sem_post(&go);
    while (!*b->said)
        uv_run(run_loop_uv(b->loop), UV_RUN_ONCE);
    assert_string_equal(b->said, ".");
    assert_int_equal(n_rrs(b), 1);
    for (int i = 0; i < MORE_THAN_THREADS; i++)
        while (!blockers[i].is_through)
            uv_run(run_loop_uv(b->loop), UV_RUN_ONCE);
    uv_sem_destroy(&go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_small_change_is_published_at_once, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_large_change_leaves_the_loop_its_time, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(before_the_loop_runs_nothing_waits, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_change_that_cannot_begin_is_reported, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(cancelled_changes_leave_nothing, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(stopping_waits_for_the_pool, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
