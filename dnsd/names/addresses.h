/**
 * The addresses of a text in a record: the literal itself, or those of the host it names.
 * Pure, but for the callback of the options. Thread: any.   Source: Hadoop RegistryDNS; RFC 1123 2.1.
 */
#ifndef NAMES_ADDRESSES_H
#define NAMES_ADDRESSES_H

#include <stdbool.h>

#include "names/map.h"

struct addresses {
    struct addr items[MAP_MAX_ADDRESSES];
    size_t n_items;
};

/** Can the text be resolved? Letters, digits, hyphens and dots, and a last label that is no number. @param text any
 *  [borrowed]. Thread: any. Source: RFC 1123 2.1. */
bool addresses_is_host_name(const char *text);

/**
 * Addresses of a literal or of a host name.
 *
 * @param o     asked for those of a host name (addresses, has_one_address)      [borrowed]
 * @param text  as the record has it                                             [borrowed]
 * @param out   n_items may be 0 after success: the host has no address now      [out]
 * @return whether the text is one of both; else out->n_items is 0.   Thread: any.   Source: Hadoop RegistryDNS.
 */
bool addresses_read(const struct map_options *o, const char *text, struct addresses *out);

/** Is `a` one of them? @param a borrowed. Thread: any. Source: ours. */
bool addresses_contain(const struct addresses *addresses, const struct addr *a);

#endif
