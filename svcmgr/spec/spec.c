/** The application model's field tables, and reading and writing through them: see spec.h. */
#include "spec/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "spec/label.h"
#include "spec/unknown.h"

/* A number of a property; thousand times it is still a number of ms. */

#define TYPE(what_, struct_, flds_, defaults_)                                                               \
    {                                                                                                        \
        .what = what_, .size = sizeof(struct struct_), .flds = flds_, .n_flds = ARRAY_LEN(flds_),            \
        .defaults = defaults_                                                                                \
    }

static const char *const artifact_words[] = {"DOCKER", "TARBALL", "SERVICE", NULL};
static const char *const restart_words[] = {"ALWAYS", "ON_FAILURE", "NEVER", NULL};
static const char *const check_words[] = {"HTTP", "PORT", "DEFAULT", NULL};
static const char *const file_words[] = {"XML",        "PROPERTIES", "JSON",    "YAML", "TEMPLATE",
                                         "HADOOP_XML", "STATIC",     "ARCHIVE", "ENV",  NULL};
static const char *const state_words[] = {"ACCEPTED",
                                          "STARTED",
                                          "STABLE",
                                          "READY",
                                          "STOPPED",
                                          "FAILED",
                                          "FLEX",
                                          "FLEXING",
                                          "UPGRADING",
                                          "UPGRADING_AUTO_FINALIZE",
                                          "EXPRESS_UPGRADING",
                                          "SUCCEEDED",
                                          "CANCEL_UPGRADING",
                                          "NEEDS_UPGRADE",
                                          "INIT",
                                          NULL};

/* ---- Artifact ---- */
static void artifact_defaults(void *object)
{
    ((struct spec_artifact *)object)->type = ARTIFACT_DOCKER;
}

static const struct fld artifact_flds[] = {
    FLD_STR("id", struct spec_artifact, id, 0),
    FLD_ENUM("type", struct spec_artifact, type, 0, artifact_words),
    FLD_STR("uri", struct spec_artifact, uri, 0),
};
static const struct fld_type artifact_type =
    TYPE("Artifact", spec_artifact, artifact_flds, artifact_defaults);

/* ---- Resource ---- */
static void resource_defaults(void *object)
{
    ((struct spec_resource *)object)->cpus = 1;
}

static const struct fld information_flds[] = {FLD_KNOWN("value"), FLD_KNOWN("unit"), FLD_KNOWN("attributes"),
                                              FLD_KNOWN("tags")};
static const struct fld_type information_type = {
    .what = "ResourceInformation", .flds = information_flds, .n_flds = ARRAY_LEN(information_flds)};

static const struct fld resource_flds[] = {
    FLD_STR("profile", struct spec_resource, profile, 0),
    FLD_I64("cpus", struct spec_resource, cpus, FLD_NULLABLE),
    FLD_STR("memory", struct spec_resource, memory, 0),
    FLD_JSON_OF("additional", struct spec_resource, additional, FLD_EACH, &information_type),
    FLD_KNOWN("uri"), /* null, of every resource that Hadoop's own client sends */
};
const struct fld_type spec_resource_type = TYPE("Resource", spec_resource, resource_flds, resource_defaults);

/* ---- Configuration, ConfigFile ---- */
static void file_defaults(void *object)
{
    ((struct spec_file *)object)->properties = json_object();
}

static const struct fld file_flds[] = {
    FLD_ENUM("type", struct spec_file, type, 0, file_words),
    FLD_STR("dest_file", struct spec_file, dest_file, 0),
    FLD_STR("src_file", struct spec_file, src_file, 0),
    {.name = "properties",
     .alias = "props",
     .kind = FLD_KIND_MAP,
     .flags = FLD_ALWAYS,
     .offset = offsetof(struct spec_file, properties)},
};
static const struct fld_type file_type = TYPE("ConfigFile", spec_file, file_flds, file_defaults);

static void config_defaults(void *object)
{
    struct spec_config *c = object;
    c->properties = json_object();
    c->env = json_object();
}

static const struct fld config_flds[] = {
    FLD_MAP("properties", struct spec_config, properties, FLD_ALWAYS),
    FLD_MAP("env", struct spec_config, env, FLD_ALWAYS),
    FLD_LIST("files", struct spec_config, files, FLD_ALWAYS, &file_type),
};
static const struct fld_type config_type = TYPE("Configuration", spec_config, config_flds, config_defaults);

/* ---- ReadinessCheck ---- */
static void readiness_defaults(void *object)
{
    struct spec_readiness *r = object;
    r->type = CHECK_DEFAULT;
    r->properties = json_object();
}

