#include "slider/definition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "slider/conf.h"
#include "spec/label.h"

#define CLIENT        "CLIENT" /* category of components that only users have */
#define ENV_PREFIX    "env."
#define SITE_PREFIX   "site."
#define RECORD_PREFIX "service.record.attribute."
#define SITE_GLOBAL   "global"
#define CONF_BEGIN    "{$conf:@//site/"
#define VERSION_DEF   "1"

/* ---- packages ---- */

static const json_t *packaged(const struct slider_documents *docs, const struct slider_component *c)
{
    return json_object_get(json_object_get(docs->package, "components"), slider_component_options(c));
}

/** [borrowed]; NULL: it has none. */
static const char *command_of(const struct slider_documents *docs, const struct slider_component *c)
{
    const char *exec = json_string_value(json_object_get(packaged(docs, c), "exec"));
    return exec ? exec : slider_conf_option(docs->app_conf, slider_component_options(c), SLIDER_COMMAND);
}

/** A bound of the package; absent or no number: def. */
static int64_t bound(const json_t *component, const char *which, int64_t def)
{
    const json_t *value = json_object_get(component, which);
    int64_t n;
    if (json_is_integer(value))
        return json_integer_value(value);
    return json_is_string(value) && slider_decode(json_string_value(value), &n) == 0 ? n : def;
}

/** Instances of all members of a group, or of a component of its own. */
static int64_t wanted_of(const struct slider_model *model, const struct slider_component *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < model->n; i++) {
        if (strcmp(slider_component_options(&model->items[i]), slider_component_options(c)) == 0)
            n += model->items[i].n_wanted;
    }
    return n;
}

static int check_bounds(const struct slider_documents *docs, const struct slider_model *model,
                        const struct slider_component *c, struct err_info *why)
{
    const json_t *component = packaged(docs, c);
    const char *name = slider_component_options(c);
    const char *category = json_string_value(json_object_get(component, "category"));
    int64_t n = wanted_of(model, c), min = bound(component, "min", 0),
            max = bound(component, "max", INT64_MAX);
    char place[sizeof why->where];
    snprintf(place, sizeof place, "/components/%.100s/yarn.component.instances", name);
    if (category && strcmp(category, CLIENT) == 0 && n > 0)
        return err_set(why, ERR_INVALID, place,
                       "must be 0: %.100s is a client in its package, it is %" PRId64, name, n);
    if (n < min)
        return err_set(why, ERR_INVALID, place, "must be %" PRId64 " or more in its package, it is %" PRId64,
                       min, n);
    if (n > max)
        return err_set(why, ERR_INVALID, place, "must be %" PRId64 " or less in its package, it is %" PRId64,
                       max, n);
    return 0;
}

int slider_definition_check(const struct slider_documents *docs, const struct slider_model *model,
                            struct err_info *why)
{
    bool has_package = json_object_size(json_object_get(docs->package, "components")) > 0;
    for (size_t i = 0; i < model->n; i++) {
        const struct slider_component *c = &model->items[i];
        const char *name = slider_component_options(c);
        if (packaged(docs, c)) {
            int rc = check_bounds(docs, model, c, why);
            if (rc)
                return rc;
        }
        char place[sizeof why->where];
        snprintf(place, sizeof place, "/components/%.100s", name);
        bool is_stranger = has_package && c->n_wanted > 0 && !packaged(docs, c);
        if (is_stranger)
            return err_set(why, ERR_INVALID, place, "component %.100s is none of the application's package",
                           name);
        if (c->n_wanted == 0 || command_of(docs, c))
            continue;
        return err_set(
            why, ERR_INVALID, place,
            "nothing says what component %.100s runs: neither its package nor the option " SLIDER_COMMAND
            " of the application configuration",
            name);
    }
    return 0;
}

/* ---- texts ---- */

