/**
 * What the files of the record share. Pure. Thread: any.   Source: ours.
 */
#ifndef REGISTRY_RECORD_PRIV_H
#define REGISTRY_RECORD_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "bobbin/record.h"

/** Free n pairs and the array. */
void record_pairs_free(struct reg_pair *pairs, size_t n);
/** Append a pair; takes both strings. The array is empty (NULL, 0) or was made by this function. */
void record_pairs_add(struct reg_pair **pairs, size_t *n, char *take_key, char *take_value);
/** Release all endpoints of a list; it is empty and present afterwards. */
void record_endpoints_clear(struct reg_endpoints *list);
/** Room for one more in an array that holds n_items and was grown by this function only. @return the array. */
void *record_array_room(void *items, size_t n_items, size_t item_size) __attribute__((returns_nonnull));
/** A name that is a field of the record and so cannot be an attribute. */
bool record_name_reserved(const char *key);
/** What an endpoint must hold. @param where place for the error, or NULL. @return 0 or ERR_RECORD. */
int record_check_endpoint(const struct reg_endpoint *e, const char *where, struct err_info *why);

#endif
