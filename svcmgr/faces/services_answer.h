/**
 * Answers of the services API to outcomes of the engine: one row an outcome. For services_kit.c.
 *
 * Thread: owner loop.   Source: YARN services API 1.4.
 */
#ifndef FACES_SERVICES_ANSWER_H
#define FACES_SERVICES_ANSWER_H

#include "base/buf.h"
#include "engine/engine.h"

/** Which kind of request is answered; codes and texts differ. */
enum services_verb {
    VERB_CREATE,
    VERB_CHANGE,      /* PUT of a service    */
    VERB_DESTROY,     /* DELETE              */
    VERB_COMPONENT,   /* PUT of a component, or of some */
    VERB_INSTANCE,    /* PUT of an instance, or of some */
    VERB_DECOMMISSION /* PUT of a service with decommissioned_instances */
};

struct services_reply {
    int status; /* HTTP status of the form with a body */
    bool is_success;
    bool is_accepted;  /* the body says "state":"ACCEPTED" */
    bool may_be_empty; /* success that the seed dialect answers with 204 */
};

/**
 * Status and diagnostics of an outcome.
 *
 * @param a        answer                                                        [borrowed]
 * @param verb     kind of request
 * @param dialect  codes                                                         [borrowed]
 * @param text     diagnostics are appended                                      [in,out]
 */
struct services_reply services_answer(const struct eng_answer *a, enum services_verb verb,
                                      const struct dialect *dialect, struct buf *text);

/** Status of the reply to a service name that is malformed. */
int services_malformed_status(enum services_verb verb, const struct dialect *dialect);

#endif
