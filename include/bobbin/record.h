/**
 * Service records: the JSON documents of the registry, as objects.
 *
 * Reading: strict is what Hadoop's programs accept, lenient what people write (no type, `protocol`, address lists).
 * Writing is always canonical: Hadoop 3's compact bytes, field and attribute order included.
 * Thread: one record, one thread; no shared state.   Source: Hadoop ServiceRecord, Endpoint, RegistryTypeUtils.
 */
#ifndef BOBBIN_RECORD_H
#define BOBBIN_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "bobbin/error.h"

#define REG_RECORD_TYPE "JSONServiceRecord"

/** key=value of an address or attribute; value may be NULL in an address (JSON null). */
struct reg_pair {
    char *key;
    char *value;
};

struct reg_address {
    struct reg_pair *pairs; /* document order */
    size_t n_pairs;
};

struct reg_endpoint {
    char *api;           /* URI text; "" allowed */
    char *address_type;  /* "uri", "host/port", "path", "zktriple", "" */
    char *protocol_type; /* "REST", "webui", "hadoop/IPC", … */
    struct reg_address *addresses;
    size_t n_addresses;
};

struct reg_endpoints {
    struct reg_endpoint *items;
    size_t n_items;
    bool absent; /* JSON null: not written; counts as empty */
};

struct reg_record {
    char *type;        /* REG_RECORD_TYPE when valid */
    char *description; /* NULL: not written */
    struct reg_endpoints external, internal;
    struct reg_pair *attributes; /* in the order in which they were set */
    size_t n_attributes;
};

/** A new empty record of the right type. */
struct reg_record *reg_record_new(void);
/** Free; NULL is fine. */
void reg_record_free(struct reg_record *r);
/** A deep copy; free with reg_record_free. */
struct reg_record *reg_record_copy(const struct reg_record *r);

enum reg_read { REG_STRICT, REG_LENIENT };

/**
 * Read the bytes of a node (strict: with all rejection rules of Hadoop's reader) or a document a person wrote.
 *
 * @param bytes  len bytes of anything                                             [borrowed]
 * @param out    new record                                                        [out]
 * @return 0; ERR_NORECORD (empty, too short, no marker); ERR_RECORD (malformed JSON, wrong types, failed check), with
 *         why->where a JSON pointer or line:col. *out unchanged on error.
 */
int reg_record_read(const char *bytes, size_t len, enum reg_read mode, struct reg_record **out,
                    struct err_info *why);
/** Check what a record must hold before it may be written, reserved attribute names included. @return 0 or ERR_RECORD. */
int reg_record_check(const struct reg_record *r, struct err_info *why);
/**
 * Whether the record says how long it stays. Hadoop writes a record that does not, so reg_record_check passes it; but it
 * has no DNS name, and nothing cleans it up.
 *
 * @param r    a record                                                            [borrowed]
 * @param why  filled on failure: one sentence for the person who wrote it         [out]
 * @return 0: yarn:persistence is permanent, application, application-attempt (or application_attempt) or container;
 *         ERR_NOTFOUND: there is none; ERR_INVALID: it is another word, why->text names the one that is meant.
 * Thread: any.   Source: registry design, "persistence"; ours.
 */
int reg_record_check_persistence(const struct reg_record *r, struct err_info *why);
/** Canonical bytes, NUL-terminated, *len (may be NULL) without it; free(). The record must pass reg_record_check. */
char *reg_record_write(const struct reg_record *r, size_t *len);
/** The same content: type, description, endpoints in order, attributes in any order. */
bool reg_record_equal(const struct reg_record *a, const struct reg_record *b);

/** Attribute value or NULL. */
const char *reg_record_get(const struct reg_record *r, const char *key);
/** Set or replace an attribute; copies. @return 0; ERR_INVALID for NULL value; ERR_RECORD for a reserved name. */
int reg_record_set(struct reg_record *r, const char *key, const char *value, struct err_info *why);
/** Set the description; copies. NULL: none. */
void reg_record_describe(struct reg_record *r, const char *description);

/** First external endpoint with this api, or NULL. */
const struct reg_endpoint *reg_record_external(const struct reg_record *r, const char *api);
/** First internal endpoint with this api, or NULL. */
const struct reg_endpoint *reg_record_internal(const struct reg_record *r, const char *api);
/** Move an endpoint to the end of the external ones: *take_e is emptied. @return 0; ERR_RECORD when a field is missing:
 *  *take_e is as it was. */
int reg_record_add_external(struct reg_record *r, struct reg_endpoint *take_e, struct err_info *why);
/** As reg_record_add_external, to the internal ones. */
int reg_record_add_internal(struct reg_record *r, struct reg_endpoint *take_e, struct err_info *why);

/** An endpoint of address type "uri" and any protocol. It and the builders below fill *e with copies; reg_endpoint_fini
 *  releases one that was not added. uris: ended by NULL, or NULL for none. */
void reg_endpoint_uri(struct reg_endpoint *e, const char *api, const char *protocol, const char *const *uris);
/** reg_endpoint_uri with protocol "REST". */
void reg_endpoint_rest(struct reg_endpoint *e, const char *api, const char *const *uris);
/** reg_endpoint_uri with protocol "webui". */
void reg_endpoint_web(struct reg_endpoint *e, const char *api, const char *const *uris);
/** An endpoint of address type "host/port" with one address; the port is not checked. */
void reg_endpoint_inet(struct reg_endpoint *e, const char *api, const char *protocol, const char *host,
                       int port);
/** reg_endpoint_inet with protocol "hadoop/IPC"; host NULL: without address. */
void reg_endpoint_ipc(struct reg_endpoint *e, const char *api, const char *host, int port);
/** Release what an endpoint holds; it is empty afterwards. */
void reg_endpoint_fini(struct reg_endpoint *e);
/** Value of an address key; NULL when absent or JSON null. */
const char *reg_address_get(const struct reg_address *a, const char *key);

#endif
