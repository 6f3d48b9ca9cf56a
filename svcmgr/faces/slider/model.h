/**
 * What the resources document of a Slider application asks for: its components with number, priority and size.
 *
 * A component that was there once stays known: when a later document lacks it, it is wanted 0 times and keeps its priority. A
 * component with component.unique.names is a group: `worker` with 3 instances is worker1, worker2 and worker3, each wanted once.
 * Pure. Thread: any, one object one thread.   Source: slider-am 4.3 to 4.6, 5.3.
 */
#ifndef FACES_SLIDER_MODEL_H
#define FACES_SLIDER_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

/** The most that the cluster gives to one container: "max". */
#define SLIDER_MOST INT64_MAX

/** Bits of yarn.component.placement.policy. Source: slider-am 4.4. */
enum {
    SLIDER_PLACE_STRICT = 1,      /* only where it was */
    SLIDER_PLACE_ANYWHERE = 2,    /* wherever it was */
    SLIDER_PLACE_ANTI_AFFINE = 4, /* one on a node */
    SLIDER_PLACE_NOT_FLEXED = 16  /* the application master */
};

struct slider_component {
    char *name;
    char *group;      /* whose options it has; NULL: it is in none and has its own */
    int64_t index;    /* in the group, from 1; 0: it is in none */
    int64_t priority; /* from 1, unique; also its id */
    int64_t n_wanted;
    int64_t memory_mb, vcores; /* SLIDER_MOST: the most that there is */
    int64_t placement;         /* SLIDER_PLACE_* */
};

/** By priority. */
struct slider_model {
    struct slider_component *items; /* owned */
    size_t n;
};

/** Release; the model is empty afterwards. */
void slider_model_fini(struct slider_model *m);
/**
 * Read the components of a document, and check it: V2 to V5, V10.
 *
 * @param resolved  resources, resolved: slider_conf_resolve                          [borrowed]
 * @param known     components that were there before; NULL: none                     [borrowed]
 * @param out       release with slider_model_fini                                    [out]
 * @return 0; ERR_INVALID: *why names the option and the remedy; *out is empty.
 */
int slider_model_read(const json_t *resolved, const struct slider_model *known, struct slider_model *out,
                      struct err_info *why);
/** A component by name; NULL: there is none. [borrowed] */
const struct slider_component *slider_model_find(const struct slider_model *m, const char *name);
/** The name under which its options stand in the documents. [borrowed] */
const char *slider_component_options(const struct slider_component *c);
/**
 * Keys of a resources document that it should not have (V6), or components' keys of an application configuration (V7).
 *
 * @return a sentence for a person, some kilobytes at most, free(); NULL: there are none
 */
char *slider_resources_warning(const json_t *tree);
char *slider_appconf_warning(const json_t *tree);

#endif
