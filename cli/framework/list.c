/** `bobbin framework list` */
#include "framework.h"

#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/out.h"
#include "kit/services.h"

static void print_table(const json_t *list)
{
    struct out_table t;
    size_t i;
    const json_t *f;

    out_table_begin(&t, (const char *const[]){"NAME", "VERSION", "STATE", "EXIT", "TASKS", "GPUS", "USER",
                                              "QUEUE", NULL});
    json_array_foreach(list, i, f)
    {
        out_table_add(&t, services_text(f, "frameworkName"));
        out_table_add_number(&t, f, "frameworkVersion");
        out_table_add(&t, services_text(f, "frameworkState"));
        out_table_add_number(&t, f, "applicationExitCode");
        out_table_add_number(&t, f, "totalTaskNumber");
        out_table_add_number(&t, f, "totalGpuNumber");
        out_table_add(&t, services_text(f, "userName"));
        out_table_add(&t, services_text(f, "queue"));
    }
    out_table_print(&t);
}

int framework_list(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct framework_client f;

    framework_open(cli, &f);
    int err = framework_show(&f, "", &doc, why);
    if (!err && doc)
        print_table(json_object_get(doc, "summarizedFrameworkInfos"));
    framework_close(&f);
    return err;
}
