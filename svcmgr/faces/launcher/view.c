/** Statuses and summaries of frameworks: see view.h. */
#include "launcher/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "launcher/exits.h"
#include "launcher/view_parts.h"

/* ---- values ---- */

void launcher_write_time(struct jw *w, int64_t ms)
{
    if (ms > 0)
        jw_int(w, ms);
    else
        jw_null(w);
}

/** The shortest decimal that is this number in single precision, with a fraction: "0.33333334", "1.0". */
static void write_float(struct jw *w, float value)
{
    char text[40];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    if (!strpbrk(text, ".e"))
        strncat(text, ".0", sizeof text - strlen(text) - 1);
    jw_raw(w, text, strlen(text));
}

void launcher_write_retries(struct jw *w, const struct eng_retries *r)
{
    static const struct eng_retries none = {0};
    r = r ? r : &none;
    jw_object(w);
    jw_kint(w, "retriedCount", r->n_counted);
    jw_kint(w, "succeededRetriedCount", r->n_succeeded);
    jw_kint(w, "transientNormalRetriedCount", r->n_transient);
    jw_kint(w, "transientConflictRetriedCount", r->n_conflict);
    jw_kint(w, "nonTransientRetriedCount", r->n_non_transient);
    jw_kint(w, "unKnownRetriedCount", r->n_unknown);
    jw_object_end(w);
}

/** Versions of frameworks are numbers, which the engine keeps as texts. */
int64_t launcher_version_of(const struct eng_service *s)
{
    const char *text = eng_service_wanted(s)->version;
    return text ? strtoll(text, NULL, 10) : 0;
}

const json_t *launcher_described(const struct eng_service *s, const char *member)
{
    return json_object_get(json_object_get(s->request, "frameworkDescriptor"), member);
}

static const json_t *described_role(const struct eng_service *s, const char *role)
{
    return json_object_get(launcher_described(s, "taskRoles"), role);
}

/* ---- the application ---- */

static bool is_completed(enum launcher_state state)
{
    return state == APPLICATION_COMPLETED || state == FRAMEWORK_COMPLETED;
}

/** It was stopped by request. */
static bool is_stopped(const struct eng_service *s)
{
    return s->state == SVC_STOPPED || !s->exit || (s->exit->cause == CAUSE_STOPPED && !s->trigger);
}

/** What was neither stopped nor refused has ended in the cluster. */
static bool has_ended_there(const struct eng_service *s, enum launcher_state state)
{
    return is_completed(state) && !is_stopped(s) && s->exit->cause != CAUSE_SUBMISSION_FAILED;
}

static float progress_of(const struct eng_service *s, enum launcher_state state)
{
    int64_t n = 0, n_ended = 0;
    if (has_ended_there(s, state))
        return 1;
    if (s->has_progress)
        return (float)((double)s->progress_ppm / ENG_PROGRESS_ALL);
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        n += c->spec->number_of_containers;
        n_ended += c->n_in[INST_SUCCEEDED] + c->n_in[INST_FAILED];
    }
    return n_ended < n ? (float)n_ended / (float)n : n > 0;
}

/** Time of day at which its application ended; 0: it has not. */
static int64_t app_completed_ms(const struct eng_service *s, enum launcher_state state)
{
    if (!is_completed(state))
        return 0;
    if (s->ended_ms > 0)
        return s->ended_ms;
    return s->exit ? s->exit->ended_ms : 0;
}

static void write_tracking_url(struct jw *w, const struct launcher_look *look, const struct eng_service *s)
{
    mem_auto char *url = NULL;
    if (s->launched_ms > 0 && look->rm_url)
        url = mem_fmt("%s/proxy/%s/", look->rm_url, s->app_id);
    else if (s->launched_ms > 0 && look->own_url)
        url = mem_fmt("%s/v1/Frameworks/%s", look->own_url, eng_service_title(s));
    jw_kstr(w, "applicationTrackingUrl", url);
}

/** Exit of an application that has completed. */
static struct launcher_exit exit_of(const struct engine *e, const struct eng_service *s)
{
    if (is_stopped(s))
        return launcher_exit_of_code(e, LAUNCHER_APP_STOPPED);
    return launcher_exit_of(e, s->exit, s->trigger ? LAUNCHER_TASK : LAUNCHER_APPLICATION);
}

