/**
 * Lines that say what is not as wanted, why, and what would mend it, as `app explain` and `framework explain` print them.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_EXPLAINED_H
#define CLI_KIT_EXPLAINED_H

#include <jansson.h>

/** How a line names what it is about. */
struct explained_kind {
    const char *key; /* of the list of the first ones, in a line; "count" is how many they all are */
    /** Text of one of the list. @return free() */
    char *(*text)(const json_t *line, const json_t *item);
};

/**
 * Print each line on standard output, or that there is none.
 *
 * @param list   array of {"state", "wait", "remedy", "count", kind->key}          [borrowed]
 * @param whole  name of what a line without such a list is about                  [borrowed]
 */
void explained_print(const json_t *list, const char *whole, const struct explained_kind *kind);

#endif
