/**
 * The app around the engine: it passes events of the API, the cluster, the probes, the registry and the clock to the
 * engine, makes the state durable, and then carries the effects out. Only app*.c include this.
 *
 *     face, cluster, probes, publish, timers --app_event--> queue --> engine_step --> steps: PERSIST… --> state store
 *                                                                                     then the rest --> app_carry_out
 *
 * One write is under way at a time; events that come meanwhile wait in the queue for the next one. A request whose documents
 * were not written is undone and answered with the error; reports of the world stay and are written later.
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_H
#define SVCMGR_APP_H

#include <sys/queue.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/obj.h"
#include "cluster/cluster.h"
#include "cluster/yarn.h"
#include "fs/place.h"
#include "yarn/address.h"
#include "engine/engine.h"
#include "faces/face.h"
#include "http/client.h"
#include "http/server.h"
#include "probe/probe.h"
#include "run/daemon.h"
#include "svcmgr/app_queue.h"
#include "state/clock.h"
#include "publish/dns_sync.h"
#include "publish/publish.h"
#include "state/state.h"

#define APP_MAGIC OBJ_MAGIC('S', 'A', 'P', 'P')

struct app_manager;
struct app_master;
struct app_launcher;
struct app_nodes;
struct app_slider;

/** One step of the engine on its way: first its documents become durable, then the other effects are carried out. */
struct app_step {
    TAILQ_ENTRY(app_step) link;
    struct eng_effects effects;
    size_t n_carried_out; /* of them, in their order */
    size_t n_bytes;       /* of its documents that are to be written; 0: it has none */
    size_t n_docs;
    bool is_in_write;
    struct eng_kept *kept; /* of a request: its service before the step; else NULL */
    char *service;         /* of a request: "user/name" */
    uint64_t token;        /* of a request */
};
TAILQ_HEAD(app_step_list, app_step);

/** A request that waits for the answer to its token. */
struct app_caller {
    TAILQ_ENTRY(app_caller) link;
    uint64_t token;
    void (*answered)(void *arg, const struct eng_answer *answer);
    void *arg;
};
TAILQ_HEAD(app_caller_list, app_caller);

/** The one service that an application master runs. */
struct app_own {
    enum eng_kind kind;
    char *user, *name;
};

struct app {
    struct obj obj;
    struct face face;
    enum engine_role role;
    struct app_manager *manager;   /* ROLE_MANAGER, once it is open */
    struct app_master *master;     /* ROLE_MASTER */
    struct outage *rm_outage;      /* of the resource manager */
    struct app_own *own;           /* of an application master; NULL: we are svcmgr itself */
    struct app_launcher *launcher; /* of the FrameworkLauncher API */
    struct app_slider *slider;     /* of the Slider API */
    struct daemon *daemon;
    struct run_loop *loop;
    char *user, *dir, *shim_path;
    char *degraded;                 /* why containers cannot be recovered; NULL: they can */
    struct outage *state_outage;    /* the state cannot be written */
    struct outage *registry_outage; /* the registry cannot be reached, or takes nothing */
    struct http_client *http;
    struct publish *publish;
    struct dns_sync *dns_sync;
    struct state *state;
    struct cluster *cluster;
    struct engine *engine;
    struct probes *probes;
    struct http_server *server;
    struct spec_world world;
    struct spec_host host;     /* of a local cluster */
    struct spec_images images; /* of world */
    struct map timers;         /* "user/name" -> struct app_timer */
    struct map ending;         /* container id -> app: EFF_STOP came */
    size_t n_execs;            /* commands that are executed */
    struct app_nodes *nodes;   /* of YARN; NULL: nobody has asked */
    /* requests that others answer, and bytes of their answers: app_forward.h */
    size_t n_forwards, n_forward_bytes;
    struct map reinits; /* container id -> what is launched when its process has ended */
    struct app_caller_list callers;
    TAILQ_HEAD(, app_plan) plans; /* that are being made */
    size_t n_plans;
    uint64_t last_token;
    struct queue queue;
    struct app_step_list steps;
    struct map requested;   /* "user/name" -> itself: services with a request that is not durable yet */
    struct state_doc *docs; /* of the write under way */
    size_t n_alone;         /* steps still to be written one by one: together they were refused */
    struct run_timer *retry_timer;
    uint64_t n_steps;             /* taken so far: with the key of hash_bytes, a number nobody foresees */
    struct run_timer *turn_timer; /* while is_turn_over: goes on in the next turn of the loop */
    int64_t write_retry_ms;       /* pause before a write that failed is tried again */
    struct clock clock;           /* engine time */
    struct buf clock_text;        /* of the write under way */
    int64_t write_begun_us;       /* while is_writing */
    bool is_pumping, is_turn_over, is_writing, is_ending, is_loaded_badly;
    bool is_newer; /* a stored document has a format of a newer version */
    char *state_url;
    char *active_url,
        *active_place; /* standing by: whom requests are forwarded to, and where its containers are */
    struct http_route *standby_routes; /* standing by */
    struct run_timer *role_timer; /* standing by: looks whether the store is free; active: renews the lease */
    bool is_standby, is_stopping_standby;
    bool is_unknown; /* the outcome of the last write is not known yet */
    bool is_fenced;  /* another process has the state: nothing may be touched any more */
};

