#include "yarn/failure.h"

#include "base/obj.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define YARN     "org.apache.hadoop.yarn.exceptions."
#define IPC      "org.apache.hadoop.ipc."
#define SECURITY "org.apache.hadoop.security."

/* class, code, reaction */
#define FAILURES(X)                                                                                          \
    X(YARN "ApplicationNotFoundException", ERR_NOTFOUND, FAILURE_ANSWERS)                                    \
    X(YARN "ApplicationAttemptNotFoundException", ERR_GONE, FAILURE_ANSWERS)                                 \
    X(YARN "ContainerNotFoundException", ERR_NOTFOUND, FAILURE_ANSWERS)                                      \
    X(YARN "ApplicationMasterNotRegisteredException", ERR_WRONGSTATE, FAILURE_ANSWERS)                       \
    X(YARN "InvalidApplicationMasterRequestException", ERR_CONFLICT, FAILURE_ANSWERS)                        \
    X(YARN "InvalidResourceRequestException", ERR_INVALID, FAILURE_ANSWERS)                                  \
    X(YARN "InvalidLabelResourceRequestException", ERR_INVALID, FAILURE_ANSWERS)                             \
    X(YARN "InvalidContainerReleaseException", ERR_INVALID, FAILURE_ANSWERS)                                 \
    X(YARN "InvalidResourceBlacklistRequestException", ERR_INVALID, FAILURE_ANSWERS)                         \
    X(YARN "NMNotYetReadyException", ERR_UNAVAILABLE, FAILURE_RETRIES)                                       \
    X(YARN "YarnException", ERR_INVALID, FAILURE_ANSWERS)                                                    \
    X(SECURITY "token.SecretManager$InvalidToken", ERR_AUTH, FAILURE_ANSWERS)                                \
    X(SECURITY "AccessControlException", ERR_PERMISSION, FAILURE_ANSWERS)                                    \
    X(SECURITY "authorize.AuthorizationException", ERR_PERMISSION, FAILURE_ANSWERS)                          \
    X("javax.security.sasl.SaslException", ERR_AUTH, FAILURE_ANSWERS)                                        \
    X(IPC "StandbyException", ERR_UNAVAILABLE, FAILURE_FAILS_OVER)                                           \
    X(IPC "RetriableException", ERR_UNAVAILABLE, FAILURE_RETRIES)                                            \
    X(IPC "RpcNoSuchMethodException", ERR_UNSUPPORTED, FAILURE_ANSWERS)                                      \
    X(IPC "RpcNoSuchProtocolException", ERR_UNSUPPORTED, FAILURE_ANSWERS)                                    \
    X(IPC "RPC$VersionMismatch", ERR_UNSUPPORTED, FAILURE_ANSWERS)

struct row {
    const char *class_name;
    int code;
    enum failure_reaction reaction;
};

static const struct row rows[] = {
#define ROW(class_name, code, reaction) {class_name, code, reaction},
    FAILURES(ROW)
#undef ROW
};

/* Equal but for the sign before a nested class; n octets of b. */
static bool is_class(const char *a, const char *b, size_t n)
{
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(a[i] == '$' && b[i] == '.'))
            return false;
    return true;
}

static const struct row *row_of(const char *class_name, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is_class(rows[i].class_name, class_name, n))
            return &rows[i];
    return NULL;
}

/* The row of the exception whose class begins the text, where this one is its coat. *text is moved behind it. */
static const struct row *inner_row(const char *class_name, const char **text)
{
    bool is_coat =
        strcmp(class_name, YARN "YarnException") == 0 || strcmp(class_name, "java.io.IOException") == 0;
    const char *colon = strstr(*text, ": ");
    const struct row *inner = is_coat && colon ? row_of(*text, (size_t)(colon - *text)) : NULL;
    if (inner)
        *text = colon + 2;
    return inner;
}

enum failure_reaction failure_read(const char *server, const char *class_name, const char *text,
                                   struct yarn_failure *out)
{
    static const struct row other = {"", ERR_INTERNAL, FAILURE_ANSWERS};
    const struct row *row = inner_row(class_name, &text);
    if (!row)
        row = row_of(class_name, strlen(class_name));
    if (!row)
        row = &other;
    memset(out, 0, sizeof *out);
    snprintf(out->class_name, sizeof out->class_name, "%s",
             row->class_name[0] ? row->class_name : class_name);
    err_set(&out->why, row->code, server, "%.*s", (int)strcspn(text, "\r\n"), text);
    if (!out->why.text[0])
        err_set(&out->why, row->code, server, "%s", out->class_name);
    return row->reaction;
}

void yarn_failure_element(const char *server, const Yarn__SerializedException *e, struct yarn_failure *out)
{
    const char *class_name = e && e->class_name ? e->class_name : "";
    const char *text = e && e->message ? e->message : "";
    failure_read(server, class_name, *text || *class_name ? text : "it gives no reason", out);
}
