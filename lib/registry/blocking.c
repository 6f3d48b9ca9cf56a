/**
 * The blocking form: a loop of its own, run until the one operation is over. See registry.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "registry/client_priv.h"
#include "run/loop.h"

#define BLOCKING_MAGIC OBJ_MAGIC('B', 'L', 'C', 'K')

struct reg_blocking {
    struct obj obj;
    struct run_loop *loop;
    struct reg *reg;
    /* of the operation that runs: copies of what its completion got */
    int err;
    struct err_info why;
    bool changed;
    char revision[REG_REVISION_MAX];
    struct reg_record *record;
    struct reg_status status;
    char **names;
    struct reg_found *found;
    size_t n_found;
    int64_t n_purged, ttl_ms;
    /* of the watch that runs */
    struct reg_watch *watch; /* NULL: none, or reg_blocking_stop has ended it */
    bool is_following;
    struct err_info refused; /* code != 0: why the registry does not let it follow */
};

/* ---- loops ---- */

struct run_loop *reg_loop_new(void)
{
    return run_loop_new();
}

void reg_loop_run(struct run_loop *loop)
{
    run_loop_run(loop);
}

void reg_loop_stop(struct run_loop *loop)
{
    run_loop_stop(loop);
}

void reg_loop_free(struct run_loop *loop)
{
    run_loop_free(loop);
}

struct uv_loop_s *reg_loop_uv(struct run_loop *loop)
{
    return run_loop_uv(loop);
}

/* ---- one operation ---- */

static void on_done(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct reg_blocking *b = obj_cast(arg, struct reg_blocking, BLOCKING_MAGIC);

    b->err = err;
    b->why = *why;
    b->changed = r->changed;
    memcpy(b->revision, r->revision, sizeof b->revision);
    b->record = !err && r->record ? reg_record_copy(r->record) : NULL;
    b->status = r->status;
    b->status.path = mem_str(r->status.path);
    b->names = mem_array(r->n_list + 1, sizeof(char *));
    for (size_t i = 0; i < r->n_list; i++)
        b->names[i] = mem_str(r->list[i].path);
    b->n_found = r->n_found;
    b->n_purged = r->n_purged;
    b->ttl_ms = r->ttl_ms;
    b->found = mem_array(r->n_found + 1, sizeof *b->found);
    for (size_t i = 0; i < r->n_found; i++) {
        const struct reg_found *f = &r->found[i];
        b->found[i] = *f;
        b->found[i].path = mem_str(f->path);
        b->found[i].record = f->record ? reg_record_copy(f->record) : NULL;
        b->found[i].status.path = mem_str(f->status.path);
    }
    run_loop_stop(b->loop);
}

/** Run until on_done; the caller takes what it wants of record, status.path, names and found (set to NULL) first. */
static void await(struct reg_blocking *b)
{
    run_loop_run(b->loop);
}

static int finish(struct reg_blocking *b, char *revision, struct err_info *why)
{
    if (revision && !b->err)
        memcpy(revision, b->revision, sizeof b->revision);
    if (b->err && why)
        *why = b->why;
    reg_record_free(b->record);
    free(b->status.path);
    reg_path_split_free(b->names);
    reg_found_free(b->found, b->found ? b->n_found : 0);
    b->found = NULL;
    b->record = NULL;
    b->status.path = NULL;
    b->names = NULL;
    return b->err;
}

/** Whether an operation can begin: the loop runs one at a time. */
static bool is_free(const struct reg_blocking *b)
{
    return b && !b->is_following;
}

static int refuse(const struct reg_blocking *b, struct err_info *why)
{
    if (b)
        return err_set(why, ERR_WRONGSTATE, NULL,
                       "the registry is following: only reg_blocking_stop may be called");
    return err_set(why, ERR_WRONGSTATE, NULL, "the registry is not open");
}

/* ---- operations ---- */

int reg_blocking_open(const struct reg_options *options, struct reg_blocking **out, struct err_info *why)
{
    struct reg_blocking *b = mem_new(struct reg_blocking);
    int err;

    obj_init(&b->obj, BLOCKING_MAGIC);
    b->loop = run_loop_new();
    err = reg_open(b->loop, options, &b->reg, why);
    if (err) {
        run_loop_free(b->loop);
        free(b);
        return err;
    }
    *out = b;
    return 0;
}

