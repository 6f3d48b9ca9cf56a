/** cluster/elsewhere.h: which files of HDFS a manager finds, and how a look ends. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/elsewhere.h"

static struct desk {
    struct fixture fx;
    struct cluster *cluster;
    bool is_done, is_known, is_closed, is_silent;
    bool absent[8];
    size_t n;
    struct err_info problem;
} desk;

static void reply(struct http_req *req, int status, const char *text)
{
    buf_auto struct buf body = BUF_EMPTY;

    buf_add_str(&body, text);
    http_reply(req, status, "application/json", &body);
}

static void on_gone(void *arg)
{
    (void)arg;
}

static void on_look(struct http_req *req, void *app)
{
    const char *path = http_raw_path(req);

    (void)app;
    if (desk.is_silent)
        http_reply_later(req, on_gone, NULL);
    else if (strstr(path, "absent"))
        reply(req, 404,
              "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"none\"}}");
    else if (strstr(path, "closed"))
        reply(req, 403,
              "{\"RemoteException\":{\"exception\":\"AccessControlException\",\"message\":\"not yours\"}}");
    else
        reply(req, 200,
              strstr(path, "directory")
                  ? "{\"FileStatus\":{\"type\":\"DIRECTORY\",\"length\":0,\"modificationTime\":1}}"
                  : "{\"FileStatus\":{\"type\":\"FILE\",\"length\":1,\"modificationTime\":1}}");
}

static const struct http_route routes[] = {{"GET", "/webhdfs/v1/*", 0, 0, on_look, .summary = ""}};
static const struct cluster_ops ops;

static int set_up(void **state)
{
    (void)state;
    desk = (struct desk){.is_done = false};
    fixture_start(&desk.fx, routes, ARRAY_LEN(routes), &desk, NULL);
    desk.cluster = cluster_elsewhere_open(desk.fx.loop, &(struct fs_conf){.get = NULL}, desk.fx.client,
                                          "yarn", &ops, NULL);
    return 0;
}

static void on_closed(void *arg)
{
    (void)arg;
    desk.is_closed = true;
}

static int tear_down(void **state)
{
    (void)state;
    cluster_close(desk.cluster, on_closed, NULL);
    fixture_await(&desk.fx, &desk.is_closed);
    fixture_end(&desk.fx);
    return 0;
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    (void)arg;
    desk.is_done = true;
    desk.is_known = absent != NULL;
    desk.problem = *problem;
    for (size_t i = 0; absent && i < desk.n; i++)
        desk.absent[i] = absent[i];
}

static void look(const char *const *names, size_t n)
{
    const char *paths[ARRAY_LEN(desk.absent)];
    const char *root = strstr(fixture_url(&desk.fx, ""), ":");

    for (size_t i = 0; i < n; i++)
        paths[i] = strchr(names[i], ':') || names[i][0] == '/' ? mem_str(names[i])
                                                               : mem_fmt("webhdfs%s/%s", root, names[i]);
    desk.is_done = false;
    desk.n = n;
    cluster_look(desk.cluster, "alice", paths, n, on_looked, NULL);
    for (size_t i = 0; i < n; i++)
        free((char *)paths[i]);
}

static void absent_files_of_hdfs_are_found(void **state)
{
    static const char *const names[] = {"there",     "absent",    "/nothing/here", "http://nowhere/x",
                                        "ftp://x/y", "absent-too"};

    (void)state;
    look(names, ARRAY_LEN(names));
    fixture_await(&desk.fx, &desk.is_done);
    assert_true(desk.is_known);
    assert_int_equal(desk.problem.code, 0);
    const bool wanted[] = {false, true, false, false, true, true};
    assert_memory_equal(desk.absent, wanted, sizeof wanted);
    look(names + 2, 2); /* nothing is asked */
    assert_true(desk.is_done && desk.is_known && !desk.absent[0] && !desk.absent[1]);
}

static void what_the_owner_may_not_read_is_a_problem(void **state)
{
    static const char *const names[] = {"closed", "directory"};

    (void)state;
    look(names, 2);
    fixture_await(&desk.fx, &desk.is_done);
    assert_int_equal(desk.problem.code, ERR_INVALID);
    assert_non_null(strstr(desk.problem.text, "as user alice"));
    assert_non_null(strstr(desk.problem.text, "not yours"));
    look(names + 1, 1);
    fixture_await(&desk.fx, &desk.is_done);
    assert_non_null(strstr(desk.problem.text, "it is no regular file"));
}

static void a_look_ends_with_the_cluster(void **state)
{
    static const char *const names[] = {"there"};

    (void)state;
    desk.is_silent = true;
    look(names, 1);
    fixture_spin(&desk.fx);
    assert_false(desk.is_done);
    cluster_close(desk.cluster, on_closed, NULL);
    assert_true(desk.is_done && !desk.is_known);
    assert_int_equal(desk.problem.code, ERR_CANCELLED);
    fixture_await(&desk.fx, &desk.is_closed);
    desk.is_closed = false;
    desk.cluster = cluster_elsewhere_open(desk.fx.loop, &(struct fs_conf){.get = NULL}, desk.fx.client,
                                          "yarn", &ops, NULL);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(absent_files_of_hdfs_are_found),
        CASE(what_the_owner_may_not_read_is_a_problem),
        CASE(a_look_ends_with_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
