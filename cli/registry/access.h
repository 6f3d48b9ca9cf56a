/**
 * Write accessors on the command line: the one the program acts as, and those that it grants the nodes it creates.
 *
 * Thread: main.   Source: docs/registry-rest.md, Who may write.
 */
#ifndef CLI_REGISTRY_ACCESS_H
#define CLI_REGISTRY_ACCESS_H

#include "bobbin/registry.h"
#include "kit/cli.h"

/**
 * The id:password to act as: --accessor, else BOBBIN_ACCESSOR of the environment, else that of the configuration, where
 * hadoop.registry.secure is true and hadoop.registry.client.auth is digest; for commands that take --accessor only.
 *
 * @param out  new; NULL: none                                                       [out]
 * @return 0; ERR_USAGE: the file of @FILE is empty or has more than a line; ERR_CONFIG: a digest is configured without id or
 *         password; as input_read.   Source: Hadoop RegistrySecurity (digest); the first two ours.
 */
int registry_accessor(const struct cli *cli, char **out, struct err_info *why);
/**
 * A secret of the command line: as it stands there, or of a file.
 *
 * @param option  named by errors                                                    [borrowed]
 * @param text    the secret, or @FILE whose one line it is                          [borrowed]
 * @param out     new; free()                                                        [out]
 * @return 0; ERR_USAGE: the file is empty or has more than a line; as input_read.   Source: ours.
 */
int registry_secret(const char *option, const char *text, char **out, struct err_info *why);
/**
 * Let each holder of --grant write what `registry` makes from now on. Warns on stderr when the registry is not secure.
 *
 * @return 0; ERR_USAGE, as registry_accessor; errors of reg_add_write_accessor. No error repeats a password.
 */
int registry_grant(const struct cli *cli, struct reg_blocking *registry, struct err_info *why);

#endif
