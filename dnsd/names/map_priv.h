/** What map.c (containers) and map_service.c (applications) share. Internal to dnsd/feed. Source: ours. */
#ifndef NAMES_MAP_PRIV_H
#define NAMES_MAP_PRIV_H

#include "base/addr.h"
#include "names/map.h"

/** A production under way. */
struct map_run {
    const struct map_options *options;
    const struct map_sink *sink;
    uint32_t ttl_s;   /* of this record */
    bool has_own_ttl; /* its component's: types do not change it */
    unsigned n_left_out;
};

/** Addresses a host text stands for: itself, or what its name has. */
struct map_hosts {
    struct addr items[MAP_MAX_ADDRESSES];
    size_t n_items;
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
/** The same at a name that several records share. */
void map_emit_shared(struct map_run *run, const struct zone_rr *rr, bool is_ready);
/** TTL of a record of this type. */
uint32_t map_ttl(const struct map_run *run, uint16_t type);
/** A or AAAA, and the mapped AAAA where the mode wants it. */
void map_emit_addr(struct map_run *run, const uint8_t *owner, const struct addr *a);
/** map_emit_addr of all. */
void map_emit_addrs(struct map_run *run, const uint8_t *owner, const struct map_hosts *hosts);
/** Tell why a name that the record could have has nothing. */
void map_none(const struct map_run *run, const uint8_t *owner, const char *reason);
/** A text that may be resolved: letters, digits, hyphens and dots, and no number behind the last dot. */
bool map_is_host_name(const char *text);
/** Addresses of a literal or a name. @return whether the text is one of both (n_items may be 0). */
bool map_hosts_read(const struct map_run *run, const char *text, struct map_hosts *out);
/** TXT of up to two strings; one longer than 255 octets is left out, no string at all: no record. */
void map_emit_txt(struct map_run *run, const uint8_t *owner, const char *first, const char *second);

/** map_service.c: pack the external endpoints onto out; produce S and every E. */
struct buf;
void map_pack_service(const struct reg_record *record, struct buf *out);
void map_produce_service(struct map_run *run, const char *path, struct map_fields fields);
/** What the SRV records of a container's ports need. */
struct map_instance {
    const char *component;  /* lower case; NULL: none */
    const uint8_t *service; /* S */
    const uint8_t *self;    /* where SRV points: I, or X */
    const struct map_hosts *hosts;
    bool is_ready;
};
/** map_service.c: pack transport, fragment, host and port of the external endpoints that have a port onto out. */
void map_pack_ports(const struct reg_record *record, struct buf *out);
/** map_service.c: SRV by component and by endpoint. @param fields what map_pack_ports packed. */
void map_produce_ports(struct map_run *run, const struct map_instance *c, struct map_fields fields);
/** map_service.c: text of the host that S takes its address from, or NULL. */
const char *map_service_host(struct map_fields fields);
/** <last>.<user>.D. @return length; or ERR_PARSE. */
int map_service_name(struct map_run *run, const char *path, uint8_t *out);

#endif
