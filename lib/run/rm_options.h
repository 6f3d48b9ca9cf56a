/**
 * Options that say which resource managers a cluster has: rows that the daemons which ask one put into their tables.
 *
 *     #define MY_OPTIONS(X)  …  RM_HOST_OPTION(X, NULL)  …keys with addresses…  RM_HA_OPTIONS(X)  …
 *
 * Source: Hadoop, yarn-default.xml.
 */
#ifndef RUN_RM_OPTIONS_H
#define RUN_RM_OPTIONS_H

/* clang-format off */
/** @param DEF  default as text; NULL: a daemon that has none does not start without one of the addresses */
#define RM_HOST_OPTION(X, DEF)                                                                               \
    X(OPT_RM_HOSTNAME, "yarn.resourcemanager.hostname", OPT_TEXT, "", DEF, 0, 0, OPT_FIXED,                  \
      "Host of the resource manager.")
#define RM_HA_OPTIONS(X)                                                                                     \
    X(OPT_RM_HA, "yarn.resourcemanager.ha.enabled", OPT_BOOL, "", "false", 0, 0, OPT_FIXED,                  \
      "The cluster has several resource managers, one of them active.")                                      \
    X(OPT_RM_IDS, "yarn.resourcemanager.ha.rm-ids", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                     \
      "Ids of the resource managers, comma-separated. Each key above with .ID gives the address of that "    \
      "one.")
/* clang-format on */

#endif
