/* The index of records: what is found follows every change, costs little, and pages without gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fake.h"
#include "run/task.h"

static void assert_found(struct fake *f, enum index_kind kind, const char *term, const char *expected)
{
    mem_auto char *found = fake_find(f, kind, term);
    assert_string_equal(found, expected);
}

static void what_was_there_at_first_is_found(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "a1");
    for (int i = 0; i < 500; i++) { /* several steps */
        char path[64];
        snprintf(path, sizeof path, "/users/u%d", i);
        fake_record(f, path, i == 499 ? "wanted" : "other", "container");
    }
    assert_false(index_ready(f->index));
    fake_end(f);
    assert_found(f, INDEX_ID, "wanted", "/users/u499\n");
    assert_int_equal(index_n_records(f->index), 500);
}

/* Whoever sees that the registry is ready may search it. */
static void a_small_registry_is_built_when_it_is_read(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "a1");
    fake_record(f, "/r", "wanted", "container");
    f->ops->end(f->follower, ++f->zxid);
    assert_true(index_ready(f->index));
    assert_found(f, INDEX_ID, "wanted", "/r\n");
}

/* Takes the whole budget of a turn. */
static bool hog_step(void *arg)
{
    int64_t began_us = run_now_us();
    (void)arg;
    while (run_now_us() - began_us <= RUN_TASK_US)
        continue;
    return false;
}

static void changes_during_the_building_count(void **state)
{
    struct fake *f = *state;
    struct run_task *hog = run_task_new(f->loop, hog_step, f);
    fake_begin(f, "a1");
    for (int i = 0; i < 300; i++) {
        char path[64];
        snprintf(path, sizeof path, "/n%03d", i);
        fake_record(f, path, "id", "container");
    }
    run_task_now(hog);
    f->ops->end(f->follower, ++f->zxid);
    assert_false(index_ready(f->index));
    fake_record(f, "/n299", "new", "container");
    fake_gone(f, "/n298");
    fake_gone(f, "/n000");
    while (!index_ready(f->index))
        uv_run(run_loop_uv(f->loop), UV_RUN_NOWAIT);
    assert_found(f, INDEX_ID, "new", "/n299\n");
    assert_int_equal(index_n_records(f->index), 298);
    run_task_free(hog);
}

static void a_record_moves_with_its_terms(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "a1");
    fake_end(f);
    fake_record(f, "/users/u/services/c/i", "one", "container");
    assert_found(f, INDEX_ID, "one", "/users/u/services/c/i\n");
    assert_found(f, INDEX_USER, "u", "/users/u/services/c/i\n");
    assert_found(f, INDEX_CLASS, "c", "/users/u/services/c/i\n");
    fake_record(f, "/users/u/services/c/i", "two", "container");
    assert_found(f, INDEX_ID, "one", "");
    assert_found(f, INDEX_ID, "two", "/users/u/services/c/i\n");
    fake_put(f, "/users/u/services/c/i", "no record any more");
    assert_found(f, INDEX_ID, "two", "");
    assert_found(f, INDEX_USER, "u", "");
    assert_int_equal(index_n_records(f->index), 0);
    fake_record(f, "/users/u/services/c/i", "two", "container");
    fake_gone(f, "/users");
    assert_found(f, INDEX_ID, "two", "");
    assert_int_equal(index_n_bytes(f->index), 0);
}

static void another_store_begins_anew(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "a1");
    fake_record(f, "/old", "x", "container");
    fake_end(f);
    uint64_t epoch = index_epoch(f->index);
    fake_begin(f, "b2");
    fake_record(f, "/new", "x", "container");
    fake_end(f);
    assert_found(f, INDEX_ID, "x", "/new\n");
    assert_true(index_epoch(f->index) != epoch);
}

/* Numbers only grow: whatever comes and goes meanwhile, what stays is seen once. */
static void paging_misses_nothing_that_stays(void **state)
{
    struct fake *f = *state;
    struct index_query query = {.terms = {[INDEX_USER] = "u"}};
    bool seen[1000] = {false};
    fake_begin(f, "a1");
    for (int i = 0; i < 1000; i++) {
        char path[64];
        snprintf(path, sizeof path, "/users/u/services/c/n%d", i);
        fake_record(f, path, "x", "container");
    }
    fake_end(f);
    uint64_t after = 0;
    const struct mirror_node *node;
    for (int page = 0;; page++) {
        size_t n_visits = 7;
        node = index_next(f->index, &query, &after, &n_visits);
        if (!node && n_visits)
            break;
        if (node) {
            int n = atoi(node->name + 1);
            assert_false(seen[n]);
            seen[n] = true;
        }
        char path[64]; /* half of them go, behind and ahead of the reader */
        snprintf(path, sizeof path, "/users/u/services/c/n%d", (page * 37) % 1000 | 1);
        fake_gone(f, path);
    }
    for (int i = 0; i < 1000; i += 2)
        assert_true(seen[i]);
}

/* ---- a key with many records that loses most of them ---- */

