/**
 * The names of an application's record: S = <last>.<user>.D, and E = <fragment>-api.S for each external endpoint.
 *
 * S has the address of the first endpoint that has a host, E the same (or a CNAME to S); both have a TXT "api=…" and an SRV
 * for the endpoint.
 *
 * Pure. Thread: any.   Source: Hadoop ApplicationServiceRecordProcessor; RFC 2782.
 */
#ifndef NAMES_APPLICATION_H
#define NAMES_APPLICATION_H

#include <stdbool.h>

#include "names/block.h"
#include "names/emit.h"

/** Append an application's block. @return false: no external endpoint has an address; out is unchanged. Thread: any.
 *  Source: ours. */
bool application_pack(const struct reg_record *record, struct buf *out);

/** Host that S takes its addresses from. @param fields behind the kind of the block. @return as long as the block; NULL: no
 *  endpoint has one. Thread: any. Source: ours. */
const char *application_host(struct block fields);

/** S of a path, formed as by emit_name. @return its length; or ERR_PARSE. Thread: any. Source: Hadoop RegistryDNS. */
int application_name(struct emit *e, const char *path, uint8_t *out);

/** Emit all records. @param fields behind the kind of the block. Thread: any. Source: Hadoop RegistryDNS; ours. */
void application_emit(struct emit *e, const char *path, struct block fields);

#endif
