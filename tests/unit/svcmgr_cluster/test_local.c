/**
 * The cluster of this host with real shims and processes: requests and room, launches and exits, files, and containers
 * that outlive the cluster object and are found again.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "cluster/local.h"
#include "cluster/local_inside.h"
#include "shim/wire.h"

#define DEADLINE_MS 20000
#define APP         "application_1700000000000_0001"
#define C1          "container_1700000000000_0001_01_000001"
#define C2          "container_1700000000000_0001_01_000002"
#define C3          "container_1700000000000_0001_01_000003"

/** A cluster and the story of what it told, one word an event. */
struct host {
    struct run_loop *loop;
    struct cluster *cluster;
    char dir[64];
    char story[4096];
    const char *wanted; /* the loop stops when the story holds it */
    bool is_over;
    struct cluster_exit exit; /* of the last exited or recovered */
    int64_t pid;              /* of the last started or recovered */
    int64_t attempt;
};

static void tell(struct host *h, const char *what, const char *id)
{
    size_t at = strlen(h->story);

    snprintf(h->story + at, sizeof(h->story) - at, "%s:%s ", what, id + strlen(id) - 1);
    if (h->wanted && strstr(h->story, h->wanted))
        run_loop_stop(h->loop);
}

static void on_allocated(void *arg, const struct cluster_container *c)
{
    tell(arg, "allocated", c->id);
}

static void on_waits(void *arg, const char *container_id, const char *reason)
{
    struct host *h = arg;
    mem_auto char *what = mem_fmt("waits(%s)", reason);

    tell(h, what, container_id);
}

static void on_started(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->pid = c->pid;
    tell(h, "started", c->id);
}

static void on_exited(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->exit = c->exit;
    tell(h, "exited", c->id);
}

static void on_recovered(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->exit = c->exit;
    h->pid = c->pid;
    h->attempt = c->attempt;
    tell(h, c->state == CLUSTER_RUNNING ? "found-running" : "found-exited", c->id);
}

static void on_recovery_done(void *arg)
{
    tell(arg, "recovered", "all*");
}

static const struct cluster_ops ops = {on_allocated, on_waits,     on_started,
                                       on_exited,    on_recovered, on_recovery_done};

static void on_deadline(void *arg)
{
    struct host *h = arg;

    fail_msg("\"%s\" was not told; story: %s", h->wanted, h->story);
}

static void await(struct host *h, const char *wanted)
{
    struct run_timer *deadline = run_timer_new(h->loop, on_deadline, h);

    h->wanted = wanted;
    run_timer_start(deadline, DEADLINE_MS, 0);
    if (!strstr(h->story, wanted))
        run_loop_run(h->loop);
    run_timer_free(deadline);
    h->wanted = NULL;
}

static void stop_loop(void *arg)
{
    struct host *h = arg;

    h->is_over = true;
    run_loop_stop(h->loop);
}

static void open_cluster(struct host *h)
{
    const struct local_options options = {
        .dir = h->dir,
        .shim_path = SHIM_PATH,
        .memory_mb = 1000,
        .vcores = 3,
        .label = "fast",
        .hostname = "host.example",
        .run_user = "nobody",
        .grace_ms = 500,
        .keep_logs_ms = 3600000,
    };
    struct err_info why = {0};

    h->loop = run_loop_new();
    h->story[0] = '\0';
    if (cluster_local_open(h->loop, &options, &ops, h, &h->cluster, &why))
        fail_msg("%s: %s", why.where, why.text);
    cluster_recover(h->cluster);
    await(h, "recovered:*");
}

static void close_cluster(struct host *h)
{
    h->is_over = false;
    cluster_close(h->cluster, stop_loop, h);
    if (!h->is_over)
        run_loop_run(h->loop);
    run_loop_free(h->loop);
}

