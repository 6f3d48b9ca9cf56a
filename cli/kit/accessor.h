/**
 * Id and password by which a command authenticates: as the holder of a write accessor to registryd, as that of a digest to ZooKeeper.
 *
 * Thread: main.   Source: docs/registry-rest.md, Who may write.
 */
#ifndef CLI_KIT_ACCESSOR_H
#define CLI_KIT_ACCESSOR_H

#include "bobbin/error.h"
#include "kit/cli.h"

/**
 * The id:password to act as: --accessor, else BOBBIN_ACCESSOR of the environment, else that of the configuration, where
 * hadoop.registry.secure is true and hadoop.registry.client.auth is digest; for commands that take --accessor only.
 *
 * @param out  new; NULL: none                                                       [out]
 * @return 0; ERR_USAGE: the file of @FILE is empty or has more than a line; ERR_CONFIG: a digest is configured without id or
 *         password; as input_read.   Source: Hadoop RegistrySecurity (digest); the first two ours.
 */
int accessor_find(const struct cli *cli, char **out, struct err_info *why);
/**
 * A secret of the command line: as it stands there, or of a file.
 *
 * @param option  named by errors                                                    [borrowed]
 * @param text    the secret, or @FILE whose one line it is                          [borrowed]
 * @param out     new; free()                                                        [out]
 * @return 0; ERR_USAGE: the file is empty or has more than a line; as input_read.   Source: ours.
 */
int accessor_secret(const char *option, const char *text, char **out, struct err_info *why);

#endif
