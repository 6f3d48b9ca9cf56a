/** Descriptors as specifications and rules: see translate.h. */
#include "launcher/translate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/task.h"
#include "spec/label.h"

#define MS_PER_S 1000

/* ---- the specification ---- */

/** No two containers of the role on one node. */
static json_t *anti_affinity(const char *component)
{
    return json_pack("[{s:s, s:s, s:[s]}]", "type", "ANTI_AFFINITY", "scope", "NODE", "target_tags",
                     component);
}

static json_t *placement_of(const struct launcher_descriptor *d, const struct launcher_role *role,
                            const char *component)
{
    const struct launcher_platform *p = &d->platform;
    const char *label = role->platform.label ? role->platform.label : p->label ? p->label : p->am_label;
    if (!label && !p->is_anti_affine)
        return NULL;
    json_t *out = json_object();
    if (label)
        json_object_set_new(out, "label", json_string(label));
    if (p->is_anti_affine)
        json_object_set_new(out, "constraints", anti_affinity(component));
    return out;
}

static struct spec_component *component_of(const struct launcher_task_site *site, const char *name,
                                           const struct launcher_descriptor *d,
                                           const struct launcher_role *role)
{
    struct spec_component *c = fld_new(&spec_component_type);
    c->name = spec_label(role->name, SPEC_LABEL_COMPONENT);
    c->number_of_containers = role->n_tasks;
    c->restart_policy = RESTART_NEVER; /* whether a task is tried again is a rule */
    c->placement_policy = placement_of(d, role, c->name);
    launcher_task_fill(site, name, d, role, c);
    return c;
}

struct spec_service *launcher_spec(const struct launcher_site *site, const char *name,
                                   const struct launcher_descriptor *d)
{
    const struct launcher_task_site cluster = {.address = site->own_url,
                                               .zk_quorum = site->zk_connect,
                                               .zk_root = site->zk_root,
                                               .hdfs_root = site->hdfs_root,
                                               .fs_uri = site->fs_uri};
    struct spec_service *s = fld_new(&spec_service_type);
    s->name = spec_label(name, SPEC_LABEL_SERVICE);
    s->version = mem_fmt("%lld", (long long)d->version);
    s->description = mem_str(d->description);
    s->queue = mem_str(d->platform.queue);
    s->lifetime = -1;
    s->components = mem_array(d->n_roles + 1, sizeof *s->components);
    for (size_t i = 0; i < d->n_roles; i++)
        s->components[s->n_components++] = component_of(&cluster, name, d, d->roles[i]);
    return s;
}

/* ---- the rules ---- */

static struct eng_retry_rule retry_of(const struct launcher_retry *r)
{
    return (struct eng_retry_rule){.is_fancy = r->is_fancy, .max = r->max};
}

/** So many ends; 0: never. */
static int64_t count_of(int64_t n)
{
    return n == LAUNCHER_NULL ? 0 : n;
}

static void add_role(struct eng_rules *rules, const struct launcher_descriptor *d,
                     const struct launcher_role *role)
{
    const struct launcher_platform *p = &d->platform;
    bool ends_with_any = p->kill_all_on_any_completed || p->kill_all_on_any_service_completed;
    mem_auto char *component = spec_label(role->name, SPEC_LABEL_COMPONENT);
    struct eng_component_rules *c = eng_rules_add(rules, component);
    c->title = mem_str(role->name);
    c->retry = p->makes_ip_list ? (struct eng_retry_rule){.max = 0} : retry_of(&role->retry);
    c->min_failed = ends_with_any ? 1 : count_of(role->completion.min_failed);
    c->min_succeeded = ends_with_any ? 1 : count_of(role->completion.min_succeeded);
}

struct eng_rules *launcher_rules(const struct launcher_site *site, const char *name,
                                 const struct launcher_descriptor *d, int client)
{
    struct eng_rules *r = eng_rules_new();
    r->title = mem_str(name);
    r->is_kept = client == LAUNCHER_CLIENT_DATA_DEPLOYMENT;
    r->retry = retry_of(&d->retry);
    r->is_gang = d->platform.is_gang || d->platform.makes_ip_list;
    r->gang_timeout_ms = site->gang_timeout_s * MS_PER_S;
    r->conflict_min_ms = site->conflict_min_s * MS_PER_S;
    r->conflict_max_ms = site->conflict_max_s * MS_PER_S;
    for (size_t i = 0; i < d->n_roles; i++)
        add_role(r, d, d->roles[i]);
    if (!d->parent)
        return r;
    mem_auto char *parent = spec_label(d->parent->name, SPEC_LABEL_SERVICE);
    struct eng_parent *p = eng_rules_set_parent(r, NULL, parent);
    p->destroy_with_parent = d->parent->delete_on_deleted;
    p->stop_with_parent = d->parent->stop_on_stopped;
    return r;
}