static int set_up(void **state)
{
    struct host *h = mem_new(struct host);

    signal(SIGPIPE, SIG_IGN);
    snprintf(h->dir, sizeof(h->dir), "/tmp/cluster-test-XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    open_cluster(h);
    *state = h;
    return 0;
}

static int tear_down(void **state)
{
    struct host *h = *state;
    struct err_info why = {0};

    h->is_over = false;
    cluster_stop_all(h->cluster, stop_loop, h);
    if (!h->is_over)
        run_loop_run(h->loop);
    close_cluster(h);
    assert_int_equal(local_remove_tree(h->dir, &why), 0);
    free(h);
    return 0;
}

static void request(struct host *h, const char *id, int64_t memory_mb, const char *ip)
{
    const struct cluster_ask ask = {id, APP, memory_mb, 1, NULL, ip};
    cluster_request(h->cluster, &ask);
}

static void launch(struct host *h, const char *id, int64_t attempt, const char *command)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", "A=b=c", NULL};
    const struct cluster_launch l = {.attempt = attempt, .command = command, .env = env};
    struct err_info why = {0};

    if (cluster_launch(h->cluster, id, &l, &why))
        fail_msg("%s", why.text);
}

static char *read_log(const struct host *h, const char *id)
{
    mem_auto char *path = mem_fmt("%s/logs/%s/%s/%s", h->dir, APP, id, SHIM_STDOUT_FILE);
    char text[4096];
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    return mem_strn(text, n);
}

static bool is_alive(int64_t pid)
{
    struct shim_proc p;
    return pid > 0 && !shim_proc_read((pid_t)pid, &p) && p.state != 'Z';
}

/* ---- requests ---- */

static void what_fits_is_allocated(void **state)
{
    struct host *h = *state;

    request(h, C1, 100, "127.77.0.1");
    await(h, "allocated:1");
    const struct cluster_container *c = cluster_find(h->cluster, C1);
    assert_string_equal(c->ip, "127.77.0.1");
    assert_string_equal(c->hostname, "host.example");
    assert_string_equal(c->application_id, APP);
    assert_int_equal(c->state, CLUSTER_ALLOCATED);
}

static void what_does_not_fit_waits_with_a_reason(void **state)
{
    struct host *h = *state;

    request(h, C1, 800, NULL);
    request(h, C2, 300, NULL);
    request(h, C3, 5000, NULL);
    await(h, "waits(5000 MB of memory are wanted, this host has 1000 MB):3");
    assert_non_null(strstr(h->story, "waits(300 MB of memory are wanted, 200 of 1000 MB are free):2"));
    struct cluster_capacity cap;
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.n_waiting, 2);

    cluster_release(h->cluster, C1);
    await(h, "allocated:2");
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.used_memory_mb, 300);
}

static void an_unknown_label_waits(void **state)
{
    struct host *h = *state;
    const struct cluster_ask slow = {C1, APP, 10, 1, "slow", NULL}, fast = {C2, APP, 10, 1, "fast", NULL};

    cluster_request(h->cluster, &slow);
    cluster_request(h->cluster, &fast);
    await(h, "allocated:2");
    assert_non_null(strstr(h->story, "waits(no host has the label slow):1"));
    cluster_cancel(h->cluster, C1);
    struct cluster_capacity cap;
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.n_waiting, 0);
}

static void an_address_has_one_container_at_a_time(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, "127.77.0.9");
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    int64_t pid = h->pid;
    cluster_release(h->cluster, C1);
    request(h, C2, 10, "127.77.0.9");
    await(h, "allocated:2");
    assert_false(is_alive(pid));
}

static void a_held_container_is_allocated_again(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    request(h, C1, 10, NULL);
    await(h, "allocated:1 allocated:1");
}

/* ---- launches ---- */

static void processes_run_and_their_exits_are_typed(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "echo $A; exit 3");
    await(h, "exited:1");
    assert_int_equal(h->exit.kind, CLUSTER_EXIT_CODE);
    assert_int_equal(h->exit.code, 3);
    assert_string_equal(h->exit.text, "The process ended with exit code 3.");
    assert_non_null(strstr(h->story, "started:1"));
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "b=c\n");
}

