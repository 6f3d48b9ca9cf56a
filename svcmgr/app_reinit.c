/**
 * Carries out EFF_REINIT and EFF_FETCH: a process is ended and another one started in its container; before, the files of
 * what is to be started are looked for.
 *
 * Between the end and the start the launch is kept here. A restart of svcmgr loses it: the engine emits the effect again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

/* ---- another process in the container ---- */

#define REINIT_MAGIC OBJ_MAGIC('A', 'K', 'E', 'P')
#define FETCH_MAGIC  OBJ_MAGIC('A', 'F', 'E', 'T')

/** A start that waits for the end of the process before. */
struct reinit {
    struct obj obj;
    struct eng_effect effect;
};

static void free_reinit(void *p)
{
    struct reinit *r = obj_cast(p, struct reinit, REINIT_MAGIC);

    eng_effect_fini(&r->effect);
    obj_fini(&r->obj);
    free(r);
}

void app_reinit_forget(struct app *a, const char *container_id)
{
    struct reinit *r = map_remove(&a->reinits, container_id);

    if (r)
        free_reinit(r);
}

void app_reinit_fini(struct app *a)
{
    map_fini(&a->reinits, free_reinit);
}

void app_reinit(struct app *a, struct eng_effect *e)
{
    const struct cluster_container *c = cluster_find(a->cluster, e->container_id);
    struct eng_event gone = {
        .kind = EV_LOST, .container_id = e->container_id, .text = "There is no such container."};

    app_reinit_forget(a, e->container_id);
    if (!c) {
        app_event(a, &gone);
        return;
    }
    if (!cluster_state_is_live(c->state) || c->attempt == e->launch->attempt) {
        app_launch(a, e);
        return;
    }
    if (cluster_reinits(a->cluster)) {
        app_launch(a, e);
        return;
    }
    struct reinit *r = mem_new(struct reinit);
    obj_init(&r->obj, REINIT_MAGIC);
    r->effect = *e;
    *e = (struct eng_effect){.kind = EFF_REINIT};
    map_set(&a->reinits, r->effect.container_id, r);
    cluster_stop(a->cluster, r->effect.container_id, opt_ms(daemon_options(a->daemon), OPT_GRACE));
}

bool app_reinit_exited(struct app *a, const char *container_id)
{
    struct reinit *r = map_remove(&a->reinits, container_id);

    if (!r)
        return false;
    app_launch(a, &r->effect);
    free_reinit(r);
    return true;
}

/* ---- files ---- */

/** A look for the files of an upgrade. */
struct fetch {
    struct obj obj;
    struct app *app;
    enum eng_kind service_kind;
    char *user, *name;
    char **paths;
    size_t n_paths;
};

static void free_fetch(struct fetch *f)
{
    for (size_t i = 0; i < f->n_paths; i++)
        free(f->paths[i]);
    free(f->paths);
    free(f->user);
    free(f->name);
    obj_fini(&f->obj);
    free(f);
}

static const char *first_absent(const struct fetch *f, const bool *absent)
{
    for (size_t i = 0; absent && i < f->n_paths; i++)
        if (absent[i])
            return f->paths[i];
    return NULL;
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct fetch *f = obj_cast(arg, struct fetch, FETCH_MAGIC);
    const char *path = first_absent(f, absent);
    mem_auto char *text = path ? mem_fmt("src_file %s: user %s sees no such file", path, f->user)
                               : mem_str(problem->code ? problem->text : NULL);
    struct eng_event ev = {.kind = EV_FETCHED,
                           .service_kind = f->service_kind,
                           .user = f->user,
                           .name = f->name,
                           .code = path ? ERR_NOTFOUND : problem->code,
                           .text = text};

    app_event(f->app, &ev);
    free_fetch(f);
}

void app_fetch(struct app *a, struct eng_effect *e)
{
    struct fetch *f = mem_new(struct fetch);
    const struct err_info none = {0};

    *f = (struct fetch){.app = a,
                        .service_kind = e->service_kind,
                        .user = e->user,
                        .name = e->name,
                        .paths = e->paths,
                        .n_paths = e->n_paths};
    obj_init(&f->obj, FETCH_MAGIC);
    *e = (struct eng_effect){.kind = EFF_FETCH};
    if (f->n_paths > 0)
        cluster_look(a->cluster, f->user, (const char *const *)f->paths, f->n_paths, on_looked, f);
    else
        on_looked(f, NULL, &none);
}
