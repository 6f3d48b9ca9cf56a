#include "launcher/exits.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

#define SIGNAL_BASE 128
/* The cluster's own numbers for what is unknown, and that are no exit of a process. */
#define RAW_UNKNOWN (-1)

/* clang-format off */
/** Codes, the lowest first: code, name in the original, type, description. */
#define LAUNCHER_EXITS(X) \
    X(-7400, "TASK_STOPPED_ON_APP_COMPLETION", TYPE_NON_TRANSIENT, "The task was stopped because its application has completed") \
    X(-7353, "APP_AM_DIAGNOSTICS_DESERIALIZATION_FAILED", TYPE_TRANSIENT_NORMAL, "The application ended, and the diagnostics of its manager cannot be read: the manager may have crashed") \
    X(-7352, "APP_AM_DIAGNOSTICS_LOST", TYPE_TRANSIENT_NORMAL, "The application ended, and the cluster does not return the diagnostics of its manager") \
    X(-7351, "APP_STOP_FRAMEWORK_REQUESTED", TYPE_NON_TRANSIENT, "The application was stopped by request") \
    X(-7350, "APP_RM_RESYNC_LOST", TYPE_TRANSIENT_NORMAL, "The cluster does not know the application any more") \
    X(-7303, "APP_KILLED_UNEXPECTEDLY", TYPE_TRANSIENT_NORMAL, "The application was killed, not by the launcher") \
    X(-7302, "APP_SUBMISSION_UNKNOWN_EXCEPTION", TYPE_UNKNOWN, "The application could not be submitted for an unknown reason") \
    X(-7301, "APP_SUBMISSION_IO_EXCEPTION", TYPE_TRANSIENT_NORMAL, "The application could not be submitted, as the cluster could not be reached") \
    X(-7300, "APP_SUBMISSION_YARN_EXCEPTION", TYPE_NON_TRANSIENT, "The cluster refused the application") \
    X(-7252, "AM_GANG_ALLOCATION_TIMEOUT", TYPE_TRANSIENT_CONFLICT, "Not every task got a container in time, as gang allocation demands") \
    X(-7251, "AM_NON_TRANSIENT_EXCEPTION", TYPE_NON_TRANSIENT, "The manager of the application failed for a reason that stays") \
    X(-7250, "AM_UNKNOWN_EXCEPTION", TYPE_TRANSIENT_NORMAL, "The manager of the application failed for an unknown reason") \
    X(-7203, "AM_RM_HEARTBEAT_SHUTDOWN_REQUESTED", TYPE_TRANSIENT_NORMAL, "The cluster ordered the manager of the application to end") \
    X(-7202, "AM_RM_HEARTBEAT_UNKNOWN_EXCEPTION", TYPE_TRANSIENT_NORMAL, "The heartbeat of the manager failed for an unknown reason") \
    X(-7201, "AM_RM_HEARTBEAT_IO_EXCEPTION", TYPE_TRANSIENT_NORMAL, "The heartbeat of the manager did not reach the cluster") \
    X(-7200, "AM_RM_HEARTBEAT_YARN_EXCEPTION", TYPE_NON_TRANSIENT, "The cluster refused a request of the manager of the application") \
    X(-7154, "CONTAINER_AGENT_EXPIRED", TYPE_TRANSIENT_NORMAL, "The agent of the container was not heard for too long") \
    X(-7153, "CONTAINER_MIGRATE_TASK_REQUESTED", TYPE_TRANSIENT_NORMAL, "The container was released, as its task is migrated by request") \
    X(-7152, "CONTAINER_RM_RESYNC_EXCEEDED", TYPE_NON_TRANSIENT, "The container was released, as the manager did not expect it") \
    X(-7151, "CONTAINER_RM_RESYNC_LOST", TYPE_TRANSIENT_NORMAL, "The cluster does not know the container any more") \
    X(-7150, "CONTAINER_NM_LAUNCH_FAILED", TYPE_TRANSIENT_NORMAL, "The container could not be started on its node") \
    X(-7126, "CONTAINER_EXTERNAL_UTILIZATION_SPIKED", TYPE_TRANSIENT_NORMAL, "The container was ended, as others on its node needed too much") \
    X(-7125, "CONTAINER_KILLED_ON_APP_COMPLETION", TYPE_TRANSIENT_NORMAL, "The container was killed, as its application had ended") \
    X(-7124, "CONTAINER_KILLED_BY_RM", TYPE_TRANSIENT_NORMAL, "The resource manager killed the container") \
    X(-7123, "CONTAINER_KILLED_BY_AM", TYPE_TRANSIENT_NORMAL, "The manager of the application killed the container") \
    X(-7122, "CONTAINER_PHYSICAL_MEMORY_EXCEEDED", TYPE_NON_TRANSIENT, "The container was killed, as it used more physical memory than it asked for") \
    X(-7121, "CONTAINER_VIRTUAL_MEMORY_EXCEEDED", TYPE_NON_TRANSIENT, "The container was killed, as it used more virtual memory than it may") \
    X(-7120, "CONTAINER_PREEMPTED", TYPE_TRANSIENT_NORMAL, "The container was preempted") \
    X(-7113, "CONTAINER_ABORTED_ON_AM_RESTART", TYPE_TRANSIENT_CONFLICT, "The container was aborted, as the manager of its application was started anew") \
    X(-7112, "CONTAINER_EXPIRED", TYPE_TRANSIENT_CONFLICT, "The container was taken back, as it was not started in time") \
    X(-7111, "CONTAINER_NODE_LOST", TYPE_TRANSIENT_NORMAL, "The node of the container was lost") \
    X(-7110, "CONTAINER_ABORTED", TYPE_TRANSIENT_NORMAL, "The cluster aborted the container") \
    X(-7103, "CONTAINER_PORT_CONFLICT", TYPE_TRANSIENT_NORMAL, "A port of the container is in use on its node") \
    X(-7102, "CONTAINER_NODE_DISKS_FAILED", TYPE_TRANSIENT_NORMAL, "The disks of the node of the container have failed") \
    X(-7101, "CONTAINER_NOT_AVAILABLE_EXIT_STATUS", TYPE_TRANSIENT_NORMAL, "The exit status of the container is not available") \
    X(-7100, "CONTAINER_INVALID_EXIT_STATUS", TYPE_TRANSIENT_NORMAL, "The container has no valid exit status: it may not have been started") \
    X(0, "", TYPE_SUCCEEDED, "Succeeded")
