/** `bobbin app events`: what happened to a service, and with -f what happens. */
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"

#define FOLLOW_S 10 /* one question; a gateway gives up later */

static void print_table(const json_t *list)
{
    struct out_table t;
    size_t i;
    json_t *event;

    out_table_begin(&t, (const char *const[]){"TIME", "OBJECT", "WHAT", "WHY", NULL});
    json_array_foreach(list, i, event)
    {
        char time[32];
        out_table_add(&t, out_time(json_integer_value(json_object_get(event, "time")), time));
        out_table_add(&t, services_text(event, "object"));
        out_table_add(&t, services_text(event, "what"));
        out_table_add(&t, services_text(event, "why"));
    }
    out_table_print(&t);
}

/** One that is followed: a line. */
static void print_line(const struct cli *cli, const json_t *event)
{
    char time[32];
    const char *why = services_text(event, "why");

    if (cli->is_json) {
        out_json_line(event);
        return;
    }
    mem_auto char *line =
        mem_fmt("%s  %s  %s%s%s", out_time(json_integer_value(json_object_get(event, "time")), time),
                services_text(event, "object"), services_text(event, "what"), why[0] ? "  " : "", why);
    out_lines_to(stdout, line);
}

/** GET of the events from *since on, which becomes that of the next read. @param query  "" or more of it */
static int ask(struct app_client *a, const char *query, int64_t *since, json_t **out, struct err_info *why)
{
    mem_auto char *name = services_quote(a->cli->operands[0]);
    mem_auto char *path = mem_fmt("/%s/events?since=%lld%s", name, (long long)*since, query);
    int err = services_call(&a->services, "GET", path, NULL, out, why);

    if (!err)
        *since = json_integer_value(json_object_get(*out, "next"));
    return err;
}

static int follow(struct app_client *a, struct err_info *why)
{
    mem_auto char *query = mem_fmt("&wait=true&timeout=%ds", FOLLOW_S);
    int64_t since = 0;
    int err = 0;

    while (!err) {
        json_auto json_t *answer = NULL;
        size_t i;
        const json_t *event;
        err = ask(a, query, &since, &answer, why);
        json_array_foreach(json_object_get(answer, "events"), i, event) print_line(a->cli, event);
        if (!err && fflush(stdout))
            err = err_set(why, ERR_IO, "standard output", "could not be written");
    }
    return err == ERR_CANCELLED ? 0 : err;
}

static int show(struct app_client *a, struct err_info *why)
{
    json_auto json_t *answer = NULL;
    int64_t since = 0;
    int err = ask(a, "", &since, &answer, why);

    if (!err && a->cli->is_json)
        out_json(answer);
    else if (!err)
        print_table(json_object_get(answer, "events"));
    return err;
}

int app_events(struct cli *cli, struct err_info *why)
{
    struct app_client a;

    app_open(cli, &a);
    int err = cli_has(cli, CLI_FOLLOW) ? follow(&a, why) : show(&a, why);
    app_close(&a);
    return err;
}
