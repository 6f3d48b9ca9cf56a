/**
 * svcmgr and an attempt share a service: svcmgr follows what the attempt writes, and takes the service back. On the ZooKeeper
 * that BOBBIN_TEST_ZK names.
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
#include "run/loop.h"
#include "state/clock.h"
#include "state/state.h"
#include "tree_kit.h"

#define DEFINITION "definitions/services/alice/web"
#define SERVICE    "services/alice/web"
#define INSTANCE   "services/alice/web/hello-0"
#define OTHER      "services/bob/web"
#define OURS       "for application 7"
#define LOOK_MS    5
#define LIMIT_MS   20000

/** A process that has the state open. */
struct party {
    struct run_loop *loop;
    struct state *state;
    bool is_ended, is_away, is_closed, is_settled, is_lost, is_kept_waiting;
    int err, n_asked;
    enum state_outcome outcome;
    struct err_info why;
    char story[1024]; /* "key=text " of each document read */
    char news[1024];  /* the same of what was followed; "key- ": it is gone */
};

struct bench {
    struct run_loop *loop;
    char *url, *manager_id;
};

static void add(char *story, size_t size, const char *key, const char *bytes, size_t len)
{
    size_t at = strlen(story);

    snprintf(story + at, size - at, bytes ? "%s=%.*s " : "%s- ", key, (int)len, bytes ? bytes : "");
}

static void on_one(void *arg, const char *key, const char *bytes, size_t len)
{
    struct party *p = arg;

    add(p->story, sizeof p->story, key, bytes, len);
}

static void on_ended(void *arg, int err, const struct err_info *why)
{
    struct party *p = arg;

    p->err = err;
    p->why = why ? *why : (struct err_info){0};
    p->is_ended = true;
}

static void on_done(void *arg, enum state_outcome outcome, const struct err_info *why)
{
    struct party *p = arg;

    p->outcome = outcome;
    p->why = why ? *why : (struct err_info){0};
    p->is_ended = true;
}

static void on_standing_by(void *arg, const struct state_holder *holder, const char *refused)
{
    (void)arg;
    (void)holder;
    (void)refused;
}

static bool is_away(void *arg, const char *service_key)
{
    const struct party *p = arg;

    return p->is_away && strcmp(service_key, SERVICE) == 0;
}

static void on_changed(void *arg, const char *key, const char *bytes, size_t len)
{
    struct party *p = arg;

    p->is_settled = false;
    add(p->news, sizeof p->news, key, bytes, len);
}

static void on_settled(void *arg)
{
    ((struct party *)arg)->is_settled = true;
}

static void on_lost(void *arg, const struct err_info *why)
{
    ((struct party *)arg)->is_lost = why != NULL;
}

static const struct state_follow_ops follow_ops = {is_away, on_changed, on_settled, on_lost};

static bool is_ours(void *arg, const char *bytes, size_t len)
{
    struct party *p = arg;

    p->is_kept_waiting = p->n_asked++ > 0;
    return len == strlen(OURS) && memcmp(bytes, OURS, len) == 0;
}

static void on_look(void *arg)
{
    run_loop_stop(arg);
}

/** Run the loop until the flag is set. */
static void await(struct run_loop *loop, const bool *flag)
{
    struct run_timer *timer = run_timer_new(loop, on_look, loop);
    int64_t end_ms = run_now_ms() + LIMIT_MS;

    run_timer_start(timer, LOOK_MS, LOOK_MS);
    while (!*flag && run_now_ms() < end_ms)
        run_loop_run(loop);
    run_timer_free(timer);
    assert_true(*flag);
}

/** Run the loop until this was followed, and its batch is complete. */
static void await_news(struct party *p, const char *news)
{
    struct run_timer *timer = run_timer_new(p->loop, on_look, p->loop);
    int64_t end_ms = run_now_ms() + LIMIT_MS;

    run_timer_start(timer, LOOK_MS, LOOK_MS);
    while ((strcmp(p->news, news) != 0 || !p->is_settled) && run_now_ms() < end_ms)
        run_loop_run(p->loop);
    run_timer_free(timer);
    assert_string_equal(p->news, news);
    assert_true(p->is_settled);
    p->news[0] = '\0';
}

static void await_end(struct party *p)
{
    await(p->loop, &p->is_ended);
    p->is_ended = false;
}

static enum state_outcome put(struct party *p, const char *key, const char *text)
{
    const struct state_doc doc = {key, text, text ? strlen(text) : 0};

    state_write(p->state, &doc, 1, on_done, p);
    await_end(p);
    return p->outcome;
}

