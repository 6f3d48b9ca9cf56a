/**
 * Who may act for whom: the keys hadoop.proxyuser.CALLER.{users,groups,hosts}, by Hadoop's rules.
 *
 *     users   alice,bob  or *      whom CALLER may act for; * alone: everybody
 *     groups  staff,dev  or *      or members of these groups of this host
 *     hosts   10.0.0.0/8,gw1  or * from where: addresses, IPv4 networks, names; unset: from nowhere
 *
 * The target is judged first, then the address. A name of a user in a key is taken as it stands, in its case. What only a look-up of
 * groups or of host names can decide is left open until the caller lets it take time.
 *
 * Thread: any.   Source: Hadoop 3.2.4, DefaultImpersonationProvider, AccessControlList, MachineList.
 */
#ifndef HTTP_PROXY_USERS_H
#define HTTP_PROXY_USERS_H

#include <stdbool.h>

#include "bobbin/error.h"

struct options;
struct opt_report;

#define PROXY_USERS_FAMILY "hadoop.proxyuser."

/** A caller who acts for a target, from an address. */
struct proxy_ask {
    const char *caller, *target;
    const char *address;                /* IPv4 or IPv6 literal */
    const char *users, *groups, *hosts; /* values of the caller's keys; NULL: unset */
};

/**
 * The values of a caller's keys.
 *
 * @param o    of the program; NULL: no key is set                                  [borrowed, while *ask is used]
 * @param ask  caller is set; users, groups and hosts are filled                    [in,out]
 * Thread: owner.   Source: ours.
 */
void proxy_users_find(const struct options *o, struct proxy_ask *ask);
/**
 * Judge a caller.
 *
 * @param ask      all members                                                      [borrowed]
 * @param is_open  set when a look-up must decide; NULL: look groups and names up, which may take seconds   [out]
 * @param why      filled on refusal: Hadoop's message; where is the key to change  [out]
 * @return 0: it may, or *is_open; ERR_IMPERSONATION.
 * Thread: any.   Source: Hadoop 3.2.4, DefaultImpersonationProvider.authorize.
 */
int proxy_users_check(const struct proxy_ask *ask, bool *is_open, struct err_info *why);
/**
 * Warn of keys that nothing reads, and of hosts that Hadoop refuses, a malformed or an IPv6 network, and that match nothing here.
 *
 * @param o       options of the program                                            [borrowed]
 * @param report  warnings are appended                                             [in,out]
 * Thread: owner.   Source: ours.
 */
void proxy_users_report(const struct options *o, struct opt_report *report);

#endif
