/**
 * The stored form of services: field tables over the engine's own structs. Instances have documents of their own, so that
 * what a step writes does not grow with their number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/document.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/step.h"

#define WORD_ROW(token, word, ...) word,
static const char *const service_words[] = {ENG_SERVICE_STATES(WORD_ROW) NULL};
static const char *const instance_words[] = {ENG_INSTANCE_STATES(WORD_ROW) NULL};
static const char *const component_words[] = {ENG_COMPONENT_STATES(WORD_ROW) NULL};
static const char *const origin_words[] = {ENG_EXIT_ORIGINS(WORD_ROW) NULL};
static const char *const cause_words[] = {ENG_EXIT_CAUSES(WORD_ROW) NULL};
static const char *const kind_words[] = {ENG_KINDS(WORD_ROW) NULL};
static const char *const upgrade_words[] = {ENG_UPGRADES(WORD_ROW) NULL};
static const char *const placing_words[] = {ENG_PLACINGS(WORD_ROW) NULL};
static const char *const operation_words[] = {ENG_OPERATIONS(WORD_ROW) NULL};
static const char *const mode_words[] = {ENG_MODES(WORD_ROW) NULL};
static const char *const result_words[] = {ENG_RESULTS(WORD_ROW) NULL};
static const char *const drain_words[] = {ENG_DRAINS(WORD_ROW) NULL};

#define TYPE(what_, struct_, flds_, defaults_)                                                               \
    {                                                                                                        \
        .what = what_, .size = sizeof(struct struct_), .flds = flds_, .n_flds = ARRAY_LEN(flds_),            \
        .defaults = defaults_                                                                                \
    }

/* In these structs 0 is the default of every number. */
static void exit_defaults(void *object)
{
    *(struct eng_exit *)object = (struct eng_exit){0};
}

static const struct fld exit_flds[] = {
    FLD_ENUM("origin", struct eng_exit, origin, 0, origin_words),
    FLD_ENUM("cause", struct eng_exit, cause, 0, cause_words),
    FLD_I64("raw", struct eng_exit, raw, FLD_ZERO),
    FLD_STR("text", struct eng_exit, text, 0),
    FLD_I64("ended_ms", struct eng_exit, ended_ms, FLD_ZERO),
    FLD_STR("last_stderr", struct eng_exit, last_stderr, 0),
};
const struct fld_type eng_exit_type = TYPE("exit", eng_exit, exit_flds, exit_defaults);

static void waiting_defaults(void *object)
{
    *(struct eng_waiting *)object = (struct eng_waiting){0};
}

static const struct fld waiting_flds[] = {
    FLD_ENUM("why", struct eng_waiting, why, 0, wait_words),
    FLD_STR("name", struct eng_waiting, name, 0),
    FLD_STR("text", struct eng_waiting, text, 0),
    FLD_I64("n", struct eng_waiting, n, FLD_ZERO),
    FLD_I64("of", struct eng_waiting, of, FLD_ZERO),
};
const struct fld_type eng_waiting_type = TYPE("waiting", eng_waiting, waiting_flds, waiting_defaults);

static void instance_defaults(void *object)
{
    *(struct eng_instance *)object = (struct eng_instance){0};
}

