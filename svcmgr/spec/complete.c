/** Inheritance, merge and validation of a Service document, in the order of the services API: see spec_complete. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/check.h"
#include "spec/spec.h"

#define NAME_MAX_DNS 63

/** Whether text is a lower-case letter followed by lower-case letters, digits, '-' and the characters of `more`. */
static bool name_matches(const char *name, const char *more)
{
    if (!(name[0] >= 'a' && name[0] <= 'z'))
        return false;
    for (const char *p = name; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-';
        if (!plain && !strchr(more, *p))
            return false;
    }
    return true;
}

int spec_check_name(const char *name, bool dns_enabled, struct err_info *why)
{
    if (!name || !name[0])
        return SPEC_REFUSE(why, "Name can not be empty!");
    if (strchr(name, '_'))
        return SPEC_REFUSE(
            why, "Invalid format: %s, can not use '_', as DNS hostname does not allow '_'. Use '-' Instead. ",
            name);
    if (dns_enabled && strlen(name) > NAME_MAX_DNS)
        return SPEC_REFUSE(why, "Invalid format %s, must be no more than %d characters ", name, NAME_MAX_DNS);
    if (!name_matches(name, ""))
        return SPEC_REFUSE(why, "Invalid name %s does not match the pattern [a-z][a-z0-9-]* ", name);
    return 0;
}

/* ---- V1..V8: the service ---- */

static int check_user(const char *user, const struct spec_world *world, struct err_info *why)
{
    mem_auto char *form = spec_registry_user(user);
    if (!form[0])
        return SPEC_REFUSE(why, "Null user");
    if (!world->dns_enabled)
        return 0;
    if (strlen(user) > NAME_MAX_DNS)
        return SPEC_REFUSE(why, "User name must be no more than %d characters", NAME_MAX_DNS);
    if (!name_matches(user, "."))
        return SPEC_REFUSE(why, "Invalid name %s does not match the pattern [a-z][a-z0-9-.]* ", user);
    return 0;
}

static int check_principal(const struct spec_service *s, const struct spec_world *world, struct err_info *why)
{
    if (!world->secure)
        return 0;
    const char *name = s->kerberos_principal ? s->kerberos_principal->principal_name : NULL;
    if (!name)
        return SPEC_REFUSE(why, "Kerberos principal or keytab is missing.");
    if (!strchr(name, '/'))
        return SPEC_REFUSE(why, "Kerberos principal (%s) does  not contain a hostname.", name);
    return 0;
}

static int check_service(const struct spec_service *s, const char *user, const struct spec_world *world,
                         struct err_info *why)
{
    int rc = check_user(user, world, why);
    if (rc)
        return rc;
    if (!s->name || !s->name[0])
        return SPEC_REFUSE(why, "Service name is either empty or not provided");
    if (!s->version || !s->version[0])
        return SPEC_REFUSE(why, "Version of service %s is either empty or not provided", s->name);
    rc = spec_check_name(s->name, world->dns_enabled, why);
    if (rc)
        return rc;
    if (strcmp(s->name, "version") == 0 && !world->is_other_api)
        return SPEC_REFUSE(why, "Service name version is reserved");
    if (s->n_components == 0 && !world->may_be_empty)
        return SPEC_REFUSE(why, "No component specified for %s", s->name);
    rc = check_principal(s, world, why);
    if (rc)
        return rc;
    if (s->docker_client_config && !world->path_exists(world->arg, s->docker_client_config))
        return SPEC_REFUSE(why, "The supplied Docker client config does not exist: %s",
                           s->docker_client_config);
    return 0;
}

/* ---- configuration merge ---- */

static void merge_map(json_t *into, const json_t *from)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)from, key, value)
    {
        if (!json_object_get(into, key))
            json_object_set(into, key, value);
    }
}

static struct spec_file *file_by_dest(const struct spec_config *c, const char *dest)
{
    for (size_t i = 0; i < c->n_files; i++) {
        if (dest && c->files[i]->dest_file && strcmp(c->files[i]->dest_file, dest) == 0)
            return c->files[i];
    }
    return NULL;
}

struct spec_file *spec_file_copy(const struct spec_file *f)
{
    if (!f)
        return NULL;
    struct spec_file *copy = mem_new(struct spec_file);
    copy->type = f->type;
    copy->dest_file = mem_str(f->dest_file);
    copy->src_file = mem_str(f->src_file);
    copy->properties = json_deep_copy(f->properties);
    return copy;
}

void spec_file_free(struct spec_file *f)
{
    if (!f)
        return;
    free(f->dest_file);
    free(f->src_file);
    json_decref(f->properties);
    free(f);
}

