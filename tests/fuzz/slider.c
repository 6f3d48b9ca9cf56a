/*
 * The documents of a Slider application: any bytes as one tree, and as {"resources", "appConf", "internal", "package"} of a request. What is
 * taken reads as itself when it is written, resolves once for all, and becomes a definition that the engine's parser takes or refuses with a
 * sentence; a refusal is one line.
 */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/definition.h"
#include "slider/documents.h"
#include "spec/spec.h"

static void check_refusal(int err, const struct err_info *why)
{
    FUZZ_HOLDS(err == ERR_JSON || err == ERR_INVALID);
    FUZZ_HOLDS(why->code == err && why->text[0] && !strpbrk(why->text, "\r\n"));
}

/** A tree that was taken: all five members, and the same once more. */
static void check_tree(const json_t *tree)
{
    static const char *const members[] = {"schema", "metadata", "global", "credentials", "components"};
    json_auto json_t *again = NULL;
    json_auto json_t *resolved = slider_conf_resolve(tree);
    json_auto json_t *twice = slider_conf_resolve(resolved);
    buf_auto struct buf text = BUF_EMPTY;

    FUZZ_HOLDS(json_object_size(tree) == ARRAY_LEN(members));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        FUZZ_HOLDS(json_object_get(tree, members[i]));
    FUZZ_HOLDS(json_equal(resolved, twice));
    json_write(tree, &text);
    FUZZ_HOLDS(slider_conf_read(text.bytes, text.len, &again, NULL) == 0);
    FUZZ_HOLDS(json_equal(tree, again));
}

/** Components in the order of their priorities, of which each is one's alone. */
static void check_model(const struct slider_model *m)
{
    for (size_t i = 0; i < m->n; i++) {
        FUZZ_HOLDS(m->items[i].n_wanted >= 0 && m->items[i].priority >= 1);
        FUZZ_HOLDS(i == 0 || m->items[i].priority > m->items[i - 1].priority);
        FUZZ_HOLDS(!m->items[i].group || m->items[i].index >= 1);
    }
}

static void check_definition(const struct slider_documents *docs, const struct slider_model *model)
{
    const struct slider_limits limits = {4096, 8};
    json_auto json_t *doc = slider_definition_make(docs, model, &limits);
    buf_auto struct buf text = BUF_EMPTY;
    struct spec_service *spec = NULL;
    struct eng_rules *rules = NULL;
    struct err_info why = {0};

    FUZZ_HOLDS(json_array_size(json_object_get(doc, "components")) == model->n);
    json_write(doc, &text);
    if (spec_read(text.bytes, text.len, &spec, NULL, &why))
        FUZZ_HOLDS(why.text[0]);
    else
        FUZZ_HOLDS(spec->n_components == model->n);
    spec_free(spec);
    int err = slider_definition_rules(docs, model, &rules, &why);
    if (err)
        check_refusal(err, &why);
    else
        FUZZ_HOLDS(rules->n_components == model->n && rules->short_life_ms >= 0);
    eng_rules_free(rules);
}

static void check_application(const struct slider_trees *t)
{
    json_auto json_t *resources = slider_resolved_resources(t);
    json_auto json_t *app_conf = slider_resolved_app_conf(t);
    json_auto json_t *internal = slider_conf_resolve(t->internal);
    const struct slider_documents docs = {.name = "app",
                                          .resources = resources,
                                          .app_conf = app_conf,
                                          .internal = internal,
                                          .package = t->package};
    struct slider_model model, again;
    struct err_info why = {0};
    int err = slider_model_read(resources, NULL, &model, &why);

    if (err) {
        check_refusal(err, &why);
        return;
    }
    check_model(&model);
    FUZZ_HOLDS(slider_model_read(resources, &model, &again, &why) ==
               0); /* the same document again changes nothing */
    FUZZ_HOLDS(again.n == model.n);
    for (size_t i = 0; i < model.n; i++)
        FUZZ_HOLDS(strcmp(again.items[i].name, model.items[i].name) == 0 &&
                   again.items[i].n_wanted == model.items[i].n_wanted &&
                   again.items[i].priority == model.items[i].priority);
    slider_model_fini(&again);
    if ((err = slider_definition_check(&docs, &model, &why)))
        check_refusal(err, &why);
    else
        check_definition(&docs, &model);
    slider_model_fini(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    json_auto json_t *tree = NULL;
    json_auto json_t *body = NULL;
    slider_trees_auto struct slider_trees trees = {0};
    struct err_info why = {0};
    int err = slider_conf_read(bytes, size, &tree, &why);

    if (err)
        check_refusal(err, &why);
    else
        check_tree(tree);
    why = (struct err_info){0};
    if (json_read(bytes, size, &body, &why))
        return 0;
    if ((err = slider_trees_read(body, &trees, &why)))
        check_refusal(err, &why);
    else
        check_application(&trees);
    return 0;
}
