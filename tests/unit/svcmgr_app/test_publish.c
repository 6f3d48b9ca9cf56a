/** Changes of the registry against a registryd of this process, which may be away, refuse, or take its time. */
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
#include "svcmgr/publish.h"

#define DEADLINE_MS 30000

struct office {
    struct run_loop *loop;
    struct publish *publish;
    struct http_server *server;
    char listen[32];
    char story[8192];     /* "PUT:/path " of each request taken; "told:TICKET=CODE " */
    char body_text[1024]; /* body of the last change */
    const char *wanted;
    int refuse; /* status of all answers; 0: fine */
    int flaws;  /* events that fail for now */
};

static void note(struct office *o, const char *text)
{
    size_t at = strlen(o->story);

    snprintf(o->story + at, sizeof(o->story) - at, "%s ", text);
    if (o->wanted && strstr(o->story, o->wanted))
        run_loop_stop(o->loop);
}

static void on_request(struct http_req *req, void *app)
{
    struct office *o = app;
    mem_auto char *text = mem_fmt("%s:%s", http_method(req), http_raw_path(req) + strlen("/ws/v1/registry"));
    buf_auto struct buf body = BUF_EMPTY;
    size_t len = 0;
    const char *sent = http_body(req, &len);

    snprintf(o->body_text, sizeof(o->body_text), "%.*s", (int)len, sent ? sent : "");
    note(o, text);
    if (o->refuse) {
        http_reply_error_status(req, o->refuse, o->refuse == 403 ? ERR_PERMISSION : ERR_UNAVAILABLE, NULL);
        return;
    }
    buf_add_str(&body, "{\"revision\":\"s.1\",\"deleted\":true}");
    http_reply(req, 200, "application/json", &body);
}

/** Events are taken; while `flaws` lasts, the work that they ask for fails for now. */
static void on_events(struct http_req *req, void *app)
{
    struct office *o = app;
    size_t len = 0;
    const char *events = http_body(req, &len);
    mem_auto char *text = mem_fmt("EVENTS:%.*s", (int)len, events);
    buf_auto struct buf body = BUF_EMPTY;
    bool fails = o->flaws > 0 && o->flaws-- > 0;

    note(o, text);
    if (o->refuse) {
        http_reply_error_status(req, o->refuse, ERR_PERMISSION, NULL);
        return;
    }
    buf_add_str(&body, fails ? "{\"events\":[{\"error\":\"urn:bobbin:error:io\",\"detail\":\"x\"}]}"
                             : "{\"events\":[{}]}");
    http_reply(req, 200, "application/json", &body);
}

static const struct http_route routes[] = {
    {"PUT", "/ws/v1/registry/*", HTTP_JSON_IN, 1 << 20, on_request, "Bind."},
    {"DELETE", "/ws/v1/registry/*", 0, 0, on_request, "Delete."},
    {"POST", "/ws/v1/registry-admin/events", HTTP_JSON_IN, 1 << 20, on_events, "Events."},
};

static void open_server(struct office *o)
{
    const struct http_server_def def = {
        .listen = o->listen, .static_user = "t", .routes = routes, .n_routes = ARRAY_LEN(routes), .app = o};
    struct err_info why = {0};

    if (http_server_start(o->loop, &def, &o->server, &why))
        fail_msg("%s", why.text);
    snprintf(o->listen, sizeof(o->listen), "127.0.0.1:%u", http_server_port(o->server));
}

static void stop_loop(void *arg)
{
    run_loop_stop(arg);
}

static void close_server(struct office *o)
{
    http_server_stop(o->server, stop_loop, o->loop);
    run_loop_run(o->loop);
    o->server = NULL;
}

static void on_told(void *arg, int64_t ticket, int code)
{
    mem_auto char *text = mem_fmt("told:%lld=%s", (long long)ticket, err_name(code));
    note(arg, text);
}

