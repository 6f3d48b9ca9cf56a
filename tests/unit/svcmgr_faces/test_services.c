/** The services API over HTTP: a real server and a real engine; cluster and registry obey at once, or are held. */
#include <stdlib.h>
#include <string.h>

#include "engine_kit.h"
#include "faces/services.h"
#include "faces/services_routes.h"
#include "http_fixture.h"
#include "json/json.h"

#define MAX_WAITING 8

struct waiting {
    uint64_t token;
    void (*answered)(void *arg, const struct eng_answer *answer);
    void *arg;
};

struct app {
    struct obj obj;
    struct face face;
    struct fixture fx;
    struct kit kit;
    struct spec_world world;
    struct waiting waiting[MAX_WAITING];
    size_t n_waiting;
    bool hold; /* answers are kept */
    bool got_request;
};

#define APP_MAGIC OBJ_MAGIC('T', 'A', 'P', 'P')

static void release_answers(struct app *app)
{
    for (size_t i = 0; i < app->kit.effects.n; i++) {
        const struct eng_effect *e = &app->kit.effects.items[i];
        for (size_t k = 0; e->kind == EFF_ANSWER && k < app->n_waiting; k++) {
            struct waiting w = app->waiting[k];
            if (w.token != e->answer->token)
                continue;
            app->waiting[k] = app->waiting[--app->n_waiting];
            w.answered(w.arg, e->answer);
            break;
        }
    }
}

static void submit(void *arg, struct eng_event *ev,
                   void (*answered)(void *arg, const struct eng_answer *answer), void *answered_arg)
{
    struct app *app = obj_cast(arg, struct app, APP_MAGIC);
    assert_true(app->n_waiting < MAX_WAITING);
    ev->token = ++app->kit.token;
    app->waiting[app->n_waiting++] = (struct waiting){ev->token, answered, answered_arg};
    app->got_request = true;
    kit_clear(&app->kit);
    kit_step(&app->kit, *ev);
    if (!app->hold)
        release_answers(app);
}

static const struct engine *engine_of(void *arg)
{
    return obj_cast(arg, struct app, APP_MAGIC)->kit.e;
}

static int64_t now_of(void *arg)
{
    return obj_cast(arg, struct app, APP_MAGIC)->kit.now_ms;
}

static const struct spec_world *world_of(void *arg)
{
    return &obj_cast(arg, struct app, APP_MAGIC)->world;
}

static void look_of(void *arg, const char *owner, const char *const *paths, size_t n,
                    void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                    void *done_arg)
{
    bool absent[8] = {false};
    struct err_info problem = {0};
    (void)arg;
    assert_string_equal(owner, "alice");
    for (size_t i = 0; i < n; i++) {
        absent[i] = strcmp(paths[i], "/missing") == 0;
        if (strcmp(paths[i], "/secret") == 0)
            err_set(&problem, ERR_INVALID, paths[i], "src_file /secret: not for you.");
        if (strcmp(paths[i], "/hangs") == 0)
            err_set(&problem, ERR_TIMEOUT, paths[i], "it hangs");
    }
    done(done_arg, problem.code == ERR_TIMEOUT ? NULL : absent, &problem);
}

static void note_unknown_of(void *arg, const char *user, const char *service, const char *members)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
    (void)service;
    assert_string_equal(user, "alice");
    assert_int_equal(members[0], '/');
}

static bool no_record_waits(void *arg, const char *path, struct face_wait *out)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
    (void)path;
    (void)out;
    return false;
}

static char *no_text_of(void *arg, const char *container_id)
{
    (void)arg;
    (void)container_id;
    return NULL;
}

static char *no_container_of(void *arg, const char *application_id, const char *instance)
{
    (void)arg;
    (void)application_id;
    (void)instance;
    return NULL;
}

static bool is_of_nobody(void *arg, const char *application_id, const char *owner, const char *service)
{
    (void)arg;
    (void)application_id;
    (void)owner;
    (void)service;
    return false;
}

