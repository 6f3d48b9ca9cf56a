/**
 * Options of svcmgr: one row each (run/options.h). Keys that Hadoop has keep name and meaning.
 *
 * Source: Hadoop's yarn-default.xml and core-default.xml; YARN services configuration; ours.
 */
#ifndef SVCMGR_OPTIONS_H
#define SVCMGR_OPTIONS_H

#include "http/limits.h"
#include "fs/place.h"
#include "run/options.h"
#include "run/rm_options.h"

#define SVCMGR_TYPE_FAMILY    "yarn.nodemanager.resource-type."
#define SVCMGR_DEVICES_FAMILY "yarn.service.local.devices."

/* clang-format off */
/** Families of keys: beginning, what the name at the end is, prose. */
#define SVCMGR_FAMILIES(X)                                                                                        \
    X(SVCMGR_TYPE_FAMILY, "TYPE",                                                                                 \
      "How much of a resource type, as yarn.io/gpu, the host of a local cluster has for containers.")             \
    X(SVCMGR_DEVICES_FAMILY, "TYPE",                                                                              \
      "Devices of the host for each 1 of such a resource type, separated by commas, or with '+' where several belong together, as " \
      "/dev/nvidia0+/dev/nvidiactl,/dev/nvidia1+/dev/nvidiactl. A container that has some of the resource gets as many of them, "  \
      "which no other container has, and an image sees no others.")                                               \
    X(FS_HA_NAMENODES_FAMILY, "NS", "The NameNodes of an HDFS cluster of dfs.nameservices, separated by commas.") \
    X(FS_HTTP_ADDRESS_FAMILY, "NS[.NN]", "Where a NameNode of such a cluster answers HTTP.")                      \
    X(FS_HTTPS_ADDRESS_FAMILY, "NS[.NN]", "The same for HTTPS.")                                                  \
    X(FS_RPC_ADDRESS_FAMILY, "NS[.NN]", "Its address for Java clients: the host counts where its address for HTTP has none.")

/** Keys of Hadoop's that a configuration may have and that mean nothing here: key, why. */
#define SVCMGR_NOT_APPLICABLE(X)                                                                                  \
    X("yarn.webapp.api-service.enable",                                                                           \
      "svcmgr is the services API and serves it whenever it runs; no ResourceManager switches it on.") \
    X("yarn.service.framework.path", "Services have no master of Java whose archive would be fetched from there.") \
    X("yarn.service.system-service.dir",                                                                          \
      "svcmgr starts no service of its own accord; one that was launched comes back with svcmgr.")                \
    X("yarn.service.client-am.retry.max-wait-ms",                                                                 \
      "svcmgr reads from its state what application masters write: it asks none.")                                       \
    X("yarn.service.client-am.retry-interval-ms", "As client-am.retry.max-wait-ms.")                              \
    X("hadoop.registry.zk.root", "It is for registryd, which svcmgr writes through.")
/* clang-format on */

