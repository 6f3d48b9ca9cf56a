#include "yarn/calls.h"
#include "base/obj.h"

static const ProtobufCMessage *message_of(const struct yarn_answer *a, int method)
{
    BUG_IF(a->method != &yarn_methods[method]);
    return a->message;
}

#define CALL(protocol, method, id, request_type, answer_type)                                                \
    int yarn_##protocol##_##id(struct yarn_link *l, const Yarn__##request_type *request,                     \
                               struct yarn_call *call, struct err_info *why)                                 \
    {                                                                                                        \
        return yarn_call_start(l, method, &request->base, call, why);                                        \
    }                                                                                                        \
                                                                                                             \
    const Yarn__##answer_type *yarn_##protocol##_##id##_answer(const struct yarn_answer *a)                  \
    {                                                                                                        \
        return (const Yarn__##answer_type *)message_of(a, method);                                           \
    }
#define CLIENT_CALL(id, name, request, answer, is_repeatable, prose)                                         \
    CALL(client, YARN_CLIENT_##id, id, request, answer)
#define MASTER_CALL(id, name, request, answer, is_repeatable, prose)                                         \
    CALL(master, YARN_MASTER_##id, id, request, answer)
#define CONTAINER_CALL(id, name, request, answer, is_repeatable, prose)                                      \
    CALL(container, YARN_CONTAINER_##id, id, request, answer)

YARN_CLIENT_METHODS(CLIENT_CALL)
YARN_MASTER_METHODS(MASTER_CALL)
YARN_CONTAINER_METHODS(CONTAINER_CALL)
