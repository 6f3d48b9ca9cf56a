/**
 * Networks, ADDRESS/BITS, and lists of them: addresses that are allowed something. Pure. Thread: any.   Source: RFC 4632, RFC 4291 2.3.
 */
#ifndef BASE_NETWORK_H
#define BASE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"

struct err_info;

/** Networks a list holds at most. */
#define NETWORKS_MAX 32

struct network {
    struct addr addr;
    unsigned n_bits;
};

struct networks {
    size_t n_items;
    struct network items[NETWORKS_MAX];
};

/** Read one network, as the `read` of struct list_kind. @param text "10.0.0.0/8", "::1" [borrowed] @param item struct network [out]
 *  @return 0; or ERR_PARSE. Thread: any. Source: ours. */
int network_read(const char *text, void *item);

/**
 * Read a list of networks.
 *
 * @param list  "127.0.0.0/8,::1"; an address alone is one host; NULL and "" are no network [borrowed]
 * @param out   the networks                                                     [out]
 * @param why   names the one that cannot be read; may be NULL                   [out]
 * @return 0; or ERR_INVALID: no network, or more than NETWORKS_MAX; *out undefined.
 * Thread: any.   Source: ours.
 */
int networks_read(const char *list, struct networks *out, struct err_info *why);

/** Is the address in one of them? An IPv4 address mapped into IPv6 is not taken for an IPv4 address. Thread: any. */
bool networks_hold(const struct networks *n, const struct addr *a);

#endif