static const struct app_ops ops = {.submit = submit,
                                   .engine = engine_of,
                                   .now_ms = now_of,
                                   .world = world_of,
                                   .look = look_of,
                                   .note_unknown = note_unknown_of,
                                   .record_waits = no_record_waits,
                                   .log_dir = no_text_of,
                                   .last_container = no_container_of,
                                   .is_of = is_of_nobody,
                                   .application_of = no_text_of};

static void start(struct app *app, const char *dialect)
{
    *app = (struct app){.obj = {APP_MAGIC}};
    obj_init(&app->face.obj, FACE_MAGIC);
    app->face.ops = &ops;
    app->face.app = app;
    kit_start(&app->kit, dialect);
    app->world = (struct spec_world){.dialect = dialect_find(dialect), .local = true, .max_memory_mb = 4096};
    struct http_server_def def = {.write_error = services_write_error};
    fixture_start(&app->fx, services_routes, services_n_routes, &app->face, &def);
}

static void end(struct app *app)
{
    fixture_end(&app->fx);
    for (size_t i = 0; i < app->n_waiting; i++) /* as the app does when it stops */
        app->waiting[i].answered(app->waiting[i].arg, &(struct eng_answer){.outcome = OUT_CANCELLED});
    kit_end(&app->kit);
}

/* ---- one request a row ---- */

struct row {
    const char *call; /* "GET /app/v1/…", with "+body" or "+minimal" behind it for a preference */
    const char *body;
    int status;
    const char *said; /* part of the answer's body; NULL: the body is empty */
};

static void ask(struct app *app, const struct row *row, struct result *out)
{
    char method[16], path[512], prefer[64] = "";
    if (sscanf(row->call, "%15s %511s %63s", method, path, prefer) < 2)
        fail_msg("bad row %s", row->call);
    const char *const headers[] = {strcmp(prefer, "+body") == 0      ? "Prefer: return=representation"
                                   : strcmp(prefer, "+minimal") == 0 ? "Prefer: return=minimal"
                                                                     : NULL,
                                   NULL};
    call_sync(&app->fx,
              (struct http_call_def){.method = method,
                                     .url = fixture_url(&app->fx, path),
                                     .headers = headers,
                                     .body = row->body,
                                     .body_len = row->body ? strlen(row->body) : 0},
              out);
}

static void check_rows(struct app *app, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct result r = {.header_name = "Content-Type"};
        ask(app, &rows[i], &r);
        if (r.status != rows[i].status)
            fail_msg("%s %s: status %d instead of %d: %s", rows[i].call, rows[i].body ? rows[i].body : "",
                     r.status, rows[i].status, buf_cstr(&r.body));
        if (!rows[i].said)
            assert_int_equal(r.body.len, 0);
        else if (!strstr(buf_cstr(&r.body), rows[i].said))
            fail_msg("%s: \"%s\" expected in: %s", rows[i].call, rows[i].said, buf_cstr(&r.body));
        if (rows[i].said)
            assert_string_equal(r.header, "application/json;charset=utf-8");
        buf_fini(&r.body);
    }
}

#define U "?user.name=alice"
#define GOOD(name, more)                                                                                     \
    "{\"name\":\"" name                                                                                      \
    "\",\"version\":\"v1\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":1,"                  \
    "\"launch_command\":\"x\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]" more "}"

#define WITH_FILE(path)                                                                                      \
    GOOD("d", ",\"configuration\":{\"files\":[{\"type\":\"STATIC\",\"dest_file\":\"f\","                     \
              "\"src_file\":\"" path "\"}]}")

