/** Whether every dnsd answers without a record, against dnsd's of this process, which may be silent, late or refuse. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/server.h"
#include "publish/dns_sync.h"

#define DEADLINE_MS 30000

struct bench {
    struct run_loop *loop;
    struct http_client *http;
    struct http_server *server;
    struct dns_sync *sync;
    const char *revision;   /* NULL: none is known */
    int status;             /* of dnsd's answers; 0: it answers nothing */
    struct http_req *asked; /* not answered */
    char story[4096];       /* "asked:R ", "KEY=CODE ", "away ", "back " */
    char text[512];         /* of the last ask that was not confirmed */
    const char *wanted;
};

static void note(struct bench *b, const char *a, const char *between, const char *z)
{
    size_t at = strlen(b->story);

    snprintf(b->story + at, sizeof b->story - at, "%s%s%s ", a, between, z);
    if (b->wanted && strstr(b->story, b->wanted))
        run_loop_stop(b->loop);
}

static void on_gone(void *arg)
{
    ((struct bench *)arg)->asked = NULL;
}

static void on_sync(struct http_req *req, void *app)
{
    struct bench *b = app;

    note(b, "asked:", "", http_query(req, "revision"));
    if (b->status) {
        http_reply(req, b->status, NULL, NULL);
        return;
    }
    b->asked = req;
    http_reply_later(req, on_gone, b);
}

static const struct http_route routes[] = {{"GET", "/sync", 0, 0, on_sync, .summary = "Confirm a revision."}};

static bool revision(void *arg, char *out)
{
    const struct bench *b = arg;

    if (b->revision)
        snprintf(out, REG_REVISION_MAX, "%s", b->revision);
    return b->revision;
}

static void on_done(void *arg, const char *key, int code, const char *text)
{
    struct bench *b = arg;

    if (text)
        snprintf(b->text, sizeof b->text, "%s", text);
    note(b, key, "=", code ? "no" : "yes");
}

static void on_changed(void *arg, const char *url, const struct err_info *why)
{
    (void)url;
    note(arg, why ? "away" : "back", "", "");
}

/** more: further URLs, with the comma before them. */
static void begin(struct bench *b, const char *more, int64_t timeout_ms)
{
    mem_auto char *urls = mem_fmt("http://127.0.0.1:%u/%s", http_server_port(b->server), more);
    const struct dns_sync_def def = {.urls = urls,
                                     .timeout_ms = timeout_ms,
                                     .revision = revision,
                                     .done = on_done,
                                     .changed = on_changed,
                                     .arg = b};
    struct err_info why;

    assert_int_equal(dns_sync_check(urls, &why), 0);
    b->sync = dns_sync_new(b->loop, b->http, &def);
}

static int set_up(void **state)
{
    struct bench *b = mem_new(struct bench);
    const struct http_server_def def = {.listen = "127.0.0.1:0",
                                        .static_user = "t",
                                        .routes = routes,
                                        .n_routes = ARRAY_LEN(routes),
                                        .app = b};
    struct err_info why;

    signal(SIGPIPE, SIG_IGN);
    b->loop = run_loop_new();
    b->http = http_client_new(b->loop);
    b->revision = "s.7";
    b->status = 200;
    assert_int_equal(http_server_start(b->loop, &def, &b->server, &why), 0);
    *state = b;
    return 0;
}

static void stop_loop(void *arg)
{
    run_loop_stop(arg);
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    dns_sync_free(b->sync);
    http_client_free(b->http);
    http_server_stop(b->server, stop_loop, b->loop);
    run_loop_run(b->loop);
    run_loop_free(b->loop);
    free(b);
    return 0;
}

static void on_deadline(void *arg)
{
    fail_msg("no \"%s\" in time: %s", ((struct bench *)arg)->wanted, ((struct bench *)arg)->story);
}

static void await(struct bench *b, const char *wanted)
{
    struct run_timer *deadline = run_timer_new(b->loop, on_deadline, b);

    b->wanted = wanted;
    run_timer_start(deadline, DEADLINE_MS, 0);
    if (!strstr(b->story, wanted))
        run_loop_run(b->loop);
    run_timer_free(deadline);
}

