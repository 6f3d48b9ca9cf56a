/** See app.h. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/options.h"
#include "kit/out.h"

#define WAIT_LIMIT_MS 300000

void app_open(struct cli *cli, struct app_client *out)
{
    mem_auto char *url = services_url(cli);

    out->cli = cli;
    wait_open(&out->wait);
    wait_sign_in(&out->wait, cli);
    services_init(&out->services, &out->wait, url, cli->user);
    out->services.is_quiet = cli_has(cli, CLI_QUIET);
}

void app_close(struct app_client *a)
{
    services_fini(&a->services);
    wait_close(&a->wait);
}

/** "exited(3)", "signalled(9)", "lost" …; "": no process of the instance has ended. free() */
static char *exit_cell(const json_t *last_exit)
{
    const json_t *code = json_object_get(last_exit, "code");
    const json_t *value = code ? code : json_object_get(last_exit, "signal");

    if (!value)
        return mem_str(services_text(last_exit, "cause"));
    return mem_fmt("%s(%lld)", services_text(last_exit, "cause"), (long long)json_integer_value(value));
}

/** A row: a container, or what is left of the one that failed. */
static void add_row(struct out_table *t, const json_t *c)
{
    mem_auto char *restarts = mem_fmt("%lld", (long long)json_integer_value(json_object_get(c, "restarts")));
    mem_auto char *last_exit = exit_cell(json_object_get(c, "last_exit"));

    out_table_add(t, services_text(c, "component_instance_name"));
    out_table_add(t, services_text(c, "state"));
    out_table_add(t, restarts);
    out_table_add(t, last_exit);
    out_table_add(t, services_text(c, "ip"));
    out_table_add(t, services_text(c, "hostname"));
    out_table_add(t, services_text(c, "id"));
}

static void add_containers(struct out_table *t, const json_t *component)
{
    size_t i;
    const json_t *c;

    json_array_foreach(json_object_get(component, "containers"), i, c) add_row(t, c);
}

void app_print(const struct cli *cli, const json_t *service)
{
    const json_t *failure = json_object_get(service, "last_failure");
    const char *diagnostics = services_text(service, "diagnostics");
    struct out_table t;
    size_t i;
    const json_t *component;

    if (cli->is_json) {
        out_json(service);
        return;
    }
    printf("%s %s %s\n", services_text(service, "name"), services_text(service, "state"),
           services_text(service, "id"));
    if (diagnostics[0])
        out_lines_to(stdout, diagnostics);
    out_table_begin(&t, (const char *const[]){"INSTANCE", "STATE", "RESTARTS", "LAST-EXIT", "IP", "HOST",
                                              "CONTAINER", NULL});
    json_array_foreach(json_object_get(service, "components"), i, component) add_containers(&t, component);
    if (failure)
        add_row(&t, failure);
    out_table_print(&t);
}

void app_print_change(const struct cli *cli, const char *change, const char *name)
{
    if (!cli->is_json) {
        printf("%s %s\n", change, name);
        return;
    }
    json_auto json_t *v = json_pack("{s:s, s:s}", "change", change, "service", name);
    out_json(v);
}

int app_wait(struct app_client *a, const char *name, const struct services_goal *goal, json_t **out,
             struct err_info *why)
{
    int64_t limit_ms;
    int err = cli_timeout_ms(a->cli, WAIT_LIMIT_MS, &limit_ms, why);

    return err ? err : services_wait(&a->services, name, goal, limit_ms, out, why);
}

int app_wait_and_print(struct app_client *a, const char *name, struct err_info *why)
{
    json_auto json_t *service = NULL;
    int err = app_wait(a, name, &services_ready, &service, why);

    if (!err)
        app_print(a->cli, service);
    return err;
}

int app_put_state(struct app_client *a, const char *name, const char *state, struct err_info *why)
{
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s", quoted);
    json_auto json_t *body = json_pack("{s:s}", "state", state);

    return services_call(&a->services, "PUT", path, body, NULL, why);
}
