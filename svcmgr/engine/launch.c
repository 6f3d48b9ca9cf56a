/** What a launch and a probe consist of: placeholders, environment, command, files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/component.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/step.h"
#include "json/json.h"

/* ---- placeholders ---- */

static void put(json_t *values, const char *key, const char *value)
{
    if (value)
        json_object_set_new(values, key, json_string(value));
}

/** key := value, and the same in lower case at key.lc. */
static void put_both(json_t *values, const char *key, const char *value)
{
    mem_auto char *lower = mem_str(value);
    mem_auto char *lower_key = mem_fmt("%s.lc", key);
    str_lower(lower);
    put(values, key, value);
    put(values, lower_key, lower);
}

static void put_upper(json_t *values, char *take_key, const char *value)
{
    for (char *p = take_key; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    put(values, take_key, value);
    free(take_key);
}

/** ${DB-0_PORT.http}: where a dependency listens. */
static void put_ports_of_dependency(json_t *values, const struct eng_instance *inst)
{
    const struct spec_component *spec = instance_spec(inst);
    json_auto json_t *ports = spec_port_values(spec, inst->ports);
    const char *key;
    json_t *value;
    json_object_foreach(ports, key, value)
    {
        mem_auto char *name = mem_str(inst->name);
        for (char *p = name; *p; p++)
            *p = (char)toupper((unsigned char)*p);
        mem_auto char *placeholder = mem_fmt("%s_%s", name, key);
        json_object_set(values, placeholder, value);
    }
}

static void put_dependencies(json_t *values, const struct eng_component *c)
{
    for (size_t i = 0; i < c->spec->n_dependencies; i++) {
        const struct eng_component *d = component_of(c->service, c->spec->dependencies[i]);
        const struct eng_instance *inst = d ? TAILQ_FIRST(&d->instances) : NULL;
        for (; inst; inst = TAILQ_NEXT(inst, link)) {
            if (!(STATE_BIT(inst->state) & STATES_UP))
                continue;
            mem_auto char *ip = mem_strn(inst->ip, strcspn(inst->ip, ","));
            put_upper(values, mem_fmt("%s_IP", inst->name), ip);
            put_upper(values, mem_fmt("%s_HOST", inst->name), inst->hostname);
            put_ports_of_dependency(values, inst);
        }
    }
}

/** The URI of the file system; a bare name is one of Hadoop's old spellings. free() */
static char *fs_uri(const struct engine *e)
{
    const char *uri = e->cfg.fs_uri ? e->cfg.fs_uri : "";
    if (!uri[0] || strcmp(uri, "local") == 0)
        return mem_str("file:///");
    return strchr(uri, '/') ? mem_str(uri) : mem_fmt("hdfs://%s", uri);
}

/** Host part of a URI, "" where it has none; without user and port, an IPv6 address in its brackets. free() */
static char *uri_host(const char *uri)
{
    const char *from = strstr(uri, "://");
    mem_auto char *authority = from ? mem_strn(from + 3, strcspn(from + 3, "/")) : mem_str("");
    const char *at = strrchr(authority, '@');
    const char *host = at ? at + 1 : authority;
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    return mem_strn(host, bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":"));
}

/** Where Hadoop keeps the definition of the service. svcmgr keeps it in its state, and makes no such directory. free() */
static char *service_dir(const struct engine *e, const struct eng_service *s, const char *uri)
{
    const char *set = e->cfg.base_path && e->cfg.base_path[0] ? e->cfg.base_path : ".yarn";
    bool is_relative = set[0] != '/' && !strstr(set, "://"); /* to the user's home */
    mem_auto char *base = is_relative ? mem_fmt("/user/%s/%s", s->user, set) : mem_str(set);
    const char *authority = strstr(uri, "://");
    size_t root_len = authority ? (size_t)(authority + 3 - uri) + strcspn(authority + 3, "/") : 0;
    mem_auto char *root = mem_strn(uri, strstr(base, "://") ? 0 : root_len);
    return mem_fmt("%s%s/services/%s", root, base, s->name);
}