/** How the application ended; nulls, except its own code, when the framework was stopped. */
static void write_exit(struct jw *w, const struct launcher_look *look, const struct eng_service *s)
{
    bool by_itself = !is_stopped(s), is_success = by_itself && eng_exit_is_success(s->exit);
    const struct eng_instance *trigger = by_itself && s->trigger ? eng_service_instance(s, s->trigger) : NULL;
    struct launcher_exit x = exit_of(look->e, s);
    bool is_by_policy = by_itself && (s->trigger || is_success);
    bool has_diagnostics = by_itself && (s->trigger || !is_success);
    mem_auto char *diagnostics = has_diagnostics ? launcher_exit_diagnostics(s->exit) : NULL;
    jw_kint(w, "applicationExitCode", x.code);
    jw_kstr(w, "applicationExitDescription", x.description);
    jw_kstr(w, "applicationExitDiagnostics", diagnostics);
    jw_kstr(w, "applicationExitType", launcher_exit_type_word(x.type));
    jw_kstr(w, "applicationExitTriggerMessage", is_by_policy ? s->diagnostics : NULL);
    jw_kstr(w, "applicationExitTriggerTaskRoleName",
            trigger ? eng_component_title(trigger->component) : NULL);
    jw_key(w, "applicationExitTriggerTaskIndex");
    if (trigger)
        jw_int(w, trigger->index);
    else
        jw_null(w);
}