static int set_up(void **state)
{
    struct office *o = mem_new(struct office);
    struct err_info why = {0};

    signal(SIGPIPE, SIG_IGN);
    o->loop = run_loop_new();
    snprintf(o->listen, sizeof(o->listen), "127.0.0.1:0");
    open_server(o);
    mem_auto char *url = mem_fmt("http://%s", o->listen);
    assert_int_equal(publish_open(o->loop, url, on_told, o, &o->publish, &why), 0);
    *state = o;
    return 0;
}

static int tear_down(void **state)
{
    struct office *o = *state;

    publish_close(o->publish);
    if (o->server)
        close_server(o);
    run_loop_free(o->loop);
    free(o);
    return 0;
}

static void on_deadline(void *arg)
{
    struct office *o = arg;

    fail_msg("\"%s\" did not come: %s", o->wanted, o->story);
}

static void await(struct office *o, const char *wanted)
{
    struct run_timer *deadline = run_timer_new(o->loop, on_deadline, o);

    o->wanted = wanted;
    run_timer_start(deadline, DEADLINE_MS, 0);
    if (!strstr(o->story, wanted))
        run_loop_run(o->loop);
    run_timer_free(deadline);
    o->wanted = NULL;
}

static const struct eng_record record = {.description = (char *)"hello-0",
                                         .yarn_id = (char *)"container_1",
                                         .persistence = (char *)"container",
                                         .ip = (char *)"127.77.0.1"};

static size_t count(const char *story, const char *what)
{
    size_t n = 0;

    for (const char *p = strstr(story, what); p; p = strstr(p + 1, what))
        n++;
    return n;
}

static void every_ticket_is_told(void **state)
{
    struct office *o = *state;

    publish_put(o->publish, "/users/a/x", &record, 11);
    publish_delete(o->publish, "/users/a/y", 12);
    publish_purge(o->publish, "/users/b", 13);
    await(o, "told:11=OK");
    await(o, "told:12=OK");
    await(o, "told:13=OK");
    assert_int_equal(publish_n_pending(o->publish), 0);
    assert_non_null(strstr(o->story, "PUT:/users/a/x "));
    assert_non_null(strstr(o->story, "DELETE:/users/a/y "));
}

static void order_is_kept_where_it_matters(void **state)
{
    struct office *o = *state;

    publish_put(o->publish, "/users/a/s/c/1", &record, 1);
    await(o, "PUT:/users/a/s/c/1");
    publish_purge(o->publish, "/users/a/s", 2);
    publish_put(o->publish, "/users/a/s", &record, 3);
    publish_put(o->publish, "/users/a/s/c/2", &record, 4);
    await(o, "told:3=OK");
    await(o, "told:4=OK");
    const char *purge = strstr(o->story, "DELETE:/users/a/s ");
    assert_non_null(purge);
    assert_true(purge < strstr(o->story, "PUT:/users/a/s "));
    assert_true(purge < strstr(o->story, "PUT:/users/a/s/c/2 "));
}

static void newer_wishes_replace_older_ones(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_put(o->publish, "/users/a/s/c/1", &record, 1);
    publish_put(o->publish, "/users/a/s/c/1", &record, 2);
    publish_put(o->publish, "/users/a/s/c/2", &record, 3);
    publish_purge(o->publish, "/users/a/s", 4);
    assert_int_equal(publish_n_pending(o->publish), 1);
    assert_int_equal(count(o->story, "told:"), 0); /* Nothing is done yet. */
    open_server(o);
    await(o, "DELETE:/users/a/s");
    assert_int_equal(count(o->story, "told:"), 0);
    await(o, "told:4=OK");
    assert_int_equal(count(o->story, "PUT:"), 0);
    assert_int_equal(count(o->story, "=OK"), 4);
}

static void nothing_is_lost_while_the_registry_is_away(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_put(o->publish, "/users/a/x", &record, 5);
    await(o, "told:5=ERR_UNAVAILABLE");
    assert_int_equal(publish_n_pending(o->publish), 1);
    open_server(o);
    await(o, "PUT:/users/a/x");
    publish_put(o->publish, "/users/a/z", &record, 6);
    await(o, "told:6=OK");
    assert_int_equal(count(o->story, "told:5"), 1);
}