/** Value of "FILE/NAME" of a placeholder. [borrowed]; NULL: there is none. */
static const char *site_value(const json_t *app_conf, const char *component, const char *path, size_t len)
{
    const char *slash = memchr(path, '/', len);
    if (!slash)
        return NULL;
    mem_auto char *option = mem_fmt(SITE_PREFIX "%.*s.%.*s", (int)(slash - path), path,
                                    (int)(len - (size_t)(slash - path) - 1), slash + 1);
    return slider_conf_option(app_conf, component, option);
}

char *slider_expand(const char *text, const json_t *app_conf, const char *component)
{
    buf_auto struct buf out = BUF_EMPTY;
    while (*text) {
        const char *begin = strstr(text, CONF_BEGIN);
        const char *end = begin ? strchr(begin, '}') : NULL;
        if (!end)
            break;
        const char *path = begin + strlen(CONF_BEGIN);
        const char *value = site_value(app_conf, component, path, (size_t)(end - path));
        buf_add(&out, text, (size_t)((value ? begin : end + 1) - text));
        if (value)
            buf_add_str(&out, value);
        text = end + 1;
    }
    buf_add_str(&out, text);
    return buf_take(&out);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

/** Options with a prefix of the application configuration, expanded, under what follows the prefix. New reference. */
static json_t *options_below(const struct slider_documents *docs, const char *component, const char *prefix)
{
    json_t *out = json_object();
    const json_t *own =
        slider_conf_component(docs->app_conf, component); /* NULL: it is not named, and has what all have */
    const json_t *options = own ? own : json_object_get(docs->app_conf, "global");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)options, key, value)
    {
        if (!str_starts(key, prefix) || !key[strlen(prefix)])
            continue;
        mem_auto char *text = slider_expand(json_string_value(value), docs->app_conf, component);
        set_text(out, key + strlen(prefix), text);
    }
    return out;
}

/** A configuration file: as the package has it, else Hadoop's XML. New reference. */
static json_t *config_file(const struct slider_documents *docs, const char *dictionary, json_t *properties)
{
    const json_t *packaged_file = json_object_get(json_object_get(docs->package, "configFiles"), dictionary);
    const char *type = json_string_value(json_object_get(packaged_file, "type")),
               *name = json_string_value(json_object_get(packaged_file, "fileName"));
    mem_auto char *dest = name ? mem_str(name) : mem_fmt("%s.xml", dictionary);
    return json_pack("{s:s, s:s, s:O}", "type", type ? type : "XML", "dest_file", dest, "properties",
                     properties);
}

/** Files of the package that containers get: ConfigFiles of the definition. */
static void add_package_files(const struct slider_documents *docs, json_t *files)
{
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(docs->package, "files"), i, file)
    {
        json_array_append_new(files, json_deep_copy(file));
    }
}

/** Configuration files: site.FILE.NAME is NAME in FILE, by file; then the files of the package. New reference. */
static json_t *site_files(const struct slider_documents *docs, const char *component)
{
    json_auto json_t *options = options_below(docs, component, SITE_PREFIX);
    json_auto json_t *by_file = json_object();
    const char *key;
    json_t *value;
    json_object_foreach(options, key, value)
    {
        const char *dot = strchr(key, '.');
        if (!dot || dot == key || !dot[1])
            continue;
        mem_auto char *file = mem_strn(key, (size_t)(dot - key));
        if (strcmp(file, SITE_GLOBAL) == 0)
            continue;
        if (!json_object_get(by_file, file))
            json_object_set_new(by_file, file, json_object());
        json_object_set(json_object_get(by_file, file), dot + 1, value);
    }
    json_t *files = json_array();
    json_object_foreach(by_file, key, value)
    {
        json_array_append_new(files, config_file(docs, key, value));
    }
    add_package_files(docs, files);
    return files;
}

/* ---- sizes, thresholds, placement ---- */

/** An amount of the cluster: "max", or what the limit leaves of it unless it is to be asked for as it is. */
static int64_t size_in(int64_t amount, int64_t limit, bool is_normalized)
{
    if (amount == SLIDER_MOST)
        return limit ? limit : 1;
    return is_normalized && limit && amount > limit ? limit : amount;
}

