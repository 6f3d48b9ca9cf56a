/**
 * The objects that the engine keeps: services, their components, their instances, how processes ended.
 *
 * All of them are owned by the engine and read-only for everybody else.
 * Thread: the engine's.   Source: design 5; YARN services API 4.
 */
#ifndef ENGINE_OBJECTS_H
#define ENGINE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/heap.h"
#include "base/map.h"
#include "engine/exit.h"
#include "engine/rules.h"
#include "engine/wait.h"
#include "engine/nodes.h"
#include "spec/spec.h"

/** Which API made a service: part of its key, so each API has names of its own; its policy is policy.h's row. */
/* clang-format off */
#define ENG_KINDS(X) \
    X(KIND_SERVICE, "service") \
    X(KIND_SLIDER, "slider") \
    X(KIND_LAUNCHER, "launcher")
/* clang-format on */

/** Service states; the drawing is in service.c. */
/* clang-format off */
#define ENG_SERVICE_STATES(X) \
    X(SVC_STOPPED, "STOPPED")     /* definition stored, nothing runs (saved, stopped, or expired) */ \
    X(SVC_ACCEPTED, "ACCEPTED")   /* launched; waits for the services it depends on */ \
    X(SVC_SUBMITTING, "SUBMITTING") /* its application is being submitted to the cluster */ \
    X(SVC_STARTED, "STARTED")     /* runs, not every component is STABLE */ \
    X(SVC_STABLE, "STABLE")       /* every wanted instance is up */ \
    X(SVC_UPGRADING, "UPGRADING") /* an operation moves instances to another revision of their component */ \
    X(SVC_FINISHING, "FINISHING") /* containers are being stopped */ \
    X(SVC_BACKOFF, "BACKOFF")     /* ended, the next incarnation follows when it is due */ \
    X(SVC_SUCCEEDED, "SUCCEEDED") /* ended by itself, all well */ \
    X(SVC_FAILED, "FAILED")       /* ended by itself or by the failure threshold */
/* clang-format on */

/** Instance states; the drawing is in instance.c. */
/* clang-format off */
#define ENG_INSTANCE_STATES(X) \
    X(INST_PENDING, "PENDING")     /* wants a container: waits for a dependency or for due_ms */ \
    X(INST_REQUESTED, "REQUESTED") /* container requested */ \
    X(INST_ALLOCATED, "ALLOCATED") /* container held, launch sent */ \
    X(INST_LAUNCHED, "LAUNCHED")   /* process accepted, address not known yet */ \
    X(INST_RUNNING, "RUNNING")     /* process runs, has IP and host, is not ready */ \
    X(INST_READY, "READY")         /* process runs and is ready */ \
    X(INST_DRAINING, "DRAINING")   /* process runs, its record is withdrawn: its clients leave, then it is stopped */ \
    X(INST_UPGRADING, "UPGRADING") /* process is replaced, in its container, by one of another revision */ \
    X(INST_EXITED, "EXITED")       /* process ended, container kept for a retry at due_ms */ \
    X(INST_RELEASING, "RELEASING") /* container is being stopped */ \
    X(INST_RECOVERING, "RECOVERING") /* process ran before a restart, whether it runs is not known yet: nothing replaces it */ \
    X(INST_SUCCEEDED, "SUCCEEDED") /* final: exit 0, no restart by policy */ \
    X(INST_FAILED, "FAILED")       /* final: other exit, no restart by policy */ \
    X(INST_STOPPED, "STOPPED")     /* final: stopped by request */
/* clang-format on */

/** Component states; the drawing is in component.c. WAITING shows as FLEXING. */
/* clang-format off */
#define ENG_COMPONENT_STATES(X) \
    X(COMP_WAITING, "WAITING")      /* a dependency is not ready, nothing requested yet */ \
    X(COMP_FLEXING, "FLEXING") \
    X(COMP_STABLE, "STABLE") \
    X(COMP_UPGRADING, "UPGRADING")  /* not all instances run the revision that the operation moves them to */ \
    X(COMP_SUCCEEDED, "SUCCEEDED") \
    X(COMP_FAILED, "FAILED") \
    X(COMP_STOPPED, "STOPPED")      /* the service ended, it had not */
