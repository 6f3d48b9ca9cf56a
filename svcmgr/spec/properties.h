/**
 * Keys of `configuration.properties` with a meaning in the services API, one row each: use, type, range, default, prose.
 * A key under `yarn.service.` without a row is refused, so that a misspelt key is not ignored; other keys without a row are the
 * user's own.
 *
 * Thread: any.   Source: YARN services API 10.
 */
#ifndef SPEC_PROPERTIES_H
#define SPEC_PROPERTIES_H

#include "spec/spec.h"

enum spec_prop_use {
    SPEC_PROP_HONOURED,
    SPEC_PROP_NO_MEANING, /* accepted: nothing here depends on it, prose says why */
    SPEC_PROP_REFUSED     /* refused by name, prose says what to do instead */
};
enum spec_prop_type { SPEC_PROP_INT, SPEC_PROP_BOOL, SPEC_PROP_TEXT };

#define SPEC_PROP_DAY_MS 86400000
#define SPEC_PROP_LONG   1000000000
#define SPEC_PROP_MOST   1000000000000 /* no number is beyond it, either way */

/* clang-format off */
/* token, key, use, type, default, least, most, prose; the default of "" is svcmgr's own option of that key */
#define SPEC_PROPS(X)                                                                                             \
    X(PROP_RETRY_MAX, "yarn.service.container-failure.retry.max", HONOURED, INT, "-1", -1, SPEC_PROP_LONG,        \
      "Restarts in the same container after failures; -1: no limit.")                                             \
    X(PROP_RETRY_INTERVAL, "yarn.service.container-failure.retry-interval-ms", HONOURED, INT, "", 0, SPEC_PROP_DAY_MS, \
      "Longest pause before a restart after a failure; the first pauses are shorter.")                            \
    X(PROP_RETRY_VALIDITY, "yarn.service.container-failure.validity-interval-ms", HONOURED, INT, "-1", -1, SPEC_PROP_MOST, \
      "Only failures within this time count for retry.max; -1: all failures of the container count.")             \
    X(PROP_RETRY_VALIDITY_LONG, "yarn.service.container-failure.retry.validity-interval-ms", HONOURED, INT, "-1", -1, SPEC_PROP_MOST, \
      "Another name of validity-interval-ms; the key without retry wins.")                                        \
    X(PROP_THRESHOLD, "yarn.service.container-failure-per-component.threshold", HONOURED, INT, "10", -1, SPEC_PROP_LONG, \
      "The service fails after more failures of a component than this, unless the component has a health "        \
      "threshold.")                                                                                               \
    X(PROP_WINDOW, "yarn.service.failure-count-reset.window", HONOURED, INT, "21600", 0, SPEC_PROP_LONG,          \
      "Seconds after which the failures of a component are counted from 0 again.")                                \
    X(PROP_READY_INTERVAL, "yarn.service.readiness-check-interval.seconds", HONOURED, INT, "", 1, SPEC_PROP_DAY_MS / 1000, \
      "Seconds between two readiness checks; the first checks follow more quickly.")                              \
    X(PROP_READY_DEFAULT, "yarn.service.default-readiness-check.enabled", HONOURED, BOOL, "true", 0, 0,           \
      "A container without a readiness_check is ready when its address is known. Here that is when it "           \
      "starts, as with false.")                                                                                   \
    X(PROP_HEALTH_PERCENT, "yarn.service.container-health-threshold.percent", HONOURED, INT, "-1", -1, 100,       \
      "The service fails when fewer than this share of the wanted instances are ready for the whole window; "     \
      "-1: off.")                                                                                                 \
    X(PROP_HEALTH_POLL, "yarn.service.container-health-threshold.poll-frequency-secs", HONOURED, INT, "10", 1,    \
      SPEC_PROP_DAY_MS / 1000, "Seconds between two looks at the share.")                                         \
    X(PROP_HEALTH_WINDOW, "yarn.service.container-health-threshold.window-secs", HONOURED, INT, "600", 0,         \
      SPEC_PROP_LONG, "Seconds for which the share may be too small.")                                            \
    X(PROP_HEALTH_INIT, "yarn.service.container-health-threshold.init-delay-secs", HONOURED, INT, "600", 0,       \
      SPEC_PROP_LONG, "Seconds after the start of the service before the first look.")                            \
    X(PROP_REPORT_STATE, "yarn.service.container-state-report-as-service-state", HONOURED, BOOL, "false", 0, 0,   \
      "The service ends when this component ends, with the same result.")                                         \
    X(PROP_DRAIN, "yarn.service.drain.seconds", HONOURED, INT, "0", 0, SPEC_PROP_DAY_MS / 1000,                   \
      "Seconds for which an instance serves on after its record is deleted, before a flex, a replacement or "     \
      "an upgrade stops it.")                                                                                     \
    X(PROP_UPGRADE_STEADY, "yarn.service.upgrade.steady.seconds", HONOURED, INT, "0", 0, SPEC_PROP_DAY_MS / 1000, \
      "Seconds for which an upgraded instance must run and be READY before the next one follows or the "          \
      "upgrade ends.")                                                                                            \
    X(PROP_UPGRADE_READY, "yarn.service.upgrade.ready-timeout.seconds", HONOURED, INT, "600", 0, SPEC_PROP_DAY_MS / 1000, \
      "Seconds in which an upgraded instance must become READY, else its upgrade has failed; 0: no limit.")       \
    X(PROP_UPGRADE_REVERT, "yarn.service.upgrade.auto-revert", HONOURED, BOOL, "false", 0, 0,                     \
      "The upgrade goes back to the old version when an upgraded instance ends or is not READY in time.")         \
    X(PROP_NODE_BLACKLIST, "yarn.service.node-blacklist.threshold", HONOURED, INT, "3", -1, SPEC_PROP_LONG,       \
      "After more failures of a component than this on one node the service avoids the node, while another "      \
      "one is left and until failures are counted from 0 again; -1: never. A local cluster has one node.")        \
    X(PROP_RECOVERY, "yarn.service.container-recovery.timeout.ms", HONOURED, INT, "120000", -1, SPEC_PROP_MOST, \
      "On YARN: ms for which a container may be found after a restart of the application master before it is replaced. A local cluster knows at once.")                                              \
    X(PROP_AM_ATTEMPTS, "yarn.service.am-restart.max-attempts", HONOURED, INT, "20", -1, SPEC_PROP_LONG, \
      "On YARN: attempts of the application master until the service is FAILED, at most what the cluster allows. A local cluster has no master.")          \
    X(PROP_AM_VALIDITY, "yarn.service.am-failure.validity-interval-ms", HONOURED, INT, "-1", -1, SPEC_PROP_MOST, \
      "On YARN: ms after which a failure of the master counts no more; -1: each counts.")                                                                              \
    X(PROP_AM_MEMORY, "yarn.service.am-resource.memory", HONOURED, INT, "128", 1, SPEC_PROP_LONG, \
      "On YARN: MB of the container of the application master, which needs some 16. A local cluster has no master.")                                                    \
    X(PROP_AM_JAVA, "yarn.service.am.java.opts", NO_MEANING, TEXT, "", 0, 0, "There is no JVM.")                  \
    X(PROP_CLASSPATH, "yarn.service.classpath", NO_MEANING, TEXT, "", 0, 0, "There is no JVM.")                   \
    X(PROP_LOG_INCLUDE, "yarn.service.log.include-pattern", HONOURED, TEXT, "", 0, 0, \
      "On YARN: files of a container's logs that are aggregated when the application has ended, a regular expression. On a local cluster logs stay on the host.")                                                              \
    X(PROP_LOG_EXCLUDE, "yarn.service.log.exclude-pattern", HONOURED, TEXT, "", 0, 0, \
      "On YARN: files that are not.")                                                                                  \
    X(PROP_ROLLING_INCLUDE, "yarn.service.rolling-log.include-pattern", HONOURED, TEXT, "", 0, 0, \
      "On YARN: files that are aggregated while the application runs.")                                                                                  \
    X(PROP_ROLLING_EXCLUDE, "yarn.service.rolling-log.exclude-pattern", HONOURED, TEXT, "", 0, 0, \
      "On YARN: files that are not aggregated while it runs.")                                                                                  \
    X(PROP_DOCKER_NETWORK, "docker.network", HONOURED, TEXT, "", 0, 0,                                            \
      "Network of an image. A local cluster has \"host\" only, which is the default; it refuses others.")         \
    X(PROP_QUEUE, "yarn.service.queue", REFUSED, TEXT, "", 0, 0, "give the service a member queue")               \
    X(PROP_API_ENABLE, "yarn.webapp.api-service.enable", REFUSED, BOOL, "", 0, 0, SPEC_PROP_SITE)                 \
    X(PROP_API_ADDRESS, "yarn.service.api-server.address", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)               \
    X(PROP_BASE_PATH, "yarn.service.base.path", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)                          \
    X(PROP_FRAMEWORK, "yarn.service.framework.path", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)                     \
    X(PROP_UPGRADE, "yarn.service.upgrade.enabled", REFUSED, BOOL, "", 0, 0, SPEC_PROP_SITE)                      \
    X(PROP_SYSTEM_DIR, "yarn.service.system-service.dir", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)                \
    X(PROP_AM_MAX_WAIT, "yarn.service.client-am.retry.max-wait-ms", REFUSED, INT, "", 0, 0, SPEC_PROP_SITE)       \
    X(PROP_AM_INTERVAL, "yarn.service.client-am.retry-interval-ms", REFUSED, INT, "", 0, 0, SPEC_PROP_SITE)       \
    X(PROP_DNS_ENABLED, "hadoop.registry.dns.enabled", REFUSED, BOOL, "", 0, 0, SPEC_PROP_SITE)                   \
    X(PROP_DNS_DOMAIN, "hadoop.registry.dns.domain-name", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)                \
    X(PROP_ZK_ROOT, "hadoop.registry.zk.root", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)                           \
    X(PROP_ZK_QUORUM, "hadoop.registry.zk.quorum", REFUSED, TEXT, "", 0, 0, SPEC_PROP_SITE)
