/* submit/stage.h against an HDFS in memory: what is uploaded once, what is there already, a NameNode that is away, and refusals. */
#include "http_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "submit/stage.h"

#define AWAY   "{\"RemoteException\":{\"exception\":\"SafeModeException\",\"message\":\"because\"}}"
#define DENIED "{\"RemoteException\":{\"exception\":\"AccessControlException\",\"message\":\"because\"}}"

/** A NameNode with its DataNode, and what a staging has come to. */
struct desk {
    struct fixture fx;
    struct map lengths; /* of files by path, as text */
    const char *fault;  /* answer to every change; NULL: none */
    int fault_status;
    size_t n_creates, n_waits;
    struct buf modes; /* of what was made */
    struct submit_package package;
    char *directory;
    struct buf site;
    bool is_done;
    int err;
    struct err_info why;
    char *program_url, *site_url;
    int64_t program_len, site_len, site_ms;
};

static void reply(struct http_req *req, int status, const char *text)
{
    buf_auto struct buf body = BUF_EMPTY;

    buf_add_str(&body, text);
    http_reply(req, status, "application/json", &body);
}

static void on_look(struct http_req *req, void *app)
{
    struct desk *d = app;
    const char *len = map_get(&d->lengths, http_raw_path(req));
    mem_auto char *found =
        mem_fmt("{\"FileStatus\":{\"type\":\"FILE\",\"length\":%s,\"modificationTime\":1700000000123}}",
                len ? len : "0");

    reply(req, len ? 200 : 404,
          len ? found
              : "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"none\"}}");
}

static void on_change(struct http_req *req, void *app)
{
    struct desk *d = app;
    bool is_create = !strcmp(http_query(req, "op"), "CREATE");
    mem_auto char *path = mem_fmt("/data%s", http_raw_path(req));

    if (d->fault) {
        reply(req, d->fault_status, d->fault);
        return;
    }
    buf_addf(&d->modes, "%s ", http_query(req, "permission"));
    if (is_create)
        http_reply_header(req, "Location", fixture_url(&d->fx, path));
    reply(req, is_create ? 307 : 200, is_create ? "" : "{\"boolean\":true}");
}

static void on_content(struct http_req *req, void *app)
{
    struct desk *d = app;
    size_t len = 0;

    http_body(req, &len);
    d->n_creates++;
    free(map_set(&d->lengths, http_raw_path(req) + strlen("/data"), mem_fmt("%zu", len)));
    reply(req, 201, "");
}

static const struct http_route routes[] = {
    {"GET", "/webhdfs/v1/*", 0, 0, on_look, .summary = ""},
    {"PUT", "/webhdfs/v1/*", 0, 0, on_change, .summary = ""},
    {"PUT", "/data/*", 0, 1 << 20, on_content, .summary = ""},
};

static int set_up(void **state)
{
    struct desk *d = mem_new(struct desk);
    char path[] = "/tmp/test-stage-XXXXXX";
    int fd = mkstemp(path);

    assert_int_equal(write(fd, "packed", 6), 6);
    close(fd);
    d->lengths = MAP_EMPTY;
    d->package = (struct submit_package){.path = mem_str(path), .hash = "abc", .size = 6};
    fixture_start(&d->fx, routes, ARRAY_LEN(routes), d, NULL);
    const char *url = fixture_url(&d->fx, "/base/bobbin-1");
    d->directory = mem_fmt("webhdfs%s", strstr(url, ":"));
    buf_add_str(&d->site, "<configuration/>");
    *state = d;
    return 0;
}

static void forget(struct desk *d)
{
    mem_free_ptr(&d->program_url);
    mem_free_ptr(&d->site_url);
    d->is_done = false;
}

static int tear_down(void **state)
{
    struct desk *d = *state;

    unlink(d->package.path);
    fixture_end(&d->fx);
    forget(d);
    map_fini(&d->lengths, free);
    submit_package_fini(&d->package);
    buf_fini(&d->modes);
    buf_fini(&d->site);
    free(d->directory);
    free(d);
    return 0;
}

static void on_waits(void *arg, const struct err_info *why)
{
    struct desk *d = arg;

    d->n_waits++;
    d->why = *why;
    d->fault = NULL; /* it is back */
}

static void on_done(void *arg, int err, const struct submit_staged *staged, const struct err_info *why)
{
    struct desk *d = arg;

    d->is_done = true;
    d->err = err;
    d->why = *why;
    if (err)
        return;
    d->program_url = mem_str(staged->program_url);
    d->site_url = mem_str(staged->site_url);
    d->program_len = staged->program.len;
    d->site_len = staged->site.len;
    d->site_ms = staged->site.modified_ms;
}

static struct submit_stage *start(struct desk *d)
{
    const struct submit_stage_def def = {.loop = d->fx.loop,
                                         .http = d->fx.client,
                                         .directory = d->directory,
                                         .user = "alice",
                                         .package = &d->package,
                                         .site = &d->site};

    forget(d);
    return submit_stage_start(&def, on_waits, on_done, d);
}

static void stage(struct desk *d)
{
    start(d);
    assert_false(d->is_done); /* later */
    fixture_await(&d->fx, &d->is_done);
}

static void both_files_are_uploaded_once(void **state)
{
    struct desk *d = *state;

    stage(d);
    assert_int_equal(d->err, 0);
    assert_string_equal(buf_cstr(&d->modes), "700 600 700 600 ");
    mem_auto char *program = mem_fmt("%s/am-abc.tar.gz", d->directory);
    assert_string_equal(d->program_url, program);
    assert_non_null(strstr(d->site_url, "/yarn-site-"));
    assert_int_equal(d->program_len, 6);
    assert_int_equal(d->site_len, 16);
    assert_true(d->site_ms == 1700000000123);
    mem_auto char *site = mem_str(d->site_url);
    stage(d);
    assert_string_equal(d->site_url, site);
    assert_int_equal(d->n_creates, 2);
    buf_add_str(&d->site, "\n"); /* svcmgr was started with other options: what was there stays as it was */
    stage(d);
    assert_string_not_equal(d->site_url, site);
    assert_int_equal(d->n_creates, 3);
}

static void it_is_tried_again_while_hdfs_is_away(void **state)
{
    struct desk *d = *state;

    d->fault = AWAY;
    d->fault_status = 403;
    stage(d);
    assert_int_equal(d->err, 0);
    assert_int_equal(d->n_waits, 1);
}

static void a_refusal_is_the_last_word(void **state)
{
    struct desk *d = *state;

    d->fault = DENIED;
    d->fault_status = 403;
    stage(d);
    assert_int_equal(d->err, ERR_PERMISSION);
    assert_non_null(strstr(d->why.text, "because"));
    free(d->directory);
    d->directory = mem_str("hdfs:///base"); /* of no cluster that is known */
    stage(d);
    assert_int_equal(d->err, ERR_CONFIG);
    unlink(d->package.path);
}

static void one_that_is_cancelled_is_silent(void **state)
{
    struct desk *d = *state;

    submit_stage_cancel(start(d));
    struct submit_stage *s = start(d);
    fixture_spin(&d->fx);
    submit_stage_cancel(s);
    assert_false(d->is_done);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(both_files_are_uploaded_once),
        CASE(it_is_tried_again_while_hdfs_is_away),
        CASE(a_refusal_is_the_last_word),
        CASE(one_that_is_cancelled_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
