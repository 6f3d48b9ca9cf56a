/** What map.c (containers) and map_service.c (applications) share. Internal to dnsd/feed. Source: ours. */
#ifndef FEED_MAP_INSIDE_H
#define FEED_MAP_INSIDE_H

#include "base/addr.h"
#include "feed/map.h"

/** A production under way. */
struct map_run {
    const struct map_options *options;
    const struct map_sink *sink;
    unsigned n_left_out;
};

/** Reader of a packed block: NUL-terminated fields one after another. */
struct map_fields {
    const char *p, *end;
};
/** Next field, or NULL at the end. */
const char *map_field(struct map_fields *f);

/**
 * Name from text in front of a wire name. Text is UTF-8 as the registry has it; characters up to U+00FF become one octet
 * each, escapes act as in master files. @return length; or ERR_PARSE (counted in run->n_left_out).
 */
int map_name(struct map_run *run, const char *text, const uint8_t *rest, uint8_t *out);
void map_emit(struct map_run *run, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len);
/** A or AAAA. */
void map_emit_addr(struct map_run *run, const uint8_t *owner, const struct addr *a);
/** TXT of up to two strings; one longer than 255 octets is left out, no string at all: no record. */
void map_emit_txt(struct map_run *run, const uint8_t *owner, const char *first, const char *second);

/** map_service.c: pack the external endpoints onto out; produce S and every E. */
struct buf;
void map_pack_service(const struct reg_record *record, struct buf *out);
void map_produce_service(struct map_run *run, const char *path, struct map_fields fields);

#endif