static json_t *resource_of(const struct slider_documents *docs, const struct slider_component *c,
                           const struct slider_limits *limits)
{
    bool is_normalized = slider_conf_bool(docs->resources, slider_component_options(c),
                                          "yarn.resource.normalization.enabled", true);
    mem_auto char *memory = mem_fmt("%" PRId64, size_in(c->memory_mb, limits->memory_mb, is_normalized));
    return json_pack("{s:I, s:s}", "cpus", (json_int_t)size_in(c->vcores, limits->vcores, is_normalized),
                     "memory", memory);
}

/** Options of the resources document and the properties they become. */
static const struct {
    const char *option, *property;
} thresholds[] = {
    {"yarn.container.failure.threshold", "yarn.service.container-failure-per-component.threshold"},
    {"yarn.node.failure.threshold", "yarn.service.node-blacklist.threshold"},
    {"yarn.container.health.threshold.percent", "yarn.service.container-health-threshold.percent"},
    {"yarn.container.health.threshold.poll.frequency.secs",
     "yarn.service.container-health-threshold.poll-frequency-secs"},
    {"yarn.container.health.threshold.window.secs", "yarn.service.container-health-threshold.window-secs"},
    {"yarn.container.health.threshold.init.delay.secs",
     "yarn.service.container-health-threshold.init-delay-secs"},
    {"yarn.log.include.patterns", "yarn.service.log.include-pattern"},
    {"yarn.log.exclude.patterns", "yarn.service.log.exclude-pattern"},
};

#define WINDOW_OPTION   "yarn.container.failure.window"
#define WINDOW_PROPERTY "yarn.service.failure-count-reset.window"
#define WINDOW_DEF_S    21600

/** A number of theirs in our decimal form; a text that is none stays. */
static json_t *decimal(const char *text)
{
    int64_t n;
    if (slider_decode(text, &n))
        return json_string(text);
    mem_auto char *plain = mem_fmt("%" PRId64, n);
    return json_string(plain);
}

static json_t *properties_of(const struct slider_documents *docs, const char *component)
{
    json_t *properties = json_object();
    for (size_t i = 0; i < ARRAY_LEN(thresholds); i++) {
        const char *text = slider_conf_option(docs->resources, component, thresholds[i].option);
        if (text)
            json_object_set_new(properties, thresholds[i].property, decimal(text));
    }
    int64_t window_s = WINDOW_DEF_S;
    struct err_info why;
    if (slider_conf_span(docs->resources, NULL, WINDOW_OPTION, WINDOW_DEF_S, &window_s, &why) == 0) {
        mem_auto char *text = mem_fmt("%" PRId64, window_s);
        set_text(properties, WINDOW_PROPERTY, text);
    }
    return properties;
}

/** Label and anti-affinity; NULL: it may be anywhere. */
static json_t *placement_of(const struct slider_documents *docs, const struct slider_component *c)
{
    const char *label =
        slider_conf_option(docs->resources, slider_component_options(c), "yarn.label.expression");
    bool is_apart = c->placement & SLIDER_PLACE_ANTI_AFFINE;
    mem_auto char *tag = spec_label(c->name, SPEC_LABEL_COMPONENT);
    json_t *policy = json_object();
    if (label && *label)
        set_text(policy, "label", label);
    if (is_apart)
        json_object_set_new(
            policy, "constraints",
            json_pack("[{s:s, s:s, s:[s]}]", "type", "ANTI_AFFINITY", "scope", "NODE", "target_tags", tag));
    if (json_object_size(policy))
        return policy;
    json_decref(policy);
    return NULL;
}

/* ---- the definition ---- */

