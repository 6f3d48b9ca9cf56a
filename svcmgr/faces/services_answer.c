/** The table of outcomes: see services_answer.h. */
#include "faces/services_answer.h"

#include <time.h>

#include "base/mem.h"
#include "base/obj.h"

/** Status in the seed dialect and in Hadoop 3's, by verb where Hadoop's differ. */
struct outcome_row {
    int status, strict, strict_component, strict_destroy; /* 0: as `status` */
    bool is_success, is_accepted, may_be_empty;
    void (*words)(const struct eng_answer *a, enum services_verb verb, struct buf *text);
};

static const char *verb_word(enum services_verb verb)
{
    return verb == VERB_DECOMMISSION ? "decommission" : "flex";
}

static void say_launched(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Application ID: %s", a->app_id);
}

static void say_saved(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s version %s saved.", a->name, a->version);
}

static void say_flexed(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    if (verb == VERB_COMPONENT)
        buf_addf(text, "Updating component (%s) size from %lld to %lld", a->component, (long long)a->n_old,
                 (long long)a->n_new);
    else
        buf_addf(text, "Service %s is successfully flexed.", a->name);
}

static void say_stopped(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Successfully stopped service %s", a->name);
}

static void say_started(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s is successfully started with ApplicationId: %s", a->name, a->app_id);
}

static void say_destroyed(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Successfully destroyed service %s", a->name);
}

static void say_lifetime(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    time_t at_s = (time_t)(a->at_ms / 1000);
    struct tm tm;
    char date[32];
    gmtime_r(&at_s, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    buf_addf(text, "Service (%s)'s lifeTime is updated to %s.%03dZ, %lld seconds remaining", a->name, date,
             (int)(a->at_ms % 1000), (long long)a->n_new);
}

static void say_decommissioned(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s has successfully decommissioned instances.", a->name);
}

static void say_taken(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service name %s is already taken.", a->name);
}

static void say_home_taken(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    mem_auto char *home = spec_registry_user(a->user);
    (void)verb;
    buf_addf(text,
             "The services of users %s and %s would share the registry directory /users/%s, where upper and "
             "lower case, '_' "
             "and '-' are the same and '@' or '/' ends the name. Use one name for both, or destroy the "
             "services of "
             "user %s first.",
             a->name, a->user, home, a->user);
}

static void say_not_found(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    buf_addf(text, verb == VERB_DESTROY ? "Service %s doesn't exist" : "Service %s not found", a->name);
}

static void say_no_component(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    if (verb == VERB_COMPONENT)
        buf_addf(text, "Components [%s] do not exist in app definition.", a->component);
    else
        buf_addf(text, "%s does not exist !", a->component);
}

static void say_bad_count(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Invalid number of containers specified %lld", (long long)a->n_new);
}

static void say_too_many(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, SPEC_TOO_MANY, a->component, (long long)a->n_new, (long long)a->n_old);
}

static void say_already_stopped(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s is already stopped", a->name);
}

static void say_already_live(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Failed to start service %s, because it already exists.", a->name);
}

static void say_needs_version(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s has ended and starts again only with another version", a->name);
}

static void say_not_running(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    buf_addf(text, "%s is at %s state, %s can only be invoked when service is running", a->name,
             a->state == SVC_FINISHING ? "FINISHING" : "FINISHED", verb_word(verb));
}

static void say_not_submitted(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "%s appId is null, may be not submitted to YARN yet", a->name);
}

static void say_purge_failed(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s error cleaning up registry", a->name);
}

static void say_still_running(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Failed to destroy service %s, because it is still running.", a->name);
}

static void say_cancelled(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)a;
    (void)verb;
    buf_add_str(text, "The service manager is stopping; nothing is known about this request");
}

static void say_store_failed(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_add_str(text, "The state of the service could not be stored");
    if (a->reason)
        buf_addf(text, ": %s", a->reason);
    buf_add_str(text, "; nothing was changed. Ask again when the cause is removed (see /readyz)");
}

static void say_reason(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_add_str(text, a->reason);
}

static void say_unknown(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)a;
    (void)verb;
    buf_add_str(text,
                "The state store did not answer: whether this was done is not known; read the service before "
                "asking again");
}

static void say_busy(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)a;
    (void)verb;
    buf_add_str(text, "Too many requests wait for the state store, or it does not answer; nothing was done");
}

static void say_excluded(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s: node %s", a->name, a->host);
}

static void say_quota(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s: the services of %s would want %lld containers together, their quota is %lld",
             a->name, a->quota, (long long)a->n_new, (long long)a->n_old);
}

static void say_no_parent(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s cannot be created: its parent %s does not exist", a->name, a->parent);
}

static void say_parent_stopped(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s cannot be started: its parent %s is stopped", a->name, a->parent);
}

static void say_document_set(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Document %s has been set", a->name);
}

static void say_no_node(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "The cluster has no node %s", a->host);
}

static void say_too_many_nodes(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s has %lld nodes to remember, node %s is one too many", a->name,
             (long long)a->n_old, a->host);
}

/* ---- upgrades: sentences of the YARN services API, but for replace and redefine ---- */

