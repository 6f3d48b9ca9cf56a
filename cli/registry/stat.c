/** `bobbin registry stat` */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"

static void print_table(const struct reg_status *s)
{
    struct out_table t;
    char time[32];
    mem_auto char *size = mem_fmt("%lld", (long long)s->size);
    mem_auto char *children = mem_fmt("%d", (int)s->children);
    const char *cells[] = {s->path, out_time(s->time_ms, time), size, children, s->revision};

    out_table_begin(&t, (const char *const[]){"NAME", "CREATED", "SIZE", "CHILDREN", "REVISION", NULL});
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        out_table_add(&t, cells[i]);
    out_table_print(&t);
}

static void print_json(const struct reg_status *s)
{
    json_auto json_t *v =
        json_pack("{s:s, s:I, s:I, s:i, s:s}", "path", s->path, "time", (json_int_t)s->time_ms, "size",
                  (json_int_t)s->size, "children", (int)s->children, "revision", s->revision);
    out_json(v);
}

int registry_stat(struct cli *cli, struct err_info *why)
{
    struct reg_blocking *registry;
    struct reg_status status = {0};
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = reg_blocking_stat(registry, cli->operands[0], &status, why);
    if (!err && cli->is_json)
        print_json(&status);
    else if (!err)
        print_table(&status);
    free(status.path);
    reg_blocking_close(registry);
    return err;
}
