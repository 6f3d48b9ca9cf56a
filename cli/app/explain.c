/** `bobbin app explain`: what of a service is not as wanted, why, and what would mend it. */
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"

/** "web: web-3, web-4 and 810 more", or the name of the service. free() */
static char *object_text(const json_t *line, const char *service)
{
    const json_t *names = json_object_get(line, "instances");
    json_int_t n_left =
        json_integer_value(json_object_get(line, "count")) - (json_int_t)json_array_size(names);
    char *text = NULL;
    size_t i;
    const json_t *name;

    json_array_foreach(names, i, name)
    {
        char *longer =
            text ? mem_fmt("%s, %s", text, json_string_value(name)) : mem_str(json_string_value(name));
        free(text);
        text = longer;
    }
    if (!text || n_left <= 0)
        return text ? text : mem_str(service);
    char *all = mem_fmt("%s and %lld more", text, (long long)n_left);
    free(text);
    return all;
}

static void print_line(const json_t *line, const char *service)
{
    mem_auto char *object = object_text(line, service);
    mem_auto char *text = mem_fmt("%s: %s\n  %s\n  remedy: %s", object, services_text(line, "state"),
                                  services_text(line, "wait"), services_text(line, "remedy"));

    out_lines_to(stdout, text);
}

static void print_explained(const json_t *service, const char *name)
{
    const json_t *list = json_object_get(service, "explain");
    size_t i;
    const json_t *line;

    printf("%s %s\n", name, services_text(service, "state"));
    json_array_foreach(list, i, line) print_line(line, name);
    if (json_array_size(list) == 0)
        printf("Nothing to explain: all is as wanted.\n");
}

int app_explain(struct cli *cli, struct err_info *why)
{
    mem_auto char *name = services_quote(cli->operands[0]);
    mem_auto char *path = mem_fmt("/%s?explain=true", name);
    json_auto json_t *answer = NULL;
    struct app_client a;

    app_open(cli, &a);
    int err = services_call(&a.services, "GET", path, NULL, &answer, why);
    if (!err && cli->is_json)
        out_json(json_object_get(answer, "explain"));
    else if (!err)
        print_explained(answer, cli->operands[0]);
    app_close(&a);
    return err;
}
