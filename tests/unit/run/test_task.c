#include "run/task.h"

#include "base/buf.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

struct fixture {
    struct run_loop *loop;
    struct buf order; /* a letter a step */
};

/** A task that makes some steps, each of which takes a while. */
struct work {
    struct fixture *fixture;
    struct run_task *task;
    char letter;
    int n_left, n_steps;
    int64_t step_us;
    void (*last)(struct work *w); /* called in the last step; NULL: nothing */
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    f->loop = run_loop_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    run_loop_free(f->loop);
    buf_fini(&f->order);
    test_free(f);
    return 0;
}

static void turn(struct fixture *f)
{
    uv_run(run_loop_uv(f->loop), UV_RUN_NOWAIT);
}

static bool step(void *arg)
{
    struct work *w = arg;
    int64_t began_us = run_now_us();
    w->n_steps++;
    buf_add_char(&w->fixture->order, w->letter);
    while (run_now_us() - began_us < w->step_us)
        continue;
    if (--w->n_left)
        return true;
    if (w->last)
        w->last(w);
    return false;
}

static void a_task_is_stepped_until_it_is_done_and_again_when_it_is_started(void **state)
{
    struct fixture *f = *state;
    struct work w = {.fixture = f, .letter = 'a', .n_left = 3};
    w.task = run_task_new(f->loop, step, &w);
    turn(f);
    assert_int_equal(w.n_steps, 0);
    run_task_start(w.task);
    assert_int_equal(w.n_steps, 0);
    while (w.n_left)
        turn(f);
    turn(f);
    assert_int_equal(w.n_steps, 3);
    w.n_left = 2;
    run_task_start(w.task);
    run_task_start(w.task);
    while (w.n_left)
        turn(f);
    turn(f);
    assert_int_equal(w.n_steps, 5);
    run_task_free(w.task);
}

static void a_turn_has_one_budget_whatever_the_number_of_tasks(void **state)
{
    enum { N_TASKS = 20, N_STEPS = 10, STEP_US = RUN_TASK_US / 4 };
    struct fixture *f = *state;
    struct work works[N_TASKS];
    bool is_over = false;
    for (int i = 0; i < N_TASKS; i++) {
        works[i] = (struct work){.fixture = f, .letter = 'a', .n_left = N_STEPS, .step_us = STEP_US};
        works[i].task = run_task(f->loop, step, &works[i]);
    }
    while (!is_over) {
        size_t n_before = f->order.len;
        turn(f);
        assert_true(f->order.len - n_before <= RUN_TASK_US / STEP_US);
        is_over = f->order.len == n_before;
    }
    assert_int_equal(f->order.len, N_TASKS * N_STEPS);
    for (int i = 0; i < N_TASKS; i++)
        run_task_free(works[i].task);
}

static void tasks_take_rounds_across_turns(void **state)
{
    struct fixture *f = *state;
    struct work a = {.fixture = f, .letter = 'a', .n_left = 5, .step_us = RUN_TASK_US},
                b = {.fixture = f, .letter = 'b', .n_left = 3, .step_us = RUN_TASK_US};
    a.task = run_task(f->loop, step, &a);
    b.task = run_task(f->loop, step, &b);
    while (a.n_left)
        turn(f);
    assert_string_equal(buf_cstr(&f->order), "abababaa");
    run_task_free(a.task);
    run_task_free(b.task);
}

static void on_message(void *arg)
{
    struct fixture *f = arg;
    buf_add_char(&f->order, '!');
}

static bool step_and_post(void *arg)
{
    struct work *w = arg;
    run_post(w->fixture->loop, on_message, w->fixture);
    return step(arg);
}

static void messages_come_between_two_turns_of_a_task(void **state)
{
    struct fixture *f = *state;
    struct work w = {.fixture = f, .letter = 'a', .n_left = 3, .step_us = RUN_TASK_US};
    w.task = run_task(f->loop, step_and_post, &w);
    while (f->order.len < 6)
        turn(f);
    assert_string_equal(buf_cstr(&f->order), "a!a!a!");
    run_task_free(w.task);
}

static void stop_own(struct work *w)
{
    w->n_left = 1; /* step says false all the same; see step_more */
    run_task_stop(w->task);
}

static bool step_more(void *arg)
{
    (void)step(arg);
    return true;
}

