/**
 * The service engine: (state, event, now) → state + effects. Pure: no socket, clock, file, thread or log.
 *
 *     event ──> engine_step() ──> effects, in this order:
 *                                   PERSIST…  (documents: of the engine, of a service, of an instance)
 *                                   everything else
 *
 * The app makes the PERSIST effects of a step durable in ONE store transaction, and only then carries out the rest, in order;
 * the effects of a later step never overtake those of an earlier one. A step without PERSIST needs no write, but
 * keeps its place. While a write is under way further steps may be taken.
 *
 * A step changes one service and a bounded number of its instances: its documents fit one transaction, however large the
 * service. A request changes only the document of its service; instances follow in further steps (EV_TIMER of now).
 * A request that cannot be stored is undone with engine_undo; all other events are facts and stay.
 *
 * Objects: service ⊃ component ⊃ instance (`hello-0`), backed by at most one container at a time. A service is kept
 * by (kind, user, name); each start is a new incarnation with a new application id.
 *
 * Start-up: engine_new → engine_load for each stored document → engine_containers lists which should exist →
 * one EV_RECOVERED for each (running, exited, gone, unknown) → one EV_RESUME, which emits again whatever was outstanding: requests,
 * launches, stops, records, timers. Containers not reported by then count as gone. Effects may therefore come twice: a
 * second REQUEST for a container_id that is held is answered with EV_ALLOCATED again; STOP of a dead one with EV_EXITED
 * or EV_LOST; LAUNCH of a running one (same container_id and attempt) with EV_RUNNING.
 *
 * Time: engine time and time of day come with each event (struct eng_time). Every due time, age and length is computed with
 * engine time: ms > 0 on a monotonic clock that continues over a restart of the program; svcmgr/state/clock.h defines it over a
 * reboot. Time of day is stored for display only, so setting the wall clock makes nothing wait and nothing happen early. Members say which one they are.
 * Thread: one engine, one thread.   Source: design 5; YARN services API 4.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "bobbin/error.h"
#include "spec/spec.h"

/* ------------------------------------------------------------------ state -- */

/** Which API made the service; part of what is stored. */
enum eng_kind { KIND_SERVICE, KIND_SLIDER, KIND_LAUNCHER };

/** Service states; the drawing is in service.c. */
#define ENG_SERVICE_STATES(X)                                                                                \
    X(SVC_STOPPED, "STOPPED")     /* definition stored, nothing runs (saved, stopped, or expired) */         \
    X(SVC_ACCEPTED, "ACCEPTED")   /* launched; waits for the services it depends on                */        \
    X(SVC_STARTED, "STARTED")     /* runs, not every component is STABLE                          */         \
    X(SVC_STABLE, "STABLE")       /* every wanted instance is up                                  */         \
    X(SVC_FINISHING, "FINISHING") /* containers are being stopped                                  */        \
    X(SVC_SUCCEEDED, "SUCCEEDED") /* ended by itself, all well                                     */        \
    X(SVC_FAILED, "FAILED")       /* ended by itself or by the failure threshold                   */

/** Instance states; the drawing is in instance.c. */
#define ENG_INSTANCE_STATES(X)                                                                               \
    X(INST_PENDING, "PENDING")     /* wants a container: waits for a dependency or for due_ms     */         \
    X(INST_REQUESTED, "REQUESTED") /* container requested                                         */         \
    X(INST_ALLOCATED, "ALLOCATED") /* container held, launch sent                                 */         \
    X(INST_LAUNCHED, "LAUNCHED")   /* process accepted, address not known yet                      */        \
    X(INST_RUNNING, "RUNNING")     /* process runs, has IP and host, is not ready                  */        \
    X(INST_READY, "READY")         /* process runs and is ready                                   */         \
    X(INST_EXITED, "EXITED")       /* process ended, container kept for a retry at due_ms          */        \
    X(INST_RELEASING, "RELEASING") /* container is being stopped                                  */         \
    X(INST_SUCCEEDED, "SUCCEEDED") /* final: exit 0, no restart by policy                          */        \
    X(INST_FAILED, "FAILED")       /* final: other exit, no restart by policy                      */        \
    X(INST_STOPPED, "STOPPED")     /* final: stopped by request                                   */