void reg_blocking_close(struct reg_blocking *b)
{
    if (!b)
        return;
    reg_close(b->reg);
    run_loop_free(b->loop);
    obj_fini(&b->obj);
    free(b);
}

int reg_blocking_mknode(struct reg_blocking *b, const char *path, bool create_parents, bool *made,
                        struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_mknode(b->reg, path, create_parents, on_done, b);
    await(b);
    if (made && !b->err)
        *made = b->changed;
    return finish(b, NULL, why);
}

int reg_blocking_bind(struct reg_blocking *b, const char *path, const struct reg_record *record,
                      unsigned flags, char *revision, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_bind(b->reg, path, record, flags, on_done, b);
    await(b);
    return finish(b, revision, why);
}

int reg_blocking_bind_leased(struct reg_blocking *b, const char *path, const struct reg_record *record,
                             unsigned flags, int64_t ttl_ms, char *revision, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_bind_leased(b->reg, path, record, flags, ttl_ms, on_done, b);
    await(b);
    return finish(b, revision, why);
}

/** The paths of what was found. free with reg_path_split_free */
static char **found_paths(const struct reg_blocking *b)
{
    char **paths = mem_array(b->n_found + 1, sizeof(char *));

    for (size_t i = 0; i < b->n_found; i++)
        paths[i] = mem_str(b->found[i].path);
    return paths;
}

int reg_blocking_keep_alive(struct reg_blocking *b, char ***gone, int64_t *ttl_ms, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_keep_alive(b->reg, on_done, b);
    await(b);
    if (gone && !b->err)
        *gone = found_paths(b);
    if (ttl_ms && !b->err)
        *ttl_ms = b->ttl_ms;
    return finish(b, NULL, why);
}

const char *reg_blocking_lease(const struct reg_blocking *b)
{
    return b ? reg_lease(b->reg) : NULL;
}

int reg_blocking_add_write_accessor(struct reg_blocking *b, const char *id, const char *password,
                                    bool *secure, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_add_write_accessor(b->reg, id, password, on_done, b);
    await(b);
    if (secure && !b->err)
        *secure = b->changed;
    return finish(b, NULL, why);
}

void reg_blocking_clear_write_accessors(struct reg_blocking *b)
{
    if (!b)
        return;
    reg_clear_write_accessors(b->reg);
}

static int finish_record(struct reg_blocking *b, struct reg_record **out, struct err_info *why)
{
    if (!b->err) {
        *out = b->record;
        b->record = NULL;
    }
    return finish(b, NULL, why);
}

int reg_blocking_resolve(struct reg_blocking *b, const char *path, struct reg_record **out,
                         struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_resolve(b->reg, path, on_done, b);
    await(b);
    return finish_record(b, out, why);
}

int reg_blocking_locate(struct reg_blocking *b, const struct reg_locate *what, struct reg_record **out,
                        struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_locate(b->reg, what, on_done, b);
    await(b);
    return finish_record(b, out, why);
}

int reg_blocking_stat(struct reg_blocking *b, const char *path, struct reg_status *out, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_stat(b->reg, path, on_done, b);
    await(b);
    if (!b->err) {
        *out = b->status;
        b->status.path = NULL;
    }
    return finish(b, NULL, why);
}

int reg_blocking_exists(struct reg_blocking *b, const char *path, bool *out, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_exists(b->reg, path, on_done, b);
    await(b);
    if (!b->err)
        *out = b->changed;
    return finish(b, NULL, why);
}

int reg_blocking_list(struct reg_blocking *b, const char *path, char ***names, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_list(b->reg, path, on_done, b);
    await(b);
    if (!b->err) {
        *names = b->names;
        b->names = NULL;
    }
    return finish(b, NULL, why);
}

int reg_blocking_delete(struct reg_blocking *b, const char *path, unsigned flags, char *revision,
                        struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_delete(b->reg, path, flags, on_done, b);
    await(b);
    return finish(b, revision, why);
}

/* ---- on many nodes ---- */

static int finish_found(struct reg_blocking *b, struct reg_found **found, size_t *n, struct err_info *why)
{
    if (!b->err) {
        *found = b->found;
        *n = b->n_found;
        b->found = NULL;
    }
    return finish(b, NULL, why);
}

