/** The services API over HTTP: a real server and a real engine; cluster and registry obey at once, or are held. */
#include <stdlib.h>
#include <string.h>

#include "engine_kit.h"
#include "faces/services.h"
#include "faces/services_routes.h"
#include "faces/waits.h"
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
    bool hold;         /* answers are kept */
    int64_t answer_ms; /* of the server; 0: its default */
    bool got_request;
    bool may_upgrade, registry_is_away;
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

static bool may_upgrade_of(void *arg)
{
    return obj_cast(arg, struct app, APP_MAGIC)->may_upgrade;
}

static bool registry_is_away_of(void *arg)
{
    return obj_cast(arg, struct app, APP_MAGIC)->registry_is_away;
}

static bool administers_of(void *arg, const char *user)
{
    (void)arg;
    return strcmp(user, "root") == 0;
}

static const struct app_ops ops = {.submit = submit,
                                   .may_upgrade = may_upgrade_of,
                                   .administers = administers_of,
                                   .registry_is_away = registry_is_away_of,
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
    *app = (struct app){.obj = {APP_MAGIC}, .answer_ms = app->answer_ms};
    obj_init(&app->face.obj, FACE_MAGIC);
    app->face.ops = &ops;
    app->face.app = app;
    kit_start(&app->kit, dialect);
    app->world = (struct spec_world){.dialect = dialect_find(dialect), .local = true, .max_memory_mb = 4096};
    struct http_server_def def = {.write_error = services_write_error, .answer_ms = app->answer_ms};
    fixture_start(&app->fx, services_routes, services_n_routes, &app->face, &def);
    app->face.waits = waits_new(app->fx.loop);
}

static void end(struct app *app)
{
    if (app->fx.server)
        fixture_stop_server(&app->fx);
    waits_free(app->face.waits);
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
     "neither podman nor docker is found"},
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
    {"GET /app/v1/services/web/components" U, NULL, 404, "Service web not found"},
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
    struct app app = {0};
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
    struct app app = {0};
    start(&app, "hadoop3");
    check_rows(&app, hadoop_rows, ARRAY_LEN(hadoop_rows));
    end(&app);
}

#define TWO                                                                                                  \
    "{\"name\":\"two\",\"version\":\"v1\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},\"launch_command\":"   \
    "\"x\","                                                                                                 \
    "\"components\":[{\"name\":\"a\",\"number_of_containers\":2},{\"name\":\"b\",\"number_of_containers\":"  \
    "1}]}"

