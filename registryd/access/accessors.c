#include "access/accessors.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define ACCESSORS_MAGIC OBJ_MAGIC('A', 'C', 'C', 'P')
#define SESSION_MAGIC   OBJ_MAGIC('A', 'C', 'C', 'S')

struct accessor_session {
    struct obj obj;
    TAILQ_ENTRY(accessor_session) link;
    struct accessors *owner;
    char *pair;
    struct store *store;
    struct reg_store *ops;
    size_t n_users;
    struct run_timer *idle; /* runs while nobody uses it */
    bool is_closing;
};

TAILQ_HEAD(session_list, accessor_session);

struct accessors {
    struct obj obj;
    struct accessors_def def;
    char *url;
    struct session_list open;    /* the one that was used last at the end */
    struct session_list closing; /* freed when their stores are closed */
    size_t n_open;
    bool is_ended; /* accessors_close has returned long ago */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- one session ---- */

static void free_when_closed(struct accessors *a)
{
    void (*closed)(void *) = a->closed;
    void *closed_arg = a->closed_arg;
    if (!a->is_ended || !TAILQ_EMPTY(&a->closing))
        return;
    free(a->url);
    obj_fini(&a->obj);
    free(a);
    closed(closed_arg);
}

static void on_store_closed(void *arg)
{
    struct accessor_session *s = obj_cast(arg, struct accessor_session, SESSION_MAGIC);
    struct accessors *a = s->owner;
    BUG_IF(s->n_users > 0); /* the store has completed everything, and who took it gave it back then */
    TAILQ_REMOVE(&a->closing, s, link);
    reg_store_free(s->ops);
    free(s->pair);
    obj_fini(&s->obj);
    free(s);
    free_when_closed(a);
}

static void session_close(struct accessor_session *s)
{
    struct accessors *a = s->owner;
    TAILQ_REMOVE(&a->open, s, link);
    TAILQ_INSERT_TAIL(&a->closing, s, link);
    a->n_open--;
    s->is_closing = true;
    run_timer_free(s->idle);
    s->idle = NULL;
    store_close(s->store, on_store_closed, s);
}

static void on_idle(void *arg)
{
    session_close(obj_cast(arg, struct accessor_session, SESSION_MAGIC));
}

static int session_open(struct accessors *a, const char *pair, struct accessor_session **out,
                        struct err_info *why)
{
    struct store_options options = a->def.store;
    struct store *store = NULL;
    options.digest = pair;
    options.kerberos = NULL;
    int err = store_open(a->def.loop, a->url, &options, &store, why);
    if (err)
        return err;
    struct accessor_session *s = mem_new(struct accessor_session);
    obj_init(&s->obj, SESSION_MAGIC);
    s->owner = a;
    s->pair = mem_str(pair);
    s->store = store;
    s->ops = reg_store_new(a->def.loop, store, a->def.names, a->def.acl);
    reg_store_set_realm(s->ops, a->def.realm);
    s->idle = run_timer_new(a->def.loop, on_idle, s);
    TAILQ_INSERT_TAIL(&a->open, s, link);
    a->n_open++;
    *out = s;
    return 0;
}

/* ---- all of them ---- */

struct accessors *accessors_new(const struct accessors_def *def)
{
    struct accessors *a = mem_new(struct accessors);
    obj_init(&a->obj, ACCESSORS_MAGIC);
    a->def = *def;
    a->url = mem_str(def->url);
    a->def.url = a->url;
    TAILQ_INIT(&a->open);
    TAILQ_INIT(&a->closing);
    return a;
}

static void on_end(void *arg)
{
    struct accessors *a = obj_cast(arg, struct accessors, ACCESSORS_MAGIC);
    a->is_ended = true;
    free_when_closed(a);
}

void accessors_close(struct accessors *a, void (*closed)(void *arg), void *arg)
{
    struct accessor_session *s;
    while ((s = TAILQ_FIRST(&a->open)))
        session_close(s);
    a->closed = closed;
    a->closed_arg = arg;
    run_post(a->def.loop, on_end, a);
}

size_t accessors_n_sessions(const struct accessors *a)
{
    return a->n_open;
}

static struct accessor_session *find_session(const struct accessors *a, const char *pair)
{
    struct accessor_session *s;
    TAILQ_FOREACH (s, &a->open, link)
        if (strcmp(s->pair, pair) == 0)
            return s;
    return NULL;
}

/* Room for one more. @return whether there is. */
static bool make_room(struct accessors *a)
{
    struct accessor_session *s;
    if (a->n_open < a->def.n_max)
        return true;
    TAILQ_FOREACH (s, &a->open, link) {
        if (s->n_users > 0)
            continue;
        session_close(s);
        return true;
    }
    return false;
}

int accessors_take(struct accessors *a, const char *pair, struct accessor_session **out, struct err_info *why)
{
    int err = 0;
    if (!a || a->closed)
        return err_set(why, ERR_CANCELLED, "", "the server is stopping");
    struct accessor_session *s = find_session(a, pair);
    if (a->def.n_max == 0)
        return err_set(
            why, ERR_PERMISSION, "hadoop.registry.zk.accessor-sessions",
            "the ACL does not let registryd itself, and with hadoop.registry.zk.accessor-sessions=0 "
            "there is no session of the accessor's");
    if (!s && !make_room(a))
        return err_set(why, ERR_UNAVAILABLE, "hadoop.registry.zk.accessor-sessions",
                       "all %zu sessions to ZooKeeper for write accessors are in use: try again, or raise "
                       "hadoop.registry.zk.accessor-sessions",
                       a->def.n_max);
    if (!s)
        err = session_open(a, pair, &s, why);
    if (err)
        return err;
    TAILQ_REMOVE(&a->open, s, link);
    TAILQ_INSERT_TAIL(&a->open, s, link);
    run_timer_stop(s->idle);
    s->n_users++;
    *out = s;
    return 0;
}

void accessors_give(struct accessor_session *s)
{
    if (!s)
        return;
    s->n_users--;
    if (s->n_users == 0 && !s->is_closing)
        run_timer_start(s->idle, (uint64_t)s->owner->def.idle_ms, 0);
}

struct reg_store *accessors_ops(const struct accessor_session *s)
{
    return s->ops;
}
