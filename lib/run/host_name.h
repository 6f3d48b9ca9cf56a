/**
 * The name of this host as others know it.
 * Thread: any.   Source: ours; gethostname(2), getaddrinfo(3).
 */
#ifndef RUN_HOST_NAME_H
#define RUN_HOST_NAME_H

#include <stdbool.h>
#include <stdint.h>

/** Room for a name, its NUL included. */
#define HOST_NAME_ROOM 256

/**
 * The canonical name, with at least two labels: the host's own name when that has a dot, else what the resolver says of it. A resolver
 * that is silent is waited for no longer than patience_ms: it may be the very program that asks.
 *
 * @param out  the name; "" when there is none [out]
 * @return whether there is one: "localhost" and what begins with "localhost." is none.   Thread: any; blocks.   Source: as above.
 */
bool host_name_canonical(int64_t patience_ms, char out[HOST_NAME_ROOM]);

#endif
