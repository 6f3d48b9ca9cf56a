/**
 * Documents of the FrameworkLauncher API that are of no framework: see ENG_CLUSTER_DOCUMENTS in event.h. The engine keeps and stores them
 * whole; what is in them is checked and used by the API.
 *
 *     launcher/<word>    {"format": 2, "value": …}
 */
#include <string.h>

#include "engine/document.h"
#include "engine/service.h"
#include "engine/step.h"
#include "json/json.h"

#define DOCUMENT_WORD(token, word) word,
static const char *const words[] = {ENG_CLUSTER_DOCUMENTS(DOCUMENT_WORD)};

static bool is_word(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(words[i], name) == 0)
            return true;
    }
    return false;
}

const char *eng_cluster_document_word(enum eng_cluster_document document)
{
    BUG_IF((size_t)document >= ARRAY_LEN(words));
    return words[document];
}

/** value NULL: there is none any more; else it is taken. */
static void put(struct engine *e, const char *word, json_t *take_value)
{
    json_decref(take_value ? map_set(&e->documents, word, take_value) : map_remove(&e->documents, word));
}

static void free_value(void *value)
{
    json_decref((json_t *)value);
}

void cluster_documents_fini(struct engine *e)
{
    map_fini(&e->documents, free_value);
}

const json_t *engine_cluster_document(const struct engine *e, enum eng_cluster_document document)
{
    return map_get(&e->documents, eng_cluster_document_word(document));
}

void cluster_document_event(struct step *st, const struct eng_event *ev)
{
    bool is_known = is_word(ev->name);
    const json_t *now = is_known ? map_get(&st->e->documents, ev->name) : NULL;
    step_answer(st, ev->token, is_known ? OUT_DOCUMENT_SET : OUT_NOT_FOUND, NULL)->name = mem_str(ev->name);
    if (!is_known || (now ? ev->value && json_equal(now, ev->value) : !ev->value))
        return;
    put(st->e, ev->name, json_deep_copy(ev->value));
    step_store_value(st, mem_fmt(CLUSTER_DOCUMENTS "/%s", ev->name), ev->value);
}

int cluster_document_load(struct engine *e, const char *key, const char *word, const json_t *doc,
                          struct err_info *why)
{
    const json_t *value = json_object_get(doc, "value");
    if (!is_word(word) || !value || map_get(&e->documents, word))
        return err_set(why, ERR_JSON, key, "%s: not a document of the cluster", key);
    put(e, word, json_deep_copy(value));
    return 0;
}

json_t *cluster_document_keep(const struct engine *e, const char *word)
{
    return json_deep_copy(map_get(&e->documents, word));
}

void cluster_document_undo(struct engine *e, const char *word, const json_t *kept)
{
    put(e, word, json_deep_copy(kept));
}
