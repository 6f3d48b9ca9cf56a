/**
 * The cluster of this host with real shims and processes: requests and room, launches and exits, files, and containers
 * that outlive the cluster object and are found again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "cluster/address_claim.h"
#include "cluster/local_priv.h"
#include "run/fdlimit.h"
#include "local_kit.h"
#include "shim/wire.h"

/* ---- requests ---- */

static void what_fits_is_allocated(void **state)
{
    struct host *h = *state;

    request(h, C1, 100, own_ip(1));
    await(h, "allocated:1");
    const struct cluster_container *c = cluster_find(h->cluster, C1);
    assert_string_equal(c->ip, own_ip(1));
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

static void an_unknown_label_or_host_waits(void **state)
{
    struct host *h = *state;
#define ASK(id) .container_id = (id), .application_id = APP, .memory_mb = 10
    const struct cluster_ask slow = {ASK(C1), .vcores = 1, .label = "slow"},
                             fast = {ASK(C2), .vcores = 1, .label = "fast"},
                             away = {ASK(C3), .vcores = 1, .host = "other.example"};

    cluster_request(h->cluster, &slow);
    cluster_request(h->cluster, &away);
    cluster_request(h->cluster, &fast);
    await(h, "allocated:2");
    assert_non_null(strstr(h->story, "waits(no host has the label slow):1"));
    assert_non_null(strstr(h->story, "waits(there is no host other.example):3"));
    cluster_cancel(h->cluster, C1);
    cluster_cancel(h->cluster, C3);
    struct cluster_capacity cap;
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.n_waiting, 0);
}

static void the_host_is_the_one_node(void **state)
{
    const struct host *h = *state;

    assert_string_equal(h->node, "host.example RUNNING fast 1000 MB");
}

static void an_application_that_excludes_the_host_waits(void **state)
{
    struct host *h = *state;

    cluster_exclude(h->cluster, APP, "other.example", true);
    cluster_exclude(h->cluster, APP, "host.example", true);
    request(h, C1, 10, NULL);
    await(h, "waits(host host.example is excluded, and there is no other):1");
    cluster_exclude(h->cluster, APP, "host.example", false);
    await(h, "allocated:1");
}

static void an_address_has_one_container_at_a_time(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, own_ip(9));
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    int64_t pid = h->pid;
    cluster_release(h->cluster, C1);
    request(h, C2, 10, own_ip(9));
    await(h, "allocated:2");
    assert_false(is_alive(pid));
}

/** Wait for the story to say that an address was taken. */
static void await_taken(struct host *h, unsigned number, int container)
{
    mem_auto char *wanted = mem_fmt("taken(%s):%d", own_ip(number), container);

    await(h, wanted);
}

static void an_address_that_another_program_has_is_not_allocated(void **state)
{
    struct host *h = *state;
    struct err_info why = {0};
    struct cluster_capacity cap;
    int fd;

    assert_int_equal(address_claim(own_ip(2), &fd, &why), 0);
    request(h, C1, 10, own_ip(2));
    await_taken(h, 2, 1);
    cluster_capacity(h->cluster, &cap);
    assert_int_equal(cap.n_waiting, 0);
    request(h, C1, 10, own_ip(3));
    await(h, "allocated:1");
    close(fd);
    request(h, C2, 10, own_ip(2));
    await(h, "allocated:2");
}

static void an_address_that_is_lost_before_the_launch_starts_nothing(void **state)
{
    struct host *h = *state;
    struct err_info why = {0};
    int fd;

    request(h, C1, 10, own_ip(2));
    await(h, "allocated:1");
    assert_int_equal(address_claim(own_ip(2), &fd, &why), 0);
    launch(h, C1, 1, "exec sleep 1000");
    await_taken(h, 2, 1);
    assert_null(strstr(h->story, "started:1"));
    cluster_release(h->cluster, C1);
    close(fd);
    request(h, C2, 10, own_ip(2));
    await(h, "allocated:2");
}

