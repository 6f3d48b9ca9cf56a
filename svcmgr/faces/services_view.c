/** Service documents as the services API shows them: see services.h. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "faces/services.h"
#include "run/outage.h"

/** Instances named in the line about records that wait. */
#define NAMES_MAX 3

const char *services_state_word(const struct eng_service *s, const struct dialect *dialect)
{
    switch ((enum eng_service_state)s->state) {
    case SVC_STABLE: return dialect->service_stable;
    case SVC_FINISHING: return "STARTED";
    case SVC_SUCCEEDED: return "STOPPED";
    case SVC_STOPPED:
    case SVC_ACCEPTED:
    case SVC_STARTED:
    case SVC_FAILED: break;
    }
    return eng_service_state_word((enum eng_service_state)s->state);
}

/** Word of an instance's container; NULL: it is not listed. */
static const char *container_word(const struct eng_instance *inst, const struct dialect *dialect)
{
    if (inst->removing)
        return NULL;
    switch ((enum eng_instance_state)inst->state) {
    case INST_ALLOCATED: return dialect->container_init;
    case INST_LAUNCHED: return dialect->container_init ? dialect->container_init : dialect->container_started;
    case INST_RUNNING:
    case INST_EXITED:
    case INST_RELEASING: return dialect->container_started;
    case INST_READY: return "READY";
    case INST_SUCCEEDED: return "SUCCEEDED";
    case INST_FAILED: return "FAILED";
    case INST_STOPPED: return "STOPPED";
    case INST_PENDING:
    case INST_REQUESTED: break;
    }
    return NULL;
}

/** Word of the container that ended and has no listed replacement yet; NULL: there is none. */
static const char *ended_word(const struct eng_instance *inst)
{
    bool waits =
        inst->state == INST_PENDING || inst->state == INST_REQUESTED || inst->state == INST_ALLOCATED;
    if (inst->removing || !waits || !inst->last_container_id || !inst->last_exit)
        return NULL;
    return inst->last_exit->kind == EXIT_CODE && inst->last_exit->value == 0 ? "SUCCEEDED" : "FAILED";
}

static void set_text(json_t *object, const char *key, const char *value)
{
    if (value)
        json_object_set_new(object, key, json_string(value));
}

/** What the parts of a document have in common. */
struct view {
    const struct engine *e;
    const struct dialect *dialect;
    const struct face *face; /* NULL: no record waits */
};

/* ---- what the registry has not taken yet ---- */

static bool record_waits(const struct face *face, const struct eng_service *s, const char *container_id,
                         struct face_wait *out)
{
    mem_auto char *path = engine_record_path(s, container_id);
    return face && face->ops->record_waits(face->app, path, out);
}

static bool instance_waits(const struct face *face, const struct eng_instance *inst, struct face_wait *out)
{
    return inst->container_id && record_waits(face, inst->component->service, inst->container_id, out);
}

static char *wait_text(const struct face_wait *w)
{
    buf_auto struct buf text = BUF_EMPTY;
    buf_addf(&text, "%s (since ", w->reason);
    outage_time(w->since_ms, &text);
    buf_add_char(&text, ')');
    return buf_take(&text);
}

/** Of a container: `"registry": {"published": false, "since": ms, "reason": "…"}`; nothing when its record is there. */
static void add_registry(json_t *v, const struct face *face, const struct eng_instance *inst)
{
    struct face_wait w;
    if (instance_waits(face, inst, &w))
        json_object_set_new(v, "registry",
                            json_pack("{s:b, s:I, s:s}", "published", 0, "since", (json_int_t)w.since_ms,
                                      "reason", w.reason));
}

/** The records of a service that wait. */
struct waiting {
    struct buf names;
    size_t n;
    struct face_wait oldest;
};

static void add_waiting(struct waiting *all, const char *name, const struct face_wait *w)
{
    if (!all->n || w->since_ms < all->oldest.since_ms)
        all->oldest = *w;
    if (all->n++ < NAMES_MAX)
        buf_addf(&all->names, "%s%s", all->names.len ? ", " : "", name);
}

/** One line about them all; NULL: none waits. free() */
static char *waiting_text(const struct eng_service *s, const struct face *face)
{
    struct waiting all = {.names = BUF_EMPTY};
    struct face_wait w;
    if (record_waits(face, s, NULL, &w) && !w.is_refused)
        add_waiting(&all, s->name, &w);
    for (size_t i = 0; face && i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++) {
            const struct eng_instance *inst = s->components[i]->instances[k];
            if (instance_waits(face, inst, &w) && !w.is_refused)
                add_waiting(&all, inst->name, &w);
        }
    }
    buf_auto struct buf names = all.names;
    if (!all.n)
        return NULL;
    if (all.n > NAMES_MAX)
        buf_addf(&names, " and %zu more", all.n - NAMES_MAX);
    mem_auto char *why = wait_text(&all.oldest);
    return mem_fmt("Not published in the registry, so without their current names in DNS: %s: %s",
                   buf_cstr(&names), why);
}

