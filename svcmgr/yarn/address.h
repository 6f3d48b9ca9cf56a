/**
 * Where servers of YARN are: by Hadoop's keys for resource managers, several with HA, and by what a node is called.
 *
 *     yarn.resourcemanager.ha.enabled = true       yarn.resourcemanager.ha.rm-ids = rm1,rm2
 *         for each id    yarn.resourcemanager.address.ID, or yarn.resourcemanager.hostname.ID with the port that is usual
 *     otherwise          yarn.resourcemanager.address,    or yarn.resourcemanager.hostname    with it
 *
 * Pure. Thread: any.   Source: Hadoop, yarn-default.xml, HAUtil.
 */
#ifndef YARN_ADDRESS_H
#define YARN_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "records.pb-c.h"

struct yarn_address {
    char *host; /* a name, as it was given, or an address without brackets; addr_is_host */
    uint16_t port;
};

struct yarn_addresses {
    struct yarn_address *items;
    size_t n_items;
};

#define ADDRESSES_EMPTY ((struct yarn_addresses){NULL, 0})

/** What a resource manager is asked for: the port of clients (8032), of application masters (8030), of its web service (8088; HTTPS: 8090). */
enum yarn_rm_port { YARN_RM_CLIENT, YARN_RM_SCHEDULER, YARN_RM_WEB, YARN_RM_WEB_TLS };

/** A configuration. */
struct yarn_keys {
    /** Text of a key, or NULL: it is not set. Borrowed until the next call. */
    const char *(*text)(void *arg, const char *key);
    void *arg;
};

/**
 * The addresses of the resource managers, in the order of their ids.
 *
 * @param out  empty before; yarn_addresses_fini releases it                     [out]
 * @param why  filled on error, where is the key; may be NULL                    [out]
 * @return 0; or ERR_CONFIG: HA without ids, an id without address, no host:port. *out stays empty then.
 */
int yarn_rm_addresses(const struct yarn_keys *keys, enum yarn_rm_port port, struct yarn_addresses *out,
                      struct err_info *why);
/** Add the address of a node. @param node  of a server [borrowed] @return 0; or ERR_PARSE: a part is missing or is none. */
int yarn_addresses_add_node(struct yarn_addresses *list, const Yarn__NodeId *node);
/** Add an address. @param host  addr_is_host [copied] */
void yarn_addresses_add(struct yarn_addresses *list, const char *host, uint16_t port);
/** Release; empty and usable again. */
void yarn_addresses_fini(struct yarn_addresses *list);

#endif
