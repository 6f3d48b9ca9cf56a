/* lib/repeats: what one process has taken, another answers as the first did, or says that it does not know. */
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "repeats/claims.h"
#include "repeats/note.h"
#include "store_kit.h"

#define REPEATS STORE_ASIDE "/repeats"

/** Two processes on one store. */
struct test {
    struct kit *kit;
    struct claims *one, *two;
};

/** What a claim has found. */
struct finding {
    struct http_claim *claim;
    bool is_there;
    enum http_repeat what;
    struct http_kept_answer answer;
};

static struct claims *process(struct test *t, int64_t wait_ms, int64_t sweep_ms)
{
    return claims_new(&(struct claims_def){
        .loop = t->kit->loop, .store = t->kit->store, .wait_ms = wait_ms, .sweep_ms = sweep_ms});
}

static int setup(void **state)
{
    struct test *t = mem_new(struct test);
    t->kit = kit_new_rooted();
    t->one = process(t, 0, 0);
    t->two = process(t, 300, 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    if (t->one)
        claims_stop(t->one);
    claims_stop(t->two);
    kit_close(t->kit);
    claims_free(t->one);
    claims_free(t->two);
    kit_free(t->kit);
    free(t);
    return 0;
}

static void on_found(void *arg, enum http_repeat what, const struct http_kept_answer *answer,
                     const struct err_info *why)
{
    struct finding *f = arg;
    assert_false(f->is_there);
    assert_true((what == HTTP_REPEAT_FAILED) == (why != NULL));
    f->is_there = true;
    f->what = what;
    if (answer)
        http_kept_copy(answer, &f->answer);
}

static bool is_there(void *arg)
{
    return ((struct finding *)arg)->is_there;
}

static void begin(struct finding *f, struct claims *c, const char *key, const char *body, bool is_lost)
{
    const struct http_write_key k = {key, strlen(key), body, strlen(body), is_lost, is_lost};
    f->claim = claims_ops.claim(c, &k, on_found, f);
    assert_non_null(f->claim);
}

static void expect(struct test *t, struct finding *f, enum http_repeat what)
{
    kit_until(t->kit, is_there, f);
    assert_int_equal(f->what, what);
}

static void finish(struct finding *f, bool stays)
{
    claims_ops.release(f->claim, stays);
    http_kept_fini(&f->answer);
    *f = (struct finding){0};
}

/** Claim, expect, release. */
static void ask(struct test *t, struct claims *c, const char *key, const char *body, enum http_repeat what)
{
    struct finding f = {0};
    begin(&f, c, key, body, false);
    expect(t, &f, what);
    finish(&f, false);
}

static void settle(struct finding *f, int status, const char *etag, const char *body)
{
    struct http_kept_answer answer = {
        .status = status, .error = status == 409 ? ERR_EXISTS : 0, .media_type = mem_str("text/x")};
    if (etag)
        http_kept_header(&answer, "ETag", etag);
    buf_add_str(&answer.body, body);
    claims_ops.settle(f->claim, &answer);
    http_kept_fini(&answer);
}

static void the_second_gets_what_the_first_was_answered(void **state)
{
    struct test *t = *state;
    struct finding first = {0}, second = {0};
    begin(&first, t->one, "key", "{}", false);
    expect(t, &first, HTTP_REPEAT_FIRST);
    settle(&first, 409, "\"7\"", "no\nmore");
    begin(&second, t->two, "key", "{}", false);
    expect(t, &second, HTTP_REPEAT_KNOWN);
    assert_int_equal(second.answer.status, 409);
    assert_int_equal(second.answer.error, ERR_EXISTS);
    assert_string_equal(second.answer.media_type, "text/x");
    assert_string_equal(second.answer.headers->name, "ETag");
    assert_string_equal(second.answer.headers->value, "\"7\"");
    assert_null(second.answer.headers->next);
    assert_string_equal(buf_cstr(&second.answer.body), "no\nmore");
    assert_false(second.answer.has_lost_body);
    finish(&second, false); /* it is not his to forget */
    ask(t, t->two, "key", "{}", HTTP_REPEAT_KNOWN);
    finish(&first, false);
    ask(t, t->two, "key", "{}", HTTP_REPEAT_FIRST);
}

static void another_key_or_body_is_another_write(void **state)
{
    struct test *t = *state;
    struct finding first = {0}, other = {0};
    begin(&first, t->one, "key", "{}", false);
    expect(t, &first, HTTP_REPEAT_FIRST);
    ask(t, t->two, "key2", "{}", HTTP_REPEAT_FIRST);
    begin(&other, t->two, "key", "{ }", false);
    expect(t, &other, HTTP_REPEAT_FIRST);
    finish(&other, false);
    finish(&first, false);
}

static void a_repeat_without_its_body_finds_the_one_that_had_it(void **state)
{
    struct test *t = *state;
    struct finding none = {0}, first = {0}, lost = {0}, more = {0};
    begin(&none, t->two, "key", "", true);
    expect(t, &none, HTTP_REPEAT_FIRST);
    finish(&none, false);
    begin(&first, t->one, "key", "{}", false);
    expect(t, &first, HTTP_REPEAT_FIRST); /* the one without body was not taken */
    settle(&first, 201, NULL, "made");
    begin(&lost, t->two, "key", "", true);
    expect(t, &lost, HTTP_REPEAT_KNOWN);
    assert_string_equal(buf_cstr(&lost.answer.body), "made");
    finish(&lost, false);
    begin(&more, t->one, "key", "{ }", false);
    expect(t, &more, HTTP_REPEAT_FIRST);
    begin(&lost, t->two, "key", "", true);
    expect(t, &lost, HTTP_REPEAT_UNKNOWN); /* which of the two it was */
    finish(&lost, false);
    finish(&more, false);
    finish(&first, false);
}

/** The second waits for the answer of the first; when none comes, or the first has given up, that is said. */
static void what_is_being_done_is_awaited(void **state)
{
    struct test *t = *state;
    struct finding first = {0}, second = {0};
    begin(&first, t->one, "key", "{}", false);
    expect(t, &first, HTTP_REPEAT_FIRST);
    ask(t, t->two, "key", "{}", HTTP_REPEAT_UNKNOWN);
    claims_stop(t->two);
    claims_free(t->two);
    t->two = process(t, 30000, 0);
    begin(&second, t->two, "key", "{}", false);
    kit_get(t->kit, "/"); /* it has looked once */
    kit_get(t->kit, "/");
    assert_false(second.is_there);
    settle(&first, 201, NULL, "made");
    expect(t, &second, HTTP_REPEAT_KNOWN);
    finish(&second, false);
    settle(&first, 0, NULL, "");
    ask(t, t->two, "key", "{}", HTTP_REPEAT_UNKNOWN);
    begin(&second, t->two, "key", "{}", false);
    finish(&second, false); /* nobody waits for it any more */
    finish(&first, false);
}

/** The first says that it has done nothing while the second waits: the second does it. */
static void what_was_not_done_is_done_by_the_next(void **state)
{
    struct test *t = *state;
    struct finding first = {0}, second = {0};
    claims_stop(t->two);
    claims_free(t->two);
    t->two = process(t, 30000, 0);
    begin(&first, t->one, "key", "{}", false);
    expect(t, &first, HTTP_REPEAT_FIRST);
    begin(&second, t->two, "key", "{}", false);
    kit_get(t->kit, "/");
    finish(&first, false);
    expect(t, &second, HTTP_REPEAT_FIRST);
    finish(&second, false);
    begin(&first, t->one, "key", "{}", false);
    finish(&first, false); /* before it is known: nothing stays */
    ask(t, t->two, "key", "{}", HTTP_REPEAT_FIRST);
}

static bool is_swept(void *arg)
{
    struct test *t = arg;
    return kit_children(t->kit, REPEATS)->n_children == 1;
}

/** A process ends: what it has taken is known for a while, and is removed by another one, which keeps its own. */
static void what_was_left_behind_is_removed(void **state)
{
    struct test *t = *state;
    struct finding left = {0}, own = {0};
    begin(&left, t->one, "left", "", false);
    expect(t, &left, HTTP_REPEAT_FIRST);
    settle(&left, 200, NULL, "");
    finish(&left, true);
    claims_stop(t->one);
    kit_wait(t->kit);
    ask(t, t->two, "left", "", HTTP_REPEAT_KNOWN);
    claims_stop(t->two);
    claims_free(t->two);
    t->two = process(t, 300, 20);
    begin(&own, t->two, "own", "", false);
    expect(t, &own, HTTP_REPEAT_FIRST);
    kit_until(t->kit, is_swept, t);
    ask(t, t->two, "left", "", HTTP_REPEAT_FIRST);
    settle(&own, 200, NULL, "");
    finish(&own, false);
}

/** ZooKeeper refuses the node: the write is done as if there were no others. The embedded store refuses none. */
static void where_no_node_may_be_made_nothing_is_shared(void **state)
{
    static const struct store_acl_entry reading = {STORE_READ, "world", "anyone"};
    const struct store_acl acl = {&reading, 1};
    struct test *t = *state;
    struct outcome made = {0};
    if (strcmp(store_kind(t->kit->store), "zookeeper") != 0)
        skip();
    outcome_begin(&made, t->kit);
    store_create(t->kit->store, STORE_ASIDE, "", 0, &acl, kit_done, &made);
    kit_wait(t->kit);
    assert_int_equal(made.err, 0);
    outcome_fini(&made);
    ask(t, t->one, "key", "{}", HTTP_REPEAT_FIRST);
    ask(t, t->two, "key", "{}", HTTP_REPEAT_FIRST);
}

static void a_node_is_what_was_written(void **state)
{
    struct http_kept_answer large = {.status = 201};
    buf_auto struct buf text = BUF_EMPTY;
    (void)state;
    for (size_t i = 0; i <= NOTE_BODY_MAX; i++)
        buf_add_char(&large.body, 'x');
    note_write("me", &large, &text);
    struct note k = note_read(text.bytes, text.len);
    assert_int_equal(k.state, NOTE_ANSWERED);
    assert_true(k.answer.has_lost_body && k.answer.body.len == 0 && k.answer.status == 201);
    note_fini(&k);
    http_kept_fini(&large);
    static const struct {
        const char *text;
        enum note_state state;
        int status;
    } rows[] = {
        {"", NOTE_BROKEN, 0},
        {"{\"by\":\"x\"}", NOTE_BROKEN, 0}, /* cut */
        {"{\"by\":1}\n", NOTE_BROKEN, 0},
        {"[]\n", NOTE_BROKEN, 0},
        {"{\"by\":\"x\"}\n", NOTE_TAKEN, 0},
        {"{\"by\":\"x\",\"status\":204}\n", NOTE_ANSWERED, 204},
        {"{\"by\":\"x\",\"status\":200,\"headers\":[[\"\",\"c\"]]}\n", NOTE_BROKEN, 0},
        {"{\"by\":\"x\",\"status\":200,\"headers\":[[\"a b\",\"c\"]]}\n", NOTE_BROKEN, 0},
        {"{\"by\":\"x\",\"status\":200,\"headers\":[[\"a:\",\"c\"]]}\n", NOTE_BROKEN, 0},
        {"{\"by\":\"x\",\"status\":200,\"headers\":[[\"A\",\"b\"],[\"transfer-encoding\",\"c\"]]}\n",
         NOTE_BROKEN, 0},
        {"{\"by\":\"x\",\"status\":200,\"headers\":[[1,2]]}\n", NOTE_BROKEN, 0},
        {"{\"by\":\"x\",\"status\":7,\"headers\":[[\"a\",\"b\"]]}\n", NOTE_ANSWERED, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("%s\n", rows[i].text);
        k = note_read(rows[i].text, strlen(rows[i].text));
        assert_int_equal(k.state, rows[i].state);
        assert_int_equal(k.answer.status, rows[i].status);
        note_fini(&k);
    }
}

/** Others may write on ZooKeeper: an answer with more headers than ours have is none. */
static void a_node_with_too_many_headers_is_broken(void **state)
{
    struct http_kept_answer many = {.status = 200};
    (void)state;
    for (int n = 1; n <= NOTE_HEADERS_MAX + 1; n++) {
        buf_auto struct buf text = BUF_EMPTY;
        http_kept_header(&many, "X-A", "b");
        note_write("me", &many, &text);
        struct note k = note_read(text.bytes, text.len);
        assert_int_equal(k.state, n <= NOTE_HEADERS_MAX ? NOTE_ANSWERED : NOTE_BROKEN);
        assert_true(k.state == NOTE_ANSWERED || !k.answer.headers);
        note_fini(&k);
    }
    http_kept_fini(&many);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_second_gets_what_the_first_was_answered),
        CASE(another_key_or_body_is_another_write),
        CASE(a_repeat_without_its_body_finds_the_one_that_had_it),
        CASE(what_is_being_done_is_awaited),
        CASE(what_was_not_done_is_done_by_the_next),
        CASE(what_was_left_behind_is_removed),
        CASE(where_no_node_may_be_made_nothing_is_shared),
        cmocka_unit_test(a_node_is_what_was_written),
        cmocka_unit_test(a_node_with_too_many_headers_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
