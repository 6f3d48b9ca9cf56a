/* Purging on a real store: the rows that a walk of the tree would give, and what changes meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "registryd/events.h"
#include "cleanup/purge.h"
#include "store_kit.h"

struct fixture {
    struct kit *kit;
    struct index *index;
    struct reg_store *ops;
    struct metrics *metrics;
    struct purger *purger;
};

/* What a purge said. */
struct said {
    bool is_done;
    int err;
    int64_t n_deletes, n_examined;
    struct buf paths;
};

static const struct metric_def rows[] = {METRICS_ROWS(REGISTRYD_METRICS)};

static int set_up(void **state)
{
    struct fixture *x = mem_new(struct fixture);
    x->kit = kit_new_rooted();
    x->kit->mirror = mirror_new(x->kit->store);
    x->index = index_new(x->kit->loop, x->kit->mirror);
    x->ops = reg_store_new(x->kit->loop, x->kit->store, REG_NAMES_ZOOKEEPER, NULL);
    x->metrics = metrics_new(rows, ARRAY_LEN(rows));
    x->purger = purger_new(x->kit->loop, x->index, x->ops, x->metrics);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    purger_stop(x->purger);
    kit_close(x->kit);
    purger_free(x->purger);
    reg_store_free(x->ops);
    index_free(x->index);
    kit_free(x->kit);
    metrics_free(x->metrics);
    free(x);
    return 0;
}

static bool is_built(void *arg)
{
    return index_ready(arg);
}

/* A record at a path; everybody sees it when this returns. */
static void put_record(struct fixture *x, const char *path, const char *id, const char *persistence)
{
    mem_auto char *text = mem_fmt("{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"%s\","
                                  "\"yarn:persistence\":\"%s\"}",
                                  id, persistence);
    struct outcome *o = kit_create(x->kit, path, text);
    if (o->err)
        o = kit_set(x->kit, path, text, -1);
    assert_err(o, 0);
    kit_until(x->kit, is_built, x->index);
    kit_applied(x->kit, o->zxid);
}

static void on_purged(void *arg, int err, const struct purge_result *r)
{
    struct said *s = arg;
    assert_false(s->is_done);
    s->is_done = true;
    s->err = err;
    s->n_deletes = r->n_deletes;
    s->n_examined = r->n_examined;
    for (int64_t i = 0; i < r->n_deletes; i++)
        buf_addf(&s->paths, "%s ", r->paths[i]);
}

static bool is_done(void *arg)
{
    return ((struct said *)arg)->is_done;
}

static void assert_purge(struct fixture *x, const struct purge_def *def, int err, const char *paths)
{
    struct said s = {0};
    kit_until(x->kit, is_built, x->index);
    purge(x->purger, def, on_purged, &s);
    assert_false(s.is_done);
    kit_until(x->kit, is_done, &s);
    assert_string_equal(err_name(s.err), err_name(err));
    assert_string_equal(buf_cstr(&s.paths), paths);
    buf_fini(&s.paths);
}

/* Matches are dealt with from the top: what goes with its parent is not counted. */
static void order_and_counts(void **state)
{
    struct fixture *x = *state;
    put_record(x, "/b", "m", "container");
    put_record(x, "/a", "m", "container");
    put_record(x, "/a/x", "m", "container");
    put_record(x, "/a/x/y", "m", "container");
    put_record(x, "/a!", "m", "container"); /* '!' sorts before '/' as a byte, not as a path */
    put_record(x, "/c", "m", "application");
    struct purge_def def = {.id = "m", .persistence = "container"};
    def.dry_run = true;
    assert_purge(x, &def, 0, "/a /a! /b ");
    def.dry_run = false;
    assert_purge(x, &def, 0, "/a /a! /b ");
    assert_int_equal(metric_value(x->metrics, M_PURGED), 3);
    assert_int_equal(metric_value(x->metrics, M_PURGE_EXAMINED), 2 * 4); /* the three, and /c by its id */
    assert_err(kit_get(x->kit, "/c"), 0);
    assert_err(kit_get(x->kit, "/a/x/y"), ERR_NOTFOUND);
}