static void write_no_exit(struct jw *w)
{
    static const char *const keys[] = {"applicationExitCode",
                                       "applicationExitDescription",
                                       "applicationExitDiagnostics",
                                       "applicationExitType",
                                       "applicationExitTriggerMessage",
                                       "applicationExitTriggerTaskRoleName",
                                       "applicationExitTriggerTaskIndex"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        jw_kstr(w, keys[i], NULL);
}

static void write_application(struct jw *w, const struct launcher_look *look, const struct eng_service *s,
                              enum launcher_state state)
{
    bool is_waiting = state == FRAMEWORK_WAITING;
    jw_kstr(w, "applicationId", is_waiting ? NULL : s->app_id);
    jw_key(w, "applicationProgress");
    if (is_waiting)
        jw_null(w);
    else
        write_float(w, progress_of(s, state));
    if (is_waiting)
        jw_kstr(w, "applicationTrackingUrl", NULL);
    else
        write_tracking_url(w, look, s);
    jw_key(w, "applicationLaunchedTimestamp");
    launcher_write_time(w, is_waiting ? 0 : s->launched_ms);
    jw_key(w, "applicationCompletedTimestamp");
    launcher_write_time(w, app_completed_ms(s, state));
    if (is_completed(state))
        write_exit(w, look, s);
    else
        write_no_exit(w);
}

/* ---- the framework ---- */

void launcher_write_status(struct jw *w, const struct launcher_look *look, const struct eng_service *s)
{
    enum launcher_state state = launcher_state_of(s, look->now_ms);
    jw_object(w);
    jw_kstr(w, "frameworkName", eng_service_title(s));
    jw_kint(w, "frameworkVersion", launcher_version_of(s));
    jw_kstr(w, "frameworkState", launcher_state_word(state));
    jw_key(w, "frameworkRetryPolicyState");
    launcher_write_retries(w, s->next_spec ? NULL : s->retries);
    jw_key(w, "frameworkCreatedTimestamp");
    launcher_write_time(w, s->first_request_ms);
    jw_key(w, "frameworkCompletedTimestamp");
    launcher_write_time(w, state == FRAMEWORK_COMPLETED ? s->completed_ms : 0);
    write_application(w, look, s, state);
    jw_object_end(w);
}

void launcher_write_role(struct jw *w, const struct eng_component *c)
{
    static const char *const nulls[] = {"overallRolloutServiceVersion", "overallRolloutStartTimestamp",
                                        "overallRolloutEndTimestamp"};
    static const char *const more_nulls[] = {"currentRolloutScaleUnit", "currentRolloutTaskIndexes",
                                             "currentRolloutStartTimestamp", "currentRolloutEndTimestamp"};
    jw_object(w);
    jw_kstr(w, "taskRoleName", eng_component_title(c));
    jw_key(w, "taskRoleRolloutStatus");
    jw_object(w);
    jw_kstr(w, "overallRolloutStatus", "UNKNOWN");
    for (size_t i = 0; i < ARRAY_LEN(nulls); i++)
        jw_kstr(w, nulls[i], NULL);
    jw_kstr(w, "currentRolloutStatus", "UNKNOWN");
    for (size_t i = 0; i < ARRAY_LEN(more_nulls); i++)
        jw_kstr(w, more_nulls[i], NULL);
    jw_object_end(w);
    jw_kint(w, "frameworkVersion", launcher_version_of(c->service));
    jw_object_end(w);
}

/* ---- summaries ---- */

/** GPUs that a task of a role asks for. */
static int64_t n_gpus_of(const struct spec_component *c)
{
    const json_t *types = c->resource ? c->resource->additional : NULL;
    return types ? json_integer_value(json_object_get(json_object_get(types, SPEC_GPU_TYPE), "value")) : 0;
}

static void write_totals(struct jw *w, const struct eng_service *s)
{
    const struct spec_service *wanted = eng_service_wanted(s);
    int64_t n_gpus = 0, n_tasks = 0;
    for (size_t i = 0; i < wanted->n_components; i++) {
        const struct spec_component *c = wanted->components[i];
        n_tasks += c->number_of_containers;
        n_gpus += c->number_of_containers * n_gpus_of(c);
    }
    jw_kint(w, "totalGpuNumber", n_gpus);
    jw_kint(w, "totalTaskNumber", n_tasks);
    jw_kint(w, "totalTaskRoleNumber", (int64_t)wanted->n_components);
}

void launcher_write_summary(struct jw *w, const struct launcher_look *look, const struct eng_service *s)
{
    enum launcher_state state = launcher_state_of(s, look->now_ms);
    const struct spec_service *wanted = eng_service_wanted(s);
    jw_object(w);
    jw_kstr(w, "frameworkName", eng_service_title(s));
    jw_kint(w, "frameworkVersion", launcher_version_of(s));
    jw_kstr(w, "executionType", s->is_wanted_stopped ? "STOP" : "START");
    jw_kstr(w, "frameworkDescription", wanted->description);
    jw_kstr(w, "userName", s->user);
    jw_kstr(w, "queue", wanted->queue ? wanted->queue : "default");
    write_totals(w, s);
    jw_key(w, "firstRequestTimestamp");
    launcher_write_time(w, s->first_request_ms);
    jw_key(w, "lastRequestTimestamp");
    launcher_write_time(w, s->last_request_ms);
    jw_kstr(w, "frameworkState", launcher_state_word(state));
    jw_key(w, "frameworkRetryPolicyState");
    launcher_write_retries(w, s->next_spec ? NULL : s->retries);
    jw_key(w, "frameworkCompletedTimestamp");
    launcher_write_time(w, state == FRAMEWORK_COMPLETED ? s->completed_ms : 0);
    jw_key(w, "applicationExitCode");
    if (is_completed(state))
        jw_int(w, exit_of(look->e, s).code);
    else
        jw_null(w);
    jw_object_end(w);
}

/* ---- tasks ---- */

/** Tasks of a role. Those of an application that has completed stay as many as they were. */
static int64_t n_tasks_of(const struct eng_component *c, enum launcher_state state)
{
    int64_t n_there = (int64_t)c->n_instances - c->n_removing;
    if (!is_completed(state))
        return c->spec->number_of_containers;
    return n_there > c->n_at_end ? n_there : c->n_at_end;
}

struct launcher_role_look launcher_role_look_of(const struct launcher_look *look,
                                                const struct eng_component *c)
{
    const char *role = eng_component_title(c);
    enum launcher_state state = launcher_state_of(c->service, look->now_ms);
    const json_t *service = json_object_get(described_role(c->service, role), "taskService");
    return (struct launcher_role_look){.e = look->e,
                                       .state = state,
                                       .service_version =
                                           json_integer_value(json_object_get(service, "version")),
                                       .role = role,
                                       .n_tasks = n_tasks_of(c, state),
                                       .created_ms = c->service->launched_ms,
                                       .app_completed_ms = app_completed_ms(c->service, state)};
}