/** Component states; the drawing is in component.c. WAITING shows as FLEXING. */
#define ENG_COMPONENT_STATES(X)                                                                              \
    X(COMP_WAITING, "WAITING") /* a dependency is not ready, nothing requested yet */                        \
    X(COMP_FLEXING, "FLEXING")                                                                               \
    X(COMP_STABLE, "STABLE")                                                                                 \
    X(COMP_SUCCEEDED, "SUCCEEDED")                                                                           \
    X(COMP_FAILED, "FAILED")                                                                                 \
    X(COMP_STOPPED, "STOPPED") /* the service ended, it had not */

/** How a process ended. */
#define ENG_EXIT_KINDS(X)                                                                                    \
    X(EXIT_NONE, "NONE")                                                                                     \
    X(EXIT_CODE, "CODE")       /* value: exit code 0..255                                             */     \
    X(EXIT_SIGNAL, "SIGNAL")   /* value: signal number                                                */     \
    X(EXIT_LAUNCH, "LAUNCH")   /* it could not be started; text says why                               */    \
    X(EXIT_LOST, "LOST")       /* container or host vanished; the exit is unknown                      */    \
    X(EXIT_STOPPED, "STOPPED") /* we stopped it                                                      */

#define ENG_ENUM_ROW(token, word) token,
enum eng_service_state { ENG_SERVICE_STATES(ENG_ENUM_ROW) };
enum eng_instance_state { ENG_INSTANCE_STATES(ENG_ENUM_ROW) };
enum eng_component_state { ENG_COMPONENT_STATES(ENG_ENUM_ROW) };
enum eng_exit_kind { ENG_EXIT_KINDS(ENG_ENUM_ROW) };
#undef ENG_ENUM_ROW

/** Words of the states as stored and explained. Static. Thread: any. */
const char *eng_service_state_word(enum eng_service_state s);
const char *eng_instance_state_word(enum eng_instance_state s);
const char *eng_component_state_word(enum eng_component_state s);

/** A typed exit. The texts may be NULL; who reports it bounds them: they are stored. */
struct eng_exit {
    int kind; /* enum eng_exit_kind */
    int64_t value;
    char *text;
    int64_t ended_ms;  /* time of day; in an event 0: that of the event */
    char *last_stderr; /* last lines of standard error, UTF-8; NULL: none are known */
};

/** The end of a process that explains best why its service is as it is; it stays when the instance has gone. */
struct eng_failure {
    char *instance, *container_id; /* container_id: it ran in; NULL: in none */
    int64_t n_restarts;
    struct eng_exit *exit; /* never NULL */
};

/* All of these are owned by the engine and read-only for everybody else. */

struct eng_instance {
    int64_t index; /* n of `<component>-<n>` */
    char *name;
    int state;               /* enum eng_instance_state */
    bool removing;           /* RELEASING: removed once the container has ended */
    char *container_id;      /* NULL: holds none */
    char *last_container_id; /* the container before; NULL: there was none */
    int64_t request_id;      /* of the container's request */
    int64_t attempt;         /* process starts within this container, from 1 */
    int64_t n_containers;    /* containers so far: the instance attempt */
    char *version;           /* component version that the container runs */
    char *ip;                /* address of the container, or planned one; NULL: not known */
    char *hostname;          /* as reported by the node */
    char *bare_host;         /* node */
    int64_t allocated_ms;    /* of the container; time of day; 0: not yet */
    int64_t running_ms;      /* start of the process; engine time; 0: not running */
    int64_t due_ms;          /* PENDING, EXITED: not before this engine time; 0: none */
    int64_t backoff_ms;      /* next retry delay; 0: the first */
    int64_t n_retries;       /* in this container */
    /* since the service was started: ends of a process that another start followed, or will */
    int64_t n_restarts;
    json_t *retry_times;        /* with a validity interval: engine times of those that count; else NULL */
    struct eng_exit *last_exit; /* how its last process ended; NULL: none did, or it was taken back */
    char *wait;                 /* why it is not further: for explain; NULL: nothing to wait for */
    bool published;             /* its record was asked for */
    bool record_unready;        /* it says that the instance is not ready */
    bool recovered;             /* EV_RECOVERED came; used between load and resume */
    bool unresumed;             /* EV_RESUME came, what was outstanding was not emitted again yet */
    bool dirty;                 /* to be persisted at the end of this step */
    struct eng_component *component; /* borrowed: the one it belongs to */
};

