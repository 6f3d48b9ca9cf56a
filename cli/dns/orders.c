/** `bobbin dns zones|stats|dump|reload|release|sync` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "kit/commands.h"
#include "dns.h"
#include "json/json.h"
#include "kit/out.h"
#include "kit/services.h"

#define SYNC_TIMEOUT_MS 10000
#define SYNC_MARGIN_MS  2000
#define DUMP_IDLE_MS    30000

/** A JSON value as the cell of a table: new text. */
static char *cell_text(const json_t *value)
{
    buf_auto struct buf text = BUF_EMPTY;

    if (json_is_string(value))
        return mem_str(json_string_value(value));
    if (!value || json_is_null(value))
        return mem_str("");
    json_write(value, &text);
    return buf_take(&text);
}

static void add_members(struct out_table *t, const json_t *object, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        mem_auto char *text = cell_text(json_object_get(object, names[i]));
        out_table_add(t, text);
    }
}

int dns_zones(struct cli *cli, struct err_info *why)
{
    static const char *const members[] = {"name",    "kind", "serial", "names",
                                          "records", "file", "error",  NULL};
    json_auto json_t *doc = NULL;
    struct out_table t;
    size_t i;
    json_t *zone;
    int err = dns_call_once(cli, "GET", "/zones", &doc, why);

    if (err)
        return err;
    if (cli->is_json) {
        out_json(json_object_get(doc, "zones"));
        return 0;
    }
    out_table_begin(
        &t, (const char *const[]){"NAME", "KIND", "SERIAL", "NAMES", "RECORDS", "FILE", "ERROR", NULL});
    json_array_foreach(json_object_get(doc, "zones"), i, zone) add_members(&t, zone, members);
    out_table_print(&t);
    return 0;
}

/** Members of an object, those of objects inside it as "outer.inner". */
static void add_counts(struct out_table *t, json_t *object, const char *prefix)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        mem_auto char *name = mem_fmt("%s%s", prefix, key);
        mem_auto char *text = cell_text(value);
        out_table_add(t, name);
        out_table_add(t, text);
    }
}

/** Remove a member. @return json_decref, or NULL: there was none. */
static json_t *take_member(json_t *object, const char *name)
{
    json_t *value = json_incref(json_object_get(object, name));

    json_object_del(object, name);
    return value;
}

int dns_stats(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct out_table t;
    int err = dns_call_once(cli, "GET", "/stats", &doc, why);

    if (err)
        return err;
    if (cli->is_json) {
        out_json(doc);
        return 0;
    }
    json_auto json_t *queries = take_member(doc, "queries");
    json_auto json_t *forward = take_member(doc, "forward");
    json_auto json_t *query_log = take_member(doc, "queryLog");
    out_table_begin(&t, (const char *const[]){"NAME", "VALUE", NULL});
    add_counts(&t, doc, "");
    add_counts(&t, queries, "queries.");
    add_counts(&t, forward, "forward.");
    add_counts(&t, query_log, "queryLog.");
    out_table_print(&t);
    return 0;
}

/* ---- dump ---- */

static bool print_record(void *arg, const struct dns_line *line)
{
    const struct cli *cli = obj_cast(arg, struct cli, CLI_MAGIC);

    if (cli->is_json) {
        json_auto json_t *v =
            json_pack("{s:s, s:I, s:s, s:s}", "name", line->owner, "ttl",
                      (json_int_t)strtoll(line->ttl, NULL, 10), "type", line->type, "data", line->rdata);
        out_json_line(v);
    } else {
        printf("%s\t%s\tIN\t%s\t%s\n", line->owner, line->ttl, line->type, line->rdata);
    }
    return ferror(stdout);
}

int dns_dump(struct cli *cli, struct err_info *why)
{
    struct dns_client d;
    int err = dns_open(cli, DUMP_IDLE_MS, &d, why);

    if (err)
        return err;
    err = dns_each_record(&d, cli->n_operands ? cli->operands[0] : NULL, print_record, cli, why);
    dns_close(&d);
    return err;
}

/* ---- orders ---- */

int dns_reload(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = dns_call_once(cli, "POST", "/reload", &doc, why);

    if (!err && cli->is_json)
        out_json(doc);
    else if (!err)
        printf("reloaded files=%lld changed=%lld\n",
               (long long)json_integer_value(json_object_get(doc, "files")),
               (long long)json_integer_value(json_object_get(doc, "changed")));
    return err;
}

int dns_release(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = dns_call_once(cli, "POST", "/release", &doc, why);

    if (!err && cli->is_json)
        out_json(doc);
    else if (!err)
        printf("released %lld\n", (long long)json_integer_value(json_object_get(doc, "released")));
    return err;
}

int dns_sync(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct dns_client d;
    int err = dns_open(cli, SYNC_TIMEOUT_MS, &d, why);

    if (err)
        return err;
    mem_auto char *revision = services_quote(cli->operands[0]);
    mem_auto char *path = mem_fmt("/sync?revision=%s&timeout=%lldms", revision, (long long)d.timeout_ms);
    d.timeout_ms += SYNC_MARGIN_MS; /* dnsd says itself that the time is over. */
    err = dns_call(&d, "GET", path, &doc, why);
    dns_close(&d);
    if (!err && cli->is_json)
        out_json(doc);
    else if (!err)
        printf("synced revision=%s\n", services_text(doc, "revision"));
    return err;
}