static void put_fs(json_t *values, const struct engine *e, const struct eng_service *s)
{
    mem_auto char *uri = fs_uri(e);
    mem_auto char *host = uri_host(uri);
    mem_auto char *dir = service_dir(e, s, uri);
    put(values, "CLUSTER_FS_URI", uri);
    put(values, "CLUSTER_FS_HOST", host);
    put(values, "SERVICE_HDFS_DIR", dir);
}

json_t *engine_placeholders(const struct engine *e, const struct eng_service *s)
{
    json_t *values = json_object();
    mem_auto char *user = spec_registry_user(s->user);
    mem_auto char *zk_path = mem_fmt("/services/yarn/users/%s/%s", user, s->name);
    put_both(values, "SERVICE_NAME", s->name);
    put(values, "USER", user);
    put(values, "DOMAIN", e->cfg.domain);
    put(values, "CLUSTER_ZK_QUORUM", e->cfg.zk_quorum);
    put(values, "SERVICE_ZK_PATH", zk_path);
    put_fs(values, e, s);
    return values;
}

/** Instance placeholders, then the global ones, which beat them. */
static json_t *placeholders(const struct engine *e, const struct eng_instance *inst)
{
    json_t *values = json_object();
    json_auto json_t *globals = engine_placeholders(e, inst->component->service);
    mem_auto char *id = mem_fmt("%lld", (long long)(inst->component->first_number + inst->index));
    put_dependencies(values, inst->component);
    put_both(values, "COMPONENT_NAME", inst->component->name);
    put(values, "COMPONENT_INSTANCE_NAME", inst->name);
    put(values, "COMPONENT_ID", id);
    put(values, "CONTAINER_ID", inst->container_id);
    json_auto json_t *ports = spec_port_values(instance_spec(inst), inst->ports);
    json_object_update(values, ports);
    json_object_update(values, globals);
    return values;
}

/* ---- environment ---- */

static void add_env(struct eng_launch *l, json_t *values, const char *name, const char *value)
{
    l->env = mem_resize(l->env, l->n_env + 1, sizeof l->env[0]);
    l->env[l->n_env++] = (struct eng_env){mem_str(name), mem_str(value)};
    put(values, name, value);
}

/** The text expanded, "" when there is no room for it: then nothing is started. free() */
static char *expanded(struct eng_launch *l, const char *text, const json_t *values, const char *what,
                      const char *name)
{
    char *out = l->too_large ? NULL : spec_expand_from(text, values, &l->left);
    if (!out && !l->too_large)
        l->too_large = spec_too_large(l->component, what, name);
    return out ? out : mem_str("");
}

/** PORT_HTTP for the port "http". */
static void add_ports(struct eng_launch *l, const struct eng_instance *inst)
{
    const struct spec_component *spec = instance_spec(inst);
    for (size_t i = 0; i < spec->n_ports; i++) {
        mem_auto char *name = mem_fmt("PORT_%s", spec->ports[i]->name);
        mem_auto char *number = mem_fmt("%lld", (long long)eng_instance_port(inst, spec->ports[i]));
        for (char *p = name; *p; p++)
            *p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
        add_env(l, l->values, name, number);
    }
}

/** User's variables first, ours after: ours win. All become placeholders of command and files. */
static void fill_env(struct eng_launch *l, const json_t *env, const struct eng_instance *inst)
{
    json_auto json_t *before = json_deep_copy(l->values);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)env, name, value)
    {
        mem_auto char *text = expanded(l, json_string_value(value), before, "variable", name);
        add_env(l, l->values, name, text);
    }
    add_env(l, l->values, "WORK_DIR", "$PWD");
    add_env(l, l->values, "LOG_DIR", "<LOG_DIR>");
    add_env(l, l->values, "CONTAINER_ID", inst->container_id);
    if (inst->ip)
        add_env(l, l->values, "CONTAINER_IP", inst->ip);
    add_ports(l, inst);
    if (instance_spec(inst)->task)
        return; /* its locale is that of its node */
    add_env(l, l->values, "LANG", "en_US.UTF-8");
    add_env(l, l->values, "LC_ALL", "en_US.UTF-8");
    add_env(l, l->values, "LANGUAGE", "en_US.UTF-8");
}

