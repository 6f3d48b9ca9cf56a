/** See plan.h. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"

static const struct {
    const char *word;
    bool is_put, is_left_out;
} actions[N_PLAN_ACTIONS] = {
#define PLAN_ACTION_ROW(token, word, is_put, is_left_out) [token] = {word, is_put, is_left_out},
    PLAN_ACTIONS(PLAN_ACTION_ROW)
#undef PLAN_ACTION_ROW
};

const char *plan_word(enum plan_action action)
{
    return actions[action].word;
}

bool plan_is_put(enum plan_action action)
{
    return actions[action].is_put;
}

bool plan_is_left_out(enum plan_action action)
{
    return actions[action].is_left_out;
}

enum plan_action plan_done(enum plan_action action)
{
    BUG_IF(!plan_is_put(action));
    if (action == PLAN_NEW)
        return PLAN_ADDED;
    return action == PLAN_UPDATE ? PLAN_UPDATED : PLAN_REPLACED;
}

struct plan_entry *plan_add(struct plan *plan, const char *path)
{
    struct plan_entry *e = mem_new(struct plan_entry);

    e->path = mem_str(path);
    e->n_running = -1;
    e->progress = -1;
    plan->items = mem_resize(plan->items, plan->n_items + 1, sizeof(struct plan_entry *));
    plan->items[plan->n_items++] = e;
    return e;
}

void plan_malformed(struct plan_entry *e, const struct err_info *why)
{
    e->action = PLAN_MALFORMED;
    e->why = *why;
}

void plan_fini(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_items; i++) {
        struct plan_entry *e = plan->items[i];
        stored_request_fini(&e->request);
        json_decref(e->value);
        free(e->path);
        free(e);
    }
    free(plan->items);
    *plan = (struct plan){0};
}

/* ---- order ---- */

/** An entry behind all that are above it and not placed yet. */
static void place(struct plan_entry *e, const struct map *by_name, struct plan_entry **chain,
                  struct plan *out)
{
    size_t n = 0;

    while (e && !e->is_placed) {
        e->is_placed = true;
        chain[n++] = e;
        e = e->request.parent ? map_get(by_name, e->request.parent) : NULL;
    }
    while (n > 0)
        out->items[out->n_items++] = chain[--n];
}

void plan_order(struct plan *plan)
{
    mem_auto struct plan_entry **chain = mem_array(plan->n_items + 1, sizeof(struct plan_entry *));
    struct plan out = {.items = mem_array(plan->n_items + 1, sizeof(struct plan_entry *))};
    struct map by_name = MAP_EMPTY;

    for (size_t i = 0; i < plan->n_items; i++) {
        struct plan_entry *e = plan->items[i];
        if (!e->document)
            map_set(&by_name, e->request.name, e);
    }
    for (size_t i = 0; i < plan->n_items; i++) {
        if (plan->items[i]->document)
            place(plan->items[i], &by_name, chain, &out);
    }
    for (size_t i = 0; i < plan->n_items; i++)
        place(plan->items[i], &by_name, chain, &out);
    map_fini(&by_name, NULL);
    free(plan->items);
    *plan = out;
}

/* ---- frameworks ---- */

void plan_framework(struct plan_entry *e, const json_t *there, bool overwrites)
{
    const struct stored_request *r = &e->request;
    const char *user = json_string_value(json_object_get(there, "userName"));
    int64_t version = json_integer_value(json_object_get(there, "frameworkVersion"));

    if (!there) {
        e->action = PLAN_NEW;
    } else if (!user || strcmp(user, r->user) != 0) {
        e->action = PLAN_DIFFERS;
        err_set(&e->why, ERR_EXISTS, NULL, "svcmgr has one of user %s", user ? user : "unknown");
    } else if (version == r->version) {
        e->action = overwrites ? PLAN_UPDATE : PLAN_SAME;
    } else if (overwrites) {
        e->action = PLAN_REPLACE;
    } else {
        e->action = PLAN_DIFFERS;
        err_set(&e->why, ERR_EXISTS, NULL, "svcmgr has version %lld; --overwrite replaces it",
                (long long)version);
    }
}

/* ---- documents ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *normal(const json_t *value);

/** Items in the order of their texts: the arrays of these documents are sets. */
static void put_items(const json_t *list, struct buf *out)
{
    size_t n = json_array_size(list);
    mem_auto char **texts = mem_array(n + 1, sizeof *texts);

    for (size_t i = 0; i < n; i++)
        texts[i] = normal(json_array_get(list, i));
    qsort(texts, n, sizeof *texts, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
            buf_addf(out, "%s,", texts[i]);
    }
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
}

/** Members by name, without those that are null. */
static void put_members(const json_t *object, struct buf *out)
{
    struct map members = MAP_EMPTY;
    const char *key;
    json_t *member;

    json_object_foreach((json_t *)object, key, member)
    {
        if (!json_is_null(member))
            map_set(&members, key, member);
    }
    mem_auto const char **keys = map_sorted_keys(&members);
    for (size_t i = 0; keys[i]; i++) {
        mem_auto char *text = normal(map_get(&members, keys[i]));
        buf_addf(out, "%zu:%s=%s,", strlen(keys[i]), keys[i], text);
    }
    map_fini(&members, NULL);
}

/** A text that is the same for documents that say the same. [new] */
static char *normal(const json_t *value)
{
    struct buf out = BUF_EMPTY;

    if (json_is_array(value)) {
        buf_add_char(&out, '[');
        put_items(value, &out);
        buf_add_char(&out, ']');
    } else if (json_is_object(value)) {
        buf_add_char(&out, '{');
        put_members(value, &out);
        buf_add_char(&out, '}');
    } else {
        json_write(value, &out);
    }
    return buf_take(&out);
}

bool plan_is_empty(const json_t *document)
{
    const char *key;
    json_t *member;
    bool is_empty = true;

    json_object_foreach((json_t *)document, key, member)
    {
        if (json_object_size(member) || json_array_size(member))
            is_empty = false;
    }
    return is_empty;
}

void plan_document(struct plan_entry *e, const json_t *there, bool overwrites)
{
    mem_auto char *ours = normal(there), *theirs = normal(e->value);

    if (plan_is_empty(there)) {
        e->action = PLAN_NEW;
    } else if (strcmp(ours, theirs) == 0) {
        e->action = PLAN_SAME;
    } else if (overwrites) {
        e->action = PLAN_REPLACE;
    } else {
        e->action = PLAN_DIFFERS;
        err_set(&e->why, ERR_EXISTS, NULL, "svcmgr has another one; --overwrite replaces it");
    }
}
