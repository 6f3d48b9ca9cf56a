/**
 * What services have met on the nodes of the cluster. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_PLACES_H
#define ENGINE_PLACES_H

#include "engine/step.h"

/* ---- nodes.c ---- */
/** The cluster reports a node. */
void nodes_event(struct step *st, const struct eng_event *ev);
/** Release. */
void nodes_fini(struct engine *e);
/** Copy them all. @param to  without nodes */
void nodes_copy(struct engine *to, const struct engine *from);
/** It takes containers, and has the label; label NULL or "": any does. */
bool node_takes(const struct eng_node *node, const char *label);

/* ---- places.c ---- */
/** Whether a service may use a node. Answers. */
void places_request(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** The instance has failed where it ran: a counted failure. */
void places_failed(struct step *st, const struct eng_instance *inst);
/** Count an end of the instance where it ran, where nodes are remembered. */
void places_ended(struct step *st, const struct eng_instance *inst, bool is_start_failure,
                  bool is_preemption);
/** A request moves the instance away from where it is: the node is avoided for a time, if there is another. */
void places_moved(struct step *st, const struct eng_instance *inst);
/** The instance has got a container; or has one, when it is loaded: st NULL. */
void places_allocated(struct step *st, struct eng_instance *inst);
/** Its container has gone. */
void places_left(struct step *st, struct eng_instance *inst);
/** The node that an instance asks for first: where its component was last and is not now. [borrowed]; NULL: any. */
const char *places_wish(const struct engine *e, const struct eng_instance *inst);
/** How long it asks for that node alone; 0: for ever. */
int64_t places_escalate_ms(const struct eng_instance *inst);
/** What is due: decide anew what is avoided, stop what runs on excluded nodes. */
void places_settle(struct step *st, struct eng_service *s);
/** The cluster may have lost what was asked of it: it is asked again. */
void places_resync(struct eng_service *s);
/** An application of the service begins, or svcmgr does: the cluster knows of no excluded node. */
void places_begin(struct step *st, struct eng_service *s);
/** The application has ended: the cluster may forget what was excluded. */
void places_end(struct step *st, struct eng_service *s);
/** Forget all of them, as far as the step may: the service is being removed. */
void places_drop(struct step *st, struct eng_service *s);
/** Write the documents that have changed. */
void places_persist(struct step *st, struct eng_service *s);
/** Take one from its document. @return 0; or ERR_JSON with the place in *why. */
int place_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why);
/** Release; no effects. */
void places_free(struct eng_service *s);

#endif