/* clang-format off */
#define SVCMGR_OPTIONS(X)                                                                                         \
    X(OPT_ADDRESS, "yarn.service.api-server.address", OPT_ADDR, "", "127.0.0.1:9191", 0, 0, OPT_FIXED,            \
      "Address of the services API.")                                                                          \
    X(OPT_REMOTE, "yarn.service.api-server.allow-remote", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                 \
      "Serves on addresses other than loopback, without authentication.")                 \
    HTTP_OPTIONS(X, "yarn.service.api-server.")                                                                   \
    X(OPT_DIALECT, "yarn.service.api-server.dialect", OPT_ENUM, "seed|hadoop3", "seed", 0, 0, OPT_FIXED,          \
      "State names and status codes of the services API: those of its document, or those of Hadoop 3.")              \
    X(OPT_CLUSTER, "yarn.service.cluster", OPT_ENUM, "local|sim|yarn", "local", 0, 0, OPT_FIXED,                       \
      "Cluster that runs containers: local, processes of this host; sim, a simulation without any process; yarn, node managers of YARN.")           \
    RM_HOST_OPTION(X, NULL)                                                                                       \
    X(OPT_RM_ADDRESS, "yarn.resourcemanager.address", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "Address of the resource manager for clients: services on YARN are submitted there. Default: port 8032 of its host.") \
    X(OPT_RM_SCHEDULER, "yarn.resourcemanager.scheduler.address", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,            \
      "Address of the resource manager for application masters. Default: port 8030 of its host.")                 \
    RM_HA_OPTIONS(X)                                                                                              \
    X(OPT_RPC_PROTECTION, "hadoop.rpc.protection", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                           \
      "What an application master accepts to protect its connections to the resource manager and to nodes with, best first, "  \
      "comma-separated: authentication, integrity. privacy is not there. Default: authentication, integrity.")                 \
    X(OPT_RM_CONSTRAINTS, "yarn.resourcemanager.placement-constraints.handler", OPT_ENUM, "disabled|placement-processor|scheduler", \
      "disabled", 0, 0, OPT_FIXED, \
      "What handles placement constraints in the resource manager, as that has it; disabled: nothing does, and they are refused.") \
    X(OPT_MASTER_KIND, "yarn.service.master.kind", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                           \
      "Of an application master (svcmgr am): kind of its service. svcmgr writes it, and the keys below, into the master's configuration.") \
    X(OPT_MASTER_USER, "yarn.service.master.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, "User of its service.")   \
    X(OPT_MASTER_NAME, "yarn.service.master.name", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, "Name of its service.")   \
    X(OPT_MASTER_DEFINITION, "yarn.service.master.definition", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,               \
      "Key of the document of what is wanted of it, which it reads.")                                             \
    X(OPT_MASTER_SERVICE, "yarn.service.master.service", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                     \
      "Key of the document of what it is, which it writes.")                                                      \
    X(OPT_MASTER_MANAGER, "yarn.service.master.manager-url", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                 \
      "URL of svcmgr, where the Slider API of its application is.")                                               \
    X(OPT_MASTER_INCARNATION, "yarn.service.master.incarnation", OPT_INT, "", "0", 0, INT64_MAX, OPT_FIXED,       \
      "Which start of the service it is.")                                                                        \
    X(OPT_SLIDER_INSECURE, "slider.feature.ws.insecure", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                  \
      "On YARN: an application master passes a change that comes to it directly on to svcmgr, instead of sending the client there.") \
    X(OPT_FILES_URL, "yarn.service.files.url", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                               \
      "URL below which node managers reach the files that svcmgr serves for application masters. Default: /files at yarn.service.api-server.address.") \
    X(OPT_SIM_SCRIPT, "yarn.service.sim.script", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                             \
      "Script of the simulated cluster: its nodes, how long things take, what goes wrong. Statements end at ';'.")     \
    X(OPT_SIM_SEED, "yarn.service.sim.seed", OPT_INT, "", "1", 0, INT64_MAX, OPT_FIXED,                           \
      "Seed of what the script of the simulated cluster draws.")                                                       \
    X(OPT_SIM_SPEED, "yarn.service.sim.speed", OPT_INT, "", "1", 1, 1000000, OPT_FIXED,                           \
      "Milliseconds of the simulated cluster in each millisecond of the clock.")                                       \
    X(OPT_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", "/var/lib/bobbin", 0, 0, OPT_FIXED,                          \
      "Directory of Bobbin's files; svcmgr uses its subdirectory svcmgr.")                         \
    X(OPT_STATE_STORE, "yarn.service.state.store", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                           \
      "Store of the services' state: file:DIR or zk://hosts/path. Default: file: under bobbin.data.dir.")         \
    X(OPT_LEASE, "yarn.service.state.lease-ms", OPT_TIME, "ms", "10000", 1000, 600000, OPT_FIXED,                 \
      "In a shared state store: time without a renewal after which another svcmgr takes over.")     \
    X(OPT_TAKE_FROM, "yarn.service.state.take-over-from", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                    \
      "Place (host:directory) of an svcmgr that will not come back: its containers are given up and started here.")     \
    X(OPT_MAX_DEFINITION, "yarn.service.definition.max-bytes", OPT_INT, "B", "393216", 1024, 393216, OPT_FIXED,   \
      "Largest stored definition of a service; inherited members count in each component.")         \
    X(OPT_MAX_CONTAINERS, "yarn.service.component.max-containers", OPT_INT, "", "10000", 1, 100000, OPT_FIXED,    \
      "Most containers of one component.")                                                                        \
    X(OPT_QUOTA_USER, "yarn.service.quota.user.max-containers", OPT_INT, "", "0", 0, 100000000, OPT_FIXED,         \
      "Most containers that the services of one user may want together; 0: any number.")                          \
    X(OPT_QUOTA_QUEUE, "yarn.service.quota.queue.max-containers", OPT_INT, "", "0", 0, 100000000, OPT_FIXED,       \
      "Most containers that the services in one queue may want together; 0: any number.")                         \
    X(OPT_MAX_WAITING, "yarn.service.api-server.max-waiting-requests", OPT_INT, "", "1024", 1, 1000000,           \
      OPT_FIXED, "Most requests that wait for the state store; further ones get 503.")                                    \
    X(OPT_EXEC_MAX, "yarn.service.exec.max-sessions", OPT_INT, "", "64", 0, 4096, OPT_FIXED,                       \
      "Most commands that users execute in containers at a time (`bobbin app exec`); further ones get 429. 0: none may.") \
    X(OPT_REGISTRY_URL, "hadoop.registry.url", OPT_TEXT, "", "http://127.0.0.1:9192", 0, 0, OPT_FIXED,            \
      "URLs of registryd, separated by commas.")                                                \
    X(OPT_STATIC_USER, "hadoop.http.staticuser.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "User of a request that names none. Default: the user of svcmgr's process.")                               \
    X(OPT_ADMINS, "yarn.service.api-server.admin.users", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                     \
      "Users, comma-separated, who may list the services of others, beside root and the one who runs svcmgr.") \
    X(OPT_LAUNCHER_ACL, "yarn.service.launcher.acl.enable", OPT_BOOL, "", "false", 0, 0, OPT_FIXED, \
      "Lets only the user of a framework's namespace, those whom AclConfiguration lists, and administrators change it; the header UserName " \
      "says who asks.") \
    X(OPT_LAUNCHER_ACL_IGNORE, "yarn.service.launcher.acl.ignore-without-namespace", OPT_BOOL, "", "false", 0, 0, OPT_FIXED, \
      "Lets everybody change frameworks whose names have no namespace; otherwise such names are refused while acl.enable is true.") \
    X(OPT_LAUNCHER_ADMINS, "yarn.service.launcher.admin.users", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, \
      "Users, separated by commas, who may change every framework, beside the one who runs svcmgr and those of AclConfiguration.") \
    X(OPT_LAUNCHER_MAX_TASKS, "yarn.service.launcher.max-total-tasks", OPT_INT, "", "500000", 1, 100000000, OPT_FIXED, \
      "Most tasks of all frameworks together, completed ones too until they are deleted.") \
    X(OPT_LAUNCHER_RETAIN, "yarn.service.launcher.completed-retain", OPT_TIME, "s", "43200", 0, 31536000000, OPT_FIXED, \
      "Time after which a completed framework is deleted; 0: never.") \
    X(OPT_LAUNCHER_GANG, "yarn.service.launcher.gang-timeout", OPT_TIME, "s", "500", 1000, 31536000000, OPT_FIXED, \
      "Longest wait of a framework with gang allocation for the containers of all its tasks.") \
    X(OPT_LAUNCHER_CONFLICT_MIN, "yarn.service.launcher.conflict-min-delay", OPT_TIME, "s", "600", 0, 31536000000, OPT_FIXED, \
      "Shortest pause before a framework is tried again that could not get its resources.") \
    X(OPT_LAUNCHER_CONFLICT_MAX, "yarn.service.launcher.conflict-max-delay", OPT_TIME, "s", "3600", 0, 31536000000, OPT_FIXED, \
      "Longest such pause, after several tries.") \
    X(OPT_LAUNCHER_ZK_ROOT, "yarn.service.launcher.zk-root", OPT_TEXT, "", "/Launcher", 0, 0, OPT_FIXED, \
      "ZK_ROOT_DIR of tasks.") \
    X(OPT_LAUNCHER_HDFS_ROOT, "yarn.service.launcher.hdfs-root", OPT_TEXT, "", "/Launcher", 0, 0, OPT_FIXED, \
      "HDFS_ROOT_DIR of tasks.") \
    X(OPT_DOMAIN, "hadoop.registry.dns.domain-name", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                         \
      "Domain of the registry's DNS names, for ${DOMAIN} and DNS checks.")                                        \
    X(OPT_DNS_ENABLED, "hadoop.registry.dns.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                     \
      "Requires names of services and components that are valid in DNS.")                                                    \
    X(OPT_ZK_QUORUM, "hadoop.registry.zk.quorum", OPT_TEXT, "", "localhost:2181", 0, 0, OPT_FIXED,                \
      "ZooKeeper servers, for ${CLUSTER_ZK_QUORUM}.")                                                             \
    X(OPT_FS, "fs.defaultFS", OPT_TEXT, "", "file:///", 0, 0, OPT_FIXED,                                          \
      "The cluster's file system, for ${CLUSTER_FS_URI}, ${CLUSTER_FS_HOST}, ${SERVICE_HDFS_DIR}, and hdfs: without a host.") \
    X(OPT_NAMESERVICES, "dfs.nameservices", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                                  \
      "HDFS clusters that a URI may name, separated by commas. Of cluster NS dfs.ha.namenodes.NS lists the NameNodes, and "     \
      "dfs.namenode.http-address.NS.NN says where NameNode NN answers HTTP.")                                       \
    X(OPT_HDFS_HTTP, "dfs.namenode.http-address", OPT_TEXT, "", "0.0.0.0:9870", 0, 0, OPT_FIXED,                  \
      "Address for HTTP of the NameNode of fs.defaultFS; a wildcard is its host. Of other NameNodes only the port counts.")    \
    X(OPT_HDFS_HTTPS, "dfs.namenode.https-address", OPT_TEXT, "", "0.0.0.0:9871", 0, 0, OPT_FIXED,                \
      "The same for HTTPS, which swebhdfs: uses, and hdfs: by the next key.")                                     \
    X(OPT_HDFS_POLICY, "dfs.http.policy", OPT_ENUM, "HTTP_ONLY|HTTPS_ONLY|HTTP_AND_HTTPS", "HTTP_ONLY", 0, 0, OPT_FIXED, \
      "HTTPS_ONLY: HDFS is asked by HTTPS.")                                                                      \
    X(OPT_BASE_PATH, "yarn.service.base.path", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                               \
      "Directory of that file system for ${SERVICE_HDFS_DIR}, and on YARN for the files of application masters, as URI or path; one without \"/\" " \
      "at its begin is in the user's home. Default: .yarn there.")  \
    X(OPT_QUEUE, "yarn.service.queue", OPT_TEXT, "", "default", 0, 0, OPT_FIXED,                                  \
      "Queue of services that name none.")                                                                        \
    X(OPT_PROBE_INTERVAL, "yarn.service.readiness-check-interval.seconds", OPT_TIME, "s", "30", 10, 86400000,     \
      OPT_FIXED, "Interval of a container's readiness checks; the first ones come sooner.")                     \
    X(OPT_RETRY_INTERVAL, "yarn.service.container-failure.retry-interval-ms", OPT_TIME, "ms", "30000", 1,         \
      86400000, OPT_FIXED, "Longest pause before a crashed process is restarted; the first ones are shorter.") \
    X(OPT_UPGRADE, "yarn.service.upgrade.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                        \
      "Lets requests upgrade services to another version while they run.")                                          \
    X(OPT_DNS_URLS, "yarn.service.drain.dns-urls", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                           \
      "URLs of the dnsd, comma-separated, that confirm that they answer without an instance's record before it drains.") \
    X(OPT_DNS_TIMEOUT, "yarn.service.drain.dns-timeout", OPT_TIME, "ms", "5000", 100, 10000, OPT_FIXED,           \
      "Longest wait for that; one that did not confirm in time is not waited for until it confirms again.")          \
    X(OPT_STOP_ON_EXIT, "yarn.service.stop-containers-on-exit", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,           \
      "Stops all containers when svcmgr exits; otherwise they keep running and the next start recovers them.")            \
    X(OPT_ADDRESSES, "yarn.service.local.addresses", OPT_TEXT, "", "127.77.0.0/16", 0, 0, OPT_FIXED,              \
      "Loopback network from which each instance gets its own address.")                                          \
    X(OPT_SHIM, "yarn.service.local.container-shim", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                         \
      "Path of container-shim. Default: beside svcmgr, or in libexec/bobbin.")                                \
    X(OPT_SOURCE_DIRS, "yarn.service.local.source-dirs", OPT_TEXT, "", "/", 0, 0, OPT_FIXED,                      \
      "Directories, separated by commas, that may hold the src_file of a service. It is opened with the rights of the " \
      "container's user; symbolic links are followed only in these names themselves.") \
    X(OPT_SOURCE_MAX, "yarn.service.local.source-max-bytes", OPT_SIZE, "", "256M", 0, INT64_MAX, OPT_FIXED, \
      "Most bytes of all src_file of one container; a template is limited to 1 MiB.") \
    X(OPT_SOURCE_TIMEOUT, "yarn.service.local.source-timeout", OPT_TIME, "s", "30", 1000, 3600000, OPT_FIXED, \
      "Longest time for reading the src_file of one container; its launch fails after it.") \
    X(OPT_RUNTIME, "yarn.service.local.container-runtime", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, \
      "Path of podman or docker, which runs artifacts of type DOCKER. Default: podman, else docker, of the search path.") \
    X(OPT_RUNTIME_ARGS, "yarn.service.local.container-runtime.arguments", OPT_TEXT, "", "", 0, 0, OPT_FIXED, \
      "Arguments of every call of it before the command, separated by blanks, as \"--root /srv/images --runtime runc\".") \
    X(OPT_RO_MOUNTS, "yarn.service.local.container-runtime.ro-mounts", OPT_TEXT, "", "", 0, 0, OPT_FIXED, \
      "Directories of this host, separated by commas, beneath which a service may mount into its images for reading. A user " \
      "who may rename what is beneath one reads all of the host by it.") \
    X(OPT_RW_MOUNTS, "yarn.service.local.container-runtime.rw-mounts", OPT_TEXT, "", "", 0, 0, OPT_FIXED, \
      "As ro-mounts, for reading and writing.") \
    X(OPT_PULL_TIMEOUT, "yarn.service.local.container-runtime.pull-timeout", OPT_TIME, "s", "600", 1000, 86400000, OPT_FIXED, \
      "Longest time for fetching the image of a container that is not on this host; its launch fails after it.") \
    X(OPT_PRIVILEGED, "yarn.nodemanager.runtime.linux.docker.privileged-containers.allowed", OPT_BOOL, "", "false", 0, 0, \
      OPT_FIXED, "Lets users of the next key run images with all rights of root (run_privileged_container).") \
    X(OPT_PRIVILEGED_USERS, "yarn.nodemanager.runtime.linux.docker.privileged-containers.acl", OPT_TEXT, "", "", 0, 0, \
      OPT_FIXED, "Users, separated by commas, who may run privileged images.") \
    X(OPT_FETCH_TIMEOUT, "yarn.service.local.fetch-timeout", OPT_TIME, "s", "600", 1000, 86400000, OPT_FIXED, \
      "Longest time for fetching and unpacking the files of one container, when there is a URL or an archive among them.") \
    X(OPT_ARCHIVE_MAX, "yarn.service.local.archive-max-bytes", OPT_SIZE, "", "4G", 0, INT64_MAX, OPT_FIXED, \
      "Most bytes that come out of the archives of one container.") \
    X(OPT_ARCHIVE_ENTRIES, "yarn.service.local.archive-max-entries", OPT_INT, "", "100000", 0, INT64_MAX, OPT_FIXED, \
      "Most entries of the archives of one container.") \
    X(OPT_ARCHIVE_RATIO, "yarn.service.local.archive-max-ratio", OPT_INT, "", "200", 1, 1000000, OPT_FIXED, \
      "Most bytes that come out for each byte of an archive; 1 MiB may come out of any.") \
    X(OPT_CACHE_MB, "yarn.nodemanager.localizer.cache.target-size-mb", OPT_INT, "MB", "10240", 0, 1073741824, OPT_FIXED, \
      "Megabytes of fetched files that are kept for the next container; the least recently used leave first.") \
    X(OPT_CACHE_FRESH, "yarn.service.local.cache-fresh", OPT_TIME, "s", "60", 0, 31536000000, OPT_FIXED, \
      "Time in which a kept file is used without asking its server whether it has changed; by application masters, too.") \
    X(OPT_LABEL, "yarn.nodemanager.node-labels.provider.configured-node-partition", OPT_TEXT, "", NULL, 0, 0,     \
      OPT_FIXED, "Node label of this host, for placement.")                                                            \
    X(OPT_HOSTNAME, "yarn.nodemanager.hostname", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                             \
      "Name of this host in records. Default: its hostname.")                                                    \
    X(OPT_MEMORY_MB, "yarn.nodemanager.resource.memory-mb", OPT_INT, "MB", "-1", -1, 1073741824, OPT_FIXED,       \
      "Memory for containers; -1: that of the host.")                                                                \
    X(OPT_VCORES, "yarn.nodemanager.resource.cpu-vcores", OPT_INT, "", "-1", -1, 1048576, OPT_FIXED,              \
      "Virtual cores for containers; -1: four for each processor.")                                               \
    X(OPT_ATTRIBUTES, "yarn.nodemanager.node-attributes.provider.configured-node-attributes", OPT_TEXT, "", NULL, 0, 0, \
      OPT_FIXED, "Node attributes of this host, for placement: NAME,STRING,VALUE, several with colons between them.") \
    X(OPT_RUN_USER, "yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user", OPT_TEXT, "",          \
      "nobody", 0, 0, OPT_FIXED, "User of containers when svcmgr runs as root, unless yarn.service.local.user-range is set.")                            \
    X(OPT_USER_RANGE, "yarn.service.local.user-range", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, \
      "Range of uids, as 200000-200999: when svcmgr runs as root, each owner of services gets one permanently for his " \
      "containers. No user, group or user namespace may use the range. Unset: one user runs all.") \
    X(OPT_CGROUPS, "yarn.service.local.cgroups", OPT_ENUM, "off|auto|required", "auto", 0, 0, OPT_FIXED,          \
      "Limits containers by cgroups: off, auto (where they can be made), required (else svcmgr does not start).") \
    X(OPT_CGROUP, "yarn.nodemanager.linux-container-executor.cgroups.delegated-dir", OPT_TEXT, "", NULL, 0, 0,    \
      OPT_FIXED, "Delegated cgroup v2 directory for the containers' cgroups; instead of the two keys below.") \
    X(OPT_CGROUP_MOUNT, "yarn.nodemanager.linux-container-executor.cgroups.mount-path", OPT_TEXT, "", NULL, 0, 0, \
      OPT_FIXED, "Mount point of cgroups: v2, or a directory for each v1 controller. Default: read from /proc/self/mountinfo.") \
    X(OPT_CGROUP_HIERARCHY, "yarn.nodemanager.linux-container-executor.cgroups.hierarchy", OPT_TEXT, "",          \
      "/hadoop-yarn", 0, 0, OPT_FIXED, "Directory for containers below that mount, or else below svcmgr's own cgroup.") \
    X(OPT_CGROUP_CPU, "yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage", OPT_BOOL, "",    \
      "false", 0, 0, OPT_FIXED, "Limits a container to the CPU of its vcores even when more is idle.")   \
    X(OPT_MEMORY_ENFORCED, "yarn.nodemanager.resource.memory.enforced", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,    \
      "The kernel kills a container that uses more memory than it requested (with cgroups).")                     \
    X(OPT_PMEM_CHECK, "yarn.nodemanager.pmem-check-enabled", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,               \
      "Memory is enforced when this key and the one above are true.")                                                 \
    X(OPT_PIDS, "yarn.service.local.pids-limit", OPT_INT, "", "4096", 0, 4194304, OPT_FIXED,                      \
      "Most processes and threads of a container (with cgroups); 0: no limit.")                                   \
    X(OPT_GRACE, "yarn.nodemanager.sleep-delay-before-sigkill.ms", OPT_TIME, "ms", "2000", 0, 3600000, OPT_FIXED, \
      "Time between SIGTERM and SIGKILL when a container is stopped.")                                                 \
    X(OPT_LOG_DIR_BYTES, "yarn.nodemanager.container-log-monitor.dir-size-limit-bytes", OPT_INT, "B",             \
      "1000000000", 65536, INT64_MAX / 2, OPT_FIXED,                                                              \
      "Most bytes of a container's standard output and error in its log directory; the oldest files are removed.") \
    X(OPT_LOG_FILES, "yarn.service.local.log-files", OPT_INT, "", "4", 1, 100, OPT_FIXED,                         \
      "Files of each output of a container: stdout.txt, stdout.txt.1 (the previous one), ….")          \
    X(OPT_KEEP_LOGS, "yarn.nodemanager.log.retain-seconds", OPT_TIME, "s", "10800", 0, INT64_MAX, OPT_FIXED,      \
      "Retention of a container's logs after its end; time while the host is off does not count.")
/* clang-format on */

enum svcmgr_option { OPTIONS_ENUM(SVCMGR_OPTIONS) N_SVCMGR_OPTIONS };

#endif
