/* Answers that are under way when the store becomes another one: none of them looks like a whole one. */
#include "copy/export.h"
#include "index/find.h"
#include "api/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/obj.h"
#include "fake.h"
#include "http_fixture.h"
#include "json/json.h"

/** Several turns of each answer. */
#define N_RECORDS 700

struct world {
    struct fixture fx;
    struct fake *fake;
    bool is_replaced_amid;
};

/* Another store, with one record where the first had many. */
static void replace(struct fake *f)
{
    fake_begin(f, "b2");
    fake_record(f, "/users/u/services/c/other", "wanted", "container");
    fake_end(f);
}

static void answer_find(struct http_req *req, void *arg)
{
    struct world *w = arg;
    struct find_def def = {.index = w->fake->index,
                           .mirror = w->fake->mirror,
                           .form = http_query(req, "sd") ? FIND_HTTP_SD : FIND_RECORDS,
                           .terms = {[INDEX_ID] = "wanted"},
                           .limit = INT64_MAX};
    find_reply(req, &def);
    if (w->is_replaced_amid)
        replace(w->fake);
}

static void answer_view(struct http_req *req, void *arg)
{
    struct world *w = arg;
    const char *path = "/users/u/services/c";
    struct view_def def = {.mirror = w->fake->mirror,
                           .node = mirror_find(w->fake->mirror, path),
                           .path = path,
                           .form = http_query(req, "tree") ? VIEW_TREE : VIEW_NODE,
                           .limit = INT64_MAX};
    view_reply(req, 200, &def);
    if (w->is_replaced_amid)
        replace(w->fake);
}

static void answer_export(struct http_req *req, void *arg)
{
    struct world *w = arg;
    export_reply(req, w->fake->mirror, &w->fake->base, "/users/u/services/c");
}

static const struct http_route routes[] = {
    {"GET", "/find", 0, 0, answer_find, .summary = "find"},
    {"GET", "/view", 0, 0, answer_view, .summary = "view"},
    {"GET", "/export", 0, 0, answer_export, .summary = "export"},
};

static int world_set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    void *fake;
    fake_set_up(&fake);
    w->fake = fake;
    fake_begin(w->fake, "a1");
    for (int i = 0; i < N_RECORDS; i++) {
        char path[64];
        snprintf(path, sizeof path, "/users/u/services/c/n%03d", i);
        fake_record(w->fake, path, "wanted", "container");
    }
    fake_end(w->fake);
    fixture_start(&w->fx, routes, ARRAY_LEN(routes), w, NULL);
    *state = w;
    return 0;
}

static int world_tear_down(void **state)
{
    struct world *w = *state;
    void *fake = w->fake;
    fixture_end(&w->fx);
    fake_tear_down(&fake);
    free(w);
    return 0;
}

static const struct {
    const char *path, *list; /* member that is the list; NULL: the document */
    size_t n;
} cases[] = {
    {"/find", "records", N_RECORDS},
    {"/find?sd", NULL, 0},
    {"/view", "nodes", N_RECORDS},
    {"/view?tree", "tree", N_RECORDS},
};

static void what_stays_is_answered_whole(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result got = {0};
        json_auto json_t *document = NULL;
        get_sync(&w->fx, cases[i].path, &got);
        assert_int_equal(json_read(got.body.bytes, got.body.len, &document, NULL), 0);
        const json_t *list = cases[i].list ? json_object_get(document, cases[i].list) : document;
        assert_int_equal(json_array_size(list), cases[i].n);
        buf_fini(&got.body);
    }
}

static void an_answer_whose_store_is_replaced_is_no_json(void **state, size_t row)
{
    struct world *w = *state;
    struct result got = {0};
    json_t *document = NULL;
    w->is_replaced_amid = true;
    get_sync(&w->fx, cases[row].path, &got);
    assert_int_not_equal(json_read(got.body.bytes, got.body.len, &document, NULL), 0);
    assert_non_null(
        strstr(buf_cstr(&got.body), "\n{\"error\":\"urn:bobbin:error:revision-gone\",\"detail\":\""));
    assert_null(strstr(buf_cstr(&got.body), "/other"));
    buf_fini(&got.body);
}

static void a_search_is_broken_off(void **state)
{
    an_answer_whose_store_is_replaced_is_no_json(state, 0);
}

static void a_search_for_targets_is_broken_off(void **state)
{
    an_answer_whose_store_is_replaced_is_no_json(state, 1);
}

static void a_list_of_children_is_broken_off(void **state)
{
    an_answer_whose_store_is_replaced_is_no_json(state, 2);
}

static void a_tree_is_broken_off(void **state)
{
    an_answer_whose_store_is_replaced_is_no_json(state, 3);
}

static bool has_asked(void *arg)
{
    return ((const struct world *)arg)->fake->n_asked > 0;
}

/* An answered export, the store replaced after some nodes when `is_amid`. */
static void export_all(struct world *w, bool is_amid, struct result *out)
{
    struct http_call_def def = {.url = fixture_url(&w->fx, "/export"), .done = result_done, .arg = out};
    assert_non_null(http_call(w->fx.client, &def));
    fixture_await_fn(&w->fx, has_asked, w);
    fake_answer(w->fake);
    fixture_await_fn(&w->fx, has_asked, w);
    if (is_amid)
        replace(w->fake);
    while (!out->is_done) {
        fake_answer(w->fake);
        fixture_spin(&w->fx);
    }
}

static void an_export_ends_with_the_reason(void **state)
{
    struct world *w = *state;
    struct result whole = {0}, cut = {0};
    export_all(w, false, &whole);
    assert_non_null(strstr(buf_cstr(&whole.body), "\n{\"end\":true,\"count\":701}\n"));
    export_all(w, true, &cut);
    assert_non_null(strstr(buf_cstr(&cut.body), "/n000"));
    assert_non_null(strstr(buf_cstr(&cut.body), "\n{\"error\":\"urn:bobbin:error:revision-gone\""));
    assert_null(strstr(buf_cstr(&cut.body), "\"end\""));
    assert_null(strstr(buf_cstr(&cut.body), "/other"));
    buf_fini(&whole.body);
    buf_fini(&cut.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stays_is_answered_whole, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(a_search_is_broken_off, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(a_search_for_targets_is_broken_off, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(a_list_of_children_is_broken_off, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(a_tree_is_broken_off, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(an_export_ends_with_the_reason, world_set_up, world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
