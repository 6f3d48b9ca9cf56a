/** Placement policies: their members, and their meaning where all containers are on one host. See spec.h. */
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "spec/check.h"
#include "spec/needs.h"
#include "spec/properties.h"

/** A number that is not there. */
#define CARDINALITY_UNSET (-1)

static int missing_in_constraint(const struct spec_component *c, const json_t *constraint, const char *what,
                                 struct err_info *why)
{
    const char *name = json_string_value(json_object_get(constraint, "name"));
    return SPEC_REFUSE(why, "%s not specified for constraint %s%sin placement policy of component %s.", what,
                       name ? name : "", name ? " " : "", c->name);
}

static bool is_one_of(const json_t *value, const char *const *words)
{
    const char *text = json_string_value(value);
    for (; text && *words; words++) {
        if (strcmp(text, *words) == 0)
            return true;
    }
    return false;
}

static int check_tags(const struct spec_component *c, const json_t *constraint, struct err_info *why)
{
    const json_t *tags = json_object_get(constraint, "target_tags");
    if (json_array_size(tags) == 0)
        return missing_in_constraint(c, constraint, "Tag(s)", why);
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        if (!tag || strcmp(tag, c->name) != 0)
            return SPEC_REFUSE(
                why,
                "Invalid target tag %s specified in placement policy of component %s. For now, target "
                "tags support self reference only. Specifying anything other than its component name "
                "is not supported. Set target tag of component %s to %s.",
                tag ? tag : "null", c->name, c->name, c->name);
    }
    return 0;
}

/** A cardinality as given: a number >= 0, or a text of one. @return CARDINALITY_UNSET: not given; < that: neither */
static int64_t cardinality(const json_t *constraint, const char *key)
{
    const json_t *value = json_object_get(constraint, key);
    if (!value || json_is_null(value))
        return CARDINALITY_UNSET;
    bool good = json_is_integer(value) && json_integer_value(value) >= 0;
    return good ? json_integer_value(value) : CARDINALITY_UNSET - 1;
}

static int check_cardinality(const json_t *constraint, const char *where, struct err_info *why)
{
    int64_t min = cardinality(constraint, "min_cardinality"),
            max = cardinality(constraint, "max_cardinality");
    if (min < CARDINALITY_UNSET || max < CARDINALITY_UNSET)
        return SPEC_REFUSE(why, "%s/%s: not a whole number from 0 on", where,
                           min < CARDINALITY_UNSET ? "min_cardinality" : "max_cardinality");
    if (max != CARDINALITY_UNSET && min > max)
        return SPEC_REFUSE(why, "%s/min_cardinality: %lld is more than max_cardinality, %lld", where,
                           (long long)min, (long long)max);
    return 0;
}

static int check_constraint(const struct spec_component *c, const json_t *constraint, const char *where,
                            struct err_info *why)
{
    static const char *const types[] = {"AFFINITY", "ANTI_AFFINITY", "AFFINITY_WITH_CARDINALITY", NULL};
    static const char *const scopes[] = {"NODE", "RACK", NULL};
    const json_t *type = json_object_get(constraint, "type"), *scope = json_object_get(constraint, "scope");
    if (!json_is_string(type))
        return missing_in_constraint(c, constraint, "Type", why);
    if (!json_is_string(scope))
        return missing_in_constraint(c, constraint, "Scope", why);
    int rc = check_tags(c, constraint, why);
    if (rc)
        return rc;
    if (!is_one_of(type, types))
        return SPEC_REFUSE(why,
                           "%s/type: %s is none of AFFINITY, ANTI_AFFINITY and AFFINITY_WITH_CARDINALITY",
                           where, json_string_value(type));
    if (!is_one_of(scope, scopes))
        return SPEC_REFUSE(why, "%s/scope: %s is neither NODE nor RACK", where, json_string_value(scope));
    return check_cardinality(constraint, where, why);
}

int spec_check_placement(const struct spec_component *c, size_t index, struct err_info *why)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");
    const json_t *label = json_object_get(c->placement_policy, "label");
    mem_auto char *where = mem_fmt("/components/%zu/placement_policy", index);
    if (c->placement_policy && !json_is_object(c->placement_policy))
        return SPEC_REFUSE(why, "%s: not an object", where);
    if (label && !json_is_string(label) && !json_is_null(label))
        return SPEC_REFUSE(why, "%s/label: not a text", where);
    if (constraints && !json_is_array(constraints) && !json_is_null(constraints))
        return SPEC_REFUSE(why, "%s/constraints: not an array", where);
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        mem_auto char *at = mem_fmt("%s/constraints/%zu", where, i);
        int rc = check_constraint(c, json_array_get(constraints, i), at, why);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- what one host can honour ---- */

