/**
 * Write accessors that the command line grants the nodes it creates.
 *
 * Thread: main.   Source: docs/registry-rest.md, Who may write.
 */
#ifndef CLI_REGISTRY_ACCESS_H
#define CLI_REGISTRY_ACCESS_H

#include "bobbin/registry.h"
#include "kit/cli.h"

/**
 * Let each holder of --grant write what `registry` makes from now on. Warns on stderr when the registry is not secure.
 *
 * @return 0; ERR_USAGE, as accessor_secret; errors of reg_add_write_accessor. No error repeats a password.
 */
int registry_grant(const struct cli *cli, struct reg_blocking *registry, struct err_info *why);

#endif
