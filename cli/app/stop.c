/** `bobbin app stop` */
#include "app.h"
#include "kit/commands.h"

int app_stop(struct cli *cli, struct err_info *why)
{
    struct app_client a;

    app_open(cli, &a);
    int err = app_put_state(&a, cli->operands[0], "STOPPED", why);
    if (!err)
        app_print_change(cli, "stopped", cli->operands[0]);
    app_close(&a);
    return err;
}
