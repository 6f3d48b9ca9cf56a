/** What a container needs of its node: see needs.h. */
#include "spec/needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/spec.h"

/* ---- amounts ---- */

/** Units of resources with their factors: of multiples above 0, of parts 1 / factor. */
static const struct unit {
    const char *word;
    int64_t factor;
    bool is_part;
} units[] = {
    {"", 1, false},
    {"p", 1000000000000, true},
    {"n", 1000000000, true},
    {"u", 1000000, true},
    {"m", 1000, true},
    {"k", 1000, false},
    {"M", 1000000, false},
    {"G", 1000000000, false},
    {"T", 1000000000000, false},
    {"P", 1000000000000000, false},
    {"Ki", (int64_t)1 << 10, false},
    {"Mi", (int64_t)1 << 20, false},
    {"Gi", (int64_t)1 << 30, false},
    {"Ti", (int64_t)1 << 40, false},
    {"Pi", (int64_t)1 << 50, false},
};

/** @return -1: no such unit, or no amount */
static int64_t amount(int64_t value, const char *unit)
{
    for (size_t i = 0; value >= 0 && i < ARRAY_LEN(units); i++) {
        int64_t n;
        if (strcmp(units[i].word, unit) != 0)
            continue;
        if (units[i].is_part)
            return value / units[i].factor + (value % units[i].factor != 0);
        return __builtin_mul_overflow(value, units[i].factor, &n) ? INT64_MAX : n;
    }
    return -1;
}

int64_t spec_amount_of(const json_t *resource)
{
    const json_t *value = json_object_get(resource, "value"), *unit = json_object_get(resource, "unit");
    bool is_unit = !unit || json_is_null(unit) || json_is_string(unit);
    if (!json_is_integer(value) || !is_unit)
        return -1;
    return amount(json_integer_value(value), json_is_string(unit) ? json_string_value(unit) : "");
}

int64_t spec_amount_read(const char *text)
{
    size_t len = strspn(text, "0123456789");
    mem_auto char *digits = mem_strn(text, len);
    int64_t value;
    return str_to_i64(digits, 0, INT64_MAX, &value) ? -1 : amount(value, text + len);
}

static void add_amounts(struct spec_needs *needs, const struct spec_component *c)
{
    const char *type;
    json_t *resource;
    needs->amounts = mem_array(json_object_size(c->resource->additional) + 1, sizeof needs->amounts[0]);
    json_object_foreach(c->resource->additional, type, resource)
    {
        int64_t n = spec_amount_of(resource);
        if (n > 0 && strcmp(type, "memory-mb") != 0 && strcmp(type, "vcores") != 0)
            needs->amounts[needs->n_amounts++] = (struct spec_amount){
                mem_str(type), n, c->task && !strcmp(type, SPEC_GPU_TYPE) ? c->task->gpu_mask : 0};
    }
}

/* ---- constraints ---- */

static bool has_type(const json_t *constraint, const char *type)
{
    const char *text = json_string_value(json_object_get(constraint, "type"));
    return text && strcmp(text, type) == 0;
}

/** A number from 0 on; def: it is not given. */
static int64_t number(const json_t *constraint, const char *key, int64_t def)
{
    const json_t *value = json_object_get(constraint, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : def;
}

/** A member that is not empty; else NULL. [new reference] */
static json_t *member(const json_t *constraint, const char *key)
{
    json_t *value = json_object_get(constraint, key);
    return json_object_size(value) > 0 || json_array_size(value) > 0 ? json_incref(value) : NULL;
}

static struct spec_constraint read_constraint(const struct spec_component *c, const json_t *constraint)
{
    const char *scope = json_string_value(json_object_get(constraint, "scope"));
    struct spec_constraint out = {.name = spec_constraint_name(c, constraint),
                                  .scope = scope && strcmp(scope, "RACK") == 0 ? SCOPE_RACK : SCOPE_NODE,
                                  .max = INT64_MAX,
                                  .attributes = member(constraint, "node_attributes"),
                                  .partitions = member(constraint, "node_partitions")};
    if (has_type(constraint, "AFFINITY"))
        out.is_together = true;
    else if (has_type(constraint, "ANTI_AFFINITY"))
        out.max = 1;
    else
        out.max = number(constraint, "max_cardinality", INT64_MAX);
    if (has_type(constraint, "AFFINITY_WITH_CARDINALITY"))
        out.min = number(constraint, "min_cardinality", 0);
    return out;
}

struct spec_needs *spec_needs_new(const struct spec_component *c)
{
    const json_t *constraints = json_object_get(c->placement_policy, "constraints");
    size_t n = json_array_size(constraints);
    if (n == 0 && json_object_size(c->resource->additional) == 0)
        return NULL;
    struct spec_needs *needs = mem_new(struct spec_needs);
    needs->constraints = mem_array(n + 1, sizeof needs->constraints[0]);
    for (size_t i = 0; i < n; i++)
        needs->constraints[needs->n_constraints++] = read_constraint(c, json_array_get(constraints, i));
    add_amounts(needs, c);
    return needs;
}

struct spec_needs *spec_needs_copy(const struct spec_needs *needs)
{
    if (!needs)
        return NULL;
    struct spec_needs *copy = mem_new(struct spec_needs);
    copy->constraints = mem_array(needs->n_constraints + 1, sizeof copy->constraints[0]);
    copy->amounts = mem_array(needs->n_amounts + 1, sizeof copy->amounts[0]);
    for (; copy->n_constraints < needs->n_constraints; copy->n_constraints++) {
        struct spec_constraint *c = &copy->constraints[copy->n_constraints];
        *c = needs->constraints[copy->n_constraints];
        c->name = mem_str(c->name);
        json_incref(c->attributes);
        json_incref(c->partitions);
    }
    for (; copy->n_amounts < needs->n_amounts; copy->n_amounts++) {
        const struct spec_amount *a = &needs->amounts[copy->n_amounts];
        copy->amounts[copy->n_amounts] = (struct spec_amount){mem_str(a->type), a->n, a->mask};
    }
    return copy;
}

void spec_needs_free(struct spec_needs *needs)
{
    if (!needs)
        return;
    for (size_t i = 0; i < needs->n_constraints; i++) {
        free(needs->constraints[i].name);
        json_decref(needs->constraints[i].attributes);
        json_decref(needs->constraints[i].partitions);
    }
    for (size_t i = 0; i < needs->n_amounts; i++)
        free(needs->amounts[i].type);
    free(needs->constraints);
    free(needs->amounts);
    free(needs);
}

/* ---- nodes ---- */

/** A text is one of an array's, or is the value itself. */
static bool is_among(const json_t *values, const char *text)
{
    const char *only = json_string_value(values);
    bool found = only && text && strcmp(only, text) == 0;
    for (size_t i = 0; !found && i < json_array_size(values); i++) {
        const char *one = json_string_value(json_array_get(values, i));
        found = one && text && strcmp(one, text) == 0;
    }
    return found;
}

bool spec_constraint_allows(const struct spec_constraint *c, const json_t *attributes, const char *partition)
{
    const char *name;
    json_t *values;
    if (c->partitions && !is_among(c->partitions, partition ? partition : ""))
        return false;
    json_object_foreach(c->attributes, name, values)
    {
        if (!is_among(values, json_string_value(json_object_get(attributes, name))))
            return false;
    }
    return true;
}
