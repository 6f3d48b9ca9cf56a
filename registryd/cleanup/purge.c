#include "cleanup/purge.h"
#include "access/access.h"
#include "registryd/events.h"
#include "store/mirror/walk.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

#define PURGE_MAGIC OBJ_MAGIC('P', 'U', 'R', 'G')

/** How often a match may change while it is being purged. */
#define ROUNDS_MAX 5

struct purger {
    struct run_loop *loop;
    struct index *index;
    struct reg_store *ops;
    struct metrics *metrics;
    size_t n_running;
    bool is_stopped, is_released;
};

struct purge {
    struct obj obj;
    struct purger *purger;
    char *path, *id, *reason;
    enum index_persistence persistence;
    char *persistence_text;
    enum purge_policy policy;
    bool dry_run;
    PURGE_DONE;
    void *arg;
    int err; /* decided before the start */

    char **matches; /* in path order */
    size_t n_matches, at;
    int n_rounds;   /* with the match at hand */
    char **deleted; /* paths */
    struct purge_result result;
};

/* ---- policies ---- */

static const char *const policy_texts[] = {
    [PURGE_ALL] = "PurgeAll", [PURGE_FAIL] = "FailOnChildren", [PURGE_SKIP] = "SkipOnChildren"};

const char *purge_policy_text(enum purge_policy policy)
{
    return policy_texts[policy];
}

int purge_policy_read(const char *text, enum purge_policy *out, struct err_info *why)
{
    for (size_t i = 0; i < ARRAY_LEN(policy_texts); i++) {
        if (strcmp(text, policy_texts[i]) == 0) {
            *out = (enum purge_policy)i;
            return 0;
        }
    }
    return err_set(why, ERR_INVALID, "/policy", "\"%s\" is none of PurgeAll, FailOnChildren, SkipOnChildren",
                   text);
}

/* ---- the purger ---- */

struct purger *purger_new(struct run_loop *loop, struct index *ix, struct reg_store *ops, struct metrics *m)
{
    struct purger *p = mem_new(struct purger);
    p->loop = loop;
    p->index = ix;
    p->ops = ops;
    p->metrics = m;
    return p;
}

void purger_stop(struct purger *p)
{
    p->is_stopped = true;
}

static void purger_let_go(struct purger *p)
{
    if (p->is_released && p->n_running == 0)
        free(p);
}

void purger_free(struct purger *p)
{
    if (!p)
        return;
    p->is_released = true;
    purger_let_go(p);
}

/* ---- one purge ---- */

static void step(struct purge *g);

static void finish(struct purge *g, int err)
{
    struct purger *p = g->purger;
    metric_add(p->metrics, M_PURGED, g->dry_run ? 0 : g->result.n_deletes);
    metric_add(p->metrics, M_PURGE_EXAMINED, g->result.n_examined);
    g->result.paths = (const char *const *)g->deleted;
    if (!err)
        g->result.why = (struct err_info){0};
    g->done(g->arg, err, &g->result);
    for (size_t i = 0; i < g->n_matches; i++)
        free(g->matches[i]);
    for (int64_t i = 0; i < g->result.n_deletes; i++)
        free(g->deleted[i]);
    free(g->matches);
    free(g->deleted);
    free(g->path);
    free(g->id);
    free(g->persistence_text);
    free(g->reason);
    obj_fini(&g->obj);
    free(g);
    p->n_running--;
    purger_let_go(p);
}

static void finish_why(struct purge *g, int err, const struct err_info *why)
{
    g->result.why = *why;
    finish(g, err);
}

/* The store has refused or failed at the match of the turn. */
static void finish_at_match(struct purge *g, int err, const struct err_info *why)
{
    struct err_info whose = *why;
    if (err == ERR_PERMISSION)
        access_refused_by_store(g->matches[g->at], NULL, &whose);
    finish_why(g, err, &whose);
}

static void next_match(struct purge *g)
{
    g->at++;
    g->n_rounds = 0;
    step(g);
}

/* Count a delete, and pass over the matches that went with it. */
static void deleted(struct purge *g, int64_t zxid)
{
    struct purge_result *r = &g->result;
    const char *path = g->matches[g->at];
    log_emit(&ev_purged, LOG_STR("path", path), LOG_STR("id", g->id),
             LOG_STR("persistence", g->persistence_text), LOG_STR("policy", purge_policy_text(g->policy)),
             LOG_STR("dry_run", g->dry_run ? "true" : "false"), LOG_STR("reason", g->reason));
    g->deleted = mem_resize(g->deleted, (size_t)r->n_deletes + 1, sizeof *g->deleted);
    g->deleted[r->n_deletes++] = mem_str(path);
    r->zxid = zxid > r->zxid ? zxid : r->zxid;
    while (g->at + 1 < g->n_matches && walk_covers(path, g->matches[g->at + 1]))
        g->at++;
    next_match(g);
}

static void on_deleted(void *arg, int err, const struct reg_store_result *r)
{
    struct purge *g = obj_cast(arg, struct purge, PURGE_MAGIC);
    bool is_lost = err == ERR_CONFLICT || (err == ERR_NOTEMPTY && g->policy != PURGE_ALL);
    if (is_lost && g->n_rounds++ < ROUNDS_MAX)
        step(g);
    else if (err)
        finish_at_match(g, err, &r->why);
    else if (r->changed)
        deleted(g, r->zxid);
    else
        next_match(g);
}

