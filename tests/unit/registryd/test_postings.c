/* Postings: what is found follows every change, costs what the rarest term has, and no turn of the loop does all of the work. */
#include "index/postings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "run/task.h"

/** More than a key may have to be squeezed at once. */
enum { MANY = 12000, STAYS_EVERY = 5 };

struct fixture {
    struct run_loop *loop;
    struct postings *p;
    /* takes the whole budget of a turn, so that the tasks of the postings get a step a turn at most */
    struct run_task *hog;
    struct posting_entry *entries[MANY + 1];
    size_t n_entries;
};

static bool hog_step(void *arg)
{
    (void)arg;
    int64_t began_us = run_now_us();
    while (run_now_us() - began_us <= RUN_TASK_US)
        continue;
    return true;
}

static int set_up(void **state)
{
    struct fixture *f = *state = mem_new(struct fixture);
    f->loop = run_loop_new();
    f->hog = run_task_new(f->loop, hog_step, f);
    f->p = postings_new(f->loop);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    postings_free(f->p);
    run_task_free(f->hog);
    run_loop_free(f->loop);
    free(f);
    return 0;
}

static void turn(struct fixture *f)
{
    uv_run(run_loop_uv(f->loop), UV_RUN_NOWAIT);
}

/* The nodes are not read: each address stands for another node. */
static const struct mirror_node *node_at(const struct fixture *f, size_t i)
{
    return (const struct mirror_node *)(const void *)((const char *)f + i);
}

/* An entry more, with the yarn:id and the user. */
static void add(struct fixture *f, const char *id, const char *user)
{
    mem_auto char *id_text = mem_str(id), *user_text = mem_str(user);
    struct index_term items[] = {{INDEX_ID, id_text}, {INDEX_USER, user_text}};
    struct index_terms terms = {items, 2, INDEX_CONTAINER};
    f->entries[f->n_entries] = postings_add(f->p, node_at(f, f->n_entries), &terms);
    f->n_entries++;
}

static void drop(struct fixture *f, size_t i)
{
    postings_remove(f->p, f->entries[i]);
    f->entries[i] = NULL;
}

static void make_many(struct fixture *f)
{
    f->n_entries = 0;
    for (int i = 0; i < MANY; i++)
        add(f, "x", "u");
}

/* All entries that are left are found once, in the order in which they came, and nothing else. */
static void assert_finds_what_is_left(const struct fixture *f)
{
    const char *const terms[INDEX_N_KINDS] = {[INDEX_USER] = "u"};
    uint64_t after = 0;
    size_t n_visits = SIZE_MAX;
    for (size_t i = 0; i < f->n_entries; i++) {
        if (f->entries[i])
            assert_ptr_equal(postings_next(f->p, terms, &after, &n_visits), f->entries[i]);
    }
    assert_null(postings_next(f->p, terms, &after, &n_visits));
}

/* Take out all but every fifth, from both ends in turn; the loop has a turn now and then from the half on. */
static void thin_out(struct fixture *f)
{
    run_task_start(f->hog);
    for (size_t i = 0; i < MANY; i++) {
        size_t n = i % 2 ? MANY - 1 - i / 2 : i / 2;
        if (n % STAYS_EVERY)
            drop(f, n);
        if (i > MANY / 2 && i % 500 == 0) {
            turn(f);
            assert_finds_what_is_left(f);
        }
    }
    run_task_stop(f->hog);
}

static void an_entry_is_found_by_each_of_its_terms(void **state)
{
    struct fixture *f = *state;
    const char *const by_id[INDEX_N_KINDS] = {[INDEX_ID] = "one"};
    const char *const by_both[INDEX_N_KINDS] = {[INDEX_ID] = "one", [INDEX_USER] = "other"};
    uint64_t after = 0;
    size_t n_visits = SIZE_MAX;
    add(f, "one", "u");
    assert_ptr_equal(postings_next(f->p, by_id, &after, &n_visits)->node, node_at(f, 0));
    after = 0;
    assert_null(postings_next(f->p, by_both, &after, &n_visits));
    assert_string_equal(posting_entry_term(f->entries[0], INDEX_USER), "u");
    assert_null(posting_entry_term(f->entries[0], INDEX_API));
    assert_true(postings_has(f->p, INDEX_ID, "one"));
    drop(f, 0);
    assert_false(postings_has(f->p, INDEX_ID, "one"));
    assert_int_equal(postings_n_bytes(f->p), 0);
}

