/**
 * Claims of addresses of this host, among all svcmgrs on it, whoever runs them and whatever their directories.
 *
 * A claim is an abstract Unix socket called "\0bobbin/address/127.77.4.45", bound and never listened on. The kernel gives a name to
 * one socket only and takes it back with the last descriptor, so nothing is left over by a crash. Such names belong to the network
 * namespace, as loopback addresses do, and need no rights. svcmgr holds the claim until the container's shim has it, which
 * keeps it until its process has ended: it survives a restart of svcmgr. Programs that claim nothing are not noticed.
 *
 * Thread: any.   Source: ours; unix(7).
 */
#ifndef CLUSTER_ADDRESS_CLAIM_H
#define CLUSTER_ADDRESS_CLAIM_H

#include <stdbool.h>

#include "bobbin/error.h"

/**
 * Claim an address.
 *
 * @param ip   as text, always the same for one address                             [borrowed]
 * @param fd   holds the claim, close-on-exec; -1 on error                          [out]
 * @return 0; ERR_EXISTS: another container of this host has it; ERR_LIMIT: a descriptor or memory is missing.
 */
int address_claim(const char *ip, int *fd, struct err_info *why);
/** Whether an address is claimed now; false also when that cannot be found out: address_claim decides. */
bool address_is_claimed(const char *ip);

#endif
