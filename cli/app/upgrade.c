/** `bobbin app upgrade` */
#include "upgrade.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "json/json.h"

int app_upgrade_state(const struct cli *cli, const char **out, struct err_info *why)
{
    int n = cli_has(cli, CLI_AUTO) + cli_has(cli, CLI_MANUAL) + cli_has(cli, CLI_EXPRESS);

    *out = cli_has(cli, CLI_AUTO)     ? "UPGRADING_AUTO_FINALIZE"
           : cli_has(cli, CLI_MANUAL) ? "UPGRADING"
                                      : "EXPRESS_UPGRADING";
    return n > 1 ? err_set(why, ERR_USAGE, "upgrade", "--auto, --express and --manual exclude each other")
                 : 0;
}

char *app_upgrade_path(const struct cli *cli, const char *name, const char *more)
{
    mem_auto char *quoted = services_quote(name);
    bool reverts = cli_has(cli, CLI_AUTO_REVERT);

    return mem_fmt("/%s%s%s%s%s", quoted, reverts || more ? "?" : "", reverts ? "auto_revert=true" : "",
                   reverts && more ? "&" : "", more ? more : "");
}

/* ---- waiting for the end ---- */

static bool ends_well(const char *state)
{
    return strcmp(state, "READY") == 0 || strcmp(state, "STABLE") == 0;
}

/** Why an upgrade goes no further until a person does something; NULL: it goes on. Borrowed from the document. */
static const char *standstill_of(const json_t *service)
{
    size_t i;
    const json_t *one;

    if (json_is_true(json_object_get(json_object_get(service, "operation"), "auto_revert")))
        return NULL;
    json_array_foreach(json_object_get(service, "explain"), i, one)
    {
        if (strcmp(services_text(one, "reason"), "failed_upgrade") == 0)
            return services_text(one, "wait");
    }
    return NULL;
}

/** How far it is; of a service that is not upgraded any more: its state. free() */
static char *moves_text(const json_t *service)
{
    const json_t *op = json_object_get(service, "operation");
    json_int_t n = json_integer_value(json_object_get(op, "remaining"));
    bool goes_back = strcmp(services_text(op, "kind"), "cancel") == 0;

    return !op ? mem_str(services_text(service, "state"))
               : mem_fmt("%s version %s, %lld %s left", goes_back ? "back to" : "upgrade to",
                         services_text(op, "version"), (long long)n, n == 1 ? "instance" : "instances");
}

static int judge(const struct services_goal *goal, const char *name, const json_t *service, char **waits_for,
                 struct err_info *why)
{
    const char *state = services_text(service, "state"), *now = services_text(service, "version");
    const char *standstill = standstill_of(service);

    if (standstill)
        return err_set(why, ERR_WRONGSTATE, name, "%s bobbin app explain %s shows more.", standstill, name);
    if (strstr(state, "UPGRADING") || strcmp(state, "STARTED") == 0)
        *waits_for = moves_text(service);
    else if (!ends_well(state))
        return err_set(why, ERR_WRONGSTATE, name, "the service is %s; bobbin app status %s shows more", state,
                       name);
    else if (goal->version && strcmp(now, goal->version) != 0)
        return err_set(why, ERR_WRONGSTATE, name, "the service runs version %s, not %s: %s", now,
                       goal->version, services_text(service, "diagnostics"));
    return 0;
}

/** Wait, and see that the version is what was asked for. @param version  NULL: any @param word  for its end */
static int wait_for_end(struct app_client *a, const char *name, const char *version, const char *word,
                        struct err_info *why)
{
    const struct services_goal goal = {"?explain=true", judge, version, word, "the upgrade goes on"};
    json_auto json_t *service = NULL;
    int err = app_wait(a, name, &goal, &service, why);

    if (!err)
        app_print(a->cli, service);
    return err;
}

/* ---- the requests ---- */