static void merge_config(struct spec_config *into, const struct spec_config *from)
{
    merge_map(into->properties, from->properties);
    merge_map(into->env, from->env);
    for (size_t i = 0; i < from->n_files; i++) {
        struct spec_file *same = file_by_dest(into, from->files[i]->dest_file);
        if (same) {
            merge_map(same->properties, from->files[i]->properties);
            continue;
        }
        into->files = mem_resize(into->files, into->n_files + 1, sizeof into->files[0]);
        into->files[into->n_files++] = spec_file_copy(from->files[i]);
    }
}

/* ---- V9..V13: first pass over the components ---- */

/** What the first pass builds: the accepted names and the resulting list. */
struct expansion {
    struct map names;
    struct spec_component **items;
    size_t n_items;
};

static void expansion_fini(struct expansion *x)
{
    map_fini(&x->names, NULL);
    for (size_t i = 0; i < x->n_items; i++)
        fld_free(&spec_component_type, x->items[i]);
    free(x->items);
}

/** Take a component into the result. @return 0; or ERR_INVALID: its name is there already, it is freed. */
static int expansion_add(struct expansion *x, struct spec_component *take_c, struct err_info *why)
{
    if (map_get(&x->names, take_c->name)) {
        int rc = SPEC_REFUSE(why, "Component name collision: %s", take_c->name);
        fld_free(&spec_component_type, take_c);
        return rc;
    }
    map_set(&x->names, take_c->name, take_c);
    x->items = mem_resize(x->items, x->n_items + 1, sizeof x->items[0]);
    x->items[x->n_items++] = take_c;
    return 0;
}

/** Members that `c` lacks come from `from`. */
static void merge_component(struct spec_component *c, const struct spec_component *from)
{
    struct spec_component *copy = fld_copy(&spec_component_type, from);
    SPEC_SWAP_IF(!c->artifact, c->artifact, copy->artifact);
    SPEC_SWAP_IF(!c->resource, c->resource, copy->resource);
    SPEC_SWAP_IF(!c->launch_command, c->launch_command, copy->launch_command);
    SPEC_SWAP_IF(!c->readiness_check, c->readiness_check, copy->readiness_check);
    SPEC_SWAP_IF(!c->placement_policy, c->placement_policy, copy->placement_policy);
    SPEC_SWAP_IF(c->number_of_containers == FLD_UNSET, c->number_of_containers, copy->number_of_containers);
    SPEC_SWAP_IF(c->n_dependencies == 0, c->dependencies, copy->dependencies);
    SPEC_SWAP_IF(c->n_dependencies == 0, c->n_dependencies, copy->n_dependencies);
    SPEC_SWAP_IF(c->n_quicklinks == 0, c->quicklinks, copy->quicklinks);
    SPEC_SWAP_IF(c->n_quicklinks == 0, c->n_quicklinks, copy->n_quicklinks);
    SPEC_SWAP_IF(c->n_ports == 0, c->ports, copy->ports);
    SPEC_SWAP_IF(c->n_ports == 0, c->n_ports, copy->n_ports);
    c->run_privileged_container |= copy->run_privileged_container;
    merge_config(c->configuration, copy->configuration);
    fld_free(&spec_component_type, copy);
}

/** Replace a stand-in by the components of the service that it names. */
static int expand_service(struct spec_service *s, const struct spec_component *stand_in, const char *user,
                          const struct spec_world *world, struct expansion *x, struct err_info *why)
{
    const char *id = stand_in->artifact->id;
    if (!id || !id[0])
        return SPEC_REFUSE(why, "Artifact id (like docker image name) is either empty or not provided");
    const struct spec_service *other = world->find_service(world->arg, user, id);
    if (!other)
        return SPEC_REFUSE(why, "Service %s, the artifact of component %s, does not exist", id,
                           stand_in->name);
    for (size_t i = 0; i < other->n_components; i++) {
        const struct spec_component *from = other->components[i];
        struct spec_component *own = spec_component(s, from->name);
        if (own && own != stand_in && !own->artifact) {
            merge_component(own, from);
            continue;
        }
        int rc = expansion_add(x, fld_copy(&spec_component_type, from), why);
        if (rc)
            return rc;
    }
    return 0;
}

static int check_component_name(const struct spec_service *s, const struct spec_component *c,
                                const struct spec_world *world, struct err_info *why)
{
    if (!c->name || !c->name[0])
        return SPEC_REFUSE(why, "Name can not be empty!");
    size_t max = c->unique_component_support ? world->dialect->component_name_max_unique
                                             : world->dialect->component_name_max;
    if (world->dns_enabled && strlen(c->name) > max)
        return SPEC_REFUSE(why, "Component name must be no more than %zu characters: %s", max, c->name);
    if (strcmp(c->name, s->name) == 0)
        return SPEC_REFUSE(why, "Component name %s must not be same as service name %s", c->name, s->name);
    return 0;
}