static void an_entry_fits_its_own_terms_only(void **state)
{
    struct fixture *f = *state;
    char one[] = "one", u[] = "u", two[] = "two";
    struct index_term same[] = {{INDEX_ID, one}, {INDEX_USER, u}},
                      other[] = {{INDEX_ID, two}, {INDEX_USER, u}};
    add(f, "one", "u");
    assert_true(posting_entry_fits(f->entries[0], &(struct index_terms){same, 2, INDEX_CONTAINER}));
    assert_false(posting_entry_fits(f->entries[0], &(struct index_terms){same, 2, INDEX_ATTEMPT}));
    assert_false(posting_entry_fits(f->entries[0], &(struct index_terms){same, 1, INDEX_CONTAINER}));
    assert_false(posting_entry_fits(f->entries[0], &(struct index_terms){other, 2, INDEX_CONTAINER}));
}

static void a_search_costs_what_its_rarest_term_has(void **state)
{
    struct fixture *f = *state;
    const char *const terms[INDEX_N_KINDS] = {[INDEX_USER] = "u", [INDEX_ID] = "few"};
    uint64_t after = 0;
    size_t n_visits = 100, n_found = 0;
    for (int i = 0; i < 3000; i++)
        add(f, i % 1000 ? "many" : "few", "u");
    while (postings_next(f->p, terms, &after, &n_visits))
        n_found++;
    assert_int_equal(n_found, 3);
    assert_int_equal(100 - n_visits, 3);
}

static void a_large_key_is_squeezed_in_steps(void **state)
{
    struct fixture *f = *state;
    make_many(f);
    size_t full = postings_n_bytes(f->p);
    thin_out(f);
    add(f, "x", "u");
    assert_finds_what_is_left(f);
    while (postings_n_bytes(f->p) > full * 2 / 5) /* four fifths of what was there are gone */
        turn(f);
    assert_finds_what_is_left(f);
}

static void a_key_goes_while_it_is_squeezed(void **state)
{
    struct fixture *f = *state;
    make_many(f);
    thin_out(f);
    for (size_t i = 0; i < MANY; i += STAYS_EVERY)
        drop(f, i);
    assert_int_equal(postings_n_bytes(f->p), 0);
    make_many(f);
    thin_out(f);
    postings_clear(f->p);
    while (postings_n_bytes(f->p) > 0)
        turn(f);
    assert_int_equal(postings_n_entries(f->p), 0);
}

/* What was cleared is freed over many turns of the loop, and meanwhile what came after it counts. */
static void cleared_postings_are_freed_in_steps(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 6000; i++) {
        char id[32];
        snprintf(id, sizeof id, "id%d", i / 2);
        add(f, id, "u");
    }
    size_t full = postings_n_bytes(f->p), before = full, n_turns = 0;
    run_task_start(f->hog);
    postings_clear(f->p);
    f->n_entries = 0;
    add(f, "id1", "u");
    for (; postings_n_bytes(f->p) > full / 10; n_turns++) {
        size_t now = postings_n_bytes(f->p);
        assert_true(before < now || before - now <= full / 4);
        before = now;
        assert_finds_what_is_left(f);
        turn(f);
    }
    assert_true(n_turns > 10);
    run_task_stop(f->hog);
    drop(f, 0);
    while (postings_n_bytes(f->p) > 0)
        turn(f);
}

static void applications_come_in_the_order_of_their_serials(void **state)
{
    struct fixture *f = *state;
    struct index_app first, second, none = {NULL, 7};
    for (int i = 0; i < 2; i++) {
        mem_auto char *id = mem_fmt("application_1_000%d", i);
        struct index_term item = {INDEX_APP, id};
        f->entries[i] =
            postings_add(f->p, node_at(f, (size_t)i), &(struct index_terms){&item, 1, INDEX_APPLICATION});
    }
    assert_true(postings_app_after(f->p, NULL, &first));
    assert_string_equal(first.id, "application_1_0000");
    assert_true(postings_app_after(f->p, &first, &second));
    assert_string_equal(second.id, "application_1_0001");
    assert_true(second.serial > first.serial);
    assert_false(postings_app_after(f->p, &second, &none));
    assert_int_equal(none.serial, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(an_entry_is_found_by_each_of_its_terms),
        CASE(an_entry_fits_its_own_terms_only),
        CASE(a_search_costs_what_its_rarest_term_has),
        CASE(a_large_key_is_squeezed_in_steps),
        CASE(a_key_goes_while_it_is_squeezed),
        CASE(cleared_postings_are_freed_in_steps),
        CASE(applications_come_in_the_order_of_their_serials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