/* clang-format on */
/** Greatest retry.max with a validity interval: a time is kept for each retry that counts. */
#define SPEC_RETRY_TIMES_MAX 1000
#define SPEC_PROP_SITE       "it is a key of the configuration of the daemons; set it there"

#define SPEC_PROP_TOKEN(token, ...) token,
enum spec_prop { SPEC_PROPS(SPEC_PROP_TOKEN) N_SPEC_PROPS };
#undef SPEC_PROP_TOKEN

struct spec_prop_row {
    const char *key;
    enum spec_prop_use use;
    enum spec_prop_type type;
    const char *def;
    int64_t least, most; /* INT */
    const char *prose;
};
/** The rows, by enum spec_prop. */
extern const struct spec_prop_row spec_props[N_SPEC_PROPS];

/**
 * A whole number for a component: its own property, else the default of the row.
 *
 * @param def  what an empty default stands for; also for text that is no number (stored by an earlier version)
 */
int64_t spec_prop_int(const struct spec_component *c, enum spec_prop prop, int64_t def);
/** Whether a BOOL property is "true". */
bool spec_prop_bool(const struct spec_component *c, enum spec_prop prop);
/** Check a map of properties; `pointer` is the JSON pointer of the map. @return 0; or ERR_INVALID with the diagnostics. */
int spec_check_properties(const json_t *properties, const char *pointer, struct err_info *why);
/** A JSON pointer: `pointer`, '/', `key` with '~' and '/' escaped. free() */
char *spec_pointer(const char *pointer, const char *key);

#endif
