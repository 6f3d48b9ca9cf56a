/** `bobbin app destroy` */
#include <stdlib.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"

int app_destroy(struct cli *cli, struct err_info *why)
{
    mem_auto char *quoted = services_quote(cli->operands[0]);
    mem_auto char *path = mem_fmt("/%s", quoted);
    struct app_client a;

    app_open(cli, &a);
    int err = services_call(&a.services, "DELETE", path, NULL, NULL, why);
    if (!err)
        app_print_change(cli, "destroyed", cli->operands[0]);
    app_close(&a);
    return err;
}
