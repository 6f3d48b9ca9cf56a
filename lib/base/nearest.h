/**
 * "Did you mean": the known name that is nearest to a misspelt one. Pure. Thread: any.   Source: ours.
 *
 * The distance of two names is the least number of octets inserted, deleted, replaced or swapped with their neighbour;
 * ASCII letters differ by case for nothing. A name is near enough within 1 such edit for a word of 3 to 5 octets, 2 for 6 to 11 and
 * 3 for longer ones; a shorter word, and one longer than NEAREST_MAX_LEN, has names near it that differ by case only, or none.
 *
 *     struct nearest n = nearest_to("createparents");
 *     for (each known name)
 *         nearest_offer(&n, name);
 *     if (n.name)
 *         … "did you mean \"%s\"?", n.name …
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/** Longer words are not compared: a comparison costs the product of both lengths. Octets. */
#define NEAREST_MAX_LEN 128

struct nearest {
    const char *word; /* borrowed                                                    */
    const char *name; /* the nearest one offered so far; NULL: none is near enough   */
    size_t edits;     /* between both; without a name: one more than is near enough  */
};

/**
 * Begin to look for the name nearest to a word.
 *
 * @param word  what somebody wrote; any text                                    [borrowed, outlives the result]
 * @return nothing near it yet.
 * Thread: any.   Source: ours.
 */
struct nearest nearest_to(const char *word);
/**
 * Compare one known name. Of names that are equally near the one offered first stays.
 *
 * @param n     of nearest_to                                                    [in,out]
 * @param name  known name; NULL is passed over                                  [borrowed, outlives *n]
 * Thread: any, one at a time.   Source: ours.
 */
void nearest_offer(struct nearest *n, const char *name);
/**
 * The nearest one of an array.
 *
 * @param word   what somebody wrote; any text                                   [borrowed]
 * @param names  known names                                                     [borrowed]
 * @param count  of them
 * @return one of names; or NULL: none is near enough.
 * Thread: any.   Source: ours.
 */
const char *nearest_of(const char *word, const char *const *names, size_t count);

#endif
