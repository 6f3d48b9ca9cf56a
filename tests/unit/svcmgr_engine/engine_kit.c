#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS           1000000
#define WALL_AHEAD_MS      1700000000000
#define KIT_STEP_DOCUMENTS 70
#define KIT_STEP_BYTES     (512 << 10)

static bool any_path(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return true;
}

static const struct spec_service *no_service(void *arg, const char *user, const char *name)
{
    (void)arg;
    (void)user;
    (void)name;
    return NULL;
}

static void new_engine(struct kit *k)
{
    struct err_info why = {0};
    if (engine_new(&k->cfg, &k->e, &why))
        fail_msg("engine_new: %s", why.text);
}

void kit_start(struct kit *k, const char *dialect)
{
    *k = (struct kit){
        .user = "alice", .host = "node1", .now_ms = START_MS, .wall_ahead_ms = WALL_AHEAD_MS, .obey = true};
    k->cfg = (struct engine_config){.dialect = dialect_find(dialect),
                                    .cluster_ts = 1700000000000,
                                    .domain = "bobbin.test",
                                    .address_net = "127.77.0.0/16",
                                    .one_host = true,
                                    .queue = "default",
                                    .probe_interval_ms = 30000,
                                    .retry_interval_ms = 30000};
    new_engine(k);
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
    kit_clear(k);
}

void kit_end(struct kit *k)
{
    engine_free(k->e);
    eng_rules_free(k->rules);
    eng_effects_fini(&k->effects);
    map_fini(&k->store, free);
}

void kit_clear(struct kit *k)
{
    eng_effects_fini(&k->effects);
    k->next = 0;
}

/* ---- the obedient world ---- */

static void apply_persist(struct kit *k, const struct eng_effect *e)
{
    free(e->bytes ? map_set(&k->store, e->key, mem_strn(e->bytes, e->len)) : map_remove(&k->store, e->key));
}

struct eng_time kit_now(const struct kit *k)
{
    return (struct eng_time){
        .now_ms = k->now_ms, .wall_ms = k->now_ms + k->wall_ahead_ms, .random = k->random};
}

static void step_once(struct kit *k, struct eng_event ev)
{
    size_t from = k->effects.n, n_documents = 0, n_bytes = 0;
    if (k->last_step && k->n_steps == k->last_step)
        return;
    k->n_steps++;
    bool others = false;
    const char *service = NULL;
    engine_step(k->e, &ev, kit_now(k), &k->effects);
    for (size_t i = from; i < k->effects.n; i++) {
        const struct eng_effect *e = &k->effects.items[i];
        if (e->kind != EFF_PERSIST) {
            others = true;
            continue;
        }
        assert_false(others); /* what is to be stored comes first */
        assert_true(!service || !e->name || strcmp(service, e->name) == 0); /* of one service */
        service = e->name ? e->name : service;
        n_documents++;
        n_bytes += e->len;
        apply_persist(k, e);
    }
    assert_true(n_documents <= KIT_STEP_DOCUMENTS); /* they fit one transaction */
    assert_true(n_bytes <= KIT_STEP_BYTES);
    k->most_bytes = n_bytes > k->most_bytes ? n_bytes : k->most_bytes;
}

void kit_application(struct kit *k, const struct eng_effect *of, struct eng_event ev)
{
    mem_auto char *user = mem_str(of->user);
    mem_auto char *name = mem_str(of->name);
    ev.service_kind = of->service_kind;
    ev.user = user;
    ev.name = name;
    ev.incarnation = of->application->incarnation;
    if (k->obey)
        step_once(k, ev);
    else
        kit_step(k, ev);
}

static void fetched(struct kit *k, const struct eng_effect *e)
{
    mem_auto char *user = mem_str(e->user);
    mem_auto char *name = mem_str(e->name);
    step_once(k, (struct eng_event){.kind = EV_FETCHED, .user = user, .name = name});
}

