/**
 * Components: their instances in order, how many there are to be, and what is asked of the cluster for them. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_COMPONENT_H
#define ENGINE_COMPONENT_H

#include "engine/step.h"

/* ---- gang.c ---- */
/** Its processes start only when every instance has a container. */
bool gang_holds(const struct eng_service *s);
/** Its launch waits; no more. */
void gang_join(struct eng_instance *inst);
void gang_leave(struct eng_instance *inst);
/** It has a container in which nothing was launched, as others have none yet. */
bool gang_is_held(const struct eng_instance *inst);
/** Launch what waits when it may, or end the service when that has taken too long. */
void gang_settle(struct step *st, struct eng_service *s);

/* ---- asks.c ---- */
/** It asks for a container, by the key of its document or that of its component; nothing for one that is held. */
void ask_join(struct eng_instance *inst);
/** It asks no more. */
void ask_leave(struct eng_instance *inst);
/** Release those of a component. */
void asks_free(struct eng_component *c);
/** Emit the request for an instance. */
void ask_emit(struct step *st, struct eng_instance *inst);
/** Take it back; the instance leaves it next. */
void ask_cancel(struct step *st, struct eng_instance *inst);
/** Some instance of the component asks for a node. */
bool ask_is_for(const struct eng_component *c, const char *host);
/** EV_ALLOCATED of a cluster that names its containers itself: the instance that asked, the oldest, takes that name. @return NULL: none has asked */
struct eng_instance *ask_adopt_name(struct step *st, const struct eng_event *ev);
/** EV_RESYNC: what is outstanding is emitted again while the service is settled. */
void asks_resync(struct step *st, const struct eng_event *ev);
void asks_settle(struct step *st, struct eng_service *s);

/* ---- instances.c ---- */
#define STATE_BIT(s) (1u << (s))
#define STATES_UP    (STATE_BIT(INST_RUNNING) | STATE_BIT(INST_READY))
/** It asks for a container, or will. */
#define STATES_ASKING (STATE_BIT(INST_PENDING) | STATE_BIT(INST_REQUESTED))
#define STATES_FINAL  (STATE_BIT(INST_SUCCEEDED) | STATE_BIT(INST_FAILED) | STATE_BIT(INST_STOPPED))
/** Change the state of an instance; due_ms, if the state has one, may be set before or after. */
void instance_enter(struct eng_instance *inst, enum eng_instance_state state);
/** Engine time of what is due; PENDING, EXITED: 0: at once; RECOVERING: 0: never. */
void instance_set_due(struct eng_instance *inst, int64_t due_ms);
/** The revision that its next process runs, and how it stands to that. */
void instance_set_goal(struct eng_instance *inst, int64_t goal, enum eng_upgrade upgrade);
/** PENDING: there is no room for it until others go; or there is again. */
void instance_set_unplaced(struct eng_instance *inst, bool unplaced);
/** It is removed once its container has ended; or it stays. */
void instance_set_removing(struct eng_instance *inst, bool removing);
/** The registry could not take its record: it is written again with those of others; or not any more. */
void instance_set_unpublished(struct eng_instance *inst, bool unpublished);
/** Instances whose state is in the mask. */
int64_t component_count(const struct eng_component *c, unsigned state_mask);
/** Instances that are meant to stay; the one of the highest number, or NULL. */
int64_t component_n_kept(const struct eng_component *c);
struct eng_instance *component_highest_kept(struct eng_component *c);
/** Whose due time comes first, whenever that is; NULL: none. Of those to be started (PENDING, EXITED); of those whose phase ends
 *  (DRAINING, RECOVERING). */
struct eng_instance *component_next_start(const struct eng_component *c);
struct eng_instance *component_next_end(const struct eng_component *c);
/** Whose end explains most of those of a rank: the latest, the first of several at once. NULL: none has it. */
struct eng_instance *component_latest_failure(const struct eng_component *c, enum failure_rank rank);
/** How its last process ended: a copy; x NULL: none did, or it was taken back. */
void instance_set_exit(struct eng_instance *inst, const struct eng_exit *x, int64_t ended_ms);
/** The first one that there is no room for; NULL: none. */
struct eng_instance *component_unplaced(const struct eng_component *c);
/** Instance by number; NULL when there is none. */
struct eng_instance *component_instance(const struct eng_component *c, int64_t index);
/** Take an instance in, at the place of its number, which is at most ENG_INDEX_MAX and free. */
void component_insert(struct eng_component *c, struct eng_instance *take_inst);
/** The instance of the highest number, one that is to go, too; NULL: there is none. */
struct eng_instance *component_highest(const struct eng_component *c);
/** Take it out; it is the caller's to free. */
void component_remove(struct eng_instance *inst);
/** Free with all instances. */
void component_free(struct eng_component *c);
/** The next instance of a walk, in start order; NULL: it has come to the end. Instances may come and go meanwhile. */
struct eng_instance *instances_next(const struct eng_service *s, struct eng_walk *walk);

/* ---- revision.c, see operation.h ---- */
/** What requests have changed since a definition was given is in the new one, too. */
void revision_keep_counts(const struct spec_service *from, struct spec_service *to);

/* ---- component.c ---- */
/** Bring the instances nearer to what the specification wants, as far as the step may. */
void component_resize(struct step *st, struct eng_component *c);
/**
 * After a restart: when nothing of it has survived, as after a reboot, it starts as at first, when what it and its service depend on is
 * ready. A component with an instance that is up, or asked for, goes on as before.
 */
void component_come_back(struct step *st, struct eng_component *c);
/** Start what can be started. */
void component_advance(struct step *st, struct eng_component *c);
/** Times of its instances that are over: of a drain, of one that is not found after a restart. */
void component_due(struct step *st, struct eng_component *c);
/** Compute the state anew. */
void component_recompute(struct step *st, struct eng_component *c);
/** What is stored of a component is as in another object of it. */
void component_take_stored(struct eng_component *c, const struct eng_component *stored);
/** Those that depend on it may start. */
bool component_ready_for_dependents(const struct eng_component *c);
/** It has ended by itself; never with policy ALWAYS. */
bool component_is_finished(const struct eng_component *c);
/** Remove one instance from the list and free it. */
void component_forget(struct step *st, struct eng_component *c, struct eng_instance *inst);
/** Component by name; NULL when there is none. */
struct eng_component *component_of(const struct eng_service *s, const char *name);
/** Split "comp-3". @return the component, *index set, which may be less than 0 for a name of an earlier incarnation; or NULL: no name of an instance of this service. */
struct eng_component *component_of_instance(const struct eng_service *s, const char *instance,
                                            int64_t *index);
/** The service has started: the health threshold is looked at from a later time on. */
void component_watch_health(struct step *st, struct eng_component *c);
/** Look at the health threshold when it is time to. @return why the service must end, free(); or NULL. */
char *component_check_health(struct step *st, struct eng_component *c);
/** Count a failure. @return failures in the window */
int64_t component_count_failure(struct step *st, struct eng_component *c);

#endif