static const struct fld instance_flds[] = {
    FLD_I64("index", struct eng_instance, index, FLD_ZERO),
    FLD_STR("name", struct eng_instance, name, 0),
    FLD_ENUM("state", struct eng_instance, state, 0, instance_words),
    FLD_BOOL("removing", struct eng_instance, removing, 0),
    FLD_STR("container_id", struct eng_instance, container_id, 0),
    FLD_STR("last_container_id", struct eng_instance, last_container_id, 0),
    FLD_STR("node_http", struct eng_instance, node_http, 0),
    FLD_STR("last_node_http", struct eng_instance, last_node_http, 0),
    FLD_I64("request_id", struct eng_instance, request_id, FLD_ZERO),
    FLD_STR("wish", struct eng_instance, wish, 0),
    FLD_I64("ask_id", struct eng_instance, ask_id, FLD_ZERO),
    FLD_I64("asked_ms", struct eng_instance, asked_ms, FLD_ZERO),
    FLD_BOOL("migrating", struct eng_instance, is_migrating, 0),
    FLD_BOOL("held", struct eng_instance, is_held, 0),
    FLD_BOOL("in_gang", struct eng_instance, is_in_gang, 0),
    FLD_I64("attempt", struct eng_instance, attempt, FLD_ZERO),
    FLD_I64("n_containers", struct eng_instance, n_containers, FLD_ZERO),
    FLD_STR("version", struct eng_instance, version, 0),
    FLD_I64("revision", struct eng_instance, revision, FLD_ZERO),
    FLD_I64("goal", struct eng_instance, goal, FLD_ZERO),
    FLD_ENUM("upgrade", struct eng_instance, upgrade, 0, upgrade_words),
    FLD_STR("ip", struct eng_instance, ip, 0),
    FLD_JSON("ports", struct eng_instance, ports, 0),
    FLD_I64("gpus", struct eng_instance, gpus, FLD_ZERO),
    FLD_STR("hostname", struct eng_instance, hostname, 0),
    FLD_STR("bare_host", struct eng_instance, bare_host, 0),
    FLD_I64("allocated_ms", struct eng_instance, allocated_ms, FLD_ZERO),
    FLD_ENUM("placing", struct eng_instance, placing, 0, placing_words),
    FLD_I64("created_ms", struct eng_instance, created_ms, FLD_ZERO),
    FLD_I64("launched_ms", struct eng_instance, launched_ms, FLD_ZERO),
    FLD_I64("completed_ms", struct eng_instance, completed_ms, FLD_ZERO),
    FLD_I64("running_ms", struct eng_instance, running_ms, FLD_ZERO),
    FLD_I64("due_ms", struct eng_instance, due_ms, FLD_ZERO),
    FLD_ENUM("drain", struct eng_instance, drain, 0, drain_words),
    FLD_BOOL("restarting", struct eng_instance, is_restarting, 0),
    FLD_I64("backoff_ms", struct eng_instance, backoff_ms, FLD_ZERO),
    FLD_I64("n_retries", struct eng_instance, n_retries, FLD_ZERO),
    FLD_I64("n_restarts", struct eng_instance, n_restarts, FLD_ZERO),
    FLD_JSON("retry_times", struct eng_instance, retry_times, 0),
    FLD_OBJ("retries", struct eng_instance, retries, 0, &eng_retries_type),
    FLD_OBJ("last_exit", struct eng_instance, last_exit, 0, &eng_exit_type),
    FLD_OBJ("waits", struct eng_instance, wait, 0, &eng_waiting_type), /* "wait" was a text */
};
const struct fld_type eng_instance_type = TYPE("instance", eng_instance, instance_flds, instance_defaults);

static void component_defaults(void *object)
{
    struct eng_component *c = object;
    *c = (struct eng_component){0};
    TAILQ_INIT(&c->instances);
    TAILQ_INIT(&c->asks);
}

static const struct fld component_flds[] = {
    FLD_STR("name", struct eng_component, name, 0),
    FLD_ENUM("state", struct eng_component, state, 0, component_words),
    FLD_I64("n_failures", struct eng_component, n_failures, FLD_ZERO),
    FLD_I64("n_start_failures", struct eng_component, n_start_failures, FLD_ZERO),
    FLD_I64("total_requested", struct eng_component, totals.n_requested, FLD_ZERO),
    FLD_I64("total_started", struct eng_component, totals.n_started, FLD_ZERO),
    FLD_I64("total_released", struct eng_component, totals.n_released, FLD_ZERO),
    FLD_I64("total_unplanned", struct eng_component, totals.n_unplanned, FLD_ZERO),
    FLD_I64("total_failed", struct eng_component, totals.n_failed, FLD_ZERO),
    FLD_I64("total_start_failed", struct eng_component, totals.n_start_failed, FLD_ZERO),
    FLD_I64("total_node_failed", struct eng_component, totals.n_node_failed, FLD_ZERO),
    FLD_I64("total_limits", struct eng_component, totals.n_limits, FLD_ZERO),
    FLD_I64("total_preempted", struct eng_component, totals.n_preempted, FLD_ZERO),
    FLD_I64("last_started_ms", struct eng_component, totals.last_started_ms, FLD_ZERO),
    FLD_I64("window_end_ms", struct eng_component, window_end_ms, FLD_ZERO),
    FLD_I64("health_from_ms", struct eng_component, health_from_ms, FLD_ZERO),
    FLD_I64("revision", struct eng_component, revision, FLD_ZERO),
    FLD_I64("next_revision", struct eng_component, next_revision, FLD_ZERO),
    FLD_I64("last_revision", struct eng_component, last_revision, FLD_ZERO),
    FLD_BOOL("moves_all", struct eng_component, moves_all, 0),
    FLD_I64("first_number", struct eng_component, first_number, FLD_ZERO),
    FLD_I64("n_numbers", struct eng_component, n_numbers, FLD_ZERO),
    FLD_I64("n_at_end", struct eng_component, n_at_end, FLD_ZERO),
    FLD_BOOL("retired", struct eng_component, retired, 0),
    FLD_OBJ("waits", struct eng_component, wait, FLD_IN, &eng_waiting_type),
    /* Read where a document holds them still; they are written as documents of their own. */
    FLD_LIST("instances", struct eng_component, stored, FLD_IN, &eng_instance_type),
};
const struct fld_type eng_component_type =
    TYPE("component", eng_component, component_flds, component_defaults);