struct eng_component {
    char *name;
    int state;               /* enum eng_component_state */
    int64_t n_failures;      /* counted failures in the window */
    int64_t window_end_ms;   /* when n_failures is reset; engine time; 0: not running */
    int64_t health_from_ms;  /* first look at the health threshold; engine time; 0: none */
    int64_t health_due_ms;   /* next look; engine time; 0: none; not stored */
    int64_t health_below_ms; /* since when too few are ready; engine time; 0: enough are; not stored */
    struct eng_instance **instances; /* by index, ascending */
    size_t n_instances;
    struct spec_component *spec; /* borrowed from the service's spec */
    struct eng_service *service; /* borrowed: the one it belongs to */
};

struct eng_service {
    int kind; /* enum eng_kind */
    char *user, *name;
    int state; /* enum eng_service_state */
    struct spec_service *spec;
    int64_t incarnation;               /* starts so far */
    char *app_id;                      /* NULL: never launched */
    int64_t app_seq;                   /* of app_id */
    int64_t next_container;            /* sequence number of the next container */
    int64_t launch_ms;                 /* submission of this incarnation; time of day */
    int64_t started_ms;                /* time of day; 0: not STARTED yet */
    int64_t lifetime_end_ms;           /* engine time; 0: none */
    int end_state;                     /* FINISHING: state to come (enum eng_service_state) */
    bool destroying;                   /* to be removed when everything has ended */
    bool purge_wanted;                 /* registry subtree must still be removed */
    int64_t purge_ticket;              /* PURGE under way; 0: none */
    int64_t force_ms;                  /* FINISHING: engine time at which stops are repeated with force */
    char *diagnostics;                 /* why it ended; NULL: nothing to say */
    struct eng_failure *failure;       /* as it was when it ended; NULL: no process has failed */
    char *wait;                        /* ACCEPTED: which service it waits for */
    struct eng_component **components; /* start order; of an ended service: how each ended, no instances */
    size_t n_components;
    bool published; /* the service record is written or under way; not stored */
    char **stale;   /* containers whose records must still be deleted */
    size_t n_stale;
    struct map refused; /* permanent refusals of the registry: refusal_key → its message, owned; not stored */
    char **ended;       /* containers and applications whose end is still to be reported to the registry */
    size_t n_ended;
    int64_t retry_ms; /* engine time at which failed registry work is repeated; 0: none failed; not stored */
    int64_t timer_ms; /* last TIMER effect; engine time; 0: none */
    /* EV_RESUME came, and it or some of its instances were not resumed yet, but what the registry lacks was emitted; not stored */
    bool unresumed, is_registry_resumed;
    uint64_t *destroyers; /* tokens of DELETE requests that wait; not stored */
    size_t n_destroyers;
    /* engine time at which they are answered, whatever is left to do; not stored */
    int64_t destroyers_due_ms;
    bool dirty, has_dirty_instances; /* to be persisted at the end of this step: its own document; theirs */
};

/* ----------------------------------------------------------------- events -- */

