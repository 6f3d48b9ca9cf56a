/**
 * The names of a container's record:
 *
 *     I = <description>.<service>.<user>.D   its own; with TXT and, where the record has yarn:hostname, PTR to it
 *     X = <last>.D                           its own
 *     C = <component>.<service>.<user>.D     shared by the containers of the component
 *     S = <service>.<user>.D                 shared by the containers of the service (has_service_names)
 *     the SRV names of its ports             shared (port.h)
 *
 * All but the last have the addresses of yarn:ip. User, service and the service's class come from the path.
 *
 * Pure. Thread: any.   Source: Hadoop ContainerServiceRecordProcessor (I, X, C); ours (S, ports).
 */
#ifndef NAMES_CONTAINER_H
#define NAMES_CONTAINER_H

#include <stdbool.h>

#include "names/block.h"
#include "names/emit.h"

/** Append a container's block. @return false: the record has no yarn:ip; out is unchanged. Thread: any. Source: ours. */
bool container_pack(const struct reg_record *record, struct buf *out);

/** The yarn:ip of the record: an address or a host name. @param fields behind the kind of the block. @return as long as the
 *  block; NULL: the block was cut short. Thread: any. Source: ours. */
const char *container_host(struct block fields);

/** Emit all records. @param fields behind the kind of the block. Thread: any. Source: Hadoop RegistryDNS; ours. */
void container_emit(struct emit *e, const char *path, struct block fields);

/** Emit for each name that the container would have why it has nothing. @param fields description and component. Thread: any.
 *  Source: ours. */
void container_emit_none(struct emit *e, const char *path, struct block fields, const char *reason);

#endif
