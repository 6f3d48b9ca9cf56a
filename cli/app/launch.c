/** `bobbin app launch` */
#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "json/json.h"
#include "kit/out.h"

/** What the server says beside the id of the application: the members that it ignores. */
static void print_warnings(const json_t *answer)
{
    const char *newline = strchr(services_text(answer, "diagnostics"), '\n');

    if (!newline)
        return;
    mem_auto char *text = mem_fmt("bobbin: %s", newline + 1);
    out_lines_to(stderr, text);
}

int app_launch(struct cli *cli, struct err_info *why)
{
    json_auto json_t *service = NULL, *answer = NULL;
    const char *path = cli_has(cli, CLI_LENIENT) ? "" : "?strict=true";
    struct app_client a;
    int err = input_read_json(cli->operands[0], &service, why);

    if (err)
        return err;
    const char *name = services_text(service, "name");
    bool is_only_saved = strcmp(services_text(service, "state"), "STOPPED") == 0;
    app_open(cli, &a);
    err = services_call(&a.services, "POST", path, service, &answer, why);
    if (!err)
        print_warnings(answer);
    if (!err && (cli_has(cli, CLI_NO_WAIT) || is_only_saved))
        app_print_change(cli, "accepted", name);
    else if (!err)
        err = app_wait_and_print(&a, name, why);
    app_close(&a);
    return err;
}
