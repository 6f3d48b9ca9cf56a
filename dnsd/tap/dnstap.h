/**
 * Entries as dnstap messages: AUTH_QUERY and AUTH_RESPONSE, or CLIENT_QUERY and CLIENT_RESPONSE where another server is asked.
 *
 * Thread: any.   Source: dnstap.info, schema of dnstap.
 */
#ifndef TAP_DNSTAP_H
#define TAP_DNSTAP_H

#include "tap/ring.h"

struct buf;

/**
 * Append one message.
 *
 * @param identity  name of this server                                          [borrowed]
 * @param version   its program and version                                      [borrowed]
 * @param e         entry; query is what follows it, and the response after that [borrowed]
 * @param is_said   true: the response, e->said_len > 0; false: the query, e->query_len > 0
 * @param out       grows by the message                                         [in,out]
 */
void dnstap_put(const char *identity, const char *version, const struct tap_entry *e, const uint8_t *query,
                bool is_said, struct buf *out);

#endif