static void obey_one(struct kit *k, size_t i)
{
    struct eng_effect *e = &k->effects.items[i];
    mem_auto char *id = mem_str(e->container_id);
    mem_auto char *host = mem_str(e->request && e->request->host ? e->request->host : k->host);
    switch (e->kind) {
    case EFF_REQUEST:
        step_once(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = host});
        break;
    case EFF_REINIT:
    case EFF_LAUNCH:
        step_once(
            k, (struct eng_event){
                   .kind = EV_RUNNING, .container_id = id, .attempt = e->launch->attempt, .host = k->host});
        break;
    case EFF_STOP:
        step_once(k, (struct eng_event){
                         .kind = EV_EXITED, .container_id = id, .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
        break;
    case EFF_FETCH: fetched(k, e); break;
    case EFF_SYNC: step_once(k, (struct eng_event){.kind = EV_SYNCED, .container_id = id}); break;
    case EFF_SUBMIT: kit_application(k, e, (struct eng_event){.kind = EV_SUBMITTED}); break;
    case EFF_FINISH:
        kit_application(
            k, e, (struct eng_event){.kind = EV_APP_ENDED, .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
        break;
    case EFF_PUBLISH:
    case EFF_UNPUBLISH:
    case EFF_ENDED:
    case EFF_PURGE: step_once(k, (struct eng_event){.kind = EV_RECORD, .ticket = e->ticket}); break;
    default: break;
    }
}

/** A timer of now fires, whether the world obeys or not: it is how a step goes on. */
static void fire_if_due(struct kit *k, size_t i)
{
    struct eng_effect *e = &k->effects.items[i];
    if (e->kind != EFF_TIMER || e->at_ms == 0 || e->at_ms > k->now_ms)
        return;
    mem_auto char *user = mem_str(e->user);
    mem_auto char *name = mem_str(e->name);
    enum eng_kind kind = e->service_kind;
    const struct eng_service *s = engine_find(k->e, kind, user, name);
    if (s && s->timer_ms == e->at_ms)
        step_once(k, (struct eng_event){.kind = EV_TIMER, .service_kind = kind, .user = user, .name = name});
}

void kit_step(struct kit *k, struct eng_event ev)
{
    size_t fired = k->effects.n;
    step_once(k, ev);
    for (;;) {
        if (fired < k->effects.n)
            fire_if_due(k, fired++);
        else if (k->obey && k->next < k->effects.n)
            obey_one(k, k->next++);
        else
            return;
    }
}

void kit_undone(struct kit *k, struct eng_event ev)
{
    struct eng_effects dropped = {.n = 0}, timers = {.n = 0};
    struct eng_kept *kept =
        engine_keep(k->e, ev.service_kind, ev.user, ev.take_spec ? ev.take_spec->name : ev.name);
    engine_step(k->e, &ev, kit_now(k), &dropped);
    engine_undo(k->e, kept, k->now_ms, &timers);
    for (size_t i = 0; i < timers.n; i++)
        kit_step(k, (struct eng_event){.kind = EV_TIMER,
                                       .service_kind = timers.items[i].service_kind,
                                       .user = timers.items[i].user,
                                       .name = timers.items[i].name});
    eng_kept_free(kept);
    eng_effects_fini(&dropped);
    eng_effects_fini(&timers);
}

void kit_crash(struct kit *k)
{
    k->last_step = 0;
    engine_free(k->e);
    kit_clear(k);
    new_engine(k);
    mem_auto const char **keys = map_sorted_keys(&k->store); /* those of instances after their service's */
    for (size_t i = 0; keys[i]; i++) {
        struct err_info why = {0};
        const char *text = map_get(&k->store, keys[i]);
        if (engine_load(k->e, keys[i], text, strlen(text), &why))
            fail_msg("%s cannot be loaded: %s", keys[i], why.text);
    }
}

#define FOUND_MAX 512

struct found {
    char id[FOUND_MAX][64];
    int64_t attempt[FOUND_MAX];
    size_t n;
};

static void note_container(void *arg, const struct eng_container_ref *c)
{
    struct found *f = arg;
    if (!c->process)
        return;
    assert_true(f->n < FOUND_MAX);
    snprintf(f->id[f->n], sizeof f->id[0], "%s", c->instance->container_id);
    f->attempt[f->n++] = c->instance->attempt;
}

void kit_recover(struct kit *k)
{
    struct found f = {.n = 0};
    engine_containers(k->e, note_container, &f);
    for (size_t i = 0; i < f.n; i++)
        kit_step(k, (struct eng_event){.kind = EV_RECOVERED,
                                       .container_id = f.id[i],
                                       .attempt = f.attempt[i],
                                       .found = FOUND_RUNNING,
                                       .host = "node1"});
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
}

/* ---- requests ---- */

static int outcome_of(struct kit *k)
{
    for (size_t i = k->effects.n; i > 0; i--) {
        const struct eng_effect *e = &k->effects.items[i - 1];
        if (e->kind == EFF_ANSWER && e->answer->token == k->token)
            return (int)e->answer->outcome;
    }
    return -1;
}

struct spec_service *kit_spec_of(const struct kit *k, const char *json)
{
    struct err_info why = {0};
    struct spec_service *s = NULL;
    struct spec_world world = {
        .dialect = k->cfg.dialect, .local = true, .path_exists = any_path, .find_service = no_service};
    if (spec_read(json, strlen(json), &s, NULL, &why) || spec_complete(s, k->user, &world, &why))
        fail_msg("bad definition in the test: %s", why.text);
    return s;
}

int kit_ask(struct kit *k, struct eng_event ev)
{
    ev.token = ++k->token;
    ev.service_kind = k->service_kind;
    ev.user = k->user;
    kit_step(k, ev);
    return outcome_of(k);
}

int kit_create(struct kit *k, const char *json, bool save)
{
    struct spec_service *s = kit_spec_of(k, json);
    kit_step(k, (struct eng_event){.kind = EV_CREATE,
                                   .token = ++k->token,
                                   .service_kind = k->service_kind,
                                   .user = k->user,
                                   .take_spec = s,
                                   .take_rules = k->rules,
                                   .save = save});
    k->rules = NULL;
    return outcome_of(k);
}

int kit_request(struct kit *k, enum eng_event_kind kind, const char *service)
{
    kit_step(k, (struct eng_event){.kind = kind,
                                   .token = ++k->token,
                                   .service_kind = k->service_kind,
                                   .user = k->user,
                                   .name = service});
    return outcome_of(k);
}

int kit_flex(struct kit *k, const char *service, const char *component, int64_t count)
{
    struct eng_flex f = {component, count, false};
    kit_step(k, (struct eng_event){.kind = EV_FLEX,
                                   .token = ++k->token,
                                   .service_kind = k->service_kind,
                                   .user = k->user,
                                   .name = service,
                                   .flex = &f,
                                   .n_flex = 1});
    return outcome_of(k);
}

void kit_fire(struct kit *k, const char *service)
{
    const struct eng_service *s = kit_service(k, service);
    assert_non_null(s);
    assert_int_not_equal(s->timer_ms, 0);
    if (k->now_ms < s->timer_ms)
        k->now_ms = s->timer_ms;
    kit_step(k, (struct eng_event){
                    .kind = EV_TIMER, .service_kind = k->service_kind, .user = k->user, .name = service});
}

void kit_advance(struct kit *k, const char *service, int64_t ms)
{
    k->now_ms += ms;
    kit_step(k, (struct eng_event){
                    .kind = EV_TIMER, .service_kind = k->service_kind, .user = k->user, .name = service});
}

/* ---- looking ---- */

const struct eng_service *kit_service(const struct kit *k, const char *name)
{
    return engine_find(k->e, k->service_kind, k->user, name);
}

const struct eng_instance *kit_instance(const struct kit *k, const char *service, const char *instance)
{
    const struct eng_service *s = kit_service(k, service);
    for (size_t i = 0; s && i < s->n_components; i++) {
        const struct eng_instance *inst;
        TAILQ_FOREACH (inst, &s->components[i]->instances, link) {
            if (strcmp(inst->name, instance) == 0)
                return inst;
        }
    }
    return NULL;
}

const char *kit_wait(const struct kit *k, const char *service, const char *instance)
{
    static char text[1024];
    const struct eng_instance *inst = kit_instance(k, service, instance);
    assert_non_null(inst);
    const struct eng_waiting *w = eng_instance_waiting(inst);
    mem_auto char *sentence = w ? eng_wait_text(w) : mem_str("");
    snprintf(text, sizeof text, "%s", sentence);
    return text;
}

int kit_state(const struct kit *k, const char *service, const char *instance)
{
    const struct eng_instance *inst = kit_instance(k, service, instance);
    return inst ? (int)inst->state : -1;
}

void kit_exit(struct kit *k, const char *service, const char *instance, struct eng_exit x)
{
    const struct eng_instance *inst = kit_instance(k, service, instance);
    assert_non_null(inst);
    assert_non_null(inst->container_id);
    mem_auto char *id = mem_str(inst->container_id);
    kit_step(k,
             (struct eng_event){.kind = EV_EXITED, .container_id = id, .attempt = inst->attempt, .exit = x});
}

void kit_exit_code(struct kit *k, const char *service, const char *instance, int code)
{
    kit_exit(k, service, instance, eng_exit_of(CAUSE_EXITED, code, NULL));
}

void kit_exit_signal(struct kit *k, const char *service, const char *instance, int signal)
{
    kit_exit(k, service, instance, eng_exit_of(CAUSE_SIGNALLED, signal, NULL));
}

void kit_node(struct kit *k, const char *host, enum eng_node_state state)
{
    struct eng_node node = {.host = (char *)host, .state = state};
    kit_step(k, (struct eng_event){.kind = EV_NODE, .node = &node});
}

int kit_exclude(struct kit *k, const char *service, const char *host, bool excluded)
{
    kit_step(k, (struct eng_event){.kind = EV_EXCLUDE,
                                   .token = ++k->token,
                                   .service_kind = k->service_kind,
                                   .user = k->user,
                                   .name = service,
                                   .host = host,
                                   .excluded = excluded});
    return outcome_of(k);
}

void kit_probe(struct kit *k, const char *service, const char *instance, bool ready)
{
    const struct eng_instance *inst = kit_instance(k, service, instance);
    assert_non_null(inst);
    mem_auto char *id = mem_str(inst->container_id);
    kit_step(k, (struct eng_event){.kind = EV_PROBE,
                                   .container_id = id,
                                   .attempt = inst->attempt,
                                   .ready = ready,
                                   .text = "refused"});
}

size_t kit_count(const struct kit *k, enum eng_effect_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < k->effects.n; i++)
        n += k->effects.items[i].kind == kind;
    return n;
}

const struct eng_effect *kit_last(const struct kit *k, enum eng_effect_kind kind)
{
    for (size_t i = k->effects.n; i > 0; i--) {
        if (k->effects.items[i - 1].kind == kind)
            return &k->effects.items[i - 1];
    }
    return NULL;
}

const char *kit_list(const struct kit *k, const char *service)
{
    static char text[1024];
    const struct eng_service *s = kit_service(k, service);
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; s && i < s->n_components; i++) {
        const struct eng_instance *inst;
        TAILQ_FOREACH (inst, &s->components[i]->instances, link) {
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s:%s", len ? " " : "", inst->name,
                                    eng_instance_state_word(inst->state));
        }
    }
    return text;
}

const char *kit_spec(const char *name, int n, const char *policy, const char *more)
{
    static char text[4096];
    snprintf(
        text, sizeof text,
        "{\"name\":\"%s\",\"version\":\"1\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":%d,"
        "\"restart_policy\":\"%s\",\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}%s}]"
        "}",
        name, n, policy, more);
    return text;
}
