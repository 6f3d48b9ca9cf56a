/** Validation rules of one component and of a launch: see check.h and spec.h. */
#include "spec/check.h"
#include "spec/needs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/properties.h"

static bool is_empty(const char *s)
{
    return !s || !s[0];
}

static const char *artifact_word(const struct spec_component *c)
{
    static const char *const words[] = {"DOCKER", "TARBALL", "SERVICE"};
    return c->artifact ? words[c->artifact->type] : "no";
}

static bool is_docker(const struct spec_component *c)
{
    return c->artifact && c->artifact->type == ARTIFACT_DOCKER;
}

static int check_artifact(const struct spec_component *c, const struct spec_world *world,
                          struct err_info *why)
{
    if (!c->artifact)
        return 0;
    if (is_empty(c->artifact->id))
        return SPEC_REFUSE(
            why,
            "Artifact id (like docker image name) is either empty or not provided for component %s "
            "(nor at the global level)",
            c->name);
    if (c->artifact->type == ARTIFACT_TARBALL && !world->path_exists(world->arg, c->artifact->id))
        return SPEC_REFUSE(why, "For component %s with TARBALL artifact, path does not exist: %s", c->name,
                           c->artifact->id);
    return 0;
}

static int check_resource(const struct spec_component *c, struct err_info *why)
{
    const struct spec_resource *r = c->resource;
    if (!r)
        return SPEC_REFUSE(why, "Resource is not provided for component %s (nor at the global level)",
                           c->name);
    if (r->profile && (r->cpus != FLD_UNSET || r->memory))
        return SPEC_REFUSE(why, "Cannot specify cpus/memory along with profile for component %s", c->name);
    if (r->profile)
        return SPEC_REFUSE(why, "Resource profile is not supported yet. Please specify cpus/memory.");
    if (is_empty(r->memory))
        return SPEC_REFUSE(
            why, "Service resource or memory not provided for component %s (nor at the global level)",
            c->name);
    if (r->cpus == FLD_UNSET)
        return SPEC_REFUSE(
            why, "Service resource or cpus not provided for component %s (nor at the global level)", c->name);
    if (r->cpus <= 0)
        return SPEC_REFUSE(
            why,
            "Unacceptable no of cpus specified, either zero or negative for component %s (or at the "
            "global level)",
            c->name);
    return 0;
}

static int check_count(const struct spec_component *c, const struct spec_world *world, struct err_info *why)
{
    int64_t max = world->max_containers ? world->max_containers : SPEC_MAX_CONTAINERS;
    if (c->number_of_containers >= 0 && c->number_of_containers <= max)
        return 0;
    if (c->number_of_containers > max)
        return SPEC_REFUSE(why, SPEC_TOO_MANY, c->name, (long long)c->number_of_containers, (long long)max);
    mem_auto char *value = c->number_of_containers == FLD_UNSET
                               ? mem_str("null")
                               : mem_fmt("%lld", (long long)c->number_of_containers);
    return SPEC_REFUSE(why,
                       "Invalid no of containers specified for component %s (nor at the global level): %s",
                       c->name, value);
}

/* ---- V20: config files ---- */

static int check_file_source(const struct spec_file *f, const struct spec_world *world, struct err_info *why)
{
    if (f->type < 0)
        return SPEC_REFUSE(why, "File type is empty");
    if (f->type == FILE_TEMPLATE && is_empty(f->src_file) && !json_object_get(f->properties, "content"))
        return SPEC_REFUSE(why,
                           "For TEMPLATE format, either src_file must be specified in ConfigFile, or the "
                           "\"content\" key must be specified in the properties field of ConfigFile. ");
    if (!is_empty(f->src_file) && !world->path_exists(world->arg, f->src_file))
        return SPEC_REFUSE(why, "Src_file does not exist for config file: %s", f->src_file);
    if ((f->type == FILE_STATIC || f->type == FILE_ARCHIVE) && is_empty(f->src_file))
        return SPEC_REFUSE(why, "For %s format, should make sure that srcFile is specified",
                           f->type == FILE_STATIC ? "STATIC" : "ARCHIVE");
    return 0;
}