/* clang-format on */

/** What a DRAINING instance waits for, in this order. */
/* clang-format off */
#define ENG_DRAINS(X) \
    X(DRAIN_NONE, "NONE") \
    X(DRAIN_RECORD, "RECORD") /* the registry deletes its record */ \
    X(DRAIN_SYNC, "SYNC")     /* the DNS servers answer without it */ \
    X(DRAIN_PAUSE, "PAUSE")   /* its clients leave */
/* clang-format on */

/** How an instance stands to a change of its revision; the last two are not stored but found by eng_instance_upgrade. */
/* clang-format off */
#define ENG_UPGRADES(X) \
    X(UPGRADE_NONE, "NONE") \
    X(UPGRADE_MOVING, "UPGRADING")          /* on its way to a process of its revision `goal` that is ready */ \
    X(UPGRADE_FAILED, "FAILED_UPGRADE")     /* the process of the new revision ended, or was not ready in time */ \
    X(UPGRADE_NEEDED, "NEEDS_UPGRADE")      /* an operation concerns it, and it was not begun */ \
    X(UPGRADE_REINITIALIZED, "REINITIALIZED") /* MOVING, and the process of the new revision runs */
/* clang-format on */

/** How the container of an instance was asked for, where nodes are remembered (eng_policy.remembers_nodes). */
/* clang-format off */
#define ENG_PLACINGS(X) \
    X(PLACING_UNKNOWN, "") \
    X(PLACING_OPEN, "Open")          /* on any node */ \
    X(PLACING_PLACED, "Placed")      /* on the node that it was on */ \
    X(PLACING_ESCALATED, "Escalated") /* on any node, as that one had no room for too long */
/* clang-format on */

/** An operation on a service; the drawing is in operation.c. */
/* clang-format off */
#define ENG_OPERATIONS(X) \
    X(OPERATION_UPGRADE, "upgrade") /* move instances to the revision of `target` */ \
    X(OPERATION_CANCEL, "cancel")   /* move those back that were moved */ \
    X(OPERATION_STOP, "stop")
/** Who moves the instances of an upgrade, and who finalizes it. */
#define ENG_MODES(X) \
    X(MODE_MANUAL, "manual")   /* requests, and a request */ \
    X(MODE_AUTO, "auto")       /* requests; when all are moved */ \
    X(MODE_EXPRESS, "express") /* the engine, one after the other; when all are moved */
#define ENG_RESULTS(X) \
    X(RESULT_NONE, "running") \
    X(RESULT_SUCCEEDED, "succeeded") \
    X(RESULT_FAILED, "failed")       /* nothing was moved, or the service ended meanwhile */ \
    X(RESULT_CANCELLED, "cancelled") \
    X(RESULT_REVERTED, "reverted")   /* cancelled by the engine, as an instance failed */
/* clang-format on */

#define ENG_ENUM_ROW(token, word) token,
enum eng_upgrade { ENG_UPGRADES(ENG_ENUM_ROW) };
enum eng_placing { ENG_PLACINGS(ENG_ENUM_ROW) };
enum eng_operation_kind { ENG_OPERATIONS(ENG_ENUM_ROW) };
enum eng_mode { ENG_MODES(ENG_ENUM_ROW) };
enum eng_result { ENG_RESULTS(ENG_ENUM_ROW) };
enum eng_kind { ENG_KINDS(ENG_ENUM_ROW) };
enum eng_service_state { ENG_SERVICE_STATES(ENG_ENUM_ROW) };
enum eng_instance_state { ENG_INSTANCE_STATES(ENG_ENUM_ROW) };
enum eng_component_state { ENG_COMPONENT_STATES(ENG_ENUM_ROW) };
enum eng_drain { ENG_DRAINS(ENG_ENUM_ROW) };
#undef ENG_ENUM_ROW
#define ENG_COUNT_ROW(token, word) +1
enum { ENG_N_INSTANCE_STATES = ENG_INSTANCE_STATES(ENG_COUNT_ROW) };
#undef ENG_COUNT_ROW

