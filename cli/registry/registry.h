/**
 * What the commands of `bobbin registry` share.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_REGISTRY_REGISTRY_H
#define CLI_REGISTRY_REGISTRY_H

#include <jansson.h>

#include "bobbin/registry.h"
#include "kit/cli.h"

/** Options of libbobbin from the command line: --url or hadoop.registry.url, the user, --timeout.
 *  @return 0; ERR_USAGE: --timeout. */
int registry_options(const struct cli *cli, struct reg_options *out, struct err_info *why);
/** Open the registry, as the holder of an accessor if one is given. @param out  reg_blocking_close it; NULL on error [out]
 *  @return 0; ERR_USAGE; ERR_INVALID: the URL; ERR_IO: the accessor is not id:password, or its file cannot be read. */
int registry_open(const struct cli *cli, struct reg_blocking **out, struct err_info *why);
/** A record as JSON. New reference. */
json_t *registry_record_json(const struct reg_record *record);
/** A change was made: wait for --sync if it was given, then print revision and path. @return 0; as wait_get. */
int registry_changed(const struct cli *cli, const char *verb, const char *path, const char *revision,
                     struct err_info *why);

#endif
