#include "local_kit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_tree.h"
#include "shim/wire.h"

static void note(struct host *h, const char *what, const char *id)
{
    size_t at = strlen(h->story);

    snprintf(h->story + at, sizeof h->story - at, "%s:%s ", what, id + strlen(id) - 1);
    if (h->wanted && strstr(h->story, h->wanted))
        run_loop_stop(h->loop);
}

static void on_allocated(void *arg, const struct cluster_container *c)
{
    note(arg, "allocated", c->id);
}

static void on_waits(void *arg, const char *container_id, const struct eng_waiting *why)
{
    struct host *h = arg;
    mem_auto char *what = mem_fmt("waits(%s)", why->text);

    note(h, what, container_id);
}

static void on_address_taken(void *arg, const char *container_id, const char *ip)
{
    mem_auto char *what = mem_fmt("taken(%s)", ip);

    note(arg, what, container_id);
}

static void on_started(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->pid = c->pid;
    note(h, "started", c->id);
}

static void on_exited(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->exit = c->exit;
    note(h, "exited", c->id);
}

static void on_recovered(void *arg, const struct cluster_container *c)
{
    struct host *h = arg;

    h->exit = c->exit;
    h->pid = c->pid;
    h->attempt = c->attempt;
    note(h,
         c->state == CLUSTER_RUNNING      ? "found-running"
         : c->state == CLUSTER_RECOVERING ? "found-later"
                                          : "found-exited",
         c->id);
}

static void on_node(void *arg, const struct cluster_node *node)
{
    struct host *h = arg;

    snprintf(h->node, sizeof h->node, "%s %s %s %lld MB", node->host, node->state,
             node->n_labels ? node->labels[0] : "-", (long long)node->memory_mb);
}

static void on_recovery_done(void *arg)
{
    note(arg, "recovered", "all*");
}

static void on_degraded(void *arg, const char *reason)
{
    note(arg, reason ? "degraded" : "well", "*");
}

const struct cluster_ops host_ops = {.allocated = on_allocated,
                                     .waits = on_waits,
                                     .address_taken = on_address_taken,
                                     .started = on_started,
                                     .exited = on_exited,
                                     .recovered = on_recovered,
                                     .node = on_node,
                                     .recovery_done = on_recovery_done,
                                     .degraded = on_degraded};

const char *own_ip(unsigned number)
{
    static char texts[16][20];
    char *text = texts[number % 16];
    unsigned pid = (unsigned)getpid();

    snprintf(text, sizeof texts[0], "127.%u.%u.%u", 128 + (pid >> 8) % 100, pid & 0xff, number);
    return text;
}

static void on_deadline(void *arg)
{
    struct host *h = arg;

    fail_msg("\"%s\" did not come; story: %s; last exit: %s", h->wanted, h->story, h->exit.text);
}

void await(struct host *h, const char *wanted)
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

void open_cluster_begin(struct host *h)
{
    const struct local_options options = {
        .dir = h->dir,
        .shim_path = SHIM_PATH,
        .localizer_path = h->localizer_path ? h->localizer_path : LOCALIZER_PATH,
        .memory_mb = 1000,
        .vcores = 3,
        .label = "fast",
        .hostname = "host.example",
        .run_user = "nobody",
        .user_range = h->user_range,
        .grace_ms = 500,
        .keep_logs_ms = 3600000,
        .source_dirs = "/",
        .source_max_bytes = 1 << 20,
        .archive_max_bytes = 1 << 20,
        .archive_max_entries = 100,
        .archive_max_ratio = 100,
        .fetch_timeout_ms = DEADLINE_MS,
        .source_timeout_ms = h->source_timeout_ms ? h->source_timeout_ms : DEADLINE_MS,
    };
    struct err_info why = {0};

    h->loop = run_loop_new();
    h->story[0] = '\0';
    if (cluster_local_open(h->loop, &options, &host_ops, h, &h->cluster, &why))
        fail_msg("%s: %s", why.where, why.text);
    cluster_recover(h->cluster);
}

void open_cluster(struct host *h)
{
    open_cluster_begin(h);
    await(h, "recovered:*");
}

void close_cluster(struct host *h)
{
    h->is_over = false;
    cluster_close(h->cluster, stop_loop, h);
    if (!h->is_over)
        run_loop_run(h->loop);
    run_loop_free(h->loop);
}

int set_up(void **state)
{
    struct host *h = mem_new(struct host);

    signal(SIGPIPE, SIG_IGN);
    snprintf(h->dir, sizeof h->dir, "/tmp/cluster-test-XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    open_cluster(h);
    *state = h;
    return 0;
}

int tear_down(void **state)
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

void request(struct host *h, const char *id, int64_t memory_mb, const char *ip)
{
    const struct cluster_ask ask = {
        .container_id = id, .application_id = APP, .memory_mb = memory_mb, .vcores = 1, .ip = ip};
    cluster_request(h->cluster, &ask);
}

void launch(struct host *h, const char *id, int64_t attempt, const char *command)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", "A=b=c", NULL};
    const struct cluster_launch l = {.attempt = attempt, .command = command, .env = env};
    struct err_info why = {0};

    if (cluster_launch(h->cluster, id, &l, &why))
        fail_msg("%s", why.text);
}

char *read_log(const struct host *h, const char *id)
{
    mem_auto char *path = mem_fmt("%s/logs/%s/%s/%s", h->dir, APP, id, SHIM_STDOUT_FILE);
    char text[4096];
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return mem_strn(text, n);
}

bool is_alive(int64_t pid)
{
    struct shim_proc p;
    return pid > 0 && !shim_proc_read((pid_t)pid, &p) && p.state != 'Z';
}