/** Number of an instance after "comp-": as it is written in names, without leading zeros. */
static bool is_instance_number(const char *text)
{
    size_t len = strspn(text, "0123456789");
    return len > 0 && !text[len] && (text[0] != '0' || len == 1);
}

/** Instance 0 of component "a" and the component "a-0" have one DNS name. */
static int check_instance_names(const struct expansion *x, struct err_info *why)
{
    for (size_t i = 0; i < x->n_items; i++) {
        const char *name = x->items[i]->name, *dash = strrchr(name, '-');
        const struct spec_component *owner =
            dash && is_instance_number(dash + 1) ? map_getn(&x->names, name, (size_t)(dash - name)) : NULL;
        if (owner)
            return SPEC_REFUSE(
                why,
                "Component name %s is the name of an instance of component %s: both would have one DNS "
                "name, choose another",
                name, owner->name);
    }
    return 0;
}

static int expand_components(struct spec_service *s, const char *user, const struct spec_world *world,
                             struct expansion *x, struct err_info *why)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct spec_component *c = s->components[i];
        int rc = check_component_name(s, c, world, why);
        if (rc)
            return rc;
        if (map_get(&x->names, c->name))
            return SPEC_REFUSE(why, "Component name collision: %s", c->name);
        if (c->artifact && c->artifact->type == ARTIFACT_SERVICE) {
            rc = expand_service(s, c, user, world, x, why);
        } else {
            merge_config(c->configuration, s->configuration);
            rc = expansion_add(x, fld_copy(&spec_component_type, c), why);
        }
        if (rc)
            return rc;
    }
    return 0;
}

/** A stand-in behind the component it completes has changed the original: take those members over. */
static void take_late_merges(const struct spec_service *s, struct expansion *x)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct spec_component *kept = map_get(&x->names, s->components[i]->name);
        if (kept && !(s->components[i]->artifact && s->components[i]->artifact->type == ARTIFACT_SERVICE))
            merge_component(kept, s->components[i]);
    }
}

static int first_pass(struct spec_service *s, const char *user, const struct spec_world *world,
                      struct err_info *why)
{
    struct expansion x = {.names = MAP_EMPTY};
    int rc = expand_components(s, user, world, &x, why);
    rc = rc ? rc : check_instance_names(&x, why);
    if (!rc) {
        take_late_merges(s, &x);
        SPEC_SWAP_IF(true, s->components, x.items);
        SPEC_SWAP_IF(true, s->n_components, x.n_items);
    }
    expansion_fini(&x);
    return rc;
}

/* ---- inheritance ---- */

/** A nameless component that holds what the service gives to all of its components. Free with fld_free. */
static struct spec_component *service_defaults(const struct spec_service *s)
{
    struct spec_component *defaults = fld_new(&spec_component_type);
    struct spec_service *alone = spec_copy(&(struct spec_service){
        .artifact = s->artifact, .resource = s->resource, .launch_command = s->launch_command});
    if (alone->artifact && alone->artifact->type != ARTIFACT_SERVICE)
        SPEC_SWAP_IF(true, defaults->artifact, alone->artifact);
    SPEC_SWAP_IF(true, defaults->resource, alone->resource);
    SPEC_SWAP_IF(true, defaults->launch_command, alone->launch_command);
    defaults->number_of_containers = s->number_of_containers;
    defaults->placement_policy = json_deep_copy(s->placement_policy);
    spec_free(alone);
    return defaults;
}

/* ---- V14..V24 ---- */

static int check_components(struct spec_service *s, const struct spec_world *world, struct err_info *why)
{
    struct spec_component *defaults = service_defaults(s);
    for (size_t i = 0; i < s->n_components; i++)
        merge_component(s->components[i], defaults);
    fld_free(&spec_component_type, defaults);
    for (size_t i = 0; i < s->n_components; i++) {
        int rc = spec_check_component(s, s->components[i], world, why);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < s->n_components; i++) {
        int rc = spec_check_placement(s->components[i], i, why);
        if (rc)
            return rc;
    }
    return 0;
}

int spec_complete(struct spec_service *s, const char *user, const struct spec_world *world,
                  struct err_info *why)
{
    int rc = check_service(s, user, world, why);
    if (!rc)
        rc = first_pass(s, user, world, why);
    if (!rc)
        rc = check_components(s, world, why);
    if (rc)
        return rc;
    mem_auto size_t *order = mem_array(s->n_components + 1, sizeof(size_t));
    rc = spec_order(s, order, why);
    if (rc)
        return rc;
    if (s->lifetime <= 0) /* FLD_UNSET is one of these */
        s->lifetime = -1;
    return 0;
}