#define ENG_EVENTS(X)                                                                                                   \
    /* requests of a face: token is echoed in exactly one ANSWER */                                                     \
    X(EV_CREATE)       /* user, take_spec (completed), save                                        */                   \
    X(EV_FLEX)         /* user, name, flex[n_flex]                                                 */                   \
    X(EV_STOP)         /* user, name                                                               */                   \
    X(EV_START)        /* user, name                                                               */                   \
    X(EV_DESTROY)      /* user, name                                                               */                   \
    X(EV_LIFETIME)     /* user, name, lifetime_s > 0                                               */                   \
    X(EV_DECOMMISSION) /* user, name, names[n_names]: instance names                              */                    \
    /* containers: container_id; unknown ones that are alive are released */                                            \
    X(EV_ALLOCATED) /* user, name, container_id, host; request_id where the cluster names containers itself, else 0 */  \
    X(EV_WAITING) /* container_id: its REQUEST, LAUNCH or recovery waits; text says for what */                         \
    X(EV_ADDRESS) /* container_id, ip: another program has it, the REQUEST or LAUNCH is over; an older ip is ignored */ \
    X(EV_LAUNCHED) /* container_id, attempt: the node took the launch; the address follows         */                   \
    X(EV_RUNNING)  /* container_id, attempt, ip, host: the process runs (LAUNCHED is not required) */                   \
    X(EV_EXITED) /* container_id, attempt (0: container ended), exit. Exits of an older attempt are ignored */          \
    X(EV_LOST)   /* container_id: container or node vanished, or a STOP or LAUNCH found none; text */                   \
    X(EV_PROBE)  /* container_id, attempt, ready, text                                          */                      \
    X(EV_RECORD) /* ticket, code: 0 or ERR_*; one for every ticket, in bounded time but for ENDED       */              \
    X(EV_REGISTRY) /* the registry is heard again, or is another one: it is asked once more for what it has refused */  \
    X(EV_TIMER) /* user, name: the time of the service's last TIMER effect has come             */                      \
    /* start-up */                                                                                                      \
    X(EV_RECOVERED) /* container_id, attempt, found; found EXITED: exit; RUNNING: ip, host           */                 \
    X(EV_RESUME)    /* all documents loaded, all containers reported                                */

#define ENG_EVENT_ROW(token) token,
enum eng_event_kind { ENG_EVENTS(ENG_EVENT_ROW) };
#undef ENG_EVENT_ROW
/** Token of an event kind, as "EV_CREATE". Static. Thread: any. */
const char *eng_event_word(enum eng_event_kind kind);

/** UNKNOWN: it may run or have ended. The instance keeps its state and nothing takes its place; another EV_RECOVERED follows,
 *  also after EV_RESUME. */
enum eng_found { FOUND_RUNNING, FOUND_EXITED, FOUND_GONE, FOUND_UNKNOWN };

struct eng_flex {
    const char *component;
    int64_t count; /* wanted number, or the change */
    bool relative;
};

/** When an event happens; see the top. */
struct eng_time {
    int64_t now_ms;  /* engine time, > 0 */
    int64_t wall_ms; /* time of day: ms since the epoch */
};

/** One event. Everything is borrowed for the call, except take_spec. Members a kind does not name are zero. */
struct eng_event {
    enum eng_event_kind kind;
    uint64_t token;
    const char *user, *name;
    struct spec_service *take_spec; /* the engine owns it, whatever the outcome */
    bool save;
    const struct eng_flex *flex;
    size_t n_flex;
    const char *const *names;
    size_t n_names;
    int64_t lifetime_s;
    const char *container_id;
    int64_t request_id;
    int64_t attempt;
    const char *ip, *host;
    struct eng_exit exit;
    enum eng_found found;
    bool ready;
    int64_t ticket;
    int code;
    const char *text;
};

/* ---------------------------------------------------------------- effects -- */

