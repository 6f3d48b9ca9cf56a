#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "store/mirror/waiters.h"

#define RIG_MAGIC OBJ_MAGIC('R', 'I', 'G', 'W')
#define ONE_MAGIC OBJ_MAGIC('R', 'I', 'G', '1')

enum { N = 4, LONG_MS = 600000, NOT_CALLED = 77 };

/** One waiter: the error it got. */
struct one {
    struct obj obj;
    struct rig *rig;
    int err;
};

struct rig {
    struct obj obj;
    struct run_loop *loop;
    struct mirror_waiters waiters;
    struct one ones[N];
    size_t n_called;
    void (*on_call)(struct rig *r);
};

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    r->loop = run_loop_new();
    mirror_waiters_init(&r->waiters, r->loop);
    for (size_t i = 0; i < N; i++) {
        obj_init(&r->ones[i].obj, ONE_MAGIC);
        r->ones[i].rig = r;
        r->ones[i].err = NOT_CALLED;
    }
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = obj_cast(*state, struct rig, RIG_MAGIC);
    mirror_waiters_fini(&r->waiters);
    run_loop_free(r->loop);
    free(r);
    return 0;
}

static void on_done(void *arg, int err)
{
    struct one *one = obj_cast(arg, struct one, ONE_MAGIC);
    assert_int_equal(one->err, NOT_CALLED);
    one->err = err;
    one->rig->n_called++;
    if (one->rig->on_call)
        one->rig->on_call(one->rig);
}

static void add(struct rig *r, size_t i, int64_t zxid, bool is_applied, int64_t timeout_ms)
{
    mirror_waiters_add(&r->waiters, zxid, is_applied, timeout_ms, on_done, &r->ones[i]);
}

/* Turn the loop until n of them were called. */
static void until_called(struct rig *r, size_t n)
{
    while (r->n_called < n)
        uv_run(run_loop_uv(r->loop), UV_RUN_ONCE);
    assert_int_equal(r->n_called, n);
}

static void applied_is_reported_in_a_later_turn(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, true, LONG_MS);
    assert_int_equal(r->n_called, 0);
    until_called(r, 1);
    assert_int_equal(r->ones[0].err, 0);
}

static void waking_reaches_those_up_to_the_number(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, false, LONG_MS);
    add(r, 1, 7, false, LONG_MS);
    add(r, 2, 6, false, LONG_MS);
    mirror_waiters_wake(&r->waiters, 6);
    assert_int_equal(r->n_called, 0);
    until_called(r, 2);
    assert_int_equal(r->ones[0].err, 0);
    assert_int_equal(r->ones[1].err, NOT_CALLED);
    assert_int_equal(r->ones[2].err, 0);
    mirror_waiters_wake(&r->waiters, 7);
    until_called(r, 3);
    assert_int_equal(r->ones[1].err, 0);
}

static void the_time_limit_ends_a_wait(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, false, 1);
    add(r, 1, 5, false, -1);
    add(r, 2, 5, false, LONG_MS);
    until_called(r, 2);
    assert_int_equal(r->ones[0].err, ERR_TIMEOUT);
    assert_int_equal(r->ones[1].err, ERR_TIMEOUT);
    assert_int_equal(r->ones[2].err, NOT_CALLED);
}

static void a_due_waiter_does_not_time_out(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, false, 0);
    mirror_waiters_wake(&r->waiters, 5);
    until_called(r, 1);
    assert_int_equal(r->ones[0].err, 0);
}

static void forgotten_ones_are_not_called(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, false, LONG_MS);
    add(r, 0, 6, true, 0); /* the same arg, twice */
    add(r, 1, 5, false, LONG_MS);
    mirror_waiters_forget(&r->waiters, &r->ones[0]);
    mirror_waiters_wake(&r->waiters, 9);
    until_called(r, 1);
    assert_int_equal(r->ones[0].err, NOT_CALLED);
    assert_int_equal(r->ones[1].err, 0);
}

static void forget_two_and_add_one(struct rig *r)
{
    r->on_call = NULL;
    mirror_waiters_forget(&r->waiters, &r->ones[1]);
    mirror_waiters_forget(&r->waiters, &r->ones[2]);
    add(r, 3, 9, true, 0);
}

static void a_callback_may_forget_and_add(void **state)
{
    struct rig *r = *state;
    for (size_t i = 0; i < 3; i++)
        add(r, i, 5, false, LONG_MS);
    r->on_call = forget_two_and_add_one;
    mirror_waiters_wake(&r->waiters, 5);
    until_called(r, 2);
    assert_int_equal(r->ones[0].err, 0);
    assert_int_equal(r->ones[1].err, NOT_CALLED);
    assert_int_equal(r->ones[2].err, NOT_CALLED);
    assert_int_equal(r->ones[3].err, 0);
}

static void the_end_cancels_all(void **state)
{
    struct rig *r = *state;
    add(r, 0, 5, false, LONG_MS);
    add(r, 1, 5, true, LONG_MS);
    mirror_waiters_fini(&r->waiters);
    assert_int_equal(r->n_called, 2);
    assert_int_equal(r->ones[0].err, ERR_CANCELLED);
    assert_int_equal(r->ones[1].err, ERR_CANCELLED);
    uv_run(run_loop_uv(r->loop), UV_RUN_NOWAIT);
    assert_int_equal(r->n_called, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(applied_is_reported_in_a_later_turn),
        CASE(waking_reaches_those_up_to_the_number),
        CASE(the_time_limit_ends_a_wait),
        CASE(a_due_waiter_does_not_time_out),
        CASE(forgotten_ones_are_not_called),
        CASE(a_callback_may_forget_and_add),
        CASE(the_end_cancels_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
