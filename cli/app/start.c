/** `bobbin app start` */
#include "app.h"
#include "kit/commands.h"

int app_start(struct cli *cli, struct err_info *why)
{
    const char *name = cli->operands[0];
    struct app_client a;

    app_open(cli, &a);
    int err = app_put_state(&a, name, "STARTED", why);
    if (!err && cli_has(cli, CLI_WAIT))
        err = app_wait_and_print(&a, name, why);
    else if (!err)
        app_print_change(cli, "started", name);
    app_close(&a);
    return err;
}