static const struct row seed_rows[] = {
    {"GET /app/v1/services/version", NULL, 200, "\"hadoop_version\":"},
    {"GET /app/v1/services" U, NULL, 200, "[]"},
    {"POST /app/v1/services" U, "{}", 400, "Service name is either empty or not provided"},
    {"POST /app/v1/services" U, "{", 400, "\"diagnostics\":"},
    {"POST /app/v1/services" U, NULL, 400, "No service data provided"},
    {"POST /app/v1/services" U, GOOD("d", ",\"docker_client_config\":\"/missing\""), 400,
     "does not exist: /missing"},
    {"POST /app/v1/services" U, WITH_FILE("/missing"), 400,
     "Src_file does not exist for config file: /missing"},
    {"POST /app/v1/services" U, WITH_FILE("/secret"), 400, "src_file /secret: not for you."},
    {"POST /app/v1/services" U, WITH_FILE("/hangs"), 504, "it hangs"},
    {"GET /app/v1/services/d" U, NULL, 404, "not found"},
    {"POST /app/v1/services" U, GOOD("d", ",\"artifact\":{\"id\":\"nginx\"}"), 400,
     "no artifact of type DOCKER"},
    {"POST /app/v1/services" U, GOOD("web", ",\"x\":1,\"lifetime\":\"3600\""), 202,
     "{\"uri\":\"/v1/services/web\",\"diagnostics\":\"Application ID: "
     "application_1700000000000_0001\\nIgnored unknown members: /x\",\"state\":\"ACCEPTED\"}"},
    {"POST /app/v1/services/" U, GOOD("web", ""), 500, "Service name web is already taken."},
    {"GET /app/v1/services/web" U, NULL, 200, "\"state\":\"READY\""},
    {"GET /v1/services/web/" U, NULL, 200, "\"lifetime\":3600"},
    {"GET /app/v1/services/web" U "&explain=true", NULL, 200, "\"explain\":[]"},
    {"GET /app/v1/services/web" U "&explain=7", NULL, 400, "explain"},
    {"GET /app/v1/services" U, NULL, 200, "[{\"name\":\"web\",\"version\":\"v1\""},
    {"GET /app/v1/services", NULL, 200, "[]"}, /* another user */
    {"GET /app/v1/services/web", NULL, 404, "{\"diagnostics\":\"Service web not found\",\"code\":404004}"},
    {"GET /app/v1/services/a_b" U, NULL, 404, "can not use '_'"},
    {"GET /app/v1/services/ghost/component-instances/hello-0/logs/stdout.txt" U, NULL, 404,
     "no such service"},
    {"GET /app/v1/services/a%2Fb" U, NULL, 400, "\"diagnostics\":"},
    {"PUT /app/v1/services/web" U, "{}", 204, NULL},
    {"PUT /app/v1/services/ghost" U, "{}", 404, "Service ghost not found"},
    {"PUT /app/v1/services/web" U, "{\"lifetime\":0}", 204, NULL},
    {"PUT /app/v1/services/web" U, "{\"lifetime\":100}", 204, NULL},
    {"GET /app/v1/services/web" U, NULL, 200, "\"lifetime\":100,"},
    {"PUT /app/v1/services/web" U " +body", "{\"lifetime\":3600}", 200,
     "Service (web)'s lifeTime is updated to 2023-11-14T23:30:00.000Z, 3600 seconds remaining"},
    {"PUT /app/v1/services/web" U, "{\"state\":\"STARTED\"}", 400,
     "Failed to start service web, because it already exists."},
    {"PUT /app/v1/services/web" U, "{\"state\":\"UPGRADING\",\"version\":\"v2\"}", 400,
     "Service upgrade is disabled."},
    {"PUT /app/v1/services/ghost" U, "{\"state\":\"UPGRADING\"}", 404, "Service ghost not found"},
    {"PUT /app/v1/services/web" U, "{\"state\":\"CANCEL_UPGRADING\"}", 400,
     "is not upgrading, so nothing to cancel."},
    {"PUT /app/v1/services/web" U, "{\"state\":\"READY\"}", 204, NULL},
    {"PUT /app/v1/services/web" U, "{\"state\":\"ready\"}", 400, "/state"},
    {"PUT /app/v1/services/web" U,
     "{\"state\":\"FLEX\",\"components\":[{\"name\":\"x\",\"number_of_containers\":1}]}", 404,
     "x does not exist !"},
    {"PUT /app/v1/services/web" U, "{\"state\":\"FLEX\",\"components\":[{\"name\":\"hello\"}]}", 400,
     "No container count provided"},
    {"PUT /app/v1/services/web" U " +body",
     "{\"state\":\"FLEX\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":\"+2\"}]}", 202,
     "Service web is successfully flexed."},
    {"PUT /app/v1/services/web/components/hello" U, "{\"number_of_containers\":1}", 200,
     "Updating component (hello) size from 3 to 1"},
    {"PUT /app/v1/services/web/components/hello" U " +minimal", "{\"number_of_containers\":2}", 200,
     "size from 1 to 2"},
    {"PUT /app/v1/services/web/components/hello" U, NULL, 400, "No component data provided"},
    {"PUT /app/v1/services/web/components/hello" U, "null", 400, "No component data provided"},
    {"PUT /app/v1/services/web/components/hello" U, "{}", 400, "No container count provided"},
    {"PUT /app/v1/services/web/components/hello" U, "{\"number_of_containers\":-1}", 400,
     "Invalid number of containers specified -1"},
    {"PUT /app/v1/services/web/components/hello" U, "{\"number_of_containers\":\"-9\"}", 400,
     "Invalid number of containers specified -9"},
    {"PUT /app/v1/services/web/components/hello" U, "{\"name\":\"other\",\"number_of_containers\":1}", 400,
     "Component name in the request object (other) does not match that in the URI path (hello)"},
    {"PUT /app/v1/services/web/components/x" U, "{\"number_of_containers\":1}", 404,
     "Components [x] do not exist in app definition."},
    {"PUT /app/v1/services/ghost/components/x" U, "{\"number_of_containers\":1}", 404,
     "Service ghost not found"},
    {"PUT /app/v1/services/web/components/hello" U, "{\"state\":\"UPGRADING\"}", 400,
     "The upgrade of service web has not been initiated."},
    {"PUT /app/v1/services/web" U,
     "{\"components\":[{\"name\":\"hello\",\"decommissioned_instances\":[\"hello\"]}]}", 400,
     "Invalid component instance (hello) name."},
    {"PUT /app/v1/services/web" U,
     "{\"components\":[{\"name\":\"hello\",\"decommissioned_instances\":[\"hello-0\",\"hello-1.x.y\"]}]}",
     400, "Specified hostname hello-1.x.y does not have the expected format componentInstanceName.web.alice"},
    {"PUT /app/v1/services/web" U " +body",
     "{\"components\":[{\"name\":\"hello\",\"decommissioned_instances\":[\"hello-0.web.alice.example.com\"]}]"
     "}",
     202, "Service web has successfully decommissioned instances."},
    {"GET /app/v1/services/web" U, NULL, 200, "\"decommissioned_instances\":[\"hello-0\"]"},
    {"PUT /app/v1/services/web" U " +minimal", "{\"state\":\"STOPPED\"}", 204, NULL},
    {"PUT /app/v1/services/web" U, "{\"state\":\"STOPPED\"}", 400, "Service web is already stopped"},
    {"GET /app/v1/services/web" U, NULL, 200, "\"state\":\"STOPPED\""},
    {"PUT /app/v1/services/web/components/hello" U, "{\"number_of_containers\":1}", 400,
     "web is at FINISHED state, flex can only be invoked when service is running"},
    {"PUT /app/v1/services/web" U " +body", "{\"state\":\"STARTED\"}", 200,
     "Service web is successfully started with ApplicationId: application_1700000000000_0002"},
    {"DELETE /app/v1/services/web" U, NULL, 204, NULL},
    {"DELETE /app/v1/services/web" U, NULL, 404, "Service web doesn't exist"},
    {"POST /app/v1/services" U, GOOD("kept", ",\"state\":\"STOPPED\""), 202,
     "Service kept version v1 saved."},
    {"GET /app/v1/services/kept" U, NULL, 200, "\"containers\":[]"},
    {"PUT /app/v1/services/kept/components/hello" U, "{\"number_of_containers\":1}", 400,
     "kept appId is null, may be not submitted to YARN yet"},
    {"DELETE /app/v1/services/kept" U " +body", NULL, 200, "Successfully destroyed service kept"},
    {"POST /app/v1/services/hbase-app-1" U, GOOD("hbase-app-1", ""), 202, "Application ID"},
    {"POST /app/v1/services/other" U, GOOD("hbase-app-1", ""), 400, "does not match"},
    {"PATCH /app/v1/services/web" U, NULL, 405, "\"diagnostics\":"},
    {"GET /app/v1/services/web/components" U, NULL, 404, "\"diagnostics\":"},
    {"POST /app/v1/services" U "&strict=true", GOOD("odd", ",\"descripton\":\"x\""), 400,
     "Unknown members (strict=true): /descripton, did you mean \\\"description\\\"?"},
    {"POST /app/v1/services/odd" U "&strict=true", GOOD("odd", ",\"descripton\":\"x\""), 400, "/descripton"},
    {"POST /app/v1/services" U, GOOD("odd", ",\"descripton\":\"x\""), 202,
     "\\nIgnored unknown members: /descripton, did you mean \\\"description\\\"?"},
    {"POST /app/v1/services" U "&strict=true", GOOD("even", ",\"description\":\"x\""), 202,
     "Application ID: "},
    {"PUT /app/v1/services/odd" U "&strict=true", "{\"liftime\":5}", 400, "/liftime"},
    {"PUT /app/v1/services/odd" U, "{\"liftime\":5}", 204, NULL},
    {"PUT /app/v1/services/odd/components/hello" U "&strict=true", "{\"number_of_container\":1}", 400,
     "/number_of_container, did you mean"},
    {"DELETE /app/v1/services/odd" U, NULL, 204, NULL},
    {"DELETE /app/v1/services/even" U, NULL, 204, NULL},
};

