/**
 * Enumeration: all services below a path that offer an API, found by walking the tree.
 *
 *     example-enumerate [--registry URL] PATH API
 *
 * Prints a line for each: path, and its first address as key=value.
 */
#include "common.h"

static void print_match(const char *path, const struct reg_record *record, const char *api)
{
    const struct reg_endpoint *endpoint = reg_record_external(record, api);

    if (!endpoint)
        endpoint = reg_record_internal(record, api);
    if (!endpoint)
        return;
    printf("%s", path);
    for (size_t i = 0; endpoint->n_addresses && i < endpoint->addresses[0].n_pairs; i++)
        printf(" %s=%s", endpoint->addresses[0].pairs[i].key, endpoint->addresses[0].pairs[i].value);
    printf("\n");
}

/** This node, then what is below it. A node that vanishes meanwhile, or holds no record, is passed over. */
static int walk(struct reg_blocking *registry, const char *path, const char *api, struct err_info *why)
{
    struct reg_record *record = NULL;
    char **names = NULL;
    int err = reg_blocking_resolve(registry, path, &record, why);

    if (!err)
        print_match(path, record, api);
    reg_record_free(record);
    if (err == ERR_NOTFOUND)
        return 0;
    if (err && err != ERR_NORECORD)
        return err;
    err = reg_blocking_list(registry, path, &names, why);
    for (size_t i = 0; !err && names[i]; i++) {
        char *child = reg_path_join(path, names[i]);

        err = walk(registry, child, api, why);
        free(child);
    }
    reg_path_split_free(names);
    return err == ERR_NOTFOUND ? 0 : err;
}

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    return walk(registry, operands[0], operands[1], why);
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "PATH API", .n_operands = 2, .run = run};

    return example_main(&example, argc, argv);
}