static json_t *view_exit(const struct eng_exit *x)
{
    json_t *v = json_object();
    mem_auto char *text = eng_exit_text(x);
    set_text(v, "cause", eng_exit_cause(x));
    if (x->kind == EXIT_CODE || x->kind == EXIT_SIGNAL)
        json_object_set_new(v, x->kind == EXIT_CODE ? "code" : "signal", json_integer(x->value));
    if (x->ended_ms > 0)
        json_object_set_new(v, "time", json_integer(x->ended_ms));
    set_text(v, "text", text);
    set_text(v, "stderr", x->last_stderr);
    return v;
}

/** How often an instance was started again, and how its last process ended; x NULL: none has. */
static void add_ends(json_t *v, int64_t n_restarts, const struct eng_exit *x)
{
    json_object_set_new(v, "restarts", json_integer(n_restarts));
    if (x)
        json_object_set_new(v, "last_exit", view_exit(x));
}

static json_t *view_container(const struct view *view, const struct eng_instance *inst,
                              const char *container_id, const char *word)
{
    json_t *v = json_object();
    mem_auto char *dns_name = engine_dns_name(view->e, inst);
    set_text(v, "id", container_id);
    if (inst->allocated_ms > 0)
        json_object_set_new(v, "launch_time", json_integer(inst->allocated_ms));
    if (container_id == inst->container_id) {
        set_text(v, "ip", inst->ip);
        set_text(v, "hostname", inst->hostname ? dns_name : NULL);
        set_text(v, "bare_host", inst->bare_host);
    }
    set_text(v, "state", word);
    set_text(v, "component_instance_name", inst->name);
    add_ends(v, inst->n_restarts, inst->last_exit);
    if (container_id == inst->container_id)
        add_registry(v, view->face, inst);
    return v;
}

static json_t *view_containers(const struct view *view, const struct eng_component *c)
{
    json_t *list = json_array();
    for (size_t i = 0; c && i < c->n_instances; i++) {
        const struct eng_instance *inst = c->instances[i];
        const char *word = container_word(inst, view->dialect), *ended = word ? NULL : ended_word(inst);
        const char *id = inst->container_id && !ended ? inst->container_id : inst->last_container_id;
        if (word || ended)
            json_array_append_new(list, view_container(view, inst, id, word ? word : ended));
    }
    return list;
}

static const struct eng_component *find_component(const struct eng_service *s, const char *name)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (strcmp(s->components[i]->name, name) == 0)
            return s->components[i];
    }
    return NULL;
}

/** Word of a component's state; c NULL: the service never ran, or ended under a version that kept none. */
static const char *component_word(const struct eng_service *s, const struct eng_component *c,
                                  const struct dialect *dialect)
{
    bool has_ended = s->app_id && !eng_service_is_live(s);
    int state = COMP_FLEXING;
    if (c)
        state = c->state;
    else if (has_ended)
        state = s->state == SVC_SUCCEEDED ? COMP_SUCCEEDED
                : s->state == SVC_FAILED  ? COMP_FAILED
                                          : COMP_STOPPED;
    if (state == COMP_STOPPED)
        return dialect->component_stopped;
    return state == COMP_WAITING ? "FLEXING" : eng_component_state_word((enum eng_component_state)state);
}

static void add_live_components(const struct view *view, json_t *doc, const struct eng_service *s)
{
    json_t *list = json_object_get(doc, "components");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *v = json_array_get(list, i);
        const struct eng_component *c = find_component(s, s->spec->components[i]->name);
        set_text(v, "state", component_word(s, c, view->dialect));
        json_object_set_new(v, "containers", view_containers(view, c));
    }
}

static void resolve_quicklinks(json_t *doc, const struct engine *e, const struct eng_service *s)
{
    json_t *values = engine_placeholders(e, s);
    json_t *links = json_object_get(doc, "quicklinks");
    const char *key;
    json_t *value;
    json_object_foreach(links, key, value)
    {
        mem_auto char *text = spec_expand_to(json_string_value(value), values, SPEC_EXPANDED_MAX);
        if (text) /* else it is shown as it was given */
            json_string_set(value, text);
    }
    json_decref(values);
}

/* ---- diagnostics ---- */

/** One more line; NULL: none. */
static void add_line(struct buf *text, const char *line)
{
    if (line)
        buf_addf(text, "%s%s", text->len ? "\n" : "", line);
}

