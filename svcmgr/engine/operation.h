/**
 * Operations on a service, and how one instance comes to another revision. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_OPERATION_H
#define ENGINE_OPERATION_H

#include "engine/step.h"

/* ---- revision.c ---- */
/** Why an upgrade cannot lead from one definition to another: "changes to queue not supported by upgrade". free(); NULL: it can. */
char *revision_refusal(const struct spec_service *old, const struct spec_service *new);
/** A component's processes are started otherwise; both definitions have it. */
bool revision_differs(const struct spec_service *old, const struct spec_service *new, const char *component);
/** The definition by which the next process of an instance is started, and its version. [borrowed] */
const struct spec_component *instance_spec(const struct eng_instance *inst);
const char *instance_version(const struct eng_instance *inst);
/** The target of an upgrade is the definition from now on, with the counts that requests have set. */
void revision_finalize(struct step *st, struct eng_service *s, struct spec_service *take_target);
/** Another definition: components come and go; those that it changes start their processes by it from now on. */
void revision_redefine(struct step *st, struct eng_service *s, struct spec_service *take_spec);
/** From now on this is the definition; every component of the service is in it, and none of its instances is touched. */
void revision_take_definition(struct step *st, struct eng_service *s, struct spec_service *take_spec);
/** Another definition restarts what has ended for good by the one before, as far as the step may. */
void revision_restart_final(struct step *st, struct eng_component *c);
/** Components that the definition lacks go when their last instance has gone. */
void revision_drop_empty(struct step *st, struct eng_service *s);

/* ---- roll.c ---- */
/** EV_ROLL. Answers. */
void roll_request(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** The next one, when the current one is ready in its new container. */
void roll_settle(struct step *st, struct eng_service *s);
/** The service ends: it goes no further. */
void roll_stop(struct step *st, struct eng_service *s);

/* ---- upgrade.c ---- */
/** It can be moved now; else later, when it has become ready or has ended. */
bool upgrade_is_movable(const struct eng_instance *inst);
/** It drains in order to be moved. */
bool upgrade_waits_for_reinit(const struct eng_instance *inst);
/** Bring a movable instance to a revision. */
void upgrade_move(struct step *st, struct eng_instance *inst, int64_t goal);
/** The process goes on: it was not replaced yet. */
void upgrade_take_back(struct step *st, struct eng_instance *inst);
/** Replace the process in its container by one of its goal. */
void upgrade_reinit(struct step *st, struct eng_instance *inst);
/** Replace the process in its container by another one of the same revision, after it has drained; one that waits for its start
 *  starts at once, one that is being started is left alone. */
void upgrade_restart(struct step *st, struct eng_instance *inst);
/** Its process runs, and is not ready. */
void upgrade_running(struct step *st, struct eng_instance *inst);
/** It is ready. */
void upgrade_ready(struct step *st, struct eng_instance *inst);
/** An end is that of a new revision which was not ready yet. */
bool upgrade_is_tried(const struct eng_instance *inst, const struct eng_exit *x);
/** Such an end; the container is given back. */
void upgrade_ended(struct step *st, struct eng_instance *inst, const char *text);
/** It was not ready in time. */
void upgrade_due(struct step *st, struct eng_instance *inst);

/* ---- operation.c ---- */
/** A request about an operation, or about what instances run. Answers. */
void operation_request(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** EV_FETCHED. */
void operation_fetched(struct step *st, struct eng_service *s, const struct eng_event *ev);
/** UPGRADING: the next instances, the end. */
void operation_settle(struct step *st, struct eng_service *s);
/** None is under way. */
bool operation_is_over(const struct eng_service *s);
/** The service is being stopped; it has stopped. */
void operation_stop(struct step *st, struct eng_service *s);
void operation_stopped(struct step *st, struct eng_service *s);
/** All its instances are where an operation wants them, and ready; or none concerns it. */
bool component_is_upgraded(const struct eng_component *c);
/** Instances that are to get another container. */
void operation_replace(struct step *st, struct eng_service *s);
/** Instances whose process is to be replaced. */
void operation_restart(struct step *st, struct eng_service *s);

#endif