/** Reads and upgrades below a service: E7…E11, and what Hadoop does not have. */
static const struct row part_rows[] = {
    {"POST /app/v1/services" U, TWO, 202, "Application ID"},
    {"GET /app/v1/services/two/components" U, NULL, 200, "[{\"name\":\"a\","},
    {"GET /app/v1/services/two/components/b" U, NULL, 200, "\"component_instance_name\":\"b-0\""},
    {"GET /app/v1/services/two/components/c" U, NULL, 404, "Component c of service two not found"},
    {"GET /app/v1/services/ghost/components/c" U, NULL, 404, "Service ghost not found"},
    {"GET /app/v1/services/two/component-instances/a-1" U, NULL, 200, "{\"id\":\"container_"},
    {"GET /app/v1/services/two/component-instances/a-7" U, NULL, 404,
     "instance a-7 of service two not found"},
    {"GET /app/v1/services/two/component-instances/a-01" U, NULL, 404, "not found"},
    {"GET /app/v1/services/two/component-instances" U, NULL, 200,
     "[{\"componentName\":\"a\",\"containers\":[{"},
    {"GET /app/v1/services/two/component-instances" U "&componentName=b&containerState=READY", NULL, 200,
     "[{\"componentName\":\"b\",\"containers\":[{"},
    {"GET /app/v1/services/two/component-instances" U "&componentName=x&componentName=b&version=v1", NULL,
     200, "[{\"componentName\":\"b\",\"containers\":[{"},
    {"GET /app/v1/services/two/component-instances" U "&containerState=RUNNING_BUT_UNREADY", NULL, 200, "[]"},
    {"GET /app/v1/services/two/component-instances" U "&version=v2", NULL, 200, "[]"},
    {"GET /app/v1/services/two/component-instances" U "&containerState=READY&containerState=BOGUS", NULL, 400,
     "valid container states are: [RUNNING_BUT_UNREADY, READY, "},
    {"GET /app/v1/services/ghost/component-instances" U, NULL, 404, "Service ghost not found"},
    {"PUT /app/v1/services/two/components" U, "[]", 400, "No components provided."},
    {"PUT /app/v1/services/two/components" U, NULL, 400, "No components provided."},
    {"PUT /app/v1/services/two/components" U, "{}", 400, "an array of Component objects expected"},
    {"PUT /app/v1/services/two/components" U, "[{},{\"state\":1}]", 400, "/1/state"},
    {"PUT /app/v1/services/two/components" U "&strict=true", "[{\"nam\":\"a\"}]", 400,
     "/0/nam, did you mean"},
    {"PUT /app/v1/services/two/components" U, "[{\"name\":\"a\"}]", 204, NULL},
    {"PUT /app/v1/services/two/components" U, "[{\"name\":\"a\",\"state\":\"UPGRADING\"}]", 400,
     "The upgrade of service two has not been initiated."},
    {"PUT /app/v1/services/two/component-instances" U, " null ", 400, "No containers provided."},
    {"PUT /app/v1/services/two/component-instances" U,
     "[{\"component_instance_name\":\"a\",\"state\":\"UPGRADING\"}]", 400,
     "Invalid component instance (a) name."},
    {"PUT /app/v1/services/two/component-instances" U, "[{\"component_instance_name\":\"a-0\"}]", 204, NULL},
    {"PUT /app/v1/services/two/components/a/component-instances/a-0" U, NULL, 400,
     "No container data provided."},
    {"PUT /app/v1/services/two/components/a/component-instances/a-0" U, "{}", 204, NULL},
    {"PUT /app/v1/services/two/components/c/component-instances/a-0" U, "{\"state\":\"UPGRADING\"}", 400,
     "The component name in the URI path (c) is invalid."},
    {"PUT /app/v1/services/two/components/b/component-instances/a-0" U, "{\"state\":\"UPGRADING\"}", 400,
     "The component (b) does not have a component instance (a-0)."},
    {"PUT /app/v1/services/two/components/a/component-instances/a-0" U, "{\"state\":\"UPGRADING\"}", 400,
     "The upgrade of service two has not been initiated."},
    {"PUT /app/v1/services/ghost/components/a/component-instances/a-0" U, "{\"state\":\"UPGRADING\"}", 404,
     "Service ghost not found"},
};

static void parts_of_a_service(void **state)
{
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    check_rows(&app, part_rows, ARRAY_LEN(part_rows));
    end(&app);
}

#define V2                                                                                                   \
    "{\"version\":\"v2\",\"state\":\"UPGRADING\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"               \
    "\"launch_command\":\"y\",\"components\":[{\"name\":\"a\",\"number_of_containers\":2},"                  \
    "{\"name\":\"b\",\"number_of_containers\":1}]}"
#define GO "\"state\":\"UPGRADING\"}"

static const struct row upgrade_rows[] = {
    {"POST /app/v1/services" U, TWO, 202, "Application ID"},
    {"PUT /app/v1/services/two" U, V2, 204, NULL},
    {"GET /app/v1/services/two" U, NULL, 200, "\"state\":\"STARTED\""},
    {"GET /app/v1/services/two" U, NULL, 200,
     "\"operation\":{\"kind\":\"upgrade\",\"mode\":\"manual\",\"version\":\"v2\",\"remaining\":3,\"auto_"
     "revert\":false}"},
    {"PUT /app/v1/services/two/components" U, "[{\"name\":\"x\"," GO "]", 202, "Upgrading components ."},
    {"PUT /app/v1/services/two/components/a" U, "{\"name\":\"b\"," GO, 400, "does not match"},
    {"PUT /app/v1/services/two/components/x" U, "{" GO, 404, "Components [x] do not exist"},
    {"PUT /app/v1/services/two/components/a/component-instances/a-0" U, "{" GO, 202,
     "Upgrading component instances container_1700000000000_0001_01_000002."},
    {"PUT /app/v1/services/two/component-instances" U,
     "[{\"component_instance_name\":\"a-1\"," GO ",{\"component_instance_name\":\"q-1\"," GO "]", 202,
     "Upgrading component instances container_1700000000000_0001_01_000003."},
    {"PUT /app/v1/services/two/components/b" U, "{" GO, 202, "Upgrading components b."},
};