static void a_container_can_be_launched_again(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "echo one > mark; exit 1");
    await(h, "exited:1");
    launch(h, C1, 2, "cat mark; kill -TERM $$");
    await(h, "exited:1 started:1 exited:1");
    assert_int_equal(h->exit.kind, CLUSTER_EXIT_SIGNAL);
    assert_int_equal(h->exit.code, SIGTERM);
    assert_int_equal(cluster_find(h->cluster, C1)->attempt, 2);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "one\n");
}

static void files_are_laid_and_stay_inside(void **state)
{
    struct host *h = *state;
    const struct cluster_file files[] = {{"conf/deep/a.txt", "hello", 5, NULL},
                                         {"copy", NULL, 0, "/etc/passwd"}};
    const struct cluster_file bad[] = {{"conf/../../x", "", 0, NULL}};
    struct cluster_launch l = {
        1, "cat conf/deep/a.txt; cmp copy /etc/passwd && echo; echo x >> conf/deep/a.txt", NULL, files, 2};
    struct err_info why = {0};

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), 0);
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), ERR_WRONGSTATE);
    await(h, "exited:1");
    assert_int_equal(h->exit.code, 0);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "hello\n");

    l.files = bad;
    l.n_files = 1;
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), ERR_INVALID);
    assert_int_equal(cluster_launch(h->cluster, C2, &l, &why), ERR_NOTFOUND);
}

static void what_cannot_be_prepared_is_an_exit(void **state)
{
    struct host *h = *state;
    const struct cluster_file files[] = {{"copy", NULL, 0, "/no/such/file"}};
    const struct cluster_launch l = {1, "true", NULL, files, 1};
    struct err_info why = {0};

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    assert_int_equal(cluster_launch(h->cluster, C1, &l, &why), 0);
    await(h, "exited:1");
    assert_int_equal(h->exit.kind, CLUSTER_EXIT_NOT_STARTED);
    assert_non_null(strstr(h->exit.text, "No such file"));
}

static void a_stop_is_told_as_a_stop(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    cluster_stop(h->cluster, C1, 5000); /* It is starting still: the stop is kept. */
    await(h, "exited:1");
    assert_true(h->exit.was_stopped);
    assert_int_equal(h->exit.code, SIGTERM);
}

static void released_containers_leave_nothing_but_logs(void **state)
{
    struct host *h = *state;
    mem_auto char *dir = mem_fmt("%s/containers/%s", h->dir, C1);

    request(h, C1, 1000, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "echo up; ln -s / root; mkdir -p a/b; exec sleep 1000");
    await(h, "started:1");
    cluster_release(h->cluster, C1);
    assert_null(cluster_find(h->cluster, C1));
    request(h, C2, 1000, NULL); /* Needs all the room: comes when C1 has gone. */
    await(h, "allocated:2");
    assert_int_equal(access(dir, F_OK), -1);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    assert_null(strstr(h->story, "exited:1"));
}

/* ---- recovery ---- */

static void running_containers_are_found_again(void **state)
{
    struct host *h = *state;

    request(h, C1, 100, "127.77.0.4");
    await(h, "allocated:1");
    launch(h, C1, 7, "exec sleep 1000");
    await(h, "started:1");
    int64_t pid = h->pid;
    close_cluster(h);
    assert_true(is_alive(pid));

    open_cluster(h);
    assert_non_null(strstr(h->story, "found-running:1"));
    assert_int_equal(h->pid, pid);
    assert_int_equal(h->attempt, 7);
    assert_string_equal(cluster_find(h->cluster, C1)->ip, "127.77.0.4");
    struct cluster_capacity cap;
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.used_memory_mb, 100);
    cluster_stop(h->cluster, C1, 5000);
    await(h, "exited:1");
    assert_false(is_alive(pid));
}