static const struct fld readiness_flds[] = {
    FLD_ENUM("type", struct spec_readiness, type, 0, check_words),
    FLD_MAP("properties", struct spec_readiness, properties, FLD_ALWAYS),
    FLD_OBJ("artifact", struct spec_readiness, artifact, 0, &artifact_type),
};
static const struct fld_type readiness_type =
    TYPE("ReadinessCheck", spec_readiness, readiness_flds, readiness_defaults);

/* ---- PlacementPolicy: kept as it is, see placement.c ---- */
static const struct fld constraint_flds[] = {
    FLD_KNOWN("name"),
    FLD_KNOWN("type"),
    FLD_KNOWN("scope"),
    FLD_KNOWN("target_tags"),
    FLD_KNOWN("node_attributes"),
    FLD_KNOWN("node_partitions"),
    FLD_KNOWN("min_cardinality"),
    FLD_KNOWN("max_cardinality"),
};
static const struct fld_type constraint_type = {
    .what = "PlacementConstraint", .flds = constraint_flds, .n_flds = ARRAY_LEN(constraint_flds)};

static const struct fld placement_flds[] = {
    FLD_KNOWN("label"),
    FLD_KNOWN_OF("constraints", &constraint_type),
};
static const struct fld_type placement_type = {
    .what = "PlacementPolicy", .flds = placement_flds, .n_flds = ARRAY_LEN(placement_flds)};

/* ---- Component ---- */
static void port_defaults(void *object)
{
    struct spec_port *p = object;
    p->port = 0;
}

static const struct fld port_flds[] = {
    FLD_STR("name", struct spec_port, name, 0),
    FLD_I64("port", struct spec_port, port, 0),
};
static const struct fld_type port_type = TYPE("Port", spec_port, port_flds, port_defaults);

static void task_ports_defaults(void *object)
{
    *(struct spec_task_ports *)object = (struct spec_task_ports){NULL, 0, 1};
}

static const struct fld task_ports_flds[] = {
    FLD_STR("label", struct spec_task_ports, label, 0),
    FLD_I64("start", struct spec_task_ports, start, 0),
    FLD_I64("count", struct spec_task_ports, count, 0),
};
static const struct fld_type task_ports_type =
    TYPE("TaskPorts", spec_task_ports, task_ports_flds, task_ports_defaults);

static void task_defaults(void *object)
{
    ((struct spec_task *)object)->gpu_mask = 0;
}

static const struct fld task_flds[] = {
    FLD_STRS("sources", struct spec_task, sources, FLD_ALWAYS),
    FLD_LIST("ports", struct spec_task, ports, FLD_ALWAYS, &task_ports_type),
    FLD_I64("gpu_mask", struct spec_task, gpu_mask, FLD_ZERO),
    FLD_BOOL("has_ip_list", struct spec_task, has_ip_list, 0),
    FLD_BOOL("same_ports", struct spec_task, same_ports, 0),
};
const struct fld_type spec_task_type = TYPE("Task", spec_task, task_flds, task_defaults);

static void component_defaults(void *object)
{
    struct spec_component *c = object;
    c->configuration = fld_new(&config_type);
    c->restart_policy = RESTART_ALWAYS;
}

static const struct fld component_flds[] = {
    FLD_STR("name", struct spec_component, name, 0),
    FLD_ENUM("state", struct spec_component, state, FLD_IN, state_words),
    FLD_STRS("dependencies", struct spec_component, dependencies, FLD_ALWAYS),
    FLD_OBJ("readiness_check", struct spec_component, readiness_check, 0, &readiness_type),
    FLD_OBJ("artifact", struct spec_component, artifact, 0, &artifact_type),
    FLD_STR("launch_command", struct spec_component, launch_command, 0),
    FLD_OBJ("resource", struct spec_component, resource, 0, &spec_resource_type),
    FLD_I64("number_of_containers", struct spec_component, number_of_containers, 0),
    FLD_STRS("decommissioned_instances", struct spec_component, decommissioned_instances, FLD_ALWAYS),
    FLD_BOOL("run_privileged_container", struct spec_component, run_privileged_container, FLD_ALWAYS),
    FLD_BOOL("unique_component_support", struct spec_component, unique_component_support, 0),
    FLD_JSON_OF("placement_policy", struct spec_component, placement_policy, 0, &placement_type),
    FLD_OBJ("configuration", struct spec_component, configuration, FLD_ALWAYS, &config_type),
    FLD_STRS("quicklinks", struct spec_component, quicklinks, FLD_ALWAYS),
    FLD_LIST("ports", struct spec_component, ports, 0, &port_type),
    FLD_ENUM("restart_policy", struct spec_component, restart_policy, FLD_ALWAYS, restart_words),
    FLD_OBJ("task", struct spec_component, task, FLD_STORED, &spec_task_type),
    FLD_KNOWN("containers"), /* of an answer */
};
const struct fld_type spec_component_type =
    TYPE("Component", spec_component, component_flds, component_defaults);