static void load(struct party *p)
{
    p->story[0] = '\0';
    state_load(p->state, on_one, on_ended, p);
    await_end(p);
    assert_int_equal(p->err, 0);
}

static void follow(struct party *p)
{
    assert_int_equal(state_follow(p->state, &follow_ops, p, &p->why), 0);
    await(p->loop, &p->is_settled);
}

static void claim(struct party *p)
{
    const struct state_holder self = {.url = "http://127.0.0.1:1", .place = "here:/x", .lease_ms = 60000};

    state_claim(p->state, &self, NULL, on_standing_by, on_ended, p);
}

static void begin_attempt(struct bench *b, struct party *p, int64_t attempt)
{
    const struct state_scope scope = {.definition = DEFINITION,
                                      .service = SERVICE,
                                      .attempt = attempt,
                                      .account = "am:two",
                                      .manager = b->manager_id,
                                      .is_ours = is_ours,
                                      .is_ours_arg = p};

    *p = (struct party){.loop = b->loop};
    assert_int_equal(state_open_service(b->loop, b->url, &scope, &p->state, &p->why), 0);
    claim(p);
}

static void admit(struct party *manager, const char *runner)
{
    const struct state_scope scope = {.definition = DEFINITION, .service = SERVICE};
    mem_auto char *digest = NULL;

    assert_int_equal(reg_digest_id(runner, &digest, NULL), 0);
    state_admit(manager->state, &scope, digest, on_ended, manager);
    await_end(manager);
    assert_int_equal(manager->err, 0);
}

static void on_closed(void *arg)
{
    ((struct party *)arg)->is_closed = true;
}

static void leave(struct party *p)
{
    state_close(p->state, on_closed, p);
    await(p->loop, &p->is_closed);
}

static int set_up(void **state)
{
    static unsigned n_roots;
    struct bench *b = mem_new(struct bench);
    const char *servers = getenv("BOBBIN_TEST_ZK");

    signal(SIGPIPE, SIG_IGN);
    b->loop = run_loop_new();
    b->url =
        servers ? mem_fmt("zk://%s/away-%ld-%u", servers, (long)getpid(), n_roots++) : mem_str("file:unused");
    assert_int_equal(reg_digest_id("svcmgr:one", &b->manager_id, NULL), 0);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    run_loop_free(b->loop);
    free(b->url);
    free(b->manager_id);
    free(b);
    return 0;
}

/** svcmgr, which has made a service and follows the state. */
static void begin(struct bench *b, struct party *manager)
{
    if (!getenv("BOBBIN_TEST_ZK"))
        skip();
    *manager = (struct party){.loop = b->loop};
    assert_int_equal(state_open(b->loop, b->url, "svcmgr:one", &manager->state, &manager->why), 0);
    claim(manager);
    await_end(manager);
    assert_int_equal(manager->err, 0);
    load(manager);
    follow(manager);
    assert_int_equal(put(manager, CLOCK_KEY, "c1"), STATE_WRITTEN);
    assert_int_equal(put(manager, OTHER, "b"), STATE_WRITTEN);
    assert_int_equal(put(manager, DEFINITION, "d1"), STATE_WRITTEN);
    assert_int_equal(put(manager, SERVICE, "s"), STATE_WRITTEN);
    admit(manager, "am:two");
}

/** The attempt waits until svcmgr has written its application, and has the service then. */
static void give_away(struct bench *b, struct party *manager, struct party *attempt, int64_t number)
{
    begin_attempt(b, attempt, number);
    await(b->loop, &attempt->is_kept_waiting);
    assert_false(attempt->is_ended);
    assert_int_equal(put(manager, SERVICE, OURS), STATE_WRITTEN);
    manager->is_away = true;
    await_end(attempt);
    assert_int_equal(attempt->err, 0);
    load(attempt);
}

