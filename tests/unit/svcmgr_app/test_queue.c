/** Events that wait: copies in their order; requests are counted and can be dropped, what the world reports stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "svcmgr/app_queue.h"

static void events_are_copies_in_their_order(void **state)
{
    (void)state;
    struct queue q;
    char component[] = "hello", id[] = "container_1", name[] = "hello-0", said[] = "oops";
    const char *names[] = {name};
    struct eng_flex flex = {component, 3, true};
    struct eng_event ev = {.kind = EV_FLEX, .user = "alice", .name = "web", .flex = &flex, .n_flex = 1};
    struct eng_event exited = {.kind = EV_EXITED,
                               .container_id = id,
                               .exit = {.cause = CAUSE_EXITED, .raw = 7, .text = "why", .last_stderr = said},
                               .text = "x"};
    struct eng_event gone = {
        .kind = EV_DECOMMISSION, .user = "alice", .name = "web", .names = names, .n_names = 1};
    queue_init(&q);
    assert_null(queue_first(&q));
    queue_push(&q, &ev, 10);
    queue_push(&q, &exited, 0);
    queue_push(&q, &gone, 5);
    memset(component, '?', 5);
    memset(id, '?', 5);
    memset(said, '?', 4);
    memset(name, '?', 5);
    assert_int_equal(q.n_requests, 2);
    assert_int_equal(q.n_bytes, 15);
    assert_string_equal(queue_first(&q)->flex[0].component, "hello");
    assert_int_equal(queue_first(&q)->flex[0].count, 3);
    queue_pop(&q);
    assert_string_equal(queue_first(&q)->container_id, "container_1");
    assert_string_equal(queue_first(&q)->exit.text, "why");
    assert_string_equal(queue_first(&q)->exit.last_stderr, "oops");
    queue_pop(&q);
    assert_string_equal(queue_first(&q)->names[0], "hello-0");
    assert_int_equal(q.n_requests, 1);
    assert_int_equal(q.n_bytes, 5);
    queue_fini(&q);
    assert_int_equal(q.n_requests, 0);
    assert_int_equal(q.n_bytes, 0);
}

static void a_definition_moves_over(void **state)
{
    (void)state;
    struct queue q;
    struct spec_service *spec = NULL;
    const char *text = "{\"name\":\"web\"}";
    assert_int_equal(spec_read(text, strlen(text), &spec, NULL, NULL), 0);
    struct eng_event ev = {.kind = EV_CREATE, .user = "alice", .take_spec = spec};
    queue_init(&q);
    queue_push(&q, &ev, 1);
    assert_null(ev.take_spec);
    assert_ptr_equal(queue_first(&q)->take_spec, spec);
    queue_fini(&q); /* frees it */
}

static void note_dropped(void *arg, uint64_t token)
{
    uint64_t *sum = arg;
    *sum = *sum * 10 + token;
}

static void requests_are_dropped_and_facts_stay(void **state)
{
    (void)state;
    struct queue q;
    uint64_t dropped = 0;
    queue_init(&q);
    queue_push(&q, &(struct eng_event){.kind = EV_STOP, .token = 1, .user = "a", .name = "b"}, 7);
    queue_push(&q, &(struct eng_event){.kind = EV_LOST, .container_id = "c"}, 0);
    queue_push(&q, &(struct eng_event){.kind = EV_START, .token = 2, .user = "a", .name = "b"}, 7);
    queue_push(&q, &(struct eng_event){.kind = EV_TIMER, .user = "a", .name = "b"}, 0);
    queue_drop_requests(&q, note_dropped, &dropped);
    assert_int_equal(dropped, 12);
    assert_int_equal(q.n_requests, 0);
    assert_int_equal(q.n_bytes, 0);
    assert_int_equal(queue_first(&q)->kind, EV_LOST);
    queue_pop(&q);
    assert_int_equal(queue_first(&q)->kind, EV_TIMER);
    queue_pop(&q);
    assert_null(queue_first(&q));
    queue_fini(&q);
}

/** A service that flaps while nothing can be written does not fill the memory. */
static void a_later_probe_replaces_an_earlier_one(void **state)
{
    (void)state;
    struct queue q;
    size_t n = 0;
    queue_init(&q);
    for (int i = 0; i < 1000; i++) {
        queue_push(
            &q, &(struct eng_event){.kind = EV_PROBE, .container_id = "c", .attempt = 1, .ready = i % 2}, 0);
        queue_push(&q, &(struct eng_event){.kind = EV_PROBE, .container_id = "d", .attempt = 1}, 0);
    }
    queue_push(&q, &(struct eng_event){.kind = EV_PROBE, .container_id = "c", .attempt = 2}, 0);
    assert_string_equal(queue_first(&q)->container_id, "c");
    assert_true(queue_first(&q)->ready);
    for (; queue_first(&q); n++)
        queue_pop(&q);
    assert_int_equal(n, 3);
    queue_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_copies_in_their_order),
        cmocka_unit_test(a_definition_moves_over),
        cmocka_unit_test(requests_are_dropped_and_facts_stay),
        cmocka_unit_test(a_later_probe_replaces_an_earlier_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
