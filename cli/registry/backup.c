/** `bobbin registry backup` */
#include <stdio.h>

#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "admin.h"

int registry_backup(struct cli *cli, struct err_info *why)
{
    buf_auto struct buf body = BUF_EMPTY;
    json_auto json_t *ask = json_pack("{s:s}", "dir", cli->operands[0]);
    json_auto json_t *answer = NULL;
    struct wait wait;

    if (!ask)
        return err_set(why, ERR_USAGE, cli->operands[0], "the name is not UTF-8");
    json_write(ask, &body);
    wait_open(&wait);
    int err = registry_admin_post(cli, &wait, "backup", &body, &answer, why);
    wait_close(&wait);
    if (!err && cli->is_json)
        out_json(answer);
    else if (!err)
        printf("backed up %s\n", json_string_value(json_object_get(answer, "dir")));
    return err;
}
