/**
 * Built-in names: version and identity of the server (class CH), and the empty zones of names that must not leave the host or
 * the site.
 *
 * Pure. Thread: any.   Source: RFC 4892 (CH), RFC 6303 (empty zones), RFC 6761 (localhost, invalid), RFC 7686 (onion).
 */
#ifndef ANSWER_SPECIAL_H
#define ANSWER_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

struct name_key;
struct response;

/**
 * Answer a question of class CH: version.bind, version.server, id.server, hostname.bind, types TXT and ANY.
 *
 * @param r  response without an answer yet                                      [in,out]
 * @return rcode: NOERROR with the text; REFUSED: another name or type, or the option is NULL.
 * Thread: one response, one thread.   Source: RFC 4892.
 */
uint16_t special_chaos(struct response *r);

/**
 * Answer a name outside all zones from the built-in empty zones.
 *
 * @param r      response without an answer yet; r->name is the name             [in,out]
 * @param rcode  NOERROR or NXDOMAIN                                             [out]
 * @return false: the name is in none of them; nothing was written.
 * Thread: one response, one thread.   Source: RFC 6303 3, RFC 6761 6.3 and 6.4.
 */
bool special_empty_zone(struct response *r, uint16_t *rcode);

/** Apex of the built-in empty zone that a name is in, or NULL. @param key of the name [borrowed]. Thread: any. Source: RFC 6303. */
const uint8_t *special_empty_apex(const struct name_key *key);

#endif