static void the_seed_dialect(void **state)
{
    (void)state;
    struct app app;
    start(&app, "seed");
    check_rows(&app, seed_rows, ARRAY_LEN(seed_rows));
    end(&app);
}

static const struct row hadoop_rows[] = {
    {"POST /app/v1/services" U, GOOD("web", ""), 202, "Application ID"},
    {"GET /app/v1/services/web" U, NULL, 200, "\"state\":\"STABLE\""},
    {"PUT /app/v1/services/web" U, "{\"state\":\"STOPPED\"}", 200, "Successfully stopped service web"},
    {"PUT /app/v1/services/web" U " +minimal", "{\"state\":\"STARTED\"}", 204, NULL},
    {"PUT /app/v1/services/web/components/x" U, "{\"number_of_containers\":1}", 500, "do not exist"},
    {"DELETE /app/v1/services/web" U, NULL, 200, "Successfully destroyed service web"},
    {"DELETE /app/v1/services/web" U, NULL, 400, "Service web doesn't exist"},
};

static void the_hadoop_dialect(void **state)
{
    (void)state;
    struct app app;
    start(&app, "hadoop3");
    check_rows(&app, hadoop_rows, ARRAY_LEN(hadoop_rows));
    end(&app);
}

static void preferences_are_echoed(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"PUT /app/v1/services/web" U " +body", "{\"lifetime\":5}", 200, ""},
        {"PUT /app/v1/services/web" U " +minimal", "{\"lifetime\":5}", 204, ""},
        {"PUT /app/v1/services/web" U, "{\"lifetime\":5}", 204, ""},
    };
    static const char *const wanted[] = {"return=representation", "return=minimal", ""};
    struct app app;
    start(&app, "seed");
    kit_create(&app.kit, GOOD("web", ""), false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct result r = {.header_name = "Preference-Applied"};
        ask(&app, &rows[i], &r);
        assert_int_equal(r.status, rows[i].status);
        assert_string_equal(r.header, wanted[i]);
        buf_fini(&r.body);
    }
    end(&app);
}

