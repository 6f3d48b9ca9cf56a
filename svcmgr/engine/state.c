/**
 * The stored form of services: field tables over the engine's own structs. Instances have documents of their own, so that
 * what a step writes does not grow with their number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/step.h"

#define WORD_ROW(token, word) word,
static const char *const service_words[] = {ENG_SERVICE_STATES(WORD_ROW) NULL};
static const char *const instance_words[] = {ENG_INSTANCE_STATES(WORD_ROW) NULL};
static const char *const component_words[] = {ENG_COMPONENT_STATES(WORD_ROW) NULL};
static const char *const exit_words[] = {ENG_EXIT_KINDS(WORD_ROW) NULL};
static const char *const kind_words[] = {"service", "slider", "launcher", NULL};

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
    FLD_ENUM("kind", struct eng_exit, kind, 0, exit_words),
    FLD_I64("value", struct eng_exit, value, FLD_ZERO),
    FLD_STR("text", struct eng_exit, text, 0),
    FLD_I64("ended_ms", struct eng_exit, ended_ms, FLD_ZERO),
    FLD_STR("last_stderr", struct eng_exit, last_stderr, 0),
};
const struct fld_type eng_exit_type = TYPE("exit", eng_exit, exit_flds, exit_defaults);

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
    FLD_I64("request_id", struct eng_instance, request_id, FLD_ZERO),
    FLD_I64("attempt", struct eng_instance, attempt, FLD_ZERO),
    FLD_I64("n_containers", struct eng_instance, n_containers, FLD_ZERO),
    FLD_STR("version", struct eng_instance, version, 0),
    FLD_STR("ip", struct eng_instance, ip, 0),
    FLD_STR("hostname", struct eng_instance, hostname, 0),
    FLD_STR("bare_host", struct eng_instance, bare_host, 0),
    FLD_I64("allocated_ms", struct eng_instance, allocated_ms, FLD_ZERO),
    FLD_I64("running_ms", struct eng_instance, running_ms, FLD_ZERO),
    FLD_I64("due_ms", struct eng_instance, due_ms, FLD_ZERO),
    FLD_I64("backoff_ms", struct eng_instance, backoff_ms, FLD_ZERO),
    FLD_I64("n_retries", struct eng_instance, n_retries, FLD_ZERO),
    FLD_I64("n_restarts", struct eng_instance, n_restarts, FLD_ZERO),
    FLD_JSON("retry_times", struct eng_instance, retry_times, 0),
    FLD_OBJ("last_exit", struct eng_instance, last_exit, 0, &eng_exit_type),
    FLD_STR("wait", struct eng_instance, wait, 0),
};
const struct fld_type eng_instance_type = TYPE("instance", eng_instance, instance_flds, instance_defaults);

static void component_defaults(void *object)
{
    *(struct eng_component *)object = (struct eng_component){0};
}

static const struct fld component_flds[] = {
    FLD_STR("name", struct eng_component, name, 0),
    FLD_ENUM("state", struct eng_component, state, 0, component_words),
    FLD_I64("n_failures", struct eng_component, n_failures, FLD_ZERO),
    FLD_I64("window_end_ms", struct eng_component, window_end_ms, FLD_ZERO),
    FLD_I64("health_from_ms", struct eng_component, health_from_ms, FLD_ZERO),
    /* Read where a document holds them still; they are written as documents of their own. */
    FLD_LIST("instances", struct eng_component, instances, FLD_IN, &eng_instance_type),
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
    FLD_I64("n_restarts", struct eng_failure, n_restarts, FLD_ZERO),
    FLD_OBJ("exit", struct eng_failure, exit, 0, &eng_exit_type),
};
const struct fld_type eng_failure_type = TYPE("failure", eng_failure, failure_flds, failure_defaults);

static void service_defaults(void *object)
{
    *(struct eng_service *)object = (struct eng_service){0};
}

