/** `bobbin registry ls` */
#include <stdio.h>

#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"

static void print_names(const struct cli *cli, const char *path, char *const *names)
{
    json_auto json_t *list = json_array();

    for (size_t i = 0; names[i]; i++) {
        if (cli->is_json)
            json_array_append_new(list, json_string(names[i]));
        else
            printf("%s\n", names[i]);
    }
    if (!cli->is_json)
        return;
    json_auto json_t *v = json_pack("{s:s, s:O}", "path", path, "nodes", list);
    out_json(v);
}

int registry_ls(struct cli *cli, struct err_info *why)
{
    const char *path = cli->n_operands ? cli->operands[0] : "/";
    struct reg_blocking *registry;
    char **names = NULL;
    int err = registry_open(cli, &registry, why);

    if (!err)
        err = reg_blocking_list(registry, path, &names, why);
    if (!err)
        print_names(cli, path, names);
    reg_path_split_free(names);
    reg_blocking_close(registry);
    return err;
}