static void failure_defaults(void *object)
{
    *(struct eng_failure *)object = (struct eng_failure){0};
}

static const struct fld failure_flds[] = {
    FLD_STR("instance", struct eng_failure, instance, 0),
    FLD_STR("container_id", struct eng_failure, container_id, 0),
    FLD_STR("node_http", struct eng_failure, node_http, 0),
    FLD_I64("n_restarts", struct eng_failure, n_restarts, FLD_ZERO),
    FLD_OBJ("exit", struct eng_failure, exit, 0, &eng_exit_type),
};
const struct fld_type eng_failure_type = TYPE("failure", eng_failure, failure_flds, failure_defaults);

static void master_defaults(void *object)
{
    *(struct eng_master *)object = (struct eng_master){0};
}

static const struct fld master_flds[] = {
    FLD_STR("container_id", struct eng_master, container_id, 0),
    FLD_STR("node_http", struct eng_master, node_http, 0),
    FLD_STR("url", struct eng_master, url, 0),
};
const struct fld_type eng_master_type = TYPE("master", eng_master, master_flds, master_defaults);

static void roll_defaults(void *object)
{
    *(struct eng_roll *)object = (struct eng_roll){0};
}

static const struct fld roll_flds[] = {
    FLD_STRS("pending", struct eng_roll, pending, 0),
    FLD_STR("current", struct eng_roll, current, 0),
    FLD_STR("left", struct eng_roll, left, 0),
    FLD_I64("all", struct eng_roll, n_all, FLD_ZERO),
    FLD_I64("done", struct eng_roll, n_done, FLD_ZERO),
    FLD_I64("failed", struct eng_roll, n_failed, FLD_ZERO),
    FLD_ENUM("result", struct eng_roll, result, 0, result_words),
    FLD_I64("began_ms", struct eng_roll, began_ms, FLD_ZERO),
    FLD_JSON("message", struct eng_roll, message, 0),
};
const struct fld_type eng_roll_type = TYPE("roll", eng_roll, roll_flds, roll_defaults);

static void operation_defaults(void *object)
{
    *(struct eng_operation *)object = (struct eng_operation){0};
}

static const struct fld operation_flds[] = {
    FLD_ENUM("kind", struct eng_operation, kind, 0, operation_words),
    FLD_ENUM("mode", struct eng_operation, mode, 0, mode_words),
    FLD_ENUM("result", struct eng_operation, result, 0, result_words),
    FLD_BOOL("auto_revert", struct eng_operation, auto_revert, 0),
    FLD_BOOL("is_reverting", struct eng_operation, is_reverting, 0),
    FLD_BOOL("is_fetched", struct eng_operation, is_fetched, 0),
    FLD_BOOL("is_final", struct eng_operation, is_final, 0),
    FLD_OBJ("target", struct eng_operation, target, 0, &spec_service_type),
    FLD_STR("version", struct eng_operation, version, 0),
    FLD_STRS("moves", struct eng_operation, moves, 0),
    FLD_I64("began_ms", struct eng_operation, began_ms, FLD_ZERO),
    FLD_I64("ended_ms", struct eng_operation, ended_ms, FLD_ZERO),
    FLD_STR("why", struct eng_operation, why, 0),
};
const struct fld_type eng_operation_type =
    TYPE("operation", eng_operation, operation_flds, operation_defaults);

static void migration_defaults(void *object)
{
    *(struct eng_migration *)object = (struct eng_migration){0};
}

static const struct fld migration_flds[] = {
    FLD_STR("container_id", struct eng_migration, container_id, 0),
    FLD_JSON("value", struct eng_migration, value, 0),
};
const struct fld_type eng_migration_type =
    TYPE("migration", eng_migration, migration_flds, migration_defaults);

