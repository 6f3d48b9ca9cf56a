/**
 * Where a ZooKeeper tree is: `zk://host:port,host:port/path`. A pure reader. Thread: any.   Source: ours.
 */
#ifndef STORE_ZK_URL_H
#define STORE_ZK_URL_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

struct zk_server {
    char *host;    /* a name, or an address without brackets */
    uint16_t port; /* 2181 when none is named */
};

struct zk_servers {
    struct zk_server *items;
    size_t n_items;
};

/**
 * Split a URL.
 *
 * @param url      zk://SERVERS or zk://SERVERS/path                              [borrowed]
 * @param servers  the part between zk:// and the path, not checked; free()       [out]
 * @param root     path of the tree's root: "" for ZooKeeper's own root, else "/a/b" without a slash at the end; free()
 * @return 0; or ERR_INVALID with *why filled (scheme, no server, bad path): outputs unchanged.
 */
int zk_url_read(const char *url, char **servers, char **root, struct err_info *why);

/** Read a server list "host:port,host,[v6]:port". @return 0; or ERR_INVALID with *why filled: *out unchanged. */
int zk_servers_read(const char *text, struct zk_servers *out, struct err_info *why);
/** Release what zk_servers_read made. */
void zk_servers_fini(struct zk_servers *servers);

#endif
