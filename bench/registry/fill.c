/*
 * Records in ZooKeeper, written as any client would: `make N` makes the tree, `change N RATE SECONDS` sets records of it, so many
 * a second, one after the other.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "store/store.h"

#define FILL_MAGIC OBJ_MAGIC('F', 'I', 'L', 'L')

/** Records of one service; creates under way; changes are made in steps of so long. */
enum { A_SERVICE = 100, WINDOW = 2000, STEP_MS = 10 };

struct fill {
    struct obj obj;
    struct run_loop *loop;
    struct store *store;
    struct run_timer *timer;
    int64_t n_records, next; /* make: next record. change: changes made */
    int64_t rate, end, start_ms;
    size_t n_open;
    int err;
    struct err_info why;
};

static void stop(void *arg)
{
    run_loop_stop(obj_cast(arg, struct fill, FILL_MAGIC)->loop);
}

static char *record_path(int64_t i)
{
    return mem_fmt(
        "/users/u%lld/services/yarn-service/svc%lld/components/ctr-e50-1451931954322-%04lld-01-%06lld",
        (long long)(i / A_SERVICE % 100), (long long)(i / A_SERVICE), (long long)(i / A_SERVICE),
        (long long)(i % A_SERVICE));
}

static char *record_text(int64_t i, int64_t version)
{
    return mem_fmt(
        "{\"type\":\"JSONServiceRecord\",\"description\":\"httpd-%lld\",\"external\":[],\"internal\":[],"
        "\"yarn:id\":\"container_e50_1451931954322_%04lld_01_%06lld\",\"yarn:persistence\":\"container\","
        "\"yarn:component\":\"c%lld\",\"yarn:ip\":\"10.%lld.%lld.%lld\",\"yarn:hostname\":\"host-%06lld\"}",
        (long long)(i % A_SERVICE), (long long)(i / A_SERVICE), (long long)(i % A_SERVICE),
        (long long)(i % 4), (long long)(version & 255), (long long)(i >> 8 & 255), (long long)(i & 255),
        (long long)(i % 1000000));
}

static void on_done(void *arg, int err, const struct store_result *r)
{
    struct fill *f = obj_cast(arg, struct fill, FILL_MAGIC);
    if (err && err != ERR_EXISTS && !f->err) {
        f->err = err;
        f->why = r->why;
    }
    if (--f->n_open < WINDOW / 2)
        run_loop_stop(f->loop);
}

/* ---- make ---- */

static void create(struct fill *f, const char *path, const char *text)
{
    f->n_open++;
    store_create(f->store, path, text, strlen(text), NULL, on_done, f);
}

/** Make the parents of a path, then the path itself. */
static void create_all(struct fill *f, const char *path, const char *text)
{
    mem_auto char *part = mem_str(path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        create(f, part, "");
        *slash = '/';
    }
    create(f, path, text);
}

static void make(struct fill *f)
{
    create(f, "/", "");
    while (!f->err && (f->next < f->n_records || f->n_open)) {
        for (; f->next < f->n_records && f->n_open < WINDOW; f->next++) {
            mem_auto char *path = record_path(f->next);
            mem_auto char *text = record_text(f->next, 0);
            if (f->next % A_SERVICE == 0)
                create_all(f, path, text);
            else
                create(f, path, text);
        }
        run_loop_run(f->loop);
    }
}

/* ---- change ---- */

static void step(void *arg)
{
    struct fill *f = obj_cast(arg, struct fill, FILL_MAGIC);
    int64_t due = (run_now_ms() - f->start_ms) * f->rate / 1000;
    for (due = due < f->end ? due : f->end; f->next < due; f->next++) {
        int64_t i = f->next * 7919 % f->n_records;
        mem_auto char *path = record_path(i);
        mem_auto char *text = record_text(i, f->next + 1);
        f->n_open++;
        store_set(f->store, path, text, strlen(text), -1, on_done, f);
    }
}

static void change(struct fill *f)
{
    f->start_ms = run_now_ms();
    f->timer = run_timer_new(f->loop, step, f);
    run_timer_start(f->timer, 0, STEP_MS);
    while (!f->err && (f->next < f->end || f->n_open))
        run_loop_run(f->loop);
    run_timer_free(f->timer);
}

/* ---- */

static int usage(const char *name)
{
    fprintf(stderr, "usage: %s ZK-URL make N | ZK-URL change N RATE SECONDS\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    struct fill f = {0};
    int64_t seconds = 0;
    bool is_change = argc == 6 && strcmp(argv[2], "change") == 0;
    if ((!is_change && (argc != 4 || strcmp(argv[2], "make") != 0)) ||
        str_to_i64(argv[3], 1, 100000000, &f.n_records) ||
        (is_change && (str_to_i64(argv[4], 1, 1000000, &f.rate) || str_to_i64(argv[5], 1, 3600, &seconds))))
        return usage(argv[0]);
    obj_init(&f.obj, FILL_MAGIC);
    f.end = f.rate * seconds;
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    f.loop = run_loop_new();
    f.err = store_open(f.loop, argv[1], NULL, &f.store, &f.why);
    if (f.err) {
        fprintf(stderr, "%s: %s\n", f.why.where, f.why.text);
        return err_exit_code(f.err);
    }
    int64_t start_ms = run_now_ms();
    if (is_change)
        change(&f);
    else
        make(&f);
    printf("ms=%lld\n", (long long)(run_now_ms() - start_ms));
    store_close(f.store, stop, &f);
    run_loop_run(f.loop);
    run_loop_free(f.loop);
    if (f.err)
        fprintf(stderr, "%s: %s\n", f.why.where, f.why.text);
    return err_exit_code(f.err);
}
