/**
 * The nodes of a simulated cluster and what is in use of them. A container goes to the next node that has room, round and round, so
 * that placement costs little and the load is even.
 * Pure. Thread: one cluster, one thread.   Source: ours.
 */
#ifndef SIM_NODES_H
#define SIM_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "sim/script.h"
#include "sim/tags.h"

/** What a container takes of a node, or what a node has. */
struct sim_room {
    int64_t memory_mb, vcores;
    int64_t amounts[SIM_TYPES_MAX]; /* by the types of the script */
};

struct sim_node {
    char name[16];            /* "node-00001" */
    const char *label, *rack; /* of the script, or NULL */
    struct sim_room has, used;
    int64_t gpus; /* bits of those that are in use */
    bool is_down;
    size_t index, rack_index; /* in the cluster, from 0; nodes without a rack are in one together */
    size_t group;             /* of the script */
};

struct sim_nodes {
    struct sim_node *list;
    size_t n, next; /* next: where the search for room begins */
    size_t n_racks;
    struct sim_room has, used;
    struct map excluded; /* "application node" */
};

/** What a container wants of its node. All is borrowed. */
struct sim_want {
    struct sim_room room;
    const char *host;          /* the only node that may be used; NULL: any */
    const char *label;         /* that the node must have; NULL or "": any */
    const char *application;   /* whose excluded nodes are not used; NULL: none are */
    const struct sim_tag *tag; /* what is counted for its constraints; NULL: it has none */
    const struct spec_needs *needs;
    const uint64_t *groups; /* sim_tag_groups */
    int64_t gpu_mask;       /* the GPUs of the node that it must have; 0: any */
};

/** Why a container has no node: of all nodes the lack that comes last here, as it is the nearest to a place. */
enum sim_lack {
    SIM_LACKS_NOTHING,   /* or it is not known yet */
    SIM_LACKS_LABEL,     /* no node has its label */
    SIM_LACKS_SIZE,      /* no node of its label is large enough */
    SIM_LACKS_ROOM,      /* every node that could hold it is full, down or excluded */
    SIM_LACKS_CONSTRAINT /* nodes have room, and a constraint forbids each of them */
};

/** Make the nodes of a script, which is borrowed until sim_nodes_fini. */
void sim_nodes_init(struct sim_nodes *nodes, const struct sim_script *script);
/** Release. */
void sim_nodes_fini(struct sim_nodes *nodes);
/**
 * Find a node for a container and count it there.
 *
 * @param lack   why there is none                                                      [out]
 * @param by     SIM_LACKS_CONSTRAINT: the constraint that forbids it; else NULL          [out, borrowed from want]
 * @return the node [borrowed]; or NULL: none has room now, or ever.
 */
struct sim_node *sim_nodes_place(struct sim_nodes *nodes, const struct sim_want *want, enum sim_lack *lack,
                                 const struct spec_constraint **by);
/** Place nothing of an application on a node any more, or again; an unknown node is fine. */
void sim_nodes_exclude(struct sim_nodes *nodes, const char *application, const char *node, bool excluded);
/** Count a container at a node, whether it has room or not. */
void sim_nodes_take(struct sim_nodes *nodes, struct sim_node *node, const struct sim_room *wanted);
/**
 * Take GPUs of a node that has room for them: the wanted ones, or the first that are free.
 * @param n     as many, of which the first 63 of a node have bits
 * @param mask  the wanted ones; 0: any
 * @return a bit for each; sim_nodes_give_gpus takes them back.
 */
int64_t sim_nodes_take_gpus(struct sim_node *node, int64_t n, int64_t mask);
void sim_nodes_give_gpus(struct sim_node *node, int64_t gpus);
/** A container has left its node. */
void sim_nodes_give(struct sim_nodes *nodes, struct sim_node *node, const struct sim_room *wanted);
/** A node by name, or NULL. [borrowed] */
struct sim_node *sim_nodes_find(const struct sim_nodes *nodes, const char *name);
/** Sentence of a lack. @param lacking  the resource type that no node has; NULL: no such. @return free(). Thread: any. */
char *sim_lack_text(enum sim_lack lack, const char *lacking);

#endif
