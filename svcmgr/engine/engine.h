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
 * launches, stops, records, timers. Containers not reported by then count as gone, unless the cluster reports late. Effects may therefore come twice: a
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

#include "bobbin/error.h"
#include "engine/effect.h"
#include "engine/event.h"
#include "engine/objects.h"
#include "spec/spec.h"

/** Most containers that services may want together; 0: any number. */
struct engine_quotas {
    int64_t user;  /* of one user */
    int64_t queue; /* in one queue */
    int64_t tasks; /* of all frameworks, ended ones too until they are destroyed */
};

/** What an engine does of a service. */
enum engine_role {
    ROLE_WHOLE,   /* everything */
    ROLE_MANAGER, /* takes requests, submits applications; their application masters run them: away.c */
    ROLE_MASTER   /* runs the one service of an application */
};

struct engine_config {
    enum engine_role role;
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
    /* containers may be reported after EV_RESUME, for yarn.service.container-recovery.timeout.ms of their service; false: what was
     * not reported by then is lost */
    bool late_reports;
    bool one_host;          /* every node and rack is this host: placement constraints are decided here */
    const char *queue;      /* default queue                               [copied] */
    int64_t max_containers; /* of one component; 0: SPEC_MAX_CONTAINERS */
    struct engine_quotas quotas;
    int64_t probe_interval_ms; /* default of yarn.service.readiness-check-interval.seconds */
    struct eng_master master;  /* ROLE_MASTER: who we are, stored with the service [copied] */
    bool submits;              /* the cluster takes applications: EFF_SUBMIT, EFF_FINISH */
    /* so long a service of an API that collects them (eng_policy.is_put) is kept when it has ended; 0: for ever */
    int64_t retain_ms;
    /* types of exit codes, in the order of the codes, of which each is once: static; NULL: those by default */
    const struct eng_exit_row *exits;
    size_t n_exits;
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

/**
 * Load the documents of a service anew, whose application has ended: what it is is ours again. EV_APP_ENDED follows. ROLE_MANAGER.
 *
 * @param user, name  of the service; no such one: nothing happens
 * engine_load follows for what it is and all below, parents first, then engine_taken_back.
 */
void engine_take_back(struct engine *e, enum eng_kind kind, const char *user, const char *name);
/** All are loaded. */
void engine_taken_back(struct engine *e, enum eng_kind kind, const char *user, const char *name);
/** Its application master runs it. ROLE_MANAGER. */
bool engine_is_away(const struct engine *e, const struct eng_service *s);
/** Whether its app_id is what the cluster calls its application: of a manager it is another one until that is submitted. */
bool engine_has_named(const struct engine *e, const struct eng_service *s);
/** How promising another try is after an exit. */
enum eng_exit_type engine_exit_type(const struct engine *e, const struct eng_exit *x);
/** The types of exit codes that count. @param n  how many [out] @return the rows, in the order of the codes. [borrowed] */
const struct eng_exit_row *engine_exits(const struct engine *e, size_t *n);
/** Key of the document of what a service is, as in EFF_PERSIST: "services/alice/web". free() */
char *engine_service_key(const struct eng_service *s);
/** Key of what is wanted of it. free() */
char *engine_definition_key(const struct eng_service *s);
/** The service of a key, or of one below it; NULL: there is none. [borrowed until the next step] */
const struct eng_service *engine_service_of_key(const struct engine *e, const char *key);

/** A container that should exist according to the loaded state. All borrowed. */
struct eng_container_ref {
    const struct eng_service *service;
    const struct eng_component *component;
    const struct eng_instance *instance;
    int64_t memory_mb, vcores;
    /* a process may run in it; else the container is only held (ALLOCATED before launch, EXITED) */
    bool process;
};
/** Call fn for each container that is held, in the order of services and instances. */
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
/** Keep a service that a request is about to change; it need not exist yet. All is copied. eng_kept_free. With user NULL it is the document of
 *  the cluster of that name. */
struct eng_kept *engine_keep(const struct engine *e, enum eng_kind kind, const char *user, const char *name);
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
/** "service/user/name" of the service that the event is about; NULL: it is about none that is known. free() */
char *engine_service_of(const struct engine *e, const struct eng_event *ev);
/** The event is a request of a face. */
bool eng_event_is_request(const struct eng_event *ev);

/** A service, or NULL. [borrowed until the next step] */
const struct eng_service *engine_find(const struct engine *e, enum eng_kind kind, const char *user,
                                      const char *name);
/** The service of a kind whose names are of all users together (eng_policy.is_put), unless it is being destroyed; NULL: there is none. In constant
 *  time. [borrowed until the next step] */
const struct eng_service *engine_find_framework(const struct engine *e, const char *name);
/** The service whose application, the last one, has an id; NULL: there is none. In constant time. [borrowed until the next step] */
const struct eng_service *engine_find_application(const struct engine *e, const char *application_id);
/** What is wanted of a service: another version that waits, else what runs. [borrowed until the next step] */
const struct spec_service *eng_service_wanted(const struct eng_service *s);
/** The rules of that; NULL: it has none. [borrowed until the next step] */
const struct eng_rules *eng_service_wanted_rules(const struct eng_service *s);
/** Name of a service, of a component, as its API has it. [borrowed until the next step] */
const char *eng_service_title(const struct eng_service *s);
const char *eng_component_title(const struct eng_component *c);
/** Requests to move that were not carried out, of an application master, too: container id → what was asked, or null. json_decref */
json_t *eng_service_migrations(const struct eng_service *s);
/** A document of the cluster; NULL: it was never set, or deleted. [borrowed until the next step] */
const json_t *engine_cluster_document(const struct engine *e, enum eng_cluster_document document);
/** Containers that count for a quota, as OUT_QUOTA names it: "user alice", "queue default", "frameworks". */
int64_t engine_used(const struct engine *e, const char *scope);
/** The services of a user (NULL: of all) and of each kind, sorted by kind, user and name; NULL-terminated, free() the array. */
const struct eng_service **engine_list(const struct engine *e, const char *user);
/** Those of one kind only. */
const struct eng_service **engine_list_kind(const struct engine *e, enum eng_kind kind, const char *user);
/** A component of a service, or one of its instances, removed ones too, by name; NULL: it has none. [borrowed until the next step] */
const struct eng_component *eng_service_component(const struct eng_service *s, const char *name);
const struct eng_instance *eng_service_instance(const struct eng_service *s, const char *name);
/** Which service holds or requested this container; NULL: none. *instance is set when found. */
const struct eng_service *engine_find_container(const struct engine *e, const char *container_id,
                                                const struct eng_instance **instance);
/** Path of a service's record, or of an instance's when container_id is not NULL. free() */
char *engine_record_path(const struct eng_service *s, const char *container_id);

/** Global placeholders of a service (SERVICE_NAME, USER, …) as a new object of strings. */
json_t *engine_placeholders(const struct engine *e, const struct eng_service *s);
/** Name of an instance in DNS, without a domain where none is configured: "hello-0.web.alice.cluster.example". free() */
char *engine_dns_name(const struct engine *e, const struct eng_instance *inst);
/** The same of a service, or of what is below it. @param below  "hello", "_http._tcp.hello"; NULL: the service's own name [borrowed] @return free() */
char *engine_dns_name_below(const struct engine *e, const struct eng_service *s, const char *below);
/** Of the key of an ask: the lower is asked first. */
int64_t eng_ask_priority(const struct eng_ask *a);
/** When its oldest instance asked; engine time; 0: nobody waits. */
int64_t eng_ask_since_ms(const struct eng_ask *a);
/** Instances that run now (RUNNING, READY). */
int64_t eng_service_n_running(const struct eng_service *s);
/** How far it has come: 0 … ENG_PROGRESS_ALL. Source: framework-launcher 5.11. */
int64_t eng_service_progress_ppm(const struct eng_service *s);
/** Number of a port that its component names; 0: none was chosen yet. */
int64_t eng_instance_port(const struct eng_instance *inst, const struct spec_port *port);
/**
 * The ports of a task: "http:8080,8081;ssh:20012;", fixed ones first, then those that were chosen, ascending, as far as they are.
 * @return "": it has none, or its component is none of tasks; free()   Thread: the engine's.   Source: framework-launcher 12.2.
 */
char *eng_task_ports_text(const struct eng_instance *inst);
/** Seconds left of the lifetime at an engine time, -1 without a limit. Never negative otherwise. */
int64_t eng_service_lifetime_left_s(const struct eng_service *s, int64_t now_ms);
/**
 * The instance whose failure explains most: one that is FAILED before one that is to be started again, the latest first; an instance that
 * is up has not failed. [borrowed]; NULL: there is none, as in a service that has ended (its `failure` has it).
 */
const struct eng_instance *eng_service_failing(const struct eng_service *s);
/** Containers whose record the registry has not deleted yet; containers and applications whose end it has not taken yet. */
size_t eng_service_n_stale(const struct eng_service *s);
size_t eng_service_n_ended(const struct eng_service *s);
/** How an instance stands to a change of its revision. */
enum eng_upgrade eng_instance_upgrade(const struct eng_instance *inst);
/** Instances that the operation under way has not brought to where they are to be; 0: none is. */
int64_t eng_service_n_to_move(const struct eng_service *s);
/** Permanent refusals of the registry for this service, in a sentence: free(); NULL: none. */
char *eng_service_refusals(const struct eng_service *s);
/** The service was launched and has not ended. */
bool eng_service_is_live(const struct eng_service *s);
/** Whether its application master was given an order of this kind that it has not carried out yet. ROLE_MANAGER. */
bool eng_service_is_ordered(const struct eng_service *s, enum eng_event_kind kind);

#endif
