/**
 * An external endpoint of a record, and how a block (block.h) holds it: fragment of its api, host, port, "path=…".
 *
 *     api                                                  fragment
 *     classpath:org.apache.hadoop.yarn.service.A.B         A-B
 *     http://                                              http
 *     any other                                            '?' and its letters and digits: the endpoint gets no name of its own
 *
 * Host, port and path come from the first address: the members host and port, or the parts of a URI; what it lacks is empty.
 *
 * Pure. Thread: any.   Source: Hadoop BaseServiceRecordProcessor (fragments); ours (other apis).
 */
#ifndef NAMES_ENDPOINT_H
#define NAMES_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "names/block.h"

struct reg_endpoint;

struct endpoint {
    const char *fragment;  /* without '?' */
    bool is_odd;           /* its fragment has a '?' in front */
    const char *host;      /* "" where there is none */
    const char *port;      /* "" where there is none */
    const char *path;      /* "path=…"; of an application's endpoint only */
    const char *transport; /* "_tcp" or "_udp"; of a container's port only */
};

/** Append the four fields of an endpoint. @param in has an address [borrowed]; @param out the block [in,out]. Thread: any.
 *  Source: ours. */
void endpoint_pack(const struct reg_endpoint *in, struct buf *out);
/** Read what endpoint_pack wrote. @param e as long as the block [out]. @return false: the block ends here, or was cut short.
 *  Thread: any. Source: ours. */
bool endpoint_next(struct block *b, struct endpoint *e);
/** Set the fragment of a packed one. @param packed with its '?' [borrowed]. Thread: any. Source: ours. */
void endpoint_set_fragment(struct endpoint *e, const char *packed);
/** Its port. @return false: it has none, or none in 0..65535; *port is unchanged. Thread: any.
 *  Source: ours. */
bool endpoint_port(const struct endpoint *e, uint16_t *port);

#endif