static void other_media_types_are_refused(void **state)
{
    (void)state;
    struct app app;
    start(&app, "seed");
    const char *const headers[] = {"Content-Type: text/plain", NULL};
    struct result r = {.header_name = NULL};
    call_sync(&app.fx,
              (struct http_call_def){.method = "POST",
                                     .url = fixture_url(&app.fx, "/app/v1/services"),
                                     .headers = headers,
                                     .body = "{}",
                                     .body_len = 2},
              &r);
    assert_int_equal(r.status, 415);
    assert_non_null(strstr(buf_cstr(&r.body), "\"diagnostics\":"));
    buf_fini(&r.body);
    end(&app);
}

static void an_empty_user_owns_nothing(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"POST /app/v1/services?user.name=@x", GOOD("web", ""), 400, "Null user"},
        {"GET /app/v1/services/web?user.name=@x", NULL, 404, "not found"},
    };
    struct app app;
    start(&app, "seed");
    check_rows(&app, rows, ARRAY_LEN(rows));
    end(&app);
}

static void a_client_that_leaves_is_not_answered(void **state)
{
    (void)state;
    struct app app;
    start(&app, "seed");
    app.hold = true;
    struct raw *raw = raw_open(&app.fx);
    raw_send_str(raw, "DELETE /app/v1/services/ghost HTTP/1.1\r\nHost: localhost\r\n\r\n");
    fixture_await(&app.fx, &app.got_request);
    raw_reset(raw);
    fixture_stop_server(&app.fx); /* notifies the handler that the request is over */
    release_answers(&app);
    assert_int_equal(app.n_waiting, 0);
    end(&app);
}

