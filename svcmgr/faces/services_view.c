/** Service documents as the services API shows them: see services.h. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "faces/services.h"
#include "run/outage.h"

/** Instances named in the line about records that wait. */
#define NAMES_MAX 3

/** Word of a service whose operation is under way. */
static const char *upgrading_word(const struct eng_operation *op)
{
    if (op->kind == OPERATION_CANCEL)
        return "CANCEL_UPGRADING";
    switch (op->mode) {
    case MODE_MANUAL: return "UPGRADING";
    case MODE_AUTO: return "UPGRADING_AUTO_FINALIZE";
    case MODE_EXPRESS: return "EXPRESS_UPGRADING";
    }
    return "UPGRADING";
}

const char *services_state_word(const struct eng_service *s, const struct dialect *dialect)
{
    switch (s->state) {
    case SVC_STABLE: return dialect->service_stable;
    case SVC_UPGRADING: return dialect->shows_upgrades ? upgrading_word(s->operation) : "STARTED";
    case SVC_FINISHING: return "STARTED";
    case SVC_SUBMITTING:
    case SVC_BACKOFF: return "ACCEPTED";
    case SVC_SUCCEEDED: return "STOPPED";
    case SVC_STOPPED:
    case SVC_ACCEPTED:
    case SVC_STARTED:
    case SVC_FAILED: break;
    }
    return eng_service_state_word(s->state);
}

bool services_is_in(const struct eng_service *s, const char *word, const struct dialect *dialect)
{
    bool is_stable = strcmp(word, "READY") == 0 || strcmp(word, "STABLE") == 0;
    if (strcmp(word, "SUCCEEDED") == 0)
        return s->state == SVC_SUCCEEDED;
    if (s->state == SVC_UPGRADING && strcmp(word, upgrading_word(s->operation)) == 0)
        return true; /* also where the dialect has another word for it */
    return strcmp(services_state_word(s, dialect), is_stable ? dialect->service_stable : word) == 0;
}

const char *services_container_upgrade(const struct eng_instance *inst)
{
    if (inst->container_id && eng_instance_upgrade(inst) == UPGRADE_NEEDED)
        return "NEEDS_UPGRADE";
    if (inst->upgrade == UPGRADE_FAILED)
        return "FAILED_UPGRADE";
    return inst->state == INST_UPGRADING ? "UPGRADING" : NULL;
}

const char *services_container_word(const struct eng_instance *inst, const struct dialect *dialect)
{
    if (inst->removing)
        return NULL;
    const char *upgrade = services_container_upgrade(inst);
    if (upgrade && dialect->shows_upgrades)
        return upgrade;
    if (inst->upgrade == UPGRADE_FAILED)
        return dialect->container_started;
    switch (inst->state) {
    case INST_UPGRADING: return dialect->container_started;
    case INST_ALLOCATED: return dialect->container_init;
    case INST_LAUNCHED: return dialect->container_init ? dialect->container_init : dialect->container_started;
    case INST_RUNNING:
    case INST_EXITED:
    case INST_DRAINING:
    case INST_RECOVERING:
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
    return eng_exit_is_success(inst->last_exit) ? "SUCCEEDED" : "FAILED";
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

bool services_record_waits(const struct face *face, const struct eng_instance *inst, struct face_wait *out)
{
    return inst->container_id && record_waits(face, inst->component->service, inst->container_id, out);
}

char *services_record_wait_text(const struct face_wait *w)
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
    if (services_record_waits(face, inst, &w))
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
        const struct eng_instance *inst;
        TAILQ_FOREACH (inst, &s->components[i]->instances, link) {
            if (services_record_waits(face, inst, &w) && !w.is_refused)
                add_waiting(&all, inst->name, &w);
        }
    }
    buf_auto struct buf names = all.names;
    if (!all.n)
        return NULL;
    if (all.n > NAMES_MAX)
        buf_addf(&names, " and %zu more", all.n - NAMES_MAX);
    mem_auto char *why = services_record_wait_text(&all.oldest);
    return mem_fmt("Not published in the registry, so without their current names in DNS: %s: %s",
                   buf_cstr(&names), why);
}

/** Word of this API for the cause of an end. */
static const char *exit_word(const struct eng_exit *x)
{
    return x->cause == CAUSE_LAUNCH ? "not_started" : eng_exit_cause_word(x->cause);
}