static void a_task_that_is_stopped_rests_whatever_its_step_returns(void **state)
{
    struct fixture *f = *state;
    struct work w = {.fixture = f, .letter = 'a', .n_left = 2, .last = stop_own};
    w.task = run_task(f->loop, step_more, &w);
    for (int i = 0; i < 3; i++)
        turn(f);
    assert_int_equal(w.n_steps, 2);
    run_task_start(w.task);
    turn(f);
    assert_int_equal(w.n_steps, 3);
    run_task_start(w.task);
    run_task_stop(w.task);
    turn(f);
    assert_int_equal(w.n_steps, 3);
    run_task_free(w.task);
}

static void start_own(struct work *w)
{
    w->n_left = 2;
    w->last = NULL;
    run_task_start(w->task);
}

static void a_task_that_is_started_in_its_last_step_runs_on(void **state)
{
    struct fixture *f = *state;
    struct work w = {.fixture = f, .letter = 'a', .n_left = 1, .last = start_own};
    w.task = run_task(f->loop, step, &w);
    while (w.n_left)
        turn(f);
    turn(f);
    assert_int_equal(w.n_steps, 3);
    run_task_free(w.task);
}

static void free_own(struct work *w)
{
    run_task_free(w->task);
    w->task = NULL;
}

static void a_task_may_be_freed_in_its_step(void **state)
{
    struct fixture *f = *state;
    struct work a = {.fixture = f, .letter = 'a', .n_left = 1, .last = free_own},
                b = {.fixture = f, .letter = 'b', .n_left = 2, .last = free_own};
    a.task = run_task(f->loop, step, &a);
    b.task = run_task(f->loop, step_more, &b);
    while (a.task || b.task)
        turn(f);
    turn(f);
    assert_string_equal(buf_cstr(&f->order), "abb");
    run_task_free(NULL);
}

static void work_that_begins_now_is_done_on_return_when_it_is_short(void **state)
{
    struct fixture *f = *state;
    struct work w = {.fixture = f, .letter = 'a'};
    int n_done = 0;
    w.task = run_task_new(f->loop, step, &w);
    for (int i = 0; i < 20; i++) { /* a machine that is busy elsewhere may take the time of some of them */
        w.n_left = 2;
        run_task_now(w.task);
        n_done += w.n_left == 0;
        while (w.n_left)
            turn(f);
        turn(f);
    }
    assert_int_equal(w.n_steps, 40);
    assert_true(n_done > 0);
    run_task_free(w.task);
}

static void work_that_begins_now_shares_the_budget_of_the_turn(void **state)
{
    struct fixture *f = *state;
    struct work a = {.fixture = f, .letter = 'a', .n_left = 2, .step_us = RUN_TASK_US},
                b = {.fixture = f, .letter = 'b', .n_left = 1};
    a.task = run_task_new(f->loop, step, &a);
    b.task = run_task_new(f->loop, step, &b);
    run_task_now(a.task);
    run_task_now(b.task);
    assert_string_equal(buf_cstr(&f->order), "a");
    while (a.n_left || b.n_left)
        turn(f);
    assert_string_equal(buf_cstr(&f->order), "aab");
    run_task_free(a.task);
    run_task_free(b.task);
}

static struct work *other;

static void begin_other(struct work *w)
{
    run_task_now(other->task);
    buf_add_char(&w->fixture->order, '.');
}

static void steps_do_not_nest(void **state)
{
    struct fixture *f = *state;
    struct work a = {.fixture = f, .letter = 'a', .n_left = 1, .last = begin_other},
                b = {.fixture = f, .letter = 'b', .n_left = 1};
    a.task = run_task_new(f->loop, step, &a);
    b.task = run_task_new(f->loop, step, &b);
    other = &b;
    run_task_now(a.task);
    assert_string_equal(buf_cstr(&f->order), "a.");
    turn(f);
    assert_string_equal(buf_cstr(&f->order), "a.b");
    run_task_free(a.task);
    run_task_free(b.task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_task_is_stepped_until_it_is_done_and_again_when_it_is_started),
        CASE(a_turn_has_one_budget_whatever_the_number_of_tasks),
        CASE(tasks_take_rounds_across_turns),
        CASE(messages_come_between_two_turns_of_a_task),
        CASE(a_task_that_is_stopped_rests_whatever_its_step_returns),
        CASE(a_task_that_is_started_in_its_last_step_runs_on),
        CASE(a_task_may_be_freed_in_its_step),
        CASE(work_that_begins_now_is_done_on_return_when_it_is_short),
        CASE(work_that_begins_now_shares_the_budget_of_the_turn),
        CASE(steps_do_not_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
