/** `bobbin app plan` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "kit/out.h"
#include "json/json.h"
#include "upgrade.h"

/** The request whose plan is asked for. */
struct asked {
    const char *method;
    char *path;
    json_t *body;
};

static void asked_fini(struct asked *q)
{
    free(q->path);
    json_decref(q->body);
}

/** The service is there: a definition of it is an upgrade. */
static int is_there(struct app_client *a, const char *name, bool *out, struct err_info *why)
{
    json_auto json_t *service = NULL;
    int err = services_get(&a->services, name, &service, why);

    *out = !err;
    return err == ERR_NOTFOUND ? 0 : err;
}

static int ask_file(struct app_client *a, const char *file, struct asked *q, struct err_info *why)
{
    bool is_upgrade = false;
    const char *state;
    int err = app_upgrade_state(a->cli, &state, why);

    if (!err)
        err = input_read_json(file, &q->body, why);
    const char *name = services_text(q->body, "name");
    if (!err && name[0])
        err = is_there(a, name, &is_upgrade, why);
    if (err)
        return err;
    q->method = is_upgrade ? "PUT" : "POST";
    q->path = is_upgrade ? app_upgrade_path(a->cli, name, "plan=true") : mem_str("?plan=true");
    if (is_upgrade)
        json_object_set_new(q->body, "state", json_string(state));
    return 0;
}

static int ask_flex(const struct cli *cli, struct asked *q, struct err_info *why)
{
    json_t *components = json_array();
    int err = 0;

    q->body = json_pack("{s:s, s:o}", "state", "FLEX", "components", components);
    for (size_t i = 1; i < cli->n_operands && !err; i++)
        err = app_add_count(components, cli->operands[i], why);
    return err;
}

/** NAME and what is to change. */
static int ask_change(struct app_client *a, struct asked *q, struct err_info *why)
{
    static const char *const words[][2] = {
        {"stop", "STOPPED"}, {"start", "STARTED"}, {"finalize", "STARTED"}, {"cancel", "CANCEL_UPGRADING"}};
    const struct cli *cli = a->cli;
    mem_auto char *quoted = services_quote(cli->operands[0]);

    q->method = "PUT";
    q->path = mem_fmt("/%s?plan=true", quoted);
    for (size_t i = 0; cli->n_operands == 2 && i < ARRAY_LEN(words); i++) {
        if (strcmp(cli->operands[1], words[i][0]) == 0)
            q->body = json_pack("{s:s}", "state", words[i][1]);
    }
    return q->body ? 0 : ask_flex(cli, q, why);
}

/* ---- what comes of it ---- */

static void add_row(struct out_table *t, size_t number, const json_t *step)
{
    json_int_t drain = json_integer_value(json_object_get(step, "drain_seconds"));
    bool is_kept = strcmp(services_text(step, "action"), "keep") == 0;
    mem_auto char *order = is_kept ? NULL : mem_fmt("%zu", number);
    mem_auto char *seconds = drain ? mem_fmt("%lld s", (long long)drain) : NULL;

    out_table_add(t, order);
    out_table_add(t, services_text(step, "component_instance_name"));
    out_table_add(t, services_text(step, "action"));
    out_table_add(t, services_text(step, "from_version"));
    out_table_add(t, services_text(step, "to_version"));
    out_table_add(t, seconds);
    out_table_add(t, services_text(step, "after"));
}

static void print_plan(const json_t *plan)
{
    struct out_table t;
    size_t i;
    const json_t *one;

    out_lines_to(stdout, services_text(plan, "diagnostics"));
    out_table_begin(
        &t, (const char *const[]){"ORDER", "INSTANCE", "ACTION", "FROM", "TO", "DRAIN", "AFTER", NULL});
    json_array_foreach(json_object_get(plan, "instances"), i, one) add_row(&t, i + 1, one);
    out_table_print(&t);
    json_array_foreach(json_object_get(plan, "waits"), i, one)
    {
        mem_auto char *line = mem_fmt("then waits: %s", services_text(one, "wait"));
        out_lines_to(stdout, line);
    }
    if (!json_is_true(json_object_get(plan, "complete")))
        out_lines_to(stdout, "The plan has too many steps; the rest is not shown.");
}

static int print(const struct cli *cli, const json_t *plan, struct err_info *why)
{
    bool is_accepted = json_is_true(json_object_get(plan, "accepted"));

    if (cli->is_json)
        out_json(plan);
    else if (is_accepted)
        print_plan(plan);
    return is_accepted ? 0
                       : err_set(why, ERR_WRONGSTATE, cli->operands[0], "it would be refused: %s",
                                 services_text(plan, "diagnostics"));
}

int app_plan(struct cli *cli, struct err_info *why)
{
    struct asked q = {0};
    json_auto json_t *plan = NULL;
    struct app_client a;

    app_open(cli, &a);
    int err = cli->n_operands == 1 ? ask_file(&a, cli->operands[0], &q, why) : ask_change(&a, &q, why);
    if (!err)
        err = services_call(&a.services, q.method, q.path, q.body, &plan, why);
    if (!err)
        err = print(cli, plan, why);
    asked_fini(&q);
    app_close(&a);
    return err;
}
