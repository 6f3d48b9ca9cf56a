#include "cleanup/rm_poll_apps.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define HAS_MAGIC     OBJ_MAGIC('R', 'M', 'H', 'A')
#define LOOK_MAGIC    OBJ_MAGIC('R', 'M', 'L', 'K')
#define VERDICT_MAGIC OBJ_MAGIC('R', 'M', 'V', 'E')

/** Consistent polls in a row that must agree. */
#define POLLS_NEEDED 2
/** Polls after which a record that is still there is reported again. */
#define POLLS_AGAIN 64

struct rm_app {
    TAILQ_ENTRY(rm_app) link;
    char *id;
    bool in_batch;
    int n_over; /* consistent polls in a row that said it is over */
    enum rm_view view;
    char state[32];
    struct map ended; /* id of an attempt or container -> consistent polls in a row that said so */
    struct map seen;  /* the same, of this poll: set members only */
    struct map hosts; /* container with a record -> id of the node where it was seen alive, owned */
};
TAILQ_HEAD(rm_app_list, rm_app);

struct rm_apps {
    const struct index *index;
    struct map by_id;
    struct rm_app_list queue, batch;
    struct rm_app *next;     /* of the batch, not taken yet */
    struct index_app cursor; /* last application taken from the index; id NULL: none yet */
    char *cursor_id;         /* its id, owned */
    bool asks_again;         /* from the index's first one on, when its last one was taken */
};

/* ---- queue ---- */

static struct rm_app *app_new(struct rm_apps *apps, const char *id)
{
    struct rm_app *app = mem_new(struct rm_app);
    app->id = mem_str(id);
    map_set(&apps->by_id, id, app);
    return app;
}

static void app_free(struct rm_apps *apps, struct rm_app *app)
{
    TAILQ_REMOVE(app->in_batch ? &apps->batch : &apps->queue, app, link);
    map_remove(&apps->by_id, app->id);
    map_fini(&app->ended, NULL);
    map_fini(&app->seen, NULL);
    map_fini(&app->hosts, free);
    free(app->id);
    free(app);
}

struct rm_apps *rm_apps_new(const struct index *ix)
{
    struct rm_apps *apps = mem_new(struct rm_apps);
    apps->index = ix;
    TAILQ_INIT(&apps->queue);
    TAILQ_INIT(&apps->batch);
    return apps;
}

static void rewind_index(struct rm_apps *apps)
{
    mem_free_ptr(&apps->cursor_id);
    apps->cursor = (struct index_app){0};
    apps->asks_again = false;
}

static void forget_all(struct rm_apps *apps)
{
    while (!TAILQ_EMPTY(&apps->queue))
        app_free(apps, TAILQ_FIRST(&apps->queue));
    while (!TAILQ_EMPTY(&apps->batch))
        app_free(apps, TAILQ_FIRST(&apps->batch));
    apps->next = NULL;
    rewind_index(apps);
}

void rm_apps_free(struct rm_apps *apps)
{
    if (!apps)
        return;
    forget_all(apps);
    map_fini(&apps->by_id, NULL);
    free(apps);
}

void rm_apps_restart(struct rm_apps *apps)
{
    rm_apps_discard(apps);
    rewind_index(apps);
}

void rm_apps_ask_all(struct rm_apps *apps)
{
    apps->asks_again = apps->cursor_id != NULL;
}

void rm_apps_expedite(struct rm_apps *apps, const char *id)
{
    struct rm_app *app = map_get(&apps->by_id, id);
    if (!index_has_app(apps->index, id) || (app && app->in_batch))
        return;
    if (app)
        TAILQ_REMOVE(&apps->queue, app, link);
    else
        app = app_new(apps, id);
    TAILQ_INSERT_HEAD(&apps->queue, app, link);
}

static bool index_after_cursor(const struct rm_apps *apps, struct index_app *out)
{
    return index_app_after(apps->index, apps->cursor_id ? &apps->cursor : NULL, out);
}

/* The next application of the index that was not looked at yet. */
static bool index_take(struct rm_apps *apps)
{
    struct index_app found;
    bool is_there = index_after_cursor(apps, &found);
    if (!is_there && apps->asks_again) {
        rewind_index(apps);
        is_there = index_after_cursor(apps, &found);
    }
    if (!is_there)
        return false;
    free(apps->cursor_id);
    apps->cursor_id = mem_str(found.id);
    apps->cursor = (struct index_app){apps->cursor_id, found.serial};
    if (map_get(&apps->by_id, found.id))
        return true;
    struct rm_app *app = app_new(apps, found.id);
    TAILQ_INSERT_TAIL(&apps->queue, app, link);
    return true;
}

