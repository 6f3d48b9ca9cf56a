#include "run/loop.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N_THREADS = 4, N_MESSAGES = 5000 };

struct poster {
    struct run_loop *loop;
    struct tally *tally;
    int next; /* number the loop expects of this thread; loop's thread only */
    pthread_t thread;
};

struct tally {
    struct run_loop *loop;
    int n_delivered;
    bool is_in_order;
    struct poster posters[N_THREADS];
};

struct note {
    struct poster *from;
    int number;
};

static struct note notes[N_THREADS][N_MESSAGES];

static void on_note(void *arg)
{
    struct note *note = arg;
    struct tally *tally = note->from->tally;
    if (note->number != note->from->next)
        tally->is_in_order = false;
    note->from->next++;
    if (++tally->n_delivered == N_THREADS * N_MESSAGES)
        run_loop_stop(tally->loop);
}

static void *post_all(void *arg)
{
    struct poster *p = arg;
    struct note *mine = notes[p - p->tally->posters];
    for (int i = 0; i < N_MESSAGES; i++) {
        mine[i] = (struct note){p, i};
        run_post(p->loop, on_note, &mine[i]);
    }
    return NULL;
}

static void messages_of_each_thread_keep_their_order(void **state)
{
    (void)state;
    struct tally tally = {.loop = run_loop_new(), .is_in_order = true};
    for (int i = 0; i < N_THREADS; i++) {
        tally.posters[i] = (struct poster){.loop = tally.loop, .tally = &tally};
        assert_int_equal(pthread_create(&tally.posters[i].thread, NULL, post_all, &tally.posters[i]), 0);
    }
    run_loop_run(tally.loop);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(tally.posters[i].thread, NULL);
    run_loop_free(tally.loop);
    assert_true(tally.is_in_order);
    assert_int_equal(tally.n_delivered, N_THREADS * N_MESSAGES);
}

struct chain {
    struct run_loop *loop;
    int left;
};

static void post_again(void *arg)
{
    struct chain *chain = arg;
    if (--chain->left > 0)
        run_post(chain->loop, post_again, chain);
}

static void freeing_delivers_what_is_queued(void **state)
{
    (void)state;
    struct chain chain = {run_loop_new(), 3};
    run_post(chain.loop, post_again, &chain);
    run_loop_free(chain.loop);
    assert_int_equal(chain.left, 0);
}

struct ticks {
    struct run_loop *loop;
    struct run_timer *timer;
    int n_ticks;
};

static void on_tick(void *arg)
{
    struct ticks *t = arg;
    if (++t->n_ticks == 3) {
        run_timer_free(t->timer);
        run_loop_stop(t->loop);
    }
}

static void never(void *arg)
{
    int *called = arg;
    *called = 1;
}

static void timers_repeat_until_freed(void **state)
{
    (void)state;
    struct ticks t = {.loop = run_loop_new()};
    int called = 0;
    struct run_timer *freed = run_timer_new(t.loop, never, &called);
    struct run_timer *stopped = run_timer_new(t.loop, never, &called);
    t.timer = run_timer_new(t.loop, on_tick, &t);
    run_timer_start(freed, 0, 1);
    run_timer_start(stopped, 0, 1);
    run_timer_free(freed);
    run_timer_stop(stopped);
    run_timer_free(NULL);
    int64_t began_ms = run_now_ms();
    run_timer_start(t.timer, 5, 5);
    run_loop_run(t.loop);
    assert_int_equal(t.n_ticks, 3);
    assert_int_equal(called, 0);
    assert_true(run_now_ms() - began_ms >= 14);
    run_timer_free(stopped);
    run_loop_free(t.loop);
}

static void clocks_run_forward(void **state)
{
    (void)state;
    int64_t us = run_now_us(), ms = run_now_ms();
    assert_true(run_now_us() >= us);
    assert_true(us / 1000 <= ms && ms <= run_now_us() / 1000);
    assert_true(run_wall_ms() > 1700000000000);
    char boot[RUN_BOOT_ID_LEN], again[RUN_BOOT_ID_LEN];
    int64_t boot_ms = run_boot_ms();
    assert_true(boot_ms >= ms); /* it counts suspended time, too */
    assert_true(run_boot_ms() >= boot_ms);
    run_boot_id(boot);
    run_boot_id(again);
    assert_true(boot[0] && strcmp(boot, again) == 0);
}