/* ---- tasks ---- */

/** What a task knows of its container; what does not change is in the definition. CONTAINER_GPUS is the launcher's. */
static void add_task_env(struct eng_launch *l, const struct eng_instance *inst)
{
    mem_auto char *index = mem_fmt("%lld", (long long)inst->index);
    mem_auto char *ports = eng_task_ports_text(inst);
    add_env(l, l->values, "TASK_INDEX", index);
    add_env(l, l->values, "APP_ID", l->app_id);
    add_env(l, l->values, "CONTAINER_PORTS", ports);
    add_env(l, l->values, "HADOOP_USER_NAME", l->run_as);
    add_env(l, l->values, "LAUNCHER_LOG_DIR", "<LOG_DIR>");
}

static struct eng_file *next_file(struct eng_launch *l)
{
    l->files = mem_resize(l->files, l->n_files + 1, sizeof l->files[0]);
    l->files[l->n_files] = (struct eng_file){0};
    return &l->files[l->n_files++];
}

/** The last element of a location, without the slashes at its end. free() */
static char *base_name(const char *location)
{
    size_t len = strlen(location);
    while (len > 0 && location[len - 1] == '/')
        len--;
    mem_auto char *cut = mem_strn(location, len);
    return mem_str(path_name(cut));
}

/** Addresses of all instances, a line each: with a gang all have one. */
static char *ip_list(const struct eng_service *s)
{
    struct buf out = BUF_EMPTY;
    for (size_t i = 0; i < s->n_components && out.len < SPEC_EXPANDED_MAX; i++) {
        const struct eng_instance *inst;
        TAILQ_FOREACH (inst, &s->components[i]->instances, link) {
            if (inst->ip && !inst->removing)
                buf_addf(&out, "%.*s\n", (int)strcspn(inst->ip, ","), inst->ip);
        }
    }
    return out.len ? buf_take(&out) : mem_str("");
}

static void add_task_files(struct eng_launch *l, const struct eng_instance *inst)
{
    const struct spec_task *task = instance_spec(inst)->task;
    for (size_t i = 0; i < task->n_sources; i++)
        *next_file(l) = (struct eng_file){
            .name = base_name(task->sources[i]), .mode = FILE_SOURCE, .src = mem_str(task->sources[i])};
    if (!task->has_ip_list)
        return;
    char *bytes = ip_list(inst->component->service);
    *next_file(l) = (struct eng_file){
        .name = mem_str(SPEC_IP_LIST_FILE), .mode = FILE_BYTES, .bytes = bytes, .len = strlen(bytes)};
}

/* ---- files ---- */

static void add_file(struct eng_launch *l, const struct spec_file *f)
{
    bool has_src = f->src_file && f->src_file[0];
    mem_auto char *dest = expanded(l, f->dest_file, l->values, "config file", f->dest_file);
    struct eng_file file = {0};
    if (f->type == FILE_STATIC || f->type == FILE_ARCHIVE) {
        file.mode = f->type == FILE_STATIC ? FILE_COPY : FILE_UNPACK;
        file.name = mem_str(path_name(dest));
        file.src = mem_str(f->src_file);
    } else if (has_src) {
        bool is_text = f->type == FILE_TEMPLATE || f->type == FILE_ENV;
        file.mode = FILE_EXPAND;
        file.config = is_text ? NULL : spec_file_copy(f);
        file.name = mem_fmt(SPEC_CONF_DIR "/%s", path_name(dest));
        file.src = mem_str(f->src_file);
    } else {
        file.mode = FILE_BYTES;
        file.name = mem_fmt(SPEC_CONF_DIR "/%s", path_name(dest));
        file.bytes = l->too_large ? NULL : spec_file_render(f, l->values, &l->left);
        if (!file.bytes && !l->too_large)
            l->too_large = spec_too_large(l->component, "config file", f->dest_file);
        file.len = file.bytes ? strlen(file.bytes) : 0;
    }
    file.mount = mem_str(dest[0] == '/' && l->image ? dest : NULL);
    *next_file(l) = file;
}

