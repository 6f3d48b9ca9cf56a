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
#include "publish/publish.h"

#define DEADLINE_MS 30000

struct office {
    struct run_loop *loop;
    struct publish *publish;
    struct http_server *server;
    char listen[32];
    char story[8192];     /* "PUT:/path " of each request taken; "done:TICKET=CODE " */
    char body_text[1024]; /* body of the last change that has one */
    const char *wanted;
    int refuse, refuse_code; /* status and code (0: no permission) of all answers; refuse 0: fine */
    int flaws;               /* events that fail for now */
    uint64_t delay_ms;       /* until a PUT or DELETE is answered */

    struct http_req *feed; /* the follower that is connected; NULL: none */
    struct buf feed_lines; /* for it, not sent yet */
    int n_restored;        /* records put back */
    bool is_feed_cut;      /* its connection ends */
    const char *revision;  /* of writes that are taken */
    bool may_send;
    struct metrics *metrics;
    struct outages *needs;
    struct outage *outage;
    bool notes_outages, is_missing; /* "missing", "there" in the story; the outage lasts */
};

static void note(struct office *o, const char *text)
{
    size_t at = strlen(o->story);

    snprintf(o->story + at, sizeof o->story - at, "%s ", text);
    if (o->wanted && strstr(o->story, o->wanted))
        run_loop_stop(o->loop);
}

/** An answer that is on its way. */
struct slow {
    struct office *office;
    struct http_req *req;
    struct run_timer *timer;
};

static void answer_now(struct office *o, struct http_req *req)
{
    buf_auto struct buf body = BUF_EMPTY;

    buf_addf(&body, "{\"revision\":\"%s\",\"deleted\":true}", o->revision);
    http_reply_header(req, "Bobbin-Revision", o->revision);
    http_reply(req, 200, "application/json", &body);
}

static void on_slow(void *arg)
{
    mem_auto struct slow *slow = arg;

    run_timer_free(slow->timer);
    answer_now(slow->office, slow->req);
}

static void answer_later(struct office *o, struct http_req *req)
{
    struct slow *slow = mem_new(struct slow);

    *slow = (struct slow){o, req, run_timer_new(o->loop, on_slow, slow)};
    run_timer_start(slow->timer, o->delay_ms, 0);
    http_reply_later(req, NULL, NULL);
}