static json_t *view_exit(const struct eng_exit *x)
{
    json_t *v = json_object();
    mem_auto char *text = eng_exit_text(x);
    set_text(v, "cause", exit_word(x));
    if (x->cause == CAUSE_EXITED || x->cause == CAUSE_SIGNALLED)
        json_object_set_new(v, x->cause == CAUSE_EXITED ? "code" : "signal", json_integer(x->raw));
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

/** The numbers of its named ports. */
static void add_ports(json_t *container, const struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;
    if (spec->n_ports == 0)
        return;
    json_t *ports = json_object();
    for (size_t i = 0; i < spec->n_ports; i++)
        json_object_set_new(ports, spec->ports[i]->name,
                            json_integer(eng_instance_port(inst, spec->ports[i])));
    json_object_set_new(container, "ports", ports);
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
        add_ports(v, inst);
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
    const struct eng_instance *inst = c ? TAILQ_FIRST(&c->instances) : NULL;
    for (; inst; inst = TAILQ_NEXT(inst, link)) {
        const char *word = services_container_word(inst, view->dialect),
                   *ended = word ? NULL : ended_word(inst);
        const char *id = inst->container_id && !ended ? inst->container_id : inst->last_container_id;
        if (word || ended)
            json_array_append_new(list, view_container(view, inst, id, word ? word : ended));
    }
    return list;
}

/** Word of a component's state; c NULL: the service never ran, or ended under a version that kept none. */
static const char *component_word(const struct eng_service *s, const struct eng_component *c,
                                  const struct dialect *dialect)
{
    bool has_ended = s->app_id && !eng_service_is_live(s);
    enum eng_component_state state = COMP_FLEXING;
    if (c)
        state = c->state;
    else if (has_ended)
        state = s->state == SVC_SUCCEEDED ? COMP_SUCCEEDED
                : s->state == SVC_FAILED  ? COMP_FAILED
                                          : COMP_STOPPED;
    if (state == COMP_STOPPED)
        return dialect->component_stopped;
    if (state == COMP_UPGRADING)
        return dialect->shows_upgrades ? "NEEDS_UPGRADE" : "FLEXING";
    return state == COMP_WAITING ? "FLEXING" : eng_component_state_word(state);
}

/** What runs of a component. @param v  its definition [in,out] */
static void add_live_component(const struct view *view, json_t *v, const struct eng_service *s,
                               const char *name)
{
    const struct eng_component *c = eng_service_component(s, name);
    set_text(v, "state", component_word(s, c, view->dialect));
    json_object_set_new(v, "containers", view_containers(view, c));
}

static void add_live_components(const struct view *view, json_t *doc, const struct eng_service *s)
{
    json_t *list = json_object_get(doc, "components");
    for (size_t i = 0; i < json_array_size(list); i++)
        add_live_component(view, json_array_get(list, i), s, s->spec->components[i]->name);
}

json_t *services_view_component(const struct engine *e, const struct eng_service *s,
                                const struct spec_component *c, const struct dialect *dialect,
                                const struct face *face)
{
    const struct view view = {e, dialect, face};
    json_t *v = fld_write(&spec_component_type, c);
    add_live_component(&view, v, s, c->name);
    return v;
}

json_t *services_view_instance(const struct engine *e, const struct eng_instance *inst,
                               const struct dialect *dialect, const struct face *face)
{
    const struct view view = {e, dialect, face};
    const char *word = services_container_word(inst, dialect);
    return word && inst->container_id ? view_container(&view, inst, inst->container_id, word) : NULL;
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

/** Why the last upgrade did not end well; NULL: it did, or is under way. free() */
static char *upgrade_text(const struct eng_service *s)
{
    const struct eng_operation *op = s->operation;
    bool is_bad = op && (op->result == RESULT_FAILED || op->result == RESULT_REVERTED);
    return is_bad ? mem_fmt("The upgrade to version %s %s: %s", op->version,
                            op->result == RESULT_FAILED ? "has failed" : "was reverted",
                            op->why ? op->why : "the service has ended")
                  : NULL;
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
    mem_auto char *upgrade = live ? upgrade_text(s) : NULL;
    buf_auto struct buf text = BUF_EMPTY;
    add_line(&text, live ? NULL : s->diagnostics);
    add_line(&text, upgrade);
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

/** The upgrade that is under way, whatever the dialect's words for its states are. */
static json_t *view_operation(const struct eng_service *s)
{
    const struct eng_operation *op = s->operation;
    json_t *v = json_object();
    set_text(v, "kind", eng_operation_word(op->kind));
    set_text(v, "mode", eng_mode_word(op->mode));
    set_text(v, "version", op->kind == OPERATION_CANCEL ? s->spec->version : op->version);
    json_object_set_new(v, "remaining", json_integer(eng_service_n_to_move(s)));
    json_object_set_new(v, "auto_revert", json_boolean(op->auto_revert));
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
    if (s->state == SVC_UPGRADING)
        json_object_set_new(doc, "operation", view_operation(s));
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