static struct eng_image *image_new(const struct engine *e, const struct eng_instance *inst)
{
    const struct spec_component *spec = instance_spec(inst);
    if (!spec->artifact || spec->artifact->type != ARTIFACT_DOCKER)
        return NULL;
    struct eng_image *image = mem_new(struct eng_image);
    image->id = mem_str(spec->artifact->id);
    image->hostname = engine_dns_name(e, inst);
    const char *network = json_string_value(
        json_object_get(spec->configuration->properties, spec_props[PROP_DOCKER_NETWORK].key));
    image->network = mem_str(network && network[0] ? network : NULL);
    image->is_privileged = spec->run_privileged_container;
    return image;
}

static void image_free(struct eng_image *image)
{
    if (!image)
        return;
    free(image->id);
    free(image->hostname);
    free(image->network);
    free(image);
}

/** What a TARBALL artifact has is in lib/. */
static void add_tarball(struct eng_launch *l, const struct spec_artifact *a)
{
    if (!a || a->type != ARTIFACT_TARBALL)
        return;
    *next_file(l) =
        (struct eng_file){.name = mem_str(SPEC_TARBALL_DIR), .mode = FILE_UNPACK, .src = mem_str(a->id)};
}

struct eng_launch *launch_new(const struct engine *e, const struct eng_instance *inst)
{
    const struct eng_service *s = inst->component->service;
    const struct spec_component *spec = instance_spec(inst);
    struct eng_launch *l = mem_new(struct eng_launch);
    l->instance = mem_str(inst->name);
    l->component = mem_str(inst->component->name);
    l->app_id = mem_str(s->app_id);
    l->run_as = mem_str(s->user);
    l->left = SPEC_EXPANDED_MAX;
    l->attempt = inst->attempt;
    l->memory_mb = spec_memory_mb(spec);
    l->vcores = spec->resource->cpus;
    l->ip = mem_str(inst->ip);
    l->image = image_new(e, inst);
    l->values = placeholders(e, inst);
    fill_env(l, spec->configuration->env, inst);
    add_tarball(l, spec->artifact);
    for (size_t i = 0; i < spec->configuration->n_files; i++)
        add_file(l, spec->configuration->files[i]);
    if (spec->task) {
        l->is_task = true;
        add_task_env(l, inst);
        add_task_files(l, inst);
        l->command = mem_str(spec->launch_command);
    } else if (spec->launch_command && spec->launch_command[0]) {
        mem_auto char *command = expanded(l, spec->launch_command, l->values, "launch_command", "");
        l->command = mem_fmt("%s 1><LOG_DIR>/stdout.txt 2><LOG_DIR>/stderr.txt ", command);
    }
    return l;
}

void launch_free(struct eng_launch *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_env; i++) {
        free(l->env[i].name);
        free(l->env[i].value);
    }
    for (size_t i = 0; i < l->n_files; i++) {
        free(l->files[i].name);
        free(l->files[i].bytes);
        spec_file_free(l->files[i].config);
        free(l->files[i].src);
        free(l->files[i].mount);
    }
    free(l->env);
    free(l->files);
    free(l->instance);
    free(l->component);
    free(l->app_id);
    free(l->run_as);
    free(l->command);
    free(l->ip);
    free(l->too_large);
    image_free(l->image);
    json_decref(l->values);
    free(l);
}

