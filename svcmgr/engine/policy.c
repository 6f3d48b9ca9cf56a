/** Which policy a kind has, and what several policies share: see policy.h. */
#include "engine/policy.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/component.h"
#include "engine/step.h"

static const struct eng_policy *const rows[] = {
    [KIND_SERVICE] = &policy_service, [KIND_SLIDER] = &policy_slider, [KIND_LAUNCHER] = &policy_launcher};

const struct eng_policy *policy_of(enum eng_kind kind)
{
    BUG_IF((size_t)kind >= ARRAY_LEN(rows));
    return rows[kind];
}

const struct eng_policy *policy_of_component(const struct eng_component *c)
{
    return policy_of(c->service->kind);
}

const char *policy_kind_word(const char *folder)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i]->folder, folder) == 0)
            return eng_kind_word((enum eng_kind)i);
    }
    return "";
}

/* ---- what several rows share ---- */

int64_t policy_no_retry(struct step *st, struct eng_service *s, const struct eng_exit *x)
{
    (void)st;
    (void)s;
    (void)x;
    return -1;
}

size_t policy_pick_highest(struct eng_component *c, struct eng_instance **out, size_t n)
{
    size_t n_out = 0;
    const struct eng_instance *highest = component_highest_kept(c);
    for (int64_t i = highest ? highest->index : -1; i >= 0 && n_out < n; i--) {
        struct eng_instance *inst = component_instance(c, i);
        if (inst && !inst->removing)
            out[n_out++] = inst;
    }
    return n_out;
}

void policy_order_by_priority(const struct eng_service *s, size_t *order)
{
    const struct spec_service *spec = s->spec;
    for (size_t i = 0; i < spec->n_components; i++) {
        int64_t priority = eng_rules_of(s->rules, spec->components[i]->name)->priority;
        size_t at = i;
        while (at > 0 && eng_rules_of(s->rules, spec->components[order[at - 1]]->name)->priority > priority) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

int64_t policy_failure_limit(const struct eng_component *c, int64_t def)
{
    const char *key = spec_props[PROP_THRESHOLD].key;
    bool is_given = json_object_get(c->spec->configuration->properties, key) != NULL;
    bool is_watched = spec_prop_int(c->spec, PROP_HEALTH_PERCENT, -1) > 0;
    return is_watched ? -1 : is_given ? spec_prop_int(c->spec, PROP_THRESHOLD, def) : def;
}

bool policy_count_failure(struct step *st, struct eng_component *c)
{
    int64_t limit = policy_of_component(c)->failure_limit(c);
    int64_t n = component_count_failure(st, c);
    return limit >= 0 && n > limit;
}
