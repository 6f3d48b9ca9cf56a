/** `bobbin framework explain`: what of a framework is not as wanted, why, and what its tasks and ports are called in DNS. */
#include "framework.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/explained.h"
#include "kit/out.h"
#include "kit/services.h"

/** "worker[3]". free() */
static char *task_text(const char *role, const json_t *index)
{
    return mem_fmt("%s[%lld]", role, (long long)json_integer_value(index));
}

static char *line_text(const json_t *line, const json_t *index)
{
    return task_text(services_text(line, "taskRoleName"), index);
}

static void print_waits(const json_t *doc)
{
    static const struct explained_kind kind = {.key = "taskIndexes", .text = line_text};

    printf("%s %s %s\n", services_text(doc, "frameworkName"), services_text(doc, "frameworkState"),
           services_text(doc, "frameworkDnsName"));
    explained_print(json_object_get(doc, "explain"), services_text(doc, "frameworkName"), &kind);
}

static void print_tasks(const json_t *roles)
{
    struct out_table t;
    const char *role;
    const json_t *of, *task;
    size_t i;

    out_table_begin(&t, (const char *const[]){"TASK", "STATE", "RETRIED", "NAME", NULL});
    json_object_foreach((json_t *)roles, role, of)
    {
        json_array_foreach(json_object_get(of, "tasks"), i, task)
        {
            mem_auto char *text = task_text(role, json_object_get(task, "taskIndex"));
            out_table_add(&t, text);
            out_table_add(&t, services_text(task, "taskState"));
            out_table_add_number(&t, json_object_get(task, "taskRetryPolicyState"), "retriedCount");
            out_table_add(&t, services_text(task, "taskDnsName"));
        }
    }
    out_table_print(&t);
}

static bool has_ports(const json_t *roles)
{
    const char *role;
    const json_t *of;

    json_object_foreach((json_t *)roles, role, of)
    {
        if (json_object_size(json_object_get(of, "portDnsNames")) > 0)
            return true;
    }
    return false;
}

static void print_ports(const json_t *roles)
{
    struct out_table t;
    const char *role, *label;
    const json_t *of, *name;

    out_table_begin(&t, (const char *const[]){"ROLE", "PORT", "SRV", NULL});
    json_object_foreach((json_t *)roles, role, of)
    {
        json_object_foreach(json_object_get(of, "portDnsNames"), label, name)
        {
            out_table_add(&t, role);
            out_table_add(&t, label);
            out_table_add(&t, json_string_value(name));
        }
    }
    out_table_print(&t);
}

int framework_explain(struct cli *cli, struct err_info *why)
{
    mem_auto char *path = framework_path(cli->operands[0], "Explanation");
    json_auto json_t *doc = NULL;
    struct framework_client f;

    framework_open(cli, &f);
    int err = framework_show(&f, path, &doc, why);
    if (!err && doc) {
        print_waits(doc);
        print_tasks(json_object_get(doc, "taskRoles"));
        if (has_ports(json_object_get(doc, "taskRoles")))
            print_ports(json_object_get(doc, "taskRoles"));
    }
    framework_close(&f);
    return err;
}
