/** `bobbin app explain`: what of a service is not as wanted, why, and what would mend it. */
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "base/mem.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/explained.h"
#include "kit/out.h"

static char *instance_text(const json_t *line, const json_t *item)
{
    (void)line;
    return mem_str(json_string_value(item));
}

static void print_explained(const json_t *service, const char *name)
{
    static const struct explained_kind kind = {.key = "instances", .text = instance_text};

    printf("%s %s\n", name, services_text(service, "state"));
    explained_print(json_object_get(service, "explain"), name, &kind);
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