static void applications_are_listed_once_in_order_of_appearance(void **state)
{
    struct fake *f = *state;
    struct index_app app = {0};
    fake_begin(f, "a1");
    fake_end(f);
    fake_record(f, "/c1", "container_e17_5_0001_01_000002", "container");
    fake_record(f, "/a1", "application_5_0001", "application");
    fake_record(f, "/p", "application_5_0009", "permanent");
    fake_record(f, "/a2", "appattempt_5_0002_000001", "application-attempt");
    assert_true(index_app_after(f->index, NULL, &app));
    assert_string_equal(app.id, "application_5_0001");
    struct index_app first = {"application_5_0001", app.serial};
    assert_true(index_app_after(f->index, &first, &app));
    assert_string_equal(app.id, "application_5_0002");
    struct index_app second = {"application_5_0002", app.serial};
    assert_false(index_app_after(f->index, &second, &app));
    fake_gone(f, "/c1");
    fake_gone(f, "/a1");
    assert_false(index_has_app(f->index, "application_5_0001"));
    assert_true(index_app_after(f->index, &first, &app));
    assert_string_equal(app.id, "application_5_0002");
    assert_false(index_app_after(f->index, &second, &app));
}

/* All applications that are listed after one, each with a blank after it. Static. */
static const char *apps_after(struct fake *f, const struct index_app *last)
{
    static char text[256];
    struct index_app app;
    size_t n = 0;
    text[0] = 0;
    for (bool more = index_app_after(f->index, last, &app); more;
         more = index_app_after(f->index, &app, &app))
        n += (size_t)snprintf(text + n, sizeof text - n, "%s ", app.id + strlen("application_5_"));
    return text;
}

/* Whoever has seen an application without attempts and containers sees it again when it gets some. */
static void an_application_that_gets_parts_is_listed_again(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "a1");
    fake_end(f);
    fake_record(f, "/a1", "application_5_0001", "application");
    fake_record(f, "/a2", "application_5_0002", "application");
    fake_record(f, "/a3", "application_5_0003", "application");
    struct index_app app, seen;
    assert_true(index_app_after(f->index, NULL, &app));
    seen = (struct index_app){"application_5_0001", app.serial};
    assert_string_equal(apps_after(f, &seen), "0002 0003 ");
    fake_record(f, "/c1", "container_5_0001_01_000002", "container"); /* the one that was seen last */
    assert_string_equal(apps_after(f, &seen), "0002 0003 0001 ");
    fake_record(f, "/c2", "container_5_0001_01_000003", "container"); /* nothing new of it */
    fake_record(f, "/p2", "application_5_0002", "permanent");
    assert_string_equal(apps_after(f, &seen), "0002 0003 0001 ");
    fake_record(f, "/am2", "appattempt_5_0002_000001", "application-attempt");
    assert_string_equal(apps_after(f, &seen), "0003 0001 0002 ");
    fake_gone(f, "/c1");
    fake_gone(f, "/c2");
    assert_string_equal(apps_after(f, &seen), "0003 0001 0002 ");
    fake_record(f, "/c3", "container_5_0001_01_000004", "container");
    assert_string_equal(apps_after(f, &seen), "0003 0002 0001 ");
    assert_string_equal(apps_after(f, NULL), "0003 0002 0001 ");
}

/* Mirror and index together stay below 1 kB a record beyond its own bytes. */
static void memory_of_a_record(void **state)
{
    struct fake *f = *state;
    enum { N = 20000 };
    size_t own = 0;
    fake_begin(f, "a1");
    fake_put(f, "/users", "");
    for (int i = 0; i < N; i++) {
        mem_auto char *path = mem_fmt("/users/u%d", i);
        mem_auto char *text = mem_fmt(
            "{\"type\":\"JSONServiceRecord\",\"external\":[{\"api\":\"http://\",\"addressType\":\"uri\","
            "\"protocolType\":\"webui\",\"addresses\":[{\"uri\":\"http://h%d/\"}]}],\"yarn:component\":\"c\","
            "\"yarn:id\":\"container_e02_1524525041218_%04d_01_000002\",\"yarn:persistence\":\"container\"}",
            i, i);
        own += strlen(text);
        fake_put(f, path, text);
    }
    fake_end(f);
    assert_int_equal(index_n_records(f->index), N);
    size_t per_record = (mirror_n_bytes(f->mirror) + index_n_bytes(f->index) - own) / N;
    assert_in_range(per_record, 200, 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, fake_set_up, fake_tear_down)
        CASE(what_was_there_at_first_is_found),
        CASE(a_small_registry_is_built_when_it_is_read),
        CASE(changes_during_the_building_count),
        CASE(a_record_moves_with_its_terms),
        CASE(another_store_begins_anew),
        CASE(paging_misses_nothing_that_stays),
        CASE(applications_are_listed_once_in_order_of_appearance),
        CASE(an_application_that_gets_parts_is_listed_again),
        CASE(memory_of_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
