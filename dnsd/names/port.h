/**
 * Ports: the SRV record of an endpoint, and the SRV names of a container's ports.
 *
 *     _<component>._tcp.S    the first external endpoint of the container that has a port
 *     _<fragment>._tcp.C     each of them whose api is not odd; C = <component>.S
 *
 * A target is a name that has an address: of the record itself, of a name below S made for another address, or the host's own.
 *
 * Pure. Thread: any.   Source: RFC 2782; the names of containers' ports: ours.
 */
#ifndef NAMES_PORT_H
#define NAMES_PORT_H

#include <stdbool.h>

#include "names/block.h"
#include "names/emit.h"
#include "names/endpoint.h"

/** Room for the rdata of an SRV record. */
#define SRV_MAX (NAME_MAX_LEN + 6)

/** Where SRV records point to. All are borrowed. */
struct srv_place {
    const uint8_t *service;            /* S: names for other addresses are below it */
    const uint8_t *self;               /* the name that has `addresses` */
    const struct addresses *addresses; /* of the record */
};

/**
 * Make the rdata of an endpoint's SRV record, and emit the address of a target that is made for it.
 *
 * @param endpoint  its host may be empty: self                                  [borrowed]
 * @param out       room for SRV_MAX octets                                      [out]
 * @return octets; 0: it has no port, or (counted in e->n_left_out) a host that is no name. Nothing is emitted then.
 * Thread: any.   Source: RFC 2782.
 */
size_t srv_make(struct emit *e, const struct srv_place *s, const struct endpoint *endpoint, uint8_t *out);

/** Append transport, fragment, host and port of each external endpoint that has a port. Thread: any. Source: ours. */
void ports_pack(const struct reg_record *record, struct buf *out);

/** Emit the SRV records of a container at the shared names, or that it has none.
 *  @param component lower case [borrowed]; @param fields what ports_pack wrote. Thread: any. Source: ours. */
void ports_emit(struct emit *e, const struct srv_place *s, const char *component, bool is_ready,
                struct block fields);

#endif
