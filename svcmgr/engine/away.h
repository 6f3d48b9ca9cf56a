/**
 * Services that their application masters run, as their manager sees them. Shared by the files of the engine: nothing outside of
 * it includes this. The drawing is in away.c.
 *
 * Thread: the engine's.   Source: design 5; ours.
 */
#ifndef ENGINE_AWAY_H
#define ENGINE_AWAY_H

#include "engine/step.h"

/** A request for a service that is away, but STOP, START and DESTROY: answered by what is known, and given to the master as an order. */
void away_request(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** The master is to end the service; if it does not in time, or has never begun, its application is killed. */
void away_stop(struct step *st, struct eng_service *s, const char *why);
/** After EV_RESUME: what was under way when we ended. */
void away_resume(struct step *st, struct eng_service *s);
/** Due work, timer. */
void away_settle(struct step *st, struct eng_service *s);
/** EV_FOLLOWED. */
void away_followed(struct step *st, const struct eng_event *ev);
/** EV_APP_WAITS. */
void away_waits(struct step *st, const struct eng_event *ev, struct eng_service *s);
/** Take the definition that its master has run by, if there is nothing newer. @param w  it is consumed @return 0; or ERR_JSON: another set of components */
int away_take_definition(struct engine *e, struct eng_service *s, struct eng_service *take_w);

#endif
