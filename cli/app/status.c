/** `bobbin app status` */
#include "app.h"
#include "kit/commands.h"
#include "json/json.h"

int app_status(struct cli *cli, struct err_info *why)
{
    json_auto json_t *service = NULL;
    struct app_client a;

    app_open(cli, &a);
    int err = services_get(&a.services, cli->operands[0], &service, why);
    if (!err)
        app_print(cli, service);
    app_close(&a);
    return err;
}
