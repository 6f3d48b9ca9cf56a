/**
 * What `bobbin app upgrade` and `bobbin app plan` share.
 *
 * Thread: main.   Source: YARN services API 4.10; ours.
 */
#ifndef CLI_APP_UPGRADE_H
#define CLI_APP_UPGRADE_H

#include "app.h"

/** State of the request that begins an upgrade, by --auto, --manual or --express (the default). @param out  static [out] @return 0; or
 *  ERR_USAGE: several of them */
int app_upgrade_state(const struct cli *cli, const char **out, struct err_info *why);
/** The request's path below /services: "/NAME?auto_revert=true", with more of the query. @param more  "plan=true" or NULL @return new */
char *app_upgrade_path(const struct cli *cli, const char *name, const char *more);
/** Append COMPONENT=NUMBER to the components of a flex. @return 0; or ERR_USAGE */
int app_add_count(json_t *list, const char *text, struct err_info *why);

#endif
