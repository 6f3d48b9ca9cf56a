/**
 * An engine with a clock, a store and a cluster that obeys: for the tests of svcmgr/engine. Effects of the steps since the
 * last kit_clear are kept in order; PERSIST effects are applied to the store at once.
 */
#ifndef ENGINE_KIT_H
#define ENGINE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "engine/engine.h"

struct kit {
    enum eng_kind service_kind; /* whose API asks, and whose services are looked at: KIND_SERVICE at first */
    const char *user;           /* who asks, and whose services are looked at: "alice" at first */
    struct eng_rules *rules;    /* of the next kit_create, which takes them */
    const char *host;           /* node that the obedient cluster places on: "node1" at first */
    struct engine *e;
    struct engine_config cfg;
    int64_t now_ms;        /* engine time */
    int64_t wall_ahead_ms; /* time of day - engine time: a test may set the clock */
    uint64_t random;       /* that comes with each event */
    struct eng_effects effects;
    struct map store;  /* key → text */
    bool obey;         /* the cluster and the registry do what is asked of them, at once */
    size_t next;       /* first effect that was not obeyed yet */
    uint64_t token;    /* of the last request */
    size_t n_steps;    /* so far */
    size_t most_bytes; /* of the documents of one step, so far */
    /* after so many steps the power fails: nothing is stepped or stored any more; 0: never */
    size_t last_step;
};

/** Start: dialect by name, network 127.77.0.0/16, time 1 000 000 ms, resumed, obeying. */
void kit_start(struct kit *k, const char *dialect);
void kit_end(struct kit *k);
void kit_clear(struct kit *k);
/** One event; with `obey`, also all that follows from it. */
void kit_step(struct kit *k, struct eng_event ev);
/** The cluster's answer to an EFF_SUBMIT or EFF_FINISH: the rest of the event is filled in. */
void kit_application(struct kit *k, const struct eng_effect *of, struct eng_event ev);
/** Throw the engine away and load what is stored; EV_RESUME is up to the test. */
void kit_crash(struct kit *k);
/** Report each container that should run as running, then EV_RESUME. */
void kit_recover(struct kit *k);

/** The kit's time. */
struct eng_time kit_now(const struct kit *k);
/** A request that cannot be stored: its step is taken and undone. Its effects are thrown away. */
void kit_undone(struct kit *k, struct eng_event ev);

/** A completed definition, for the event that takes it. */
struct spec_service *kit_spec_of(const struct kit *k, const char *json);
/** Requests of the user; the answer's outcome, -1 while there is none. */
int kit_ask(struct kit *k, struct eng_event ev);
int kit_create(struct kit *k, const char *json, bool save);
int kit_request(struct kit *k, enum eng_event_kind kind, const char *service);
int kit_flex(struct kit *k, const char *service, const char *component, int64_t count);
/** Advance the clock to the service's timer and let it fire. Fails without one. */
void kit_fire(struct kit *k, const char *service);
void kit_advance(struct kit *k, const char *service, int64_t ms);

const struct eng_service *kit_service(const struct kit *k, const char *name);
const struct eng_instance *kit_instance(const struct kit *k, const char *service, const char *instance);
/** State of an instance, -1 when there is none. */
int kit_state(const struct kit *k, const char *service, const char *instance);
/** Why an instance is not further, as a sentence: "" when it waits for nothing. Static. */
const char *kit_wait(const struct kit *k, const char *service, const char *instance);
/** The process of an instance ends: so, with an exit code, by a signal. */
void kit_exit(struct kit *k, const char *service, const char *instance, struct eng_exit x);
void kit_exit_code(struct kit *k, const char *service, const char *instance, int code);
void kit_exit_signal(struct kit *k, const char *service, const char *instance, int signal);
/** The cluster reports a node in a state, without a label. */
void kit_node(struct kit *k, const char *host, enum eng_node_state state);
/** The user excludes a node, or does not any more; the answer's outcome. */
int kit_exclude(struct kit *k, const char *service, const char *host, bool excluded);
void kit_probe(struct kit *k, const char *service, const char *instance, bool ready);

/** Effects of a kind since kit_clear; the last one of them, or NULL. */
size_t kit_count(const struct kit *k, enum eng_effect_kind kind);
const struct eng_effect *kit_last(const struct kit *k, enum eng_effect_kind kind);
/** Names of the component's instances with their states, as "hello-0:READY hello-1:PENDING". Static. */
const char *kit_list(const struct kit *k, const char *service);

/** A definition: one component `hello` of `n` containers with a policy ("ALWAYS"), more members of the component
 *  as JSON text beginning with a comma, or "". Static, one at a time. */
const char *kit_spec(const char *name, int n, const char *policy, const char *more);

#endif
