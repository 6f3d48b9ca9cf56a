/** `bobbin slider list` and `bobbin slider status` */
#include "slider.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/out.h"
#include "kit/services.h"

/* ---- list ---- */

static void print_list(const json_t *list)
{
    struct out_table t;
    size_t i;
    const json_t *a;

    out_table_begin(&t, (const char *const[]){"NAME", "STATE", "APPLICATION", "USER", NULL});
    json_array_foreach(list, i, a)
    {
        out_table_add(&t, services_text(a, "name"));
        out_table_add(&t, services_text(a, "state"));
        out_table_add(&t, services_text(a, "id"));
        out_table_add(&t, services_text(a, "user"));
    }
    out_table_print(&t);
}

int slider_list(struct cli *cli, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct slider_client s;

    slider_open(cli, &s);
    int err = slider_get(&s, NULL, cli_has(cli, CLI_ALL) ? "?all=true" : NULL, &doc, why);
    if (!err && cli->is_json)
        out_json(doc);
    else if (!err)
        print_list(json_object_get(doc, "applications"));
    slider_close(&s);
    return err;
}

/* ---- status ---- */

static void print_components(const json_t *components)
{
    static const char *const numbers[] = {"priority",  "desired", "actual", "requested",
                                          "releasing", "failed",  NULL};
    struct out_table t;
    const char *name;
    const json_t *c;

    out_table_begin(&t, (const char *const[]){"COMPONENT", "PRIORITY", "DESIRED", "ACTUAL", "REQUESTED",
                                              "RELEASING", "FAILED", NULL});
    json_object_foreach((json_t *)(uintptr_t)components, name, c)
    {
        out_table_add(&t, name);
        for (size_t i = 0; numbers[i]; i++)
            out_table_add_number(&t, c, numbers[i]);
    }
    out_table_print(&t);
}

static void print_containers(const json_t *containers)
{
    static const char *const states[] = {"INCOMPLETE", "SUBMITTED", "CREATED",
                                         "LIVE",       "STOPPED",   "DESTROYED"};
    struct out_table t;
    const char *id;
    const json_t *c;

    out_table_begin(&t, (const char *const[]){"CONTAINER", "COMPONENT", "STATE", "HOST", NULL});
    json_object_foreach((json_t *)(uintptr_t)containers, id, c)
    {
        json_int_t state = json_integer_value(json_object_get(c, "state"));
        out_table_add(&t, id);
        out_table_add(&t, services_text(c, "component"));
        out_table_add(&t, json_is_true(json_object_get(c, "released")) ? "RELEASED"
                          : state >= 0 && state < 6                    ? states[state]
                                                                       : NULL);
        out_table_add(&t, services_text(c, "host"));
    }
    out_table_print(&t);
}

/** Put a document of what runs into that of the application; none: nothing runs. */
static int add_live(struct slider_client *s, const char *name, const char *rest, const char *key,
                    json_t *into, struct err_info *why)
{
    json_t *doc = NULL;
    int err = slider_get(s, name, rest, &doc, why);

    if (err == ERR_NOTFOUND || err == ERR_UNAVAILABLE || err == ERR_WRONGSTATE)
        return 0;
    if (!err)
        json_object_set_new(into, key, doc);
    return err;
}

static void print_status(const json_t *application)
{
    const char *diagnostics = services_text(application, "diagnostics");

    printf("%s %s %s\n", services_text(application, "name"), services_text(application, "state"),
           services_text(application, "id"));
    if (diagnostics[0])
        out_lines_to(stdout, diagnostics);
    if (json_object_get(application, "components"))
        print_components(json_object_get(application, "components"));
    if (json_object_get(application, "containers"))
        print_containers(json_object_get(application, "containers"));
}

int slider_status(struct cli *cli, struct err_info *why)
{
    const char *name = cli->operands[0];
    json_auto json_t *application = NULL;
    struct slider_client s;

    slider_open(cli, &s);
    int err = slider_get(&s, name, NULL, &application, why);
    err = err ? err : add_live(&s, name, "application/live/components", "components", application, why);
    err = err ? err : add_live(&s, name, "application/live/containers", "containers", application, why);
    if (!err && cli->is_json)
        out_json(application);
    else if (!err)
        print_status(application);
    slider_close(&s);
    return err;
}