static int begin(struct app_client *a, const char *name, const char *file, struct err_info *why)
{
    json_auto json_t *definition = NULL;
    const char *state;
    mem_auto char *path = app_upgrade_path(a->cli, name, NULL);
    int err = app_upgrade_state(a->cli, &state, why);

    if (!err)
        err = input_read_json(file, &definition, why);
    if (err)
        return err;
    json_object_set_new(definition, "state", json_string(state));
    err = services_call(&a->services, "PUT", path, definition, NULL, why);
    if (err)
        return err;
    if (cli_has(a->cli, CLI_WAIT))
        return wait_for_end(a, name, services_text(definition, "version"), "upgraded", why);
    app_print_change(a->cli, "upgrading", name);
    return 0;
}

/** "a,b" as an array of {member: "a", "state": "UPGRADING"}. @return new */
static json_t *list_of(const char *names, const char *member)
{
    json_t *list = json_array();
    char *name;

    for (size_t i = 0; (name = str_field(names, ',', i)); i++) {
        json_array_append_new(list, json_pack("{s:s, s:s}", member, name, "state", "UPGRADING"));
        free(name);
    }
    return list;
}

static int move(struct app_client *a, const char *name, struct err_info *why)
{
    const char *instances = cli_value(a->cli, CLI_INSTANCES), *components = cli_value(a->cli, CLI_COMPONENTS);
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s/%s", quoted, instances ? "component-instances" : "components");
    json_auto json_t *list =
        instances ? list_of(instances, "component_instance_name") : list_of(components, "name");
    int err = services_call(&a->services, "PUT", path, list, NULL, why);

    if (!err)
        app_print_change(a->cli, "upgrading", name);
    return err;
}

static int finish(struct app_client *a, const char *name, struct err_info *why)
{
    bool is_cancel = cli_has(a->cli, CLI_CANCEL);
    int err = app_put_state(a, name, is_cancel ? "CANCEL_UPGRADING" : "STARTED", why);

    if (err)
        return err;
    if (cli_has(a->cli, CLI_WAIT))
        return wait_for_end(a, name, NULL, is_cancel ? "cancelled" : "finalized", why);
    app_print_change(a->cli, is_cancel ? "cancelling" : "finalized", name);
    return 0;
}

/** One thing at a time, and nothing that has no meaning for it. */
static int check(const struct cli *cli, struct err_info *why)
{
    bool has_file = cli->n_operands > 1;
    bool moves = cli_has(cli, CLI_INSTANCES) || cli_has(cli, CLI_COMPONENTS);
    int n = has_file + cli_has(cli, CLI_INSTANCES) + cli_has(cli, CLI_COMPONENTS) +
            cli_has(cli, CLI_FINALIZE) + cli_has(cli, CLI_CANCEL);
    bool has_mode = cli_has(cli, CLI_AUTO) || cli_has(cli, CLI_MANUAL) || cli_has(cli, CLI_EXPRESS) ||
                    cli_has(cli, CLI_AUTO_REVERT);

    if (n != 1)
        return err_set(why, ERR_USAGE, "upgrade",
                       "give one of FILE, --instances, --components, --finalize and --cancel");
    if (has_mode && !has_file)
        return err_set(why, ERR_USAGE, "upgrade",
                       "--auto, --express, --manual and --auto-revert are for the FILE that begins one");
    if (moves && cli_has(cli, CLI_WAIT))
        return err_set(why, ERR_USAGE, "upgrade",
                       "--wait waits for the end of an upgrade, which --instances and --components are not");
    return 0;
}

int app_upgrade(struct cli *cli, struct err_info *why)
{
    struct app_client a;
    const char *name = cli->operands[0];
    int err = check(cli, why);

    if (err)
        return err;
    app_open(cli, &a);
    if (cli->n_operands > 1)
        err = begin(&a, name, cli->operands[1], why);
    else if (cli_has(cli, CLI_INSTANCES) || cli_has(cli, CLI_COMPONENTS))
        err = move(&a, name, why);
    else
        err = finish(&a, name, why);
    app_close(&a);
    return err;
}