static void a_running_container_holds_its_address_whoever_manages_it(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, own_ip(2));
    await(h, "allocated:1");
    assert_false(address_is_claimed(own_ip(2)));
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    assert_true(address_is_claimed(own_ip(2)));
    close_cluster(h);
    assert_true(address_is_claimed(own_ip(2)));
    open_cluster(h);
    cluster_stop(h->cluster, C1, 5000);
    await(h, "exited:1");
    assert_false(address_is_claimed(own_ip(2)));
    launch(h, C1, 2, "exec sleep 1000");
    await(h, "exited:1 started:1");
    assert_true(address_is_claimed(own_ip(2)));
}

static void a_killed_shim_gives_its_address_back(void **state)
{
    struct host *h = *state;
    struct shim_proc proc;

    request(h, C1, 10, own_ip(2));
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    assert_int_equal(shim_proc_read((pid_t)h->pid, &proc), 0);
    kill(proc.parent, SIGKILL);
    await(h, "exited:1");
    assert_false(address_is_claimed(own_ip(2)));
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
    assert_int_equal(h->exit.cause, CAUSE_EXITED);
    assert_int_equal(h->exit.raw, 3);
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
    h->story[0] = '\0'; /* Of a process that ends at once the start may not be reported. */
    launch(h, C1, 2, "cat mark || echo gone; kill -TERM $$");
    await(h, "exited:1");
    assert_int_equal(h->exit.cause, CAUSE_SIGNALLED);
    assert_int_equal(h->exit.raw, SIGTERM);
    assert_int_equal(cluster_find(h->cluster, C1)->attempt, 2);
    mem_auto char *log = read_log(h, C1);
    assert_string_equal(log, "gone\n");
}

/** From /proc: prlimit(2) does not look at processes of other users. */
static uint64_t soft_fdlimit(pid_t pid)
{
    static const char name[] = "Max open files";
    mem_auto char *path = mem_fmt("/proc/%d/limits", (int)pid);
    char line[128];
    uint64_t soft = 0;
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, name, strlen(name)))
            soft = strtoull(line + strlen(name), NULL, 10);
    }
    fclose(f);
    return soft;
}

static void what_is_started_has_the_first_limit_of_descriptors(void **state)
{
    struct host *h = *state;
    struct rlimit limit;
    struct err_info why = {0};
    struct shim_proc proc;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 300;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(fdlimit_raise(&why), 0);
    assert_int_equal(soft_fdlimit(getpid()), limit.rlim_max);
    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    assert_int_equal(soft_fdlimit((pid_t)h->pid), 300);
    assert_int_equal(shim_proc_read((pid_t)h->pid, &proc), 0);
    assert_int_equal(soft_fdlimit(proc.parent), 300);
}