/* ---- Container: of a request that upgrades it ---- */
static const struct fld container_flds[] = {
    FLD_STR("component_instance_name", struct spec_container, component_instance_name, 0),
    FLD_ENUM("state", struct spec_container, state, FLD_IN, state_words),
    /* What an answer has, and a client may send back. */
    FLD_KNOWN("id"),
    FLD_KNOWN("launch_time"),
    FLD_KNOWN("ip"),
    FLD_KNOWN("hostname"),
    FLD_KNOWN("bare_host"),
    FLD_KNOWN("component_name"),
    FLD_KNOWN("resource"),
    FLD_KNOWN("artifact"),
    FLD_KNOWN("privileged_container"),
    FLD_KNOWN("exposed_ports"),
    FLD_KNOWN("localization_statuses"),
    FLD_KNOWN("restarts"),
    FLD_KNOWN("last_exit"),
    FLD_KNOWN("registry"),
};
const struct fld_type spec_container_type = TYPE("Container", spec_container, container_flds, NULL);

/* ---- Service ---- */
static const struct fld kerberos_flds[] = {
    FLD_STR("principal_name", struct spec_kerberos, principal_name, 0),
    FLD_STR("keytab", struct spec_kerberos, keytab, 0),
};
static const struct fld_type kerberos_type = TYPE("KerberosPrincipal", spec_kerberos, kerberos_flds, NULL);

static void service_defaults(void *object)
{
    struct spec_service *s = object;
    s->configuration = fld_new(&config_type);
    s->quicklinks = json_object();
}

static const struct fld service_flds[] = {
    FLD_STR("name", struct spec_service, name, 0),
    FLD_STR("version", struct spec_service, version, 0),
    FLD_STR("description", struct spec_service, description, 0),
    FLD_OBJ("artifact", struct spec_service, artifact, 0, &artifact_type),
    FLD_OBJ("resource", struct spec_service, resource, 0, &spec_resource_type),
    FLD_I64("lifetime", struct spec_service, lifetime, 0),
    FLD_LIST("components", struct spec_service, components, FLD_ALWAYS, &spec_component_type),
    FLD_OBJ("configuration", struct spec_service, configuration, FLD_ALWAYS, &config_type),
    FLD_ENUM("state", struct spec_service, state, FLD_IN, state_words),
    FLD_MAP("quicklinks", struct spec_service, quicklinks, FLD_ALWAYS),
    FLD_STR("queue", struct spec_service, queue, 0),
    FLD_OBJ("kerberos_principal", struct spec_service, kerberos_principal, FLD_ALWAYS, &kerberos_type),
    FLD_STR("docker_client_config", struct spec_service, docker_client_config, 0),
    FLD_STRS("dependencies", struct spec_service, dependencies, FLD_ALWAYS),
    FLD_I64("number_of_containers", struct spec_service, number_of_containers, FLD_IN),
    FLD_STR("launch_command", struct spec_service, launch_command, FLD_IN),
    FLD_JSON_OF("placement_policy", struct spec_service, placement_policy, FLD_IN, &placement_type),
    /* What an answer has, and a client may send back. */
    FLD_KNOWN("id"),
    FLD_KNOWN("launch_time"),
    FLD_KNOWN("number_of_running_containers"),
    FLD_KNOWN("diagnostics"),
    FLD_KNOWN("last_failure"),
    FLD_KNOWN("operation"),
    FLD_KNOWN("explain"),
};
const struct fld_type spec_service_type = TYPE("Service", spec_service, service_flds, service_defaults);

/* ---- reading, writing ---- */

/** A count given as "+2" or "-2" is a change. */
static void note_relative_count(const json_t *doc, struct spec_component *c)
{
    const char *text = json_string_value(json_object_get(doc, "number_of_containers"));
    c->count_is_relative = text && (text[0] == '+' || text[0] == '-');
}

/** Tasks are made by an API of ours: what a caller calls so is unknown. */
static void drop_task(struct spec_component *c)
{
    fld_free(&spec_task_type, c->task);
    c->task = NULL;
}

/** Decode a document. @param doc  its text as a tree, new reference [out] */
static int read_one(const struct fld_type *type, const char *bytes, size_t len, json_t **doc, void **out,
                    struct err_info *why)
{
    int rc = json_read(bytes, len, doc, why);
    return rc ? rc : fld_read(type, *doc, out, why);
}

