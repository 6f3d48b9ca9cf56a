/**
 * The program around the engine: it takes events from the API, the cluster, the probes, the registry and the clock to the
 * engine, makes the state durable, and then carries the effects out. Only app*.c see this; nobody else includes it.
 *
 *     face, cluster, probes, publish, timers --app_event--> engine_step --> steps: PERSIST… --> state store
 *                                                                             then the rest --> app_carry_out
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_H
#define SVCMGR_APP_H

#include <sys/queue.h>

#include "base/map.h"
#include "base/obj.h"
#include "cluster/cluster.h"
#include "engine/engine.h"
#include "faces/face.h"
#include "http/client.h"
#include "http/server.h"
#include "probe/probe.h"
#include "run/daemon.h"
#include "svcmgr/publish.h"
#include "svcmgr/state.h"

#define APP_MAGIC OBJ_MAGIC('S', 'A', 'P', 'P')

/** One step of the engine on its way: first its documents become durable, then the other effects are carried out. */
struct app_step {
    TAILQ_ENTRY(app_step) link;
    struct eng_effects effects;
    bool is_durable, is_in_write;
};
TAILQ_HEAD(app_step_list, app_step);

/** Who waits for the answer to a token. */
struct app_waiter {
    TAILQ_ENTRY(app_waiter) link;
    uint64_t token;
    void (*answered)(void *arg, const struct eng_answer *answer);
    void *arg;
};
TAILQ_HEAD(app_waiter_list, app_waiter);

struct app {
    struct obj obj;
    struct face face;
    struct daemon *daemon;
    struct run_loop *loop;
    char *user, *dir, *shim_path;
    struct http_client *http;
    struct publish *publish;
    struct state *state;
    struct cluster *cluster;
    struct engine *engine;
    struct probes *probes;
    struct http_server *server;
    struct spec_world world;
    struct map timers; /* "user/name" -> struct app_timer */
    struct map ending; /* container id -> app: EFF_STOP came */
    struct app_waiter_list waiters;
    uint64_t last_token;
    struct app_step_list steps;
    struct state_doc *docs; /* of the write under way */
    struct run_timer *retry_timer;
    int64_t last_now_ms;
    bool is_pumping, is_writing, is_ending, is_loaded_badly;
};

/* ---- app_steps.c ---- */

/** Clock of the engine: wall time that never goes back. */
int64_t app_now_ms(struct app *a);
/** Take an event to the engine; its effects follow when their time has come. */
void app_event(struct app *a, struct eng_event *ev);
/** Carry out what may be carried out, write what must be written. */
void app_pump(struct app *a);
/** Give the answer of a token to who waits for it. */
void app_answer(struct app *a, const struct eng_answer *answer);
/** Answer all who wait with OUT_CANCELLED. */
void app_cancel_waiters(struct app *a);
/** Forget all steps. */
void app_drop_steps(struct app *a);
/** The faces' door. */
extern const struct app_ops app_face_ops;

/* ---- app_effects.c ---- */

/** Do what one effect says. */
void app_carry_out(struct app *a, struct eng_effect *e);
/** Stop and free all service timers. */
void app_drop_timers(struct app *a);

/* ---- app_cluster.c ---- */

extern const struct cluster_ops app_cluster_ops;
/** Result of a readiness probe; arg is the app. */
void app_probe_result(void *arg, const char *container_id, int64_t attempt, bool ready, const char *text);
/** Outcome of a change of the registry; arg is the app. */
void app_record_told(void *arg, int64_t ticket, int code);

/* ---- app_recover.c ---- */

/** Load the state, find the containers, resume, open the API; a failure ends the daemon. */
void app_recover(struct app *a);
/** All containers were told (cluster_ops.recovery_done). */
void app_resume(struct app *a);

/** The start table. */
extern const struct daemon_def app_daemon;

#endif
