/**
 * One instance: its machine, what it is started with, how it ends, what is found after a restart. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_INSTANCE_H
#define ENGINE_INSTANCE_H

#include "engine/step.h"

/* ---- instance.c ---- */
/** An event that names a container. */
void instance_event(struct step *st, const struct eng_event *ev);
/** Ask for a container. */
void instance_request(struct step *st, struct eng_instance *inst);
/** Its next process is of its goal: it is about to be started. */
void instance_take_revision(struct eng_instance *inst);
/** Take the instance out of service: it ends now (and is freed) or when its container has ended. */
void instance_drop(struct step *st, struct eng_instance *inst, bool remove);
/** The service ends and keeps its instances: it is STOPPED now, or when its container has ended; one that is final stays so. */
void instance_put_down(struct step *st, struct eng_instance *inst);
/** Start the process in the container that is held. */
void instance_launch(struct step *st, struct eng_instance *inst);
/** EV_RUNNING: its process runs. */
void instance_running(struct step *st, struct eng_instance *inst, const struct eng_event *ev);
/** EV_EXITED, EV_LOST: its process or container has ended. The instance may be freed. */
void instance_exited(struct step *st, struct eng_instance *inst, const struct eng_event *ev);
/** Stop its process and container: RELEASING. */
void instance_stop(struct step *st, struct eng_instance *inst);
/** Find out whether it is ready: at once where nothing is probed. */
void instance_start_probe(struct step *st, struct eng_instance *inst);
/** No result is of interest any more. */
void instance_stop_probe(struct step *st, struct eng_instance *inst);
/** Delete its record; it is remembered until the registry has said that it is gone. */
void instance_unpublish(struct step *st, struct eng_instance *inst);
/** The longest pause between an end and the next start. */
int64_t instance_longest_pause_ms(const struct step *st, const struct eng_instance *inst);
/** Write the record of its container; it has IP and host. */
void instance_publish(struct step *st, struct eng_instance *inst);
/** Say why it is not further; text may be NULL. */
void instance_wait(struct eng_instance *inst, enum eng_wait why, const char *text);
/** A process may run in its container. */
bool instance_holds_process(const struct eng_instance *inst);

/* ---- recover.c ---- */
/** EV_RECOVERED, or EV_RUNNING of one that is RECOVERING: what became of its container. The instance may be freed. */
void instance_recovered(struct step *st, struct eng_instance *inst, const struct eng_event *ev);
/** One that is RECOVERING is lost when its time is over. */
void instance_recover_due(struct step *st, struct eng_instance *inst);
/** After EV_RESUME: emit again what was outstanding. The instance may lose its container. */
void instance_resume(struct step *st, struct eng_instance *inst);

/* ---- drain.c ---- */
/** For how long it serves on after its names have gone; 0: it is stopped at once. */
int64_t drain_ms(const struct eng_instance *inst);
/** RUNNING or READY, and drain_ms: it loses its clients, then it is stopped. */
void drain_begin(struct step *st, struct eng_instance *inst);
/** The registry has deleted the record of one that drains, or never will. */
void drain_unpublished(struct step *st, struct eng_instance *inst, bool is_deleted);
/** EV_SYNCED: the DNS servers answer without it. */
void drain_synced(struct step *st, struct eng_instance *inst, const struct eng_event *ev);
/** One that drains is stopped at once. */
void drain_stop(struct step *st, struct eng_instance *inst);
/** One that drains stays after all: its record is written again. */
void drain_take_back(struct step *st, struct eng_instance *inst);
/** The next phase, when it is time. */
void drain_due(struct step *st, struct eng_instance *inst);
/** After EV_RESUME. */
void drain_resume(struct step *st, struct eng_instance *inst);

/* ---- instance.c ---- */
/** What holds a container gives it back and gets another, on a node that its service may use; no failure is counted. */
void instance_evict(struct step *st, struct eng_instance *inst);

/** One that asks for a node for too long asks for any. */
void instance_escalate_due(struct step *st, struct eng_instance *inst);

