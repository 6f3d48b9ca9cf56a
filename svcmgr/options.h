/**
 * Options of svcmgr: one row each (run/options.h). Keys that Hadoop has keep name and meaning.
 *
 * Source: Hadoop's yarn-default.xml and core-default.xml; YARN services configuration; ours.
 */
#ifndef SVCMGR_OPTIONS_H
#define SVCMGR_OPTIONS_H

#include "run/options.h"

/* clang-format off */
#define SVCMGR_OPTIONS(X)                                                                                         \
    X(OPT_ADDRESS, "yarn.service.api-server.address", OPT_ADDR, "", "127.0.0.1:9191", 0, 0, OPT_FIXED,            \
      "Where the services API listens.")                                                                          \
    X(OPT_REMOTE, "yarn.service.api-server.allow-remote", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                 \
      "Serve on addresses other than loopback; there is no authentication yet, so think before.")                 \
    X(OPT_DIALECT, "yarn.service.api-server.dialect", OPT_ENUM, "seed|hadoop3", "seed", 0, 0, OPT_FIXED,          \
      "Names of states and codes of the services API: those of its document, or those of Hadoop 3.")              \
    X(OPT_CLUSTER, "yarn.service.cluster", OPT_ENUM, "local", "local", 0, 0, OPT_FIXED,                           \
      "Where containers run: local, as processes of this host.")                                                  \
    X(OPT_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", "/var/lib/bobbin", 0, 0, OPT_FIXED,                          \
      "Directory of all that Bobbin keeps on disk; svcmgr uses its subdirectory svcmgr.")                         \
    X(OPT_STATE_STORE, "yarn.service.state.store", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                           \
      "Store of the services' state: file:DIR or zk://hosts/path. Default: file: under bobbin.data.dir.")         \
    X(OPT_REGISTRY_URL, "hadoop.registry.url", OPT_TEXT, "", "http://127.0.0.1:9192", 0, 0, OPT_FIXED,            \
      "Where registryd is reached; several, separated by commas.")                                                \
    X(OPT_STATIC_USER, "hadoop.http.staticuser.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "Caller of a request that names no user. Default: the user who runs svcmgr.")                               \
    X(OPT_DOMAIN, "hadoop.registry.dns.domain-name", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                         \
      "Domain of the registry's DNS names, for ${DOMAIN} and DNS checks.")                                        \
    X(OPT_DNS_ENABLED, "hadoop.registry.dns.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                     \
      "Names of services and components must be fit for DNS.")                                                    \
    X(OPT_ZK_QUORUM, "hadoop.registry.zk.quorum", OPT_TEXT, "", "localhost:2181", 0, 0, OPT_FIXED,                \
      "ZooKeeper servers, for ${CLUSTER_ZK_QUORUM}.")                                                             \
    X(OPT_QUEUE, "yarn.service.queue", OPT_TEXT, "", "default", 0, 0, OPT_FIXED,                                  \
      "Queue of services that name none.")                                                                        \
    X(OPT_PROBE_INTERVAL, "yarn.service.readiness-check-interval.seconds", OPT_TIME, "s", "30", 10, 86400000,     \
      OPT_FIXED, "Between two readiness checks of a container; the first ones come quicker.")                     \
    X(OPT_RETRY_INTERVAL, "yarn.service.container-failure.retry-interval-ms", OPT_TIME, "ms", "30000", 1,         \
      86400000, OPT_FIXED, "Longest pause before a crashed process is started again; the first ones are shorter.") \
    X(OPT_STOP_ON_EXIT, "yarn.service.stop-containers-on-exit", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,           \
      "At its end svcmgr stops all containers; else they go on and are taken over at the next start.")            \
    X(OPT_ADDRESSES, "yarn.service.local.addresses", OPT_TEXT, "", "127.77.0.0/16", 0, 0, OPT_FIXED,              \
      "Loopback network from which each instance gets its own address.")                                          \
    X(OPT_SHIM, "yarn.service.local.container-shim", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                         \
      "The program container-shim. Default: beside svcmgr, or in libexec/bobbin.")                                \
    X(OPT_LABEL, "yarn.nodemanager.node-labels.provider.configured-node-partition", OPT_TEXT, "", NULL, 0, 0,     \
      OPT_FIXED, "Label of this host, for placement.")                                                            \
    X(OPT_HOSTNAME, "yarn.nodemanager.hostname", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                             \
      "Name of this host in records. Default: the machine's.")                                                    \
    X(OPT_MEMORY_MB, "yarn.nodemanager.resource.memory-mb", OPT_INT, "MB", "-1", -1, 1073741824, OPT_FIXED,       \
      "Memory for containers; -1: the machine's.")                                                                \
    X(OPT_VCORES, "yarn.nodemanager.resource.cpu-vcores", OPT_INT, "", "-1", -1, 1048576, OPT_FIXED,              \
      "Virtual cores for containers; -1: four for each processor.")                                               \
    X(OPT_RUN_USER, "yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user", OPT_TEXT, "",          \
      "nobody", 0, 0, OPT_FIXED, "User that containers run as when root runs svcmgr.")                            \
    X(OPT_CGROUP, "yarn.nodemanager.linux-container-executor.cgroups.delegated-dir", OPT_TEXT, "", NULL, 0, 0,    \
      OPT_FIXED, "Delegated cgroup v2 directory, below which each container gets its limits.")                    \
    X(OPT_GRACE, "yarn.nodemanager.sleep-delay-before-sigkill.ms", OPT_TIME, "ms", "2000", 0, 3600000, OPT_FIXED, \
      "Between SIGTERM and SIGKILL when a container is stopped.")                                                 \
    X(OPT_KEEP_LOGS, "yarn.nodemanager.log.retain-seconds", OPT_TIME, "s", "10800", 0, INT64_MAX, OPT_FIXED,      \
      "How long the logs of ended containers are kept.")
/* clang-format on */

enum svcmgr_option { OPTIONS_ENUM(SVCMGR_OPTIONS) N_SVCMGR_OPTIONS };

#endif
