/*
 * A store and its mirror under the control of a script: one command a line on stdin, one answer a line on stdout.
 *
 *     follow zk://HOST:PORT/ROOT [FOLLOW_SERVERS]
 *
 *     tree                    nodes of the mirror, "path=data;mzxid;pzxid", one a line, then "end APPLIED STORE_ID"
 *     state                   "ready|waiting fresh|stale APPLIED NODES STORE_ID"
 *     wait ZXID MS            "ok" as soon as the mirror has applied it, else "ERR_TIMEOUT"
 *     sync MS                 "ok" as soon as the mirror is complete and not stale
 *     create PATH DATA        "ok ZXID" or "ERR_… text"; likewise set, delete PATH; data may not contain blanks
 *     big PATH BYTES          create a node with that many bytes
 *     get PATH                "ok DATA"
 *     fill PATH N             create N nodes PATH/0…
 *     quit
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "store/mirror/mirror.h"

#define DRIVER_MAGIC OBJ_MAGIC('D', 'R', 'I', 'V')

struct driver {
    struct obj obj;
    struct run_loop *loop;
    struct store *store;
    struct mirror *mirror;
    uv_pipe_t input;
    struct buf line;
    struct run_timer *sync_timer;
    int64_t sync_until_ms;
    size_t n_to_fill;
    int fill_err;
    int64_t fill_zxid;
};

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

static void print_tree(const struct driver *d)
{
    const struct mirror_node *top = mirror_find(d->mirror, "/");
    const struct mirror_node *node = NULL;
    while (top && (node = mirror_walk(d->mirror, top, node))) {
        buf_auto struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        const char *data = node->stat.data_len > 100 ? "(long)" : node->data;
        printf("%s=%s;%lld;%lld\n", buf_cstr(&path), data, (long long)node->stat.mzxid,
               (long long)node->stat.pzxid);
    }
    say("end %lld %s", (long long)mirror_applied(d->mirror), mirror_store_id(d->mirror));
}

static void print_state(const struct driver *d)
{
    say("%s %s %lld %zu %s", mirror_ready(d->mirror) ? "ready" : "waiting",
        mirror_stale(d->mirror) ? "stale" : "fresh", (long long)mirror_applied(d->mirror),
        mirror_n_nodes(d->mirror), mirror_store_id(d->mirror));
}

static void on_waited(void *arg, int err)
{
    obj_cast(arg, struct driver, DRIVER_MAGIC);
    say("%s", err ? err_name(err) : "ok");
}

static void on_sync_timer(void *arg)
{
    struct driver *d = obj_cast(arg, struct driver, DRIVER_MAGIC);
    bool is_synced = mirror_ready(d->mirror) && !mirror_stale(d->mirror);
    if (!is_synced && run_now_ms() < d->sync_until_ms)
        return;
    run_timer_stop(d->sync_timer);
    say("%s", is_synced ? "ok" : "ERR_TIMEOUT");
}

static void on_written(void *arg, int err, const struct store_result *r)
{
    obj_cast(arg, struct driver, DRIVER_MAGIC);
    if (err)
        say("%s %s", err_name(err), r->why.text);
    else
        say("ok %lld", (long long)r->zxid);
}

static void on_got(void *arg, int err, const struct store_result *r)
{
    obj_cast(arg, struct driver, DRIVER_MAGIC);
    if (err)
        say("%s %s", err_name(err), r->why.text);
    else
        say("ok %s", r->data);
}

static void on_filled(void *arg, int err, const struct store_result *r)
{
    struct driver *d = obj_cast(arg, struct driver, DRIVER_MAGIC);
    if (err && !d->fill_err)
        d->fill_err = err;
    d->fill_zxid = err ? d->fill_zxid : r->zxid;
    if (--d->n_to_fill > 0)
        return;
    if (d->fill_err)
        say("%s", err_name(d->fill_err));
    else
        say("ok %lld", (long long)d->fill_zxid);
}

static void fill(struct driver *d, const char *path, size_t n)
{
    d->n_to_fill = n;
    d->fill_err = 0;
    for (size_t i = 0; i < n; i++) {
        mem_auto char *child = mem_fmt("%s/%zu", path, i);
        store_create(d->store, child, "x", 1, NULL, on_filled, d);
    }
}

static void quit(struct driver *d);

static void obey_write(struct driver *d, const char *verb, const char *path, const char *rest)
{
    if (strcmp(verb, "create") == 0)
        store_create(d->store, path, rest, strlen(rest), NULL, on_written, d);
    else if (strcmp(verb, "set") == 0)
        store_set(d->store, path, rest, strlen(rest), -1, on_written, d);
    else if (strcmp(verb, "delete") == 0)
        store_delete(d->store, path, -1, on_written, d);
    else
        say("ERR_USAGE %s", verb);
}

static void obey(struct driver *d, char *line)
{
    char *verb = strsep(&line, " ");
    const char *first = line ? strsep(&line, " ") : "";
    const char *second = line ? line : "";
    if (strcmp(verb, "tree") == 0) {
        print_tree(d);
    } else if (strcmp(verb, "state") == 0) {
        print_state(d);
    } else if (strcmp(verb, "wait") == 0) {
        mirror_when_applied(d->mirror, atoll(first), atoll(second), on_waited, d);
    } else if (strcmp(verb, "sync") == 0) {
        d->sync_until_ms = run_now_ms() + atoll(first);
        run_timer_start(d->sync_timer, 0, 5);
    } else if (strcmp(verb, "get") == 0) {
        store_get(d->store, first, on_got, d);
    } else if (strcmp(verb, "fill") == 0) {
        fill(d, first, (size_t)atoll(second));
    } else if (strcmp(verb, "big") == 0) {
        size_t n = (size_t)atoll(second);
        mem_auto char *bytes = mem_zalloc(n + 1);
        memset(bytes, 'b', n);
        store_create(d->store, first, bytes, n, NULL, on_written, d);
    } else if (strcmp(verb, "quit") == 0) {
        quit(d);
    } else {
        obey_write(d, verb, first, second);
    }
}

static void on_room(uv_handle_t *input, size_t suggested, uv_buf_t *out)
{
    struct driver *d = obj_cast(input->data, struct driver, DRIVER_MAGIC);
    (void)suggested;
    *out = uv_buf_init(buf_room(&d->line, 65536), 65536);
}

static void on_input(uv_stream_t *input, ssize_t n, const uv_buf_t *room)
{
    struct driver *d = obj_cast(input->data, struct driver, DRIVER_MAGIC);
    (void)room;
    if (n < 0) {
        quit(d);
        return;
    }
    d->line.len += (size_t)n;
    char *end;
    while ((end = memchr(d->line.bytes, '\n', d->line.len))) {
        mem_auto char *line = mem_strn(d->line.bytes, (size_t)(end - d->line.bytes));
        buf_drop(&d->line, strlen(line) + 1);
        obey(d, line);
    }
}

static void on_closed(void *arg)
{
    struct driver *d = obj_cast(arg, struct driver, DRIVER_MAGIC);
    run_loop_stop(d->loop);
}

static void quit(struct driver *d)
{
    if (uv_is_closing((uv_handle_t *)&d->input))
        return;
    uv_close((uv_handle_t *)&d->input, NULL);
    store_close(d->store, on_closed, d);
}

int main(int argc, char **argv)
{
    struct driver d = {.loop = run_loop_new()};
    struct store_options options = {
        .session_timeout_ms = 6000,
        .connect_timeout_ms = 2000,
        .retry_interval_ms = 100,
        .retry_ceiling_ms = 1000,
        .retry_times = 29,
        .follow_servers = argc > 2 ? argv[2] : NULL,
    };
    struct err_info why = {0};
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    obj_init(&d.obj, DRIVER_MAGIC);
    if (argc < 2 || store_open(d.loop, argv[1], &options, &d.store, &why) != 0) {
        fprintf(stderr, "follow: %s: %s\n", why.where, why.text);
        return 2;
    }
    d.mirror = mirror_new(d.store);
    d.sync_timer = run_timer_new(d.loop, on_sync_timer, &d);
    d.input.data = &d;
    if (uv_pipe_init(run_loop_uv(d.loop), &d.input, 0) != 0 || uv_pipe_open(&d.input, STDIN_FILENO) != 0 ||
        uv_read_start((uv_stream_t *)&d.input, on_room, on_input) != 0) {
        fprintf(stderr, "follow: stdin must be a pipe\n");
        return 2;
    }
    run_loop_run(d.loop);
    mirror_free(d.mirror);
    run_timer_free(d.sync_timer);
    run_loop_free(d.loop);
    buf_fini(&d.line);
    return 0;
}