int reg_blocking_find(struct reg_blocking *b, const struct reg_find *what, struct reg_found **found,
                      size_t *n, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_find(b->reg, what, on_done, b);
    await(b);
    return finish_found(b, found, n, why);
}

int reg_blocking_list_records(struct reg_blocking *b, const char *path, struct reg_found **found, size_t *n,
                              struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_list_records(b->reg, path, on_done, b);
    await(b);
    return finish_found(b, found, n, why);
}

int reg_blocking_purge(struct reg_blocking *b, const struct reg_purge *what, struct reg_found **found,
                       size_t *n, struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_purge(b->reg, what, on_done, b);
    await(b);
    return finish_found(b, found, n, why);
}

int reg_blocking_user_home(struct reg_blocking *b, const char *user, char ***homes, bool *made,
                           struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_user_home(b->reg, user, on_done, b);
    await(b);
    if (!b->err)
        *homes = found_paths(b);
    if (made && !b->err)
        *made = b->changed;
    return finish(b, NULL, why);
}

int reg_blocking_report(struct reg_blocking *b, const struct reg_event *events, size_t n, int64_t *n_purged,
                        struct err_info *why)
{
    if (!is_free(b))
        return refuse(b, why);
    reg_report(b->reg, events, n, on_done, b);
    await(b);
    if (n_purged && !b->err)
        *n_purged = b->n_purged;
    return finish(b, NULL, why);
}

/* ---- following ---- */

static void on_time_over(void *arg)
{
    run_loop_stop(obj_cast(arg, struct reg_blocking, BLOCKING_MAGIC)->loop);
}

static bool on_refused(void *arg, const struct err_info *why)
{
    struct reg_blocking *b = obj_cast(arg, struct reg_blocking, BLOCKING_MAGIC);

    b->refused = *why;
    run_loop_stop(b->loop);
    return true;
}

/** Why a watch ended that was not stopped: refused, or its time is over. */
static int watch_end(const struct reg_blocking *b, const struct reg_follow *what, struct err_info *why)
{
    const struct err_info *lost = watch_lost(b->watch);

    if (b->refused.code)
        return err_set(why, b->refused.code, b->refused.where, "%s", b->refused.text);
    if (lost)
        return err_set(why, ERR_UNAVAILABLE, lost->where, "%s", lost->text);
    return err_set(why, ERR_TIMEOUT, what->path, "followed for %" PRId64 " ms", what->for_ms);
}

/** How a watch ended: stopped, or for another reason. */
static int watch_result(struct reg_blocking *b, const struct reg_follow *what, struct err_info *why)
{
    if (!b->watch)
        return 0;
    int err = watch_end(b, what, why);
    reg_watch_stop(b->watch);
    b->watch = NULL;
    return err;
}

static void follow(struct reg_blocking *b, const struct reg_follow *what)
{
    struct run_timer *timer = run_timer_new(b->loop, on_time_over, b);

    if (what->for_ms > 0)
        run_timer_start(timer, (uint64_t)what->for_ms, 0);
    b->is_following = true;
    run_loop_run(b->loop);
    b->is_following = false;
    run_timer_free(timer);
}

int reg_blocking_watch(struct reg_blocking *b, const struct reg_follow *what, const struct reg_watch_ops *ops,
                       void *arg, struct err_info *why)
{
    mem_auto char *path = NULL;
    char store[REG_REVISION_MAX];
    int64_t n;
    int err;

    if (!is_free(b))
        return refuse(b, why);
    err = reg_path_normal(what->path, &path, why);
    if (err)
        return err;
    if (what->since && reg_revision_read(what->since, store, &n))
        return err_set(why, ERR_INVALID, what->since, "is no revision (<store>.<number>)");
    b->refused = (struct err_info){0};
    b->watch = reg_watch_start(b->reg, path, what->since, ops, arg);
    watch_on_refusal(b->watch, on_refused, b);
    follow(b, what);
    return watch_result(b, what, why);
}

void reg_blocking_stop(struct reg_blocking *b)
{
    if (!b || !b->watch)
        return;
    reg_watch_stop(b->watch);
    b->watch = NULL;
    run_loop_stop(b->loop);
}
