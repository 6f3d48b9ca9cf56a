#include "launcher/task.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- environment ---- */

static void set_text(struct spec_component *c, const char *name, const char *value)
{
    json_object_set_new(c->configuration->env, name, json_string(value ? value : ""));
}

static void set_number(struct spec_component *c, const char *name, int64_t value)
{
    mem_auto char *text = mem_fmt("%" PRId64, value);

    set_text(c, name, text);
}

static void fill_env(const struct launcher_task_site *site, const char *framework,
                     const struct launcher_descriptor *d, const struct launcher_role *role,
                     struct spec_component *c)
{
    const char *root = site->hdfs_root ? site->hdfs_root : "";
    mem_auto char *store = mem_fmt("%s/%s/UserStore", root, framework);
    mem_auto char *info = mem_fmt("%s/%s/FrameworkInfo.json", root, framework);

    set_text(c, "FRAMEWORK_NAME", framework);
    set_number(c, "FRAMEWORK_VERSION", d->version);
    set_text(c, "TASK_ROLE_NAME", role->name);
    set_text(c, "TASKROLE_NAME", role->name); /* of 2018 */
    set_text(c, "SERVICE_NAME", role->name);
    set_number(c, "SERVICE_VERSION", role->service.version);
    set_text(c, "LAUNCHER_ADDRESS", site->address);
    set_text(c, "ZK_CONNECT_STRING", site->zk_quorum);
    set_text(c, "ZK_ROOT_DIR", site->zk_root);
    set_text(c, "HDFS_ROOT_DIR", site->hdfs_root);
    set_number(c, "AM_VERSION", site->am_version);
    set_text(c, "HDFS_USER_STORE_ROOT_DIR", store);
    set_text(c, "HDFS_FRAMEWORK_INFO_FILE", info);
}

/* ---- resource ---- */

static void fill_resource(const struct launcher_resource *from, struct spec_component *c)
{
    struct spec_resource *to = fld_new(&spec_resource_type);

    to->cpus = from->cpus;
    to->memory = mem_fmt("%" PRId64, from->memory_mb);
    if (from->n_gpus > 0)
        to->additional = json_pack("{s:{s:I}}", SPEC_GPU_TYPE, "value", (json_int_t)from->n_gpus);
    fld_free(&spec_resource_type, c->resource);
    c->resource = to;
}

/* ---- ports ---- */

/** Fixed ones first, each by label. */
static int compare_ports(const void *a, const void *b)
{
    const struct spec_task_ports *x = *(struct spec_task_ports *const *)a,
                                 *y = *(struct spec_task_ports *const *)b;

    if ((x->start == 0) != (y->start == 0))
        return x->start == 0 ? 1 : -1;
    return strcmp(x->label, y->label);
}

static void fill_ports(const struct launcher_resource *from, struct spec_task *task)
{
    task->ports = mem_array(from->n_ports + 1, sizeof *task->ports);
    for (; task->n_ports < from->n_ports; task->n_ports++) {
        const struct launcher_ports *p = from->ports[task->n_ports];
        struct spec_task_ports *own = mem_new(struct spec_task_ports);
        *own = (struct spec_task_ports){mem_str(p->label), p->start, p->count};
        task->ports[task->n_ports] = own;
    }
    qsort(task->ports, task->n_ports, sizeof *task->ports, compare_ports);
}

/* ---- sources ---- */

/** A location without blanks around it and slashes at its end; without a scheme it is of the default file system. free() */
static char *location_of(const struct launcher_task_site *site, const char *given)
{
    char *text = str_trim(given);
    const char *fs = site->fs_uri ? site->fs_uri : "";

    for (size_t len = strlen(text); len > 1 && text[len - 1] == '/';)
        text[--len] = '\0';
    if (text[0] != '/' || !str_starts(fs, "hdfs://"))
        return text;
    mem_auto char *path = text;
    const char *slash = strchr(fs + strlen("hdfs://"), '/');
    return mem_fmt("%.*s%s", slash ? (int)(slash - fs) : (int)strlen(fs), fs, path);
}

static void fill_sources(const struct launcher_task_site *site, const struct launcher_task_service *from,
                         struct spec_task *task)
{
    task->sources = mem_array(from->n_sources + 1, sizeof *task->sources);
    for (; task->n_sources < from->n_sources; task->n_sources++)
        task->sources[task->n_sources] = location_of(site, from->sources[task->n_sources]);
}

/* ---- the whole ---- */

void launcher_task_fill(const struct launcher_task_site *site, const char *framework,
                        const struct launcher_descriptor *d, const struct launcher_role *role,
                        struct spec_component *c)
{
    const struct launcher_resource *resource = &role->service.resource;
    struct spec_task *task = fld_new(&spec_task_type);

    mem_free_ptr(&c->launch_command);
    c->launch_command = mem_str(role->service.entry_point);
    fill_resource(resource, c);
    fill_env(site, framework, d, role, c);
    fill_ports(resource, task);
    fill_sources(site, &role->service, task);
    task->gpu_mask = resource->gpu_mask;
    task->has_ip_list = d->platform.makes_ip_list;
    task->same_ports = role->platform.same_ports || role->same_ports_2018;
    fld_free(&spec_task_type, c->task);
    c->task = task;
}