static void a_stop_is_reported_as_a_stop(void **state)
{
    struct host *h = *state;

    request(h, C1, 10, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    cluster_stop(h->cluster, C1, 5000); /* It is starting still: the stop is kept. */
    await(h, "exited:1");
    assert_true(h->exit.was_stopped);
    assert_int_equal(h->exit.raw, SIGTERM);
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

    request(h, C1, 100, own_ip(4));
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
    assert_string_equal(cluster_find(h->cluster, C1)->ip, own_ip(4));
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
    assert_int_equal(h->exit.cause, CAUSE_EXITED);
    assert_int_equal(h->exit.raw, 9);
}

static pid_t shim_of(const struct host *h, const char *id)
{
    mem_auto char *path = mem_fmt("%s/containers/%s/%s", h->dir, id, SHIM_RUNNING_FILE);
    char line[SHIM_LINE_MAX] = "";
    struct shim_status s;
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_int_equal(shim_status_read(line, &s), 0);
    return s.shim;
}

/* ---- what is no evidence of an end ---- */

/** Leave this process n descriptors more than it has. @return the limit before. */
static struct rlimit leave_descriptors(int n)
{
    struct rlimit before, now;
    int next = open("/dev/null", O_RDONLY);

    assert_true(next > 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = (struct rlimit){(rlim_t)(next + n), before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    return before;
}

/** A container holds one descriptor. Its launch opens more, but those of others that are prepared do not add up. */
static void launches_at_once_do_not_run_out_of_descriptors(void **state)
{
    static const char last[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    enum { N_AT_ONCE = sizeof last - 1, ROOM = N_AT_ONCE + 24 };
    struct host *h = *state;
    char ids[N_AT_ONCE][sizeof C1], word[16];

    for (int i = 0; i < N_AT_ONCE; i++) {
        memcpy(ids[i], C1, sizeof C1);
        ids[i][sizeof C1 - 2] = last[i];
        const struct cluster_ask ask = {ASK(ids[i])};
        cluster_request(h->cluster, &ask);
    }
    await(h, "allocated:z");
    struct rlimit before = leave_descriptors(ROOM), now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    now.rlim_cur += now.rlim_cur < 64 ? now.rlim_cur : 64; /* not for containers: half, 64 at most */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    for (int i = 0; i < N_AT_ONCE; i++)
        launch(h, ids[i], 1, "exec sleep 1000");
    for (int i = 0; i < N_AT_ONCE; i++) {
        snprintf(word, sizeof word, "started:%c", last[i]);
        await(h, word);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(strstr(h->story, "waits("));
}

static int64_t start_one(struct host *h)
{
    request(h, C1, 100, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "exec sleep 1000");
    await(h, "started:1");
    return h->pid;
}

/** One container runs, and a cluster that is opened anew has n descriptors for its recovery. @return the limit before. */
static struct rlimit recover_with(struct host *h, int n, int64_t *pid)
{
    *pid = start_one(h);
    close_cluster(h);
    open_cluster_begin(h);
    return leave_descriptors(n);
}

static void without_any_descriptor_nothing_is_concluded(void **state)
{
    struct host *h = *state;
    int64_t pid;
    struct rlimit before = recover_with(h, 0, &pid);

    await(h, "degraded:*");
    assert_null(strstr(h->story, "found"));
    assert_null(strstr(h->story, "recovered:*"));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    await(h, "well:*");
    await(h, "recovered:*");
    await(h, "found-running:1");
    assert_int_equal(h->pid, pid);
    assert_true(is_alive(pid));
}

static void without_a_descriptor_for_it_a_container_is_recovering(void **state)
{
    struct host *h = *state;
    int64_t pid;
    struct rlimit before = recover_with(h, 8, &pid); /* Enough to read files, not to keep a connection. */
    await(h, "found-later:1");
    await(h, "waits(RLIMIT_NOFILE: descriptors are short: each container needs one; raise the limit "
             "(LimitNOFILE=)):1");
    await(h, "degraded:*");
    await(h, "recovered:*");
    assert_int_equal(cluster_find(h->cluster, C1)->state, CLUSTER_RECOVERING);
    request(h, C1, 100, NULL); /* Who asks for it is answered when it is known. */
    assert_true(is_alive(pid));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    await(h, "found-running:1");
    await(h, "well:*");
    assert_int_equal(h->pid, pid);
    assert_null(strstr(h->story, "found-exited"));
}

static void a_stop_of_a_recovering_container_is_kept(void **state)
{
    struct host *h = *state;
    int64_t pid;
    struct rlimit before = recover_with(h, 8, &pid);
    await(h, "recovered:*");
    cluster_release(h->cluster, C1);
    request(h, C2, 1000, NULL); /* Needs all the room: comes when C1 has gone. */
    assert_true(is_alive(pid));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    await(h, "allocated:2");
    assert_false(is_alive(pid));
}

static void kill_shim(const struct host *h, const char *id)
{
    pid_t shim = shim_of(h, id);

    kill(shim, SIGKILL);
    for (int i = 0; i < DEADLINE_MS / 5 && is_alive(shim); i++)
        usleep(5000);
    assert_false(is_alive(shim));
}

/** As after a kill of svcmgr between its start of a shim and the shim's first word. */
static void a_shim_that_has_not_spoken_yet_is_waited_for(void **state)
{
    struct host *h = *state;
    mem_auto char *lock = mem_fmt("%s/containers/%s/%s", h->dir, C1, SHIM_LOCK_FILE);
    mem_auto char *running = mem_fmt("%s/containers/%s/%s", h->dir, C1, SHIM_RUNNING_FILE);
    mem_auto char *launch_file = mem_fmt("%s/containers/%s/%s", h->dir, C1, SHIM_LAUNCH_FILE);

    start_one(h);
    close_cluster(h);
    kill_shim(h, C1);
    assert_int_equal(unlink(running), 0);
    int fd = open(lock, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    open_cluster(h);
    assert_non_null(strstr(h->story, "found-later:1"));
    assert_int_equal(access(launch_file, F_OK), 0);
    close(fd); /* It has died without a word. */
    await(h, "found-exited:1");
    assert_int_equal(h->exit.cause, CAUSE_LOST);
}

/** After a loss of power the numbers of the dead are those of strangers. */
static void nothing_of_another_boot_is_killed(void **state)
{
    struct host *h = *state;
    mem_auto char *path = mem_fmt("%s/containers/%s/%s", h->dir, C1, SHIM_RUNNING_FILE);
    char line[SHIM_LINE_MAX] = "";
    struct shim_status s;

    request(h, C1, 100, NULL);
    await(h, "allocated:1");
    launch(h, C1, 1, "sleep 1000 & echo $! > child; wait");
    await(h, "started:1");
    mem_auto char *child_file = mem_fmt("%s/child", cluster_find(h->cluster, C1)->work_dir);
    long child = 0;
    for (int i = 0; i < DEADLINE_MS / 5 && child <= 0; i++) {
        FILE *f = fopen(child_file, "r");
        if (f && fscanf(f, "%ld", &child) != 1)
            child = 0;
        if (f)
            fclose(f);
        usleep(5000);
    }
    assert_true(child > 0);
    close_cluster(h);
    kill_shim(h, C1);
    FILE *f = fopen(path, "r+");
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(shim_status_read(line, &s), 0);
    snprintf(s.boot, sizeof s.boot, "00000000-0000-0000-0000-000000000000");
    rewind(f);
    fwrite(line, 1, shim_status_write(&s, line), f);
    fclose(f);
    open_cluster(h);
    assert_non_null(strstr(h->story, "found-exited:1"));
    assert_int_equal(h->exit.cause, CAUSE_LOST);
    bool was_spared = is_alive(child);
    kill((pid_t)child, SIGKILL);
    assert_true(was_spared);
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
    assert_int_equal(h->exit.cause, CAUSE_LOST);
    for (int i = 0; i < DEADLINE_MS / 5 && is_alive(child); i++)
        usleep(5000);
    assert_false(is_alive(child));
}

/** The shim of C1 is stopped, then its container: both are gone, and so is the directory when it is given back. */
static void stop_with_a_stopped_shim(struct host *h, int64_t pid)
{
    mem_auto char *dir = mem_fmt("%s/containers/%s", h->dir, C1);
    pid_t shim = shim_of(h, C1);

    assert_int_equal(kill(shim, SIGSTOP), 0);
    cluster_stop(h->cluster, C1, 0);
    await(h, "exited:1");
    assert_false(is_alive(shim));
    assert_false(is_alive(pid));
    cluster_release(h->cluster, C1);
    request(h, C2, 1000, NULL); /* Needs all the room: comes when C1 has gone. */
    await(h, "allocated:2");
    assert_int_equal(access(dir, F_OK), -1);
}

static void a_stopped_shim_holds_no_forced_stop(void **state)
{
    struct host *h = *state;

    stop_with_a_stopped_shim(h, start_one(h));
}

static void a_stopped_shim_that_was_taken_over_holds_none_either(void **state)
{
    struct host *h = *state;
    int64_t pid = start_one(h);

    close_cluster(h);
    open_cluster(h);
    await(h, "found-running:1");
    stop_with_a_stopped_shim(h, pid);
}

/** It was stopped before it could say who it is: its files name it. A release waits for nobody to ask again. */
static void a_stopped_shim_that_never_answered_holds_no_release(void **state)
{
    struct host *h = *state;
    int64_t pid = start_one(h);
    pid_t shim = shim_of(h, C1);

    close_cluster(h);
    assert_int_equal(kill(shim, SIGSTOP), 0);
    open_cluster(h);
    assert_non_null(strstr(h->story, "found-later:1"));
    cluster_release(h->cluster, C1);
    request(h, C2, 1000, NULL);
    await(h, "allocated:2");
    assert_false(is_alive(shim));
    assert_false(is_alive(pid));
}

/** Who listens is not who the directory's file names: it is left alone. */
static void only_the_shim_that_its_file_names_is_killed(void **state)
{
    struct host *h = *state;
    mem_auto char *dir = mem_fmt("%s/containers/%s", h->dir, C1);
    struct err_info why = {0};

    start_one(h);
    pid_t shim = shim_of(h, C1);
    assert_int_equal(shim_kill(dir, getpid(), &why), ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "does not name"));
    assert_int_equal(shim_kill(h->dir, shim, &why), ERR_NOTFOUND);
    assert_true(is_alive(shim));
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
    const struct local_options options = {.dir = h->dir,
                                          .shim_path = SHIM_PATH,
                                          .run_user = "no-such-user-here",
                                          .hostname = "h",
                                          .source_dirs = "/"};
    struct err_info why = {0};
    struct cluster *c;

    if (geteuid())
        skip();
    assert_int_equal(cluster_local_open(h->loop, &options, &host_ops, h, &c, &why), ERR_CONFIG);
    assert_string_equal(why.where, "no-such-user-here");
}

static void only_ids_have_an_application(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "container_",
                                      "container_1",
                                      "container_1_2",
                                      "container_1_2_../x",
                                      "container__2_1_1",
                                      "application_1_2_01_1",
                                      "../container_1_2_01_1",
                                      "container_1_2_01_000001/..",
                                      "container_x_2_01_1"};
    mem_auto char *app = cluster_application_of(C1);

    assert_string_equal(app, APP);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        mem_auto char *none = cluster_application_of(bad[i]);
        if (none)
            fail_msg("\"%s\" was taken for an id of %s", bad[i], none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_fits_is_allocated),
        CASE(what_does_not_fit_waits_with_a_reason),
        CASE(an_unknown_label_or_host_waits),
        CASE(the_host_is_the_one_node),
        CASE(an_application_that_excludes_the_host_waits),
        CASE(an_address_has_one_container_at_a_time),
        CASE(an_address_that_another_program_has_is_not_allocated),
        CASE(an_address_that_is_lost_before_the_launch_starts_nothing),
        CASE(a_running_container_holds_its_address_whoever_manages_it),
        CASE(a_killed_shim_gives_its_address_back),
        CASE(a_held_container_is_allocated_again),
        CASE(processes_run_and_their_exits_are_typed),
        CASE(a_container_can_be_launched_again),
        CASE(what_is_started_has_the_first_limit_of_descriptors),
        CASE(a_stop_is_reported_as_a_stop),
        CASE(released_containers_leave_nothing_but_logs),
        CASE(running_containers_are_found_again),
        CASE(exits_that_nobody_saw_are_found),
        CASE(launches_at_once_do_not_run_out_of_descriptors),
        CASE(without_any_descriptor_nothing_is_concluded),
        CASE(without_a_descriptor_for_it_a_container_is_recovering),
        CASE(a_stop_of_a_recovering_container_is_kept),
        CASE(a_shim_that_has_not_spoken_yet_is_waited_for),
        CASE(nothing_of_another_boot_is_killed),
        cmocka_unit_test(only_ids_have_an_application),
        CASE(a_killed_shim_is_a_loss_and_leaves_nothing),
        CASE(a_stopped_shim_holds_no_forced_stop),
        CASE(a_stopped_shim_that_was_taken_over_holds_none_either),
        CASE(a_stopped_shim_that_never_answered_holds_no_release),
        CASE(only_the_shim_that_its_file_names_is_killed),
        CASE(half_made_directories_are_removed),
        CASE(a_wrong_user_is_said_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