static void service_defaults(void *object)
{
    struct eng_service *s = object;
    *s = (struct eng_service){0};
    TAILQ_INIT(&s->dirty_instances);
    TAILQ_INIT(&s->gang);
    TAILQ_INIT(&s->unpublished);
}

// clang-format off
/* What is wanted: written by who takes requests. */
#define WANTED_FLDS \
    FLD_ENUM("kind", struct eng_service, kind, 0, kind_words), \
    FLD_STR("user", struct eng_service, user, 0), \
    FLD_STR("name", struct eng_service, name, 0), \
    FLD_STR("registry_class", struct eng_service, registry_class, 0), \
    FLD_STR("dialect", struct eng_service, dialect, 0), \
    FLD_OBJ("spec", struct eng_service, spec, 0, &spec_service_type), \
    FLD_OBJ("rules", struct eng_service, rules, 0, &eng_rules_type), \
    FLD_OBJ("next", struct eng_service, next_spec, 0, &spec_service_type), \
    FLD_OBJ("next_rules", struct eng_service, next_rules, 0, &eng_rules_type), \
    FLD_BOOL("next_stopped", struct eng_service, is_next_stopped, 0), \
    FLD_I64("incarnation", struct eng_service, incarnation, FLD_ZERO), \
    FLD_BOOL("destroying", struct eng_service, destroying, 0), \
    FLD_BOOL("has_progress", struct eng_service, has_progress, 0), \
    FLD_I64("progress_ppm", struct eng_service, progress_ppm, FLD_ZERO), \
    FLD_STRS("excluded", struct eng_service, excluded, 0)

/* What its API alone makes something of: an application master only shows the request. */
#define REQUEST_FLDS \
    FLD_JSON("request", struct eng_service, request, 0), \
    FLD_I64("first_request_ms", struct eng_service, first_request_ms, FLD_ZERO), \
    FLD_I64("last_request_ms", struct eng_service, last_request_ms, FLD_ZERO), \
    FLD_BOOL("wanted_stopped", struct eng_service, is_wanted_stopped, 0)

/* What an application master is asked to do. */
#define ORDER_FLDS \
    FLD_I64("last_order", struct eng_service, last_order, FLD_ZERO), \
    FLD_LIST("orders", struct eng_service, orders, 0, &eng_order_type)

/* What is: written by who runs the service. */
#define IS_FLDS \
    FLD_ENUM("state", struct eng_service, state, 0, service_words), \
    FLD_STR("app_id", struct eng_service, app_id, 0), \
    FLD_I64("app_seq", struct eng_service, app_seq, FLD_ZERO), \
    FLD_I64("next_container", struct eng_service, next_container, FLD_ZERO), \
    FLD_I64("launch_ms", struct eng_service, launch_ms, FLD_ZERO), \
    FLD_I64("started_ms", struct eng_service, started_ms, FLD_ZERO), \
    FLD_I64("lifetime_end_ms", struct eng_service, lifetime_end_ms, FLD_ZERO), \
    FLD_ENUM("end_state", struct eng_service, end_state, 0, service_words), \
    FLD_BOOL("purge_wanted", struct eng_service, purge_wanted, 0), \
    FLD_STR("diagnostics", struct eng_service, diagnostics, 0), \
    FLD_OBJ("retries", struct eng_service, retries, 0, &eng_retries_type), \
    FLD_BOOL("has_application", struct eng_service, has_application, 0), \
    FLD_BOOL("handed_over", struct eng_service, is_handed_over, 0), \
    FLD_OBJ("master", struct eng_service, master, 0, &eng_master_type), \
    FLD_I64("ordered", struct eng_service, n_ordered, FLD_ZERO), \
    FLD_I64("backoff_due_ms", struct eng_service, backoff_due_ms, FLD_ZERO), \
    FLD_I64("launched_ms", struct eng_service, launched_ms, FLD_ZERO), \
    FLD_I64("ended_ms", struct eng_service, ended_ms, FLD_ZERO), \
    FLD_I64("completed_ms", struct eng_service, completed_ms, FLD_ZERO), \
    FLD_I64("final_ms", struct eng_service, final_ms, FLD_ZERO), \
    FLD_I64("begun_ms", struct eng_service, begun_ms, FLD_ZERO), \
    FLD_I64("retry_pause_ms", struct eng_service, retry_pause_ms, FLD_ZERO), \
    FLD_I64("gang_due_ms", struct eng_service, gang_due_ms, FLD_ZERO), \
    FLD_OBJ("exit", struct eng_service, exit, 0, &eng_exit_type), \
    FLD_STR("trigger", struct eng_service, trigger, 0), \
    FLD_OBJ("failure", struct eng_service, failure, 0, &eng_failure_type), \
    FLD_OBJ("waits", struct eng_service, wait, FLD_IN, &eng_waiting_type), \
    FLD_OBJ("operation", struct eng_service, operation, 0, &eng_operation_type), \
    FLD_OBJ("roll", struct eng_service, roll, 0, &eng_roll_type), \
    FLD_I64("n_surplus", struct eng_service, n_surplus, FLD_ZERO), \
    FLD_I64("n_unknown_ended", struct eng_service, n_unknown_ended, FLD_ZERO), \
    FLD_STRS("replacing", struct eng_service, replacing, 0), FLD_STRS("restarting", struct eng_service, restarting, 0), \
    FLD_LIST("migrations", struct eng_service, migrations, 0, &eng_migration_type), \
    /* Of format 1: they are written as documents of their own. */ \
    FLD_STRS("stale", struct eng_service, stale, FLD_IN), \
    FLD_STRS("ended", struct eng_service, ended, FLD_IN), \
    FLD_LIST("components", struct eng_service, components, 0, &eng_component_type)
