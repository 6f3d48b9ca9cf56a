/** `bobbin registry watch`: first what is there, then `synced`, then each change. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"
#include "kit/wait.h"

#define WATCH_MAGIC OBJ_MAGIC('W', 'T', 'C', 'H')

struct watching {
    struct obj obj;
    struct wait wait;
    const struct cli *cli;
    bool is_live;   /* the snapshot is over */
    int64_t max, n; /* changes wanted (0: any number) and seen */
    bool is_over, is_broken;
    struct err_info trouble; /* why the feed is disconnected; code 0: it is connected */
    struct err_info refused; /* code != 0: the registry refuses the watch */
};

static void print_line(struct watching *w, const char *type, const char *path, const char *revision,
                       const struct reg_record *record)
{
    if (w->is_over)
        return;
    if (w->cli->is_json) {
        json_auto json_t *v = json_object();
        json_object_set_new(v, "type", json_string(type));
        if (path)
            json_object_set_new(v, "path", json_string(path));
        json_object_set_new(v, "revision", json_string(revision));
        if (record)
            json_object_set_new(v, "service", registry_record_json(record));
        out_json_line(v);
    } else {
        printf("%s%s%s %s%s\n", type, path ? " " : "", path ? path : "", revision, record ? " record" : "");
    }
    w->is_broken = fflush(stdout) != 0;
    w->is_over = w->is_broken;
    if (w->is_over)
        run_loop_stop(w->wait.loop);
}

static void count_change(struct watching *w)
{
    if (!w->is_live || !w->max || ++w->n < w->max)
        return;
    w->is_over = true;
    run_loop_stop(w->wait.loop);
}

static void on_reset(void *arg)
{
    obj_cast(arg, struct watching, WATCH_MAGIC)->is_live = false;
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    struct watching *w = obj_cast(arg, struct watching, WATCH_MAGIC);

    print_line(w, "put", path, revision, record);
    count_change(w);
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    struct watching *w = obj_cast(arg, struct watching, WATCH_MAGIC);

    print_line(w, "delete", path, revision, NULL);
    count_change(w);
}

static void on_synced(void *arg, const char *revision)
{
    struct watching *w = obj_cast(arg, struct watching, WATCH_MAGIC);

    print_line(w, "synced", NULL, revision, NULL);
    w->is_live = true;
}

static void on_state(void *arg, const struct err_info *why)
{
    struct watching *w = obj_cast(arg, struct watching, WATCH_MAGIC);

    w->trouble = why ? *why : (struct err_info){0};
    if (why)
        fprintf(stderr, "bobbin: %s: %s (trying again)\n", why->where, why->text);
}

static bool on_refused(void *arg, const struct err_info *why)
{
    struct watching *w = obj_cast(arg, struct watching, WATCH_MAGIC);

    w->refused = *why;
    w->is_over = true;
    run_loop_stop(w->wait.loop);
    return true;
}

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .state = on_state,
                                               .refused = on_refused};

static int follow(struct watching *w, struct reg *registry, int64_t limit_ms, struct err_info *why)
{
    const char *path = w->cli->n_operands ? w->cli->operands[0] : "/";
    const char *since = cli_value(w->cli, CLI_SINCE);
    struct reg_watch *watch = reg_watch_start(registry, path, since, &watch_ops, w);
    int64_t end_ms = run_now_ms() + limit_ms;

    if (!watch)
        return err_set(why, ERR_PATH, path, "is not a registry path");
    w->is_live = since != NULL;
    while (!w->is_over && !w->wait.is_interrupted && (limit_ms < 0 || run_now_ms() < end_ms))
        wait_event(&w->wait, limit_ms < 0 ? -1 : end_ms - run_now_ms());
    reg_watch_stop(watch);
    if (w->refused.code)
        return err_set(why, w->refused.code, w->refused.where, "%s", w->refused.text);
    if (w->is_broken)
        return err_set(why, ERR_IO, "standard output", "could not be written");
    if (w->is_over || w->wait.is_interrupted || !w->trouble.code)
        return 0;
    return err_set(why, w->trouble.code, w->trouble.where, "timed out; the last attempt failed: %s",
                   w->trouble.text);
}

static int read_bounds(struct watching *w, int64_t *limit_ms, struct err_info *why)
{
    const char *max = cli_value(w->cli, CLI_MAX);
    const char *since = cli_value(w->cli, CLI_SINCE);
    char store[REG_REVISION_MAX];
    int64_t n;

    if (max && str_to_i64(max, 1, INT64_MAX, &w->max))
        return err_set(why, ERR_USAGE, "--max", "\"%s\" is not a number of at least 1", max);
    if (since && reg_revision_read(since, store, &n))
        return err_set(why, ERR_USAGE, "--since", "\"%s\" is not a revision (<store>.<number>)", since);
    return cli_timeout_ms(w->cli, -1, limit_ms, why);
}

int registry_watch(struct cli *cli, struct err_info *why)
{
    struct watching w = {.cli = cli};
    struct reg_options options;
    struct reg *registry = NULL;
    int64_t limit_ms;
    int err = read_bounds(&w, &limit_ms, why);

    if (!err)
        err = registry_options(cli, &options, why);
    if (err)
        return err;
    options.timeout_ms = 0;
    obj_init(&w.obj, WATCH_MAGIC);
    wait_open(&w.wait);
    err = reg_open(w.wait.loop, &options, &registry, why);
    if (!err)
        err = follow(&w, registry, limit_ms, why);
    reg_close(registry);
    wait_close(&w.wait);
    return err;
}