/** Upgrades are named in either dialect. */
static const struct row upgrading_rows[] = {
    {"GET /app/v1/services/two" U "&wait=UPGRADING&timeout=60s", NULL, 200, "\"name\":\"two\""},
    {"GET /app/v1/services" U "&state=UPGRADING", NULL, 200, "[{\"name\":\"two\""},
    {"GET /app/v1/services" U "&state=EXPRESS_UPGRADING", NULL, 200, "[]"},
};

static void the_parts_of_an_upgrade(void **state)
{
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    app.may_upgrade = true;
    check_rows(&app, upgrade_rows, ARRAY_LEN(upgrade_rows));
    check_rows(&app, upgrading_rows, ARRAY_LEN(upgrading_rows));
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
    struct app app = {0};
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
    struct app app = {0};
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
    struct app app = {0};
    start(&app, "seed");
    check_rows(&app, rows, ARRAY_LEN(rows));
    end(&app);
}

static void a_client_that_leaves_is_not_answered(void **state)
{
    (void)state;
    struct app app = {0};
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
    struct app app = {0};
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
    answer_with((struct eng_answer){.outcome = OUT_UNKNOWN}, "HTTP/1.1 503", "\"code\":33", "");
    answer_with((struct eng_answer){.outcome = OUT_CANCELLED}, "HTTP/1.1 503", "\"code\":33", "");
    answer_with((struct eng_answer){.outcome = OUT_BUSY}, "HTTP/1.1 503", "nothing was done",
                "Retry-After: 1");
}