/** Word of a kind, as stored and in keys: "service". Static. Thread: any. */
const char *eng_kind_word(enum eng_kind kind);
#define ENG_PROGRESS_ALL 1000000 /* ppm */
#define ENG_WAITING_MS                                                                                       \
    200 /* so long an incarnation is shown as waiting where definitions are put (eng_policy.is_put) */

/** Words of the states as stored and explained. Static. Thread: any. */
const char *eng_service_state_word(enum eng_service_state s);
const char *eng_instance_state_word(enum eng_instance_state s);
const char *eng_component_state_word(enum eng_component_state s);
/** Words of operations, as stored and shown. Static. Thread: any. */
const char *eng_upgrade_word(enum eng_upgrade u);
/** "Placed"; "" where it is not known. */
const char *eng_placing_word(enum eng_placing p);
const char *eng_operation_word(enum eng_operation_kind kind);
const char *eng_mode_word(enum eng_mode mode);
const char *eng_result_word(enum eng_result result);

/** The end of a process that explains best why its service is as it is; it stays when the instance has gone. */
struct eng_failure {
    char *instance, *container_id; /* container_id: it ran in; NULL: in none */
    char *node_http;               /* of the pages of its node; NULL: not known */
    int64_t n_restarts;
    struct eng_exit *exit; /* never NULL */
};

/** Where the application master of a service runs. Texts are NULL where they are not known. */
struct eng_master {
    char *container_id;
    char *node_http; /* "host:port" of the pages of its node */
    char *url;       /* of its API */
};

/* All of these are owned by the engine and read-only for everybody else. */

/** What is done with a service beside keeping it as wanted; the last one stays readable when it is over. */
struct eng_operation {
    enum eng_operation_kind kind;
    enum eng_mode mode;
    enum eng_result result;
    bool auto_revert;            /* a failure cancels it */
    bool is_reverting;           /* it did */
    bool is_fetched;             /* what the target needs is there */
    bool is_final;               /* MANUAL: it may end */
    struct spec_service *target; /* definition of the new revision; NULL: STOP, or it is over */
    char *version;               /* of the target; NULL: STOP */
    char **moves;                /* instances that a request named and that were not begun */
    size_t n_moves;
    int64_t began_ms, ended_ms; /* time of day; 0: not yet */
    char *why;                  /* why it failed or was reverted: the first reason; NULL: it did not */
    bool is_fetching;           /* FETCH under way; not stored */
};

