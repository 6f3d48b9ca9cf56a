/* lib/http/common: /healthz, /readyz, /metrics and /version of a daemon that really runs. */
#include "http_fixture.h"

#include <string.h>

#include "base/obj.h"
#include "run/process.h"

#define TEST_METRICS(X)                                                                                      \
    PROCESS_METRICS(X)                                                                                       \
    X(M_THINGS, METRIC_COUNTER, "test_things", "", "Things seen.")
enum { METRICS_ENUM(TEST_METRICS) };
static const struct metric_def metrics[] = {METRICS_ROWS(TEST_METRICS)};

#define ACCEPT_OPEN                                                                                          \
    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"

/** What is asked, one after the other; the daemon gets ready before the last one. */
static const struct {
    const char *method, *path, *accept;
} questions[] = {
    {"GET", "/healthz", NULL},
    {"GET", "/readyz", NULL},
    {"GET", "/metrics", ACCEPT_OPEN},
    {"GET", "/version", NULL},
    {"GET", "/metrics", NULL},
    {"GET", "/log-level", NULL},
    {"POST", "/log-level?level=debug", NULL},
    {"POST", "/log-level?level=warn", NULL},
    {"POST", "/log-level?level=loud", NULL},
    {"POST", "/log-level", NULL},
    {"GET", "/log-level", NULL},
    {"GET", "/readyz", NULL},
};
enum {
    HEALTHZ,
    UNREADY,
    OPENMETRICS,
    VERSION,
    METRICS,
    LEVEL,
    TO_DEBUG,
    TO_WARN,
    TO_LOUD,
    TO_NONE,
    LEVEL_AFTER,
    READY
};

struct app {
    struct daemon *daemon;
    struct http_server *server;
    struct http_client *client;
    size_t n_asked;
};

/** What came back; outlives the daemon. */
static struct {
    int status;
    char text[8192], type[128];
} answers[ARRAY_LEN(questions)];

static void ask_next(struct app *app);

static void on_answer(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct app *app = arg;
    (void)why;
    const char *type = a->header(a, "content-type");
    answers[app->n_asked].status = err ? err : a->status;
    snprintf(answers[app->n_asked].text, sizeof answers[0].text, "%s", a->body.len ? a->body.bytes : "");
    snprintf(answers[app->n_asked].type, sizeof answers[0].type, "%s", type ? type : "");
    app->n_asked++;
    if (app->n_asked + 1 == ARRAY_LEN(questions))
        daemon_ready(app->daemon, NULL);
    if (app->n_asked == ARRAY_LEN(questions))
        daemon_quit(app->daemon, 0);
    else
        ask_next(app);
}

static void ask_next(struct app *app)
{
    char url[128], accept[256];
    const char *const headers[] = {accept, NULL};
    const char *wanted = questions[app->n_asked].accept;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", http_server_port(app->server),
             questions[app->n_asked].path);
    snprintf(accept, sizeof accept, "Accept: %s", wanted ? wanted : "*/*");
    http_call(app->client, &(struct http_call_def){.method = questions[app->n_asked].method,
                                                   .url = url,
                                                   .headers = headers,
                                                   .timeout_ms = 5000,
                                                   .done = on_answer,
                                                   .arg = app});
}

static int start(struct daemon *d, void *arg, struct err_info *why)
{
    struct app *app = arg;
    app->daemon = d;
    http_common_daemon(d);
    metric_add(daemon_metrics(d), M_THINGS, 3);
    daemon_ready(d, "loading");
    struct http_server_def def = {
        .listen = "127.0.0.1:0", .more_routes = http_common_routes, .n_more_routes = http_common_n_routes};
    int rc = http_server_start(daemon_loop(d), &def, &app->server, why);
    if (rc != 0)
        return rc;
    app->client = http_client_new(daemon_loop(d));
    ask_next(app);
    return 0;
}

static void on_stopped(void *arg)
{
    daemon_stopped(arg);
}

static void stop(struct daemon *d, void *arg)
{
    struct app *app = arg;
    http_client_free(app->client);
    http_server_stop(app->server, on_stopped, d);
}

static void check_metrics(void)
{
    assert_int_equal(answers[OPENMETRICS].status, 200);
    assert_string_equal(answers[OPENMETRICS].type,
                        "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert_non_null(strstr(answers[OPENMETRICS].text, "# TYPE test_things counter\n"));
    assert_non_null(strstr(answers[OPENMETRICS].text, "test_things_total 3\n"));
    assert_non_null(strstr(answers[OPENMETRICS].text, "# EOF\n"));
    assert_int_equal(answers[METRICS].status, 200);
    assert_string_equal(answers[METRICS].type, "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(answers[METRICS].text, "# TYPE test_things_total counter\n"));
    assert_null(strstr(answers[METRICS].text, "# EOF"));
    assert_non_null(strstr(answers[METRICS].text, "\nprocess_open_fds "));
    assert_null(strstr(answers[METRICS].text, "\nprocess_open_fds 0\n"));
    assert_null(strstr(answers[METRICS].text, "\nprocess_resident_memory_bytes 0\n"));
}

static void check_levels(void)
{
    assert_string_equal(answers[LEVEL].text, "{\"level\":\"info\"}");
    assert_int_equal(answers[TO_DEBUG].status, 200);
    assert_string_equal(answers[TO_DEBUG].text, "{\"level\":\"debug\"}");
    assert_string_equal(answers[TO_WARN].text, "{\"level\":\"warn\"}");
    assert_int_equal(answers[TO_LOUD].status, 400);
    assert_non_null(strstr(answers[TO_LOUD].text, "error or warn or info or debug"));
    assert_int_equal(answers[TO_NONE].status, 400);
    assert_string_equal(answers[LEVEL_AFTER].text, "{\"level\":\"warn\"}");
}

static void test_common_routes(void **state)
{
    (void)state;
    static const struct daemon_step steps[] = {{"http", start, stop, NULL}};
    static const struct daemon_def def = {.name = "testd",
                                          .summary = "A daemon for a test.",
                                          .metrics = metrics,
                                          .n_metrics = ARRAY_LEN(metrics),
                                          .steps = steps,
                                          .n_steps = ARRAY_LEN(steps),
                                          .app_size = sizeof(struct app)};
    char name[] = "testd", *argv[] = {name, NULL};
    assert_int_equal(daemon_main(&def, 1, argv), 0);
    assert_int_equal(answers[HEALTHZ].status, 200);
    assert_int_equal(answers[UNREADY].status, 503);
    assert_non_null(strstr(answers[UNREADY].text, "\"detail\":\"not ready: loading\""));
    assert_string_equal(answers[UNREADY].type, "application/problem+json");
    assert_int_equal(answers[VERSION].status, 200);
    assert_non_null(strstr(answers[VERSION].text, "\"name\":\"testd\""));
    assert_string_equal(answers[VERSION].type, "application/json");
    assert_int_equal(answers[READY].status, 200);
    check_metrics();
    check_levels();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_common_routes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
