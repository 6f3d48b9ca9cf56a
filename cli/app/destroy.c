/** `bobbin app destroy` */
#include "app.h"
#include "kit/commands.h"

int app_destroy(struct cli *cli, struct err_info *why)
{
    struct app_client a;

    app_open(cli, &a);
    int err = services_destroy(&a.services, cli->operands[0], why);
    if (!err)
        app_print_change(cli, "destroyed", cli->operands[0]);
    app_close(&a);
    return err;
}
