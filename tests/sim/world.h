/**
 * svcmgr in virtual time: a real engine; a store, a registry and a cluster that are models; and what svcmgr's app does between them.
 *
 *   trace ──> requests, failures ──> events ──> engine ──> steps ──> store ──> effects ──> cluster, registry, clients
 *                                      ^                                                       │
 *                                      └───────────────────────── answers ─────────────────────┘
 *
 * A write takes time; a power failure keeps what is written and loses the rest. Whatever must hold at every moment is checked here
 * as it happens; what must hold when all has come to rest is in rest.c.
 *
 * Nothing hangs on the clock, on addresses or on the order of a hash: one seed and one trace give one run.
 * Thread: one world, one thread.   Source: ours.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <sys/queue.h>

#include "base/map.h"
#include "engine/engine.h"
#include "sim/sim.h"
#include "svcmgr/app_queue.h"
#include "trace.h"

#define WORLD_SERVICES 5
#define WORLD_TEXT_MAX 512
#define WORLD_COUNTS   64 /* more than there are kinds of effects or outcomes */
/** In the worlds of these seeds the cluster names its containers. */
#define WORLD_NAMING_SEED(n) (5 * (uint64_t)(n) + 4)

/** A step of the engine whose effects are not carried out yet. */
struct world_step {
    TAILQ_ENTRY(world_step) link;
    struct eng_effects effects;
    struct eng_kept *kept; /* of a request that may be undone; else NULL */
    char *service;         /* of the request */
    uint64_t token;
    size_t n_documents;
    bool is_in_write;
};

/** What the registry is asked for, in order. */
struct world_record {
    TAILQ_ENTRY(world_record) link;
    struct eng_effect effect; /* owned */
    int64_t due_ms;
};

/** What a DNS server was asked for, by the time of its answer. */
struct world_sync {
    TAILQ_ENTRY(world_sync) link;
    char *container_id;
    int code;
    int64_t due_ms;
};

/** How often which effects and outcomes of requests were seen. */
struct world_counts {
    uint64_t effects[WORLD_COUNTS], outcomes[WORLD_COUNTS];
};

/** What became of a container id. */
struct world_fate {
    bool is_released, is_ending; /* given back; EFF_STOP was carried out */
    bool is_over;                /* the engine has heard of its end */
    int64_t attempt;             /* of the last launch */
    char *owner;                 /* "user/service/instance" it was launched for; NULL: never launched */
    struct eng_effect reinit;    /* EFF_REINIT: launched when its process has ended; else zero */
};

struct world {
    uint64_t draws, chances; /* rows of sim_draw_next: of what the models do, of what the engine is given */
    struct engine_config cfg;
    struct engine *e;
    struct sim_script *script;
    struct sim *sim;
    int64_t now_ms;

    struct map documents; /* key → text */
    struct queue events;
    TAILQ_HEAD(world_step_list, world_step) steps;
    int64_t write_due_ms; /* 0: no write is under way */
    int64_t n_failing;    /* writes that fail from now on */
    int64_t retry_ms;     /* a write failed: the next one not before; 0: none did */

    struct map timers;  /* service → struct world_timer */
    struct map records; /* path → yarn:id */
    TAILQ_HEAD(world_record_list, world_record) asked;
    int64_t registry_back_ms; /* it is away until then */

    uint64_t dns_draws; /* a row of its own */
    TAILQ_HEAD(world_sync_list, world_sync) syncs;
    bool is_dns_well; /* each answer comes soon, and confirms */

    bool is_naming;          /* the cluster names its containers: named.c */
    struct map keys;         /* what it is asked for → struct world_key */
    uint64_t n_named;        /* containers that it has named */
    struct map fates;        /* container id → struct world_fate */
    struct map applications; /* ids that starts were answered with */
    struct map awaited;      /* token → it: requests that are not answered */
    uint64_t token;
    int64_t up_ms;                      /* the power is back then; 0: it is on */
    int64_t crash_after;                /* transactions; -1: none is planned */
    uint32_t crash_effects, down_ms;    /* effects of the last step carried out; how long it is down */
    uint64_t n_steps, n_writes, digest; /* engine steps, transactions; of all effects in order */
    struct world_counts *counts;        /* of many worlds, or NULL */
    char violation[WORLD_TEXT_MAX];     /* what did not hold, "" so far */
    FILE *log;                          /* what happens, a line each; NULL: nowhere */
};

/** A new world at rest, without services. script: of the cluster. world_fini. */
void world_init(struct world *w, const char *script, uint64_t seed);
/** Release. */
void world_fini(struct world *w);
/** operations.c: let the time of an operation pass, then carry it out. */
void world_do(struct world *w, const struct op *op);
/** Something that the engine is to hear of; everything is copied, take_spec and take_rules move over. */
void world_push(struct world *w, struct eng_event ev);
/** The same, a request of the user: it has a token, and its answer is awaited. */
void world_request(struct world *w, struct eng_event ev);
/** Ids of all containers that are asked for or held, in order; world_ids_fini. */
struct world_ids {
    char **list;
    size_t n;
};
struct world_ids world_containers(const struct world *w);
void world_ids_fini(struct world_ids *ids);
/** Let time pass. */
void world_run(struct world *w, int64_t until_ms);
/** The power fails now, and comes back down_ms later. effects: so many of the first durable step were carried out. */
void world_crash(struct world *w, uint32_t effects, uint32_t down_ms);
/** operations.c: what is being upgraded goes back: an upgrade may wait for requests for ever. */
void world_cancel_upgrades(struct world *w);
/** operations.c: nothing fails any more. */
void world_heal(struct world *w);
/** Something that must hold does not; only the first is kept. */
void world_violate(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** A line of the log. */
void world_log(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define WORLD_USER "alice"

/** named.c: carry EFF_REQUEST out where the cluster names its containers. @param ask  the same for the cluster */
void world_ask_by_key(struct world *w, const struct eng_effect *e, const struct sim_ask *ask);
/** named.c: carry EFF_CANCEL_REQUEST out. @return false: it is of a container, which is not wanted any more */
bool world_take_back(struct world *w, const struct eng_effect *e);
/** named.c: the cluster has granted a container, of a key or once more. */
void world_grant(struct world *w, const struct sim_container *c);
/** named.c: the container id of the instance that waits for this one; NULL: none does. */
const char *world_waiting(const struct world *w, const char *container_id);
/** named.c: the cluster forgets what a service has asked for; name NULL: what all have. */
void world_forget_keys(struct world *w, enum eng_kind kind, const char *name);

/** plan.c: find out what a request of the services API would do. */
void world_plan(struct world *w, const struct eng_event *ev);
/** dns.c: carry EFF_SYNC out; its first answer has come; the rest is lost. */
void world_ask_dns(struct world *w, const char *container_id);
void world_answer_dns(struct world *w);
void world_forget_dns(struct world *w);
/** rest.c: let all come to rest, then check what must hold then. */
void world_check_rest(struct world *w);
/** rest.c: what is stored is what is in memory. Only when nothing waits to be written. */
void world_check_documents(struct world *w);

/** placed.c: the constraints of a container that runs hold. */
void world_check_placed(struct world *w, const struct sim_container *one);

#define N_SHAPES 13
/** shapes.c: a completed specification of a shape, for a service. free with spec_free */
struct spec_service *shape_new(const struct dialect *dialect, uint32_t shape, const char *name);

#endif