struct eng_instance {
    int64_t index; /* n of `<component>-<n>`, less the component's first_number */
    char *name;
    enum eng_instance_state state; /* changed with instance_enter */
    bool removing;                 /* RELEASING: removed once the container has ended */
    char *container_id;            /* NULL: holds none */
    char *last_container_id;       /* the container before; NULL: there was none */
    /* "host:port" of the pages of their nodes; NULL: not known, as on one host */
    char *node_http, *last_node_http;
    int64_t request_id;       /* of the container: of all of the incarnation the newest has the highest */
    char *wish;               /* REQUESTED: the node that it asks for first; NULL: any */
    bool is_relaxed;          /* that node had no room for too long: any is asked for; not stored */
    bool is_placed;           /* it counts where it is, see eng_use.n_held; not stored */
    int64_t ask_id;           /* REQUESTED: allocation id of its ask */
    int64_t asked_ms;         /* when it asked; engine time */
    bool is_migrating;        /* RELEASING: its policy decides what follows, as of an exit */
    bool is_held;             /* the cluster has given the container */
    int64_t attempt;          /* process starts within this container, from 1 */
    int64_t n_containers;     /* containers so far: the instance attempt */
    char *version;            /* component version that the container runs */
    int64_t revision;         /* of its component, that the process runs which was started last */
    int64_t goal;             /* that its next process runs */
    enum eng_upgrade upgrade; /* changed, with goal, by instance_set_goal */
    char *ip;                 /* address of the container, or planned one; NULL: not known */
    json_t *ports;        /* name → number of its named ports that were given as 0; NULL: none was chosen */
    int64_t gpus;         /* a bit for each GPU of its node that its container has; 0: none */
    char *hostname;       /* as reported by the node */
    char *bare_host;      /* node */
    int64_t allocated_ms; /* of the container; time of day; 0: not yet */
    enum eng_placing placing; /* how the container was asked for */
    /* time of day; 0: not yet. Since when there is such an instance; start of the first process in its container; when it became final */
    int64_t created_ms, launched_ms, completed_ms;
    int64_t running_ms; /* start of the process; engine time; 0: not running */
    /* engine time; 0: none. PENDING, EXITED: not before it; DRAINING: of the end of its phase; RECOVERING: when it is given up */
    int64_t due_ms;
    enum eng_drain drain; /* DRAINING: what it waits for */
    bool is_restarting;   /* DRAINING: then its process is replaced */
    int64_t backoff_ms;   /* next retry delay; 0: the first */
    int64_t n_retries;    /* in this container */
    /* since the service was started: ends of a process that another start followed, or will */
    int64_t n_restarts;
    json_t *retry_times;         /* with a validity interval: engine times of those that count; else NULL */
    struct eng_retries *retries; /* by the rules of its component, in this incarnation; NULL: none */
    struct eng_exit *last_exit;  /* how its last process ended; NULL: none did, or it was taken back */
    struct eng_waiting *wait;    /* why it is not further; NULL: nothing, or what its component waits for */
    bool published;              /* its record was asked for */
    bool record_unready;         /* it says that the instance is not ready */
    bool recovered;              /* EV_RECOVERED came; used between load and resume */
    bool unresumed;              /* EV_RESUME came, what was outstanding was not emitted again yet */
    bool dirty;                  /* to be persisted at the end of this step */
    uint64_t stored_hash;        /* of its document as it was last persisted; 0: never */
    bool unplaced;               /* PENDING: the placement constraints leave no room */
    struct heap_node due;        /* in a heap of its component, by its state */
    bool is_in_gang;             /* ALLOCATED: its launch waits for the containers of others */
    TAILQ_ENTRY(eng_instance) gang_link; /* of its service, while it is in the gang */
    struct eng_ask *ask;                 /* while it waits for a container in it; NULL: it does not */
    TAILQ_ENTRY(eng_instance) ask_link;  /* of its ask */
    struct heap_node failure; /* its last process has failed: in a heap of its component, by failure_rank */
    TAILQ_ENTRY(eng_instance) link;             /* of its component */
    TAILQ_ENTRY(eng_instance) dirty_link;       /* while it is dirty */
    TAILQ_ENTRY(eng_instance) unpublished_link; /* while its record could not be written */
    bool is_unpublished;
    struct eng_component *component; /* borrowed: the one it belongs to */
};
TAILQ_HEAD(eng_instance_list, eng_instance);

/** A request to the cluster, for some instances of a component: see asks.c. */
struct eng_ask {
    int64_t allocation_id; /* with the priority of its component its key in the cluster */
    int64_t n_wanted;      /* containers that are asked for now */
    char *host;            /* node that is asked for; NULL: any */
    int64_t n_cancelling;  /* asked for before, and taken back: they may come all the same */
    /* whom it is for, the oldest first: TAILQ_FOREACH (inst, &a->waiting, ask_link) */
    struct eng_instance_list waiting;
    struct eng_component *component;
    TAILQ_ENTRY(eng_ask) link; /* of its component */
};

