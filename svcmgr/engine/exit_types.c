/** Types of exits: see rules.h. What the FrameworkLauncher API retries is decided by them. Source: framework-launcher 9. */
#include "base/obj.h"
#include "engine/rules.h"
#include "engine/step.h"

#define SIGNAL_BASE 128

const struct eng_exit_row *eng_exits_default(size_t *n)
{
    static const struct eng_exit_row rows[] = {
        {130, TYPE_TRANSIENT_NORMAL, NULL}, {132, TYPE_NON_TRANSIENT, NULL},
        {134, TYPE_UNKNOWN, NULL},          {135, TYPE_NON_TRANSIENT, NULL},
        {136, TYPE_NON_TRANSIENT, NULL},    {137, TYPE_TRANSIENT_NORMAL, NULL},
        {139, TYPE_NON_TRANSIENT, NULL},    {141, TYPE_NON_TRANSIENT, NULL},
        {143, TYPE_TRANSIENT_NORMAL, NULL}, {154, TYPE_TRANSIENT_NORMAL, NULL},
        {193, TYPE_TRANSIENT_NORMAL, NULL}, {194, TYPE_NON_TRANSIENT, NULL},
        {205, TYPE_TRANSIENT_NORMAL, NULL}, {206, TYPE_NON_TRANSIENT, NULL},
    };
    *n = ARRAY_LEN(rows);
    return rows;
}

/** Of exit codes of the process; signals are 128 + number. */
static enum eng_exit_type type_of_code(const struct eng_exit_row *rows, size_t n, int64_t code)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].code == code)
            return rows[i].type;
    }
    return code == 0 ? TYPE_SUCCEEDED : TYPE_UNKNOWN;
}

/** Of an application that the cluster did not take; raw is our error. */
static enum eng_exit_type type_of_refusal(int64_t error)
{
    if (error == ERR_UNAVAILABLE)
        return TYPE_TRANSIENT_NORMAL;
    return error == ERR_INVALID || error == ERR_PERMISSION ? TYPE_NON_TRANSIENT : TYPE_UNKNOWN;
}

enum eng_exit_type eng_exit_type_of(const struct eng_exit_row *rows, size_t n_rows, const struct eng_exit *x)
{
    switch (x->cause) {
    case CAUSE_EXITED: return type_of_code(rows, n_rows, x->raw);
    case CAUSE_SIGNALLED: return type_of_code(rows, n_rows, SIGNAL_BASE + x->raw);
    case CAUSE_SUBMISSION_FAILED: return type_of_refusal(x->raw);
    case CAUSE_LAUNCH:
    case CAUSE_DISK:
    case CAUSE_PREEMPTED:
    case CAUSE_LOST:
    case CAUSE_ABORTED:
    case CAUSE_MIGRATED:
    case CAUSE_PORT_CONFLICT:
    case CAUSE_APPLICATION_ENDED: return TYPE_TRANSIENT_NORMAL;
    case CAUSE_EXPIRED:
    case CAUSE_GANG_TIMEOUT: return TYPE_TRANSIENT_CONFLICT;
    case CAUSE_MEMORY_VIRTUAL:
    case CAUSE_MEMORY_PHYSICAL:
    case CAUSE_RESYNC:
    case CAUSE_SOURCE:
    case CAUSE_STOPPED: return TYPE_NON_TRANSIENT;
    case CAUSE_UNKNOWN:
    case N_EXIT_CAUSES: break;
    }
    return TYPE_UNKNOWN;
}

const struct eng_exit_row *engine_exits(const struct engine *e, size_t *n)
{
    *n = e->cfg.n_exits;
    return e->cfg.exits ? e->cfg.exits : eng_exits_default(n);
}

enum eng_exit_type engine_exit_type(const struct engine *e, const struct eng_exit *x)
{
    size_t n = 0;
    const struct eng_exit_row *rows = engine_exits(e, &n);
    return eng_exit_type_of(rows, n, x);
}