#define ENG_EFFECTS(X)                                                                                               \
    X(EFF_PERSIST) /* key, bytes (NULL: delete the document), len                              */                    \
    X(EFF_REQUEST) /* container_id, request: a container of this size. Answer: EV_ALLOCATED or EV_WAITING */         \
    X(EFF_CANCEL)  /* container_id: the request is not needed any more; no answer               */                   \
    X(EFF_RELEASE) /* container_id: give a container back that has no process; no answer. Its directory may go */    \
    X(EFF_LAUNCH) /* container_id, launch: start the process. Answer: EV_RUNNING, or EV_EXITED with EXIT_LAUNCH */   \
    X(EFF_STOP) /* container_id, force: end process and container. Answer: EV_EXITED or EV_LOST, attempt 0 */        \
    X(EFF_PROBE_START) /* container_id, probe                                                      */                \
    X(EFF_PROBE_STOP)  /* container_id                                                              */               \
    /* record effects of one service are carried out in their order */                                               \
    X(EFF_PUBLISH)   /* path, record, ticket: create parents, write with overwrite                */                 \
    X(EFF_UNPUBLISH) /* path, ticket: delete one record; no such path is success                  */                 \
    X(EFF_PURGE)     /* path, ticket: delete path and all below; no such path is success          */                 \
    X(EFF_ENDED) /* path, text, ticket: report to the registry that the container or application `text` has ended */ \
    X(EFF_ANSWER) /* answer                                                                   */                     \
    X(EFF_TIMER) /* at_ms: send EV_TIMER at this engine time; replaces the service's earlier one; 0: none */         \
    X(EFF_NOTE)  /* text: a line for the log                                                 */

#define ENG_EFFECT_ROW(token) token,
enum eng_effect_kind { ENG_EFFECTS(ENG_EFFECT_ROW) };
#undef ENG_EFFECT_ROW
/** Token of an effect kind, as "EFF_PERSIST". Static. Thread: any. */
const char *eng_effect_word(enum eng_effect_kind kind);

/** What is asked of the cluster. */
struct eng_request {
    int64_t request_id; /* unique in the application; for clusters that name containers themselves */
    int64_t memory_mb, vcores;
    char *queue; /* of the service, else the default one; for clusters that have queues */
    char *label; /* host label, or NULL */
    char *ip;    /* address kept for this instance, or NULL: the cluster's own */
    char *component, *instance;
};

enum eng_file_mode {
    FILE_BYTES,  /* write bytes                                                     */
    FILE_COPY,   /* copy of src                                                     */
    FILE_EXPAND, /* text of src through spec_expand(text, values)                    */
    FILE_UNPACK  /* unpack the archive src                                          */
};

struct eng_file {
    char *name; /* relative to the working directory: "conf/x", "x" */
    enum eng_file_mode mode;
    char *bytes;
    size_t len;
    char *src;
};

/** A process start. env order matters: later ones win. In command and env values the launcher expands `<LOG_DIR>`. */
struct eng_launch {
    char *instance, *component, *app_id;
    char *run_as;    /* user of the service */
    int64_t attempt; /* echoed in events */
    char *command; /* for a shell, already with redirection to <LOG_DIR>/stdout.txt, stderr.txt; NULL: none */
    struct eng_env {
        char *name, *value;
    } * env;
    size_t n_env;
    struct eng_file *files;
    size_t n_files;
    json_t *values; /* placeholders for FILE_EXPAND */
    int64_t memory_mb, vcores;
    char *ip;    /* CONTAINER_IP, or NULL */
    size_t left; /* of SPEC_EXPANDED_MAX */
    /* why nothing can be started: the texts have more; NULL: they have not. Else some are missing */
    char *too_large;
};

/** A readiness probe. All texts are final. The first result and every change of it are reported (EV_PROBE). */
struct eng_probe {
    enum spec_check type;
    int64_t attempt;
    char *ip;          /* of the container */
    char *dns_name;    /* instance name in DNS, to be resolved before; NULL: no DNS check */
    char *dns_address; /* "ip:port", or NULL: system resolver */
    char *url;         /* HTTP: ${THIS_HOST} replaced */
    int64_t port;      /* PORT */
    int64_t timeout_ms, min_success, max_success;
    int64_t interval_ms; /* at most between two probes; until the first success 0, 50, 100, 200 … up to it */
};

