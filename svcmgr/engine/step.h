/**
 * Shared by the files of the engine. Nothing outside engine/ includes this.
 *
 * A step is: one event → the machines change objects and emit effects → the affected service is settled (due work, start
 * order, states, timer) → PERSIST of what is dirty goes in front of the other effects.
 *
 * A step changes one service and at most some STEP_INSTANCES of its instances, so that its documents fit one transaction. What
 * a service wants is in its document; settling moves the instances towards it, and a step that could not finish asks for
 * the next one by a TIMER of now. A crash between two steps loses nothing: the next start continues settling.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_STEP_H
#define ENGINE_STEP_H

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "engine/engine.h"
#include "spec/properties.h"

#define BACKOFF_FIRST_MS  100
#define BACKOFF_RESET_MS  60000 /* a process that was up this long starts anew with the first delay */
#define LIFETIME_MAX_S    100000000000
#define BACKOFF_LEAST_MS  10
#define EXIT_TEXT_MAX     512
#define FORCE_AFTER_MS    10000 /* a stop is repeated with force */
#define REGISTRY_RETRY_MS 1000
#define HEALTH_DELAY_MS   3000  /* after the configured delay, as Hadoop has it */
#define DESTROY_ANSWER_MS 15000 /* a DELETE is answered by then; the first stop by force came before */
#define ADDRESS_RETRY_MS  1000
#define STEP_INSTANCES    64  /* instances that settling changes in one step */
#define KEY_ELEMENT_MAX   255 /* bytes of a path element, in either store */
#define INSTANCE_SUFFIX_MAX                                                                                  \
    27 /* "-" and a number of 20 digits; a file of the instance adds "." before and ".last" behind */
#define STALE_MAX 1000 /* records of one service that the registry has not deleted; more drop the oldest */
#define ENDED_MAX 500  /* ends of one service that the registry has not taken; more drop the oldest */

/** A registry effect that was not answered yet. */
struct ticket {
    int64_t number;
    enum eng_effect_kind kind;
    char *user, *name, *container_id; /* container_id NULL: the service's own record */
    char *ended_id;                   /* ENDED */
};

/** Addresses of the network for instances; see address.c. */
struct addresses {
    uint32_t base, n; /* host order; n 0: no network */
    uint8_t *used;    /* a bit each */
    uint8_t *avoided; /* a bit each: another program of the host had it; NULL: none */
};

struct engine {
    struct engine_config cfg; /* texts owned */
    struct map services;      /* "user/name" → struct eng_service */
    struct map containers;    /* container id → struct eng_instance */
    struct map homes;         /* registry user → users with services there; see homes.c */
    int64_t cluster_ts, next_app;
    bool stored, resumed; /* the engine document exists; EV_RESUME came */
    struct addresses addresses;
    struct ticket *tickets;
    size_t n_tickets;
    int64_t next_ticket;
};

struct step {
    struct engine *e;
    int64_t now_ms;  /* engine time: computed with */
    int64_t wall_ms; /* time of day: shown */
    struct eng_effects persists, rest;
    struct eng_service **affected;
    size_t n_affected;
    size_t n_changed; /* instances of which this step writes or deletes the document */
    bool engine_dirty;
    /* some service became STABLE: those that wait for it look again, in steps of their own */
    bool stable_changed;
};

/* ---- step.c: effects and bookkeeping ---- */
/** A new effect at the end of the step's list; service may be NULL. [borrowed until the next emit] */
struct eng_effect *step_emit(struct step *st, enum eng_effect_kind kind, const struct eng_service *s);
/** The same for an instance's container. */
struct eng_effect *step_emit_container(struct step *st, enum eng_effect_kind kind,
                                       const struct eng_instance *inst);
