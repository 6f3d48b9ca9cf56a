/**
 * What is stored of a Slider application (eng_service.request), and what services of other APIs have in its place:
 *
 *     { "resources": tree, "appConf": tree, "internal": tree, "package": Package, "nextAppConf": tree,
 *       "model": [{"name", "group", "index", "priority"}…] }
 *
 * All trees are unresolved. `nextAppConf` was put after the start, and counts from the next start or upgrade on. `model` are the
 * components that are known, also those that the resources lack. `package` and `nextAppConf` may be absent.
 * Pure. Thread: any, one object one thread.   Source: slider-am 3, 5, 8.6.
 */
#ifndef SLIDER_DOCUMENTS_H
#define SLIDER_DOCUMENTS_H

#include <jansson.h>

#include "engine/engine.h"
#include "slider/model.h"

/** The documents of an application: new references, slider_trees_fini. */
struct slider_trees {
    json_t *resources, *app_conf, *internal;
    json_t *package;       /* NULL: none */
    json_t *next_app_conf; /* NULL: app_conf is the last one */
};

/** Release; they are empty afterwards. */
void slider_trees_fini(struct slider_trees *t);
#define slider_trees_auto __attribute__((cleanup(slider_trees_fini)))
/** Whether a service was made by this API: its documents are kept. Not known in an application master. */
bool slider_has_documents(const struct eng_service *s);
/** The documents of a service as they were put; of another API: made from its definition. @param out  slider_trees_fini [out] */
void slider_trees_of(const struct eng_service *s, struct slider_trees *out);
/**
 * Read {"resources", "appConf", "internal", "package"}: the latter three may be absent.
 *
 * @param body  an object; other members are passed over                             [borrowed]
 * @param out   slider_trees_fini; empty on error                                     [out]
 * @return 0; ERR_JSON, ERR_INVALID: *why has the place.
 */
int slider_trees_read(const json_t *body, struct slider_trees *out, struct err_info *why);

/** Resources, resolved; of the application master there is one. New reference. */
json_t *slider_resolved_resources(const struct slider_trees *t);
/** The application configuration in force, resolved, with the components of the resources. New reference. */
json_t *slider_resolved_app_conf(const struct slider_trees *t);
/** Components that are known of a service. @param out  slider_model_fini [out] */
void slider_known(const struct eng_service *s, struct slider_model *out);
/** What is stored: of documents, and the components that are known with them. New reference. */
json_t *slider_stored(const struct slider_trees *t, const struct slider_model *model);
/** AggregateConf. @param resources, app_conf  as they are to be shown [borrowed] @return new reference */
json_t *slider_aggregate(const struct eng_service *s, const json_t *resources, const json_t *internal,
                         const json_t *app_conf);

#endif