/** A timer that starts itself again without delay, and others that want their turn, too. */
struct round {
    struct run_loop *loop;
    struct run_timer *again, *never;
    int n_calls, n_posted;
};

static void on_again(void *arg)
{
    struct round *r = arg;
    r->n_calls++;
    run_timer_start(r->again, 0, 0);
}

static void on_never(void *arg)
{
    ((struct round *)arg)->n_posted = -1000;
}

static void on_posted(void *arg)
{
    struct round *r = arg;
    if (++r->n_posted == 5)
        run_loop_stop(r->loop);
    else
        run_post(r->loop, on_posted, r);
}

static void work_in_slices_leaves_the_loop_its_rounds(void **state)
{
    (void)state;
    struct round r = {.loop = run_loop_new()};
    r.again = run_timer_new(r.loop, on_again, &r);
    r.never = run_timer_new(r.loop, on_never, &r);
    run_timer_start(r.again, 0, 0);
    run_timer_start(r.never, 0, 0);
    run_timer_stop(r.never);
    run_post(r.loop, on_posted, &r);
    run_loop_run(r.loop); /* the messages come in between, or this never ends */
    assert_int_equal(r.n_posted, 5);
    assert_true(r.n_calls >= 4);
    run_timer_free(r.never);
    run_timer_free(r.again);
    run_loop_free(r.loop);
}

/** Two timers with work that takes longer than the pause they ask for. */
struct pair {
    struct run_timer *one, *other;
    int n_calls;
};

static void work_long(void *arg, struct run_timer *own)
{
    struct pair *p = arg;
    int64_t began_ms = run_now_ms();
    p->n_calls++;
    while (run_now_ms() - began_ms < 3)
        ;
    run_timer_start(own, 1, 0);
}

static void on_one(void *arg)
{
    work_long(arg, ((struct pair *)arg)->one);
}

static void on_other(void *arg)
{
    work_long(arg, ((struct pair *)arg)->other);
}

static void long_timers_are_called_once_a_round(void **state)
{
    (void)state;
    struct run_loop *loop = run_loop_new();
    struct pair p = {0};
    p.one = run_timer_new(loop, on_one, &p);
    p.other = run_timer_new(loop, on_other, &p);
    run_timer_start(p.one, 1, 0);
    run_timer_start(p.other, 1, 0);
    for (int round = 1; round <= 5; round++) {
        uv_run(run_loop_uv(loop), UV_RUN_NOWAIT);
        assert_true(p.n_calls <= 2 * round);
    }
    while (p.n_calls < 4)
        uv_run(run_loop_uv(loop), UV_RUN_ONCE);
    run_timer_free(p.one);
    run_timer_free(p.other);
    run_loop_free(loop);
}

/* ---- how long a turn took ---- */

enum { WORK_US = 5000 };

struct turn {
    struct run_loop *loop;
    int n;
    struct run_turns inside; /* as the second turn saw it */
};

static void on_work(void *arg)
{
    struct turn *turn = arg;
    int64_t end_us = run_now_us() + WORK_US;
    if (turn->n++) {
        turn->inside = run_loop_turns(turn->loop);
        run_loop_stop(turn->loop);
        return;
    }
    while (run_now_us() < end_us)
        ;
    run_post(turn->loop, on_work, turn);
}

static void a_long_turn_is_counted_when_it_is_over(void **state)
{
    (void)state;
    struct turn turn = {.loop = run_loop_new()};
    struct run_timer *timer = run_timer_new(turn.loop, on_work, &turn);
    assert_int_equal(run_loop_turns(turn.loop).longest_us, 0);
    run_timer_start(timer, 1, 0);
    run_loop_run(turn.loop);
    assert_true(turn.inside.longest_us >= WORK_US);
    assert_true(turn.inside.n_long >= 1);
    assert_true(turn.inside.busiest_us > 0);
    run_timer_free(timer);
    run_loop_free(turn.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_each_thread_keep_their_order),
        cmocka_unit_test(freeing_delivers_what_is_queued),
        cmocka_unit_test(timers_repeat_until_freed),
        cmocka_unit_test(clocks_run_forward),
        cmocka_unit_test(work_in_slices_leaves_the_loop_its_rounds),
        cmocka_unit_test(long_timers_are_called_once_a_round),
        cmocka_unit_test(a_long_turn_is_counted_when_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