/* ---- names ---- */

char *engine_dns_name_below(const struct engine *e, const struct eng_service *s, const char *below)
{
    const char *domain = e->cfg.domain ? e->cfg.domain : "";
    mem_auto char *user = spec_registry_user(s->user);
    return mem_fmt("%s%s%s.%s%s%s", below ? below : "", below ? "." : "", s->name, user, domain[0] ? "." : "",
                   domain);
}

char *engine_dns_name(const struct engine *e, const struct eng_instance *inst)
{
    return engine_dns_name_below(e, inst->component->service, inst->name);
}

/* ---- probe ---- */

static int64_t number_of(const json_t *properties, const char *key, int64_t def)
{
    const char *text = json_string_value(json_object_get(properties, key));
    int64_t value = def;
    return text && !str_to_i64(text, INT32_MIN, INT32_MAX, &value) ? value : def;
}

static void fill_dns(struct eng_probe *p, const struct engine *e, const json_t *properties,
                     const struct eng_instance *inst)
{
    const char *enabled = json_string_value(json_object_get(properties, "dns.check.enabled"));
    const char *address = json_string_value(json_object_get(properties, "dns.address"));
    if (!enabled || strcmp(enabled, "true") != 0)
        return;
    p->dns_name = engine_dns_name(e, inst);
    p->dns_address = address && address[0] ? mem_str(address) : NULL;
}

static void fill_url(struct eng_probe *p, const json_t *properties, const json_t *ports)
{
    const char *url = json_string_value(json_object_get(properties, "url"));
    bool v6 = strchr(p->ip, ':') != NULL;
    mem_auto char *host = mem_fmt(v6 ? "[%s]" : "%s", p->ip);
    json_auto json_t *values = json_pack("{s:s}", "THIS_HOST", host);
    json_object_update(values, (json_t *)ports);
    p->url = spec_expand(url, values);
}

static int64_t probed_port(const json_t *properties, const json_t *ports)
{
    const char *given = json_string_value(json_object_get(properties, "port"));
    mem_auto char *text = given ? spec_expand(given, ports) : NULL;
    int64_t value;
    return text && !str_to_i64(text, 0, UINT16_MAX, &value) ? value : 0;
}

struct eng_probe *probe_new(const struct engine *e, const struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;
    const struct spec_readiness *r = spec->readiness_check;
    struct eng_probe *p = mem_new(struct eng_probe);
    const json_t *properties = r ? r->properties : NULL;
    p->type = r ? (enum spec_check)r->type : CHECK_DEFAULT;
    p->attempt = inst->attempt;
    p->ip = mem_strn(inst->ip, strcspn(inst->ip, ","));
    p->timeout_ms = number_of(properties, "timeout", 1000);
    p->min_success = number_of(properties, "min.success", 200);
    p->max_success = number_of(properties, "max.success", 299);
    int64_t interval_s = spec_prop_int(spec, PROP_READY_INTERVAL, 0);
    p->interval_ms = interval_s > 0 ? interval_s * 1000 : e->cfg.probe_interval_ms;
    fill_dns(p, e, properties, inst);
    json_auto json_t *ports = spec_port_values(instance_spec(inst), inst->ports);
    if (p->type == CHECK_HTTP)
        fill_url(p, properties, ports);
    if (p->type == CHECK_PORT)
        p->port = probed_port(properties, ports);
    if (p->type == CHECK_DEFAULT && !p->dns_name) { /* its address is known: that is all there is to check */
        probe_free(p);
        return NULL;
    }
    return p;
}

void probe_free(struct eng_probe *p)
{
    if (!p)
        return;
    free(p->ip);
    free(p->dns_name);
    free(p->dns_address);
    free(p->url);
    free(p);
}
