/**
 * The cookie secrets. All threads read them while the writer may replace them. Replaced secrets are released at the end only:
 * that costs a few dozen octets a change and needs no account of readers.
 *
 * Source: RFC 9018 5 (rolling the secret over).
 */
#ifndef NET_SECRETS_H
#define NET_SECRETS_H

#include <sys/socket.h>

#include "answer/query.h"
#include "net/net.h"

struct secrets;

/** @param first copied, or NULL: a random one. @return release with secrets_free. Thread: any. Source: ours. */
struct secrets *secrets_new(const struct cookie_secrets *first);
/** Release; no thread may read any more. NULL is fine. Thread: writer. Source: ours. */
void secrets_free(struct secrets *s);
/** Make and accept cookies with these from now on. @param next copied. Thread: writer. Source: RFC 9018 5. */
void secrets_set(struct secrets *s, const struct cookie_secrets *next);
/** Set client, time and secrets of a query that has a cookie. @param s NULL: cookies are off, `a` is unchanged. @param a after
 *  answer_read [in,out]. Thread: any. Source: RFC 9018 4. */
void secrets_fill_client(struct secrets *s, const struct sockaddr_storage *client, struct answer *a);
/** Set the cookie that the response to a handed-off query carries, if any. @param a after secrets_fill_client [borrowed]. @param peer
 *  its has_cookie and cookie are set [in,out]. Thread: any. Source: RFC 7873 5.2. */
void secrets_put_cookie(const struct answer *a, struct net_peer *peer);

#endif
