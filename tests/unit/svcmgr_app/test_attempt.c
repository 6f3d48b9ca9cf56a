/**
 * Two processes write one service: the one that took the attempt node first loses, and writes nothing any more.
 * BOBBIN_TEST_ZK says which ZooKeeper; without it the embedded store, where the other one is played by its store handle.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "state/state_priv.h"
#include "tree_kit.h"

#define DEFINITION "definitions/services/alice/web"
#define SERVICE    "services/alice/web"
#define INSTANCE   "services/alice/web/hello-0"
#define LEASE_MS   200

/** What the tests share: a store that only they use. */
struct bench {
    struct run_loop *loop;
    char *url;
    char dir[64];
    bool is_shared;
};

struct writer {
    struct bench *bench;
    struct state *state;
    char story[1024]; /* "key=text " of each document read */
    int err;
    enum state_outcome outcome;
    struct err_info why;
};

static void on_one(void *arg, const char *key, const char *bytes, size_t len)
{
    struct writer *w = arg;
    size_t at = strlen(w->story);

    snprintf(w->story + at, sizeof w->story - at, "%s=%.*s ", key, (int)len, bytes);
}

static void on_ended(void *arg, int err, const struct err_info *why)
{
    struct writer *w = arg;

    w->err = err;
    w->why = why ? *why : (struct err_info){0};
    run_loop_stop(w->bench->loop);
}

static void on_done(void *arg, enum state_outcome outcome, const struct err_info *why)
{
    struct writer *w = arg;

    w->outcome = outcome;
    w->why = why ? *why : (struct err_info){0};
    run_loop_stop(w->bench->loop);
}

/** Of an earlier writer of this process, until its lease is over. */
static void on_standing_by(void *arg, const struct state_holder *holder, const char *refused)
{
    const struct writer *w = arg;

    (void)holder;
    (void)refused;
    assert_true(w->bench->is_shared);
}

static void on_set(void *arg, int err, const struct store_result *r)
{
    (void)r;
    assert_int_equal(err, 0);
    run_loop_stop(((struct bench *)arg)->loop);
}

static void on_closed(void *arg)
{
    run_loop_stop(((struct writer *)arg)->bench->loop);
}

/** Open and claim; attempt 0: the whole state. @return error of the claim */
static int join_as(struct writer *w, struct bench *b, int64_t attempt, const char *account,
                   const char *manager)
{
    const struct state_holder self = {.url = "http://127.0.0.1:1", .place = "here:/x", .lease_ms = LEASE_MS};
    const struct state_scope scope = {.definition = DEFINITION,
                                      .service = SERVICE,
                                      .attempt = attempt,
                                      .account = account,
                                      .manager = manager};
    struct err_info why = {0};

    *w = (struct writer){.bench = b};
    int err = attempt ? state_open_service(b->loop, b->url, &scope, &w->state, &why)
                      : state_open(b->loop, b->url, account, &w->state, &why);
    if (err)
        fail_msg("%s", why.text);
    state_claim(w->state, &self, NULL, on_standing_by, on_ended, w);
    run_loop_run(b->loop);
    return w->err;
}

static int join(struct writer *w, struct bench *b, int64_t attempt)
{
    return join_as(w, b, attempt, NULL, NULL);
}

static void load(struct writer *w)
{
    w->story[0] = '\0';
    state_load(w->state, on_one, on_ended, w);
    run_loop_run(w->bench->loop);
    assert_int_equal(w->err, 0);
}

static void leave(struct writer *w)
{
    state_close(w->state, on_closed, w);
    run_loop_run(w->bench->loop);
}

static enum state_outcome put(struct writer *w, const char *key, const char *text)
{
    const struct state_doc doc = {key, text, text ? strlen(text) : 0};

    state_write(w->state, &doc, 1, on_done, w);
    run_loop_run(w->bench->loop);
    return w->outcome;
}

/** The state as the next start reads it. */
static void assert_state(struct bench *b, const char *story)
{
    struct writer w;

    assert_int_equal(join(&w, b, 0), 0);
    load(&w);
    assert_string_equal(w.story, story);
    leave(&w);
}

