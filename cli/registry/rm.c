/** `bobbin registry rm` */
#include "kit/commands.h"
#include "registry.h"

int registry_rm(struct cli *cli, struct err_info *why)
{
    const char *path = cli->operands[0];
    struct reg_blocking *registry;
    char revision[REG_REVISION_MAX] = "";
    unsigned flags = REG_MUST_EXIST | (cli_has(cli, CLI_RECURSIVE) ? REG_RECURSIVE : 0);
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = reg_blocking_delete(registry, path, flags, revision, why);
    if (!err)
        err = registry_changed(cli, "deleted", path, revision, why);
    reg_blocking_close(registry);
    return err;
}