static void say_upgrading(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s version %s saved.", a->name, a->version);
}

static void say_moving(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    buf_addf(text, "Upgrading %s %s.", verb == VERB_INSTANCE ? "component instances" : "components",
             a->component);
}

static void say_finalized(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    if (a->n_new > 0)
        buf_addf(text,
                 "Service %s has %lld instances that are to be upgraded, or to become ready, before its "
                 "upgrade is finalized.",
                 a->name, (long long)a->n_new);
    else
        buf_addf(text, "Service %s is successfully started with ApplicationId: %s", a->name, a->app_id);
}

static void say_cancelling(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s cancelling upgrade.", a->name);
}

static void say_restarting(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Instance %s of service %s is restarted.", a->component, a->name);
}

static void say_replacing(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s replaces the containers of instances.", a->name);
}

static void say_redefined(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s has another definition.", a->name);
}

static void say_same_version(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "%s is already at version %s. There is nothing to upgrade.", a->name, a->version);
}

static void say_never_restarted(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text,
             "All the components of the service %s have NEVER restart policy, so it cannot be upgraded.",
             a->name);
}

static void say_not_stable(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "%s is at %s state and upgrade can only be initiated when service is STABLE.", a->name,
             eng_service_state_word(a->state));
}

static void say_not_upgradable(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Failed to upgrade service %s to version %s because %s", a->name, a->version, a->reason);
}

static void say_not_upgrading(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    if (verb == VERB_COMPONENT || verb == VERB_INSTANCE)
        buf_addf(text, "The upgrade of service %s has not been initiated.", a->name);
    else
        buf_addf(text, "Service %s is not upgrading, so nothing to cancel.", a->name);
}

static void say_no_need(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    const char *what = verb == VERB_COMPONENT ? "component" : "component instance";
    buf_addf(text, "The %s (%s) does not need an upgrade.", what, a->component);
}

static void say_progress(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    (void)verb;
    buf_addf(text, "Service %s has come to %lld.%04lld %%", a->name, (long long)a->n_new / 10000,
             (long long)a->n_new % 10000);
}

static void say_is_upgrading(const struct eng_answer *a, enum services_verb verb, struct buf *text)
{
    buf_addf(text, "%s is at UPGRADING state, %s can not be invoked when service is upgrading. ", a->name,
             verb_word(verb));
}

