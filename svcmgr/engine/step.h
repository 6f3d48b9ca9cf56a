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
#define EXIT_STDERR_MAX   2049  /* SHIM_TAIL_MAX and a NUL */
#define FORCE_AFTER_MS    10000 /* a stop is repeated with force */
#define REGISTRY_RETRY_MS 1000
#define HEALTH_DELAY_MS   3000  /* after the configured delay, as Hadoop has it */
#define DESTROY_ANSWER_MS 15000 /* a DELETE is answered by then; the first stop by force came before */
#define ADDRESS_RETRY_MS  1000
#define ENG_INDEX_MAX     4194303 /* number of an instance; those that live and were decommissioned have less */
#define STEP_INSTANCES    16      /* instances that settling changes in one step */
#define KEY_ELEMENT_MAX   255     /* bytes of a path element, in either store */
#define INSTANCE_SUFFIX_MAX                                                                                  \
    27 /* "-" and a number of 20 digits; a file of the instance adds "." before and ".last" behind */
#define BACKLOG_MAX                                                                                          \
    20000 /* containers of one service that are gone and the registry has not confirmed; more drop the oldest */

#define MIGRATIONS_MAX 1000 /* requests to move that wait */
#define PLACES_MAX     1000 /* nodes of which one service remembers something */
#define NODES_DOWN_MAX 1000 /* nodes that do not run; more forget the oldest */

/** A registry effect that was not answered yet. */
struct ticket {
    int64_t number;
    enum eng_effect_kind kind;
    enum eng_kind service_kind;
    char *user, *name, *container_id; /* container_id NULL: the service's own record */
    char *ended_id;                   /* ENDED */
};

/** Addresses of the network for instances; see address.c. */
struct addresses {
    uint32_t base, n; /* host order; n 0: no network */
    uint8_t *used;    /* a bit each */
    uint8_t *avoided; /* a bit each: another program of the host had it; NULL: none */
};

struct eng_end;

struct engine {
    struct engine_config cfg; /* texts owned */
    struct map services;      /* service_key → struct eng_service */
    struct map containers;    /* container id → struct eng_instance */
    struct map nodes;         /* host → struct eng_node */
    size_t n_nodes_down;      /* of them that are not RUNNING */
    struct map documents;     /* word → json_t */
    struct map used;          /* what is counted together → containers; see quota.c */
    struct map children;      /* key of a parent → keys of its children; see parents.c */
    /* name → struct eng_service of a kind whose definitions are put; see framework.c */
    struct map frameworks;
    struct map applications; /* id → struct eng_service whose last one it is; see services.c */
    struct map homes;        /* registry user → users with services there; see homes.c */
    int64_t cluster_ts, next_app;
    bool stored, resumed; /* the engine document exists; EV_RESUME came */
    struct addresses addresses;
    uint8_t *shared_ports; /* a bit each, where instances share an address; NULL: none was given out */
    struct map tickets;    /* number → struct ticket */
    int64_t next_ticket;
    int64_t n_changes;                 /* see eng_service.change */
    TAILQ_HEAD(, eng_service) waiting; /* ACCEPTED, and a service that they depend on is not STABLE */
};

struct step {
    struct engine *e;
    int64_t now_ms;  /* engine time: computed with */
    int64_t wall_ms; /* time of day: shown */
    uint64_t random;
    struct eng_effects persists, rest;
    struct eng_service **affected;
    size_t n_affected;
    size_t n_changed; /* documents of instances, and of what is gone, that this step writes or deletes */
    bool engine_dirty;
    /* the service that is settled has a TIMER of now on its way: that step goes on with what is left to do */
    bool is_continued;
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
/** The service is settled, and the document of what is wanted of it is written. */
void step_want(struct step *st, struct eng_service *s);
/** The service is settled, and the document of the instance is written. */
void step_touch_instance(struct step *st, struct eng_instance *inst);
/** The service is settled, and the document of the instance is deleted. */
void step_forget_instance(struct step *st, const struct eng_instance *inst);
/** The service is settled, and a document of it is deleted that is none of an instance. */
void step_forget_document(struct step *st, const char *key, const struct eng_service *s);
/** Answer a request. [borrowed until the next emit] */
struct eng_answer *step_answer(struct step *st, uint64_t token, enum eng_outcome outcome,
                               const struct eng_service *s);
/** Write the document of an object now; type NULL: delete it. Instances and services are written at the end of the step. */
void step_store(struct step *st, char *take_key, const struct fld_type *type, const void *object,
                const struct eng_service *s);
/** The same for a document that is one value; NULL: it is deleted. */
void step_store_value(struct step *st, char *take_key, const json_t *value);
/** Settling must stop: the step changes as many instances as one may, or another one is on its way for that. */
bool step_is_full(const struct step *st);
/** The service is settled in a step of its own, at once: a TIMER of now. */
void step_wake(struct step *st, struct eng_service *s);
/** The same for each that waits for this service. */
void step_wake_waiting(struct step *st, enum eng_kind kind, const char *user, const char *name);
/** Write the engine document and all dirty services and instances; see engine_step. */
void step_persist(struct step *st);

/* ---- history.c: what happened to a service ---- */
/** One more entry; why may be NULL. All is copied. */
void history_record(struct step *st, struct eng_service *s, const char *object, const char *what,
                    const char *why);
/** Entries so far; history_undo goes back to so many: what a request that is undone has recorded did not happen. */
int64_t history_length(const struct eng_service *s);
void history_undo(struct eng_service *s, int64_t length);
/** Write what is new, at the end of a step. */
void history_persist(struct step *st, struct eng_service *s);
/** Delete all documents. */
void history_forget(struct step *st, const struct eng_service *s);
/** @return 0; or ERR_JSON: not of this service; nothing was loaded. */
int history_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why);
/** A document that others write has changed. */
void history_follow(struct eng_service *s, const char *key, const json_t *doc);
void history_free(struct eng_service *s);
/** Key of the folder of its documents. free() */
char *history_document_key(const struct eng_service *s);

/* ---- wait.c ---- */
/** The words, NULL-terminated. */
extern const char *const wait_words[];
/** Say why something waits. @param w  copied */
void wait_set(struct eng_waiting **slot, const struct eng_waiting *w);
/** It does not. */
void wait_clear(struct eng_waiting **slot);

/* ---- exit.c ---- */
/** What an instance waits after: the typed exit and its text; at most EXIT_TEXT_MAX bytes with the NUL are of use. */
void exit_describe(const struct eng_exit *x, char *out, size_t size);
/** A copy as it is stored: its texts are of bounded size, EXIT_TEXT_MAX and EXIT_STDERR_MAX. fld_free */
struct eng_exit *exit_copy(const struct eng_exit *x);
/**
 * Text as it is stored: at most max - 1 bytes, cut between two characters, in which every control character but \n and \t is '?', so that
 * JSON has at most two bytes for one. text NULL: NULL. free()
 */
char *stored_text(const char *text, size_t max);

#endif
