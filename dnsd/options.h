/**
 * Options of dnsd: one row each (run/options.h says what a row is).
 * Source: Hadoop registry DNS configuration; ours where the key is not Hadoop's.
 */
#ifndef DNSD_OPTIONS_H
#define DNSD_OPTIONS_H

#include "http/limits.h"
#include "run/options.h"
#include "wire/types.h"

/* The TTL option of a row of DNS_TYPES_OF_RECORDS. */
#define DNSD_TTL_OPTION(X, token, number, text, use, rdata, can, key)                                        \
    X(OPT_TTL_##token, "hadoop.registry.dns.ttl-type." key, OPT_TIME, "s", NULL, 0, 2147483647000,           \
      OPT_FIXED, "TTL of the registry's " text " records. The TTL of a component goes before it.")

/** Keys that begin so end in the name of a component: its TTL. */
#define DNSD_TTL_FAMILY "hadoop.registry.dns.ttl."

#define DNSD_OPTIONS(X)                                                                                      \
    X(OPT_DOMAIN, "hadoop.registry.dns.domain-name", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                    \
      "Domain of the registry's names. Required.")                                                           \
    X(OPT_BIND_ADDRESS, "hadoop.registry.dns.bind-address", OPT_TEXT, "", "127.0.0.1", 0, 0, OPT_FIXED,      \
      "Addresses to listen on, comma-separated IP literals.")                                                \
    X(OPT_BIND_PORT, "hadoop.registry.dns.bind-port", OPT_INT, "", "5335", 0, 65535, OPT_FIXED,              \
      "Port to listen on, UDP and TCP; 0: any free one.")                                                    \
    X(OPT_TTL, "hadoop.registry.dns.dns-ttl", OPT_TIME, "s", "1", 0, 2147483647000, OPT_FIXED,               \
      "TTL of the registry's records. hadoop.registry.dns.ttl.COMPONENT sets it for one component.")         \
    X(OPT_TTL_MANUAL, "hadoop.registry.dns-ttl", OPT_TIME, "s", NULL, 0, 2147483647000, OPT_FIXED,           \
      "As hadoop.registry.dns.dns-ttl, in the spelling of Hadoop's manual; used when that is not set.")      \
    DNS_TYPES_OF_RECORDS(DNSD_TTL_OPTION, X)                                                                 \
    X(OPT_NEGATIVE_TTL, "hadoop.registry.dns.negative-ttl", OPT_TIME, "s", NULL, 0, 2147483647000,           \
      OPT_FIXED,                                                                                             \
      "How long resolvers may cache that a name does not exist; default: the smaller of soa.ttl and "        \
      "soa.minimum.")                                                                                        \
    X(OPT_ZONES_DIR, "hadoop.registry.dns.zones-dir", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Directory of master files, each named ZONE.zone.")                                                    \
    X(OPT_ZONES_POLL, "hadoop.registry.dns.zones-poll-interval", OPT_TIME, "s", "2", 0, 86400000, OPT_FIXED, \
      "Interval between scans for changed master files; 0: scans only on SIGHUP and POST /reload.")          \
    X(OPT_ZONE_SUBNET, "hadoop.registry.dns.zone-subnet", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,               \
      "Subnet of the containers, for the reverse zone: 172.17.0, 172.17.0.0, or with /bits; IPv6 too.")      \
    X(OPT_ZONE_MASK, "hadoop.registry.dns.zone-mask", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Dotted mask of zone-subnet.")                                                                         \
    X(OPT_REVERSE_SUBNETS, "hadoop.registry.dns.reverse-subnets", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,       \
      "More subnets with reverse zones, comma-separated, each as zone-subnet with /bits; IPv6 too.")         \
    X(OPT_SPLIT, "hadoop.registry.dns.split-reverse-zone", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,           \
      "Makes one /24 reverse zone for each slice of zone-subnet, so that the rest of it stays with another " \
      "server.")                                                                                             \
    X(OPT_SPLIT_RANGE, "hadoop.registry.dns.split-reverse-zone-range", OPT_INT, "", NULL, 0, 4294967295,     \
      OPT_FIXED, "Addresses per slice. Required with split-reverse-zone.")                                   \
    X(OPT_MODE, "hadoop.registry.dns.mode", OPT_ENUM, "strict|compat", "strict", 0, 0, OPT_FIXED,            \
      "strict: valid zones that secondaries and validators accept. compat: what Hadoop's RegistryDNS "       \
      "answers.")                                                                                            \
    X(OPT_AAAA_MAPPED, "hadoop.registry.dns.aaaa-mapped", OPT_ENUM, "auto|true|false", "auto", 0, 0,         \
      OPT_FIXED, "AAAA ::ffff:a.b.c.d beside each A; auto: in compat mode.")                                 \
    X(OPT_API_CNAME, "hadoop.registry.dns.api-cname", OPT_ENUM, "auto|true|false", "auto", 0, 0, OPT_FIXED,  \
      "CNAME instead of addresses at NAME-api names; auto: in compat mode. Not in strict mode: such a zone " \
      "is invalid.")                                                                                         \
    X(OPT_COALESCE, "hadoop.registry.dns.coalesce", OPT_TIME, "ms", "100", 0, 10000, OPT_FIXED,              \
      "How long the delete of a record waits for a create at the same path, so that its names never vanish " \
      "in between.")                                                                                         \
    X(OPT_HOST_REFRESH, "hadoop.registry.dns.host-refresh", OPT_TIME, "s", "60", 1000, 86400000, OPT_FIXED,  \
      "Interval between queries for the addresses of a host name in a record.")                              \
    X(OPT_REGISTRY_SILENCE, "hadoop.registry.dns.registry-silence", OPT_TIME, "s", "15", 200, 3600000,       \
      OPT_FIXED,                                                                                             \
      "Drops a registryd whose change feed is silent for longer, and connects to the next one; a registryd " \
      "sends at least one line every 5 s.")                                                                  \
    X(OPT_STALE_MAX, "hadoop.registry.dns.stale.max", OPT_TIME, "s", "0", 0, 31536000000, OPT_FIXED,         \
      "Answers SERVFAIL when the registry has been away for longer; 0: never.")                              \
    X(OPT_GUARD_SHARE, "hadoop.registry.dns.guard.share", OPT_INT, "percent", "50", 0, 100, OPT_FIXED,       \
      "Holds removals, and answers on, when more than this share of the registry's records would vanish "    \
      "within two seconds; 0: never.")                                                                       \
    X(OPT_GUARD_MIN, "hadoop.registry.dns.guard.min", OPT_INT, "", "100", 1, 1000000000, OPT_FIXED,          \
      "Never holds removals of fewer records than these.")                                                   \
    X(OPT_DATA_DIR, "bobbin.data.dir", OPT_TEXT, "", "/var/lib/bobbin", 0, 0, OPT_FIXED,                     \
      "Directory of what survives a restart: serials of zones and the snapshot, below dnsd/.")               \
    X(OPT_SNAPSHOT_FILE, "hadoop.registry.dns.snapshot-file", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,           \
      "Snapshot of the registry's records, from which a start answers until the registry is read; default: " \
      "dnsd/DOMAIN.snapshot in bobbin.data.dir. An image of the zones is written beside it, with .zones "    \
      "appended.")                                                                                           \
    X(OPT_SNAPSHOT_INTERVAL, "hadoop.registry.dns.snapshot-interval", OPT_TIME, "s", "30", 100, 86400000,    \
      OPT_FIXED,                                                                                             \
      "Interval between writes of the snapshot, when something has changed; longer where a write takes "     \
      "long.")                                                                                               \
    X(OPT_DNSSEC, "hadoop.registry.dns.dnssec.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,              \
      "Hadoop's key for signed zones. dnsd does not sign zones and refuses to start with true.")             \
    X(OPT_WORKERS, "hadoop.registry.dns.num-threads", OPT_INT, "", "0", 0, 1024, OPT_FIXED,                  \
      "UDP worker threads per address; 0: one per CPU.")                                                     \
    X(OPT_UDP_MAX, "hadoop.registry.dns.udp-max-payload", OPT_SIZE, "bytes", "1232", 512, 4096, OPT_FIXED,   \
      "Maximum UDP answer in bytes.")                                                                        \
    X(OPT_ANSWER_ORDER, "hadoop.registry.dns.answer-order", OPT_ENUM, "rotate|fixed", "rotate", 0, 0,        \
      OPT_FIXED,                                                                                             \
      "rotate: the first record of several differs from query to query, which spreads clients that take "    \
      "the first; fixed: always the same order.")                                                            \
    X(OPT_MAX_ANSWERS, "hadoop.registry.dns.max-answers", OPT_INT, "", "100", 0, 1000000, OPT_FIXED,         \
      "Maximum number of records of one type at the name of a component or a service: BIND refuses a "       \
      "larger "                                                                                              \
      "answer. Which they are stays the same while they exist; 0, and in compat mode unless set: no "        \
      "maximum.")                                                                                            \
    X(OPT_TCP_IDLE, "hadoop.registry.dns.tcp.idle-timeout", OPT_TIME, "s", "10", 100, 3600000, OPT_FIXED,    \
      "Closes a TCP connection that is idle for longer.")                                                    \
    X(OPT_TCP_CLIENTS, "hadoop.registry.dns.tcp.max-clients", OPT_INT, "", "1000", 1, 60000, OPT_FIXED,      \
      "Maximum number of TCP connections.")                                                                  \
    X(OPT_TCP_PER_CLIENT, "hadoop.registry.dns.tcp.max-per-client", OPT_INT, "", "0", 0, 60000, OPT_FIXED,   \
      "Maximum number of TCP connections from one address; 0: no such limit.")                               \
    X(OPT_TLS_CERT, "hadoop.registry.dns.tls.certificate", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,              \
      "PEM file with the certificate chain for DNS over TLS, reloaded on SIGHUP; unset: no TLS.")            \
    X(OPT_TLS_KEY, "hadoop.registry.dns.tls.key", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                       \
      "PEM file with the key of the certificate.")                                                           \
    X(OPT_TLS_PORT, "hadoop.registry.dns.tls.port", OPT_INT, "", "853", 0, 65535, OPT_FIXED,                 \
      "Port for DNS over TLS; 0: any free one.")                                                             \
    X(OPT_COOKIES, "hadoop.registry.dns.cookies", OPT_ENUM, "off|on|require", "on", 0, 0, OPT_FIXED,         \
      "DNS cookies. require: over UDP answers only clients with a valid cookie.")                            \
    X(OPT_COOKIE_FILE, "hadoop.registry.dns.cookies.secret-file", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,       \
      "File of cookie secrets, 32 hexadecimal digits a line: the first makes cookies, all are accepted; "    \
      "reloaded on SIGHUP. Servers that share an address share it. Unset: a random secret.")                 \
    X(OPT_RRL_RATE, "hadoop.registry.dns.rrl.responses-per-second", OPT_INT, "", "0", 0, 1000000, OPT_FIXED, \
      "Equal UDP answers per second from a worker to one client network (/24, /56); 0: no limit.")           \
    X(OPT_RRL_SLIP, "hadoop.registry.dns.rrl.slip", OPT_INT, "", "2", 0, 100, OPT_FIXED,                     \
      "Sends every n-th answer over the limit empty with TC set; 0: none.")                                  \
    X(OPT_RRL_EXEMPT, "hadoop.registry.dns.rrl.exempt", OPT_TEXT, "", "127.0.0.0/8,::1", 0, 0, OPT_FIXED,    \
      "Networks without that limit, comma-separated.")                                                       \
    X(OPT_ACL, "hadoop.registry.dns.acl", OPT_TEXT, "", NULL, 0, 0, OPT_RELOADABLE,                          \
      "Networks of the clients that are answered, comma-separated; others get REFUSED. Unset: all are.")     \
    X(OPT_ACL_ZONES, "hadoop.registry.dns.acl.zones", OPT_TEXT, "", NULL, 0, 0, OPT_RELOADABLE,              \
      "Lists for names at or below some domains, instead of hadoop.registry.dns.acl: "                       \
      "ZONE=NETWORK,NETWORK; ZONE=NETWORK.")                                                                 \
    X(OPT_QUERY_LOG_SAMPLE, "hadoop.registry.dns.query-log.sample", OPT_INT, "", "0", 0, 1000000000,         \
      OPT_RELOADABLE, "Logs each n-th query of a thread, as dns_query: 1 all, 0 none.")                      \
    X(OPT_QUERY_LOG_RATE, "hadoop.registry.dns.query-log.rate", OPT_INT, "", "1000", 1, 1000000,             \
      OPT_RELOADABLE, "Maximum number of logged queries per second; more are counted, not logged.")          \
    X(OPT_DNSTAP_SOCKET, "hadoop.registry.dns.dnstap.socket", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,           \
      "Unix socket of a dnstap collector, to which queries and responses are sent; unset: no dnstap.")       \
    X(OPT_DNSTAP_SAMPLE, "hadoop.registry.dns.dnstap.sample", OPT_INT, "", "1", 0, 1000000000,               \
      OPT_RELOADABLE, "Sends each n-th query of a thread to dnstap, with its response: 1 all, 0 none.")      \
    X(OPT_CHAOS, "hadoop.registry.dns.chaos", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,                         \
      "Answers version.bind and id.server (class CH) and NSID.")                                             \
    X(OPT_IDENTITY, "hadoop.registry.dns.identity", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                     \
      "Text of id.server and NSID; default: the host's name.")                                               \
    X(OPT_EMPTY_ZONES, "hadoop.registry.dns.empty-zones", OPT_BOOL, "", "true", 0, 0, OPT_FIXED,             \
      "Answers for localhost, invalid and private reverse names that no zone covers; never forwards them.")  \
    X(OPT_FORWARD, "hadoop.registry.dns.forward.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,            \
      "Forwards queries for names outside all zones to the upstream servers; else refuses them.")            \
    X(OPT_UPSTREAMS, "hadoop.registry.dns.upstreams", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Servers to forward to, comma-separated ADDRESS:PORT, at most 8, asked in this order unless one is "   \
      "much quicker than those before it; default: those of /etc/resolv.conf.")                              \
    X(OPT_FALL_THROUGH, "hadoop.registry.dns.fallthrough", OPT_ENUM, "auto|true|false", "auto", 0, 0,        \
      OPT_FIXED,                                                                                             \
      "Forwards queries for names in our zones that the registry does not have, too; auto: in compat mode, " \
      "when hadoop.registry.dns.upstreams or forward.enabled is set.")                                       \
    X(OPT_FALL_THROUGH_ZONES, "hadoop.registry.dns.fallthrough.zones", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,  \
      "Domains, comma-separated, at or below which names fall through; default: all zones of the registry.") \
    X(OPT_FORWARD_TIMEOUT, "hadoop.registry.dns.forward.timeout", OPT_TIME, "s", "1500ms", 10, 60000,        \
      OPT_FIXED,                                                                                             \
      "Timeout of one upstream server, in which a query that may be lost is sent again; asks three in "      \
      "turn, a silent one again when there are fewer.")                                                      \
    X(OPT_FORWARD_ACL, "hadoop.registry.dns.forward.acl", OPT_TEXT, "", "127.0.0.0/8,::1", 0, 0, OPT_FIXED,  \
      "Networks of the clients whose queries are forwarded, comma-separated; others are refused.")           \
    X(OPT_FORWARD_MAX, "hadoop.registry.dns.forward.max-queries", OPT_INT, "", "500", 1, 10000, OPT_FIXED,   \
      "Maximum number of forwarded queries in flight; more are answered SERVFAIL.")                          \
    X(OPT_FORWARD_CACHE, "hadoop.registry.dns.forward.cache-size", OPT_SIZE, "bytes", "4M", 0, 1073741824,   \
      OPT_FIXED, "Memory for cached answers of upstream servers; 0: no cache.")                              \
    X(OPT_FORWARD_TTL_MAX, "hadoop.registry.dns.forward.ttl-max", OPT_TIME, "s", "1d", 0, 604800000,         \
      OPT_FIXED, "Maximum TTL of forwarded answers, in the cache and towards clients.")                      \
    X(OPT_FORWARD_NEGATIVE_MAX, "hadoop.registry.dns.forward.negative-ttl-max", OPT_TIME, "s", "3h", 0,      \
      604800000, OPT_FIXED, "The same for answers that a name or a type does not exist.")                    \
    X(OPT_SOA_MNAME, "hadoop.registry.dns.soa.mname", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Primary name server in the SOA; default: the host's canonical name, else ns in the domain. The zone " \
      "has the addresses of a name server whose name is in it.")                                             \
    X(OPT_SOA_RNAME, "hadoop.registry.dns.soa.rname", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                   \
      "Mailbox in the SOA; default: hostmaster in the domain.")                                              \
    X(OPT_SOA_TTL, "hadoop.registry.dns.soa.ttl", OPT_TIME, "s", NULL, 0, 2147483647000, OPT_FIXED,          \
      "TTL of SOA and NS; default: that of the records.")                                                    \
    X(OPT_SOA_REFRESH, "hadoop.registry.dns.soa.refresh", OPT_TIME, "s", "86000", 1000, 2147483647000,       \
      OPT_FIXED, "Refresh time in the SOA.")                                                                 \
    X(OPT_SOA_RETRY, "hadoop.registry.dns.soa.retry", OPT_TIME, "s", "7200", 1000, 2147483647000, OPT_FIXED, \
      "Retry time in the SOA.")                                                                              \
    X(OPT_SOA_EXPIRE, "hadoop.registry.dns.soa.expire", OPT_TIME, "s", "1209600", 1000, 2147483647000,       \
      OPT_FIXED, "Expire time in the SOA.")                                                                  \
    X(OPT_SOA_MINIMUM, "hadoop.registry.dns.soa.minimum", OPT_TIME, "s", "600", 0, 2147483647000, OPT_FIXED, \
      "Negative TTL in the SOA; answers carry the smaller of it and the SOA's TTL.")                         \
    X(OPT_NS, "hadoop.registry.dns.ns", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                                 \
      "Name servers of the zones, comma-separated; default: the SOA's primary.")                             \
    X(OPT_HTTP_ADDRESS, "hadoop.registry.dns.http.address", OPT_ADDR, "", "127.0.0.1:9193", 0, 0, OPT_FIXED, \
      "Address of the HTTP interface: sync, health, metrics.")                                               \
    X(OPT_HTTP_REMOTE, "hadoop.registry.dns.http.allow-remote", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,      \
      "Allows a non-loopback HTTP address although nobody is authenticated.")                                \
    HTTP_OPTIONS(X, "hadoop.registry.dns.http.")                                                             \
    X(OPT_REGISTRY_URL, "hadoop.registry.url", OPT_TEXT, "", "http://127.0.0.1:9192", 0, 0, OPT_FIXED,       \
      "registryd to follow; several, comma-separated, are tried in turn.")

enum { OPTIONS_ENUM(DNSD_OPTIONS) DNSD_N_OPTIONS };

#endif
