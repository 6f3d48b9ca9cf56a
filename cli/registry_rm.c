/** `bobbin registry rm` */
#include "commands.h"
#include "registry.h"

int registry_rm(struct cli *cli, struct err_info *why)
{
    const char *path = cli->operands[0];
    struct reg_blocking *registry;
    char revision[REG_REVISION_MAX] = "";
    bool is_there = false;
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = reg_blocking_exists(registry, path, &is_there, why);
    if (!err && !is_there)
        err = err_set(why, ERR_NOTFOUND, path, "nothing is there");
    if (!err)
        err = reg_blocking_delete(registry, path, cli_has(cli, CLI_RECURSIVE), revision, why);
    if (!err)
        err = registry_changed(cli, "deleted", path, revision, why);
    reg_blocking_close(registry);
    return err;
}