/** A registry record. NULL members are not written. */
struct eng_record {
    char *description, *yarn_id, *persistence, *ip, *hostname, *component;
    bool is_unready; /* a container whose readiness probe does not succeed */
};

/** Outcomes of requests; the face turns them into status and words. */
#define ENG_OUTCOMES(X)                                                                                      \
    X(OUT_LAUNCHED)       /* app_id                                     */                                   \
    X(OUT_SAVED)          /* version                                    */                                   \
    X(OUT_FLEXED)         /* component, n_old, n_new (of the last one)  */                                   \
    X(OUT_STOPPED)        /*                                            */                                   \
    X(OUT_STARTED)        /* app_id                                     */                                   \
    X(OUT_DESTROYED)      /*                                            */                                   \
    X(OUT_LIFETIME_SET)   /* at_ms (time of day, to be shown), n_new seconds */                              \
    X(OUT_DECOMMISSIONED) /*                                           */                                    \
    X(OUT_TAKEN)          /* create: the name is in use                 */                                   \
    X(OUT_HOME_TAKEN)     /* create, start: user, who has services in the same registry directory */         \
    X(OUT_NOT_FOUND)      /* no such service                            */                                   \
    X(OUT_NO_COMPONENT)   /* component                                  */                                   \
    X(OUT_NO_INSTANCE)    /* component: the instance name               */                                   \
    X(OUT_BAD_COUNT)      /* component, n_new: result would be negative */                                   \
    X(OUT_TOO_MANY)       /* component, n_new: result; n_old: most allowed */                                \
    X(OUT_ALREADY_STOPPED)                                                                                   \
    X(OUT_ALREADY_LIVE)  /* start while live                           */                                    \
    X(OUT_NOT_RUNNING)   /* state                                      */                                    \
    X(OUT_NOT_SUBMITTED) /* saved, never launched                      */                                    \
    X(OUT_PURGE_FAILED)  /* destroy: registry clean-up failed, it is retried */                              \
    X(OUT_STILL_RUNNING) /* destroy: its containers have not ended yet, it continues */                      \
    /* never made by the engine, but by the app: */                                                          \
    X(OUT_CANCELLED)    /* it is stopping                                                                 */ \
    X(OUT_STORE_FAILED) /* reason: what the store says; it was not written, the request was taken back    */ \
    X(OUT_TOO_LARGE)    /* reason: the state is larger than may be stored; the request was taken back    */  \
    X(OUT_NOT_STORABLE) /* reason: the state can never be written; the request was taken back             */ \
    X(OUT_UNKNOWN)      /* the store did not say what became of the write                                 */ \
    X(OUT_BUSY)         /* too much waits for the store; nothing was done                                 */

#define ENG_OUTCOME_ROW(token) token,
enum eng_outcome { ENG_OUTCOMES(ENG_OUTCOME_ROW) };
#undef ENG_OUTCOME_ROW
/** Token of an outcome, as "OUT_LAUNCHED". Static. Thread: any. */
const char *eng_outcome_word(enum eng_outcome outcome);

struct eng_answer {
    uint64_t token;
    enum eng_outcome outcome;
    enum eng_service_state state; /* of the service, when there is one */
    char *name, *app_id, *version, *component, *user;
    char *reason; /* never set by the engine: why the store did not take the write */
    int64_t n_old, n_new;
    int64_t at_ms;
};

