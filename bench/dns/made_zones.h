/**
 * Zones as a registry of n instances makes them: per instance an A at its instance, container and component name, a TXT
 * and a PTR; INSTANCES_A_SERVICE instances a service, COMPONENTS_A_SERVICE components. Source: ours.
 */
#ifndef BENCH_MADE_ZONES_H
#define BENCH_MADE_ZONES_H

#include <stdio.h>

#include "zone/zone.h"

enum { INSTANCES_A_SERVICE = 100, COMPONENTS_A_SERVICE = 4 };

/** A set with dev.test and 10.in-addr.arpa, filled with n instances in one commit; release with zoneset_free. */
struct zoneset *made_zones_new(unsigned n_instances);
/** Add or take away the records of instance i, in a transaction. */
void made_zones_put(struct zone_tx *tx, unsigned i, bool is_add);
/** Write every question that has an answer, "name TYPE" a line, in an order that jumps about. */
void made_zones_questions(FILE *out, unsigned n_instances);
/** Write both zones as master files, for peers. @param zone 0: dev.test, 1: 10.in-addr.arpa */
void made_zones_master(FILE *out, unsigned n_instances, unsigned zone);

#endif