static int set_up(void **state)
{
    static unsigned n_roots;
    struct bench *b = mem_new(struct bench);
    const char *servers = getenv("BOBBIN_TEST_ZK");

    signal(SIGPIPE, SIG_IGN);
    b->loop = run_loop_new();
    b->is_shared = servers != NULL;
    snprintf(b->dir, sizeof b->dir, "/tmp/attempt-test-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    b->url = servers ? mem_fmt("zk://%s/attempt-%ld-%u", servers, (long)getpid(), n_roots++)
                     : mem_fmt("file:%s/state", b->dir);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    run_loop_free(b->loop);
    assert_int_equal(kit_remove_tree(b->dir), 0);
    free(b->url);
    free(b);
    return 0;
}

/** svcmgr, which has made a service. */
static void begin(struct writer *manager, struct bench *b)
{
    assert_int_equal(join(manager, b, 0), 0);
    load(manager);
    assert_int_equal(put(manager, "services/bob/web", "b"), STATE_WRITTEN);
    assert_int_equal(put(manager, DEFINITION, "d"), STATE_WRITTEN);
    assert_int_equal(put(manager, SERVICE, "s"), STATE_WRITTEN);
}

static void the_attempt_node_comes_and_goes_with_its_service(void **state)
{
    struct bench *b = *state;
    struct writer manager;
    const struct state_doc gone[] = {{SERVICE, NULL, 0}, {INSTANCE, NULL, 0}};

    begin(&manager, b);
    assert_int_equal(put(&manager, INSTANCE, "i"), STATE_WRITTEN);
    assert_non_null(map_get(&manager.state->known, "/" SERVICE "/attempt"));
    leave(&manager);
    assert_int_equal(join(&manager, b, 0), 0);
    load(&manager);
    assert_string_equal(manager.story, DEFINITION "=d " SERVICE "=s " INSTANCE "=i services/bob/web=b ");
    state_write(manager.state, gone, 2, on_done, &manager);
    run_loop_run(b->loop);
    assert_int_equal(manager.outcome, STATE_WRITTEN);
    assert_int_equal(put(&manager, SERVICE, "again"), STATE_WRITTEN);
    leave(&manager);
    assert_state(b, DEFINITION "=d " SERVICE "=again services/bob/web=b ");
}

/** Another one takes the service from who has the state open. */
static void take_away(struct writer *w)
{
    struct writer other;

    if (w->bench->is_shared) {
        assert_int_equal(join(&other, w->bench, 1), 0);
        leave(&other);
        return;
    }
    store_set(w->state->store, "/" SERVICE "/attempt", "{}", 2, -1, on_set, w->bench);
    run_loop_run(w->bench->loop);
}

static void who_lost_a_service_writes_nothing_of_it_any_more(void **state)
{
    static const struct {
        const char *key, *text;
        enum state_outcome outcome;
    } writes[] = {
        {SERVICE, "s2", STATE_FENCED},
        {INSTANCE, "i2", STATE_FENCED},
        {SERVICE, NULL, STATE_FENCED},
        {DEFINITION, "d2", STATE_WRITTEN}, /* that is written by requests only */
        {"services/bob/web", "b2", STATE_WRITTEN},
    };
    struct bench *b = *state;
    struct writer manager;

    begin(&manager, b);
    take_away(&manager);
    for (size_t i = 0; i < ARRAY_LEN(writes); i++)
        assert_int_equal(put(&manager, writes[i].key, writes[i].text), writes[i].outcome);
    leave(&manager);
    assert_state(b, DEFINITION "=d2 " SERVICE "=s services/bob/web=b2 ");
}

/** Only processes on other hosts run a service apart from svcmgr, and their store is ZooKeeper. */
static void a_later_attempt_wins(void **state)
{
    struct bench *b = *state;
    struct writer manager, first, second, late;

    if (!b->is_shared)
        skip();
    begin(&manager, b);
    assert_int_equal(join(&first, b, 1), 0);
    load(&first);
    assert_string_equal(first.story, DEFINITION "=d " SERVICE "=s ");
    assert_int_equal(put(&first, INSTANCE, "i1"), STATE_WRITTEN);
    assert_int_equal(join(&second, b, 2), 0);
    load(&second);
    assert_string_equal(second.story, DEFINITION "=d " SERVICE "=s " INSTANCE "=i1 ");
    assert_int_equal(put(&first, SERVICE, "s of 1"), STATE_FENCED);
    assert_int_equal(put(&second, SERVICE, "s of 2"), STATE_WRITTEN);
    assert_int_equal(join(&late, b, 1), ERR_WRONGSTATE);
    assert_non_null(strstr(late.why.text, "attempt 2"));
    assert_int_equal(put(&second, INSTANCE, "i2"), STATE_WRITTEN);
    leave(&late);
    leave(&second);
    leave(&first);
    leave(&manager);
    assert_state(b, DEFINITION "=d " SERVICE "=s of 2 " INSTANCE "=i2 services/bob/web=b ");
}

static void an_attempt_of_no_service_is_refused(void **state)
{
    struct bench *b = *state;
    struct writer manager, attempt;
    char other[64];

    begin(&manager, b);
    if (!b->is_shared) /* the embedded store is one process's */
        leave(&manager);
    snprintf(other, sizeof other, "%s", "services/alice/none");
    const struct state_holder self = {.url = "", .place = "", .lease_ms = LEASE_MS};
    const struct state_scope scope = {.definition = DEFINITION, .service = other, .attempt = 1};
    attempt = (struct writer){.bench = b};
    assert_int_equal(state_open_service(b->loop, b->url, &scope, &attempt.state, &attempt.why), 0);
    state_claim(attempt.state, &self, NULL, on_standing_by, on_ended, &attempt);
    run_loop_run(b->loop);
    assert_int_equal(attempt.err, ERR_NOTFOUND);
    leave(&attempt);
    if (b->is_shared)
        leave(&manager);
}

static void admit(struct writer *manager, const char *runner)
{
    const struct state_scope scope = {.definition = DEFINITION, .service = SERVICE};
    mem_auto char *digest = NULL;

    assert_int_equal(reg_digest_id(runner, &digest, NULL), 0);
    state_admit(manager->state, &scope, digest, on_ended, manager);
    run_loop_run(manager->bench->loop);
    assert_int_equal(manager->err, 0);
}

static void on_tried(void *arg, int err, const struct store_result *r)
{
    struct writer *w = arg;

    (void)r;
    w->err = err;
    run_loop_stop(w->bench->loop);
}

static void on_store_closed(void *arg)
{
    run_loop_stop(((struct bench *)arg)->loop);
}

/** A client with this account, NULL: none, writes a node. @return its error */
static int write_as(struct bench *b, const char *account, const char *path)
{
    const struct store_options options = {.digest = account};
    struct writer w = {.bench = b};
    struct store *store;

    assert_int_equal(store_open(b->loop, b->url, &options, &store, NULL), 0);
    store_set(store, path, "x", 1, -1, on_tried, &w);
    run_loop_run(b->loop);
    store_close(store, on_store_closed, b);
    run_loop_run(b->loop);
    return w.err;
}

/** The account of an attempt writes its service and nothing else; others write nothing, and a new account ends the old one. */
static void the_secret_of_an_attempt_is_good_for_its_service_only(void **state)
{
    struct bench *b = *state;
    struct writer manager, first, second;
    mem_auto char *id = NULL;

    if (!b->is_shared)
        skip();
    assert_int_equal(reg_digest_id("svcmgr:one", &id, NULL), 0);
    assert_int_equal(join_as(&manager, b, 0, "svcmgr:one", NULL), 0);
    load(&manager);
    assert_int_equal(put(&manager, "services/bob/web", "b"), STATE_WRITTEN);
    assert_int_equal(put(&manager, DEFINITION, "d"), STATE_WRITTEN);
    assert_int_equal(put(&manager, SERVICE, "s"), STATE_WRITTEN);
    admit(&manager, "am:two");
    assert_int_equal(join_as(&first, b, 1, "am:two", id), 0);
    load(&first);
    assert_string_equal(first.story, DEFINITION "=d " SERVICE "=s ");
    assert_int_equal(put(&first, INSTANCE, "i"), STATE_WRITTEN);
    assert_int_equal(write_as(b, "am:two", "/" INSTANCE), 0);
    assert_int_equal(write_as(b, "am:two", "/" DEFINITION), ERR_PERMISSION);
    assert_int_equal(write_as(b, "am:two", "/services/bob/web"), ERR_PERMISSION);
    assert_int_equal(write_as(b, "am:two", "/writer"), ERR_PERMISSION);
    assert_int_equal(write_as(b, NULL, "/" INSTANCE), ERR_PERMISSION);
    assert_int_equal(write_as(b, "svcmgr:one", "/" INSTANCE), 0);
    leave(&first);
    assert_int_equal(write_as(b, "am:two", "/" SERVICE), 0);
    admit(&manager, "am:three");
    assert_int_equal(write_as(b, "am:two", "/" SERVICE), ERR_PERMISSION);
    assert_int_equal(join_as(&second, b, 2, "am:three", id), 0);
    leave(&second);
    leave(&manager);
}

/** Another version has had the state open. */
static void leave_writer_text(struct bench *b, const char *text)
{
    struct writer manager;

    assert_int_equal(join(&manager, b, 0), 0);
    store_set(manager.state->store, "/writer", text, strlen(text), -1, on_set, b);
    run_loop_run(b->loop);
    leave(&manager);
}

static void the_node_of_an_earlier_writer_is_read_and_of_a_newer_one_refused(void **state)
{
    struct bench *b = *state;
    struct writer w;

    leave_writer_text(b,
                      "{\"version\":1,\"writer\":\"00c0ffee00c0ffee\",\"change\":7,\"url\":\"http://h:9191\","
                      "\"place\":\"here:/x\",\"lease_ms\":100,\"process\":\"1 1 none\"}");
    assert_int_equal(join(&w, b, 0), 0);
    leave(&w);
    leave_writer_text(b, "{\"version\":2,\"who\":\"newer\"}");
    assert_int_equal(join(&w, b, 0), ERR_UNSUPPORTED);
    assert_non_null(strstr(w.why.text, "/writer has format 2"));
    leave(&w);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_attempt_node_comes_and_goes_with_its_service),
        CASE(who_lost_a_service_writes_nothing_of_it_any_more),
        CASE(a_later_attempt_wins),
        CASE(an_attempt_of_no_service_is_refused),
        CASE(the_secret_of_an_attempt_is_good_for_its_service_only),
        CASE(the_node_of_an_earlier_writer_is_read_and_of_a_newer_one_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
