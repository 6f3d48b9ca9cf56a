/** `bobbin app list` */
#include <stdlib.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"

static void print_table(const json_t *list)
{
    struct out_table t;
    size_t i;
    json_t *s;

    out_table_begin(&t, (const char *const[]){"NAME", "VERSION", "STATE", "CONTAINERS", "ID", NULL});
    json_array_foreach(list, i, s)
    {
        json_int_t n = json_integer_value(json_object_get(s, "number_of_running_containers"));
        mem_auto char *containers = mem_fmt("%lld", (long long)n);
        out_table_add(&t, services_text(s, "name"));
        out_table_add(&t, services_text(s, "version"));
        out_table_add(&t, services_text(s, "state"));
        out_table_add(&t, containers);
        out_table_add(&t, services_text(s, "id"));
    }
    out_table_print(&t);
}

int app_list(struct cli *cli, struct err_info *why)
{
    json_auto json_t *list = NULL;
    struct app_client a;

    app_open(cli, &a);
    int err = services_call(&a.services, "GET", "", NULL, &list, why);
    if (!err && cli->is_json)
        out_json(list);
    else if (!err)
        print_table(list);
    app_close(&a);
    return err;
}