static int n_of(const struct bench *b, const char *word)
{
    int n = 0;

    for (const char *at = b->story; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void without_a_server_all_is_confirmed(void **state)
{
    struct bench *b = *state;
    const struct dns_sync_def def = {.revision = revision, .done = on_done, .changed = on_changed, .arg = b};

    b->sync = dns_sync_new(b->loop, b->http, &def);
    dns_sync_ask(b->sync, "c1");
    assert_string_equal(b->story, ""); /* not inside the call */
    await(b, "c1=yes");
}

static void one_call_confirms_what_was_asked_before(void **state)
{
    struct bench *b = *state;

    begin(b, "", 5000);
    b->status = 0;
    dns_sync_ask(b->sync, "c1");
    await(b, "asked:s.7");
    b->revision = "s.9";
    dns_sync_ask(b->sync, "c2");
    dns_sync_ask(b->sync, "c3");
    b->status = 200;
    http_reply(b->asked, 200, NULL, NULL);
    await(b, "c3=yes");
    assert_string_equal(b->story, "asked:s.7 c1=yes asked:s.9 c2=yes c3=yes ");
}

static void one_that_does_not_answer_costs_one_wait(void **state)
{
    struct bench *b = *state;

    begin(b, "", 100);
    b->status = 0;
    dns_sync_ask(b->sync, "c1");
    dns_sync_ask(b->sync, "c2");
    await(b, "c2=no");
    assert_int_equal(n_of(b, "asked"), 1);
    assert_non_null(strstr(b->text, "yarn.service.drain.dns-urls"));
    dns_sync_ask(b->sync, "c3");
    await(b, "c3=no");
    b->status = 200;
    await(b, "back");
    dns_sync_ask(b->sync, "c4");
    await(b, "c4=yes");
    assert_int_equal(n_of(b, "away"), 1);
}

static void every_server_must_confirm(void **state)
{
    struct bench *b = *state;

    begin(b, ",http://127.0.0.1:1", 5000);
    dns_sync_ask(b->sync, "c1");
    await(b, "c1=no");
    assert_non_null(strstr(b->text, "http://127.0.0.1:1"));
}

static void a_refusal_is_no_confirmation(void **state)
{
    struct bench *b = *state;

    begin(b, "", 5000);
    b->status = 504;
    dns_sync_ask(b->sync, "c1");
    await(b, "c1=no");
    assert_non_null(strstr(b->text, "HTTP 504"));
}

static void know(void *arg)
{
    ((struct bench *)arg)->revision = "s.8";
}

static void a_revision_that_is_not_known_yet_is_waited_for(void **state)
{
    struct bench *b = *state;
    struct run_timer *later = run_timer_new(b->loop, know, b);

    begin(b, "", 20000);
    b->revision = NULL;
    run_timer_start(later, 1, 0);
    dns_sync_ask(b->sync, "c1");
    await(b, "c1=yes");
    assert_string_equal(b->story, "asked:s.8 c1=yes ");
    run_timer_free(later);
}

static void what_is_under_way_ends_with_it(void **state)
{
    struct bench *b = *state;

    begin(b, "", 20000);
    b->status = 0;
    dns_sync_ask(b->sync, "c1");
    await(b, "asked");
}

static void lists_are_checked(void **state)
{
    static const char *const bad[] = {"127.0.0.1:9193", "http://", "http://a,ftp://b", "http://a?x=1",
                                      "http://a,,http://b"};
    struct err_info why;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(dns_sync_check(bad[i], &why), ERR_INVALID);
    assert_int_equal(dns_sync_check("", &why), 0);
    assert_int_equal(dns_sync_check("http://a:1, https://b/", &why), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_server_all_is_confirmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_call_confirms_what_was_asked_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_does_not_answer_costs_one_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_server_must_confirm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_is_no_confirmation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_revision_that_is_not_known_yet_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_under_way_ends_with_it, set_up, tear_down),
        cmocka_unit_test(lists_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
