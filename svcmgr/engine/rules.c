/** Retry and completion rules: see rules.h. */
#include "engine/rules.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

#define RETRY_ALWAYS       (-2)
#define RETRY_FAILURES     (-1)
#define GANG_TIMEOUT_MS    500000
#define CONFLICT_MIN_MS    600000
#define CONFLICT_MAX_MS    3600000
#define MIN_FAILED_DEFAULT 1
#define ESCALATE_MS        30000
#define SHORT_LIFE_MS      60000

static void component_rules_defaults(void *object)
{
    *(struct eng_component_rules *)object =
        (struct eng_component_rules){.min_failed = MIN_FAILED_DEFAULT, .escalate_ms = ESCALATE_MS};
}

static const struct fld component_rules_flds[] = {
    FLD_STR("name", struct eng_component_rules, name, 0),
    FLD_STR("title", struct eng_component_rules, title, 0),
    FLD_BOOL("fancy_retry", struct eng_component_rules, retry.is_fancy, 0),
    FLD_I64("max_retries", struct eng_component_rules, retry.max, FLD_ZERO),
    FLD_I64("min_failed", struct eng_component_rules, min_failed, 0),
    FLD_I64("min_succeeded", struct eng_component_rules, min_succeeded, FLD_ZERO),
    FLD_BOOL("strict", struct eng_component_rules, is_strict, 0),
    FLD_BOOL("forgets_nodes", struct eng_component_rules, forgets_nodes, 0),
    FLD_BOOL("one_by_one", struct eng_component_rules, one_by_one, 0),
    FLD_I64("escalate_ms", struct eng_component_rules, escalate_ms, 0),
    FLD_I64("priority", struct eng_component_rules, priority, FLD_ZERO),
    FLD_JSON("attributes", struct eng_component_rules, attributes, 0),
};
static const struct fld_type component_rules_type = {.what = "rules of a component",
                                                     .size = sizeof(struct eng_component_rules),
                                                     .flds = component_rules_flds,
                                                     .n_flds = ARRAY_LEN(component_rules_flds),
                                                     .defaults = component_rules_defaults};

static const struct fld parent_flds[] = {
    FLD_STR("user", struct eng_parent, user, 0),
    FLD_STR("name", struct eng_parent, name, 0),
    FLD_BOOL("stop_with_parent", struct eng_parent, stop_with_parent, 0),
    FLD_BOOL("destroy_with_parent", struct eng_parent, destroy_with_parent, 0),
};
static const struct fld_type parent_type = {.what = "parent",
                                            .size = sizeof(struct eng_parent),
                                            .flds = parent_flds,
                                            .n_flds = ARRAY_LEN(parent_flds)};

static void rules_defaults(void *object)
{
    *(struct eng_rules *)object = (struct eng_rules){.gang_timeout_ms = GANG_TIMEOUT_MS,
                                                     .short_life_ms = SHORT_LIFE_MS,
                                                     .conflict_min_ms = CONFLICT_MIN_MS,
                                                     .conflict_max_ms = CONFLICT_MAX_MS};
}

static const struct fld rules_flds[] = {
    FLD_STR("title", struct eng_rules, title, 0),
    FLD_BOOL("kept", struct eng_rules, is_kept, 0),
    FLD_BOOL("fancy_retry", struct eng_rules, retry.is_fancy, 0),
    FLD_I64("max_retries", struct eng_rules, retry.max, FLD_ZERO),
    FLD_BOOL("gang", struct eng_rules, is_gang, 0),
    FLD_I64("gang_timeout_ms", struct eng_rules, gang_timeout_ms, 0),
    FLD_I64("short_life_ms", struct eng_rules, short_life_ms, 0),
    FLD_I64("conflict_min_ms", struct eng_rules, conflict_min_ms, 0),
    FLD_I64("conflict_max_ms", struct eng_rules, conflict_max_ms, 0),
    FLD_OBJ("parent", struct eng_rules, parent, 0, &parent_type),
    FLD_JSON("attributes", struct eng_rules, attributes, 0),
    FLD_LIST("components", struct eng_rules, components, 0, &component_rules_type),
};
const struct fld_type eng_rules_type = {.what = "rules",
                                        .size = sizeof(struct eng_rules),
                                        .flds = rules_flds,
                                        .n_flds = ARRAY_LEN(rules_flds),
                                        .defaults = rules_defaults};