static void each_sees_what_the_other_writes(void **state)
{
    struct bench *b = *state;
    struct party manager, attempt;

    begin(b, &manager);
    give_away(b, &manager, &attempt, state_attempt(1, 1));
    assert_string_equal(attempt.story, CLOCK_KEY "=c1 " DEFINITION "=d1 " SERVICE "=" OURS " ");
    follow(&attempt);
    assert_int_equal(put(&attempt, CLOCK_KEY, "c2"), STATE_WRITTEN);
    assert_int_equal(put(&attempt, SERVICE, "s2"), STATE_WRITTEN);
    await_news(&manager, SERVICE "=s2 ");
    assert_int_equal(put(&attempt, INSTANCE, "i"), STATE_WRITTEN);
    await_news(&manager, INSTANCE "=i ");
    assert_int_equal(put(&attempt, INSTANCE, NULL), STATE_WRITTEN);
    await_news(&manager, INSTANCE "- ");
    assert_int_equal(put(&manager, OTHER, "b2"), STATE_WRITTEN);
    assert_int_equal(put(&manager, DEFINITION, "d2"), STATE_WRITTEN);
    await_news(&attempt, DEFINITION "=d2 ");
    assert_int_equal(put(&manager, SERVICE, "of svcmgr"), STATE_FENCED);
    assert_int_equal(put(&manager, DEFINITION, "d3"), STATE_WRITTEN);
    await_news(&attempt, DEFINITION "=d3 ");
    assert_string_equal(manager.news, "");
    leave(&attempt);
    leave(&manager);
}

/** The attempt is still there; what it wrote before is read, and it writes nothing any more. */
static void a_service_is_taken_back(void **state)
{
    struct bench *b = *state;
    struct party manager, attempt, stray, next;
    const struct state_doc gone[] = {{SERVICE, NULL, 0}, {INSTANCE, NULL, 0}};

    begin(b, &manager);
    give_away(b, &manager, &attempt, state_attempt(1, 3));
    assert_int_equal(put(&attempt, CLOCK_KEY, "c2"), STATE_WRITTEN);
    assert_int_equal(put(&attempt, INSTANCE, "i"), STATE_WRITTEN);
    manager.story[0] = '\0';
    state_take_back(manager.state, SERVICE, state_attempt(1, 3), on_one, on_ended, &manager);
    assert_true(state_is_busy(manager.state));
    await_end(&manager);
    assert_int_equal(manager.err, 0);
    manager.is_away = false;
    assert_string_equal(manager.story, SERVICE "=" OURS " " INSTANCE "=i ");
    assert_int_equal(put(&attempt, INSTANCE, "i2"), STATE_FENCED);
    assert_int_equal(put(&manager, INSTANCE, "i3"), STATE_WRITTEN);
    begin_attempt(b, &stray, state_attempt(1, 3));
    await_end(&stray);
    assert_int_equal(stray.err, ERR_WRONGSTATE);
    begin_attempt(b, &next, state_attempt(2, 1));
    await_end(&next);
    assert_int_equal(next.err, 0);
    load(&next);
    assert_string_equal(next.story, CLOCK_KEY "=c1 " DEFINITION "=d1 " SERVICE "=" OURS " " CLOCK_KEY
                                              "=c2 " INSTANCE "=i3 ");
    state_take_back(manager.state, SERVICE, state_attempt(2, 1), on_one, on_ended, &manager);
    await_end(&manager);
    assert_int_equal(manager.err, 0);
    admit(&manager, "am:three");
    assert_int_equal(put(&next, INSTANCE, "i4"), STATE_FAILED); /* its account may not any more */
    state_write(manager.state, gone, ARRAY_LEN(gone), on_done, &manager);
    await_end(&manager);
    assert_int_equal(manager.outcome, STATE_WRITTEN);
    leave(&next);
    leave(&stray);
    leave(&attempt);
    leave(&manager);
}

static void numbers_of_attempts_grow_with_applications(void **state)
{
    (void)state;
    assert_true(state_attempt(2, 1) > state_attempt(1, INT32_MAX));
    assert_true(state_attempt(1, 2) > state_attempt(1, 1));
    assert_true(state_attempt(1, 0) > state_attempt(0, INT32_MAX));
    assert_true(state_attempt(INT32_MAX, 1) > state_attempt(INT32_MAX - 1, 1));
    assert_int_equal(state_attempt(-1, -1), 0);
}

static void the_embedded_store_is_not_followed(void **state)
{
    struct bench *b = *state;
    char dir[] = "/tmp/away-test-XXXXXX";
    struct party p = {.loop = b->loop};

    assert_non_null(mkdtemp(dir));
    mem_auto char *url = mem_fmt("file:%s/state", dir);
    assert_int_equal(state_open(b->loop, url, NULL, &p.state, &p.why), 0);
    assert_int_equal(state_follow(p.state, &follow_ops, &p, &p.why), ERR_UNSUPPORTED);
    leave(&p);
    assert_int_equal(kit_remove_tree(dir), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_sees_what_the_other_writes),
        CASE(a_service_is_taken_back),
        CASE(numbers_of_attempts_grow_with_applications),
        CASE(the_embedded_store_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
