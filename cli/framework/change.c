/** `bobbin framework put`, `start`, `stop`, `flex`, `migrate` and `delete` */
#include "framework.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "kit/out.h"
#include "kit/services.h"

/** Wait for a state, then print the status. */
static int wait_and_print(struct framework_client *f, const char *name, const char *state,
                          struct err_info *why)
{
    json_auto json_t *status = NULL;
    int err = framework_wait(f, name, state, &status, why);

    if (!err && f->api.cli->is_json)
        out_json(status);
    else if (!err)
        framework_print_status(status);
    return err;
}

/** One request that changes a framework, and what follows it. @param state  that is waited for; NULL: none */
static int change(struct cli *cli, const char *method, const char *rest, const json_t *body,
                  const char *state, struct err_info *why)
{
    const char *name = cli->operands[0];
    mem_auto char *path = framework_path(name, rest);
    struct framework_client f;

    framework_open(cli, &f);
    int err = framework_call(&f, method, path, body, NULL, why);
    if (!err && state)
        err = wait_and_print(&f, name, state, why);
    else if (!err)
        framework_print_change(cli, "accepted", name);
    framework_close(&f);
    return err;
}

int framework_put(struct cli *cli, struct err_info *why)
{
    json_auto json_t *descriptor = NULL;
    int err = input_read_json(cli->operands[1], &descriptor, why);

    if (err)
        return err;
    return change(cli, "PUT", NULL, descriptor, cli_has(cli, CLI_WAIT) ? "APPLICATION_RUNNING" : NULL, why);
}

int framework_stop(struct cli *cli, struct err_info *why)
{
    json_auto json_t *body = json_pack("{s:s}", "executionType", "STOP");

    return change(cli, "PUT", "ExecutionType", body, cli_has(cli, CLI_NO_WAIT) ? NULL : "FRAMEWORK_COMPLETED",
                  why);
}

int framework_start(struct cli *cli, struct err_info *why)
{
    json_auto json_t *body = json_pack("{s:s}", "executionType", "START");

    return change(cli, "PUT", "ExecutionType", body, NULL, why);
}

int framework_delete(struct cli *cli, struct err_info *why)
{
    return change(cli, "DELETE", NULL, NULL, NULL, why);
}

/** ROLE=NUMBER. @param role  new [out] */
static int read_count(const char *text, char **role, int64_t *n, struct err_info *why)
{
    const char *sign = strchr(text, '=');

    if (!sign || sign == text || str_to_i64(sign + 1, 0, INT32_MAX, n))
        return err_set(why, ERR_USAGE, text, "write ROLE=NUMBER, as worker=3");
    *role = mem_strn(text, (size_t)(sign - text));
    return 0;
}

int framework_flex(struct cli *cli, struct err_info *why)
{
    mem_auto char *role = NULL;
    int64_t n;
    int err = read_count(cli->operands[1], &role, &n, why);

    if (err)
        return err;
    mem_auto char *quoted = services_quote(role);
    mem_auto char *rest = mem_fmt("TaskRoles/%s/TaskNumber", quoted);
    json_auto json_t *body = json_pack("{s:I}", "taskNumber", (json_int_t)n);
    return change(cli, "PUT", rest, body, NULL, why);
}

int framework_migrate(struct cli *cli, struct err_info *why)
{
    mem_auto char *quoted = services_quote(cli->operands[1]);
    mem_auto char *rest = mem_fmt("MigrateTasks/%s", quoted);
    json_auto json_t *body = json_object();

    return change(cli, "PUT", rest, body, NULL, why);
}
