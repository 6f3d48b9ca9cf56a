/**
 * Requests of a simulated cluster: each gets a node, or waits in a queue until one has room, and leaves its node again. Here are
 * sim_request, sim_exclude, sim_cancel and sim_release of sim.h, too.
 * Pure. Thread: one cluster, one thread.   Source: ours.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "sim/box.h"

/** Serve the requests that wait, now but not in this call: something has changed. */
void sim_serve_soon(struct sim *s);
/** Serve the requests that wait, each queue in its order. */
void sim_serve(struct sim *s);
/** Give a container a node, or a place in its queue. @return whether it has a node now */
bool sim_try_place(struct sim *s, struct sim_box *b);
/** Put a container where it is, whose room is taken already. */
void sim_settle_at(struct sim *s, struct sim_box *b, struct sim_node *node);
/** Take a container from its node, and give back its room. */
void sim_leave_place(struct sim *s, struct sim_box *b);

#endif
