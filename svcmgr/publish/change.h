/**
 * The list of changes that publish.c sends to the registry: which replaces which, which must keep their order, and the tickets that
 * each settles. For the files of this folder.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef PUBLISH_CHANGE_H
#define PUBLISH_CHANGE_H

#include <sys/queue.h>

#include "base/heap.h"
#include "base/map.h"
#include "base/obj.h"
#include "publish/publish.h"
#include "publish/reconcile.h"

#define CHANGE_MAGIC OBJ_MAGIC('C', 'H', 'N', 'G')

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_PURGE, CHANGE_ENDED };

struct change {
    struct obj obj;
    TAILQ_ENTRY(change) link;
    struct publish *owner;
    enum change_kind kind;
    char *path;
    struct reg_record *record; /* PUT */
    uint64_t version;          /* PUT: of reconcile_want */
    char *id;                  /* ENDED */
    int64_t *tickets;          /* settled with the outcome: its own, and those of the changes it replaced */
    size_t n_tickets;
    int64_t asked_ms;      /* when the oldest of them came */
    struct heap_node late; /* in publish.late while a ticket has a limit */
    uint64_t number;       /* in the order in which they came */
    bool is_running;
};
TAILQ_HEAD(change_list, change);

/** The outcome of a ticket, on its way. */
struct outcome {
    int64_t ticket;
    int code;
    char *text; /* why; NULL: it was done */
};

struct publish {
    struct obj obj;
    struct run_loop *loop;
    struct reg *reg;
    struct reconcile *reconcile; /* NULL: nothing is followed */
    struct publish_follow_ops follow;
    struct publish_def def;      /* url NULL */
    bool (*may_send)(void *arg); /* NULL: always */
    void *guard_arg;
    struct change_list changes; /* oldest first */
    struct map waiting;         /* waiting_key -> the change that a newer one of the key replaces */
    struct map purges;          /* path -> the newest purge of it */
    struct heap late;           /* changes by the time at which their tickets are settled at the latest */
    size_t n_changes, n_running;
    uint64_t n_asked;        /* changes so far */
    bool is_held;            /* nothing is sent before publish_begin */
    bool awaits_feed;        /* nor before the feed has shown what stands */
    int64_t begun_ms;        /* when publish_begin came */
    uint64_t n_found;        /* of the changes before this number some may be done already */
    struct run_timer *timer; /* next try and ticket limits */
    int64_t pause_ms;        /* before the next try; 0: the registry answers */
    bool is_link_lost;       /* the feed does not */
    int64_t not_before_ms;
    int64_t answered_ms;             /* when the registry last answered a change; 0: it has not */
    char revision[REG_REVISION_MAX]; /* the highest of a change of ours; "": of none yet */
    struct outcome *outcomes;
    size_t n_outcomes, next_outcome;
    struct run_timer *outcome_timer;
    struct run_timer *drain_timer;
    void (*drained)(void *arg);
    void *drained_arg;
    bool is_closing;
};

/**
 * A change that is asked for now, in no list yet.
 *
 * @param path    [copied]
 * @param ticket  that it settles; 0: none
 * @return it, which publish_change_free releases once it is in publish.changes
 */
struct change *publish_change_new(struct publish *p, enum change_kind kind, const char *path, int64_t ticket);
/** Take a change out of all lists, and release it. */
void publish_change_free(struct change *c);
/** Its tickets have this outcome, which is reported in a later turn. @param text  why; NULL: it was done [copied] */
void publish_change_settle(struct change *c, int code, const char *text);

/* ---- what is replaced ---- */

/** A newer change takes the place of an older one, which is released. Its tickets are not settled before: nothing of it is done yet. */
void publish_change_replace(struct change *old, struct change *c);
/** A new change takes the place of the one that waits with the same key, if there is one. */
void publish_change_replace_older(struct publish *p, struct change *c);
/** It runs, or goes: no newer one takes its place. */
void publish_change_leave_waiting(struct change *c);
/** It has failed, and is tried again unless a newer one has come meanwhile: then it is released. */
void publish_change_wait_again(struct change *c);

/* ---- which change may begin ---- */

/** Whether it waits, and none before it in the list must be done first. */
bool publish_change_may_begin(const struct publish *p, const struct change *c);
/** A purge that came later, of the path or of what is above it; NULL: there is none. [borrowed] */
struct change *publish_change_purge_of(const struct publish *p, const struct change *c);

#endif