static void policies(void **state)
{
    struct fixture *x = *state;
    put_record(x, "/a", "m", "container");
    put_record(x, "/a/leaf", "m", "container");
    put_record(x, "/a/other", "o", "container");
    struct purge_def def = {.id = "m", .persistence = "container", .policy = PURGE_FAIL};
    assert_purge(x, &def, ERR_NOTEMPTY, "");
    def.policy = PURGE_SKIP;
    assert_purge(x, &def, 0, "/a/leaf ");
    def.path = "/nowhere";
    def.policy = PURGE_ALL;
    assert_purge(x, &def, 0, "");
    def.path = "/";
    assert_purge(x, &def, 0, "/a ");
}

static void selectors_must_say_something(void **state)
{
    struct fixture *x = *state;
    put_record(x, "/a", "m", "container");
    assert_purge(x, &(struct purge_def){.id = "", .persistence = "container"}, ERR_INVALID, "");
    assert_purge(x, &(struct purge_def){.id = "m", .persistence = ""}, ERR_INVALID, "");
    assert_purge(x, &(struct purge_def){.id = "m", .persistence = "container", .path = "/a//b"}, ERR_PATH,
                 "");
}

static void ignore(void *arg, int err, const struct store_result *r)
{
    (void)arg;
    (void)err;
    (void)r;
}

/* The store is ahead of the index: what it says counts. */
static void what_changed_meanwhile_is_judged_anew(void **state)
{
    struct fixture *x = *state;
    static const char other[] =
        "{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"other\",\"yarn:persistence\":\"container\"}";
    put_record(x, "/gone", "m", "container");
    put_record(x, "/rebound", "m", "container");
    put_record(x, "/stays-a-match", "m", "container");
    struct said s = {0};
    struct purge_def def = {.id = "m", .persistence = "container"};
    purge(x->purger, &def, on_purged, &s);
    store_delete(x->kit->store, "/gone", -1, ignore, NULL);
    store_set(x->kit->store, "/rebound", other, sizeof other - 1, -1, ignore, NULL);
    kit_until(x->kit, is_done, &s);
    assert_int_equal(s.err, 0);
    assert_string_equal(buf_cstr(&s.paths), "/stays-a-match ");
    buf_fini(&s.paths);
    assert_err(kit_get(x->kit, "/rebound"), 0);
}

/* A record that is bound over and over while it is purged: each time it is the same match, so it goes in the end. */
static void a_match_that_is_written_again_goes_too(void **state)
{
    struct fixture *x = *state;
    put_record(x, "/busy", "m", "container");
    struct said s = {0};
    struct purge_def def = {.id = "m", .persistence = "container"};
    struct outcome *data = kit_get(x->kit, "/busy");
    mem_auto char *text = mem_str(data->data);
    purge(x->purger, &def, on_purged, &s);
    for (int i = 0; i < 3 && !s.is_done; i++) {
        store_set(x->kit->store, "/busy", text, strlen(text), -1, ignore, NULL);
        uv_run(run_loop_uv(x->kit->loop), UV_RUN_ONCE);
    }
    kit_until(x->kit, is_done, &s);
    assert_int_equal(s.err, 0);
    assert_int_equal(s.n_deletes, 1);
    buf_fini(&s.paths);
}

static void a_stopped_purger_deletes_nothing_more(void **state)
{
    struct fixture *x = *state;
    put_record(x, "/a", "m", "container");
    struct said s = {0};
    struct purge_def def = {.id = "m", .persistence = "container"};
    purge(x->purger, &def, on_purged, &s);
    purger_stop(x->purger);
    kit_until(x->kit, is_done, &s);
    assert_int_equal(s.err, ERR_CANCELLED);
    assert_err(kit_get(x->kit, "/a"), 0);
    buf_fini(&s.paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(order_and_counts),
        CASE(policies),
        CASE(selectors_must_say_something),
        CASE(what_changed_meanwhile_is_judged_anew),
        CASE(a_match_that_is_written_again_goes_too),
        CASE(a_stopped_purger_deletes_nothing_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
