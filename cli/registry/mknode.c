/** `bobbin registry mknode` */
#include <stdio.h>

#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"
#include "access.h"

int registry_mknode(struct cli *cli, struct err_info *why)
{
    const char *path = cli->operands[0];
    struct reg_blocking *registry;
    bool is_made = false;
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = registry_grant(cli, registry, why);
    if (!err)
        err = reg_blocking_mknode(registry, path, cli_has(cli, CLI_PARENTS), &is_made, why);
    if (!err && cli->is_json) {
        json_auto json_t *v = json_pack("{s:s, s:b}", "path", path, "created", is_made);
        out_json(v);
    } else if (!err) {
        printf("%s %s\n", is_made ? "made" : "exists", path);
    }
    reg_blocking_close(registry);
    return err;
}
