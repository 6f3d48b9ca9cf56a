/** `bobbin app restart` and `bobbin app signal`: what is done with one instance. */
#include "app.h"
#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"

/** POST to an instance. @param action  as "restart", or "signal?signal=HUP" */
static int post(struct app_client *a, const char *action, struct err_info *why)
{
    mem_auto char *service = services_quote(a->cli->operands[0]);
    mem_auto char *instance = services_quote(a->cli->operands[1]);
    mem_auto char *path = mem_fmt("/%s/component-instances/%s/%s", service, instance, action);

    return services_call(&a->services, "POST", path, NULL, NULL, why);
}

static int run(struct cli *cli, const char *action, const char *change, struct err_info *why)
{
    struct app_client a;

    app_open(cli, &a);
    int err = post(&a, action, why);
    if (!err)
        app_print_change(cli, change, cli->operands[1]);
    app_close(&a);
    return err;
}

int app_restart(struct cli *cli, struct err_info *why)
{
    return run(cli, "restart", "restarted", why);
}

int app_signal(struct cli *cli, struct err_info *why)
{
    mem_auto char *signal = services_quote(cli->operands[2]);
    mem_auto char *action = mem_fmt("signal?signal=%s", signal);

    return run(cli, action, "signalled", why);
}
