/**
 * Documents of frameworks with their tasks, written piece by piece: a framework of 50 000 tasks does not hold the loop.
 *
 *     begin ──> head ──> role ──> tasks … ──> role ──> tasks … ──> end
 *
 * A piece shows what is then. When the framework is deleted meanwhile, or starts another incarnation, the document is broken off: it is no JSON.
 *
 * Thread: owner.   Source: framework-launcher 6.1, 7.1; FrameworkExplanation is ours.
 */
#ifndef LAUNCHER_WALK_H
#define LAUNCHER_WALK_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launcher/view.h"

enum launcher_form {
    LAUNCHER_FORM_STATUS,   /* AggregatedFrameworkStatus */
    LAUNCHER_FORM_INFO,     /* FrameworkInfo */
    LAUNCHER_FORM_EXPLAIN,  /* FrameworkExplanation */
    LAUNCHER_FORM_SUMMARIES /* SummarizedFrameworkInfos */
};

/** Where the walk finds the world at each piece. All is borrowed, for as long as the walk lives. */
struct launcher_walk_def {
    enum launcher_form form;
    /** What statuses are looked at from now; arg is that of the walk. */
    struct launcher_look (*look)(void *arg);
    void *arg;
    const char *name;  /* of the framework, as the engine has it; not of SUMMARIES */
    json_t *take_part; /* INFO: AggregatedFrameworkRequest; EXPLAIN: what waits, and why; else NULL */
    /* SUMMARIES: n_names frameworks, as the engine has them; those that are gone are left out */
    char **take_names;
    size_t n_names;
};

struct launcher_walk;

/** A walk at its beginning. launcher_walk_free. Thread: owner. */
struct launcher_walk *launcher_walk_new(const struct launcher_walk_def *def);
/** Free; NULL is fine. Thread: owner. */
void launcher_walk_free(struct launcher_walk *walk);
/**
 * Append the next piece, some tasks or summaries long.
 *
 * @param out  in the form of pretty.h                                              [in,out]
 * @return true: there is more.   Thread: owner.   Source: ours.
 */
bool launcher_walk_next(struct launcher_walk *walk, struct buf *out);

#endif
