/** Stored documents: see documents.h. */
#include "slider/documents.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/json.h"
#include "slider/conf.h"

#define INSTANCES   "yarn.component.instances"
#define APP_VERSION "site.global.app_version"

void slider_trees_fini(struct slider_trees *t)
{
    json_decref(t->resources);
    json_decref(t->app_conf);
    json_decref(t->internal);
    json_decref(t->package);
    json_decref(t->next_app_conf);
    *t = (struct slider_trees){0};
}

/* ---- services of other APIs ---- */

static void set_number(json_t *options, const char *key, int64_t n)
{
    mem_auto char *text = mem_fmt("%" PRId64, n);
    json_object_set_new(options, key, json_string(text));
}

static const char *title_of(const struct eng_service *s, const char *component)
{
    const char *title = eng_rules_of(eng_service_wanted_rules(s), component)->title;
    return title ? title : component;
}

/** A resources document that says what a definition wants. [new] */
static json_t *resources_of(const struct eng_service *s)
{
    const struct spec_service *spec = eng_service_wanted(s);
    json_t *tree = slider_conf_new(), *components = json_object_get(tree, "components");
    for (size_t i = 0; i < spec->n_components; i++) {
        const struct spec_component *c = spec->components[i];
        json_t *options = json_object();
        set_number(options, INSTANCES, c->number_of_containers);
        set_number(options, "yarn.role.priority", (int64_t)i + 1);
        set_number(options, "yarn.memory", spec_memory_mb(c));
        set_number(options, "yarn.vcores", c->resource ? c->resource->cpus : 1);
        json_object_set_new(components, title_of(s, c->name), options);
    }
    return tree;
}

/* ---- what is stored ---- */

static json_t *stored_tree(const json_t *request, const char *member)
{
    json_t *tree = json_object_get(request, member);
    return tree ? json_incref(tree) : slider_conf_new();
}

bool slider_has_documents(const struct eng_service *s)
{
    return json_object_get(s->request, "resources") != NULL;
}

void slider_trees_of(const struct eng_service *s, struct slider_trees *out)
{
    const json_t *r = slider_has_documents(s) ? s->request : NULL;
    *out = (struct slider_trees){.app_conf = stored_tree(r, "appConf"),
                                 .internal = stored_tree(r, "internal"),
                                 .package = json_incref(json_object_get(r, "package")),
                                 .next_app_conf = json_incref(json_object_get(r, "nextAppConf"))};
    out->resources = r ? stored_tree(r, "resources") : resources_of(s);
}

static int read_tree(const json_t *body, const char *member, json_t **out, struct err_info *why)
{
    const json_t *value = json_object_get(body, member);
    buf_auto struct buf text = BUF_EMPTY;
    if (!value) {
        *out = slider_conf_new();
        return 0;
    }
    json_write(value, &text);
    int rc = slider_conf_read(text.bytes, text.len, out, why);
    if (rc) {
        mem_auto char *place = mem_fmt("/%s%s", member, why->where[0] == '/' ? why->where : "");
        struct err_info inner = *why;
        err_set(why, rc, place, "%s", inner.text);
    }
    return rc;
}

int slider_trees_read(const json_t *body, struct slider_trees *out, struct err_info *why)
{
    json_t *package = json_object_get(body, "package");
    *out = (struct slider_trees){0};
    if (!json_is_object(body))
        return err_set(why, ERR_JSON, NULL, "must be an object");
    if (!json_object_get(body, "resources"))
        return err_set(why, ERR_INVALID, "/resources", "must be there");
    if (package && !json_is_object(package) && !json_is_null(package))
        return err_set(why, ERR_JSON, "/package", "must be an object");
    int rc = read_tree(body, "resources", &out->resources, why);
    rc = rc ? rc : read_tree(body, "appConf", &out->app_conf, why);
    rc = rc ? rc : read_tree(body, "internal", &out->internal, why);
    if (rc)
        slider_trees_fini(out);
    else if (json_is_object(package))
        out->package = json_incref(package);
    return rc;
}

json_t *slider_resolved_resources(const struct slider_trees *t)
{
    json_t *resolved = slider_conf_resolve(t->resources);
    json_t *master = json_object_get(json_object_get(resolved, "components"), SLIDER_MASTER);
    if (master)
        json_object_set_new(master, INSTANCES, json_string("1"));
    return resolved;
}

json_t *slider_resolved_app_conf(const struct slider_trees *t)
{
    json_auto json_t *with_all = json_deep_copy(t->app_conf);
    slider_conf_add_components(with_all, t->resources);
    return slider_conf_resolve(with_all);
}

void slider_known(const struct eng_service *s, struct slider_model *out)
{
    const json_t *list = json_object_get(s->request, "model"), *item;
    size_t i;
    *out = (struct slider_model){0};
    if (!json_is_array(list))
        return;
    out->items = mem_array(json_array_size(list) + 1, sizeof *out->items);
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (!name)
            continue;
        out->items[out->n++] =
            (struct slider_component){.name = mem_str(name),
                                      .group = mem_str(json_string_value(json_object_get(item, "group"))),
                                      .index = json_integer_value(json_object_get(item, "index")),
                                      .priority = json_integer_value(json_object_get(item, "priority")),
                                      .memory_mb = json_integer_value(json_object_get(item, "memory")),
                                      .vcores = json_integer_value(json_object_get(item, "vcores")),
                                      .placement = json_integer_value(json_object_get(item, "placement"))};
    }
}

static json_t *stored_model(const struct slider_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < model->n; i++) {
        const struct slider_component *c = &model->items[i];
        json_t *item =
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "name", c->name, "index", (json_int_t)c->index,
                      "priority", (json_int_t)c->priority, "memory", (json_int_t)c->memory_mb, "vcores",
                      (json_int_t)c->vcores, "placement", (json_int_t)c->placement);
        if (c->group)
            json_object_set_new(item, "group", json_string(c->group));
        json_array_append_new(list, item);
    }
    return list;
}

json_t *slider_stored(const struct slider_trees *t, const struct slider_model *model)
{
    json_t *out = json_pack("{s:O, s:O, s:O, s:o}", "resources", t->resources, "appConf", t->app_conf,
                            "internal", t->internal, "model", stored_model(model));
    if (t->package)
        json_object_set(out, "package", t->package);
    if (t->next_app_conf)
        json_object_set(out, "nextAppConf", t->next_app_conf);
    return out;
}

json_t *slider_aggregate(const struct eng_service *s, const json_t *resources, const json_t *internal,
                         const json_t *app_conf)
{
    const char *version = slider_conf_option(app_conf, NULL, APP_VERSION);
    return json_pack("{s:s, s:O, s:O, s:O, s:b}", "name", eng_service_title(s), "resources", resources,
                     "internal", internal, "appConf", app_conf, "versioned", version && *version);
}
