/** `bobbin app stop` */
#include "app.h"
#include "json/json.h"
#include "kit/commands.h"

int app_stop(struct cli *cli, struct err_info *why)
{
    json_auto json_t *service = NULL;
    const char *name = cli->operands[0];
    bool waits = !cli_has(cli, CLI_NO_WAIT);
    struct app_client a;

    app_open(cli, &a);
    int err = app_put_state(&a, name, "STOPPED", why);
    if (!err && waits)
        err = app_wait(&a, name, &services_stopped, &service, why);
    if (!err)
        app_print_change(cli, waits ? "stopped" : "accepted", name);
    app_close(&a);
    return err;
}