// clang-format on

static const struct fld wanted_flds[] = {WANTED_FLDS, REQUEST_FLDS, ORDER_FLDS};
const struct fld_type eng_wanted_type = TYPE("definition", eng_service, wanted_flds, service_defaults);

static const struct fld runs_flds[] = {WANTED_FLDS};
const struct fld_type eng_runs_type = TYPE("definition", eng_service, runs_flds, service_defaults);

static const struct fld request_flds[] = {FLD_JSON("request", struct eng_service, request, 0)};
const struct fld_type eng_request_type = TYPE("request", eng_service, request_flds, service_defaults);

static const struct fld order_flds[] = {ORDER_FLDS};
const struct fld_type eng_orders_type = TYPE("orders", eng_service, order_flds, service_defaults);

static const struct fld is_flds[] = {IS_FLDS};
const struct fld_type eng_is_type = TYPE("service", eng_service, is_flds, service_defaults);

static const struct fld service_flds[] = {WANTED_FLDS, REQUEST_FLDS, ORDER_FLDS, IS_FLDS};
const struct fld_type eng_service_type = TYPE("service", eng_service, service_flds, service_defaults);

void components_free(struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++)
        component_free(s->components[i]);
    free(s->components);
    s->components = NULL;
    s->n_components = 0;
}

void service_free(struct eng_service *s)
{
    if (!s)
        return;
    map_fini(&s->refused, free);
    map_fini(&s->surplus, NULL);
    free(s->destroyers);
    components_free(s);
    backlog_free(s);
    history_free(s);
    pasts_free(s);
    places_free(s);
    free(s->counted_queue);
    fld_free(&eng_service_type, s);
}

/** What the machines rely on, for an instance that comes from a document. */
static bool instance_is_whole(const struct eng_instance *inst)
{
    unsigned state = STATE_BIT(inst->state);
    bool holds = (state & (STATES_FINAL | STATE_BIT(INST_PENDING))) == 0;
    return inst->name && (!holds || inst->container_id) &&
           (!(state & (STATES_UP | STATE_BIT(INST_DRAINING))) || (inst->ip && inst->hostname));
}

int instance_link(struct eng_service *s, struct eng_instance *inst, struct err_info *why)
{
    int64_t index = -1;
    struct eng_component *c = inst->name ? component_of_instance(s, inst->name, &index) : NULL;
    if (!c || index != inst->index || index > ENG_INDEX_MAX || !instance_is_whole(inst) ||
        component_instance(c, index))
        return err_set(why, ERR_JSON, inst->name, "no instance of service %s, or not whole, or a second one",
                       s->name);
    component_insert(c, inst);
    return 0;
}

/** Take in the instances that a document of a service has. @return 0; or ERR_JSON: one is not whole, the rest stays. */
static int link_stored(struct eng_component *c)
{
    for (; c->n_stored > 0; c->n_stored--) {
        struct eng_instance *inst = c->stored[c->n_stored - 1];
        int64_t index = inst->index;
        if (!instance_is_whole(inst) || index < 0 || index > ENG_INDEX_MAX || component_instance(c, index))
            return ERR_JSON;
        component_insert(c, inst);
    }
    return 0;
}