/** A gateway waits no longer: the end of a service is accepted, and its outcome comes to nobody. */
static void the_end_of_a_service_is_accepted_when_it_lasts(void **state)
{
    static const struct {
        const char *method, *status, *text;
    } rows[] = {{"DELETE", "HTTP/1.1 202 ", "\"state\":\"ACCEPTED\""},
                {"PUT", "HTTP/1.1 503 ", "\"diagnostics\":\"there is no answer"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct app app = {.answer_ms = 1}; /* that it lasts is said before all, however late the loop looks */
        start(&app, "seed");
        app.hold = true;
        struct raw *raw = raw_open(&app.fx);
        mem_auto char *request =
            mem_fmt("%s /app/v1/services/ghost HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Context: /g/b\r\n"
                    "Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"state\":\"STOPPED\"}",
                    rows[i].method);
        raw_send_str(raw, request);
        raw_await(raw, rows[i].status);
        raw_await(raw, rows[i].text);
        release_answers(&app);
        raw_close(raw);
        end(&app);
    }
}

/** What a GET is answered that has this query; with a header line of its own. free() */
static char *list(struct app *app, const char *query, const char *line)
{
    mem_auto char *request = mem_fmt(
        "GET /app/v1/services%s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n", query, line);
    return raw_exchange(&app->fx, request);
}

/** Each of these names, and no other one, is in a list. */
static void check_list(struct app *app, const char *query, const char *names)
{
    mem_auto char *answer = list(app, query, "");
    buf_auto struct buf found = BUF_EMPTY;
    assert_non_null(strstr(answer, "HTTP/1.1 200 "));
    for (const char *at = answer; (at = strstr(at, "\"name\":\"")); at++)
        buf_addf(&found, "%.1s", at + strlen("\"name\":\""));
    if (strcmp(buf_cstr(&found), names) != 0)
        fail_msg("%s: %s instead of %s", query, buf_cstr(&found), names);
}

static void services_are_listed_by_pages_and_filters(void **state)
{
    static const struct row refused[] = {
        {"GET /app/v1/services" U "&user=bob", NULL, 403,
         "Only administrators may list the services of others"},
        {"GET /app/v1/services?user=bob", NULL, 403, "Only administrators"},
        {"GET /app/v1/services" U "&limit=0", NULL, 400, "query parameter limit"},
        {"GET /app/v1/services" U "&state=running", NULL, 400, "query parameter state"},
    };
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    kit_create(&app.kit, GOOD("a", ""), false);
    kit_create(&app.kit, GOOD("b", ""), true);
    kit_create(&app.kit, GOOD("ca", ""), false);
    kit_create(&app.kit, GOOD("d", ""), false);
    check_rows(&app, refused, ARRAY_LEN(refused));
    check_list(&app, U, "acd");
    check_list(&app, U "&state=STOPPED", "b");
    check_list(&app, U "&state=ANY", "abcd");
    check_list(&app, U "&state=STABLE&name=c", "c");
    check_list(&app, U "&state=ANY&limit=2&cursor=alice/a", "bc");
    check_list(&app, U "&limit=3", "acd");
    check_list(&app, U "&user=alice", "acd");
    check_list(&app, "?user.name=bob", "");
    check_list(&app, "?user.name=root&user=*", "acd");
    check_list(&app, "?user.name=root&user=bob", "");
    mem_auto char *cut = list(&app, U "&limit=2", ""), *whole = list(&app, U "&limit=3", "");
    mem_auto char *others = list(&app, "?user.name=root&user=*", "");
    assert_non_null(strstr(cut, "Bobbin-Cursor: alice/ca\r\n"));
    assert_null(strstr(whole, "Bobbin-Cursor"));
    assert_non_null(strstr(others, "\"user\":\"alice\""));
    const char *tag = strstr(whole, "ETag: ");
    assert_non_null(tag);
    mem_auto char *known = mem_fmt("If-None-Match: %.*s\r\n", (int)strcspn(tag + 6, "\r"), tag + 6);
    mem_auto char *same = list(&app, U "&limit=3", known);
    kit_request(&app.kit, EV_STOP, "a");
    mem_auto char *other = list(&app, U "&limit=3", known);
    assert_non_null(strstr(same, "HTTP/1.1 304 "));
    assert_non_null(strstr(other, "HTTP/1.1 200 "));
    end(&app);
}

/* ---- reads that wait ---- */

static bool somebody_waits(void *arg)
{
    return waits_n(obj_cast(arg, struct app, APP_MAGIC)->face.waits) > 0;
}

static bool nobody_waits(void *arg)
{
    return !somebody_waits(arg);
}

/** A read that waits, once it does. */
static struct raw *wait_for(struct app *app, const char *query, const char *headers)
{
    struct raw *raw = raw_open(&app->fx);
    mem_auto char *request =
        mem_fmt("GET /app/v1/services/web" U "%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query, headers);
    raw_send_str(raw, request);
    fixture_await_fn(&app->fx, somebody_waits, app);
    return raw;
}

static void expect(struct raw *raw, const char *status, const char *text)
{
    raw_await(raw, status);
    raw_await(raw, text);
    raw_close(raw);
}

/** The engine takes a request, and those who wait look. */
static void change(struct app *app, enum eng_event_kind kind)
{
    kit_request(&app->kit, kind, "web");
    waits_changed(app->face.waits, KIND_SERVICE, "alice", "web");
}

static void a_read_waits_for_a_state(void **state)
{
    static const struct row at_once[] = {
        {"GET /app/v1/services/web" U "&wait=READY", NULL, 200, "\"state\":\"READY\""},
        {"GET /app/v1/services/web" U "&wait=STABLE", NULL, 200, "\"state\":\"READY\""},
        {"GET /app/v1/services/web" U "&wait=STOPPED&timeout=0", NULL, 200, "\"state\":\"READY\""},
        {"GET /app/v1/services/web" U "&wait=STOPPED&timeout=20ms", NULL, 200, "\"state\":\"READY\""},
        {"GET /app/v1/services/ghost" U "&wait=READY", NULL, 404, "Service ghost not found"},
        {"GET /app/v1/services/web" U "&wait=ready", NULL, 400, "query parameter wait is"},
        {"GET /app/v1/services/web" U "&wait=READY&timeout=61s", NULL, 400, "query parameter timeout is"},
    };
    static const struct row ended[] = {
        {"GET /app/v1/services/web" U "&wait=READY", NULL, 200, "\"state\":\"STOPPED\""},
    };
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    kit_create(&app.kit, GOOD("web", ""), false);
    check_rows(&app, at_once, ARRAY_LEN(at_once));
    struct raw *one = wait_for(&app, "&wait=STOPPED", ""), *two = wait_for(&app, "&wait=FAILED&explain", "");
    waits_changed(app.face.waits, KIND_SERVICE, "bob", "web"); /* of no concern to them */
    change(&app, EV_STOP);
    expect(one, "HTTP/1.1 200 ", "\"state\":\"STOPPED\"");
    expect(two, "HTTP/1.1 200 ", "\"explain\":["); /* nor does it come any more */
    check_rows(&app, ended, ARRAY_LEN(ended));
    end(&app);
}

static void a_read_waits_for_a_change(void **state)
{
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    kit_create(&app.kit, GOOD("web", ""), false);
    mem_auto char *tag = waits_tag(&app.face, kit_service(&app.kit, "web"));
    mem_auto char *known = mem_fmt("If-None-Match: %s\r\n", tag), *line = mem_fmt("ETag: %s", tag);
    struct raw *raw = wait_for(&app, "&wait=CHANGE&timeout=20ms", known);
    expect(raw, "HTTP/1.1 304 ", line);
    raw = wait_for(&app, "&wait=CHANGE", known);
    waits_changed(app.face.waits, KIND_SERVICE, "alice", "web"); /* it has not */
    change(&app, EV_STOP);
    expect(raw, "HTTP/1.1 200 ", "\"state\":\"STOPPED\"");
    mem_auto char *old =
        mem_fmt("GET /app/v1/services/web" U "&wait=CHANGE HTTP/1.1\r\nHost: localhost\r\n%s\r\n", known);
    raw = raw_open(&app.fx);
    raw_send_str(raw, old);
    expect(raw, "HTTP/1.1 200 ", "\"state\":\"STOPPED\"");
    raw = wait_for(&app, "&wait=CHANGE", "");
    change(&app, EV_DESTROY);
    expect(raw, "HTTP/1.1 404 ", "\"code\":404004");
    end(&app);
}

static void a_read_that_is_known_has_no_body(void **state)
{
    (void)state;
    struct app app = {0};
    start(&app, "seed");
    kit_create(&app.kit, GOOD("web", ""), false);
    mem_auto char *tag = waits_tag(&app.face, kit_service(&app.kit, "web"));
    mem_auto char *request = mem_fmt(
        "GET /app/v1/services/web" U " HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"x\", %s\r\n\r\n", tag);
    for (int i = 0; i < 2; i++) { /* while the registry is away the document changes without the engine */
        struct raw *raw = raw_open(&app.fx);
        app.registry_is_away = i == 1;
        raw_send_str(raw, request);
        raw_await(raw, i ? "HTTP/1.1 200 " : "HTTP/1.1 304 ");
        raw_close(raw);
    }
    end(&app);
}

/** Behind a gateway, when the client leaves, when the server stops: no wait outlives its request. */
static void the_end_of_a_wait(void **state)
{
    (void)state;
    struct app app = {.answer_ms = 1};
    start(&app, "seed");
    kit_create(&app.kit, GOOD("web", ""), false);
    struct raw *raw = raw_open(&app.fx);
    raw_send_str(raw, "GET /app/v1/services/web" U
                      "&wait=STOPPED HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Context: /g/b\r\n\r\n");
    expect(raw, "HTTP/1.1 200 ", "\"state\":\"READY\"");
    raw = wait_for(&app, "&wait=STOPPED", "");
    raw_reset(raw);
    waits_changed(app.face.waits, KIND_SERVICE, "alice", "web");
    raw = wait_for(&app, "&wait=STOPPED", "");
    fixture_stop_server(&app.fx);
    fixture_await_fn(&app.fx, nobody_waits, &app);
    raw_close(raw);
    end(&app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_dialect),
        cmocka_unit_test(the_hadoop_dialect),
        cmocka_unit_test(parts_of_a_service),
        cmocka_unit_test(the_parts_of_an_upgrade),
        cmocka_unit_test(preferences_are_echoed),
        cmocka_unit_test(other_media_types_are_refused),
        cmocka_unit_test(an_empty_user_owns_nothing),
        cmocka_unit_test(a_client_that_leaves_is_not_answered),
        cmocka_unit_test(what_was_not_answered_is_cancelled),
        cmocka_unit_test(services_are_listed_by_pages_and_filters),
        cmocka_unit_test(a_read_waits_for_a_state),
        cmocka_unit_test(a_read_waits_for_a_change),
        cmocka_unit_test(a_read_that_is_known_has_no_body),
        cmocka_unit_test(the_end_of_a_wait),
        cmocka_unit_test(the_end_of_a_service_is_accepted_when_it_lasts),
        cmocka_unit_test(two_users_of_one_directory_are_named),
        cmocka_unit_test(what_the_store_did_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