/** How well the last end of an instance explains its service, the most last. */
enum failure_rank { RANK_NONE, RANK_UP_AGAIN, RANK_DOWN, RANK_FAILED, ENG_N_FAILURE_RANKS };

/** What has become of the containers of a component in this incarnation. */
struct eng_totals {
    int64_t n_requested;    /* asked for */
    int64_t n_started;      /* whose process ran */
    int64_t n_released;     /* ended as it was wanted */
    int64_t n_unplanned;    /* ended otherwise: the sum of those that succeeded and of all below */
    int64_t n_failed;       /* by the process, a limit or the node */
    int64_t n_start_failed; /* of these: before the process ran, or soon after */
    int64_t n_node_failed, n_limits, n_preempted;
    int64_t last_started_ms; /* when the process of one ran last; time of day; 0: none did */
};

struct eng_component {
    char *name;
    enum eng_component_state state;
    int64_t n_failures; /* counted failures in the window */
    /* of these: of processes that lived for a short time; where the policy counts them */
    int64_t n_start_failures;
    struct eng_totals totals;
    int64_t window_end_ms;   /* when n_failures is reset; engine time; 0: not running */
    int64_t health_from_ms;  /* first look at the health threshold; engine time; 0: none */
    int64_t health_due_ms;   /* next look; engine time; 0: none; not stored */
    int64_t health_below_ms; /* since when too few are ready; engine time; 0: enough are; not stored */
    int64_t revision;        /* of `spec`; the first is 0 */
    int64_t next_revision;   /* of an operation's target; 0: none concerns the component */
    int64_t last_revision;   /* highest that was given */
    bool moves_all;          /* a request wants all instances moved */
    /* unique_component_support: number in the name of the instance of index 0, and indices that were given in this incarnation */
    int64_t first_number, n_numbers;
    int64_t n_at_end; /* instances that were wanted when the incarnation ended; not all may have been made */
    /* WAITING: nothing of it survived a restart, so it waits for what its service depends on, too; not stored */
    bool is_back;
    bool retired;                       /* the definition lacks it: it goes when its last instance has gone */
    struct eng_instance_list instances; /* by index, ascending: TAILQ_FOREACH (inst, &c->instances, link) */
    size_t n_instances;
    TAILQ_HEAD(, eng_ask) asks; /* what is asked of the cluster for them; not stored but by the instances */
    struct eng_waiting *wait; /* why its instances are not requested; NULL: nothing to wait for; not stored */
    int64_t n_in[ENG_N_INSTANCE_STATES]; /* how many are in a state */
    /* the rest is of instances.c */
    struct eng_instance **by_index; /* NULL: there is none of this number */
    size_t n_by_index;
    int64_t n_removing;
    /* of those that stay: whose goal is next_revision; that are on their way to it; to another one; that have failed */
    int64_t n_moved, n_forth, n_back, n_failed_upgrades;
    int64_t next_move;       /* smaller numbers need no move */
    int64_t lowest_free;     /* every smaller number is that of an instance which stays, or decommissioned */
    int64_t staying_end;     /* greater than every number of an instance which stays */
    size_t n_decommissioned; /* of the specification's list: so many are dropped */
    /* by due_ms: PENDING and EXITED ones; DRAINING and RECOVERING ones that have one */
    struct heap starts, ends;
    struct heap unplaced;                      /* PENDING ones that there is no room for */
    struct heap failures[ENG_N_FAILURE_RANKS]; /* whose last process has failed, the latest first */
    /* in a document of before they had documents of their own; NULL once linked */
    struct eng_instance **stored;
    size_t n_stored;
    struct spec_component *spec; /* borrowed from the service's spec */
    struct eng_service *service; /* borrowed: the one it belongs to */
};

/** How far something has come that goes through all instances of a service, some in each step. {0}: to the first. */
struct eng_walk {
    size_t component;
    int64_t index; /* of the next instance, or less */
};

struct eng_order;

/** A request that the instance in a container gets another one: kept until it is carried out, or the container is not there. */
struct eng_migration {
    char *container_id;
    json_t *value; /* what was asked, as its API has it; NULL: nothing more */
};

