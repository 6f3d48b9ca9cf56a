/**
 * Master files: `*.zone` in a directory, read through ldns into the zone set.
 * Thread: the zone set's writer.   Source: RFC 1035 5; Hadoop RegistryDNS (file names).
 */
#ifndef FEED_ZONEFILE_H
#define FEED_ZONEFILE_H

#include "bobbin/error.h"
#include "zone/zone.h"

/**
 * Load every `NAME.zone` of a directory as zone NAME. Records outside the zone are dropped.
 *
 * @param registry_apex  the registry zone: a file of that name is declared ZONE_REGISTRY [borrowed]
 * @return number of zones; or ERR_CONFIG with why->where = "file:line": syntax, not exactly one SOA at the apex, no NS;
 *         ERR_IO: the directory cannot be read. The zones loaded before the error stay declared.
 */
int zonefile_load_dir(struct zoneset *set, const char *dir, const uint8_t *registry_apex, uint32_t serial,
                      struct err_info *why);

#endif
