/**
 * Options of registryd: one row each (run/options.h says what a row is).
 * Source: Hadoop registry configuration; ours where the key is not Hadoop's.
 */
#ifndef REGISTRYD_OPTIONS_H
#define REGISTRYD_OPTIONS_H

#include "access/limits.h"
#include "http/limits.h"
#include "run/options.h"
#include "run/rm_options.h"

#define REGISTRYD_OPTIONS(X)                                                                                 \
    X(OPT_STORE, "hadoop.registry.store", OPT_TEXT, "", "auto", 0, 0, OPT_FIXED,                             \
      "Store of the registry: zk://host:port,…/root, file:DIR, or auto: ZooKeeper when a configuration "   \
      "file sets hadoop.registry.zk.quorum, else an embedded store below bobbin.data.dir.")                  \
    X(OPT_ZK_QUORUM, "hadoop.registry.zk.quorum", OPT_TEXT, "", "localhost:2181", 0, 0, OPT_FIXED,           \
      "ZooKeeper servers, host:port, comma-separated.")                                                      \
    X(OPT_ZK_FOLLOW, "hadoop.registry.zk.follow.quorum", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                \
      "Servers for the session that follows changes, for example observers. Default: "                       \
      "hadoop.registry.zk.quorum.")                                                                          \
    X(OPT_ZK_ROOT, "hadoop.registry.zk.root", OPT_TEXT, "", "/registry", 0, 0, OPT_FIXED,                    \
      "ZooKeeper node that is the root of the registry.")                                                    \
    X(OPT_ZK_SESSION_TIMEOUT, "hadoop.registry.zk.session.timeout.ms", OPT_TIME, "ms", "60000", 1000,        \
      3600000, OPT_FIXED, "Session timeout of ZooKeeper.")                                                   \
    X(OPT_ZK_CONNECT_TIMEOUT, "hadoop.registry.zk.connection.timeout.ms", OPT_TIME, "ms", "15000", 100,      \
      3600000, OPT_FIXED, "Longest time to connect to ZooKeeper.")                                           \
    X(OPT_ZK_RETRY_TIMES, "hadoop.registry.zk.retry.times", OPT_INT, "", "5", 0, 29, OPT_FIXED,              \
      "Retries of an operation after the connection was lost.")                                              \
    X(OPT_ZK_RETRY_INTERVAL, "hadoop.registry.zk.retry.interval.ms", OPT_TIME, "ms", "1000", 1, 3600000,     \
      OPT_FIXED, "First pause between retries.")                                                             \
    X(OPT_ZK_RETRY_CEILING, "hadoop.registry.zk.retry.ceiling.ms", OPT_TIME, "ms", "60000", 1, 3600000,      \
      OPT_FIXED, "Longest pause between retries.")                                                           \
    X(OPT_ACCESSOR_SESSIONS, "hadoop.registry.zk.accessor-sessions", OPT_INT, "", "16", 0, 1000, OPT_FIXED,  \
      "Sessions to ZooKeeper at once for holders of write accessors, for nodes whose ACL lets the accessor " \
      "write and not registryd.")                                                                            \
    X(OPT_ACCESSOR_IDLE, "hadoop.registry.zk.accessor-idle", OPT_TIME, "s", "60s", 1000, 86400000,           \
      OPT_FIXED, "Closes a write accessor's session after so long without a write.")                         \
    X(OPT_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", "/var/lib/bobbin", 0, 0, OPT_FIXED,                     \
      "Directory for everything Bobbin keeps on this host.")                                                 \
    X(OPT_BACKUP_DIR, "hadoop.registry.backup.dir", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                     \
      "Parent directory of backups of the embedded store. Default: bobbin.data.dir.")                        \
    X(OPT_ADMINS, "hadoop.registry.admin.users", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                        \
      "Users, comma-separated, who may export, import and back up, beside root and the one who runs "        \
      "registryd.")                                                                                          \
    X(OPT_HTTP_ADDRESS, "hadoop.registry.http.address", OPT_ADDR, "", "127.0.0.1:9192", 0, 0, OPT_FIXED,     \
      "Address of the REST interface.")                                                                      \
    X(OPT_HTTP_REMOTE, "hadoop.registry.http.allow-remote", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,          \
      "Listens on a non-loopback address although nobody is authenticated.")                                 \
    HTTP_OPTIONS(X, "hadoop.registry.http.")                                                                 \
    X(OPT_STATIC_USER, "hadoop.http.staticuser.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Caller of a request that names no user. Default: the user who runs registryd.")                       \
    X(OPT_PATH_NAMES, "hadoop.registry.path.names", OPT_ENUM, "dns|zookeeper", "dns", 0, 0, OPT_FIXED,       \
      "Names that a write may create: dns (RFC 1123 labels up to 63 bytes) or zookeeper (Hadoop's laxer "    \
      "check). Nodes that exist are read, overwritten and deleted in either mode.")                          \
    X(OPT_SECURE, "hadoop.registry.secure", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                          \
      "Checks who may write: system accounts, users in their own homes, and others by a node's ACL. New "    \
      "nodes get an ACL.")                                                                                   \
    X(OPT_SYSTEM_ACCOUNTS, "hadoop.registry.system.accounts", OPT_TEXT, "",                                  \
      "sasl:yarn@, sasl:mapred@, sasl:hdfs@, sasl:hadoop@", 0, 0, OPT_FIXED,                                 \
      "Accounts with all rights, scheme:id, comma-separated; an id that ends in @ gets the realm.")          \
    X(OPT_USER_ACCOUNTS, "hadoop.registry.user.accounts", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,               \
      "Further accounts with all rights on new nodes; needed with digest.")                                  \
    X(OPT_REALM, "hadoop.registry.kerberos.realm", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                      \
      "Realm of accounts that end in @. Default with Kerberos: the realm of registryd's principal.")         \
    X(OPT_AUTH, "hadoop.registry.client.auth", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                          \
      "How a secure registryd authenticates to ZooKeeper: kerberos, digest, or not at all (empty or "        \
      "simple).")                                                                                            \
    X(OPT_AUTHENTICATION, "hadoop.security.authentication", OPT_ENUM, "simple|kerberos", "simple", 0, 0,     \
      OPT_FIXED, "Whether the cluster has Kerberos; needed for hadoop.registry.client.auth=kerberos.")       \
    X(OPT_KERBEROS_PRINCIPAL, "hadoop.registry.kerberos.principal", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,     \
      "Principal of registryd towards ZooKeeper, name/host@REALM; _HOST stands for this host. Default: "     \
      "that of the JAAS entry, else the first of the keytab, else that of the credential cache.")            \
    X(OPT_KERBEROS_KEYTAB, "hadoop.registry.kerberos.keytab", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,           \
      "Keytab of the principal; registryd gets its ticket with it and renews it before it ends. Default: "   \
      "that of the JAAS entry.")                                                                             \
    X(OPT_KERBEROS_CACHE, "hadoop.registry.kerberos.ccache", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,            \
      "Credential cache that another program renews, used without a keytab. Default: KRB5CCNAME.")           \
    X(OPT_JAAS_FILE, "java.security.auth.login.config", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                 \
      "JAAS file; its entry fills the three keys above where they are empty.")                               \
    X(OPT_JAAS_CONTEXT, "hadoop.registry.jaas.context", OPT_TEXT, "", "Client", 0, 0, OPT_FIXED,             \
      "Entry of the JAAS file.")                                                                             \
    X(OPT_ZK_SASL_USERNAME, "zookeeper.sasl.client.username", OPT_TEXT, "", "zookeeper", 0, 0, OPT_FIXED,    \
      "First part of the principals of the ZooKeeper servers; the second is the host.")                      \
    X(OPT_ZK_SERVER_PRINCIPAL, "zookeeper.server.principal", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,            \
      "Whole principal of the ZooKeeper servers where it is another; _HOST stands for the host of each.")    \
    X(OPT_AUTH_ID, "hadoop.registry.client.auth.id", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                    \
      "Id of the digest.")                                                                                   \
    X(OPT_AUTH_PASSWORD, "hadoop.registry.client.auth.password", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,        \
      "Password of the digest.")                                                                             \
    X(OPT_FEED_RING, "hadoop.registry.feed.ring-size", OPT_SIZE, "bytes", "64M", 4096, 17179869184,          \
      OPT_FIXED,                                                                                             \
      "Recent changes held for followers. A follower that falls further behind must begin with a new "       \
      "snapshot.")                                                                                           \
    X(OPT_FEED_PROGRESS, "hadoop.registry.feed.progress", OPT_TIME, "s", "5", 100, 5000, OPT_FIXED,          \
      "Longest time without a line on a follower's stream.")                                                 \
    X(OPT_FEED_BEHIND, "hadoop.registry.feed.wait", OPT_TIME, "s", "5", 0, 60000, OPT_FIXED,                 \
      "How long a follower waits when its revision is ahead of this registry, which happens where several "  \
      "registries share a ZooKeeper.")                                                                       \
    X(OPT_WRITE_WAIT, "hadoop.registry.write.wait", OPT_TIME, "s", "1", 0, 60000, OPT_FIXED,                 \
      "How long a write waits until readers of this registry see it. After that it is answered with "        \
      "Bobbin-Applied: false.")                                                                              \
    X(OPT_LEASE_TERM, "hadoop.registry.lease.keeper-timeout", OPT_TIME, "s", "10", 1000, 3600000, OPT_FIXED, \
      "Where several registries share a ZooKeeper: after so long without a sign of life of the registry "    \
      "that "                                                                                                \
      "keeps the leases another one takes over.")                                                            \
    X(OPT_LEASE_MIN, "hadoop.registry.lease.min-ttl", OPT_TIME, "s", "1", 1, 86400000, OPT_FIXED,            \
      "Shortest lease of a record.")                                                                         \
    X(OPT_LEASE_MAX, "hadoop.registry.lease.max-ttl", OPT_TIME, "s", "86400", 1, 31536000000, OPT_FIXED,     \
      "Longest lease of a record.")                                                                          \
    X(OPT_LEASE_RECORDS, "hadoop.registry.lease.max-records", OPT_INT, "", "100000", 0, 10000000, OPT_FIXED, \
      "Records of the store that may have a lease; 0: none.")                                                \
    X(OPT_RM_ENABLED, "hadoop.registry.rm.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                  \
      "Follows the resource manager by its REST interface: purges the records of what has ended there and "  \
      "creates home directories for users of new applications.")                                             \
    X(OPT_RM_INTERVAL, "hadoop.registry.rm.poll.interval", OPT_TIME, "s", "10", 20, 3600000, OPT_FIXED,      \
      "Pause between two polls of the resource manager. Two in a row must agree before anything is purged.") \
    X(OPT_RM_MAX_APPS, "hadoop.registry.rm.poll.applications", OPT_INT, "", "200", 1, 100000, OPT_FIXED,     \
      "Applications that one poll asks about; the others wait for the next poll.")                           \
    X(OPT_RM_SETTLE, "hadoop.registry.rm.node.settle", OPT_TIME, "s", "5", 0, 3600000, OPT_FIXED,            \
      "After a start or failover of the resource manager, how long a container may be missing in its list "  \
      "when its node has registered: it shows a node before it has taken in what runs there.")               \
    X(OPT_RM_DRY_RUN, "hadoop.registry.rm.dry-run", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                  \
      "Logs what the resource manager's reports would purge, and purges nothing; creates no home "           \
      "directories.")                                                                                        \
    X(OPT_RM_HTTP_POLICY, "yarn.http.policy", OPT_ENUM, "HTTP_ONLY|HTTPS_ONLY|HTTP_AND_HTTPS", "HTTP_ONLY",  \
      0, 0, OPT_FIXED, "Protocol of the resource manager's REST interface.")                                 \
    RM_HOST_OPTION(X, "0.0.0.0")                                                                             \
    X(OPT_RM_WEBAPP, "yarn.resourcemanager.webapp.address", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,             \
      "Address of its REST interface. Default: port 8088 of its host.")                                      \
    X(OPT_RM_WEBAPP_HTTPS, "yarn.resourcemanager.webapp.https.address", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED, \
      "Address of its REST interface over https. Default: port 8090 of its host.")                           \
    RM_HA_OPTIONS(X)                                                                                         \
    X(OPT_NM_EXPIRY, "yarn.nm.liveness-monitor.expiry-interval-ms", OPT_TIME, "ms", "600000", 1, 86400000,   \
      OPT_FIXED,                                                                                             \
      "After a start or failover of the resource manager, how long a container that it does not list may "   \
      "still be alive.")                                                                                     \
    REGISTRYD_LIMITS(X)

enum { OPTIONS_ENUM(REGISTRYD_OPTIONS) REGISTRYD_N_OPTIONS };

#endif
