/**
 * Configuration trees of Slider: ConfTree and the options in it. A tree is a JSON object whose shape slider_conf_read has made sure:
 *
 *     { "schema": "…", "metadata": {any}, "global": {option: text}, "credentials": {uri: [alias…]},
 *       "components": { name: {option: text} } }
 *
 * All five members are there, in this order. Options are texts: what was sent as a number or a boolean is its literal text.
 * Pure. Thread: any, one tree one thread.   Source: slider-am 3.1, 4.
 */
#ifndef FACES_SLIDER_CONF_H
#define FACES_SLIDER_CONF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

#define SLIDER_SCHEMA "http://example.org/specification/v2.0.0"
/** The component that is the application master: it is shown, and never flexed. */
#define SLIDER_MASTER "slider-appmaster"
/** Seconds that a process must live to have started: of a resources document, though its name is one of the internal document. */
#define SLIDER_SHORT_LIFE "internal.container.failure.shortlife"
/** Components of one tree, and options of one component or of `global`; more are refused. */
#define SLIDER_COMPONENTS_MAX 1000
#define SLIDER_OPTIONS_MAX    1000

/**
 * Read a tree.
 *
 * @param bytes  JSON text of `len` bytes                                             [borrowed]
 * @param out    new reference                                                        [out]
 * @param why    where: line and column, or the JSON pointer of what has a wrong type [out]
 * @return 0; ERR_JSON: it is no JSON object, or not of this shape; ERR_INVALID: another schema (V1), or more than the limits.
 *         *out unchanged.
 */
int slider_conf_read(const char *bytes, size_t len, json_t **out, struct err_info *why);
/** A tree without options. New reference. */
json_t *slider_conf_new(void);
/**
 * Resolve the options: what `global` has is in each component that does not have it. Resolving twice equals resolving once.
 *
 * @return new reference; the tree is unchanged.   Source: slider-am 4.1.
 */
json_t *slider_conf_resolve(const json_t *tree);
/** Add an empty component for each name of another tree that this one lacks. Source: slider-am 4.1 (4). */
void slider_conf_add_components(json_t *tree, const json_t *of);

/** Options of a component; NULL: the tree has none of this name. [borrowed] */
const json_t *slider_conf_component(const json_t *tree, const char *component);
/**
 * An option of a component, or else of `global`.
 *
 * @param component  NULL: of `global` only
 * @return its text; NULL: neither has it. [borrowed]
 */
const char *slider_conf_option(const json_t *tree, const char *component, const char *option);

/**
 * Read an integer as Java's decode does: a sign, then decimal, 0x or # hexadecimal, or a leading zero for octal.
 *
 * @return 0; ERR_PARSE: anything else, blanks too, or beyond 64 bits; *out unchanged.   Source: slider-am 4.2.
 */
int slider_decode(const char *text, int64_t *out);
/** An option as an integer; absent: def. @return 0; ERR_INVALID, *why names the option. */
int slider_conf_int(const json_t *tree, const char *component, const char *option, int64_t def, int64_t *out,
                    struct err_info *why);
/** An option as a boolean: "true", in any case, is true, all else is not. */
bool slider_conf_bool(const json_t *tree, const char *component, const char *option, bool def);
/**
 * A span of time, from the options BASE.days, .hours, .minutes and .seconds.
 *
 * @param def_s  seconds when none of them is there
 * @param out    their sum in seconds                                                 [out]
 * @return 0; ERR_INVALID: a part is no integer, is negative, or the sum is beyond a hundred years (V10).
 */
int slider_conf_span(const json_t *tree, const char *component, const char *base, int64_t def_s, int64_t *out,
                     struct err_info *why);

#endif
