/**
 * How many containers of a component are on which node and rack, so that a constraint on them is decided in constant time: a tag is
 * one component of one application, of which some container has constraints.
 *
 *     tag "application_1_1 web" ── by_node  [1][0][2] …     n_held 3
 *                               └─ by_rack  [3][0] …
 *
 * Pure. Thread: one cluster, one thread.   Source: allocation tags of YARN.
 */
#ifndef SIM_TAGS_H
#define SIM_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "sim/script.h"
#include "spec/needs.h"

struct sim_node;
struct sim_tag;

/** The tags of a cluster. */
struct sim_tags {
    struct map items;        /* "application component" → struct sim_tag */
    size_t n[SPEC_N_SCOPES]; /* nodes, racks */
    uint64_t n_passes;       /* see sim_tag_missed */
};

/** No containers. @param n_nodes, n_racks  of the cluster */
void sim_tags_init(struct sim_tags *tags, size_t n_nodes, size_t n_racks);
/** Release. */
void sim_tags_fini(struct sim_tags *tags);
/** The tag of a component of an application, for one container more that is asked for or held; sim_tag_leave. */
struct sim_tag *sim_tag_join(struct sim_tags *tags, const char *application, const char *component);
/** One container less: it was given back. The tag may be gone. */
void sim_tag_leave(struct sim_tags *tags, struct sim_tag *tag);
/** A container is placed on a node, or leaves it. @param by  1 or -1 */
void sim_tag_count(struct sim_tag *tag, const struct sim_node *node, int by);
/** Containers of the tag in the scope of a node. */
int64_t sim_tag_held(const struct sim_tag *tag, enum spec_scope scope, const struct sim_node *node);
/**
 * The first constraint that forbids one container more of the tag on a node.
 *
 * @param needs   of the container; NULL: none                                       [borrowed]
 * @param groups  a bit for each constraint and group of nodes, see sim_tag_groups    [borrowed]
 * @return borrowed from needs; NULL: it may be there
 */
const struct spec_constraint *sim_tag_forbids(const struct sim_tag *tag, const struct spec_needs *needs,
                                              const uint64_t *groups, const struct sim_node *node);
/** For each constraint the groups of nodes with its attributes and partitions, a bit each. @return free(); NULL: no constraint */
uint64_t *sim_tag_groups(const struct spec_needs *needs, const struct sim_script *script);
/** A new pass through what waits. */
void sim_tags_pass(struct sim_tags *tags);
/** In this pass a container of the tag has found no node: another one of it needs no look. */
bool sim_tag_has_missed(const struct sim_tags *tags, const struct sim_tag *tag);
void sim_tag_miss(const struct sim_tags *tags, struct sim_tag *tag);

#endif