/** One effect. It owns all it points to (eng_effect_fini); members a kind does not name are zero. */
struct eng_effect {
    enum eng_effect_kind kind;
    char *user, *name; /* service it belongs to; NULL for the engine document and unknown containers */
    /* PERSIST: "engine", "services/<user>/<name>", or "services/<user>/<name>/<instance>"; elements are
     * percent-encoded beyond [a-z0-9.-] */
    char *key;
    char *bytes;
    size_t len;
    char *container_id;
    bool force;
    char *path; /* absolute registry path, "/users/…" */
    int64_t ticket;
    int64_t at_ms;
    char *text;
    struct eng_request *request;
    struct eng_launch *launch;
    struct eng_probe *probe;
    struct eng_record *record;
    struct eng_answer *answer;
};

/** Effects in order. Start as {0}; release what is left with eng_effects_fini. */
struct eng_effects {
    struct eng_effect *items;
    size_t n, cap;
};

/** Release what an effect owns; the effect is zeroed. Thread: any. */
void eng_effect_fini(struct eng_effect *e);
/** Append all effects of `from` to `to`; `from` is empty and usable again. Thread: any. */
void eng_effects_move(struct eng_effects *from, struct eng_effects *to);
/** Release all effects and the list; it is empty and usable again. Thread: any. */
void eng_effects_fini(struct eng_effects *list);

/* ----------------------------------------------------------------- engine -- */

struct engine_config {
    const struct dialect *dialect;
    /* cluster timestamp of a new engine document: µs since the epoch. A resource manager's is ms, so
     * no application of YARN has the id of one of ours, whenever either was started */
    int64_t cluster_ts;
    const char *domain;    /* hadoop.registry.dns.domain-name, or NULL     [copied] */
    const char *zk_quorum; /* hadoop.registry.zk.quorum, or NULL           [copied] */
    const char *fs_uri;    /* fs.defaultFS; NULL: file:///                 [copied] */
    const char *base_path; /* yarn.service.base.path; NULL: /user/<user>/.yarn [copied] */
    /* "127.77.0.0/16": addresses of instances; NULL: the cluster gives them [copied] */
    const char *address_net;
    bool one_host;             /* every node and rack is this host: placement constraints are decided here */
    const char *queue;         /* default queue                               [copied] */
    int64_t max_containers;    /* of one component; 0: SPEC_MAX_CONTAINERS */
    int64_t probe_interval_ms; /* default of yarn.service.readiness-check-interval.seconds */
    int64_t retry_interval_ms; /* default of yarn.service.container-failure.retry-interval-ms */
};

struct engine;

/** Whether engine_new accepts a configuration. @return 0; or its error. */
int engine_check(const struct engine_config *cfg, struct err_info *why);
/**
 * A new engine without services.
 *
 * @param cfg  configuration; texts are copied, dialect is static                [borrowed]
 * @param out  free with engine_free                                             [out]
 * @return 0; or ERR_CONFIG: address_net is no IPv4 prefix of length 8..30.
 */
int engine_new(const struct engine_config *cfg, struct engine **out, struct err_info *why);
/** Free; NULL is fine. */
void engine_free(struct engine *e);
/**
 * Load one stored document, before EV_RESUME; that of a service before those of its instances.
 *
 * @param key    as in EFF_PERSIST                                                [borrowed]
 * @param bytes  its `len` bytes                                                  [borrowed]
 * @return 0; or ERR_JSON: not a document of this key, why->where the place; nothing was loaded.
 */
int engine_load(struct engine *e, const char *key, const char *bytes, size_t len, struct err_info *why);

/** A container that should exist according to the loaded state. All borrowed. */
struct eng_container_ref {
    const struct eng_service *service;
    const struct eng_component *component;
    const struct eng_instance *instance;
    int64_t memory_mb, vcores;
    /* a process may run in it; else the container is only held (ALLOCATED before launch, EXITED) */
    bool process;
};
/** Call fn for each container that is held, in no order. */
void engine_containers(const struct engine *e, void (*fn)(void *arg, const struct eng_container_ref *c),
                       void *arg);

/**
 * Take one event.
 *
 * @param ev      the event; take_spec is consumed                                [borrowed]
 * @param now     when it happens; now.now_ms is not before that of the last step
 * @param out     effects are appended: PERSIST first, see the top                 [in,out]
 * Events that do not fit the state are ignored with a NOTE.
 */
