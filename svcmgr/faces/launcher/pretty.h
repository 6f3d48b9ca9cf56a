/**
 * The form in which FrameworkLauncher writes JSON: that of a common Java writer.
 *
 *     {
 *       "a" : 1,
 *       "list" : [ {
 *         "b" : "x"
 *       }, { } ],
 *       "none" : [ ]
 *     }
 *
 * It turns compact JSON into that form, piece by piece: a document may be longer than what is kept of it.
 *
 * Pure. Thread: any, one object one thread.   Source: framework-launcher 1.1.
 */
#ifndef LAUNCHER_PRETTY_H
#define LAUNCHER_PRETTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define LAUNCHER_PRETTY_DEPTH 64

/** Where a document is; {0}: at its beginning. Nothing to release. */
struct launcher_pretty {
    int n_open, n_objects; /* each object is indented by two blanks */
    uint64_t lists;        /* a bit for each that is open, the innermost the lowest: it is a list */
    bool in_text, after_backslash;
    char opened; /* '{' or '[' that was just opened; 0: none */
};

/**
 * Append the next piece of a document.
 *
 * @param p      where it is                                                        [in,out]
 * @param json   len bytes of compact JSON, as lib/json writes it; it may be cut anywhere; no deeper
 *               than LAUNCHER_PRETTY_DEPTH                                         [borrowed]
 * @param out    what it becomes is appended                                        [in,out]
 * Thread: any.   Source: framework-launcher 1.1.
 */
void launcher_pretty_add(struct launcher_pretty *p, const char *json, size_t len, struct buf *out);

#endif
