/**
 * Names that are freer than labels of DNS become labels: names of frameworks and task roles may have 256 characters of [A-Za-z0-9-._~].
 *
 *     train          train
 *     UA~train       ua-train-xkq3v…     readable prefix, "-x", 26 characters of [a-z2-7]: 128 bits of the name's SHA-256
 *
 * A name that is such a label already stays, unless it looks like a mapped one. So two names have one label only if SHA-256 has a
 * collision. Pure. Thread: any.   Source: framework-launcher 3; RFC 1123 2.1.
 */
#ifndef SPEC_LABEL_H
#define SPEC_LABEL_H

#include <stddef.h>

/** Longest label of a service. */
#define SPEC_LABEL_SERVICE 63
/** Longest label of a component: `<component>-<n>` is a label while n has at most six digits. */
#define SPEC_LABEL_COMPONENT 56
/** Shortest limit that spec_label takes. */
#define SPEC_LABEL_LEAST 40

/**
 * The label of a name.
 *
 * @param name  any text, not empty                                                 [borrowed]
 * @param max   most characters of the label, SPEC_LABEL_LEAST … 63
 * @return [a-z][a-z0-9-]*, not ending in "-", 1 … max characters; free(). Thread: any.   Source: ours.
 */
char *spec_label(const char *name, size_t max) __attribute__((returns_nonnull));

#endif