/** A line for the log. */
void step_note(struct step *st, const struct eng_service *s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The service is settled at the end of the step. */
void step_affect(struct step *st, struct eng_service *s);
/** The same, and its document is written: all of it but the instances. */
void step_touch(struct step *st, struct eng_service *s);
/** The service is settled, and the document of the instance is written. */
void step_touch_instance(struct step *st, struct eng_instance *inst);
/** The service is settled, and the document of the instance is deleted. */
void step_forget_instance(struct step *st, const struct eng_instance *inst);
/** Answer a request. [borrowed until the next emit] */
struct eng_answer *step_answer(struct step *st, uint64_t token, enum eng_outcome outcome,
                               const struct eng_service *s);
/** Emit a registry effect with a new ticket; container_id NULL: the service's own path. [borrowed until the next emit] */
struct eng_effect *step_registry(struct step *st, enum eng_effect_kind kind, const struct eng_service *s,
                                 const char *container_id);
/** Take the ticket of an EV_RECORD out. @return false when it is unknown. */
bool step_take_ticket(struct step *st, int64_t number, struct ticket *out);
/** Release what a taken ticket owns. */
void ticket_fini(struct ticket *t);
/** Settling must stop: the step changes as many instances as one may. */
bool step_is_full(const struct step *st);
/** The service is settled in a step of its own, at once: a TIMER of now. */
void step_wake(struct step *st, struct eng_service *s);
/** The same for each that waits for services it depends on. */
void step_wake_waiting(struct step *st);
/** Drop the tickets after `number` of a service whose effects were never carried out. */
void tickets_undo(struct engine *e, const char *user, const char *name, int64_t number);
/** Write the engine document and all dirty services and instances; see engine_step. */
void step_persist(struct step *st);

/* ---- state.c: documents ---- */
extern const struct fld_type eng_service_type;
extern const struct fld_type eng_component_type;
extern const struct fld_type eng_instance_type;
extern const struct fld_type eng_exit_type;
extern const struct fld_type eng_failure_type;
/** Free a service with everything in it; no effects. */
void service_free(struct eng_service *s);
/** Set the borrowed pointers of a loaded or newly built service. @return 0; or ERR_JSON: spec and components differ. */
int service_link(struct eng_service *s, struct err_info *why);
/** The same for an instance that comes from a document of its own. @return 0; or ERR_JSON: it is none of this service's. */
int instance_link(struct eng_service *s, struct eng_instance *inst, struct err_info *why);
/** Key in the map of services: "user/name". free() */
char *service_key(const char *user, const char *name);
/** Key of its document. free() */
char *service_document_key(const struct eng_service *s);
/** Key of the document of an instance by name. free() */
char *instance_document_key(const struct eng_service *s, const char *instance);

/* ---- service.c ---- */
/** A request of a face: it is answered in this step, a destroy later. */
void service_request(struct step *st, const struct eng_event *ev);
/** The registry has answered a ticket. */
void service_record(struct step *st, const struct eng_event *ev);
/** Due work, start order, states, end, timer. */
void service_settle(struct step *st, struct eng_service *s);
/** End the incarnation: stop everything, then be `end_state`. diagnostics may be NULL. */
void service_finish(struct step *st, struct eng_service *s, enum eng_service_state end_state,
                    const char *diagnostics);
/** The oldest record that must still be deleted is given up: the registry is away for too long. */
void service_forget_stale(struct step *st, struct eng_service *s);
/** A container or an application of the service has ended: reported to the registry until it has taken it. */
void service_report_ended(struct step *st, struct eng_service *s, const char *id);
/** Ask the registry once more for what it has refused permanently, in a step of the service's own: it may be another one, or set up in
 *  another way. */
void service_ask_again(struct step *st, struct eng_service *s);
/** After EV_RESUME: all that was outstanding is emitted again while the service is settled. */
void service_resume(struct step *st, struct eng_service *s);
/** Write the record of the service. */
void service_publish(struct step *st, struct eng_service *s);
/** An ACCEPTED service looks whether what it depends on is there. */
void service_try_start(struct step *st, struct eng_service *s);

/* ---- requests.c ---- */
/** Change the counts of components; all or none. Answers. */
void service_flex(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** Remove instances permanently; all or none. Answers. */
void service_decommission(struct step *st, const struct eng_event *ev, struct eng_service *s);

/* ---- component.c ---- */
/** Instances whose state is in the mask. */
int64_t component_count(const struct eng_component *c, unsigned state_mask);
#define STATE_BIT(s) (1u << (s))
#define STATES_UP    (STATE_BIT(INST_RUNNING) | STATE_BIT(INST_READY))
#define STATES_FINAL (STATE_BIT(INST_SUCCEEDED) | STATE_BIT(INST_FAILED) | STATE_BIT(INST_STOPPED))
/** Bring the instances nearer to what the specification wants, as far as the step may. */
void component_resize(struct step *st, struct eng_component *c);
/** Start what can be started. */
void component_advance(struct step *st, struct eng_component *c);
/** Compute the state anew. */
void component_recompute(struct step *st, struct eng_component *c);
/** Those that depend on it may start. */
bool component_ready_for_dependents(const struct eng_component *c);
/** It has ended by itself; never with policy ALWAYS. */
bool component_is_finished(const struct eng_component *c);
/** Remove one instance from the list and free it. */
void component_forget(struct step *st, struct eng_component *c, struct eng_instance *inst);
/** Component by name, instance by number; NULL when there is none. */
struct eng_component *component_of(const struct eng_service *s, const char *name);
struct eng_instance *component_instance(const struct eng_component *c, int64_t index);
/** Split "comp-3". @return the component, *index set; or NULL: no name of an instance of this service. */
struct eng_component *component_of_instance(const struct eng_service *s, const char *instance,
                                            int64_t *index);
/** Take an instance into the list, at the place of its number. */
void component_insert(struct eng_component *c, struct eng_instance *take_inst);
/** The service has started: the health threshold is looked at from a later time on. */
void component_watch_health(struct step *st, struct eng_component *c);
/** Look at the health threshold when it is time to. @return why the service must end, free(); or NULL. */
char *component_check_health(struct step *st, struct eng_component *c);
/** Count a failure. @return true when the threshold of the component is exceeded; never with a health threshold. */
bool component_count_failure(struct step *st, struct eng_component *c);

/* ---- instance.c ---- */
/** An event that names a container. */
void instance_event(struct step *st, const struct eng_event *ev);
/** Ask for a container. */
void instance_request(struct step *st, struct eng_instance *inst);
/** Take the instance out of service: it ends now (and is freed) or when its container has ended. */
void instance_drop(struct step *st, struct eng_instance *inst, bool remove);
/** Start the process again in the container that is kept. */
void instance_retry(struct step *st, struct eng_instance *inst);
/** After EV_RESUME: emit again what was outstanding. */
void instance_resume(struct step *st, struct eng_instance *inst);
/** Write the record of its container; it has IP and host. */
void instance_publish(struct step *st, struct eng_instance *inst);
/** Say why it is not further. */
void instance_set_wait(struct eng_instance *inst, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** A process may run in its container. */
bool instance_holds_process(const struct eng_instance *inst);

/* ---- failure.c ---- */
/** What an instance waits after: the typed exit and its text; at most EXIT_TEXT_MAX bytes with the NUL are of use. */
void exit_describe(const struct eng_exit *x, char *out, size_t size);
/** It ended with code 0. */
bool exit_is_success(const struct eng_exit *x);
/** It counts as a failure of the component. */
bool exit_is_counted(const struct eng_exit *x);
/** The service ends: keep what explains best why, before its instances go. */
void failure_keep(struct eng_service *s);
/** It starts anew. */
void failure_forget(struct eng_service *s);
/** Why it ends, with the end that explains most, if one is FAILED. free() */
char *failure_end_text(const struct eng_service *s, const char *what);

/* ---- launch.c ---- */
/** All that its next process start needs; free with launch_free. */
struct eng_launch *launch_new(const struct engine *e, const struct eng_instance *inst);
/** Free; NULL is fine. */
void launch_free(struct eng_launch *l);
/** A probe for the instance; NULL: none is needed, it is ready when it runs. */
struct eng_probe *probe_new(const struct engine *e, const struct eng_instance *inst);
/** Free; NULL is fine. */
void probe_free(struct eng_probe *p);

/* ---- homes.c ---- */
/** A service is there, or goes: its user counts at the registry directory. */
void homes_add(struct engine *e, const struct eng_service *s);
void homes_remove(struct engine *e, const struct eng_service *s);
/** Release. */
void homes_fini(struct engine *e);
/** Another user who has services, stopped ones too, in the registry directory of this one; NULL: none. [borrowed] */
const char *homes_other(const struct engine *e, const char *user);
/** A live service of another user whose records stand at the paths of this one; NULL: none. [borrowed] */
struct eng_service *homes_rival(const struct engine *e, const struct eng_service *s);

/* ---- address.c ---- */
/** @return 0; or ERR_CONFIG. text NULL: no network. */
int addresses_init(struct addresses *net, const char *text, struct err_info *why);
/** Release; no network any more. */
void addresses_fini(struct addresses *net);
/**
 * An address for `name`: the same one whenever it is free, and not avoided.
 * @return new text; NULL: none is free, then nothing is avoided any more.
 */
char *addresses_take(struct addresses *net, const char *name);
/** Mark an address as used or free; ignores one outside of the network. */
void addresses_mark(struct addresses *net, const char *ip, bool used);
/** Give up an address that another program of the host has: it is given out again only when no other is left. */
void addresses_avoid(struct addresses *net, const char *ip);

#endif
