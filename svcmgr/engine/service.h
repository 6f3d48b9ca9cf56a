/**
 * Services as wholes: requests, incarnations, applications, and what stands between services. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_SERVICE_H
#define ENGINE_SERVICE_H

#include "engine/step.h"

/* ---- service.c ---- */
/** A request of a face: it is answered in this step, a destroy later. */
void service_request(struct step *st, const struct eng_event *ev);
/** A request about a service that is there, other than STOP, START and DESTROY. It is answered in this step. */
void service_change(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** In an application master: an order of the manager. @param why  of a STOP [borrowed] */
void service_order(struct step *st, const struct eng_event *ev, struct eng_service *s, const char *why);
/** The registry has answered a ticket. */
void service_record(struct step *st, const struct eng_event *ev);
/** Due work, start order, states, end, timer. */
void service_settle(struct step *st, struct eng_service *s);
/** A container or an application of the service has ended. */
void service_report_ended(struct step *st, struct eng_service *s, const char *id);
/** Answer the DELETE requests that wait. */
void service_answer_destroyers(struct step *st, struct eng_service *s, enum eng_outcome outcome);
/** Ask the registry once more for what it has refused permanently, in a step of the service's own: it may be another one, or set up in
 *  another way. */
void service_ask_again(struct step *st, struct eng_service *s);
/** After EV_RESUME: all that was outstanding is emitted again while the service is settled. */
void service_resume(struct step *st, struct eng_service *s);
/** Write the record of the service. */
void service_publish(struct step *st, struct eng_service *s);
/** Clear the path of a service that has ended. */
void service_purge(struct step *st, struct eng_service *s);

/* ---- incarnation.c ---- */
/** Change the state, with a note. */
void service_set_state(struct step *st, struct eng_service *s, enum eng_service_state state);
/** Another incarnation has a number, and its application an id. */
void service_take_id(struct step *st, struct eng_service *s);
/** EV_CREATE, or EV_REDEFINE of a name that is not there. Answers. */
void service_create(struct step *st, const struct eng_event *ev);
/** Whatever it does, it stops, and its policy does not try again. @return false: it had ended */
bool service_stop_by_request(struct step *st, struct eng_service *s, const char *user);
/** A new incarnation begins: ACCEPTED. */
void service_launch(struct step *st, struct eng_service *s);
/** It does not wait for another service, or goes. */
void service_stop_waiting(struct engine *e, struct eng_service *s);
/** It goes: it ends, its records and documents are deleted. */
void service_destroy(struct step *st, struct eng_service *s, const char *why);
/** Whether a service that it depends on is not STABLE: then it is settled when one is, and *wait says which. */
bool service_awaits_service(struct step *st, struct eng_service *s, struct eng_waiting **wait);
/** An ACCEPTED service starts, or waits for what it depends on. */
void service_try_start(struct step *st, struct eng_service *s);
/** The service ends by itself: as service_finish, and its exit is kept. Takes end->text. */
void service_end(struct step *st, struct eng_service *s, struct eng_end *end);
/** Keep how it ended. */
void service_keep_exit(const struct step *st, struct eng_service *s, const struct eng_exit *x,
                       const struct eng_instance *trigger);
/** It ends by itself, and is asked to stop: nothing follows. */
void service_stop_for_good(struct step *st, struct eng_service *s);
/** End the incarnation: stop everything, then be `end_state`. diagnostics may be NULL. */
void service_finish(struct step *st, struct eng_service *s, enum eng_service_state end_state,
                    const char *diagnostics);
/** What it waits for is there: STARTED. */
void service_begin(struct step *st, struct eng_service *s);
/** Drop what is kept of an incarnation that has ended, as far as the step may. @return true: nothing is left */
bool service_clear_instances(struct step *st, struct eng_service *s);
/** Replace its rules, which may name another parent; NULL: none. */
void service_take_rules(struct engine *e, struct eng_service *s, struct eng_rules *take_rules);
/** It has no instances. */
bool service_is_empty(const struct eng_service *s);
/** It is live, neither ending nor between two incarnations. */
bool service_is_running(const struct eng_service *s);
/** FINISHING: stop what is in it, and end when nothing is. */
void service_settle_finishing(struct step *st, struct eng_service *s);
/** The dialect that the service was made in; of an earlier version's service the engine's own. */
const struct dialect *service_dialect(const struct engine *e, const struct eng_service *s);
/** Milliseconds of a lifetime; beyond some thousand years all are the same. */
int64_t service_lifetime_ms(int64_t lifetime_s);

/* ---- application.c ---- */
/** Submit the application of an incarnation. @return false: the cluster takes none */
bool application_submit(struct step *st, struct eng_service *s);
/** Pass on a lifetime; nothing without an application. */
void application_set_lifetime(struct step *st, const struct eng_service *s, int64_t lifetime_s);
/** End the application, whatever runs in it. */
void application_kill(struct step *st, const struct eng_service *s, const char *why);
/** No container is left: end the application. @return true: there is none any more */
bool application_finish(struct step *st, struct eng_service *s);
/** EV_SUBMITTED, EV_APP_ENDED. */
void application_event(struct step *st, const struct eng_event *ev);
/** After EV_RESUME: what the cluster has not answered. */
void application_resume(struct step *st, struct eng_service *s);
/** Free; NULL is fine. */
void application_free(struct eng_application *a);

/* ---- backoff.c ---- */
/** Nothing is left of a service that ends. @return true: it starts again, by its policy or by another definition; it is in BACKOFF */
bool backoff_begin(struct step *st, struct eng_service *s);
/** Its application has ended, and nothing of it has run (why may be NULL): another one follows at once. It counts as no retry. */
void backoff_again(struct step *st, struct eng_service *s, const char *why);
/** The next incarnation, when it is due. */
void backoff_settle(struct step *st, struct eng_service *s);
/** Everything ends, and starts anew from the definition and the rules of an event, which are taken. */
void backoff_renew(struct step *st, struct eng_service *s, const struct eng_event *ev);
/** A definition that waits is not started. @return false: none waits */
bool backoff_stop(struct step *st, struct eng_service *s);

/** After EV_RESYNC: the same, whatever the cluster has answered. */
void application_resync(struct step *st, struct eng_service *s);

/* ---- framework.c: services whose definitions are put (eng_policy.is_put) ---- */
/** One is there, or goes: it has its name for all users. */
void framework_add(struct engine *e, struct eng_service *s);
void framework_remove(struct engine *e, const struct eng_service *s);
/** EV_REDEFINE of such a kind. Answers. */
void framework_put(struct step *st, const struct eng_event *ev);
/** The same for a service that is there and neither away nor being destroyed. Answers. */
void framework_put_over(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** Whether it runs is part of the definition that is put: ev->save. Nothing in a master, and for other kinds. */
void framework_put_execution(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** A request has changed what is wanted: when, and with EV_REDEFINE and EV_CREATE how. Nothing where that is not kept. */
void framework_record(struct step *st, struct eng_service *s, const struct eng_event *ev);
/** It is wanted to be stopped, or not. Nothing for other kinds. */
void framework_want_stopped(struct step *st, struct eng_service *s, bool is_stopped);
/** It is over without having been launched: STOPPED, with an application id and an exit. */
void framework_end_unlaunched(struct step *st, struct eng_service *s);
/** EV_MIGRATE. Answers. */
void framework_migrate(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** Carry out requests to move, as far as the step may. */
void framework_settle_migrations(struct step *st, struct eng_service *s);
void framework_forget_migrations(struct step *st, struct eng_service *s);
/** Engine time at which a service that has ended is collected; 0: never. */
int64_t framework_collect_ms(const struct engine *e, const struct eng_service *s);
/** Destroy it when that has come. */
void framework_collect(struct step *st, struct eng_service *s);
/** The definition that requests change. */
struct spec_service *framework_wanted(struct eng_service *s);

/* ---- progress.c ---- */
/** Somebody says how far it has come. Answers. */
void progress_request(struct step *st, const struct eng_event *ev, struct eng_service *s);

/* ---- requests.c ---- */
/** The service runs, so that its instances can be changed; else the request is answered. */
bool service_can_change(struct step *st, const struct eng_event *ev, const struct eng_service *s);
/** Change the counts of components; all or none. Answers. */
void service_flex(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** The failures of all components count no more. */
void service_forget_failures(struct step *st, struct eng_service *s);
/** Remove instances permanently; all or none. Answers. */
void service_decommission(struct step *st, const struct eng_event *ev, struct eng_service *s);

/* ---- services.c ---- */
/** A service is there: everything that is kept of services knows it. */
void services_add(struct engine *e, struct eng_service *s);
/** It goes; the object stays. */
void services_remove(struct engine *e, struct eng_service *s);
/** Its application has another id. */
void services_set_application(struct engine *e, struct eng_service *s, char *take_id);
/** The members of a type are those of another object: fld_move. */
void services_move_in(struct engine *e, const struct fld_type *type, struct eng_service *from,
                      struct eng_service *s);

/* ---- cluster_documents.c ---- */
/** EV_DOCUMENT. Answers. */
void cluster_document_event(struct step *st, const struct eng_event *ev);
/** Take one from what is stored. @return 0; or ERR_JSON with the place in *why. */
int cluster_document_load(struct engine *e, const char *key, const char *word, const json_t *doc,
                          struct err_info *why);
/** A copy of one, json_decref; NULL: there is none. */
json_t *cluster_document_keep(const struct engine *e, const char *word);
/** It is as it was kept. */
void cluster_document_undo(struct engine *e, const char *word, const json_t *kept);
/** Release. */
void cluster_documents_fini(struct engine *e);

/* ---- quota.c ---- */
/** A request for containers. All is borrowed. */
struct quota_ask {
    uint64_t token;
    enum eng_kind kind;
    const char *user;
    const struct spec_service *spec;   /* as it would be */
    const struct eng_service *service; /* NULL: it is not there yet */
};
/** Every quota allows it; else the request is answered. */
bool quota_allows(struct step *st, const struct quota_ask *ask);
/** What a service counts with may have changed. */
void quota_count(struct engine *e, struct eng_service *s);
/** It goes. */
void quota_forget(struct engine *e, struct eng_service *s);
/** Copy who uses how much. @param to  without services */
void quota_copy(struct engine *to, const struct engine *from);

/* ---- parents.c ---- */
/** A service is there, or goes: it may have a parent. */
void parents_add(struct engine *e, const struct eng_service *s);
void parents_remove(struct engine *e, const struct eng_service *s);
/** Release. */
void parents_fini(struct engine *e);
/** A service may be made, as far as its parent is concerned; else the request is answered. */
bool parents_allow(struct step *st, const struct eng_event *ev);
/** Its parent is stopped, or where its kind has that of a request: is wanted to be, and so must it be. */
bool parents_stop(const struct engine *e, const struct eng_service *s);
/** What its parent's state asks for is done. */
void parents_follow(struct step *st, struct eng_service *s);
/** Its children look at it when there is something new to follow. */
void parents_cascade(struct step *st, struct eng_service *s);

/* ---- homes.c ---- */
/** A service is there, or goes: its user counts at the registry directory. */
void homes_add(struct engine *e, const struct eng_service *s);
void homes_remove(struct engine *e, const struct eng_service *s);
/** Release. */
void homes_fini(struct engine *e);
/** Copy whose services share the home of a user. */
void homes_copy(struct engine *to, const struct engine *from, const char *user);
/** Another user who has services, stopped ones too, in the registry directory of this one; NULL: none. [borrowed] */
const char *homes_other(const struct engine *e, const char *user);
/** A live service of another user whose records stand at the paths of this one; NULL: none. [borrowed] */
struct eng_service *homes_rival(const struct engine *e, const struct eng_service *s);

#endif