/** A constraint that keeps every container from the host. */
static int check_constraint_local(const struct spec_constraint *c, const char *where,
                                  const struct spec_host *host, struct err_info *why)
{
    if (spec_constraint_allows(c, host ? host->attributes : NULL, host ? host->partition : NULL))
        return 0;
    const struct spec_constraint partitions = {.partitions = c->partitions};
    bool is_partition = !spec_constraint_allows(&partitions, NULL, host ? host->partition : NULL);
    return SPEC_REFUSE(
        why,
        "%s/%s: constraint %s wants what the host of this local cluster does not have (%s); remove "
        "it, or declare it there",
        where, is_partition ? "node_partitions" : "node_attributes", c->name,
        is_partition ? "yarn.nodemanager.node-labels.provider.configured-node-partition"
                     : "yarn.nodemanager.node-attributes.provider.configured-node-attributes");
}

int spec_check_placement_local(const struct spec_component *c, size_t index, const struct spec_host *host,
                               struct err_info *why)
{
    struct spec_needs *needs = spec_needs_new(c);
    int rc = 0;
    for (size_t i = 0; needs && !rc && i < needs->n_constraints; i++) {
        mem_auto char *where = mem_fmt("/components/%zu/placement_policy/constraints/%zu", index, i);
        rc = check_constraint_local(&needs->constraints[i], where, host, why);
    }
    spec_needs_free(needs);
    return rc;
}

/** `memory-mb` and `vcores` are memory and cpus, and may be repeated. */
static int check_repeated(const struct spec_component *c, const char *name, const json_t *resource,
                          const char *where, struct err_info *why)
{
    bool is_memory = strcmp(name, "memory-mb") == 0;
    int64_t own = is_memory ? spec_memory_mb(c) : c->resource->cpus;
    const char *unit = json_string_value(json_object_get(resource, "unit"));
    if (json_integer_value(json_object_get(resource, "value")) != own)
        return SPEC_REFUSE(why, "%s: it differs from %s, %lld; remove it", where,
                           is_memory ? "memory" : "cpus", (long long)own);
    if (unit && unit[0] && !(is_memory && strcmp(unit, "Mi") == 0))
        return SPEC_REFUSE(why, "%s/unit: %s is not its unit%s; remove it", where, unit,
                           is_memory ? ", Mi" : ", it has none");
    return 0;
}

/** How much of a type the host declares; 0: nothing. */
static int64_t declared(const struct spec_host *host, const char *type)
{
    for (size_t i = 0; host && host->types && i < host->types->n_amounts; i++) {
        if (strcmp(host->types->amounts[i].type, type) == 0)
            return host->types->amounts[i].n;
    }
    return 0;
}

static int check_declared(const struct spec_component *c, const char *type, const json_t *resource,
                          const char *where, const struct spec_host *host, struct err_info *why)
{
    int64_t n = spec_amount_of(resource), max = declared(host, type);
    if (n < 0)
        return SPEC_REFUSE(why, "%s: its value is no whole number from 0 on, or its unit none of resources",
                           where);
    if (n > 0 && max == 0)
        return SPEC_REFUSE(why,
                           "%s: the host of this local cluster has no %s; remove it, or declare it by "
                           "yarn.nodemanager.resource-type.%s",
                           where, type, type);
    if (n > max)
        return SPEC_REFUSE(
            why, "Component %s: specified %s (%lld) is larger than configured max container %s (%lld)",
            c->name, type, (long long)n, type, (long long)max);
    return 0;
}

int spec_check_additional_local(const struct spec_component *c, size_t index, const struct spec_host *host,
                                struct err_info *why)
{
    const char *name;
    json_t *resource;
    int rc = 0;
    json_object_foreach(c->resource->additional, name, resource)
    {
        mem_auto char *base = mem_fmt("/components/%zu/resource/additional", index);
        mem_auto char *where = spec_pointer(base, name);
        bool is_repeated = strcmp(name, "memory-mb") == 0 || strcmp(name, "vcores") == 0;
        if (!rc)
            rc = is_repeated ? check_repeated(c, name, resource, where, why)
                             : check_declared(c, name, resource, where, host, why);
    }
    return rc;
}

void spec_placement_one_host(const struct spec_component *c, struct spec_placement *out)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");
    *out = (struct spec_placement){.max = INT64_MAX};
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const json_t *constraint = json_array_get(constraints, i);
        const char *type = json_string_value(json_object_get(constraint, "type"));
        int64_t max = cardinality(constraint, "max_cardinality"), min = 0;
        if (type && strcmp(type, "ANTI_AFFINITY") == 0)
            max = 1;
        else if (type && strcmp(type, "AFFINITY_WITH_CARDINALITY") == 0)
            min = cardinality(constraint, "min_cardinality");
        else
            max = CARDINALITY_UNSET; /* AFFINITY: they are all together */
        if (max >= 0 && max < out->max) {
            out->max = max;
            out->max_by = constraint;
        }
        if (min > out->min) {
            out->min = min;
            out->min_by = constraint;
        }
    }
}

char *spec_constraint_name(const struct spec_component *c, const json_t *constraint)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");
    const char *name = json_string_value(json_object_get(constraint, "name"));
    size_t i = 0;
    while (!name && i < json_array_size(constraints) && json_array_get(constraints, i) != constraint)
        i++;
    return name ? mem_str(name) : mem_fmt("constraints/%zu", i);
}
