/**
 * Each method of YARN's protocols as a function, and what reads its answer, by the rows of methods.h:
 *
 *     static void on_report(void *arg, const struct yarn_answer *a)
 *     {
 *         const Yarn__ApplicationReportAnswer *m = yarn_client_application_answer(a);
 *         if (!m)
 *             …a->failure->why…
 *     }
 *
 *     struct yarn_call call = {.done = on_report, .arg = x};
 *     yarn_client_application(link, &request, &call, &why);
 *
 * yarn_PROTOCOL_METHOD(link, request, call, why): yarn_call_start with the method's types.
 * yarn_PROTOCOL_METHOD_answer(a): the message, borrowed as `a` is, or NULL: it failed. The answer of another method is a BUG.
 *
 * Thread: owner.   Source: methods.h.
 */
#ifndef YARN_CALLS_H
#define YARN_CALLS_H

#include "yarn/link.h"

#define YARN_CALL_PROTOTYPES(protocol, id, request_type, answer_type)                                        \
    int yarn_##protocol##_##id(struct yarn_link *l, const Yarn__##request_type *request,                     \
                               struct yarn_call *call, struct err_info *why);                                \
    const Yarn__##answer_type *yarn_##protocol##_##id##_answer(const struct yarn_answer *a);
#define YARN_CLIENT_CALL(id, name, request, answer, is_repeatable, prose)                                    \
    YARN_CALL_PROTOTYPES(client, id, request, answer)
#define YARN_MASTER_CALL(id, name, request, answer, is_repeatable, prose)                                    \
    YARN_CALL_PROTOTYPES(master, id, request, answer)
#define YARN_CONTAINER_CALL(id, name, request, answer, is_repeatable, prose)                                 \
    YARN_CALL_PROTOTYPES(container, id, request, answer)

YARN_CLIENT_METHODS(YARN_CLIENT_CALL)
YARN_MASTER_METHODS(YARN_MASTER_CALL)
YARN_CONTAINER_METHODS(YARN_CONTAINER_CALL)

#endif