static void list_unknown(const struct fld_type *type, const json_t *doc, struct buf *unknown)
{
    if (unknown)
        spec_list_unknown(type, doc, unknown);
}

int spec_read(const char *bytes, size_t len, struct spec_service **out, struct buf *unknown,
              struct err_info *why)
{
    json_auto json_t *doc = NULL;
    void *object = NULL;
    int rc = read_one(&spec_service_type, bytes, len, &doc, &object, why);
    if (rc)
        return rc;
    struct spec_service *s = object;
    for (size_t i = 0; i < s->n_components; i++) {
        note_relative_count(json_array_get(json_object_get(doc, "components"), i), s->components[i]);
        drop_task(s->components[i]);
    }
    list_unknown(&spec_service_type, doc, unknown);
    *out = s;
    return 0;
}

int spec_read_component(const char *bytes, size_t len, struct spec_component **out, struct buf *unknown,
                        struct err_info *why)
{
    json_auto json_t *doc = NULL;
    void *object = NULL;
    int rc = read_one(&spec_component_type, bytes, len, &doc, &object, why);
    if (rc)
        return rc;
    note_relative_count(doc, object);
    drop_task(object);
    list_unknown(&spec_component_type, doc, unknown);
    *out = object;
    return 0;
}

int spec_read_container(const char *bytes, size_t len, struct spec_container **out, struct buf *unknown,
                        struct err_info *why)
{
    json_auto json_t *doc = NULL;
    void *object = NULL;
    int rc = read_one(&spec_container_type, bytes, len, &doc, &object, why);
    if (rc)
        return rc;
    list_unknown(&spec_container_type, doc, unknown);
    *out = object;
    return 0;
}

int spec_read_list(const struct fld_type *type, const char *bytes, size_t len, struct spec_list *out,
                   struct buf *unknown, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct spec_list list = {.type = type};
    int rc = json_read(bytes, len, &doc, why);
    if (!rc && !json_is_array(doc) && !json_is_null(doc))
        rc = err_set(why, ERR_JSON, "", "an array of %s objects expected", type->what);
    if (rc)
        return rc;
    list.items = mem_array(json_array_size(doc) + 1, sizeof list.items[0]);
    for (size_t i = 0; !rc && i < json_array_size(doc); i++) {
        mem_auto char *where = mem_fmt("/%zu", i);
        rc = fld_read_at(type, json_array_get(doc, i), where, &list.items[i], why);
        list.n += rc == 0;
        if (!rc && type == &spec_component_type)
            drop_task(list.items[i]);
    }
    if (rc) {
        spec_list_fini(&list);
        return rc;
    }
    list_unknown(type, doc, unknown);
    *out = list;
    return 0;
}

void spec_list_fini(struct spec_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        fld_free(list->type, list->items[i]);
    free(list->items);
    *list = (struct spec_list){.type = list->type};
}

void spec_free(struct spec_service *s)
{
    fld_free(&spec_service_type, s);
}

struct spec_service *spec_copy(const struct spec_service *s)
{
    return fld_copy(&spec_service_type, s);
}

json_t *spec_write(const struct spec_service *s)
{
    return fld_write(&spec_service_type, s);
}

/* ---- looking things up ---- */

struct spec_component *spec_component(const struct spec_service *s, const char *name)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (s->components[i]->name && strcmp(s->components[i]->name, name) == 0)
            return s->components[i];
    }
    return NULL;
}

int64_t spec_memory_mb(const struct spec_component *c)
{
    int64_t mb = 0;
    if (!c->resource || !c->resource->memory || str_to_i64(c->resource->memory, 0, INT64_MAX, &mb))
        return 0;
    return mb;
}

/** An element of a path that the registry takes: a label; names that are not ASCII it turns into labels itself. */
static bool is_registry_name(const char *name)
{
    size_t len = strlen(name);
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p >= 0x80)
            return true;
    }
    return len == 0 || (len <= SPEC_LABEL_SERVICE && name[0] != '-' && name[len - 1] != '-' &&
                        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len);
}

char *spec_registry_user(const char *user)
{
    char *out = mem_strn(user, strcspn(user, "@/"));
    str_lower(out);
    for (char *p = out; *p; p++) {
        if (*p == '_')
            *p = '-';
    }
    if (is_registry_name(out))
        return out;
    char *label = spec_label(out, SPEC_LABEL_SERVICE);
    free(out);
    return label;
}

char *spec_registry_container(const char *container_id)
{
    const char *rest = str_starts(container_id, "container") ? container_id + strlen("container") : NULL;
    char *out = rest ? mem_fmt("ctr%s", rest) : mem_str(container_id);
    for (char *p = out; *p; p++) {
        if (*p == '_')
            *p = '-';
    }
    return out;
}
