/* Who waits for a revision, and what each is called with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "follow/waiters.h"

enum { WAITING = 1, LONG_MS = 600000, SHORT_MS = 20 };

struct bed {
    struct run_loop *loop;
    struct waiters *waiters;
};

/** One that waits. */
struct call {
    struct bed *bed;
    int result; /* WAITING: not called */
    unsigned n_calls;
    const char *then; /* waits for this, too, when it is called */
};

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->loop = run_loop_new();
    b->waiters = waiters_new(b->loop);
    *state = b;
    return 0;
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    waiters_free(b->waiters);
    run_loop_free(b->loop);
    free(b);
    return 0;
}

static void on_called(void *arg, int err)
{
    struct call *c = arg;
    c->result = err;
    c->n_calls++;
    if (c->then)
        assert_int_equal(waiters_add(c->bed->waiters, c->then, LONG_MS, on_called, c), 0);
    c->then = NULL;
}

static struct call waiting(struct bed *b)
{
    return (struct call){.bed = b, .result = WAITING};
}

static void add(struct call *c, const char *revision, int64_t timeout_ms)
{
    assert_int_equal(waiters_add(c->bed->waiters, revision, timeout_ms, on_called, c), 0);
    assert_int_equal(c->n_calls, 0);
}

static void publish(struct bed *b, const char *revision)
{
    waiters_published(b->waiters, revision);
    waiters_visible(b->waiters);
}

/* Run until it is called. */
static void await(struct call *c)
{
    while (c->result == WAITING)
        uv_run(run_loop_uv(c->bed->loop), UV_RUN_ONCE);
}

static void a_revision_is_waited_for_until_readers_see_it(void **state)
{
    struct bed *b = *state;
    struct call five = waiting(b), six = waiting(b);
    add(&five, "s.5", LONG_MS);
    add(&six, "s.6", LONG_MS);
    publish(b, "s.4");
    assert_string_equal(waiters_revision(b->waiters), "s.4");
    waiters_published(b->waiters, "s.5");
    assert_string_equal(waiters_revision(b->waiters), "s.4");
    assert_int_equal(five.result, WAITING);
    waiters_visible(b->waiters);
    assert_string_equal(waiters_revision(b->waiters), "s.5");
    assert_int_equal(five.result, 0);
    assert_int_equal(six.result, WAITING);
    publish(b, "s.9");
    assert_int_equal(six.result, 0);
    assert_true(five.n_calls == 1 && six.n_calls == 1);
}

/** Also who asks for what is there already is called from the loop. */
static void a_revision_that_is_visible_is_not_waited_for_long(void **state)
{
    struct bed *b = *state;
    struct call c = waiting(b);
    publish(b, "s.5");
    add(&c, "s.3", LONG_MS);
    await(&c);
    assert_int_equal(c.result, 0);
}

static void a_revision_of_another_store_never_comes(void **state)
{
    struct bed *b = *state;
    struct call before = waiting(b), after = waiting(b);
    add(&before, "other.1", LONG_MS);
    publish(b, "s.5");
    assert_int_equal(before.result, ERR_GONE);
    add(&after, "other.1", LONG_MS);
    await(&after);
    assert_int_equal(after.result, ERR_GONE);
}

static void who_waits_for_too_long_times_out(void **state)
{
    struct bed *b = *state;
    struct call c = waiting(b), longer = waiting(b);
    add(&longer, "s.5", LONG_MS);
    add(&c, "s.5", SHORT_MS);
    int64_t began_ms = run_now_ms();
    await(&c);
    assert_int_equal(c.result, ERR_TIMEOUT);
    assert_true(run_now_ms() - began_ms >= SHORT_MS - 1);
    assert_int_equal(longer.result, WAITING);
    waiters_forget(b->waiters, &longer);
}

static void what_is_no_revision_is_refused(void **state)
{
    static const char *const texts[] = {"", "5", "s.", "s.x", "s.-1"};
    struct bed *b = *state;
    struct call c = waiting(b);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(waiters_add(b->waiters, texts[i], LONG_MS, on_called, &c), ERR_PARSE);
    publish(b, "s.5");
    assert_int_equal(c.n_calls, 0);
}

static void who_was_forgotten_is_not_called(void **state)
{
    struct bed *b = *state;
    struct call c = waiting(b), other = waiting(b);
    add(&c, "s.5", LONG_MS);
    add(&other, "s.5", LONG_MS);
    waiters_forget(b->waiters, &c);
    publish(b, "s.5");
    assert_int_equal(c.n_calls, 0);
    assert_int_equal(other.result, 0);
}

/** A call may ask for the next revision. */
static void a_call_may_wait_again(void **state)
{
    struct bed *b = *state;
    struct call c = waiting(b);
    c.then = "s.6";
    add(&c, "s.5", LONG_MS);
    publish(b, "s.5");
    assert_int_equal(c.n_calls, 1);
    publish(b, "s.6");
    assert_int_equal(c.n_calls, 2);
}

static void the_end_cancels_all(void **state)
{
    struct bed *b = *state;
    struct call c = waiting(b), other = waiting(b);
    add(&c, "s.5", LONG_MS);
    add(&other, "t.5", LONG_MS);
    waiters_free(b->waiters);
    b->waiters = NULL;
    assert_true(c.result == ERR_CANCELLED && other.result == ERR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_revision_is_waited_for_until_readers_see_it, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_revision_that_is_visible_is_not_waited_for_long, make_bed,
                                        free_bed),
        cmocka_unit_test_setup_teardown(a_revision_of_another_store_never_comes, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(who_waits_for_too_long_times_out, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(what_is_no_revision_is_refused, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(who_was_forgotten_is_not_called, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_call_may_wait_again, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(the_end_cancels_all, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
