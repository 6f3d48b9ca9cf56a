/**
 * The names of a server: localhost, names by option, the name of this host and, for one that others reach, its canonical name,
 * which is looked up in the background.
 *
 * Thread: owner.   Source: gethostname(2), getaddrinfo(3); ours.
 */
#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include "base/addr.h"
#include "http/head.h"
#include "run/loop.h"

struct http_host;

/** Learn the names. @param bound  address that is listened on @param more  names, with ", " between; NULL: none
 *  @param prefix  of the option that holds them [lives on] @return to be freed with http_host_free. */
struct http_host *http_host_new(struct run_loop *loop, const struct addr *bound, const char *more,
                                const char *prefix);
/** The names known by now; for http_head_check_host. Borrowed; valid until the loop's next turn. */
const struct http_names *http_host_names(const struct http_host *h);
/** Forget them; a look-up under way ends by itself, before its loop. NULL is fine. */
void http_host_free(struct http_host *h);

#endif
