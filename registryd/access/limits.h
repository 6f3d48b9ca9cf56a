/**
 * Limits of a record that is written; reads have none. A row each, in the form of run/options.h: the row is the option, too.
 * Source: registry design document (limits without numbers); the numbers are ours, beyond what Hadoop's programs write.
 */
#ifndef ACCESS_LIMITS_H
#define ACCESS_LIMITS_H

#include "registry/checked.h"
#include "run/options.h"

#define REGISTRYD_LIMITS(X)                                                                                  \
    X(LIMIT_RECORD, "hadoop.registry.record.max-size", OPT_SIZE, "bytes", "1000000", 1024, 67108864,         \
      OPT_FIXED, "Rejects a record whose canonical form is larger. A request's body may be twice as long.")  \
    X(LIMIT_DESCRIPTION, "hadoop.registry.record.max-description", OPT_SIZE, "bytes", "256k", 16, 67108864,  \
      OPT_FIXED, "Rejects a record with a longer description.")                                              \
    X(LIMIT_ATTRIBUTES, "hadoop.registry.record.max-attributes", OPT_INT, "", "4096", 2, 1000000, OPT_FIXED, \
      "Rejects a record with more attributes.")                                                              \
    X(LIMIT_ENDPOINTS, "hadoop.registry.record.max-endpoints", OPT_INT, "", "1024", 1, 1000000, OPT_FIXED,   \
      "Rejects a record with more endpoints, external and internal together.")                               \
    X(LIMIT_API, "hadoop.registry.endpoint.max-api", OPT_SIZE, "bytes", "2048", 16, 67108864, OPT_FIXED,     \
      "Rejects an endpoint with a longer api.")                                                              \
    X(LIMIT_ADDRESS_TYPE, "hadoop.registry.endpoint.max-address-type", OPT_SIZE, "bytes", "256", 16,         \
      67108864, OPT_FIXED, "Rejects an endpoint with a longer addressType.")                                 \
    X(LIMIT_PROTOCOL_TYPE, "hadoop.registry.endpoint.max-protocol-type", OPT_SIZE, "bytes", "256", 16,       \
      67108864, OPT_FIXED, "Rejects an endpoint with a longer protocolType.")                                \
    X(LIMIT_ADDRESSES, "hadoop.registry.endpoint.max-addresses", OPT_INT, "", "1024", 1, 1000000, OPT_FIXED, \
      "Rejects an endpoint with more addresses.")                                                            \
    X(LIMIT_ADDRESS, "hadoop.registry.endpoint.max-address", OPT_SIZE, "bytes", "8k", 16, 67108864,          \
      OPT_FIXED, "Rejects an address with a longer key or value.")                                           \
    X(LIMIT_CHILDREN, "hadoop.registry.list.max-children", OPT_INT, "", "10000", 1, 1000000, OPT_FIXED,      \
      "Children, or nodes of a tree, in one answer; the rest follows by cursor.")

/**
 * Check a record against the limits.
 *
 * @param o       options of registryd                                              [borrowed]
 * @param record  any                                                               [borrowed]
 * @param why     where: JSON pointer; text: what is too much, limit and option     [out]
 * @return 0; ERR_RECORD.   Thread: any.   Source: ours.
 */
int limits_check(const struct options *o, const struct reg_checked *record, struct err_info *why);
/**
 * Read a record as people write it (REG_LENIENT) and check it against the limits: a body of a PUT, an object in an import.
 *
 * @param bytes  anything                                                           [borrowed]
 * @param out    may be stored; release with reg_checked_fini; unchanged on error   [out]
 * @return 0; ERR_JSON: no JSON, where is "line:col"; ERR_NORECORD: JSON of something else; ERR_RECORD.
 * Thread: any.   Source: ours.
 */
int limits_read(const struct options *o, const char *bytes, size_t len, struct reg_checked *out,
                struct err_info *why);
#endif
