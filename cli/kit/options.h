/**
 * Configuration keys that the command line itself reads, one row each (run/options.h). The daemons' own tables have the same keys.
 *
 * Source: Hadoop's yarn-default.xml and core-default.xml.
 */
#ifndef CLI_KIT_OPTIONS_H
#define CLI_KIT_OPTIONS_H

#include "run/options.h"

/* clang-format off */
#define CLI_KEYS(X)                                                                                               \
    X(KEY_REGISTRY_URL, "hadoop.registry.url", OPT_TEXT, "", "http://127.0.0.1:9192", 0, 0, OPT_FIXED,            \
      "Where registryd is reached; several, separated by commas.")                                                \
    X(KEY_REGISTRY_ADDRESS, "hadoop.registry.http.address", OPT_ADDR, "", "127.0.0.1:9192", 0, 0, OPT_FIXED,      \
      "Address of registryd's REST interface.")                                                                   \
    X(KEY_SECURE, "hadoop.registry.secure", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                               \
      "The registry is secure: it checks who writes.")                                                              \
    X(KEY_AUTH, "hadoop.registry.client.auth", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                               \
      "digest: writes to a secure registry as the holder of client.auth.id and client.auth.password.")                 \
    X(KEY_AUTH_ID, "hadoop.registry.client.auth.id", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, "Id of the digest.")    \
    X(KEY_AUTH_PASSWORD, "hadoop.registry.client.auth.password", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,             \
      "Password of the digest.")                                                                                  \
    X(KEY_SERVICES_ADDRESS, "yarn.service.api-server.address", OPT_ADDR, "", "127.0.0.1:9191", 0, 0, OPT_FIXED,   \
      "Address of svcmgr's services API.")                                                                        \
    X(KEY_DNS_HTTP_ADDRESS, "hadoop.registry.dns.http.address", OPT_ADDR, "", "127.0.0.1:9193", 0, 0, OPT_FIXED,  \
      "Address of dnsd's HTTP interface.")                                                                        \
    X(KEY_DNS_ADDRESS, "hadoop.registry.dns.bind-address", OPT_TEXT, "", "127.0.0.1", 0, 0, OPT_FIXED,            \
      "Addresses that dnsd answers on, comma-separated.")                                                         \
    X(KEY_DNS_PORT, "hadoop.registry.dns.bind-port", OPT_INT, "", "5335", 1, 65535, OPT_FIXED,                    \
      "Port that dnsd answers on.")                                                                               \
    X(KEY_DOMAIN, "hadoop.registry.dns.domain-name", OPT_TEXT, "", "bobbin.test", 0, 0, OPT_FIXED,                \
      "Domain of the registry's names.")                                                           \
    X(KEY_DNS_ENABLED, "hadoop.registry.dns.enabled", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,                      \
      "Refuses names of services and components that are no DNS labels.")                                                    \
    X(KEY_ADDRESSES, "yarn.service.local.addresses", OPT_TEXT, "", "127.77.0.0/16", 0, 0, OPT_FIXED,              \
      "Loopback network of the instances.")                                                                       \
    X(KEY_SUBNET, "hadoop.registry.dns.zone-subnet", OPT_TEXT, "", "127.77.0.0/16", 0, 0, OPT_FIXED,              \
      "Subnet of the reverse zone.")                                                                              \
    X(KEY_ZONES_DIR, "hadoop.registry.dns.zones-dir", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "Directory of master files, NAME.zone each.")                                                               \
    X(KEY_STORE, "hadoop.registry.store", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                                    \
      "Where registryd keeps its records.")                                                                       \
    X(KEY_STATIC_USER, "hadoop.http.staticuser.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "Caller of a request that names no user.")                                                                  \
    X(KEY_STOP_ON_EXIT, "yarn.service.stop-containers-on-exit", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,            \
      "svcmgr stops all containers at its end.")                                                                  \
    X(KEY_DRAIN_DNS, "yarn.service.drain.dns-urls", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                          \
      "URLs of the dnsd that confirm that an instance's record has gone, for `bobbin dev`.")                        \
    X(KEY_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                                       \
      "Directory of everything that Bobbin keeps on disk.")
/* clang-format on */

enum cli_key { OPTIONS_ENUM(CLI_KEYS) N_CLI_KEYS };

#endif