/* ---- failure.c ---- */
/** How well its last end explains a service, the most last. */
enum failure_rank failure_rank(const struct eng_instance *inst);
/** The service ends: keep what explains best why, before its instances go. */
void failure_keep(struct eng_service *s);
/** It starts anew. */
void failure_forget(struct eng_service *s);
/** The FAILED instance whose end explains most; NULL: none is. */
const struct eng_instance *failure_final(const struct eng_service *s);
/** Why it ends, with the end that explains most, if one is FAILED. free() */
char *failure_end_text(const struct eng_service *s, const char *what);

/* ---- launch.c ---- */
/** All that its next process start needs; free with launch_free. */
struct eng_launch *launch_new(const struct engine *e, const struct eng_instance *inst);
/** Free; NULL is fine. */
void launch_free(struct eng_launch *l);
/** A probe for the instance; NULL: none is needed, it is ready when it runs. */
struct eng_probe *probe_new(const struct engine *e, const struct eng_instance *inst);
/** Free; NULL is fine. */
void probe_free(struct eng_probe *p);

/* ---- address.c ---- */
/** @return 0; or ERR_CONFIG. text NULL: no network. */
int addresses_init(struct addresses *net, const char *text, struct err_info *why);
/** Release; no network any more. */
void addresses_fini(struct addresses *net);
/** Copy what is used and avoided. @param to  of the same network */
void addresses_copy(struct addresses *to, const struct addresses *from);
/**
 * Give the instance an address unless it has one: the same whenever that is free, and not avoided.
 * @return true: it has one, or there is no network; false: none is free, then nothing is avoided any more.
 */
bool address_take(struct engine *e, struct eng_instance *inst);
/** Where the search for what belongs to a name begins: the same number in every process. */
uint32_t addresses_place(const char *name);
/** Mark an address as used or free; ignores one outside of the network. */
void addresses_mark(struct addresses *net, const char *ip, bool used);
/** Give up an address that another program of the host has: it is given out again only when no other is left. */
void addresses_avoid(struct addresses *net, const char *ip);

/* ---- ports.c ---- */
/** Choose the numbers that its named ports lack. @return false: none is free; those that were found stay. */
bool ports_take(struct engine *e, struct eng_instance *inst);
/** They are in use: of an instance that was loaded. */
void ports_mark(struct engine *e, const struct eng_instance *inst, bool is_used);
/** They are free, and it has none any more: with its address. */
void ports_give_back(struct engine *e, struct eng_instance *inst);
/** All its ports with their numbers, for a record; n of them. New, its names too; NULL: none */
struct eng_port *ports_of(const struct eng_instance *inst, size_t *n);

/* ---- totals.c: what has become of a component's containers ---- */
/** One was asked for; its service is written for that anyway. */
void totals_requested(struct eng_instance *inst);
/** Its process runs; one that was taken over counts where it was started. */
void totals_started(struct step *st, struct eng_instance *inst);
/** Its process or container ended, which nobody wanted. */
void totals_ended(struct step *st, struct eng_instance *inst, const struct eng_exit *x);
/** It ended as it was wanted. */
void totals_released(struct step *st, struct eng_instance *inst);
/* ---- past.c ---- */
/** Remember a container that ends, where the policy does. @param x  how; NULL: it was released */
void pasts_add(const struct step *st, const struct eng_instance *inst, const struct eng_exit *x);
/** Forget all of a service. */
void pasts_free(struct eng_service *s);
/** Whether a container is among those that are remembered of a service. */
bool pasts_has(const struct eng_service *s, const char *container_id);
/* ---- strays.c: containers that no instance has ---- */
/** An event of a container that no instance has: one that is alive is released. */
void strays_event(struct step *st, const struct eng_event *ev);
/** Another incarnation begins: none was counted. */
void strays_forget(struct eng_service *s);

/* ---- totals.c ---- */
/** The process lived so shortly, or not at all, that its start has failed. */
bool instance_was_short(const struct step *st, const struct eng_instance *inst);

#endif
