/** `bobbin app launch` */
#include <string.h>

#include "app.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "json/json.h"

int app_launch(struct cli *cli, struct err_info *why)
{
    json_auto json_t *service = NULL;
    struct app_client a;
    int err = input_read_json(cli->operands[0], &service, why);

    if (err)
        return err;
    const char *name = services_text(service, "name");
    bool is_only_saved = strcmp(services_text(service, "state"), "STOPPED") == 0;
    app_open(cli, &a);
    err = services_call(&a.services, "POST", "", service, NULL, why);
    if (!err && (cli_has(cli, CLI_NO_WAIT) || is_only_saved))
        app_print_change(cli, "accepted", name);
    else if (!err)
        err = app_wait_and_print(&a, name, why);
    app_close(&a);
    return err;
}