static void a_refusal_for_good_is_told_and_not_repeated(void **state)
{
    struct office *o = *state;

    o->refuse = 403;
    publish_put(o->publish, "/users/a/x", &record, 5);
    await(o, "told:5=ERR_PERMISSION");
    assert_int_equal(publish_n_pending(o->publish), 0);
    assert_int_equal(count(o->story, "PUT:"), 1);
}

#define C2   "container_1_0007_01_000002"
#define ENDS "EVENTS:[{\"type\":\"container-finished\",\"id\":\"" C2 "\"}]"

static void ends_are_told_before_their_service_is_purged(void **state)
{
    struct office *o = *state;

    o->flaws = 2;
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    publish_ended(o->publish, "/users/a/s", "application_1_0007", 2);
    publish_purge(o->publish, "/users/a/s", 3);
    await(o, "told:3=OK");
    assert_non_null(strstr(o->story, ENDS));
    assert_non_null(strstr(o->story, "EVENTS:[{\"type\":\"am-container-finished\",\"id\":"
                                     "\"container_1_0007_01_000001\"},"
                                     "{\"type\":\"application-completed\",\"id\":\"application_1_0007\"}]"));
    const char *purge = strstr(o->story, "DELETE:/users/a/s ");
    assert_non_null(purge);
    assert_true(count(purge, "EVENTS:") == 0);
    assert_int_equal(count(o->story, "EVENTS:"), 4); /* both were repeated */
    assert_int_equal(count(o->story, "told:1=OK"), 1);
    assert_int_equal(count(o->story, "told:2=OK"), 1);
}

static void an_end_waits_for_the_registry_and_is_told_once(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    publish_ended(o->publish, "/users/a/s/c/1", C2, 2);
    publish_delete(o->publish, "/users/a/s/c/1", 3);
    await(o, "told:3=ERR_UNAVAILABLE");
    assert_int_equal(count(o->story, "told:"), 1); /* who ends has no time limit */
    assert_int_equal(publish_n_pending(o->publish), 2);
    open_server(o);
    await(o, "told:1=OK");
    await(o, "told:2=OK");
    assert_int_equal(count(o->story, ENDS), 1);
}

static void a_refused_end_is_told(void **state)
{
    struct office *o = *state;

    o->refuse = 403;
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    await(o, "told:1=ERR_PERMISSION");
    assert_int_equal(publish_n_pending(o->publish), 0);
}

static void unreadiness_is_an_attribute(void **state)
{
    struct office *o = *state;
    struct eng_record unready = record;

    unready.is_unready = true;
    publish_put(o->publish, "/users/a/x", &unready, 1);
    await(o, "told:1=OK");
    assert_non_null(strstr(o->body_text, "\"bobbin:ready\":\"false\""));
    o->body_text[0] = 0;
    publish_put(o->publish, "/users/a/x", &record, 2);
    await(o, "told:2=OK");
    assert_non_null(strstr(o->body_text, "yarn:id"));
    assert_null(strstr(o->body_text, "bobbin:ready"));
}

static void drain_waits_for_the_last_change(void **state)
{
    struct office *o = *state;

    for (int i = 0; i < 40; i++) {
        mem_auto char *path = mem_fmt("/users/a/c%d", i);
        publish_put(o->publish, path, &record, 0);
    }
    publish_drain(o->publish, DEADLINE_MS, stop_loop, o->loop);
    run_loop_run(o->loop);
    assert_int_equal(publish_n_pending(o->publish), 0);
    assert_int_equal(count(o->story, "PUT:"), 40);
    assert_int_equal(count(o->story, "told:"), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_ticket_is_told),
        CASE(order_is_kept_where_it_matters),
        CASE(newer_wishes_replace_older_ones),
        CASE(nothing_is_lost_while_the_registry_is_away),
        CASE(a_refusal_for_good_is_told_and_not_repeated),
        CASE(ends_are_told_before_their_service_is_purged),
        CASE(an_end_waits_for_the_registry_and_is_told_once),
        CASE(a_refused_end_is_told),
        CASE(unreadiness_is_an_attribute),
        CASE(drain_waits_for_the_last_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
