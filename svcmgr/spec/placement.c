/** Placement policies: their members, and their meaning where all containers are on one host. See spec.h. */
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "spec/check.h"

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

int spec_check_placement_local(const struct spec_component *c, size_t index, struct err_info *why)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const json_t *constraint = json_array_get(constraints, i);
        const char *member = NULL;
        if (json_object_size(json_object_get(constraint, "node_attributes")) > 0)
            member = "node_attributes";
        if (json_array_size(json_object_get(constraint, "node_partitions")) > 0)
            member = "node_partitions";
        if (member)
            return SPEC_REFUSE(why,
                               "/components/%zu/placement_policy/constraints/%zu/%s: the host of a local "
                               "cluster has none; remove it, or use placement_policy/label",
                               index, i, member);
    }
    return 0;
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
        if (max >= 0 && max < out->max)
            out->max = max;
        if (min > out->min)
            out->min = min;
    }
}