void engine_step(struct engine *e, const struct eng_event *ev, struct eng_time now, struct eng_effects *out);

/** A service as it was before a request: what engine_undo goes back to. */
struct eng_kept;
/** Keep a service that a request is about to change; it need not exist yet. All is copied. eng_kept_free */
struct eng_kept *engine_keep(const struct engine *e, const char *user, const char *name);
/** Free; NULL is fine. */
void eng_kept_free(struct eng_kept *kept);
/**
 * Take a request back whose documents could not be stored: the service is again what it was, or gone if it was not there.
 *
 * @param kept  from right before the step of the request; since then no other step has changed this service   [borrowed]
 * @param out   TIMER effects are appended: for this service, if it exists, and for those that may have seen the change [in,out]
 * The effects of the undone step must be dropped.
 */
void engine_undo(struct engine *e, const struct eng_kept *kept, int64_t now_ms, struct eng_effects *out);
/** Whether the store can name the documents of a service. @return 0; or ERR_PATH with the limit in *why. */
int engine_check_key(const char *user, const char *name, struct err_info *why);
/**
 * Whether the documents of a component's instances can be named, whatever their numbers, and files that have their names.
 *
 * @return 0; or ERR_PATH with the limit in *why.
 */
int engine_check_component_key(const char *component, struct err_info *why);
/** "user/name" of the service that the event is about; NULL: it is about none that is known. free() */
char *engine_service_of(const struct engine *e, const struct eng_event *ev);
/** The event is a request of a face. */
bool eng_event_is_request(const struct eng_event *ev);

/** A service, or NULL. [borrowed until the next step] */
const struct eng_service *engine_find(const struct engine *e, const char *user, const char *name);
/** The services of a user (NULL: of all) sorted by user and name; NULL-terminated, free() the array. */
const struct eng_service **engine_list(const struct engine *e, const char *user);
/** Which service holds or requested this container; NULL: none. *instance is set when found. */
const struct eng_service *engine_find_container(const struct engine *e, const char *container_id,
                                                const struct eng_instance **instance);
/** Path of a service's record, or of an instance's when container_id is not NULL. free() */
char *engine_record_path(const struct eng_service *s, const char *container_id);

/** Global placeholders of a service (SERVICE_NAME, USER, …) as a new object of strings. */
json_t *engine_placeholders(const struct engine *e, const struct eng_service *s);
/** Name of an instance in DNS, without a domain where none is configured: "hello-0.web.alice.cluster.example". free() */
char *engine_dns_name(const struct engine *e, const struct eng_instance *inst);
/** Instances that run now (RUNNING, READY). */
int64_t eng_service_n_running(const struct eng_service *s);
/** Seconds left of the lifetime at an engine time, -1 without a limit. Never negative otherwise. */
int64_t eng_service_lifetime_left_s(const struct eng_service *s, int64_t now_ms);
/**
 * The instance whose failure explains most: one that is FAILED before one that is to be started again, the latest first; an instance that
 * is up has not failed. [borrowed]; NULL: there is none, as in a service that has ended (its `failure` has it).
 */
const struct eng_instance *eng_service_failing(const struct eng_service *s);
/** How a process or its container ended, for a person: the cluster's sentence, else "exit code 3". free() */
char *eng_exit_text(const struct eng_exit *x);
/** Of such an end: "exited", "signalled", "not_started", "lost", "stopped". Static. */
const char *eng_exit_cause(const struct eng_exit *x);
/** It did not end well, and not because it was stopped. */
bool eng_exit_is_failure(const struct eng_exit *x);
/** Permanent refusals of the registry for this service, in a sentence: free(); NULL: none. */
char *eng_service_refusals(const struct eng_service *s);
/** The service was launched and has not ended. */
bool eng_service_is_live(const struct eng_service *s);

#endif
