/**
 * The cookie secrets that all threads read and the owner may replace while they do. What was replaced is kept until the end:
 * a few dozen octets a change, and nobody has to ask who still reads.
 *
 * Source: RFC 9018 5 (rolling the secret over).
 */
#ifndef NET_SECRETS_H
#define NET_SECRETS_H

#include <sys/socket.h>

#include "answer/query.h"
#include "net/net.h"

struct secrets;

/** @param first copied, or NULL: a random one. @return release with secrets_free. Thread: any. */
struct secrets *secrets_new(const struct cookie_secrets *first);
/** Release; no thread may read any more. NULL is fine. Thread: writer. */
void secrets_free(struct secrets *s);
/** From now on these, copied. Thread: writer. */
void secrets_set(struct secrets *s, const struct cookie_secrets *next);
/** For a query with a cookie: say who asks, when, and what to check with. @param s NULL: cookies are off. Thread: any. */
void secrets_tell(struct secrets *s, const struct sockaddr_storage *client, struct answer *a);
/** For a query that is handed off, after secrets_tell: the cookie that its response carries, if any. Thread: any. */
void secrets_tell_peer(const struct answer *a, struct net_peer *peer);

#endif
