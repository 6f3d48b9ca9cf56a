/**
 * Comma-separated lists, as options hold them. Pure. Thread: any.   Source: ours.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

struct err_info;

/** Kind of the items of a list. */
struct list_kind {
    const char *noun; /* of one: "server" */
    const char *form; /* how one is written: "ADDRESS:PORT" */
    size_t max_items;
    size_t item_size; /* octets */
    /** Read one item. @param text not empty, without blanks around @param out item_size octets [out] @return 0; or an error */
    int (*read)(const char *text, void *out);
};

/**
 * Read a list. Empty fields are passed over.
 *
 * @param list     "a, b,c"; NULL and "" have no items                           [borrowed]
 * @param kind     what they are                                                 [borrowed]
 * @param items    room for kind->max_items                                      [out]
 * @param n_items  how many there are                                            [out]
 * @param why      names the field that cannot be read; may be NULL              [out]
 * @return 0; or ERR_INVALID: a field is no item, or there are too many; *items and *n_items undefined.
 * Thread: any.   Source: ours.
 */
int list_read(const char *list, const struct list_kind *kind, void *items, size_t *n_items,
              struct err_info *why);

#endif
