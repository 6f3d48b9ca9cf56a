/**
 * What the Slider and FrameworkLauncher APIs say of an application beyond the specification: retry and completion policies, gang
 * allocation, priorities. Stored with the service; a service of the YARN services API has none.
 *
 * Thread: any, one object one thread.   Source: framework-launcher 4.1, 4.2, 8, 13.3; slider-am 4.3.
 */
#ifndef ENGINE_RULES_H
#define ENGINE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/exit.h"
#include "spec/codec.h"

/** When something that ended is started again. */
struct eng_retry_rule {
    bool is_fancy; /* transient ends are retried without counting, non-transient ones never */
    int64_t max;   /* counted retries; -1: any number after a failure; -2: after a success, too */
};

/** How promising another try is. */
enum eng_exit_type {
    TYPE_SUCCEEDED,
    TYPE_TRANSIENT_NORMAL,   /* it will succeed within finitely many tries */
    TYPE_TRANSIENT_CONFLICT, /* resources cannot be obtained now */
    TYPE_NON_TRANSIENT,      /* it will always fail */
    TYPE_UNKNOWN
};

/** What an exit code of a process means, 1 … 255. Source: framework-launcher 9.4. */
struct eng_exit_row {
    int64_t code;
    enum eng_exit_type type;
    const char *text; /* for a person; NULL: nothing is said */
};

/** Retries so far, of an instance or of a service: all that count against the rule, and each kind. */
struct eng_retries {
    int64_t n_counted;
    int64_t n_succeeded, n_transient, n_conflict, n_non_transient, n_unknown;
};

struct eng_component_rules {
    char *name;  /* of the component */
    char *title; /* as its API has it, where that is no name of a component; NULL: it is */
    struct eng_retry_rule retry;
    int64_t min_failed;    /* failed instances that end the service; 0: none do */
    int64_t min_succeeded; /* instances that end it well by their success; 0: none do */
    bool is_strict;        /* where its nodes are remembered: it asks for no other than where it was */
    bool forgets_nodes;    /* it asks for any node */
    bool one_by_one;       /* its containers are asked for one after the other */
    int64_t escalate_ms;   /* how long a node that is remembered is asked for alone */
    int64_t priority;      /* of its requests: the lower is asked first */
    json_t *attributes;    /* of the records of its instances: name → text; NULL: none */
};

/** Another service of the same API, with which this one ends. */
struct eng_parent {
    char *user, *name;        /* user NULL: that of the service */
    bool stop_with_parent;    /* it is stopped when the parent is, and does not start while it is */
    bool destroy_with_parent; /* likewise; it cannot be made without the parent */
};

struct eng_rules {
    char *title;  /* name of the service as its API has it, where that is no label; NULL: it is */
    bool is_kept; /* when it has ended it is not collected */
    struct eng_retry_rule retry; /* of the service */
    bool is_gang;                /* no process starts before every instance has a container */
    int64_t gang_timeout_ms;
    int64_t short_life_ms;                    /* a process that lived less than this has failed to start */
    int64_t conflict_min_ms, conflict_max_ms; /* pause before a retry after TYPE_TRANSIENT_CONFLICT */
    struct eng_parent *parent;                /* NULL: it has none */
    json_t *attributes;                       /* of its own record: name → text; NULL: none */
    struct eng_component_rules **components;
    size_t n_components;
};

extern const struct fld_type eng_rules_type;
extern const struct fld_type eng_retries_type;

/** New rules with the defaults of FrameworkLauncher: no retry, no gang. eng_rules_free. Thread: any. */
struct eng_rules *eng_rules_new(void);
/** Add those of a component, with their defaults: no retry, the first failure ends the service. [borrowed] Thread: any. */
struct eng_component_rules *eng_rules_add(struct eng_rules *r, const char *component);
/** Give them a parent; user NULL: that of the service. [borrowed] Thread: any. */
struct eng_parent *eng_rules_set_parent(struct eng_rules *r, const char *user, const char *name);
/** The types of exit codes by default, in the order of the codes. Static. @param n  how many [out]   Thread: any.   Source: framework-launcher 9.4. */
const struct eng_exit_row *eng_exits_default(size_t *n);
/** The type of an exit under some rows. Thread: any.   Source: framework-launcher 9.3, 9.4. */
enum eng_exit_type eng_exit_type_of(const struct eng_exit_row *rows, size_t n_rows, const struct eng_exit *x);
/** Milliseconds that a process must live to have started; r NULL: by default. Thread: any. */
int64_t eng_rules_short_life_ms(const struct eng_rules *r);
/** Free; NULL is fine. Thread: any. */
void eng_rules_free(struct eng_rules *r);
/** Those of a component; where r is NULL or says nothing of it, the defaults. [borrowed] Thread: any. */
const struct eng_component_rules *eng_rules_of(const struct eng_rules *r, const char *component);
/**
 * Decide on a retry.
 *
 * @param r  what was tried so far: counted, if it is retried, else unchanged      [in,out]
 * @return true: again.   Thread: any.   Source: framework-launcher 8.1.
 */
bool eng_retry_decide(const struct eng_retry_rule *rule, struct eng_retries *r, enum eng_exit_type type);

#endif
