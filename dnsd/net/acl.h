/**
 * Who may ask: lists of networks, one for all names and one for each of some domains, whose names follow it alone, also where an alias
 * or a target leads to them. A list is a table of disjoint ranges of addresses in ascending order, so the check is a binary search, whatever the number of networks.
 *
 * A list that is in force is not changed; the next one takes its place. Readers may still be at the one before, so that is kept until the
 * end, as cookie secrets are: lists change when an administrator writes them.
 *
 * Source: RFC 4632, RFC 4291 2.3; ours.
 */
#ifndef NET_ACL_H
#define NET_ACL_H

#include <stdbool.h>
#include <sys/socket.h>

#include "answer/query.h"

struct acl;
struct acls;
struct err_info;

/** Networks of one list at most, and domains with a list of their own. */
#define ACL_NETWORKS_MAX 1000
#define ACL_ZONES_MAX    64

/**
 * Read the lists.
 *
 * @param networks  of clients that may ask, "10.0.0.0/8, fd00::/8"; NULL or "": all may [borrowed]
 * @param zones     "corp.example=10.1.0.0/16, fd00::/8; x.example=…": for names at or below a domain, the longest that fits, the list
 *                  stands instead of `networks`; NULL or "": none               [borrowed]
 * @param out       the lists; acl_free; NULL when all may ask everything         [out]
 * @param why       names the part that cannot be read                           [out]
 * @return 0; or ERR_INVALID: no network, no domain, a domain twice, an empty list, too many; *out is unchanged.
 * Thread: any.   Source: ours.
 */
int acl_read(const char *networks, const char *zones, struct acl **out, struct err_info *why);
/** Release. NULL is fine. Thread: any. Source: ours. */
void acl_free(struct acl *acl);
/**
 * May the client ask this?
 *
 * @param client  its address; IPv4 mapped into IPv6 counts as IPv4               [borrowed]
 * @param q       as read; without question the list for all names counts        [borrowed]
 * Thread: any.   Source: ours.
 */
bool acl_allows(const struct acl *acl, const struct sockaddr_storage *client, const struct query *q);

/** The lists of one client, for the names that an answer leads to. */
struct acl_guard {
    struct answer_guard guard;
    const struct acl *acl;
    const struct sockaddr_storage *client;
};

/**
 * The guard of an answer: an alias or a target in another domain shows nothing that the client may not ask for.
 *
 * @param acl     or NULL: all may ask everything                                 [borrowed as long as the guard]
 * @param client  its address                                                    [borrowed as long as the guard]
 * @param out     memory of the guard                                            [out]
 * @return for struct answer; NULL: who may ask for one name may ask for all.
 * Thread: any.   Source: ours; BIND's allow-query, which it asks of each zone that an alias leads to.
 */
const struct answer_guard *acl_guard(const struct acl *acl, const struct sockaddr_storage *client,
                                     struct acl_guard *out);

/** The lists in force. @param take_first or NULL: all may ask everything [taken]. @return acls_free. Thread: writer. Source: ours. */
struct acls *acls_new(struct acl *take_first);
/** Release; no reader may be left. NULL is fine. Thread: writer. Source: ours. */
void acls_free(struct acls *s);
/** Put others in force. @param take_next or NULL [taken]. Thread: writer. Source: ours. */
void acls_set(struct acls *s, struct acl *take_next);
/** Those in force. @return NULL: all may ask everything; else valid until acls_free [borrowed]. Thread: any. Source: ours. */
const struct acl *acls_current(const struct acls *s);

#endif
