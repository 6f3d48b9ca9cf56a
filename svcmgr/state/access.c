/* Whose the nodes of the state are in ZooKeeper: see state.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bobbin/registry.h"
#include "state/clock.h"
#include "state/state_priv.h"

#define DIGEST "digest"
/** Everything but to change who may do what. */
#define RUNS_IT (STORE_ALL & ~STORE_ADMIN)

#define GRANT_MAGIC     OBJ_MAGIC('G', 'R', 'N', 'T')
#define ADMISSION_MAGIC OBJ_MAGIC('A', 'D', 'M', 'I')

/** ACL of the nodes of one service, or of all others. */
struct grant {
    struct obj obj;
    char *digests[2];
    struct store_acl_entry entries[2];
    struct store_acl acl;
};

/** @param runner  NULL: nobody else [borrowed]  @param perms  what the runner may */
static struct grant *grant_new(const char *manager, const char *runner, uint32_t perms)
{
    struct grant *g = mem_new(struct grant);

    obj_init(&g->obj, GRANT_MAGIC);
    g->digests[0] = mem_str(manager);
    g->digests[1] = mem_str(runner);
    g->entries[0] = (struct store_acl_entry){STORE_ALL, DIGEST, g->digests[0]};
    g->entries[1] = (struct store_acl_entry){perms, DIGEST, g->digests[1]};
    g->acl = (struct store_acl){g->entries, runner ? 2 : 1};
    return g;
}

/** Of the clock: anyone may read it, however many run a service. It says nothing of services. */
static struct grant *clock_grant_new(const char *manager)
{
    struct grant *g = grant_new(manager, "anyone", STORE_READ);

    g->entries[1].scheme = "world";
    return g;
}

static void grant_free(void *p)
{
    struct grant *g = obj_cast(p, struct grant, GRANT_MAGIC);

    free(g->digests[0]);
    free(g->digests[1]);
    obj_fini(&g->obj);
    free(g);
}

int state_access_init(struct state *s, const char *account, const char *manager, struct err_info *why)
{
    mem_auto char *digest = NULL;
    int err = account ? reg_digest_id(account, &digest, why) : 0;

    if (err || !digest)
        return err;
    if (!manager)
        s->clock_grant = clock_grant_new(digest);
    s->own = manager ? grant_new(manager, digest, RUNS_IT) : grant_new(digest, NULL, 0);
    return 0;
}

void state_access_fini(struct state *s)
{
    if (s->own)
        grant_free(s->own);
    if (s->clock_grant)
        grant_free(s->clock_grant);
    map_fini(&s->grants, grant_free);
}

const struct store_acl *state_acl(const struct state *s, const char *path)
{
    size_t len = state_service_part(path);
    const struct grant *g = len ? map_getn(&s->grants, path, len) : NULL;

    if (s->clock_grant && strcmp(path, "/" CLOCK_KEY) == 0)
        return &s->clock_grant->acl;
    g = g ? g : s->own;
    return g ? &g->acl : NULL;
}

/* ---- admitting who runs a service ---- */

struct admission {
    struct obj obj;
    struct state *state;
    size_t n_left;
    int err;
    struct err_info why;
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};

static void ended(struct admission *a)
{
    if (--a->n_left)
        return;
    a->state->is_busy = false;
    a->done(a->arg, a->err, &a->why);
    obj_fini(&a->obj);
    free(a);
}

static void on_set(void *arg, int err, const struct store_result *r)
{
    struct admission *a = obj_cast(arg, struct admission, ADMISSION_MAGIC);

    if (err && err != ERR_NOTFOUND && !a->err) {
        a->err = err;
        a->why = r->why;
    }
    ended(a);
}

static void set_acl(struct admission *a, const char *path, const struct store_acl *acl)
{
    a->n_left++;
    store_set_acl(a->state->store, path, acl, on_set, a);
}

void state_admit(struct state *s, const struct state_scope *scope, const char *runner,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy || !s->own || s->scope);
    mem_auto char *service = mem_fmt("/%s", scope->service);
    mem_auto char *definition = mem_fmt("/%s", scope->definition);
    struct grant *reads = grant_new(s->own->digests[0], runner, STORE_READ);
    struct grant *runs = grant_new(s->own->digests[0], runner, RUNS_IT);
    struct admission *a = mem_new(struct admission);

    obj_init(&a->obj, ADMISSION_MAGIC);
    a->state = s;
    a->done = done;
    a->arg = arg;
    a->n_left = 1; /* ours, until all are sent */
    s->is_busy = true;
    struct grant *before = map_set(&s->grants, service, runs);
    if (before)
        grant_free(before);
    set_acl(a, definition, &reads->acl);
    set_acl(a, "/" CLOCK_KEY, &s->clock_grant->acl);
    for (MAP_EACH (&s->known, slot)) {
        size_t len = state_service_part(slot->key);
        if (len == strlen(service) && strncmp(slot->key, service, len) == 0)
            set_acl(a, slot->key, &runs->acl);
    }
    grant_free(reads);
    ended(a);
}