/* clang-format on */

static const struct launcher_exit exits[] = {
#define EXIT_ROW(code, name, type, description) {code, type, description},
    LAUNCHER_EXITS(EXIT_ROW)};

static const char *sentence_of_unknown(int64_t code)
{
    return code < 0 ? "Container exited with unknown exitcode which is issued from YARN"
                    : "Container exited with unknown exitcode which is issued from itself";
}

/** What exit codes of a process usually mean, where the configuration does not say it. */
static const char *sentence_of_process(int64_t code)
{
    static const struct {
        int64_t code;
        const char *text;
    } rows[] = {
        {130, "The process was interrupted by SIGINT"},
        {132, "The process was killed by SIGILL: an illegal instruction"},
        {134, "The process was ended by SIGABRT"},
        {135, "The process was killed by SIGBUS: an address that cannot be accessed"},
        {136, "The process was killed by SIGFPE: a bad arithmetic operation"},
        {137, "The process was killed by SIGKILL"},
        {139, "The process was killed by SIGSEGV: an invalid address"},
        {141, "The process was killed by SIGPIPE: nobody reads what it writes"},
        {143, "The process was ended by SIGTERM"},
        {193, "The process reported a transient failure"},
        {194, "The process reported a failure that stays"},
        {205, "The process reported a transient failure, by the convention of 2018"},
        {206, "The process reported a failure that stays, by the convention of 2018"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].code == code)
            return rows[i].text;
    }
    return sentence_of_unknown(code);
}

/** Of an exit code of a process. */
static struct launcher_exit exit_of_process(const struct engine *e, int64_t code)
{
    size_t n;
    const struct eng_exit_row *rows = engine_exits(e, &n);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].code == code)
            return (struct launcher_exit){code, rows[i].type,
                                          rows[i].text ? rows[i].text : sentence_of_process(code)};
    }
    return (struct launcher_exit){code, TYPE_UNKNOWN, sentence_of_unknown(code)};
}

struct launcher_exit launcher_exit_of_code(const struct engine *e, int64_t code)
{
    if (code > 0)
        return exit_of_process(e, code);
    size_t low = 0, high = ARRAY_LEN(exits);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (exits[middle].code == code)
            return exits[middle];
        if (exits[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct launcher_exit){code, TYPE_UNKNOWN, sentence_of_unknown(code)};
}

const char *launcher_exit_type_word(enum eng_exit_type type)
{
    static const char *const words[] = {
        [TYPE_SUCCEEDED] = "SUCCEEDED",
        [TYPE_TRANSIENT_NORMAL] = "TRANSIENT_NORMAL",
        [TYPE_TRANSIENT_CONFLICT] = "TRANSIENT_CONFLICT",
        [TYPE_NON_TRANSIENT] = "NON_TRANSIENT",
        [TYPE_UNKNOWN] = "UNKNOWN",
    };
    return words[type];
}

/* ---- from the engine's exits ---- */

/** Codes of the cluster that no cause of the engine stands for, and those that a cause has several of. */
static int64_t code_of_raw(int64_t raw)
{
    static const struct {
        int64_t raw, code;
    } rows[] = {{-2517, -7101}, {-1000, -7100}, {-210, -7103}, {-200, -7126}, {-107, -7125}, {-106, -7124},
                {-105, -7123},  {-104, -7122},  {-103, -7121}, {-102, -7120}, {-101, -7102}, {-100, -7110}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].raw == raw)
            return rows[i].code;
    }
    return raw < 0 ? raw : RAW_UNKNOWN;
}

