/* lib/http/common: /healthz, /readyz, /metrics and /version of a daemon that really runs. */
#include "http_fixture.h"

#include <string.h>

#include "base/obj.h"

#define TEST_METRICS(X) X(M_THINGS, METRIC_COUNTER, "test_things", "", "Things seen.")
enum { METRICS_ENUM(TEST_METRICS) };
static const struct metric_def metrics[] = {METRICS_ROWS(TEST_METRICS)};

static const char *const paths[] = {"/healthz", "/readyz", "/metrics", "/version", "/readyz"};

struct app {
    struct daemon *daemon;
    struct http_server *server;
    struct http_client *client;
    size_t n_asked;
};

/** What came back; outlives the daemon. */
static struct {
    int status;
    char text[4096], type[128];
} answers[ARRAY_LEN(paths)];

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
    if (app->n_asked + 1 == ARRAY_LEN(paths))
        daemon_ready(app->daemon, NULL);
    if (app->n_asked == ARRAY_LEN(paths))
        daemon_quit(app->daemon, 0);
    else
        ask_next(app);
}

static void ask_next(struct app *app)
{
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", http_server_port(app->server), paths[app->n_asked]);
    http_call(app->client,
              &(struct http_call_def){.url = url, .timeout_ms = 5000, .done = on_answer, .arg = app});
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
    assert_int_equal(answers[0].status, 200);
    assert_int_equal(answers[1].status, 503);
    assert_non_null(strstr(answers[1].text, "\"detail\":\"not ready: loading\""));
    assert_string_equal(answers[1].type, "application/problem+json");
    assert_int_equal(answers[2].status, 200);
    assert_non_null(strstr(answers[2].text, "test_things_total 3\n"));
    assert_non_null(strstr(answers[2].text, "# EOF\n"));
    assert_non_null(strstr(answers[2].type, "application/openmetrics-text"));
    assert_int_equal(answers[3].status, 200);
    assert_non_null(strstr(answers[3].text, "\"name\":\"testd\""));
    assert_string_equal(answers[3].type, "application/json");
    assert_int_equal(answers[4].status, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_common_routes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