int service_link(struct eng_service *s, struct err_info *why)
{
    if (s->failure && (!s->failure->instance || !s->failure->exit))
        return err_set(why, ERR_JSON, "failure", "the failure of service %s is not whole", s->name);
    if (!s->registry_class)
        s->registry_class = mem_str(policy_of(s->kind)->registry_class);
    if (s->rules && s->rules->parent && !s->rules->parent->name)
        return err_set(why, ERR_JSON, "parent", "the parent of service %s has no name", s->name);
    for (size_t i = 1; i < s->n_excluded; i++) {
        if (strcmp(s->excluded[i - 1], s->excluded[i]) >= 0)
            return err_set(why, ERR_JSON, "excluded", "the excluded nodes of service %s are not in order",
                           s->name);
    }
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        c->service = s;
        c->spec = c->name ? spec_component(s->spec, c->name) : NULL;
        if (!c->spec || !c->spec->resource)
            return err_set(why, ERR_JSON, c->name, "component %s is not in the definition of the service",
                           c->name ? c->name : "without a name");
        if (link_stored(c))
            return err_set(why, ERR_JSON, c->name, "an instance of component %s is not whole", c->name);
    }
    return 0;
}

char *service_key(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

static void add_key_element(struct buf *key, const char *element)
{
    for (; *element; element++) {
        bool plain = (*element >= 'a' && *element <= 'z') || (*element >= '0' && *element <= '9') ||
                     (*element == '.' && key->bytes[key->len - 1] != '/') || *element == '-';
        if (plain)
            buf_add_char(key, *element);
        else
            buf_addf(key, "%%%02X", (unsigned char)*element);
    }
}

static int check_key_element(const char *what, const char *element, size_t max, struct err_info *why)
{
    buf_auto struct buf key = BUF_EMPTY;
    buf_add_char(&key, '/');
    add_key_element(&key, element);
    if (key.len - 1 <= max)
        return 0;
    return err_set(
        why, ERR_PATH, NULL,
        "The %s has %zu bytes as it is stored (a-z, 0-9, '.' and '-' count one, others three), at most "
        "%zu are allowed",
        what, key.len - 1, max);
}

int engine_check_key(const char *user, const char *name, struct err_info *why)
{
    int err = check_key_element("name of the user", user, KEY_ELEMENT_MAX, why);
    return err ? err : check_key_element("name of the service", name, KEY_ELEMENT_MAX, why);
}

int engine_check_component_key(const char *component, struct err_info *why)
{
    return check_key_element("name of the component", component, KEY_ELEMENT_MAX - INSTANCE_SUFFIX_MAX, why);
}

static void add_service(struct buf *key, const struct eng_service *s)
{
    buf_addf(key, "%s/", policy_of(s->kind)->folder);
    add_key_element(key, s->user);
    buf_add_char(key, '/');
    add_key_element(key, s->name);
}

char *service_document_key(const struct eng_service *s)
{
    struct buf key = BUF_EMPTY;
    add_service(&key, s);
    return buf_take(&key);
}

char *definition_document_key(const struct eng_service *s)
{
    struct buf key = BUF_EMPTY;
    buf_add_str(&key, DEFINITIONS "/");
    add_service(&key, s);
    return buf_take(&key);
}

char *runs_document_key(const struct eng_service *s)
{
    mem_auto char *service = service_document_key(s);
    return mem_fmt("%s/" RUNS, service);
}

char *gone_document_key(const struct eng_service *s, const char *id)
{
    struct buf key = BUF_EMPTY;
    mem_auto char *service = service_document_key(s);
    buf_addf(&key, "%s/gone%s", service, id ? "/" : "");
    add_key_element(&key, id ? id : "");
    return buf_take(&key);
}

char *history_document_key(const struct eng_service *s)
{
    mem_auto char *service = service_document_key(s);
    return mem_fmt("%s/history", service);
}

char *place_document_key(const struct eng_service *s, const char *host)
{
    struct buf key = BUF_EMPTY;
    mem_auto char *service = service_document_key(s);
    buf_addf(&key, "%s/nodes%s", service, host ? "/" : "");
    add_key_element(&key, host ? host : "");
    return buf_take(&key);
}

char *instance_document_key(const struct eng_service *s, const char *instance)
{
    struct buf key = BUF_EMPTY;
    mem_auto char *service = service_document_key(s);
    buf_addf(&key, "%s/", service);
    add_key_element(&key, instance);
    return buf_take(&key);
}
