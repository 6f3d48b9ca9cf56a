/** A cluster of this host for tests, and the story of its callbacks. */
#ifndef LOCAL_KIT_H
#define LOCAL_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/local.h"

#define DEADLINE_MS 20000
#define APP         "application_1700000000000_0001"
#define C1          "container_1700000000000_0001_01_000001"
#define C2          "container_1700000000000_0001_01_000002"
#define C3          "container_1700000000000_0001_01_000003"

/** A cluster and the story of its callbacks, one word each. */
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
    char node[128];             /* the last reported one: "host RUNNING label 1000 MB" */
    const char *localizer_path; /* NULL: the real one */
    int64_t source_timeout_ms;
    const char *user_range; /* NULL: none */
};

/** What a host hears: arg is the host. */
extern const struct cluster_ops host_ops;

/** An address of this test program: addresses are claimed among all programs of the host. Static, 16 of them. */
const char *own_ip(unsigned number);
/** Wait until the story holds a word. */
void await(struct host *h, const char *wanted);
/** Open the cluster in h->dir and begin to recover. */
void open_cluster_begin(struct host *h);
/** Open the cluster in h->dir and recover. */
void open_cluster(struct host *h);
/** Let go of it; what runs goes on. */
void close_cluster(struct host *h);
/** A cluster in a new directory. */
int set_up(void **state);
/** Nothing runs afterwards, and the directory is gone. */
int tear_down(void **state);
/** Ask for a container. */
void request(struct host *h, const char *id, int64_t memory_mb, const char *ip);
/** Run a command, with A=b=c in the environment. */
void launch(struct host *h, const char *id, int64_t attempt, const char *command);
/** What a container has written to its output; free() */
char *read_log(const struct host *h, const char *id);
/** The process runs. */
bool is_alive(int64_t pid);

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