/* clang-format off */
static const struct outcome_row rows[] = {
    [OUT_LAUNCHED]        = {202, 0,   0,   0,   true,  true,  false, say_launched},
    [OUT_SAVED]           = {202, 0,   0,   0,   true,  true,  false, say_saved},
    [OUT_FLEXED]          = {202, 0,   200, 0,   true,  true,  true,  say_flexed},
    [OUT_STOPPED]         = {200, 0,   0,   0,   true,  false, true,  say_stopped},
    [OUT_STARTED]         = {200, 0,   0,   0,   true,  true,  true,  say_started},
    [OUT_DESTROYED]       = {200, 0,   0,   0,   true,  false, true,  say_destroyed},
    [OUT_LIFETIME_SET]    = {200, 0,   0,   0,   true,  false, true,  say_lifetime},
    [OUT_PROGRESS_SET]    = {202, 0,   0,   0,   true,  true,  true,  say_progress},
    [OUT_DECOMMISSIONED]  = {202, 0,   0,   0,   true,  true,  true,  say_decommissioned},
    [OUT_EXCLUDED]        = {202, 0,   0,   0,   true,  true,  true,  say_excluded},
    [OUT_QUOTA]           = {403, 0,   0,   0,   false, false, false, say_quota},
    [OUT_NO_PARENT]       = {400, 0,   0,   0,   false, false, false, say_no_parent},
    [OUT_PARENT_STOPPED]  = {409, 0,   0,   0,   false, false, false, say_parent_stopped},
    [OUT_DOCUMENT_SET]    = {202, 0,   0,   0,   true,  true,  true,  say_document_set},
    [OUT_NO_NODE]         = {404, 0,   0,   0,   false, false, false, say_no_node},
    [OUT_TOO_MANY_NODES]  = {400, 0,   0,   0,   false, false, false, say_too_many_nodes},
    [OUT_UPGRADING]       = {202, 0,   0,   0,   true,  true,  true,  say_upgrading},
    [OUT_MOVING]          = {202, 0,   0,   0,   true,  false, false, say_moving},
    [OUT_FINALIZED]       = {200, 0,   0,   0,   true,  true,  true,  say_finalized},
    [OUT_NOT_MOVED]       = {200, 0,   0,   0,   true,  true,  true,  say_finalized},
    [OUT_CANCELLING]      = {202, 0,   0,   0,   true,  true,  true,  say_cancelling},
    [OUT_REPLACING]       = {202, 0,   0,   0,   true,  false, false, say_replacing},
    [OUT_RESTARTING]      = {202, 0,   0,   0,   true,  true,  true,  say_restarting},
    [OUT_REDEFINED]       = {202, 0,   0,   0,   true,  false, false, say_redefined},
    [OUT_RECORDED]        = {202, 0,   0,   0,   true,  false, false, say_redefined},
    [OUT_ROLLING]         = {202, 0,   0,   0,   true,  false, false, say_replacing},
    [OUT_MIGRATING]       = {202, 0,   0,   0,   true,  false, false, say_replacing},
    [OUT_TOO_MANY_MIGRATIONS] = {400, 0, 0, 0,   false, false, false, say_too_many},
    [OUT_LACKS_COMPONENT] = {400, 0,   0,   0,   false, false, false, say_no_component},
    [OUT_SAME_VERSION]    = {400, 0,   0,   0,   false, false, false, say_same_version},
    [OUT_NEVER_RESTARTED] = {400, 0,   0,   0,   false, false, false, say_never_restarted},
    [OUT_NOT_STABLE]      = {400, 0,   0,   0,   false, false, false, say_not_stable},
    [OUT_NOT_UPGRADABLE]  = {400, 0,   0,   0,   false, false, false, say_not_upgradable},
    [OUT_NOT_UPGRADING]   = {400, 0,   0,   0,   false, false, false, say_not_upgrading},
    [OUT_NO_NEED]         = {400, 0,   0,   0,   false, false, false, say_no_need},
    [OUT_IS_UPGRADING]    = {400, 400, 500, 0,   false, false, false, say_is_upgrading},
    [OUT_TAKEN]           = {500, 0,   0,   0,   false, false, false, say_taken},
    [OUT_HOME_TAKEN]      = {409, 0,   0,   0,   false, false, false, say_home_taken},
    [OUT_NOT_FOUND]       = {404, 404, 500, 400, false, false, false, say_not_found},
    [OUT_NO_COMPONENT]    = {404, 500, 500, 0,   false, false, false, say_no_component},
    [OUT_NO_INSTANCE]     = {404, 500, 500, 0,   false, false, false, say_no_component},
    [OUT_BAD_COUNT]       = {400, 0,   0,   0,   false, false, false, say_bad_count},
    [OUT_TOO_MANY]        = {400, 0,   0,   0,   false, false, false, say_too_many},
    [OUT_ALREADY_STOPPED] = {400, 0,   0,   0,   false, false, false, say_already_stopped},
    [OUT_ALREADY_LIVE]    = {400, 0,   0,   0,   false, false, false, say_already_live},
    [OUT_NEEDS_VERSION]   = {409, 0,   0,   0,   false, false, false, say_needs_version},
    [OUT_NOT_RUNNING]     = {400, 400, 500, 0,   false, false, false, say_not_running},
    [OUT_NOT_SUBMITTED]   = {400, 400, 500, 0,   false, false, false, say_not_submitted},
    [OUT_PURGE_FAILED]    = {500, 0,   0,   0,   false, false, false, say_purge_failed},
    [OUT_STILL_RUNNING]   = {500, 0,   0,   400, false, false, false, say_still_running},
    [OUT_CANCELLED]       = {503, 0,   0,   0,   false, false, false, say_cancelled},
    [OUT_STORE_FAILED]    = {500, 0,   0,   0,   false, false, false, say_store_failed},
    [OUT_TOO_LARGE]       = {413, 0,   0,   0,   false, false, false, say_reason},
    [OUT_NOT_STORABLE]    = {400, 0,   0,   0,   false, false, false, say_reason},
    [OUT_UNKNOWN]         = {503, 0,   0,   0,   false, false, false, say_unknown},
    [OUT_BUSY]            = {503, 0,   0,   0,   false, false, false, say_busy},
};
/* clang-format on */

static int strict_status(const struct outcome_row *row, enum services_verb verb)
{
    bool is_part = verb == VERB_COMPONENT || verb == VERB_INSTANCE;
    int status = is_part ? row->strict_component : verb == VERB_DESTROY ? row->strict_destroy : row->strict;
    return status ? status : row->status;
}

struct services_reply services_answer(const struct eng_answer *a, enum services_verb verb,
                                      const struct dialect *dialect, struct buf *text)
{
    BUG_IF((size_t)a->outcome >= ARRAY_LEN(rows));
    const struct outcome_row *row = &rows[a->outcome];
    row->words(a, verb, text);
    struct services_reply reply = {.status = dialect->strict_codes ? strict_status(row, verb) : row->status,
                                   .is_success = row->is_success,
                                   .is_accepted = row->is_accepted,
                                   .may_be_empty = row->may_be_empty};
    if (verb == VERB_COMPONENT &&
        a->outcome == OUT_FLEXED) { /* both dialects answer a component flex with a body */
        reply.status = 200;
        reply.is_accepted = false;
        reply.may_be_empty = false;
    }
    return reply;
}

int services_malformed_status(enum services_verb verb, const struct dialect *dialect)
{
    static const int strict[] = {
        [VERB_CREATE] = 404,    [VERB_CHANGE] = 500,   [VERB_DESTROY] = 400,
        [VERB_COMPONENT] = 500, [VERB_INSTANCE] = 500, [VERB_DECOMMISSION] = 500,
    };
    return dialect->strict_codes ? strict[verb] : 404;
}