static bool is_match(const struct purge *g, const struct reg_record *record)
{
    const char *id = reg_record_get(record, "yarn:id");
    const char *persistence = reg_record_get(record, "yarn:persistence");
    if (!id || !persistence || strcmp(id, g->id) != 0)
        return false;
    return strcmp(persistence, g->persistence_text) == 0 ||
           (g->persistence == INDEX_ATTEMPT && index_persistence_read(persistence) == INDEX_ATTEMPT);
}

static void delete_match(struct purge *g, const struct store_stat *stat)
{
    struct reg_store_cond cond = {REG_IF_MZXID, stat->mzxid};
    if (g->dry_run)
        deleted(g, 0);
    else /* a child that came since the read must not go with it unless all may */
        reg_store_delete(g->purger->ops, g->matches[g->at], g->policy == PURGE_ALL, &cond, on_deleted, g);
}

static void on_resolved(void *arg, int err, const struct reg_store_result *r)
{
    struct purge *g = obj_cast(arg, struct purge, PURGE_MAGIC);
    if (g->purger->is_stopped) {
        finish(g, ERR_CANCELLED);
        return;
    }
    if (err && err != ERR_NOTFOUND && err != ERR_NORECORD && err != ERR_RECORD) {
        finish_at_match(g, err, &r->why);
        return;
    }
    bool matches = !err && is_match(g, r->record);
    if (matches && r->stat.n_children && g->policy == PURGE_FAIL) {
        err_set(&g->result.why, ERR_NOTEMPTY, g->matches[g->at], "the record to be purged has children");
        finish(g, ERR_NOTEMPTY);
        return;
    }
    if (matches && !(r->stat.n_children && g->policy == PURGE_SKIP))
        delete_match(g, &r->stat);
    else
        next_match(g);
}

static void step(struct purge *g)
{
    if (g->purger->is_stopped) {
        finish(g, ERR_CANCELLED);
        return;
    }
    if (g->at == g->n_matches) {
        finish(g, 0);
        return;
    }
    g->result.n_examined++;
    reg_store_resolve(g->purger->ops, g->matches[g->at], on_resolved, g);
}

/* Depth first, parents before children: '/' comes before every other byte. */
static int path_order(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    for (; *x && *x == *y; x++)
        y++;
    int left = *x == '/' ? 1 : (unsigned char)*x + (*x ? 1 : 0);
    int right = *y == '/' ? 1 : (unsigned char)*y + (*y ? 1 : 0);
    return left - right;
}

static void find_matches(struct purge *g)
{
    struct index_query query = {.terms = {[INDEX_ID] = g->id}};
    uint64_t after = 0;
    size_t n_visits = SIZE_MAX, cap = 0;
    const struct mirror_node *node;
    while ((node = index_next(g->purger->index, &query, &after, &n_visits))) {
        buf_auto struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        if (!walk_covers(g->path, buf_cstr(&path)))
            continue;
        if (g->n_matches == cap) {
            cap = cap * 2 + 4;
            g->matches = mem_resize(g->matches, cap, sizeof *g->matches);
        }
        g->matches[g->n_matches++] = buf_take(&path);
    }
    if (g->n_matches)
        qsort(g->matches, g->n_matches, sizeof *g->matches, path_order);
}

static void begin(void *arg)
{
    struct purge *g = obj_cast(arg, struct purge, PURGE_MAGIC);
    if (g->err) {
        finish(g, g->err);
        return;
    }
    if (!g->purger->is_stopped && !index_ready(g->purger->index)) {
        err_set(&g->result.why, ERR_UNAVAILABLE, "",
                "the index of records is being built; try again in a moment");
        finish(g, ERR_UNAVAILABLE);
        return;
    }
    if (!g->purger->is_stopped)
        find_matches(g);
    step(g);
}

static int check(struct purge *g, const struct purge_def *def, struct err_info *why)
{
    if (!*g->id)
        return err_set(why, ERR_INVALID, "/id", "a purge needs the yarn:id it is about");
    if (!*g->persistence_text)
        return err_set(why, ERR_INVALID, "/persistence", "a purge needs the yarn:persistence it is about");
    return reg_path_normal(def->path ? def->path : "/", &g->path, why);
}

void purge(struct purger *p, const struct purge_def *def, PURGE_DONE, void *arg)
{
    struct purge *g = mem_new(struct purge);
    obj_init(&g->obj, PURGE_MAGIC);
    g->purger = p;
    p->n_running++;
    g->id = mem_str(def->id ? def->id : "");
    g->persistence_text = mem_str(def->persistence ? def->persistence : "");
    g->persistence = index_persistence_read(g->persistence_text);
    g->policy = def->policy;
    g->dry_run = def->dry_run;
    g->reason = mem_str(def->reason);
    g->done = done;
    g->arg = arg;
    g->err = check(g, def, &g->result.why);
    run_post(p->loop, begin, g);
}