static void exits_that_nobody_saw_are_found(void **state)
{
    struct host *h = *state;
    mem_auto char *exit_file = mem_fmt("%s/containers/%s/%s", h->dir, C1, SHIM_EXIT_FILE);

    request(h, C1, 100, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "while ! [ -e go ]; do sleep 0.01; done; exit 9");
    await(h, "started:1");
    mem_auto char *go = mem_fmt("%s/go", cluster_find(h->cluster, C1)->work_dir);
    close_cluster(h);
    FILE *f = fopen(go, "w");
    fclose(f);
    for (int i = 0; i < DEADLINE_MS / 5 && access(exit_file, F_OK); i++)
        usleep(5000);

    open_cluster(h);
    assert_non_null(strstr(h->story, "found-exited:1"));
    assert_int_equal(h->exit.kind, CLUSTER_EXIT_CODE);
    assert_int_equal(h->exit.code, 9);
}

static pid_t shim_of(const struct host *h, const char *id)
{
    mem_auto char *path = mem_fmt("%s/containers/%s/%s", h->dir, id, SHIM_RUNNING_FILE);
    char line[SHIM_LINE_MAX] = "";
    struct shim_status s;
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    fclose(f);
    assert_int_equal(shim_status_read(line, &s), 0);
    return s.shim;
}

static void a_killed_shim_is_a_loss_and_leaves_nothing(void **state)
{
    struct host *h = *state;

    request(h, C1, 100, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "sleep 1000 & echo $! > child; wait");
    await(h, "started:1");
    mem_auto char *child_file = mem_fmt("%s/child", cluster_find(h->cluster, C1)->work_dir);
    int64_t child = 0;
    for (int i = 0; i < DEADLINE_MS / 5 && !child; i++) {
        FILE *f = fopen(child_file, "r");
        if (!f || fscanf(f, "%" SCNd64, &child) != 1)
            usleep(5000);
        if (f)
            fclose(f);
    }
    assert_true(is_alive(child));
    kill(shim_of(h, C1), SIGKILL);
    await(h, "exited:1");
    assert_int_equal(h->exit.kind, CLUSTER_EXIT_LOST);
    for (int i = 0; i < DEADLINE_MS / 5 && is_alive(child); i++)
        usleep(5000);
    assert_false(is_alive(child));
}

static void half_made_directories_are_removed(void **state)
{
    struct host *h = *state;
    mem_auto char *dir = mem_fmt("%s/containers/%s", h->dir, C2);

    close_cluster(h);
    assert_int_equal(mkdir(dir, 0755), 0);
    open_cluster(h);
    assert_string_equal(h->story, "recovered:* ");
    assert_int_equal(access(dir, F_OK), -1);
}

static void a_wrong_user_is_said_at_the_start(void **state)
{
    struct host *h = *state;
    const struct local_options options = {
        .dir = h->dir, .shim_path = SHIM_PATH, .run_user = "no-such-user-here", .hostname = "h"};
    struct err_info why = {0};
    struct cluster *c;

    if (geteuid())
        skip();
    assert_int_equal(cluster_local_open(h->loop, &options, &ops, h, &c, &why), ERR_CONFIG);
    assert_string_equal(why.where, "no-such-user-here");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_fits_is_allocated),
        CASE(what_does_not_fit_waits_with_a_reason),
        CASE(an_unknown_label_waits),
        CASE(an_address_has_one_container_at_a_time),
        CASE(a_held_container_is_allocated_again),
        CASE(processes_run_and_their_exits_are_typed),
        CASE(a_container_can_be_launched_again),
        CASE(files_are_laid_and_stay_inside),
        CASE(what_cannot_be_prepared_is_an_exit),
        CASE(a_stop_is_told_as_a_stop),
        CASE(released_containers_leave_nothing_but_logs),
        CASE(running_containers_are_found_again),
        CASE(exits_that_nobody_saw_are_found),
        CASE(a_killed_shim_is_a_loss_and_leaves_nothing),
        CASE(half_made_directories_are_removed),
        CASE(a_wrong_user_is_said_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
