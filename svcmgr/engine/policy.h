/**
 * What the APIs do differently with the same objects: one row of functions a kind. Nothing else asks for the kind.
 *
 *                          services API                 Slider                     FrameworkLauncher
 *   an end                 restart_policy; in place     a new container, always    retry rule of the task
 *   failures that end it   more than 10 in 6 hours      more than 5, windowed      completion policy
 *   it ends by itself      all components ended         never                      completion policy
 *   what is final          stays while it runs          nothing is                 stays until destroyed
 *   what shrinks           the highest number           requests, then the newest  the highest number
 *   order of start         dependencies                 priority                   priority
 *   another specification  upgrade                      in place                   other version: all starts anew
 *   after an end           may be started               may be started             needs another version
 *
 * Functions decide and count; they change no state and emit nothing.
 * Thread: the engine's.   Source: design 5; YARN services API 4; slider-am 7.3, 12; framework-launcher 6 to 10, 16.
 */
#ifndef ENGINE_POLICY_H
#define ENGINE_POLICY_H

#include "engine/objects.h"

struct step;

/** What follows the end of an instance's process or container. */
enum eng_verdict {
    VERDICT_RETRY,     /* its process again, in the container that it had */
    VERDICT_RESTART,   /* a new container */
    VERDICT_SUCCEEDED, /* it is final */
    VERDICT_FAILED,    /* it is final */
    VERDICT_END        /* it is final, FAILED, and the service ends for it */
};

/** What a changed specification means for a service that runs. */
enum eng_change {
    CHANGE_IN_PLACE, /* counts at once, all else with the next container of each instance */
    CHANGE_UPGRADE,  /* an operation: instances are replaced one after the other */
    CHANGE_RESTART   /* everything ends, and a new incarnation starts from the new specification */
};

/** Why and how a service ends by itself. */
struct eng_end {
    enum eng_service_state state;       /* SVC_SUCCEEDED or SVC_FAILED */
    struct eng_exit exit;               /* of the service; its texts are borrowed from the trigger */
    const struct eng_instance *trigger; /* whose end it was; NULL: no single one's */
    char *text;                         /* for a person; owned; NULL: nothing to say */
};

struct eng_policy {
    const char *registry_class; /* of its services: path element and, for others, who made the record */
    const char *folder;         /* of its documents */
    /* Of an ended service: each with its index and exit, until it is destroyed or starts anew. */
    bool keeps_instances;
    /* An instance that is moved by request has ended: decide_exit says whether it goes on. */
    bool judges_moves;
    bool starts_again; /* after an end, without another specification */
    /* Its definitions are put: one of an unknown name makes a service, names are of all users together, what was asked is kept, a stop
     * is an exit, and what has ended is collected (engine_config.retain_ms). */
    bool is_put;
    bool keeps_request;    /* what was asked is kept as its API has it */
    int64_t max_instances; /* most of one component; 0: engine_config.max_containers */
    bool has_task_quota;   /* engine_quotas.tasks is for it; its services count until they are destroyed */
    bool remembers_nodes;  /* an instance asks for the node that it was on */
    bool remembers_containers;  /* those that have ended: past.h */
    bool flex_forgets_failures; /* a flex that changes a count resets the failures of all components */
    /** Restart policy of a component, which says when it has ended and when others may start. */
    enum spec_restart (*restart)(const struct eng_component *c);
    /** Failures in the window that a component may have; -1: any number. */
    int64_t (*failure_limit)(const struct eng_component *c);
    /**
     * Decide on an end, and count it.
     *
     * @param kept  the container is still held
     * @param end   with VERDICT_END: how the service ends                          [out]
     */
    enum eng_verdict (*decide_exit)(struct step *st, struct eng_instance *inst, const struct eng_exit *x,
                                    bool kept, struct eng_end *end);
    /** Whether an end speaks against the node that it was on. */
    bool (*is_node_failure)(const struct eng_exit *x);
    /**
     * Whether a service that runs ends by itself.
     *
     * @param inst  the instance that has just become final; NULL: the service is settled
     * @param end   when it does: how                                               [out]
     */
    bool (*decide_end)(const struct eng_service *s, const struct eng_instance *inst, struct eng_end *end);
    /** Milliseconds until a service that ended so is started again, after counting it; -1: it is not. */
    int64_t (*decide_retry)(struct step *st, struct eng_service *s, const struct eng_exit *x);
    /** Instances that go when a component has too many. @return how many of at most n are in out */
    size_t (*pick_surplus)(struct eng_component *c, struct eng_instance **out, size_t n);
    /** Order of the components: indices into the specification, room for all. */
    void (*start_order)(const struct eng_service *s, size_t *order);
    /** What another specification means, beside what is wanted now. */
    enum eng_change (*change)(const struct eng_service *s, const struct spec_service *to);
};

extern const struct eng_policy policy_service, policy_slider, policy_launcher;

/** The row of a kind. Static. Thread: any.   Source: ours. */
const struct eng_policy *policy_of(enum eng_kind kind);
/** The row of the service that a component is of. Static. Thread: any.   Source: ours. */
const struct eng_policy *policy_of_component(const struct eng_component *c);
/** Word of the kind whose documents are in a folder; "" when it is none's. Static. Thread: any.   Source: ours. */
const char *policy_kind_word(const char *folder);

/* ---- what several rows share ---- */

/** Never: the service stays as it has ended. */
int64_t policy_no_retry(struct step *st, struct eng_service *s, const struct eng_exit *x);
/** The instances of the highest numbers that are meant to stay. */
size_t policy_pick_highest(struct eng_component *c, struct eng_instance **out, size_t n);
/** By eng_component_rules.priority, the order of the specification kept among equals. */
void policy_order_by_priority(const struct eng_service *s, size_t *order);
/** The limit that the component was given, else def; -1 where its health is watched instead. */
int64_t policy_failure_limit(const struct eng_component *c, int64_t def);
/** Count a failure in the window. @return true: they are more than the policy's limit. */
bool policy_count_failure(struct step *st, struct eng_component *c);

#endif