static json_t *component_of(const struct slider_documents *docs, const struct slider_component *c,
                            const struct slider_limits *limits)
{
    const char *options = slider_component_options(c);
    const char *command = command_of(docs, c);
    mem_auto char *label = spec_label(c->name, SPEC_LABEL_COMPONENT);
    mem_auto char *expanded = command ? slider_expand(command, docs->app_conf, options) : NULL;
    json_t *doc = json_pack("{s:s, s:I, s:o, s:{s:o, s:o, s:o}}", "name", label, "number_of_containers",
                            (json_int_t)c->n_wanted, "resource", resource_of(docs, c, limits),
                            "configuration", "properties", properties_of(docs, options), "env",
                            options_below(docs, options, ENV_PREFIX), "files", site_files(docs, options));
    set_text(doc, "launch_command", expanded ? expanded : "true");
    json_t *placement = placement_of(docs, c);
    if (placement)
        json_object_set_new(doc, "placement_policy", placement);
    return doc;
}

json_t *slider_definition_make(const struct slider_documents *docs, const struct slider_model *model,
                               const struct slider_limits *limits)
{
    const char *version = slider_conf_option(docs->app_conf, NULL, "site.global.app_version");
    const char *queue = slider_conf_option(docs->internal, NULL, "internal.queue");
    mem_auto char *name = spec_label(docs->name, SPEC_LABEL_SERVICE);
    json_t *doc =
        json_pack("{s:s, s:s}", "name", name, "version", version && *version ? version : VERSION_DEF);
    json_t *components = json_array();
    set_text(doc, "queue", queue);
    for (size_t i = 0; i < model->n; i++)
        json_array_append_new(components, component_of(docs, &model->items[i], limits));
    json_object_set_new(doc, "components", components);
    return doc;
}

/** Attributes of records of a component. New reference; NULL: it has none */
static json_t *attributes_of(const struct slider_documents *docs, const char *component)
{
    json_t *attributes = options_below(docs, component, RECORD_PREFIX);
    if (json_object_size(attributes))
        return attributes;
    json_decref(attributes);
    return NULL;
}

/** What a process must live to have started. @return 0; ERR_INVALID: no number of seconds from 0 on */
static int short_life_of(const struct slider_documents *docs, int64_t *ms, struct err_info *why)
{
    int64_t s = *ms / 1000;
    int rc = slider_conf_int(docs->resources, NULL, SLIDER_SHORT_LIFE, s, &s, why);
    if (rc == 0 && (s < 0 || s > INT32_MAX))
        rc = err_set(why, ERR_INVALID, "/global/" SLIDER_SHORT_LIFE, "must be 0 to %d, it is %" PRId64,
                     INT32_MAX, s);
    if (rc == 0)
        *ms = s * 1000;
    return rc;
}

int slider_definition_rules(const struct slider_documents *docs, const struct slider_model *model,
                            struct eng_rules **out, struct err_info *why)
{
    struct eng_rules *rules = eng_rules_new();
    int rc = 0;
    rules->title = mem_str(docs->name);
    rules->attributes = attributes_of(docs, SLIDER_MASTER);
    rc = short_life_of(docs, &rules->short_life_ms, why);
    for (size_t i = 0; rc == 0 && i < model->n; i++) {
        const struct slider_component *c = &model->items[i];
        mem_auto char *label = spec_label(c->name, SPEC_LABEL_COMPONENT);
        struct eng_component_rules *r = eng_rules_add(rules, label);
        int64_t escalate_s = 0;
        rc = slider_conf_int(docs->resources, slider_component_options(c), "yarn.placement.escalate.seconds",
                             r->escalate_ms / 1000, &escalate_s, why);
        r->title = mem_str(c->name);
        r->attributes = attributes_of(docs, slider_component_options(c));
        r->priority = c->priority;
        r->is_strict = c->placement & SLIDER_PLACE_STRICT;
        r->forgets_nodes = c->placement & SLIDER_PLACE_ANYWHERE;
        r->one_by_one = c->placement & SLIDER_PLACE_ANTI_AFFINE;
        r->escalate_ms = escalate_s > 0 && escalate_s < INT32_MAX ? escalate_s * 1000 : r->escalate_ms;
    }
    if (rc) {
        eng_rules_free(rules);
        rules = NULL;
    }
    *out = rules;
    return rc;
}
