/**
 * Options of registryd: one row each (run/options.h says what a row is).
 * Source: Hadoop registry configuration; ours where the key is not Hadoop's.
 */
#ifndef REGISTRYD_OPTIONS_H
#define REGISTRYD_OPTIONS_H

#include "run/options.h"

#define REGISTRYD_OPTIONS(X)                                                                                 \
    X(OPT_STORE, "hadoop.registry.store", OPT_TEXT, "", "auto", 0, 0, OPT_FIXED,                             \
      "Where records are kept: zk://host:port,…/root, file:DIR, or auto: ZooKeeper when a configuration "  \
      "file sets hadoop.registry.zk.quorum, else an embedded store below bobbin.data.dir.")                  \
    X(OPT_ZK_QUORUM, "hadoop.registry.zk.quorum", OPT_TEXT, "", "localhost:2181", 0, 0, OPT_FIXED,           \
      "ZooKeeper servers, host:port, comma-separated.")                                                      \
    X(OPT_ZK_FOLLOW, "hadoop.registry.zk.follow.quorum", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                \
      "Servers that the following session uses, if others than hadoop.registry.zk.quorum (observers, say).") \
    X(OPT_ZK_ROOT, "hadoop.registry.zk.root", OPT_TEXT, "", "/registry", 0, 0, OPT_FIXED,                    \
      "Node of ZooKeeper below which the registry lives.")                                                   \
    X(OPT_ZK_SESSION_TIMEOUT, "hadoop.registry.zk.session.timeout.ms", OPT_TIME, "ms", "60000", 1000,        \
      3600000, OPT_FIXED, "ZooKeeper session time-out.")                                                     \
    X(OPT_ZK_CONNECT_TIMEOUT, "hadoop.registry.zk.connection.timeout.ms", OPT_TIME, "ms", "15000", 100,      \
      3600000, OPT_FIXED, "How long a connection to ZooKeeper may take.")                                    \
    X(OPT_ZK_RETRY_TIMES, "hadoop.registry.zk.retry.times", OPT_INT, "", "5", 0, 29, OPT_FIXED,              \
      "How often an operation is tried again after the connection was lost.")                                \
    X(OPT_ZK_RETRY_INTERVAL, "hadoop.registry.zk.retry.interval.ms", OPT_TIME, "ms", "1000", 1, 3600000,     \
      OPT_FIXED, "First pause between such tries.")                                                          \
    X(OPT_ZK_RETRY_CEILING, "hadoop.registry.zk.retry.ceiling.ms", OPT_TIME, "ms", "60000", 1, 3600000,      \
      OPT_FIXED, "Longest pause between such tries.")                                                        \
    X(OPT_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", "/var/lib/bobbin", 0, 0, OPT_FIXED,                     \
      "Directory for everything Bobbin keeps on this host.")                                                 \
    X(OPT_HTTP_ADDRESS, "hadoop.registry.http.address", OPT_ADDR, "", "127.0.0.1:9192", 0, 0, OPT_FIXED,     \
      "Address of the REST interface.")                                                                      \
    X(OPT_HTTP_REMOTE, "hadoop.registry.http.allow-remote", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,          \
      "Listen on a non-loopback address although nobody is authenticated.")                                  \
    X(OPT_STATIC_USER, "hadoop.http.staticuser.user", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Caller of a request that names no user. Default: the user who runs registryd.")                       \
    X(OPT_PATH_NAMES, "hadoop.registry.path.names", OPT_ENUM, "dns|zookeeper", "dns", 0, 0, OPT_FIXED,       \
      "What names a write may create: dns (RFC 1123 labels up to 63 bytes) or zookeeper (Hadoop's laxer "    \
      "check). What exists is read, overwritten and deleted in either mode.")                                \
    X(OPT_RECORD_MAX, "hadoop.registry.record.max-size", OPT_SIZE, "bytes", "1M", 1024, 67108864, OPT_FIXED, \
      "Largest record that is accepted, in bytes.")                                                          \
    X(OPT_FEED_RING, "hadoop.registry.feed.ring-size", OPT_SIZE, "bytes", "64M", 4096, 17179869184,          \
      OPT_FIXED,                                                                                             \
      "Bytes of recent changes kept for followers; one that falls further behind must begin anew.")          \
    X(OPT_FEED_PROGRESS, "hadoop.registry.feed.progress", OPT_TIME, "s", "5", 100, 5000, OPT_FIXED,          \
      "Longest time without a line on a follower's stream.")                                                 \
    X(OPT_WRITE_WAIT, "hadoop.registry.write.wait", OPT_TIME, "s", "1", 0, 60000, OPT_FIXED,                 \
      "How long a write waits until this registry's own readers see it, before it is answered with "         \
      "Bobbin-Applied: false.")

enum { OPTIONS_ENUM(REGISTRYD_OPTIONS) REGISTRYD_N_OPTIONS };

#endif
