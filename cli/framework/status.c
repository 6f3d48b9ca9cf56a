/** `bobbin framework status` and `bobbin framework tasks` */
#include "framework.h"

#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/out.h"
#include "kit/services.h"

int framework_status(struct cli *cli, struct err_info *why)
{
    mem_auto char *path = framework_path(cli->operands[0], "FrameworkStatus");
    json_auto json_t *status = NULL;
    struct framework_client f;

    framework_open(cli, &f);
    int err = framework_show(&f, path, &status, why);
    if (!err && status)
        framework_print_status(status);
    framework_close(&f);
    return err;
}

static void add_task(struct out_table *t, const json_t *task)
{
    const json_t *code = json_object_get(task, "containerExitCode");
    const json_t *retries = json_object_get(task, "taskRetryPolicyState");
    mem_auto char *name = mem_fmt("%s[%lld]", services_text(task, "taskRoleName"),
                                  (long long)json_integer_value(json_object_get(task, "taskIndex")));
    mem_auto char *retried =
        mem_fmt("%lld", (long long)json_integer_value(json_object_get(retries, "retriedCount")));
    mem_auto char *exit = json_is_integer(code) ? mem_fmt("%lld", (long long)json_integer_value(code)) : NULL;

    out_table_add(t, name);
    out_table_add(t, services_text(task, "taskState"));
    out_table_add(t, retried);
    out_table_add(t, exit);
    out_table_add(t, services_text(task, "containerIp"));
    out_table_add(t, services_text(task, "containerHost"));
    out_table_add(t, services_text(task, "containerPorts"));
    out_table_add(t, services_text(task, "containerId"));
}

/** @param role  whose tasks are printed; NULL: of all */
static void print_tasks(const json_t *roles, const char *role)
{
    struct out_table t;
    const char *name;
    const json_t *of, *task;
    size_t i;

    out_table_begin(&t, (const char *const[]){"TASK", "STATE", "RETRIED", "EXIT", "IP", "HOST", "PORTS",
                                              "CONTAINER", NULL});
    json_object_foreach((json_t *)roles, name, of)
    {
        if (role && strcmp(role, name) != 0)
            continue;
        const json_t *list = json_object_get(json_object_get(of, "taskStatuses"), "taskStatusArray");
        json_array_foreach(list, i, task) add_task(&t, task);
    }
    out_table_print(&t);
}

int framework_tasks(struct cli *cli, struct err_info *why)
{
    mem_auto char *path = framework_path(cli->operands[0], "AggregatedFrameworkStatus");
    const char *role = cli->n_operands > 1 ? cli->operands[1] : NULL;
    json_auto json_t *doc = NULL;
    struct framework_client f;

    framework_open(cli, &f);
    int err = framework_show(&f, path, &doc, why);
    const json_t *roles = json_object_get(doc, "aggregatedTaskRoleStatuses");
    if (!err && doc && role && json_object_size(roles) > 0 && !json_object_get(roles, role))
        err = err_set(why, ERR_NOTFOUND, role, "the framework has no such task role");
    else if (!err && doc)
        print_tasks(roles, role);
    framework_close(&f);
    return err;
}
