/**
 * What an import is to do: an entry for each framework of the launcher, parents before their children, and one for each document of the
 * launcher itself, with what svcmgr has of it.
 *
 *     malformed ─ named, left out            new, update, replace ─ put: added, updated, replaced, or refused
 *     completed ─ left out                   same, differs ─ svcmgr has it: nothing is put; the latter is named
 *
 * Pure. Thread: any.   Source: ours.
 */
#ifndef CLI_LAUNCHER_PLAN_H
#define CLI_LAUNCHER_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "stored.h"

/** Actions: token, word, whether it is put, whether it is left out though the launcher has it and svcmgr should. */
#define PLAN_ACTIONS(X)                                                                                      \
    X(PLAN_NEW, "new", true, false)                                                                          \
    X(PLAN_UPDATE, "update", true, false)                                                                    \
    X(PLAN_REPLACE, "replace", true, false)                                                                  \
    X(PLAN_SAME, "same", false, false)                                                                       \
    X(PLAN_COMPLETED, "completed", false, false)                                                             \
    X(PLAN_DIFFERS, "differs", false, true)                                                                  \
    X(PLAN_MALFORMED, "malformed", false, true)                                                              \
    X(PLAN_ADDED, "added", false, false)                                                                     \
    X(PLAN_UPDATED, "updated", false, false)                                                                 \
    X(PLAN_REPLACED, "replaced", false, false)                                                               \
    X(PLAN_REFUSED, "refused", false, true)

enum plan_action {
#define PLAN_ACTION_ENUM(token, word, is_put, is_left_out) token,
    PLAN_ACTIONS(PLAN_ACTION_ENUM)
#undef PLAN_ACTION_ENUM
        N_PLAN_ACTIONS
};

struct plan_entry {
    char *path;                    /* of the node, below the root of the store */
    const char *document;          /* "ClusterConfiguration", "AclConfiguration"; NULL: a framework. Static */
    json_t *value;                 /* of a document */
    struct stored_request request; /* of a framework; of a malformed one only the name */
    char state[64];                /* that the launcher shows; "": none */
    double progress;               /* that a client has set; negative: none */
    int64_t n_running;             /* tasks that run at the launcher; -1: not known */
    enum plan_action action;
    struct err_info why; /* of one that is left out */
    bool is_placed;
};

struct plan {
    struct plan_entry **items; /* in the order of the puts */
    size_t n_items;
};

/** Word of an action. Static. Thread: any. */
const char *plan_word(enum plan_action action);
/** Whether an action is a put. Thread: any. */
bool plan_is_put(enum plan_action action);
/** Whether it leaves something out that somebody has to look at. Thread: any. */
bool plan_is_left_out(enum plan_action action);
/** What a put becomes that was accepted. Thread: any. */
enum plan_action plan_done(enum plan_action action);
/** A new entry at the end. @param path  [copied] @return borrowed; plan_fini releases it. Thread: any. */
struct plan_entry *plan_add(struct plan *plan, const char *path);
/** Name it as malformed. Thread: any. */
void plan_malformed(struct plan_entry *e, const struct err_info *why);
/**
 * Put parents before their children, documents before all; else the order stays. A circle of parents is cut where it begins.
 *
 * Thread: any.   Source: framework-launcher 5.7.
 */
void plan_order(struct plan *plan);
/**
 * Decide about a framework that is not malformed and that svcmgr has.
 *
 * @param there      its SummarizedFrameworkInfo; NULL: svcmgr has none             [borrowed]
 * @param overwrites replace what svcmgr has
 * Thread: any.   Source: ours.
 */
void plan_framework(struct plan_entry *e, const json_t *there, bool overwrites);
/** Decide about a document. @param there  svcmgr's [borrowed] @param overwrites  as above. Thread: any.   Source: ours. */
void plan_document(struct plan_entry *e, const json_t *there, bool overwrites);
/** Whether a document says nothing: members that are null or empty. Thread: any. */
bool plan_is_empty(const json_t *document);
/** Release. Thread: any. */
void plan_fini(struct plan *plan);

#endif
