/**
 * The nodes of the cluster, and what each service has met there.
 *
 *     engine ── node "n1": state, rack, labels, resources           reported by the cluster (EV_NODE); not stored
 *     service ┬ excluded: "n2", …                                    by request (EV_EXCLUDE), part of what is wanted
 *             └ place "n1"                                            document <key of the service>/nodes/n1
 *                 └ use by component "web": failures, last use
 *
 * A service has a place for a node only where there is something to remember of it, and at most PLACES_MAX.
 * The cluster must put no container of the service on a node that is excluded or avoided (EFF_EXCLUDE). A node is avoided while
 * some component has failed there more often than its threshold within the window, or for some time after a request has moved
 * an instance away (EV_MIGRATE), and another node takes containers.
 *
 * Thread: the engine's.   Source: Slider's role history and node exclusion; Hadoop's node blacklist of services; design 5.
 */
#ifndef ENGINE_NODES_H
#define ENGINE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct eng_service;

/** States of a node, by the names of the resource manager. Only a RUNNING one takes containers. */
/* clang-format off */
#define ENG_NODE_STATES(X) \
    X(NODE_RUNNING, "RUNNING") \
    X(NODE_NEW, "NEW")                         /* it has registered, no report came yet */ \
    X(NODE_UNHEALTHY, "UNHEALTHY") \
    X(NODE_DECOMMISSIONING, "DECOMMISSIONING") /* its containers may end, new ones are not placed */ \
    X(NODE_DECOMMISSIONED, "DECOMMISSIONED") \
    X(NODE_LOST, "LOST")                       /* no report came for too long */ \
    X(NODE_REBOOTED, "REBOOTED") \
    X(NODE_SHUTDOWN, "SHUTDOWN")
/* clang-format on */

#define ENG_NODE_ROW(token, word) token,
enum eng_node_state { ENG_NODE_STATES(ENG_NODE_ROW) };
#undef ENG_NODE_ROW
/** Word of a node's state. Static. Thread: any. */
const char *eng_node_state_word(enum eng_node_state s);

/** Ports that a node gives to containers, both ends included. */
struct eng_ports {
    int64_t first, last;
};

/** A node as the cluster has reported it last. Texts that were not reported are NULL, numbers 0. */
struct eng_node {
    char *host;         /* its name, unique in the cluster */
    char *rack;         /* "/default-rack" */
    char *http_address; /* "host:port" of its own pages */
    char *health;       /* why it is UNHEALTHY */
    enum eng_node_state state;
    char **labels; /* partitions it belongs to */
    size_t n_labels;
    int64_t memory_mb, vcores;
    int64_t n_gpus;
    int64_t gpu_mask;         /* a bit for each GPU; 0: not known */
    struct eng_ports **ports; /* by the first port, apart from each other */
    size_t n_ports;
    int64_t updated_ms; /* last report; time of day */
};

/** What a component has met on a node. */
struct eng_use {
    char *component;
    /* of the service, in which the numbers below were counted: in another one they are 0 */
    int64_t incarnation;
    int64_t n_failed; /* counted failures */
    int64_t n_recent; /* of them in the window */
    /* processes that ended before they ran, or soon after; containers that the cluster took back; where uses are remembered */
    int64_t n_start_failed, n_preempted;
    int64_t window_end_ms; /* when n_recent is 0 again; engine time */
    /* until then it is not to come back, as a request has moved an instance away; engine time */
    int64_t left_until_ms;
    /* when its last container here ended, or began; time of day; 0: it had none, or none is remembered */
    int64_t last_used_ms;
    int64_t n_held; /* its containers that are here now, where uses are remembered; not stored */
};

/** What a service has met on a node. */
struct eng_place {
    char *host;
    bool avoided; /* no container of the service is placed there; not stored */
    bool dirty;   /* to be persisted at the end of this step */
    struct eng_use **uses;
    size_t n_uses;
};

/** The places of a service. */
struct eng_places {
    struct eng_place **items; /* by host, ascending */
    size_t n;
    /* engine time at which it is decided anew which nodes are avoided; 0: none is; not stored */
    int64_t due_ms;
    bool failing; /* some component has failed too often on some node; not stored */
    char **asked; /* nodes that the cluster was asked to exclude, by host; not stored */
    size_t n_asked;
    bool changed;  /* other nodes may be excluded or avoided than were asked for; not stored */
    bool evicting; /* containers may still be on an excluded node; not stored */
    bool dirty;    /* some place is */
};

/** A deep copy of a report, for who must keep an event; eng_node_free. Thread: any. */
struct eng_node *eng_node_copy(const struct eng_node *node);
/** Free; NULL is fine. Thread: any. */
void eng_node_free(struct eng_node *node);
/** A node by its host, or NULL. [borrowed until the next step] */
const struct eng_node *engine_node(const struct engine *e, const char *host);
/** The nodes by host; NULL-terminated, free() the array. */
const struct eng_node **engine_nodes(const struct engine *e);
/** What a service has met on a node; NULL: nothing. [borrowed until the next step] */
const struct eng_place *eng_service_place(const struct eng_service *s, const char *host);
/** By request, no container of the service may run on a node. */
bool eng_service_is_excluded(const struct eng_service *s, const char *host);

#endif