/** Instances that get other containers, one after the other; the last one stays readable when it is over. See roll.c. */
struct eng_roll {
    char **pending; /* names of instances that were not begun */
    size_t n_pending;
    char *current; /* the one that is being replaced; NULL: none */
    char *left;    /* the container that it had */
    int64_t n_all, n_done, n_failed;
    enum eng_result result;
    int64_t began_ms; /* time of day */
    json_t *message;  /* why, as it was asked; NULL: that was not said */
};

struct eng_service {
    enum eng_kind kind; /* with user and name its key: two kinds may have services of one name */
    char *user, *name;
    char *registry_class; /* its records stand at /users/<user>/services/<registry_class>/<name> */
    char *dialect;        /* name of the one that it was made in: its lifetime follows that one for good */
    enum eng_service_state state;
    struct spec_service *spec;
    int64_t incarnation;              /* starts so far */
    char *app_id;                     /* NULL: never launched */
    int64_t app_seq;                  /* of app_id */
    int64_t next_container;           /* sequence number of the next container */
    int64_t launch_ms;                /* submission of this incarnation; time of day */
    int64_t started_ms;               /* time of day; 0: not STARTED yet */
    int64_t lifetime_end_ms;          /* engine time; 0: none */
    enum eng_service_state end_state; /* FINISHING: state to come */
    bool destroying;                  /* to be removed when everything has ended */
    /* Where definitions are put (eng_policy.is_put): the last one as its API has it, of no meaning here; when the first
     * and the last change of what is wanted was asked for, time of day; whether it is wanted to be stopped. */
    json_t *request;
    int64_t first_request_ms, last_request_ms;
    bool is_wanted_stopped;
    /* Of this incarnation, time of day; 0: not yet: when it was submitted, or began where nothing is; when nothing of it was left. */
    int64_t launched_ms, ended_ms;
    /* When it came to SUCCEEDED, FAILED or STOPPED; time of day, and engine time; 0: it has not, or never ran. */
    int64_t completed_ms, final_ms;
    bool purge_wanted;             /* registry subtree must still be removed */
    int64_t purge_ticket;          /* PURGE under way; 0: none */
    int64_t force_ms;              /* FINISHING: engine time at which stops are repeated with force */
    char *diagnostics;             /* why it ended; NULL: nothing to say */
    struct eng_instance_list gang; /* instances whose launch waits for the containers of others; not stored */
    int64_t gang_due_ms;           /* engine time at which that has taken too long; 0: nobody waits */
    struct spec_service *next_spec; /* another definition: everything starts anew from it; NULL: none waits */
    struct eng_rules *next_rules;   /* its rules */
    bool is_next_stopped;           /* it is not started */
    struct eng_rules *rules;        /* NULL: its API has none, or those by default */
    struct eng_retries *retries;    /* of the service by its rules; NULL: none */
    bool has_application;           /* it was submitted, and the cluster has not reported its end */
    bool is_handed_over;            /* its application master runs it: see away.c */
    /* the last one, by its container of an earlier application, too; NULL: none has begun */
    struct eng_master *master;
    bool is_handing_over;      /* in this step: what it is is written for the last time; not stored */
    struct eng_order **orders; /* requests for the application master that it has not carried out */
    size_t n_orders;
    int64_t last_order;   /* number of the last one that was given */
    int64_t n_ordered;    /* of the last one that the master has carried out */
    bool is_lifetime_set; /* the cluster knows when it ends; not stored */
    int64_t kill_ms; /* away: engine time at which its application is killed; 0: it need not be; not stored */
    bool is_finish_sent;             /* FINISHING: EFF_FINISH came; not stored */
    int64_t backoff_due_ms;          /* BACKOFF: engine time of the next incarnation */
    bool has_progress;               /* a request has said how far it has come: progress_ppm */
    int64_t progress_ppm;            /* 0 … ENG_PROGRESS_ALL */
    int64_t begun_ms;                /* engine time of its begin; 0: not known (format 1) */
    int64_t retry_pause_ms;          /* before it, as the one before ended soon; 0: none */
    struct eng_exit *exit;           /* how it ended by itself; NULL: it did not, or by request */
    char *trigger;                   /* instance whose end that was; NULL: no single one's */
    struct eng_failure *failure;     /* as it was when it ended; NULL: no process has failed */
    struct eng_waiting *wait;        /* why it is not further; NULL: nothing to wait for; not stored */
    struct eng_operation *operation; /* the last one; NULL: there was none */
    char **replacing;                /* instances that are to get another container, and were not begun */
    size_t n_replacing;
    struct eng_migration **migrations; /* by container, in the order of the requests */
    size_t n_migrations;
    struct eng_roll *roll; /* the last one of this incarnation; NULL: there was none */
    char **restarting;     /* instances whose process is to be replaced, and was not begun */
    size_t n_restarting;
    struct eng_component **components; /* start order; of an ended service: how each ended, no instances */
    size_t n_components;
    bool published; /* the service record is written or under way; not stored */
    /* an instance was drained without a confirmation of DNS, and none was confirmed since; not stored */
    bool is_unsynced;
    /* containers and applications that are gone: backlog.c; NULL: there were none */
    struct eng_backlog *backlog;
    struct eng_history *history; /* what happened to it: history.h; NULL: nothing yet */
    struct eng_pasts *pasts;     /* containers that have ended: past.h; NULL: none has; not stored */
    /* of this incarnation: containers that came and nobody had asked for, given back at once; ends of containers that it has never had */
    int64_t n_surplus, n_unknown_ended;
    struct map surplus;    /* ids of the former whose end has not come; not stored */
    char **stale, **ended; /* the same, from a document of format 1 */
    size_t n_stale, n_ended;
    char **excluded; /* nodes on which nothing of it may run, by host */
    size_t n_excluded;
    int64_t n_counted; /* containers with which it counts for quotas, and in which queue; not stored */
    char *counted_queue;
    int cascaded;             /* what its children were last woken for: parents.c; not stored */
    struct eng_places places; /* what it has met on nodes: documents of their own */
    struct map refused; /* permanent refusals of the registry: refusal_key → its message, owned; not stored */
    int64_t retry_ms; /* engine time at which failed registry work is repeated; 0: none failed; not stored */
    int64_t timer_ms; /* last TIMER effect; engine time; 0: none */
    /* number, among all of the engine, of the last step that may have changed it; 0: none since it was loaded; not stored */
    int64_t change;
    /* EV_RESUME came, and it or some of its instances were not resumed yet, but what the registry lacks was emitted; not stored */
    bool unresumed, is_registry_resumed;
    uint64_t *destroyers; /* tokens of DELETE requests that wait; not stored */
    size_t n_destroyers;
    /* engine time at which they are answered, whatever is left to do; not stored */
    int64_t destroyers_due_ms;
    /* to be persisted at the end of this step: what it is; what is wanted of it; its instances */
    bool dirty, is_wanted_dirty;
    struct eng_instance_list dirty_instances;
    /* instances whose record the registry could not take: written again at retry_ms; not stored */
    struct eng_instance_list unpublished;
    /* while it waits for a service it depends on */
    TAILQ_ENTRY(eng_service) waiting_link;
    bool is_waiting;
    /* how far EV_RESUME, and a stop by force, have come; not stored */
    struct eng_walk resumed, forced, evicted, put_down;
    struct eng_walk resynced;
    bool is_resyncing;    /* not everything outstanding was emitted again yet */
    bool is_putting_down; /* FINISHING: not every instance was put down yet */
    bool is_forcing;
    /* what it is came from its document, or it was made here; used while documents are loaded */
    bool is_loaded;
    bool has_runs; /* there is a document of what its application master runs; not stored */
};

#endif
