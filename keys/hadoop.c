#include "keys/keys.h"

/* Keys of Hadoop 2.6 to 3.4 that no table of Bobbin has. Source: hadoop-registry (RegistryConstants, MicroZookeeperServiceKeys),
 * core-default.xml, hadoop-yarn-services-core (YarnServiceConf). */
static const char *const names[] = {
    "hadoop.registry.system.acls", /* stands in for system.accounts: registryd/app_access.c */
    "hadoop.registry.dns.public-key",
    "hadoop.registry.dns.private-key-file",
    "hadoop.registry.dns.zone-ip-min",
    "hadoop.registry.dns.zone-ip-max",
    "hadoop.registry.zk.service.service.jaas.context",
    "hadoop.registry.zk.service.ticktime",
    "hadoop.registry.zk.service.host",
    "hadoop.registry.zk.service.port",
    "hadoop.registry.zk.service.dir",
    "hadoop.registry.zk.service.allow.failed.sasl.clients",
    "yarn.service.am.client.port.range",
    NULL,
};

const struct known_keys keys_hadoop = {KEYS_NONE, names, KEYS_NONE};
