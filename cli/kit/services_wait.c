/** Waiting for a service: see services.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "progress.h"
#include "run/loop.h"
#include "services.h"

#define POLL_MS         100
#define REASON_AFTER_MS 1000 /* what stands still for so long is explained */
#define REASON_EACH_MS  5000 /* and again */

/* ---- what is counted ---- */

static bool is_any_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* What still stops is named by explain only: it is no container of the service any more. */
#define EXPLAINED "?explain=true"
/* The server answers when the service is in the state, and else so often that a person sees that something goes on. */
#define UNTIL(state) "?wait=" state "&timeout=500ms"

static const char *const ready_words[] = {"READY", "STABLE", NULL}; /* of both dialects */
static const char *const ended_words[] = {"FAILED", "STOPPED", "SUCCEEDED", NULL};

struct tally {
    size_t n_ready, n_wanted;
};

static struct tally tally_of(const json_t *service)
{
    struct tally t = {0};
    size_t i, k;
    json_t *component, *container;

    json_array_foreach(json_object_get(service, "components"), i, component)
    {
        t.n_wanted += (size_t)json_integer_value(json_object_get(component, "number_of_containers"));
        json_array_foreach(json_object_get(component, "containers"), k, container) t.n_ready +=
            is_any_of(services_text(container, "state"), ready_words);
    }
    return t;
}

/* ---- goals ---- */

/** Of a service that will not be READY: its state, and how what failed has ended. */
static int refuse_ended(const char *name, const json_t *service, struct err_info *why)
{
    const json_t *failure = json_object_get(service, "last_failure");
    const char *instance = services_text(failure, "component_instance_name");
    const char *text = services_text(json_object_get(failure, "last_exit"), "text");

    return err_set(why, ERR_WRONGSTATE, name,
                   "the service is %s%s%s%s%s; bobbin app status %s and bobbin app logs %s show more",
                   services_text(service, "state"), failure ? ": " : "", instance, failure ? ": " : "", text,
                   name, name);
}

static int judge_ready(const struct services_goal *goal, const char *name, const json_t *service,
                       char **waits_for, struct err_info *why)
{
    (void)goal;

    const char *state = services_text(service, "state");
    struct tally t = tally_of(service);

    if (is_any_of(state, ended_words))
        return refuse_ended(name, service, why);
    if (!is_any_of(state, ready_words))
        *waits_for = mem_fmt("%s, %zu of %zu containers READY", state, t.n_ready, t.n_wanted);
    return 0;
}

/** Of a service that stops or is destroyed, explained. free() */
static char *stopping_text(const json_t *service)
{
    json_int_t n_left = 0;
    size_t i;
    const json_t *one;

    json_array_foreach(json_object_get(service, "explain"), i, one) n_left +=
        json_integer_value(json_object_get(one, "count"));
    return mem_fmt("stopping, %lld %s left", (long long)n_left, n_left == 1 ? "container" : "containers");
}

static int judge_stopped(const struct services_goal *goal, const char *name, const json_t *service,
                         char **waits_for, struct err_info *why)
{
    (void)goal;
    (void)name;
    (void)why;
    if (!is_any_of(services_text(service, "state"), ended_words))
        *waits_for = stopping_text(service);
    return 0;
}

const struct services_goal services_ready = {
    UNTIL("READY"), judge_ready, NULL, "READY", "the service keeps running",
};
const struct services_goal services_stopped = {
    UNTIL("STOPPED") "&explain=true", judge_stopped, NULL, "STOPPED", "the service goes on stopping",
};

/* ---- the wait ---- */

struct waiting {
    struct services *services;
    const char *name;
    struct progress progress;
    char *text;     /* what is waited for; NULL: not known yet */
    int64_t ask_ms; /* when its reason is asked for */
    char *reason;   /* why, once it stands still; NULL: not asked, or none is known */
};

static void waiting_begin(struct waiting *w, struct services *s, const char *name)
{
    *w = (struct waiting){.services = s, .name = name};
    progress_begin(&w->progress, s->is_quiet);
}

static void waiting_end(struct waiting *w, const char *word)
{
    mem_auto char *last = word ? mem_fmt("%s: %s", w->name, word) : NULL;

    progress_end(&w->progress, last);
    free(w->text);
    free(w->reason);
}

