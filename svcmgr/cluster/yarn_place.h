/**
 * Constraints of a component as placement constraints of YARN: how many of the containers that are wanted may be asked for now, and by which
 * expression.
 *
 * The resource manager judges an expression before it places a container: what is in the node or rack already. Of a component
 * that is to be together, or by a minimum, the first container of a node could never be placed by that rule, so its
 * containers are asked for in steps. `held` stands for the containers of the component that are in the scope already:
 *
 *     constraint                 step                                          expression            at once
 *     at most max                                                              held <= max - 1       all
 *     together                   none is held                                  (any)                 1
 *                                then                                          held >= 1             all
 *     at least min (nodes only)  a node has fewer than min: it is filled       1 <= held <= min - 1  what is missing there
 *                                min or more are wanted: another node may begin  held = 0 or >= min  1
 *                                fewer are wanted                              held >= min           all
 *
 * Pure. Thread: any.   Source: YARN, PlacementConstraints; spec/needs.h.
 */
#ifndef CLUSTER_YARN_PLACE_H
#define CLUSTER_YARN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "protocols.pb-c.h"
#include "spec/needs.h"

/** What a minimum allows now. */
enum place_minimum { PLACE_ANY, PLACE_FILL, PLACE_BEGIN, PLACE_MORE };

struct yarn_place {
    int64_t n;     /* containers that may be asked for now; 0: none, by `blocked` */
    bool is_first; /* nothing is held: what is to be together begins */
    enum place_minimum minimum;
    int64_t min; /* the largest minimum of a node; 0: there is none */
    /* the constraint that forbids all; NULL: none [borrowed of needs] */
    const struct spec_constraint *blocked;
};

/** What its wait is of the constraints of a component: all names, separated by commas. free() */
char *yarn_place_names(const struct spec_needs *needs);
/**
 * The step that is due.
 *
 * @param needs     at least one constraint                                          [borrowed]
 * @param held      containers of the component on each node that has some, from 1     [borrowed]
 * @param n_nodes   of these
 * @param n_wanted  containers beside these, from 1
 */
struct yarn_place yarn_place_step(const struct spec_needs *needs, const int64_t *held, size_t n_nodes,
                                  int64_t n_wanted);
/** Two steps have the same expression, whatever their numbers. */
bool yarn_place_is_same(const struct yarn_place *a, const struct yarn_place *b);
/**
 * The expression of a step: one simple constraint where it can be, since a resource manager looks for the partition in
 * that only.
 *
 * @param tag    of the containers of the component                                  [borrowed while the message is used]
 * @param label  partition that all must be in; NULL: any                            [the same]
 * @param needs  the same
 * @return in the arena
 */
Yarn__PlacementConstraint *yarn_place_expression(struct arena *a, const struct spec_needs *needs,
                                                 const struct yarn_place *place, const char *tag,
                                                 const char *label);

#endif
