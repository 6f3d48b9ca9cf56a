/**
 * What the registry was asked for and has not confirmed. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_REGISTRY_H
#define ENGINE_REGISTRY_H

#include "engine/step.h"

/* ---- tickets.c ---- */
/** Emit a registry effect with a new ticket; container_id NULL: the service's own path. [borrowed until the next emit] */
struct eng_effect *step_registry(struct step *st, enum eng_effect_kind kind, const struct eng_service *s,
                                 const char *container_id);
/** The same: a container or an application has ended. */
struct eng_effect *step_report_ended(struct step *st, const struct eng_service *s, const char *id);
/** The ticket of an EV_RECORD; NULL: it is unknown. Taken out, it is the caller's: ticket_auto. */
const struct ticket *tickets_find(const struct engine *e, int64_t number);
struct ticket *tickets_take(struct engine *e, int64_t number);
void ticket_free_ptr(struct ticket **t);
#define ticket_auto __attribute__((cleanup(ticket_free_ptr)))
/** Drop the tickets after `number` of a service whose effects were never carried out. */
void tickets_undo(struct engine *e, enum eng_kind kind, const char *user, const char *name, int64_t number);
/** Release. */
void tickets_fini(struct engine *e);

/* ---- backlog.c: what the registry has not confirmed of containers that are gone ---- */
/** Its record is to be deleted: the registry is asked, until it has done so or refuses it. */
void backlog_unpublish(struct step *st, struct eng_service *s, const char *container_id);
/** A container or an application has ended: reported to the registry until it has taken it. */
void backlog_report_ended(struct step *st, struct eng_service *s, const char *id);
/** The record is wanted again: nobody waits for its deletion any more. */
void backlog_keep_record(struct step *st, struct eng_service *s, const char *container_id);
/** The registry has answered a ticket of UNPUBLISH or ENDED. */
void backlog_answered(struct step *st, struct eng_service *s, const struct ticket *t, int code);
/** Ask once more for what failed, or was outstanding at a restart. @return false: there is more, in the next step */
bool backlog_repeat(struct step *st, struct eng_service *s);
/** What was refused permanently is asked for by the next backlog_repeat. */
void backlog_ask_refused(struct eng_service *s);
/** The subtree was purged: all until now are done. The next steps take them out. */
void backlog_forget(struct eng_service *s);
/** Up to which that was said; go back to an earlier one. */
int64_t backlog_forgotten(const struct eng_service *s);
void backlog_remember(struct eng_service *s, int64_t forgotten);
/** Take out what is done, as far as the step may. @return false: there is more */
bool backlog_settle(struct step *st, struct eng_service *s);
bool backlog_is_empty(const struct eng_service *s);
/** Write the documents that changed in this step. */
void backlog_persist(struct step *st, struct eng_service *s);
/** Load a document. @return 0; or ERR_JSON: not one of this key. */
int backlog_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why);
/** A document of format 1 has them in lists: they get documents when the service is written next. */
void backlog_take_lists(struct eng_service *s);
/** All documents are loaded: backlog_repeat asks for all of them. */
void backlog_resume(struct eng_service *s);
void backlog_free(struct eng_service *s);

#endif