size_t rm_apps_begin(struct rm_apps *apps, size_t max)
{
    size_t n = 0;
    /* At most half of a poll goes to what is new, so what is being watched is not starved, nor the other way round. */
    for (size_t i = 0; i < max / 2 + 1 && index_take(apps);)
        i++;
    while (n < max && !TAILQ_EMPTY(&apps->queue)) {
        struct rm_app *app = TAILQ_FIRST(&apps->queue);
        TAILQ_REMOVE(&apps->queue, app, link);
        TAILQ_INSERT_TAIL(&apps->batch, app, link);
        app->in_batch = true;
        app->view = RM_VIEW_NONE;
        map_fini(&app->seen, NULL);
        n++;
    }
    apps->next = TAILQ_FIRST(&apps->batch);
    return n;
}

struct rm_app *rm_apps_take(struct rm_apps *apps)
{
    struct rm_app *app = apps->next;
    if (app)
        apps->next = TAILQ_NEXT(app, link);
    return app;
}

size_t rm_apps_n_watched(const struct rm_apps *apps)
{
    return apps->by_id.n_items;
}

/* ---- what was seen ---- */

const char *rm_app_id(const struct rm_app *app)
{
    return app->id;
}

void rm_app_saw(struct rm_app *app, enum rm_view view, const char *state)
{
    app->view = view;
    snprintf(app->state, sizeof app->state, "%s", state);
}

/* For each record of the application whose id and persistence agree. */
static void each_record(const struct rm_apps *apps, const struct rm_app *app,
                        void (*fn)(void *arg, enum index_persistence persistence, const char *id), void *arg)
{
    struct index_query query = {.terms = {[INDEX_APP] = app->id}};
    const struct mirror_node *node;
    uint64_t after = 0;
    size_t n_visits = SIZE_MAX;
    while ((node = index_next(apps->index, &query, &after, &n_visits))) {
        const char *id = index_id(node);
        if (index_persistence_of_id(id) == index_persistence(node))
            fn(arg, index_persistence(node), id);
    }
}

struct has {
    struct obj obj;
    enum index_persistence wanted;
    bool found;
};

static void note_has(void *arg, enum index_persistence persistence, const char *id)
{
    struct has *h = obj_cast(arg, struct has, HAS_MAGIC);
    (void)id;
    h->found = h->found || persistence == h->wanted;
}

bool rm_app_has(const struct rm_apps *apps, const struct rm_app *app, enum index_persistence persistence)
{
    struct has h = {{HAS_MAGIC}, persistence, false};
    each_record(apps, app, note_has, &h);
    return h.found;
}

struct look {
    struct obj obj;
    struct rm_app *app;
    const struct rm_attempts *attempts;
    const struct map *live;
    const struct rm_nodes *nodes;
    struct map hosts; /* as of struct rm_app, from now on */
    bool is_wanted;   /* the list of living containers */
};

static void note_attempt(void *arg, enum index_persistence persistence, const char *id)
{
    struct look *l = obj_cast(arg, struct look, LOOK_MAGIC);
    if (persistence != INDEX_ATTEMPT || l->attempts->n_items == 0)
        return;
    bool is_ended = index_attempt_number(id) < l->attempts->items[0].number;
    for (size_t i = 0; i < l->attempts->n_items; i++)
        if (strcmp(l->attempts->items[i].id, id) == 0)
            is_ended = l->attempts->items[i].is_ended;
    if (is_ended)
        map_set(&l->app->seen, id, l->app);
}

void rm_app_saw_attempts(struct rm_apps *apps, struct rm_app *app, const struct rm_attempts *attempts)
{
    struct look l = {.obj = {LOOK_MAGIC}, .app = app, .attempts = attempts};
    each_record(apps, app, note_attempt, &l);
}

static void note_wanted(void *arg, enum index_persistence persistence, const char *id)
{
    struct look *l = obj_cast(arg, struct look, LOOK_MAGIC);
    if (persistence != INDEX_CONTAINER || l->is_wanted)
        return;
    const char *host = map_get(&l->app->hosts, id);
    bool shows_host = !host && rm_nodes_show_containers(l->nodes);
    l->is_wanted = shows_host || rm_nodes_may_miss(l->nodes, host);
}

bool rm_app_wants_containers(const struct rm_apps *apps, const struct rm_app *app,
                             const struct rm_nodes *nodes)
{
    struct look l = {.obj = {LOOK_MAGIC}, .app = (struct rm_app *)app, .nodes = nodes};
    each_record(apps, app, note_wanted, &l);
    return l.is_wanted;
}

static void note_container(void *arg, enum index_persistence persistence, const char *id)
{
    struct look *l = obj_cast(arg, struct look, LOOK_MAGIC);
    if (persistence != INDEX_CONTAINER)
        return;
    const char *now = map_get(l->live, id), *before = map_get(&l->app->hosts, id);
    const char *host = now && *now ? now : before;
    if (!now && rm_nodes_may_miss(l->nodes, host))
        map_set(&l->app->seen, id, l->app);
    if (host)
        free(map_set(&l->hosts, id, mem_str(host)));
}