/** GET of the service. @param query  "" or EXPLAINED */
static int ask(struct waiting *w, const char *query, json_t **out, struct err_info *why)
{
    mem_auto char *quoted = services_quote(w->name);
    mem_auto char *path = mem_fmt("/%s%s", quoted, query);

    return services_call(w->services, "GET", path, NULL, out, why);
}

/* Reasons that say no more than what is counted. */
static const char *const counted_words[] = {"ended", "moves", "revert", NULL};

/** The first reason that the server knows, of what waits and has not ended. Without one the count alone is shown: a failure of this question is none of the wait. */
static void explain(struct waiting *w)
{
    json_auto json_t *doc = NULL;
    struct err_info why;
    size_t i;
    const json_t *one;

    free(w->reason);
    w->reason = NULL;
    w->ask_ms = run_now_ms() + REASON_EACH_MS;
    if (ask(w, EXPLAINED, &doc, &why))
        return;
    json_array_foreach(json_object_get(doc, "explain"), i, one)
    {
        const char *instance = services_text(one, "instance"), *text = services_text(one, "wait");
        if (!text[0] || is_any_of(services_text(one, "reason"), counted_words))
            continue;
        w->reason = mem_fmt("; %s%s%s", instance, instance[0] ? ": " : "", text);
        return;
    }
}

static void waiting_show(struct waiting *w, char *take_text)
{
    bool is_same = w->text && strcmp(w->text, take_text) == 0;

    free(w->text);
    w->text = take_text;
    if (!is_same) {
        free(w->reason);
        w->reason = NULL;
        w->ask_ms = run_now_ms() + REASON_AFTER_MS;
    } else if (!w->services->is_quiet && run_now_ms() >= w->ask_ms) {
        explain(w);
    }
    mem_auto char *line = mem_fmt("%s: %s%s", w->name, w->text, w->reason ? w->reason : "");
    progress_show(&w->progress, line);
}

/** One look. @return 0, and *out when the goal is reached */
static int look(struct waiting *w, const struct services_goal *goal, json_t **out, struct err_info *why)
{
    json_auto json_t *service = NULL;
    char *waits_for = NULL;
    int err = w->services->check ? w->services->check(w->services->check_arg, why) : 0;

    err = err ? err : ask(w, goal->query, &service, why);
    err = err ? err : goal->judge(goal, w->name, service, &waits_for, why);
    if (!err && waits_for)
        waiting_show(w, waits_for);
    else if (!err)
        *out = json_incref(service);
    return err;
}

int services_wait(struct services *s, const char *name, const struct services_goal *goal, int64_t limit_ms,
                  json_t **out, struct err_info *why)
{
    int64_t end_ms = run_now_ms() + limit_ms;
    struct waiting w;
    int err = 0;

    *out = NULL;
    waiting_begin(&w, s, name);
    while (!err && !*out) {
        err = look(&w, goal, out, why);
        if (err == ERR_CANCELLED)
            err_set(why, err, name, "interrupted; %s", goal->interrupted);
        if (err || *out)
            break;
        if (run_now_ms() > end_ms)
            err =
                err_set(why, ERR_TIMEOUT, name, "not %s within %.1f s", goal->word, (double)limit_ms / 1000);
        else if (wait_ms(s->wait, POLL_MS))
            err = err_set(why, ERR_CANCELLED, name, "interrupted; %s", goal->interrupted);
    }
    waiting_end(&w, err ? NULL : goal->word);
    return err;
}

/** A look while the DELETE is under way: whatever goes wrong with it, the answer of that counts. */
static void look_aside(struct waiting *w)
{
    json_auto json_t *service = NULL;
    struct err_info why;

    if (!ask(w, EXPLAINED, &service, &why))
        waiting_show(w, stopping_text(service));
}

int services_destroy(struct services *s, const char *name, struct err_info *why)
{
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s", quoted);
    struct services_request *request = services_begin(s, "DELETE", path, NULL);
    struct waiting w;

    waiting_begin(&w, s, name);
    while (!services_is_answered(request) && !wait_event(s->wait, POLL_MS)) {
        if (!services_is_answered(request) && s->wait->is_time_over)
            look_aside(&w);
    }
    int err = services_end(request, NULL, why);
    waiting_end(&w, err || !w.text ? NULL : "destroyed");
    return err;
}