/** A request is answered with an outcome of the app's own; each of these texts is in the answer. */
static void answer_with(struct eng_answer answer, const char *status, const char *text, const char *header)
{
    struct app app;
    start(&app, "seed");
    app.hold = true;
    struct raw *raw = raw_open(&app.fx);
    raw_send_str(raw, "DELETE /app/v1/services/ghost HTTP/1.1\r\nHost: localhost\r\n\r\n");
    fixture_await(&app.fx, &app.got_request);
    struct waiting w = app.waiting[--app.n_waiting];
    w.answered(w.arg, &answer);
    raw_await(raw, status);
    raw_await(raw, header);
    raw_await(raw, text);
    raw_close(raw);
    end(&app);
}

static void what_was_not_answered_is_cancelled(void **state)
{
    (void)state;
    answer_with((struct eng_answer){.outcome = OUT_CANCELLED}, "HTTP/1.1 503", "is stopping",
                "Retry-After: 1");
}

static void two_users_of_one_directory_are_named(void **state)
{
    (void)state;
    struct eng_answer answer = {
        .outcome = OUT_HOME_TAKEN, .name = (char *)"A_b@REALM", .user = (char *)"a-b"};
    answer_with(answer, "HTTP/1.1 409",
                "users A_b@REALM and a-b would share the registry directory /users/a-b", "");
    answer_with(answer, "HTTP/1.1 409", "destroy the services of user a-b first", "");
}

static void what_the_store_did_is_said(void **state)
{
    (void)state;
    answer_with((struct eng_answer){.outcome = OUT_STORE_FAILED}, "HTTP/1.1 500", "nothing was changed", "");
    answer_with((struct eng_answer){.outcome = OUT_STORE_FAILED, .reason = "No space left on device"},
                "HTTP/1.1 500", "could not be stored: No space left on device; nothing was changed", "");
    answer_with((struct eng_answer){.outcome = OUT_TOO_LARGE, .reason = "at most 7"}, "HTTP/1.1 413",
                "at most 7", "");
    answer_with((struct eng_answer){.outcome = OUT_NOT_STORABLE, .reason = "at most 7"}, "HTTP/1.1 400",
                "at most 7", "");
    answer_with((struct eng_answer){.outcome = OUT_UNKNOWN}, "HTTP/1.1 503", "is not known",
                "Retry-After: 1");
    answer_with((struct eng_answer){.outcome = OUT_BUSY}, "HTTP/1.1 503", "nothing was done",
                "Retry-After: 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_dialect),
        cmocka_unit_test(the_hadoop_dialect),
        cmocka_unit_test(preferences_are_echoed),
        cmocka_unit_test(other_media_types_are_refused),
        cmocka_unit_test(an_empty_user_owns_nothing),
        cmocka_unit_test(a_client_that_leaves_is_not_answered),
        cmocka_unit_test(what_was_not_answered_is_cancelled),
        cmocka_unit_test(two_users_of_one_directory_are_named),
        cmocka_unit_test(what_the_store_did_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