void rm_app_saw_containers(struct rm_apps *apps, struct rm_app *app, const struct map *live,
                           const struct rm_nodes *nodes)
{
    struct look l = {.obj = {LOOK_MAGIC}, .app = app, .live = live, .nodes = nodes, .hosts = MAP_EMPTY};
    each_record(apps, app, note_container, &l);
    map_fini(&app->hosts, free);
    app->hosts = l.hosts;
}

/* ---- the end of a poll ---- */

struct verdict {
    struct obj obj;
    RM_APPS_ENDED;
    void *arg;
    struct map ids; /* id -> kind + 1 */
    enum index_persistence wanted;
    const char *reason;
};

static enum cleanup_kind kind_of(enum index_persistence persistence)
{
    return persistence == INDEX_APPLICATION ? CLEANUP_APP_COMPLETED
           : persistence == INDEX_ATTEMPT   ? CLEANUP_ATTEMPT_ENDED
                                            : CLEANUP_CONTAINER_ENDED;
}

static void note_id(void *arg, enum index_persistence persistence, const char *id)
{
    struct verdict *v = obj_cast(arg, struct verdict, VERDICT_MAGIC);
    if (persistence == v->wanted)
        map_set(&v->ids, id, v);
}

/* The application is over, so its attempts and containers are. */
static void report_app(struct rm_apps *apps, struct rm_app *app, struct verdict *v)
{
    mem_auto char *reason = app->view == RM_VIEW_ENDED ? mem_fmt("the RM says %s is %s", app->id, app->state)
                                                       : mem_fmt("the RM does not know %s any more", app->id);
    for (int p = INDEX_APPLICATION; p <= INDEX_CONTAINER; p++) {
        v->wanted = (enum index_persistence)p;
        each_record(apps, app, note_id, v);
        for (MAP_EACH (&v->ids, it))
            v->ended(v->arg, kind_of(v->wanted), it->key, reason);
        map_fini(&v->ids, NULL);
    }
}

/* Count on for what this poll has seen; what it has not seen begins anew. */
static void count_ended(struct rm_app *app)
{
    struct map counted = MAP_EMPTY;
    for (MAP_EACH (&app->seen, it)) {
        uintptr_t before = (uintptr_t)map_get(&app->ended, it->key);
        map_set(&counted, it->key, (void *)(before + 1));
    }
    map_fini(&app->ended, NULL);
    map_fini(&app->seen, NULL);
    app->ended = counted;
}

static void report_ended(struct rm_app *app, struct verdict *v)
{
    for (MAP_EACH (&app->ended, it)) {
        uintptr_t n = (uintptr_t)it->value;
        if (n != POLLS_NEEDED && n % POLLS_AGAIN != 0)
            continue;
        bool is_attempt = index_persistence_of_id(it->key) == INDEX_ATTEMPT;
        mem_auto char *reason = mem_fmt(is_attempt ? "the RM says attempt %s has ended"
                                                   : "the RM does not list %s among the living",
                                        it->key);
        v->ended(v->arg, is_attempt ? CLEANUP_ATTEMPT_ENDED : CLEANUP_CONTAINER_ENDED, it->key, reason);
    }
}

static void back_to_queue(struct rm_apps *apps, struct rm_app *app)
{
    TAILQ_REMOVE(&apps->batch, app, link);
    TAILQ_INSERT_TAIL(&apps->queue, app, link);
    app->in_batch = false;
}

static void app_commit(struct rm_apps *apps, struct rm_app *app, struct verdict *v)
{
    bool is_over = app->view == RM_VIEW_ENDED || app->view == RM_VIEW_UNKNOWN;
    app->n_over = is_over ? app->n_over + 1 : 0;
    count_ended(app);
    if (is_over && app->n_over >= POLLS_NEEDED) {
        report_app(apps, app, v);
        app_free(apps, app);
        return;
    }
    report_ended(app, v);
    bool has_parts = rm_app_has(apps, app, INDEX_ATTEMPT) || rm_app_has(apps, app, INDEX_CONTAINER);
    bool is_done = app->view == RM_VIEW_FOREIGN || (app->view == RM_VIEW_ALIVE && !has_parts) ||
                   !index_has_app(apps->index, app->id);
    if (is_done)
        app_free(apps, app);
    else
        back_to_queue(apps, app);
}

void rm_apps_commit(struct rm_apps *apps, RM_APPS_ENDED, void *arg)
{
    struct verdict v = {.obj = {VERDICT_MAGIC}, .ended = ended, .arg = arg, .ids = MAP_EMPTY};
    while (!TAILQ_EMPTY(&apps->batch))
        app_commit(apps, TAILQ_FIRST(&apps->batch), &v);
    apps->next = NULL;
}

void rm_apps_discard(struct rm_apps *apps)
{
    struct rm_app *app;
    while (!TAILQ_EMPTY(&apps->batch))
        back_to_queue(apps, TAILQ_FIRST(&apps->batch));
    TAILQ_FOREACH (app, &apps->queue, link) {
        app->n_over = 0;
        map_fini(&app->ended, NULL);
        map_fini(&app->seen, NULL);
    }
    apps->next = NULL;
}