static const struct fld service_flds[] = {
    FLD_ENUM("kind", struct eng_service, kind, 0, kind_words),
    FLD_STR("user", struct eng_service, user, 0),
    FLD_STR("name", struct eng_service, name, 0),
    FLD_ENUM("state", struct eng_service, state, 0, service_words),
    FLD_OBJ("spec", struct eng_service, spec, 0, &spec_service_type),
    FLD_I64("incarnation", struct eng_service, incarnation, FLD_ZERO),
    FLD_STR("app_id", struct eng_service, app_id, 0),
    FLD_I64("app_seq", struct eng_service, app_seq, FLD_ZERO),
    FLD_I64("next_container", struct eng_service, next_container, FLD_ZERO),
    FLD_I64("launch_ms", struct eng_service, launch_ms, FLD_ZERO),
    FLD_I64("started_ms", struct eng_service, started_ms, FLD_ZERO),
    FLD_I64("lifetime_end_ms", struct eng_service, lifetime_end_ms, FLD_ZERO),
    FLD_ENUM("end_state", struct eng_service, end_state, 0, service_words),
    FLD_BOOL("destroying", struct eng_service, destroying, 0),
    FLD_BOOL("purge_wanted", struct eng_service, purge_wanted, 0),
    FLD_STR("diagnostics", struct eng_service, diagnostics, 0),
    FLD_OBJ("failure", struct eng_service, failure, 0, &eng_failure_type),
    FLD_STR("wait", struct eng_service, wait, 0),
    FLD_STRS("stale", struct eng_service, stale, 0),
    FLD_STRS("ended", struct eng_service, ended, 0),
    FLD_LIST("components", struct eng_service, components, 0, &eng_component_type),
};
const struct fld_type eng_service_type = TYPE("service", eng_service, service_flds, service_defaults);

void service_free(struct eng_service *s)
{
    if (!s)
        return;
    map_fini(&s->refused, free);
    free(s->destroyers);
    fld_free(&eng_service_type, s);
}

/** What the machines rely on, for an instance that comes from a document. */
static bool instance_is_whole(const struct eng_instance *inst)
{
    unsigned state = STATE_BIT(inst->state);
    bool holds = (state & (STATES_FINAL | STATE_BIT(INST_PENDING))) == 0;
    return inst->name && (!holds || inst->container_id) &&
           (!(state & STATES_UP) || (inst->ip && inst->hostname));
}

static bool is_ordered(const struct eng_component *c, size_t i)
{
    return i == 0 || c->instances[i - 1]->index < c->instances[i]->index;
}

int instance_link(struct eng_service *s, struct eng_instance *inst, struct err_info *why)
{
    int64_t index = -1;
    struct eng_component *c = inst->name ? component_of_instance(s, inst->name, &index) : NULL;
    if (!c || index != inst->index || !instance_is_whole(inst) || component_instance(c, index))
        return err_set(why, ERR_JSON, inst->name, "no instance of service %s, or not whole, or a second one",
                       s->name);
    component_insert(c, inst);
    return 0;
}

int service_link(struct eng_service *s, struct err_info *why)
{
    if (s->failure && (!s->failure->instance || !s->failure->exit))
        return err_set(why, ERR_JSON, "failure", "the failure of service %s is not whole", s->name);
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        c->service = s;
        c->spec = c->name ? spec_component(s->spec, c->name) : NULL;
        if (!c->spec || !c->spec->resource)
            return err_set(why, ERR_JSON, c->name, "component %s is not in the definition of the service",
                           c->name ? c->name : "without a name");
        for (size_t k = 0; k < c->n_instances; k++) {
            if (!instance_is_whole(c->instances[k]) || !is_ordered(c, k))
                return err_set(why, ERR_JSON, c->name, "instance %zu of component %s is not whole", k,
                               c->name);
            c->instances[k]->component = c;
        }
    }
    return 0;
}

char *service_key(const char *user, const char *name)
{
    return mem_fmt("%s/%s", user, name);
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

char *service_document_key(const struct eng_service *s)
{
    struct buf key = BUF_EMPTY;
    buf_add_str(&key, "services/");
    add_key_element(&key, s->user);
    buf_add_char(&key, '/');
    add_key_element(&key, s->name);
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
