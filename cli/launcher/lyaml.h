/**
 * Documents of the original launcher's store, YAML as SnakeYAML writes it, as JSON values.
 *
 *     !!com.microsoft….FrameworkRequest        class "FrameworkRequest"
 *     a: {b: 1, c: '2', d: null}               {"a": {"b": 1, "c": "2", "d": null},
 *     e: !!set {x: null, ? {y: 1} : null}       "e": ["x", {"y": 1}]}
 *
 * Plain scalars are what YAML 1.1 makes of them: null, true, false and their other spellings, decimal integers of 64 bits, decimals with a
 * point; all others are text. !!binary is the text that it encodes; other tags below the root are passed over. An alias is a copy of what its
 * anchor had, and counts as such against the limits.
 *
 * Pure. Thread: any.   Source: framework-launcher 15; YAML 1.1.
 */
#ifndef CLI_LAUNCHER_LYAML_H
#define CLI_LAUNCHER_LYAML_H

#include <jansson.h>
#include <stddef.h>

#include "bobbin/error.h"
#include "payload.h"

struct lyaml_limits {
    size_t depth;    /* mappings and sequences inside each other */
    size_t n_values; /* in all that is kept */
    size_t n_bytes;  /* of all texts and keys that are kept */
    /** Members that are kept, of every mapping, ended by NULL; the rest is read and dropped. NULL: all are kept. [borrowed] */
    const char *const *only;
};

/**
 * Read one document.
 *
 * @param p       its bytes; used up                                                [in,out]
 * @param class   last part of the root's tag, "" without one; free()              [out]
 * @param out     new reference; any JSON value                                     [out]
 * @return 0; ERR_PARSE: malformed, with why->where = "line:col", or as payload_read; ERR_TOOBIG: beyond a limit. Outputs are unchanged then.
 * Thread: any.   Source: framework-launcher 15.
 */
int lyaml_read(struct payload *p, const struct lyaml_limits *limits, char **class, json_t **out,
               struct err_info *why);

#endif