static void on_request(struct http_req *req, void *app)
{
    struct office *o = app;
    mem_auto char *text = mem_fmt("%s:%s", http_method(req), http_raw_path(req) + strlen("/ws/v1/registry"));
    size_t len = 0;
    const char *sent = http_body(req, &len);

    if (sent && len)
        snprintf(o->body_text, sizeof o->body_text, "%.*s", (int)len, sent);
    note(o, text);
    if (o->refuse) {
        http_reply_error_status(req, o->refuse, o->refuse_code ? o->refuse_code : ERR_PERMISSION, NULL);
        return;
    }
    if (o->delay_ms)
        answer_later(o, req);
    else
        answer_now(o, req);
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

static ssize_t on_feed_read(void *arg, char *to, size_t max)
{
    struct office *o = arg;
    size_t n = o->feed_lines.len < max ? o->feed_lines.len : max;

    if (n)
        memcpy(to, o->feed_lines.bytes, n);
    buf_drop(&o->feed_lines, n);
    return n || !o->is_feed_cut ? (ssize_t)n : -1;
}

static void on_feed_closed(void *arg)
{
    struct office *o = arg;

    o->feed = NULL;
}

static void on_watch(struct http_req *req, void *app)
{
    static const struct http_stream_ops ops = {on_feed_read, on_feed_closed};
    struct office *o = app;
    const char *since = http_query(req, "since");
    mem_auto char *text = mem_fmt("WATCH:%s%s%s", http_raw_path(req) + strlen("/ws/v1/registry"),
                                  since ? "?" : "", since ? since : "");

    o->feed = req;
    o->is_feed_cut = false;
    buf_clear(&o->feed_lines);
    http_stream_start(req, 200, "application/x-ndjson", &ops, o);
    note(o, text);
}

static const struct http_route routes[] = {
    {"GET", "/ws/v1/registry/*", 0, 0, on_watch, .summary = "Watch."},
    {"PUT", "/ws/v1/registry/*", HTTP_JSON_IN, 1 << 20, on_request, .summary = "Bind."},
    {"DELETE", "/ws/v1/registry/*", 0, 0, on_request, .summary = "Delete."},
    {"POST", "/ws/v1/registry-admin/events", HTTP_JSON_IN, 1 << 20, on_events, .summary = "Events."},
};

static void open_server(struct office *o)
{
    const struct http_server_def def = {
        .listen = o->listen, .static_user = "t", .routes = routes, .n_routes = ARRAY_LEN(routes), .app = o};
    struct err_info why = {0};

    if (http_server_start(o->loop, &def, &o->server, &why))
        fail_msg("%s", why.text);
    snprintf(o->listen, sizeof o->listen, "127.0.0.1:%u", http_server_port(o->server));
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

static void on_done(void *arg, int64_t ticket, int code, const char *text)
{
    assert_int_equal(code != 0, text != NULL);

    mem_auto char *line = mem_fmt("done:%lld=%s", (long long)ticket, err_name(code));
    note(arg, line);
}

#define OFFICE_METRICS(X) OUTAGE_UP(X, M_UP, "registry") OUTAGE_SINCE(X, M_SINCE, "registry")
enum { METRICS_ENUM(OFFICE_METRICS) N_METRICS };
static const struct metric_def metric_rows[] = {METRICS_ROWS(OFFICE_METRICS)};
static const struct log_event lost = {"lost", LOG_WARN, "Lost."},
                              still_lost = {"still_lost", LOG_WARN, "Still."},
                              found = {"found", LOG_INFO, "Found."};
static const struct outage_def outage = {"registry", &lost, &still_lost, &found, M_UP, M_SINCE};

static void on_changed(void *arg)
{
    struct office *o = arg;

    if (o->notes_outages && o->is_missing != outage_lasts(o->outage))
        note(arg, o->is_missing ? "there" : "missing");
    o->is_missing = outage_lasts(o->outage);
}

static int set_up_with(void **state, int64_t ticket_limit_ms)
{
    struct office *o = mem_new(struct office);
    struct err_info why = {0};

    signal(SIGPIPE, SIG_IGN);
    o->loop = run_loop_new();
    snprintf(o->listen, sizeof o->listen, "127.0.0.1:0");
    o->revision = "s.1";
    open_server(o);
    mem_auto char *url = mem_fmt("http://%s", o->listen);
    o->metrics = metrics_new(metric_rows, N_METRICS);
    o->needs = outages_new(o->metrics);
    o->outage = outage_new(o->needs, &outage);
    const struct publish_def def = {.url = url,
                                    .ticket_limit_ms = ticket_limit_ms,
                                    .done = on_done,
                                    .changed = on_changed,
                                    .arg = o,
                                    .outage = o->outage};
    assert_int_equal(publish_open(o->loop, &def, &o->publish, &why), 0);
    *state = o;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, 0);
}

/** For what happens when the limit is over. */
static int set_up_with_a_short_limit(void **state)
{
    return set_up_with(state, 500);
}

static int tear_down(void **state)
{
    struct office *o = *state;

    publish_close(o->publish);
    if (o->server)
        close_server(o);
    run_loop_free(o->loop);
    outages_free(o->needs);
    metrics_free(o->metrics);
    buf_fini(&o->feed_lines);
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

static void every_ticket_is_settled(void **state)
{
    struct office *o = *state;

    publish_put(o->publish, "/users/a/x", &record, 11);
    publish_delete(o->publish, "/users/a/y", 12);
    publish_purge(o->publish, "/users/b", 13);
    await(o, "done:11=OK");
    await(o, "done:12=OK");
    await(o, "done:13=OK");
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
    await(o, "done:3=OK");
    await(o, "done:4=OK");
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
    assert_int_equal(count(o->story, "done:"), 0); /* Nothing is done yet. */
    open_server(o);
    await(o, "DELETE:/users/a/s");
    assert_int_equal(count(o->story, "done:"), 0);
    await(o, "done:4=OK");
    assert_int_equal(count(o->story, "PUT:"), 0);
    assert_int_equal(count(o->story, "=OK"), 4);
}

static void nothing_is_lost_while_the_registry_is_away(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_put(o->publish, "/users/a/x", &record, 5);
    await(o, "done:5=ERR_UNAVAILABLE");
    assert_int_equal(publish_n_pending(o->publish), 1);
    open_server(o);
    await(o, "PUT:/users/a/x");
    publish_put(o->publish, "/users/a/z", &record, 6);
    await(o, "done:6=OK");
    assert_int_equal(count(o->story, "done:5"), 1);
}

/** 64 changes, 16 side by side, take longer than a ticket waits for a registry that is silent. */
static void tickets_wait_for_a_registry_that_answers(void **state)
{
    struct office *o = *state;

    o->delay_ms = 200;
    for (int i = 1; i <= 64; i++) {
        mem_auto char *path = mem_fmt("/users/a/%d", i);
        publish_put(o->publish, path, &record, i);
    }
    await(o, "done:64=");
    assert_int_equal(count(o->story, "=OK"), 64);
}

static void note_only_one(void *arg)
{
    struct office *o = arg;

    if (publish_n_pending(o->publish) == 1)
        note(o, "one-waits");
}

static void a_newer_wish_replaces_one_that_has_failed(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_put(o->publish, "/users/a/x", &record, 1);
    await(o, "done:1=ERR_UNAVAILABLE");
    publish_put(o->publish, "/users/a/x", &record, 2);
    struct run_timer *look = run_timer_new(o->loop, note_only_one, o);
    run_timer_start(look, 0, 10);
    await(o, "one-waits"); /* when the try under way has failed */
    run_timer_free(look);
    publish_delete(o->publish, "/users/a/x", 3);
    open_server(o);
    await(o, "done:3=OK");
    assert_int_equal(count(o->story, "PUT:"), 0);
    assert_int_equal(count(o->story, "DELETE:"), 1);
}

static void a_refusal_for_good_is_reported_and_not_repeated(void **state)
{
    struct office *o = *state;

    o->refuse = 403;
    publish_put(o->publish, "/users/a/x", &record, 5);
    await(o, "done:5=ERR_PERMISSION");
    assert_int_equal(publish_n_pending(o->publish), 0);
    assert_int_equal(count(o->story, "PUT:"), 1);
}

static bool may_send(void *arg)
{
    struct office *o = arg;

    note(o, "asked");
    return o->may_send;
}

/** Who may not act sends nothing: no change of any kind, and none again. What waits goes when it may. */
static void nothing_is_sent_without_leave(void **state)
{
    struct office *o = *state;

    publish_guard(o->publish, may_send, o);
    publish_put(o->publish, "/users/a/x", &record, 0);
    publish_delete(o->publish, "/users/a/y", 0);
    publish_purge(o->publish, "/users/b", 0);
    publish_ended(o->publish, "/users/a/s/c/1", "container_1_0007_01_000002", 7);
    publish_put(o->publish, "/users/a/z", &record, 6);
    await(o, "done:6=ERR_UNAVAILABLE");
    assert_int_equal(count(o->story, "PUT:") + count(o->story, "DELETE:") + count(o->story, "EVENTS:"), 0);
    assert_int_equal(publish_n_pending(o->publish), 5);
    o->may_send = true;
    await(o, "done:7=OK");
    await(o, "PUT:/users/a/x ");
    await(o, "DELETE:/users/a/y ");
    await(o, "DELETE:/users/b ");
    await(o, "PUT:/users/a/z ");
}

/** The leave ends while the registry is away: what was begun before is not sent again, neither here nor in the client. */
static void nothing_is_sent_again_without_leave(void **state)
{
    struct office *o = *state;

    o->may_send = true;
    publish_guard(o->publish, may_send, o);
    close_server(o);
    publish_put(o->publish, "/users/a/x", &record, 5);
    await(o, "asked");
    o->may_send = false;
    o->story[0] = 0;
    await(o, "asked"); /* before it would be sent again */
    open_server(o);
    await(o, "done:5=ERR_UNAVAILABLE");
    assert_int_equal(count(o->story, "PUT:"), 0);
    o->may_send = true;
    await(o, "PUT:/users/a/x ");
}

/* What asking again may change is asked again, the rest is not. */
static void what_is_a_refusal(void **state)
{
    struct office *o = *state;
    static const struct {
        int status, code;
        bool is_refusal;
    } rows[] = {
        {400, ERR_INVALID, true},     {400, ERR_PATH, true},
        {401, ERR_AUTH, true},        {403, ERR_PERMISSION, true},
        {409, ERR_NOTEMPTY, true},    {413, ERR_TOOBIG, true},
        {422, ERR_RECORD, true},      {501, ERR_UNSUPPORTED, true},
        {400, ERR_JSON, false},       {404, ERR_NOROUTE, false},
        {412, ERR_CONFLICT, false},   {429, ERR_LIMIT, false},
        {500, ERR_IO, false},         {500, ERR_INTERNAL, false},
        {503, ERR_WRONGSTATE, false}, {503, ERR_UNKNOWN_OUTCOME, false},
        {507, ERR_NOSPC, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ticket = (int64_t)i + 1;
        mem_auto char *path = mem_fmt("/users/a/x%zu", i);
        mem_auto char *outcome =
            mem_fmt("done:%lld=%s", (long long)ticket, rows[i].is_refusal ? err_name(rows[i].code) : "OK");
        mem_auto char *put = mem_fmt("PUT:%s ", path);
        o->refuse = rows[i].status;
        o->refuse_code = rows[i].code;
        publish_put(o->publish, path, &record, ticket);
        await(o, put);
        o->refuse = 0;
        await(o, outcome);
        assert_int_equal(count(o->story, put), rows[i].is_refusal ? 1 : 2);
    }
}

#define C2   "container_1_0007_01_000002"
#define ENDS "EVENTS:[{\"type\":\"container-finished\",\"id\":\"" C2 "\"}]"

static void ends_are_reported_before_their_service_is_purged(void **state)
{
    struct office *o = *state;

    o->flaws = 2;
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    publish_ended(o->publish, "/users/a/s", "application_1_0007", 2);
    publish_purge(o->publish, "/users/a/s", 3);
    await(o, "done:3=OK");
    assert_non_null(strstr(o->story, ENDS));
    assert_non_null(strstr(o->story, "EVENTS:[{\"type\":\"am-container-finished\",\"id\":"
                                     "\"container_1_0007_01_000001\"},"
                                     "{\"type\":\"application-completed\",\"id\":\"application_1_0007\"}]"));
    const char *purge = strstr(o->story, "DELETE:/users/a/s ");
    assert_non_null(purge);
    assert_true(count(purge, "EVENTS:") == 0);
    assert_int_equal(count(o->story, "EVENTS:"), 4); /* both were repeated */
    assert_int_equal(count(o->story, "done:1=OK"), 1);
    assert_int_equal(count(o->story, "done:2=OK"), 1);
}

static void an_end_waits_for_the_registry_and_is_reported_once(void **state)
{
    struct office *o = *state;

    close_server(o);
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    publish_ended(o->publish, "/users/a/s/c/1", C2, 2);
    publish_delete(o->publish, "/users/a/s/c/1", 3);
    await(o, "done:3=ERR_UNAVAILABLE");
    assert_int_equal(count(o->story, "done:"), 1); /* who ends has no time limit */
    assert_int_equal(publish_n_pending(o->publish), 2);
    open_server(o);
    await(o, "done:1=OK");
    await(o, "done:2=OK");
    assert_int_equal(count(o->story, ENDS), 1);
}

static void a_refused_end_is_reported(void **state)
{
    struct office *o = *state;

    o->refuse = 403;
    publish_ended(o->publish, "/users/a/s/c/1", C2, 1);
    await(o, "done:1=ERR_PERMISSION");
    assert_int_equal(publish_n_pending(o->publish), 0);
}

static void unreadiness_is_an_attribute(void **state)
{
    struct office *o = *state;
    struct eng_record unready = record;

    unready.is_unready = true;
    publish_put(o->publish, "/users/a/x", &unready, 1);
    await(o, "done:1=OK");
    assert_non_null(strstr(o->body_text, "\"bobbin:ready\":\"false\""));
    o->body_text[0] = 0;
    publish_put(o->publish, "/users/a/x", &record, 2);
    await(o, "done:2=OK");
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
    assert_int_equal(count(o->story, "done:"), 0);
}

/* ---- following ---- */

#define X        "/users/a/services/yarn-service/s/x"
#define GONE     "{\"type\":\"delete\",\"path\":\"" X "\",\"revision\":\"s.1\"}"
#define MARK(n)  "{\"type\":\"progress\",\"revision\":\"" n "\"}"
#define SYNC(n)  "{\"type\":\"sync\",\"revision\":\"" n "\"}"
#define HELLO(n) "{\"type\":\"hello\",\"store\":\"s\",\"oldest\":\"s.1\",\"revision\":\"" n "\"}"

static void say(struct office *o, const char *line)
{
    buf_addf(&o->feed_lines, "%s\n", line);
    if (o->feed)
        http_stream_wake(o->feed);
}

/* The node is as the last PUT made it. */
static void say_put(struct office *o)
{
    mem_auto char *line = mem_fmt("{\"type\":\"put\",\"path\":\"" X "\",\"revision\":\"s.1\",\"time\":0,"
                                  "\"size\":1,\"children\":0,\"service\":%s}",
                                  o->body_text);
    say(o, line);
}

static void on_restored(void *arg, size_t n, const char *path)
{
    struct office *o = arg;

    assert_string_equal(path, X);
    o->n_restored += (int)n;
    note(o, "restored");
}

static void on_back(void *arg)
{
    note(arg, "back");
}

/* All that was said before has arrived, and another path was deleted after it. */
static void pass(struct office *o, int64_t ticket)
{
    static char wanted[64];

    publish_delete(o->publish, "/else", ticket);
    snprintf(wanted, sizeof wanted, "done:%lld=OK", (long long)ticket);
    await(o, wanted);
}

/* A record that stands, and the feed says so. */
static void follow(struct office *o)
{
    publish_follow(o->publish, NULL, &(struct publish_follow_ops){on_restored, on_back, o});
    publish_put(o->publish, X, &record, 1);
    await(o, "WATCH:/users/a/services/yarn-service/s ");
    await(o, "done:1=OK");
    say(o, HELLO("s.1"));
    say_put(o);
    say(o, SYNC("s.1"));
    pass(o, 1000);
}

/* A start after a life in which the record at X was written. */
static void begin_with_what_stands(struct office *o)
{
    publish_hold(o->publish);
    publish_follow(o->publish, "/users/a/services", &(struct publish_follow_ops){on_restored, on_back, o});
    publish_put(o->publish, X, &record, 1);
    publish_put(o->publish, "/users/a/services/yarn-service/s/y", &record, 2);
    assert_string_equal(o->story, "");
    publish_begin(o->publish);
    await(o, "WATCH:/users/a/services ");
    snprintf(o->body_text, sizeof o->body_text,
             "{\"type\":\"JSONServiceRecord\",\"description\":\"hello-0\",\"yarn:id\":\"container_1\","
             "\"yarn:persistence\":\"container\",\"yarn:ip\":\"127.77.0.1\"}");
}

static void what_stands_is_not_written_again(void **state)
{
    struct office *o = *state;

    begin_with_what_stands(o);
    o->revision = "s.9"; /* of the one that is written; the feed does not come to it */
    say(o, HELLO("s.1"));
    say_put(o);
    assert_int_equal(count(o->story, "PUT:"), 0);
    say(o, SYNC("s.1"));
    await(o, "done:1=OK");
    await(o, "done:2=OK");
    assert_int_equal(count(o->story, "PUT:"), 1);
    assert_int_equal(count(o->story, "PUT:/users/a/services/yarn-service/s/y"), 1);
    assert_int_equal(publish_n_pending(o->publish), 0);
    say(o, GONE);
    say(o, MARK("s.2"));
    await(o, "restored PUT:" X);
}

static void a_feed_that_shows_nothing_is_not_waited_for_long(void **state)
{
    struct office *o = *state;

    begin_with_what_stands(o);
    say(o, HELLO("s.1"));
    await(o, "done:1=OK");
    await(o, "done:2=OK");
    assert_int_equal(count(o->story, "PUT:"), 2);
}

/** Very many changes that wait cost the one who asks for a purge nothing, and the purge settles their tickets. */
static void a_purge_takes_away_what_waits(void **state)
{
    struct office *o = *state;
    enum { N = 1000 };

    publish_hold(o->publish);
    publish_follow(o->publish, "/users/a/services", &(struct publish_follow_ops){on_restored, on_back, o});
    for (int i = 1; i <= N; i++) {
        mem_auto char *path = mem_fmt("/users/a/services/yarn-service/s/components/%d", i);
        publish_put(o->publish, path, &record, i % 100 ? 0 : i);
    }
    publish_purge(o->publish, "/users/a/services/yarn-service/s", N + 1);
    publish_put(o->publish, X, &record, N + 2);
    publish_begin(o->publish);
    await(o, "WATCH:/users/a/services ");
    say(o, HELLO("s.1"));
    say(o, SYNC("s.1"));
    await(o, "done:1002=OK");
    assert_int_equal(count(o->story, "PUT:"), 1);
    assert_int_equal(count(o->story, "=OK"), N / 100 + 2);
    assert_int_equal(publish_n_pending(o->publish), 0);
}

/* Before anything is wanted: by the feed. Then what waits, since when, and why. */
static void a_registry_that_is_away_is_noticed_and_what_waits_is_known(void **state)
{
    struct office *o = *state;
    struct publish_wait w;
    int64_t before_ms = run_wall_ms();

    o->notes_outages = true;
    close_server(o);
    publish_follow(o->publish, "/users/a/services", &(struct publish_follow_ops){on_restored, on_back, o});
    await(o, "missing ");
    assert_false(publish_waits(o->publish, X, &w));
    publish_put(o->publish, X, &record, 1);
    assert_true(publish_waits(o->publish, X, &w));
    assert_true(w.since_ms >= before_ms && w.since_ms <= run_wall_ms());
    assert_non_null(strstr(w.reason, o->listen));
    int64_t since_ms = w.since_ms;
    publish_put(o->publish, X, &record, 2); /* it waits since it was wanted first */
    assert_true(publish_waits(o->publish, X, &w));
    assert_int_equal(w.since_ms, since_ms);
    open_server(o);
    await(o, "WATCH:/users/a/services ");
    say(o, HELLO("s.1"));
    await(o, "done:2=OK");
    await(o, "there ");
    assert_false(publish_waits(o->publish, X, &w));
}

static void what_others_delete_is_put_back(void **state)
{
    struct office *o = *state;

    follow(o);
    assert_int_equal(o->n_restored, 0);
    say(o, GONE);
    say(o, MARK("s.2"));
    await(o, "restored PUT:" X);
    assert_non_null(strstr(o->body_text, "hello-0"));
    assert_int_equal(count(o->story, "done:1="), 1);
}

static void what_others_overwrite_is_put_back_ever_more_slowly(void **state)
{
    struct office *o = *state;

    follow(o);
    mem_auto char *own = mem_str(o->body_text);
    for (int i = 0; i < 2; i++) {
        snprintf(o->body_text, sizeof o->body_text,
                 "{\"type\":\"JSONServiceRecord\",\"description\":\"else\"}");
        say_put(o);
        say(o, MARK("s.2"));
        if (i == 0)
            await(o, "restored PUT:" X);
    }
    pass(o, 7);
    assert_int_equal(o->n_restored, 1); /* not at once this time */
    await(o, "done:7=OK restored PUT:" X);
    assert_string_equal(o->body_text, own);
}

static void what_we_delete_stays_away(void **state)
{
    struct office *o = *state;

    follow(o);
    publish_delete(o->publish, X, 2);
    await(o, "done:2=OK");
    say(o, GONE);
    say(o, MARK("s.2"));
    publish_put(o->publish, X, &record, 3);
    await(o, "done:3=OK");
    publish_purge(o->publish, "/users/a/services/yarn-service/s", 4);
    await(o, "done:4=OK");
    say(o, GONE);
    say(o, MARK("s.3"));
    publish_put(o->publish, X, &record, 5);
    await(o, "done:5=OK");
    publish_ended(o->publish, X, C2, 6);
    await(o, "done:6=OK");
    say(o, GONE);
    say(o, MARK("s.4"));
    pass(o, 7);
    assert_int_equal(o->n_restored, 0);
}

/* The feed may be behind what the registry has answered: until it has come to that it says nothing about it. */
static void a_feed_that_is_behind_is_waited_for(void **state)
{
    struct office *o = *state;

    follow(o);
    o->revision = "s.9";
    publish_purge(o->publish, "/users/a/services/yarn-service/s", 2);
    publish_put(o->publish, X, &record, 3);
    await(o, "done:3=OK");
    say(o, GONE);
    say(o, MARK("s.8"));
    pass(o, 7);
    say_put(o);
    say(o, MARK("s.9"));
    pass(o, 8);
    assert_int_equal(o->n_restored, 0);
    say(o, GONE);
    say(o, MARK("s.10"));
    await(o, "restored PUT:" X);
}

static void what_went_while_nobody_looked_is_put_back(void **state)
{
    struct office *o = *state;

    follow(o);
    o->is_feed_cut = true;
    http_stream_wake(o->feed);
    await(o, "WATCH:/users/a/services/yarn-service/s?s.1");
    say(o, HELLO("s.5"));
    say(o, "{\"type\":\"gone\",\"oldest\":\"s.4\"}");
    o->is_feed_cut = true;
    http_stream_wake(o->feed);
    await(o, "?s.1 back WATCH:/users/a/services/yarn-service/s ");
    say(o, HELLO("s.5"));
    say(o, MARK("s.5")); /* inside a snapshot: it is not complete */
    pass(o, 7);
    assert_int_equal(o->n_restored, 0);
    say(o, SYNC("s.5"));
    await(o, "restored PUT:" X);
}

/* Its numbers mean nothing to those of the store before. */
static void another_store_gets_what_it_lacks(void **state)
{
    struct office *o = *state;

    follow(o);
    o->is_feed_cut = true;
    http_stream_wake(o->feed);
    await(o, "WATCH:/users/a/services/yarn-service/s?s.1");
    say(o, "{\"type\":\"gone\",\"oldest\":\"t.0\"}");
    o->is_feed_cut = true;
    http_stream_wake(o->feed);
    await(o, "?s.1 WATCH:/users/a/services/yarn-service/s ");
    say(o, HELLO("t.0"));
    say(o, SYNC("t.0"));
    await(o, "back restored back PUT:" X); /* once more: who waits for another registry has one */
}

static void a_store_that_is_away_says_nothing(void **state)
{
    struct office *o = *state;

    follow(o);
    say(o, GONE);
    say(o, "{\"type\":\"progress\",\"revision\":\"s.2\",\"stale\":true}");
    pass(o, 7);
    assert_int_equal(o->n_restored, 0);
    say(o, "{\"type\":\"progress\",\"revision\":\"s.2\",\"stale\":false}");
    await(o, "restored PUT:" X);
}

static void one_watch_is_above_all(void **state)
{
    struct office *o = *state;

    follow(o);
    o->revision = "s.9"; /* the feed below does not come so far: it is about X only */
    publish_put(o->publish, "/users/a/services/yarn-service/t", &record, 2);
    await(o, "WATCH:/users/a/services/yarn-service ");
    publish_put(o->publish, "/users/b/services/yarn-service/t", &record, 3);
    await(o, "WATCH:/users ");
    publish_put(o->publish, "/users/c/services/yarn-service/t", &record, 4);
    await(o, "done:4=OK");
    publish_put(o->publish, "/services/t", &record, 5);
    await(o, "WATCH:/ ");
    publish_put(o->publish, "/else/t", &record, 6);
    await(o, "done:6=OK");
    assert_int_equal(count(o->story, "WATCH:"), 4);
    say(o, HELLO("s.1"));
    say_put(o);
    say(o, SYNC("s.1"));
    say(o, GONE);
    say(o, MARK("s.2"));
    await(o, "restored PUT:" X);
}

#define CASE(f)       cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define CASE_LIMIT(f) cmocka_unit_test_setup_teardown(f, set_up_with_a_short_limit, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_ticket_is_settled),
        CASE(order_is_kept_where_it_matters),
        CASE(newer_wishes_replace_older_ones),
        CASE_LIMIT(nothing_is_lost_while_the_registry_is_away),
        CASE_LIMIT(tickets_wait_for_a_registry_that_answers),
        CASE_LIMIT(a_newer_wish_replaces_one_that_has_failed),
        CASE(a_registry_that_is_away_is_noticed_and_what_waits_is_known),
        CASE(a_refusal_for_good_is_reported_and_not_repeated),
        CASE(what_is_a_refusal),
        CASE_LIMIT(nothing_is_sent_without_leave),
        CASE_LIMIT(nothing_is_sent_again_without_leave),
        CASE(ends_are_reported_before_their_service_is_purged),
        CASE_LIMIT(an_end_waits_for_the_registry_and_is_reported_once),
        CASE(a_refused_end_is_reported),
        CASE(unreadiness_is_an_attribute),
        CASE(drain_waits_for_the_last_change),
        CASE(what_stands_is_not_written_again),
        CASE_LIMIT(a_feed_that_shows_nothing_is_not_waited_for_long),
        CASE(a_purge_takes_away_what_waits),
        CASE(what_others_delete_is_put_back),
        CASE(what_others_overwrite_is_put_back_ever_more_slowly),
        CASE(what_we_delete_stays_away),
        CASE(a_feed_that_is_behind_is_waited_for),
        CASE(what_went_while_nobody_looked_is_put_back),
        CASE(another_store_gets_what_it_lacks),
        CASE(a_store_that_is_away_says_nothing),
        CASE(one_watch_is_above_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
