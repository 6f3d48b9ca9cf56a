/** `bobbin app flex` */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "upgrade.h"

int app_add_count(json_t *list, const char *text, struct err_info *why)
{
    const char *sign = strchr(text, '=');
    int64_t n;

    if (!sign || sign == text || str_to_i64(sign + 1, 0, INT32_MAX, &n))
        return err_set(why, ERR_USAGE, text, "write COMPONENT=NUMBER, as hello=3");
    mem_auto char *name = mem_strn(text, (size_t)(sign - text));
    json_array_append_new(list, json_pack("{s:s, s:I}", "name", name, "number_of_containers", (json_int_t)n));
    return 0;
}

static int flex(struct app_client *a, const char *name, json_t *components, struct err_info *why)
{
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s", quoted);
    json_auto json_t *body = json_pack("{s:s, s:O}", "state", "FLEX", "components", components);
    int err = services_call(&a->services, "PUT", path, body, NULL, why);

    if (err)
        return err;
    if (cli_has(a->cli, CLI_WAIT))
        return app_wait_and_print(a, name, why);
    app_print_change(a->cli, "flexed", name);
    return 0;
}

int app_flex(struct cli *cli, struct err_info *why)
{
    json_auto json_t *components = json_array();
    struct app_client a;
    int err = 0;

    for (size_t i = 1; i < cli->n_operands && !err; i++)
        err = app_add_count(components, cli->operands[i], why);
    if (err)
        return err;
    app_open(cli, &a);
    err = flex(&a, cli->operands[0], components, why);
    app_close(&a);
    return err;
}
