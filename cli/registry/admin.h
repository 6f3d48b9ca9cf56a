/**
 * Calls of /ws/v1/registry-admin, for the commands that copy whole registries.
 *
 * Thread: main.   Source: docs/registry-rest.md.
 */
#ifndef CLI_REGISTRY_ADMIN_H
#define CLI_REGISTRY_ADMIN_H

#include <jansson.h>

#include "kit/cli.h"
#include "kit/wait.h"

/**
 * URL of a call at the n-th registryd of the list, with the caller in it.
 *
 * @param call  "export", "import?overwrite=true", "backup"                        [borrowed]
 * @return new; NULL: the list is shorter.
 */
char *registry_admin_url(const struct cli *cli, size_t n, const char *call);
/**
 * POST a JSON document to the first registryd of the list that can be reached.
 *
 * @param call  as in registry_admin_url                                           [borrowed]
 * @param body  JSON                                                               [borrowed]
 * @param out   the answer                                                         [out, new reference]
 * @return 0; ERR_* of the problem that came back; as wait_http.
 */
int registry_admin_post(const struct cli *cli, struct wait *wait, const char *call, const struct buf *body,
                        json_t **out, struct err_info *why);

#endif