static void retries_defaults(void *object)
{
    *(struct eng_retries *)object = (struct eng_retries){0};
}

static const struct fld retries_flds[] = {
    FLD_I64("counted", struct eng_retries, n_counted, FLD_ZERO),
    FLD_I64("succeeded", struct eng_retries, n_succeeded, FLD_ZERO),
    FLD_I64("transient", struct eng_retries, n_transient, FLD_ZERO),
    FLD_I64("conflict", struct eng_retries, n_conflict, FLD_ZERO),
    FLD_I64("non_transient", struct eng_retries, n_non_transient, FLD_ZERO),
    FLD_I64("unknown", struct eng_retries, n_unknown, FLD_ZERO),
};
const struct fld_type eng_retries_type = {.what = "retries",
                                          .size = sizeof(struct eng_retries),
                                          .flds = retries_flds,
                                          .n_flds = ARRAY_LEN(retries_flds),
                                          .defaults = retries_defaults};

struct eng_rules *eng_rules_new(void)
{
    return fld_new(&eng_rules_type);
}

struct eng_component_rules *eng_rules_add(struct eng_rules *r, const char *component)
{
    struct eng_component_rules *c = fld_new(&component_rules_type);
    c->name = mem_str(component);
    r->components = mem_resize(r->components, r->n_components + 1, sizeof r->components[0]);
    return r->components[r->n_components++] = c;
}

struct eng_parent *eng_rules_set_parent(struct eng_rules *r, const char *user, const char *name)
{
    fld_free(&parent_type, r->parent);
    r->parent = fld_new(&parent_type);
    r->parent->user = mem_str(user);
    r->parent->name = mem_str(name);
    return r->parent;
}

int64_t eng_rules_short_life_ms(const struct eng_rules *r)
{
    return r ? r->short_life_ms : SHORT_LIFE_MS;
}

void eng_rules_free(struct eng_rules *r)
{
    fld_free(&eng_rules_type, r);
}

const struct eng_component_rules *eng_rules_of(const struct eng_rules *r, const char *component)
{
    static const struct eng_component_rules none = {.min_failed = MIN_FAILED_DEFAULT,
                                                    .escalate_ms = ESCALATE_MS};
    for (size_t i = 0; r && i < r->n_components; i++) {
        if (strcmp(r->components[i]->name, component) == 0)
            return r->components[i];
    }
    return &none;
}

/* ---- retry ---- */

static int64_t *counter_of(struct eng_retries *r, enum eng_exit_type type)
{
    switch (type) {
    case TYPE_SUCCEEDED: return &r->n_succeeded;
    case TYPE_TRANSIENT_NORMAL: return &r->n_transient;
    case TYPE_TRANSIENT_CONFLICT: return &r->n_conflict;
    case TYPE_NON_TRANSIENT: return &r->n_non_transient;
    case TYPE_UNKNOWN: break;
    }
    return &r->n_unknown;
}

bool eng_retry_decide(const struct eng_retry_rule *rule, struct eng_retries *r, enum eng_exit_type type)
{
    bool is_transient = type == TYPE_TRANSIENT_NORMAL || type == TYPE_TRANSIENT_CONFLICT;
    bool is_free = rule->is_fancy && is_transient;
    bool may_fail = type != TYPE_SUCCEEDED && (rule->max == RETRY_FAILURES || r->n_counted < rule->max);
    if (!is_free && rule->is_fancy && type == TYPE_NON_TRANSIENT)
        return false;
    if (!is_free && rule->max != RETRY_ALWAYS && !may_fail)
        return false;
    r->n_counted += !is_free;
    ++*counter_of(r, type);
    return true;
}
