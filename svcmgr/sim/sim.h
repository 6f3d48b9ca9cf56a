/**
 * A cluster in virtual time: nodes, and containers that do what a script says. Whoever uses it asks for containers and launches
 * processes, and takes what happens out of it, one event at a time:
 *
 *   sim_request ──> ALLOCATED ── sim_launch ──> STARTED ──> ENDED ── sim_launch again, or sim_release: the container is gone
 *        │  WAITS                  sim_probe: READINESS
 *        └─ sim_cancel
 *
 * A container may end at any time after it was allocated: its node fails, or it is preempted. After ENDED with SIM_LOST or SIM_PREEMPTED nothing but
 * sim_release is of use.
 *
 * What is drawn (delays, ends) hangs on the seed, the container's id and the attempt, and on nothing else: another order of the calls
 * leaves the life of a container as it was. One seed, one script and the same calls give the same events.
 *
 * Time is virtual, in ms, and comes with the calls; it never goes back: a call with an earlier time happens at that of the last one.
 * Pure: no clock, socket, file, thread or log. Thread: one cluster, one thread.   Source: YARN's resource model; ours.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/nodes.h"
#include "sim/script.h"

struct sim;

/** What is asked for. All is copied. */
struct sim_ask {
    const char *id;          /* names the container; never used again after its release */
    const char *application; /* that it is of, see sim_exclude; or NULL */
    struct sim_room room;
    const char *label;              /* of a node; NULL or "": any */
    const char *host;               /* the only node it may be on; NULL: any */
    const char *ip;                 /* address it must have; NULL: one of 10.0.0.0/8 */
    const char *component;          /* that it is of: its constraints are about the containers of it */
    const struct spec_needs *needs; /* resources beside room.memory_mb and .vcores, constraints; NULL: none */
};

enum sim_state {
    SIM_ASKED,   /* waits for room */
    SIM_GRANTED, /* has a node, the answer is on its way */
    SIM_HELD,    /* allocated, no process */
    SIM_STARTING,
    SIM_RUNNING,
    SIM_STOPPING,
    SIM_ENDED /* its process has ended, the container is held until its release */
};

/** A container as it is now. All borrowed until it is released. */
struct sim_container {
    const char *id, *ip, *label, *application, *host;
    const struct spec_needs *needs; /* NULL: none */
    const struct sim_tag *tag;      /* NULL: it has no constraints */
    const char *missing;            /* a resource type that no node has; NULL: none is */
    const struct sim_node *node;    /* NULL: SIM_ASKED */
    struct sim_room room;
    int64_t gpus; /* a bit for each GPU of its node that it has */
    enum sim_state state;
    int64_t attempt;    /* of the last launch; 0: never launched */
    int64_t started_ms; /* of its process; 0: it does not run */
    int64_t ended_ms;
    enum sim_cause cause; /* SIM_ENDED: how; value: exit code or signal */
    int value;
};

enum sim_event_kind {
    SIM_EV_ALLOCATED, /* container                                                      */
    SIM_EV_WAITS,     /* container, lack: its request waits; again when that changes    */
    SIM_EV_STARTED,   /* container                                                      */
    SIM_EV_ENDED,     /* container: cause, value                                        */
    SIM_EV_READINESS, /* container, is_ready: the first result and every change          */
    SIM_EV_NODE       /* node: it is down, or up again                                  */
};

struct sim_event {
    enum sim_event_kind kind;
    int64_t at_ms;
    const struct sim_container *container; /* as it is now; borrowed until the next call */
    int64_t attempt;                       /* of this launch; an answer that is repeated has the old one */
    enum sim_lack lack;
    /* name of the constraint, of the label, of the resource type that no node has; NULL: of nothing */
    const char *lacking;
    bool is_ready;
    const struct sim_node *node;
};

/** A cluster. @param script borrowed until sim_free. Free with sim_free. */
struct sim *sim_new(const struct sim_script *script, uint64_t seed);
/** Free; NULL is fine. */
void sim_free(struct sim *s);

/** Ask for a container. One that is held already is ALLOCATED again; a request that waits is left as it is. */
void sim_request(struct sim *s, const struct sim_ask *ask, int64_t now_ms);
/** Place no container of an application on a node any more, or again; what is there stays. */
void sim_exclude(struct sim *s, const char *application, const char *node, bool excluded, int64_t now_ms);
/** Take a request back; one that is unknown or held already is left alone. */
void sim_cancel(struct sim *s, const char *id, int64_t now_ms);
/**
 * Start a process in a container that is held and has none.
 *
 * @param attempt   echoed in the events                                               from 1
 * @param instance  what the script's rules are for, or NULL                           [borrowed for the call]
 * @return 0: STARTED or ENDED follows; ERR_NOTFOUND: no such container; ERR_WRONGSTATE: it has a process, or is lost.
 */
int sim_launch(struct sim *s, const char *id, int64_t attempt, const char *instance, int64_t now_ms);
/** End the process: ENDED with SIM_STOPPED follows. A container without a process: nothing. @param force without delay */
void sim_stop(struct sim *s, const char *id, bool force, int64_t now_ms);
/** Give a container back, whatever runs in it; no event speaks of it any more. Unknown ones are fine. */
void sim_release(struct sim *s, const char *id, int64_t now_ms);
/** Report READINESS of the container from now on, until it ends or sim_unprobe. */
void sim_probe(struct sim *s, const char *id, int64_t now_ms);
void sim_unprobe(struct sim *s, const char *id);
/**
 * Hold a container that was there before the simulation began.
 *
 * @param node        name of its node; unknown or NULL: any                           [borrowed for the call]
 * @param attempt     of its last launch, 0: none
 * @param is_running  its process runs, and its script begins anew; else it is only held
 */
void sim_restore(struct sim *s, const struct sim_ask *ask, const char *node, int64_t attempt, bool is_running,
                 const char *instance, int64_t now_ms);

/** The process of a container ends now, by no rule: the ENDED follows. One without a process, or unknown: nothing but for SIM_LOST, which
 *  any container that is held can be. */
void sim_kill(struct sim *s, const char *id, enum sim_cause cause, int value, int64_t now_ms);
/** A node fails: its containers are lost. lasts_ms < 0: it stays down until sim_mend. */
void sim_fail_node(struct sim *s, size_t index, int64_t lasts_ms, int64_t now_ms);
/** A node is up again. */
void sim_mend_node(struct sim *s, size_t index, int64_t now_ms);

/** When the next event, or something that leads to one, is due: virtual ms; INT64_MAX: nothing is. */
int64_t sim_next_ms(const struct sim *s);
/**
 * Take the earliest event that is due.
 *
 * @param until_ms  virtual time up to which things may happen; one call may use much less
 * @param out       the event                                                          [out]
 * @return true: *out is filled; false: nothing happens until then any more.
 */
bool sim_take(struct sim *s, int64_t until_ms, struct sim_event *out);

/** A container that is asked for or held, or NULL. [borrowed until the next call] */
const struct sim_container *sim_find(const struct sim *s, const char *id);
/** Call fn for each container that is asked for or held, by id. */
void sim_each(const struct sim *s, void (*fn)(void *arg, const struct sim_container *c), void *arg);
/** Nodes and what is in use of them. [borrowed until sim_free] */
const struct sim_nodes *sim_nodes_of(const struct sim *s);
/** Containers held, and requests that wait. */
void sim_count(const struct sim *s, size_t *n_held, size_t *n_waiting);
/** A process runs, or is about to. Thread: any. */
bool sim_has_process(const struct sim_container *c);

#endif
