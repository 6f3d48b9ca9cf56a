/** `bobbin registry resolve` */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"

/** Addresses of an endpoint in one cell: "uri=http://…", "host=h port=1". New. */
static char *addresses_text(const struct reg_endpoint *e)
{
    struct buf text = BUF_EMPTY;

    for (size_t i = 0; i < e->n_addresses; i++) {
        const struct reg_address *a = &e->addresses[i];
        buf_add_str(&text, i ? ", " : "");
        for (size_t k = 0; k < a->n_pairs; k++)
            buf_addf(&text, "%s%s=%s", k ? " " : "", a->pairs[k].key,
                     a->pairs[k].value ? a->pairs[k].value : "");
    }
    return buf_take(&text);
}

static void add_row(struct out_table *t, const char *what, const char *name, const char *value)
{
    out_table_add(t, what);
    out_table_add(t, name);
    out_table_add(t, value);
}

static void add_endpoints(struct out_table *t, const char *what, const struct reg_endpoints *list)
{
    for (size_t i = 0; i < list->n_items; i++) {
        const struct reg_endpoint *e = &list->items[i];
        mem_auto char *addresses = addresses_text(e);
        mem_auto char *value = mem_fmt("%s %s %s", e->protocol_type, e->address_type, addresses);
        add_row(t, what, e->api, value);
    }
}

static void print_table(const struct reg_record *record)
{
    struct out_table t;

    out_table_begin(&t, (const char *const[]){"WHAT", "NAME", "VALUE", NULL});
    add_row(&t, "description", NULL, record->description);
    for (size_t i = 0; i < record->n_attributes; i++)
        add_row(&t, "attribute", record->attributes[i].key, record->attributes[i].value);
    add_endpoints(&t, "external", &record->external);
    add_endpoints(&t, "internal", &record->internal);
    out_table_print(&t);
}

int registry_resolve(struct cli *cli, struct err_info *why)
{
    struct reg_blocking *registry;
    struct reg_record *record = NULL;
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = reg_blocking_resolve(registry, cli->operands[0], &record, why);
    if (!err && cli->is_json) {
        json_auto json_t *v = registry_record_json(record);
        out_json(v);
    } else if (!err) {
        print_table(record);
    }
    reg_record_free(record);
    reg_blocking_close(registry);
    return err;
}
