/**
 * The keys that a configuration may have below some prefixes, so that a misspelt one is noticed. One configuration serves several
 * programs: a key of any of them is known, and so are those of other software that share a prefix.
 *
 * Thread: any.   Source: ours.
 */
#ifndef RUN_KNOWN_H
#define RUN_KNOWN_H

#include "run/options.h"

struct known_keys {
    const char *const *prefixes; /* only keys that begin with one are looked at; ended by NULL */
    const char *const *names;    /* known keys; ended by NULL                                  */
    const char *const
        *families; /* beginnings of known keys whose rest is a name of the user's; ended by NULL */
};

/**
 * Report the keys that nobody knows, each with the known one that it is near to.
 *
 * @param o          options; the rows of their table are known                  [borrowed]
 * @param known      lists of such lists, ended by NULL                          [borrowed]
 * @param is_strict  a key of a file is an error, as one of -D always is; else a warning
 * @param report     errors and warnings are appended, in the order of the keys  [in,out]
 * Thread: any.   Source: ours.
 */
void known_check(const struct options *o, const struct known_keys *const *known, bool is_strict,
                 struct opt_report *report);

#endif
