/**
 * The manager takes a service whose application has ended: see state.h.
 *
 *     read the attempt node ─▶ write it ─▶ read the service ─▶ done
 *             ▲                  │ │
 *             └── it was taken ──┘ └─ unknown: find out, until it is known
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "state/state_priv.h"

#define TAKING_MAGIC OBJ_MAGIC('T', 'A', 'K', 'E')
#define TRIES_MAX    5
#define PAUSE_MS     200

struct taking {
    struct obj obj;
    struct state *state;
    char *service; /* path */
    char *attempt_path;
    char *text; /* of the attempt node */
    int64_t attempt;
    int n_tries;
    struct run_timer *timer;
    void (*one)(void *arg, const char *key, const char *bytes, size_t len);
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};

static void read_attempt(struct taking *t);

static void taking_free(struct taking *t)
{
    run_timer_free(t->timer);
    free(t->service);
    free(t->attempt_path);
    free(t->text);
    obj_fini(&t->obj);
    free(t);
}

static void ended(struct taking *t, int err, const struct err_info *why)
{
    void (*done)(void *, int, const struct err_info *) = t->done;
    void *arg = t->arg;

    t->state->is_busy = false;
    t->state->taking = NULL;
    taking_free(t);
    done(arg, err, why);
}

static void on_one(void *arg, const char *key, const char *bytes, size_t len)
{
    const struct taking *t = obj_cast(arg, struct taking, TAKING_MAGIC);

    t->one(t->arg, key, bytes, len);
}

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    ended(obj_cast(arg, struct taking, TAKING_MAGIC), err, why);
}

static void on_outcome(void *arg, enum state_outcome outcome, const struct err_info *why)
{
    struct taking *t = obj_cast(arg, struct taking, TAKING_MAGIC);

    t->state->is_busy = true;
    if (t->state->closed) {
        ended(t, ERR_CANCELLED, why);
    } else if (outcome == STATE_WRITTEN) {
        t->state->is_busy = false;
        state_load_service(t->state, t->service, on_one, on_loaded, t);
    } else if (outcome ==
               STATE_UNKNOWN) { /* Containers go on meanwhile; nothing is written before it is known. */
        run_timer_start(t->timer, PAUSE_MS, 0);
    } else if (outcome == STATE_FENCED && ++t->n_tries < TRIES_MAX) {
        read_attempt(t); /* An attempt has taken it meanwhile, or another process writes the state. */
    } else {
        ended(t, outcome == STATE_FENCED ? ERR_CONFLICT : why->code, why);
    }
}

static void on_pause_over(void *arg)
{
    struct taking *t = obj_cast(arg, struct taking, TAKING_MAGIC);

    t->state->is_busy = false;
    state_find_out(t->state, on_outcome, t);
}

static void on_attempt(void *arg, int err, const struct store_result *r)
{
    struct taking *t = obj_cast(arg, struct taking, TAKING_MAGIC);
    struct state *s = t->state;
    json_auto json_t *doc = NULL;

    if (err && err != ERR_NOTFOUND) {
        ended(t, err, &r->why);
        return;
    }
    if (err)
        free(map_remove(&s->known, t->attempt_path));
    else
        state_saw_node(s, t->attempt_path, &r->stat);
    if (!err)
        json_read(r->data, r->data_len, &doc, NULL); /* Of another text the number is 0. */
    json_int_t there = json_integer_value(json_object_get(doc, "attempt"));
    free(t->text);
    t->text = mem_fmt("{\"version\":%d,\"attempt\":%lld,\"ended\":true}", STATE_WRITER_FORMAT,
                      (long long)(there > t->attempt ? there : t->attempt));
    s->is_busy = false;
    state_write_attempt(s, t->attempt_path, t->text, on_outcome, t);
}

static void read_attempt(struct taking *t)
{
    store_get(t->state->store, t->attempt_path, on_attempt, t);
}

void state_take_back(struct state *s, const char *service_key, int64_t attempt,
                     void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                     void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy || s->scope);
    struct taking *t = mem_new(struct taking);

    obj_init(&t->obj, TAKING_MAGIC);
    t->state = s;
    t->service = mem_fmt("/%s", service_key);
    t->attempt_path = state_attempt_path(t->service);
    BUG_IF(!t->attempt_path);
    t->attempt = attempt;
    t->timer = run_timer_new(s->loop, on_pause_over, t);
    t->one = one;
    t->done = done;
    t->arg = arg;
    s->taking = t;
    s->is_busy = true;
    read_attempt(t);
}

void state_take_back_stop(struct state *s)
{
    if (s->taking)
        run_timer_stop(s->taking->timer); /* What is under way at the store ends it. */
}

void state_take_back_free(struct state *s)
{
    if (s->taking)
        taking_free(s->taking);
    s->taking = NULL;
}