static int check_file_dest(const struct spec_component *c, size_t i, struct err_info *why)
{
    const char *dest = c->configuration->files[i]->dest_file;
    if (is_empty(dest))
        return SPEC_REFUSE(why, "dest_file is empty.");
    for (size_t k = 0; k < i; k++) {
        if (strcmp(c->configuration->files[k]->dest_file, dest) == 0)
            return SPEC_REFUSE(why, "Duplicated ConfigFile exists: %s", dest);
    }
    if (dest[0] != '/' && strchr(dest, '/'))
        return SPEC_REFUSE(why, "Non-absolute dest_file has more than one path element");
    if (dest[0] == '/' && !is_docker(c))
        return SPEC_REFUSE(why, "For component %s with %s artifact, dest_file must be a relative path: %s",
                           c->name, artifact_word(c), dest);
    if (strcmp(dest, ".") == 0 || strcmp(dest, "..") == 0)
        return SPEC_REFUSE(why, "dest_file is not a file name: %s", dest);
    if (dest[0] != '/' && strlen(dest) > NAME_MAX)
        return SPEC_REFUSE(why, "dest_file has %zu bytes, the name of a file has at most %d: %.100s…",
                           strlen(dest), NAME_MAX, dest);
    return 0;
}

static int check_files(const struct spec_component *c, const struct spec_world *world, struct err_info *why)
{
    for (size_t i = 0; i < c->configuration->n_files; i++) {
        int rc = check_file_source(c->configuration->files[i], world, why);
        if (!rc)
            rc = check_file_dest(c, i, why);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- V21: readiness ---- */

#define READINESS_FAULT "Error creating readiness check java.io.IOException: "

static int check_int(const char *key, const char *text, struct err_info *why)
{
    int64_t value;
    if (!is_empty(text) && str_to_i64(text, INT32_MIN, INT32_MAX, &value))
        return SPEC_REFUSE(why, READINESS_FAULT "invalid number in %s: %s", key, text);
    return 0;
}

static int check_port(const struct spec_component *c, struct err_info *why)
{
    const char *given = json_string_value(json_object_get(c->readiness_check->properties, "port"));
    if (is_empty(given))
        return SPEC_REFUSE(why, READINESS_FAULT "port not specified");
    mem_auto char *text = spec_any_ports(c, given);
    int64_t port;
    int rc = spec_check_port_placeholders(c, given, why);
    rc = rc ? rc : check_int("port", text, why);
    if (!rc && str_to_i64(text, 0, 65535, &port))
        return SPEC_REFUSE(why, READINESS_FAULT "port %s is out of range", text);
    return rc;
}

static int check_url(const struct spec_component *c, struct err_info *why)
{
    const char *url = json_string_value(json_object_get(c->readiness_check->properties, "url"));
    if (is_empty(url))
        return SPEC_REFUSE(why, READINESS_FAULT "url not specified");
    bool http = strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    const char *host = http ? strstr(url, "://") + 3 : "";
    if (!host[0] || host[0] == '/' || strpbrk(url, " \t\r\n"))
        return SPEC_REFUSE(why, READINESS_FAULT "malformed url: %s", url);
    return spec_check_port_placeholders(c, url, why);
}

static int check_readiness(const struct spec_component *c, struct err_info *why)
{
    static const char *const numbers[] = {"timeout", "min.success", "max.success"};
    const struct spec_readiness *r = c->readiness_check;
    if (!r)
        return 0;
    int rc = r->type == CHECK_PORT ? check_port(c, why) : r->type == CHECK_HTTP ? check_url(c, why) : 0;
    for (size_t i = 0; !rc && i < ARRAY_LEN(numbers); i++)
        rc = check_int(numbers[i], json_string_value(json_object_get(r->properties, numbers[i])), why);
    return rc;
}

/* ---- environment: ours ---- */

/** What no process can have: a name that is empty or has a '='. */
static int check_env_names(const struct spec_service *s, const struct spec_component *c, struct err_info *why)
{
    const char *name;
    json_t *value;
    size_t index = 0;
    while (s->components[index] != c)
        index++;
    json_object_foreach(c->configuration->env, name, value)
    {
        mem_auto char *base = mem_fmt("/components/%zu/configuration/env", index);
        mem_auto char *where = spec_pointer(base, name);
        if (!*name || strchr(name, '='))
            return SPEC_REFUSE(why, "%s: no variable of the environment can be called \"%s\"", where, name);
    }
    return 0;
}

/* ---- V14..V21 ---- */

int spec_check_component(const struct spec_service *s, const struct spec_component *c,
                         const struct spec_world *world, struct err_info *why)
{
    for (size_t i = 0; i < c->n_dependencies; i++) {
        if (!spec_component(s, c->dependencies[i]))
            return SPEC_REFUSE(why,
                               "Dependency %s for component %s is invalid, does not exist as a component",
                               c->dependencies[i], c->name);
    }
    int rc = spec_check_name(c->name, world->dns_enabled, why);
    if (!rc)
        rc = check_artifact(c, world, why);
    if (!rc && !is_docker(c) && !c->launch_command)
        rc = SPEC_REFUSE(why, "launch_command is required when type is not DOCKER");
    if (!rc)
        rc = check_resource(c, why);
    if (!rc)
        rc = check_count(c, world, why);
    if (!rc)
        rc = check_files(c, world, why);
    if (!rc)
        rc = spec_check_ports(s, c, why);
    if (!rc)
        rc = check_readiness(c, why);
    return rc ? rc : check_env_names(s, c, why);
}

/* ---- launch ---- */

static bool is_tarball(const struct spec_component *c)
{
    return c->artifact && c->artifact->type == ARTIFACT_TARBALL;
}

static int check_local_files(const struct spec_component *c, struct err_info *why)
{
    for (size_t i = 0; i < c->configuration->n_files; i++) {
        const struct spec_file *f = c->configuration->files[i];
        bool is_plain = f->type == FILE_STATIC || f->type == FILE_ARCHIVE;
        bool is_taken = strcmp(f->dest_file, SPEC_CONF_DIR) == 0 ||
                        (strcmp(f->dest_file, SPEC_TARBALL_DIR) == 0 && is_tarball(c));
        if (is_plain && is_taken)
            return SPEC_REFUSE(
                why,
                "Component %s: dest_file %s is a directory that svcmgr makes; give the file another name",
                c->name, f->dest_file);
        if (!is_empty(f->src_file) && f->type == FILE_YAML)
            return SPEC_REFUSE(why,
                               "Component %s: src_file is not supported for config files of type YAML; make "
                               "%s a TEMPLATE or STATIC, or "
                               "give the properties",
                               c->name, f->dest_file);
    }
    return 0;
}

/** What a component that names no image must have. */
static int check_local_process(const struct spec_component *c, size_t index, struct err_info *why)
{
    if (c->artifact && !is_tarball(c))
        return SPEC_REFUSE(
            why,
            "Component %s: a local cluster runs images and processes of its host and no artifact of type "
            "%s; remove artifact from "
            "/components/%zu and from the service, and give a launch_command that the host "
            "can run, as \"exec sleep "
            "1000\"",
            c->name, artifact_word(c), index);
    if (is_empty(c->launch_command))
        return SPEC_REFUSE(why, "Component %s: launch_command is empty, there is nothing to run", c->name);
    if (c->run_privileged_container)
        return SPEC_REFUSE(why,
                           "/components/%zu/run_privileged_container: a process of a local cluster gets no "
                           "privileges; remove it",
                           index);
    return 0;
}

static int check_local(const struct spec_component *c, size_t index, const struct spec_world *world,
                       struct err_info *why)
{
    int rc = is_docker(c) ? spec_check_image(c, index, world, why) : check_local_process(c, index, why);
    if (!rc && c->readiness_check && c->readiness_check->artifact)
        rc =
            SPEC_REFUSE(why,
                        "/components/%zu/readiness_check/artifact: a local cluster starts no container for a "
                        "check; remove it, and give the check a url or a port of the component itself",
                        index);
    if (!rc)
        rc = spec_check_additional_local(c, index, world->host, why);
    if (!rc)
        rc = spec_check_placement_local(c, index, world->host, why);
    return rc ? rc : check_local_files(c, why);
}

static int check_size(const struct spec_component *c, const struct spec_world *world, struct err_info *why)
{
    int64_t mb;
    if (str_to_i64(c->resource->memory, 1, INT32_MAX, &mb))
        return SPEC_REFUSE(why, "For input string: \"%s\"", c->resource->memory);
    if (world->max_memory_mb > 0 && mb > world->max_memory_mb)
        return SPEC_REFUSE(
            why,
            "Component %s: specified memory size (%lld) is larger than configured max container memory "
            "size (%lld)",
            c->name, (long long)mb, (long long)world->max_memory_mb);
    if (world->max_vcores > 0 && c->resource->cpus > world->max_vcores)
        return SPEC_REFUSE(
            why,
            "Component %s: specified number of virtual core (%lld) is larger than configured max "
            "virtual core size (%lld)",
            c->name, (long long)c->resource->cpus, (long long)world->max_vcores);
    return 0;
}

static int check_properties(const struct spec_component *c, size_t index, struct err_info *why)
{
    mem_auto char *where = mem_fmt("/components/%zu/configuration/properties", index);
    return spec_check_properties(c->configuration->properties, where, why);
}

/** Texts of all components that are expanded here for a look; what is not looked at is refused at its launch. */
#define LOOK_MAX (4 * SPEC_EXPANDED_MAX)

/** Longest text that a program can be started with, its NUL included: MAX_ARG_STRLEN of Linux. */
#define ARGUMENT_MAX ((size_t)128 << 10)

/** Bytes that a text has at least when the placeholders of the cluster are replaced, whatever they are. */
static size_t least_len(const char *text)
{
    size_t len = strlen(text);
    for (const char *p = text; (p = strpbrk(p, "${")); p++) {
        const char *end = str_starts(p, "${") ? strchr(p, '}') : str_starts(p, "{{") ? strstr(p, "}}") : NULL;
        if (!end)
            continue;
        end += *p == '{';
        len -= (size_t)(end - p) + 1;
        p = end;
    }
    return len;
}

/** A command, or a variable with its name, that no process can be started with. */
static int check_argument(const char *where, size_t len, struct err_info *why)
{
    if (len < ARGUMENT_MAX)
        return 0;
    return SPEC_REFUSE(why,
                       "%s: it has %zu bytes, Linux starts no process with more than %zu; put them into a "
                       "config file",
                       where, len, ARGUMENT_MAX - 1);
}

static int check_arguments(const struct spec_component *c, size_t index, const char *command,
                           struct err_info *why)
{
    const char *name;
    json_t *value;
    mem_auto char *where = mem_fmt("/components/%zu/launch_command", index);
    int rc = check_argument(where, least_len(command), why);
    json_object_foreach(c->configuration->env, name, value)
    {
        mem_auto char *base = mem_fmt("/components/%zu/configuration/env", index);
        mem_auto char *place = spec_pointer(base, name);
        if (!rc)
            rc = check_argument(place, strlen(name) + 1 + least_len(json_string_value(value)), why);
    }
    return rc;
}

/** What placeholders of the cluster add is known at the launch only, and refused there. @param look  bytes still to look at [in,out] */
static int check_expanded(const struct spec_component *c, size_t index, size_t *look, struct err_info *why)
{
    const json_t *env = c->configuration->env;
    size_t left = SPEC_EXPANDED_MAX;
    mem_auto char *command = spec_expand_from(c->launch_command ? c->launch_command : "", env, &left);
    mem_auto char *problem = command ? NULL : spec_too_large(c->name, "launch_command", "");
    int rc = command ? check_arguments(c, index, command, why) : 0;
    for (size_t i = 0; !rc && !problem && i < c->configuration->n_files; i++) {
        const struct spec_file *f = c->configuration->files[i];
        bool is_read = !is_empty(f->src_file) || f->type == FILE_STATIC || f->type == FILE_ARCHIVE;
        mem_auto char *dest = spec_expand_from(f->dest_file, env, &left);
        mem_auto char *bytes = dest && !is_read ? spec_file_render(f, env, &left) : NULL;
        problem = dest && (is_read || bytes) ? NULL : spec_too_large(c->name, "config file", f->dest_file);
    }
    size_t used = SPEC_EXPANDED_MAX - left;
    *look -= used < *look ? used : *look;
    return problem ? SPEC_REFUSE(why, "%s", problem) : rc;
}

/** What the cluster would refuse for good, and with it all that is asked for. */
static int check_constraints(const struct spec_component *c, size_t index, const struct spec_world *world,
                             struct err_info *why)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");

    if (world->no_constraints && json_array_size(constraints) > 0)
        return SPEC_REFUSE(why, "/components/%zu/placement_policy/constraints: %s", index,
                           world->no_constraints);
    if (!world->minimum_is_of_nodes)
        return 0;
    struct spec_needs *needs = spec_needs_new(c);
    int rc = 0;
    for (size_t i = 0; needs && !rc && i < needs->n_constraints; i++) {
        if (needs->constraints[i].scope == SCOPE_RACK && needs->constraints[i].min > 1)
            rc = SPEC_REFUSE(
                why,
                "/components/%zu/placement_policy/constraints/%zu/min_cardinality: YARN reports no "
                "racks of containers, so it counts on nodes only: set scope NODE, or remove it",
                index, i);
    }
    spec_needs_free(needs);
    return rc;
}

int spec_check_launch(const struct spec_service *s, const struct spec_world *world, struct err_info *why)
{
    int rc = spec_check_properties(s->configuration->properties, "/configuration/properties", why);
    if (!rc && world->local && s->docker_client_config)
        rc = SPEC_REFUSE(
            why, "/docker_client_config: a local cluster pulls images with what its container runtime "
                 "is configured with; remove it, and let the runtime of svcmgr's user log in");
    if (rc)
        return rc;
    size_t look = LOOK_MAX;
    for (size_t i = 0; i < s->n_components; i++) {
        rc = check_size(s->components[i], world, why);
        if (!rc)
            rc = check_properties(s->components[i], i, why);
        if (!rc)
            rc = check_constraints(s->components[i], i, world, why);
        if (!rc && world->local)
            rc = check_local(s->components[i], i, world, why);
        if (!rc && look)
            rc = check_expanded(s->components[i], i, &look, why);
        if (rc)
            return rc;
    }
    return 0;
}