/* ---- app_steps.c ---- */

/** Engine time. */
int64_t app_now_ms(const struct app *a);
/** Take an event to the engine; its effects follow when their time has come. */
void app_event(struct app *a, struct eng_event *ev);
/** Carry out what may be carried out, write what must be written. */
void app_pump(struct app *a);
/** The state could not be written or read: try again after a pause. */
void app_retry_later(struct app *a);
/** The state cannot be followed, why; NULL: it is again. */
void app_follow_lost(struct app *a, const struct err_info *why);
/** Forget all steps and events. */
void app_drop_steps(struct app *a);

/* ---- app_requests.c ---- */

/** Give an answer to the caller of its token, if that still waits. */
void app_answer(struct app *a, const struct eng_answer *answer);
/** The same with an outcome of the app's; reason may be NULL. */
void app_answer_outcome(struct app *a, uint64_t token, enum eng_outcome outcome, const char *reason);
/** Answer every waiting caller with OUT_CANCELLED. */
void app_cancel_callers(struct app *a);
/** The app's side of faces/face.h. */
extern const struct app_ops app_face_ops;

/* ---- app_exec.c: app_ops.exec_check, exec, exec_end ---- */

int app_exec_check(void *app, const char *container_id, struct err_info *why);
/** What YARN gives no way for from outside of a container. @param remedy  a clause [borrowed] @return ERR_UNSUPPORTED, *why filled */
int app_refuse_on_yarn(const char *container_id, const char *remedy, struct err_info *why);
int app_exec(void *app, const struct face_exec *what, void (*done)(void *arg), void *arg,
             struct face_session **out, struct err_info *why);
void app_exec_end(void *app, struct face_session *take_session);

/* ---- app_plan.c ---- */

/** app_ops.plan. */
void app_plan(void *app, struct eng_event *ev, void (*done)(void *arg, const struct eng_plan *plan, int code),
              void *arg);
/** End all with ERR_CANCELLED. */
void app_cancel_plans(struct app *a);

/* ---- app_effects.c ---- */

/** Carry out one effect. */
void app_carry_out(struct app *a, struct eng_effect *e);
/** Start the process of an effect (LAUNCH, REINIT) in its container, which has none. */
void app_launch(struct app *a, const struct eng_effect *e);

/* ---- app_reinit.c ---- */

/** Carry out EFF_REINIT: end the process, then start another one in its container. The effect is consumed. */
void app_reinit(struct app *a, struct eng_effect *e);
/** A process has ended. @return true: another one takes its place, so its end is nobody's concern */
bool app_reinit_exited(struct app *a, const char *container_id);
/** The container is stopped or released: nothing takes its place. */
void app_reinit_forget(struct app *a, const char *container_id);
/** Forget all. */
void app_reinit_fini(struct app *a);
/** Carry out EFF_FETCH: look for the files with the rights of their user. The effect is consumed. */
void app_fetch(struct app *a, struct eng_effect *e);
/** Stop and free all service timers. */
void app_drop_timers(struct app *a);

/* ---- app_cluster.c ---- */

extern const struct cluster_ops app_cluster_ops;
/** Result of a readiness probe; arg is the app. */
void app_probe_result(void *arg, const char *container_id, int64_t attempt, bool ready, const char *text);
/** dns_sync_def; arg is the app. */
bool app_revision(void *arg, char *out);
void app_dns_synced(void *arg, const char *container_id, int code, const char *text);
void app_dns_changed(void *arg, const char *url, const struct err_info *why);
/** Outcome of a change of the registry; arg is the app. */
void app_record_done(void *arg, int64_t ticket, int code, const char *text);
/** publish_follow_ops; arg is the app. */
void app_records_restored(void *arg, size_t n, const char *path);
void app_registry_back(void *arg);
/** Readiness may have changed with the registry, or with what waits for it; arg is the app. */
void app_registry_changed(void *arg);

/** The writer's node is written, unless that is going on. */
void app_renew(struct app *a);

/* ---- app_launcher.c ---- */

/** Read how the FrameworkLauncher API is configured: a->launcher, a->face.launcher. */
void app_launcher_open(struct app *a);
/** Release. */
void app_launcher_close(struct app *a);
/** Routes of all APIs, and of a manager. @param n  how many [out] @return borrowed until the next call */
const struct http_route *app_api_routes(struct app *a, size_t *n);
/** Their schemas, ended by a name NULL. [borrowed until the next call] */
const struct http_schema *app_api_schemas(struct app *a);
/** http_server_def.write_error: in the form of the API whose path it is. */
const char *app_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body);

