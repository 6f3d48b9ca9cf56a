/**
 * Which nodes of the cluster have registered with the resource manager, and what follows for containers that it does not list.
 *
 *              another RM, another start of it, or one heard again
 *      ┌──────────────────────────────┬──────────────────────────────────────┐
 *      ▼                              │                                      │
 *   WAITING ──the first node registers──► GRACE ──the expiry interval is over──► CALM
 *   absence means nothing             absence means something for            absence means something
 *                                     a node that has been registered
 *                                     for the time to settle
 *
 * After a start of the RM its list of containers fills as nodes register: what is not listed may run on a node that has not come
 * back yet, or has this moment: the RM shows a node before it has taken in what runs there, how long depends on its load. How many nodes there are says nothing, since a new one may stand for one that is late: ids are compared. A container
 * of which we know the node waits for that node; one of which we do not, for all nodes that were registered before. Where a node
 * stays away, the interval begins when the nodes register (with an RM that was hung they notice late), and anew with each node known
 * before that comes back.
 *
 * Pure. Thread: one.   Source: YARN ResourceManager (work-preserving restart); ours.
 */
#ifndef CLEANUP_RM_NODES_H
#define CLEANUP_RM_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/** Longest time between two lists of nodes while absence means something. */
#define RM_NODES_LIST_MS 60000

struct rm_nodes;

/**
 * CALM, no node known. Free with rm_nodes_free.
 *
 * @param expiry_ms  after which a node that stays away has none of its containers
 * @param settle_ms  for which a node has been registered, when all of its containers are listed
 */
struct rm_nodes *rm_nodes_new(int64_t expiry_ms, int64_t settle_ms);
/** Free; NULL is fine. */
void rm_nodes_free(struct rm_nodes *n);
/**
 * Another RM, another start of it, or one that was not heard for a time: WAITING.
 *
 * @param passed_ms  of the interval, that have passed already; 0: none
 */
void rm_nodes_restart(struct rm_nodes *n, int64_t passed_ms);
/** This poll needs the list of nodes. @param n_active  nodes that the RM counts now */
bool rm_nodes_wants_list(const struct rm_nodes *n, int64_t n_active, int64_t now_ms);
/**
 * What this poll says; once in each.
 *
 * @param n_active  as of rm_nodes_wants_list
 * @param take_list ids of the nodes that are registered, as a set with values that need no free; emptied. NULL: there is no
 *                  list, because none was wanted or none came
 */
void rm_nodes_saw(struct rm_nodes *n, int64_t n_active, struct map *take_list, int64_t now_ms);
/** The poll counts: who is registered while all is CALM is who must be back after a restart. A poll into which a start of the RM falls
 *  would forget them. */
void rm_nodes_commit(struct rm_nodes *n);
/** A container that the RM does not list and that was on this node has ended. @param node  id; NULL: not known */
bool rm_nodes_may_miss(const struct rm_nodes *n, const char *node);
/** Some node has registered since the last restart, so the RM's list of containers shows where those live that it has. */
bool rm_nodes_show_containers(const struct rm_nodes *n);

#endif