/** Which instance failed, how, how often, and what it said last. free() */
static char *failure_text(const char *instance, int64_t n_restarts, const struct eng_exit *x)
{
    mem_auto char *end = eng_exit_text(x);
    return mem_fmt("Instance %s failed, %lld restarts: %s%s%s", instance, (long long)n_restarts, end,
                   x->last_stderr ? "\nLast lines of its standard error:\n" : "",
                   x->last_stderr ? x->last_stderr : "");
}

/** Lines for a person: why the service ended, or what is wrong with it now. */
static void add_diagnostics(json_t *doc, const struct eng_service *s, const struct face *face)
{
    bool live = eng_service_is_live(s);
    const struct eng_instance *inst = live ? eng_service_failing(s) : NULL;
    const struct eng_failure *kept = live ? NULL : s->failure;
    mem_auto char *refusals = eng_service_refusals(s), *waiting = live ? waiting_text(s, face) : NULL;
    mem_auto char *failure = inst   ? failure_text(inst->name, inst->n_restarts, inst->last_exit)
                             : kept ? failure_text(kept->instance, kept->n_restarts, kept->exit)
                                    : NULL;
    buf_auto struct buf text = BUF_EMPTY;
    add_line(&text, live ? NULL : s->diagnostics);
    add_line(&text, refusals);
    add_line(&text, waiting);
    add_line(&text, failure);
    if (text.len)
        set_text(doc, "diagnostics", buf_cstr(&text));
}

/** Of a service that has ended: its instances are not listed any more. */
static json_t *view_failure(const struct eng_failure *f)
{
    json_t *v = json_object();
    set_text(v, "component_instance_name", f->instance);
    set_text(v, "id", f->container_id);
    add_ends(v, f->n_restarts, f->exit);
    return v;
}

static void add_live_members(json_t *doc, const struct eng_service *s, const struct view *view,
                             int64_t now_ms)
{
    bool live = eng_service_is_live(s);
    int64_t lifetime = live ? eng_service_lifetime_left_s(s, now_ms) : s->spec->lifetime;
    set_text(doc, "id", s->app_id);
    set_text(doc, "state", services_state_word(s, view->dialect));
    json_object_set_new(doc, "lifetime", json_integer(lifetime));
    json_object_set_new(doc, "number_of_running_containers", json_integer(eng_service_n_running(s)));
    if (s->launch_ms > 0)
        json_object_set_new(doc, "launch_time", json_integer(s->launch_ms));
    if (!live && s->failure)
        json_object_set_new(doc, "last_failure", view_failure(s->failure));
    add_diagnostics(doc, s, view->face);
}

json_t *services_view(const struct engine *e, const struct eng_service *s, const struct dialect *dialect,
                      int64_t now_ms, const struct face *face)
{
    const struct view view = {e, dialect, face};
    json_t *doc = spec_write(s->spec);
    add_live_members(doc, s, &view, now_ms);
    add_live_components(&view, doc, s);
    if (eng_service_is_live(s))
        resolve_quicklinks(doc, e, s);
    return doc;
}

json_t *services_view_short(const struct eng_service *s, const struct dialect *dialect, int64_t now_ms)
{
    json_t *doc = json_object();
    set_text(doc, "name", s->name);
    set_text(doc, "version", s->spec->version);
    add_live_members(doc, s, &(struct view){.dialect = dialect}, now_ms);
    return doc;
}

static void add_reason(json_t *list, const char *instance, const char *state, const char *wait)
{
    json_t *v = json_object();
    set_text(v, "instance", instance);
    set_text(v, "state", state);
    set_text(v, "wait", wait);
    json_array_append_new(list, v);
}

/** Why an instance is not further, and why its record is not published. */
static void add_reasons(json_t *list, const struct eng_instance *inst, const struct face *face)
{
    const char *state = eng_instance_state_word((enum eng_instance_state)inst->state);
    struct face_wait w;
    if (inst->wait)
        add_reason(list, inst->name, state, inst->wait);
    if (!instance_waits(face, inst, &w) || w.is_refused)
        return;
    mem_auto char *why = wait_text(&w);
    mem_auto char *text = mem_fmt("its record is not published in the registry: %s", why);
    add_reason(list, inst->name, state, text);
}

json_t *services_view_explain(const struct eng_service *s, const struct face *face)
{
    json_t *list = json_array();
    const char *reason = s->wait ? s->wait : s->diagnostics;
    mem_auto char *refusals = eng_service_refusals(s);
    if (reason)
        add_reason(list, NULL, eng_service_state_word((enum eng_service_state)s->state), reason);
    if (refusals)
        add_reason(list, NULL, eng_service_state_word((enum eng_service_state)s->state), refusals);
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++)
            add_reasons(list, s->components[i]->instances[k], face);
    }
    return list;
}