/** Of an application that the cluster did not take; raw is our error. */
static int64_t code_of_refusal(int64_t error)
{
    if (error == ERR_UNAVAILABLE)
        return -7301;
    return error == ERR_INVALID || error == ERR_PERMISSION ? -7300 : -7302;
}

/** The node is lost, or the container only: without a word of the cluster's. */
static int64_t code_of_loss(const struct eng_exit *x)
{
    bool is_node = x->raw == -100 || (x->text && strstr(x->text, "node"));
    return is_node ? -7111 : -7151;
}

static int64_t code_of_task(const struct eng_exit *x)
{
    switch (x->cause) {
    case CAUSE_EXITED: return x->raw;
    case CAUSE_SIGNALLED: return SIGNAL_BASE + x->raw;
    case CAUSE_LAUNCH: return x->raw == -1000 ? -7100 : -7150;
    case CAUSE_SOURCE: return -7251;
    case CAUSE_MEMORY_VIRTUAL: return -7121;
    case CAUSE_MEMORY_PHYSICAL: return -7122;
    case CAUSE_DISK: return -7102;
    case CAUSE_PREEMPTED: return -7120;
    case CAUSE_LOST: return code_of_loss(x);
    case CAUSE_ABORTED: return x->raw ? code_of_raw(x->raw) : -7110;
    case CAUSE_STOPPED: return x->raw == -105 ? -7123 : LAUNCHER_TASK_STOPPED;
    case CAUSE_MIGRATED: return -7153;
    case CAUSE_EXPIRED: return -7112;
    case CAUSE_PORT_CONFLICT: return -7103;
    case CAUSE_RESYNC: return -7152;
    case CAUSE_GANG_TIMEOUT: return -7252;
    case CAUSE_APPLICATION_ENDED:
        return x->raw == -107 ? -7125 : x->raw == -100 ? -7113 : LAUNCHER_TASK_STOPPED;
    case CAUSE_SUBMISSION_FAILED: return code_of_refusal(x->raw);
    case CAUSE_UNKNOWN:
    case N_EXIT_CAUSES: break;
    }
    return code_of_raw(x->raw);
}

/** An application that did not end with a task's exit: what its manager or the cluster did. */
static int64_t code_of_application(const struct eng_exit *x)
{
    switch (x->cause) {
    case CAUSE_STOPPED: return LAUNCHER_APP_STOPPED;
    case CAUSE_LOST:
    case CAUSE_RESYNC: return -7350;
    case CAUSE_ABORTED:
    case CAUSE_PREEMPTED:
    case CAUSE_APPLICATION_ENDED: return -7303;
    case CAUSE_EXITED: return x->raw ? -7353 : 0;
    case CAUSE_SIGNALLED:
    case CAUSE_LAUNCH:
    case CAUSE_UNKNOWN: return -7353;
    case CAUSE_SOURCE:
    case CAUSE_MEMORY_VIRTUAL:
    case CAUSE_MEMORY_PHYSICAL:
    case CAUSE_DISK:
    case CAUSE_MIGRATED:
    case CAUSE_EXPIRED:
    case CAUSE_PORT_CONFLICT:
    case CAUSE_GANG_TIMEOUT:
    case CAUSE_SUBMISSION_FAILED:
    case N_EXIT_CAUSES: break;
    }
    return code_of_task(x);
}

struct launcher_exit launcher_exit_of(const struct engine *e, const struct eng_exit *x,
                                      enum launcher_scope scope)
{
    return launcher_exit_of_code(e, scope == LAUNCHER_TASK ? code_of_task(x) : code_of_application(x));
}

char *launcher_exit_diagnostics(const struct eng_exit *x)
{
    if (eng_exit_is_success(x))
        return mem_str("");
    if (x->cause != CAUSE_EXITED && x->cause != CAUSE_SIGNALLED)
        return eng_exit_text(x);
    int64_t code = code_of_task(x);
    if (!x->last_stderr)
        return mem_fmt("Exit code %lld", (long long)code);
    return mem_fmt("Exit code %lld. The last lines of its standard error:\n%s", (long long)code,
                   x->last_stderr);
}