/* ---- app_slider.c ---- */

/** Read how the Slider API is configured: a->slider, a->face.slider. */
void app_slider_open(struct app *a);
/** Release. */
void app_slider_close(struct app *a);
/** Complete the record of a Slider application or of one of its containers as its clients read it; others stay. @param e  EFF_PUBLISH [in,out] */
void app_slider_record(struct app *a, struct eng_effect *e);
/** app_ops.forward. */
bool app_slider_forward(void *app, struct http_req *req, const struct eng_service *s);
/** Services may have changed: requests that wait for their masters to take orders look. */
void app_slider_changed(struct app *a);
/** Rows of an application master: it answers those that read; others go to svcmgr. @param to  room for slider_n_routes @return how many */
size_t app_slider_master_routes(struct http_route *to);

/* ---- app_host.c ---- */

/** What the options declare of the host of a local cluster. @param report  errors are appended; NULL: they were found before
 *  @param out  app_host_fini [out] */
void app_host_read(const struct options *o, struct opt_report *report, struct spec_host *out);
/**
 * Devices of its resource types, as local_devices_init takes them.
 * @param host    what app_host_read found: a type has as many parts as it has units                  [borrowed]
 * @param report  errors are appended; NULL: they were found before
 * @return free()
 */
char *app_host_devices(const struct options *o, struct opt_report *report, const struct spec_host *host);
/** Release. */
void app_host_fini(struct spec_host *host);

/* ---- app_manual.c ---- */

/** Sections of the manual page: families of keys, properties of services, keys that do not apply. */
void app_manual(struct buf *out);

/* ---- app_sim.c ---- */

/** yarn.service.cluster is sim. */
bool app_is_simulated(const struct options *o);
/** What app_open_simulated would refuse. */
void app_check_simulated(const struct options *o, struct opt_report *report);
/** Open a->cluster as a simulation that holds what the loaded state says. @return 0; or ERR_CONFIG */
int app_open_simulated(struct app *a, struct err_info *why);

/* ---- app_keys.c: what the options say, in the forms of other folders ---- */

/** Text of any key of Hadoop's, of a row or not; NULL: it is not set. [borrowed] */
const char *app_hadoop_key(const struct options *o, const char *key);
/** Key of a row. Static. */
const char *app_option_key(int id);
/** For yarn/address.h, valid as long as *o; for fs/place.h, as long as the options. */
struct yarn_keys app_yarn_keys(const struct options *const *o);
struct fs_conf app_fs_conf(const struct options *o);
/**
 * What hadoop.rpc.protection accepts; nothing set: what the server has.
 *
 * @param out  filled on success                                                    [out]
 * @param why  filled on error, where is the key                                    [out]
 * @return 0; ERR_INVALID: another word; ERR_UNSUPPORTED: privacy alone.
 */
int app_protection(const struct options *o, struct sasl_wish *out, struct err_info *why);
/** What services on YARN need of the options: a state that masters on other hosts open, and the resource manager. */
void app_check_yarn(const struct options *o, struct opt_report *report);
/** Where nodes reach what we serve. free() */
char *app_files_url(const struct app *a);
/** What handles placement constraints in the resource manager. */
enum yarn_constraints app_constraints(const struct options *o);
/** Why the resource manager takes no placement constraints: NULL: it does. Static. */
const char *app_no_constraints(const struct options *o);
/** yarn.service.cluster is yarn. */
bool app_is_on_yarn(const struct options *o);

/* ---- app_standby.c ---- */

/** Where others reach our API. free() */
char *app_own_url(const struct app *a);

/** Become the writer of the state, then app_load; meanwhile stand by. */
void app_recover(struct app *a);
/** From now on the lease is renewed. */
void app_keep_lease(struct app *a);
/** Release what standing by and the lease need. */
void app_drop_standby(struct app *a);

/* ---- app_recover.c ---- */

/** Open the parts that touch the world, load the state, find the containers, resume, open the API; a failure ends the
 *  daemon. */
void app_load(struct app *a);
/** svcmgr cannot start: log why and end. */
void app_fail(struct app *a, int err, const struct err_info *why);
/** What app_listen would refuse, and what it opens to other hosts. */
void app_check_listen(const struct options *o, struct opt_report *report);
/** Open a->server: def has the routes and their docs, the rest is filled in. A failure ends the daemon. */
void app_listen(struct app *a, struct http_server_def *def);
/** Ready, once the API is open, unless something is degraded. */
void app_report_ready(struct app *a);
/** Every container was reported (cluster_ops.recovery_done). */
void app_resume(struct app *a);

/* ---- app.c ---- */

/** Open cluster and engine, unless they are. @return 0 or ERR_* with *why filled */
int app_open_parts(struct app *a, struct err_info *why);

/** Another process writes the state: stop acting at once, leave every container alone, and end. */
void app_fenced(struct app *a, const struct err_info *why);
/** The start table. */
extern const struct daemon_def app_daemon;

#endif
