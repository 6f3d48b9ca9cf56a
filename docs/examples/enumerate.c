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

/** The records of the children, then what is below each child. What vanishes meanwhile, or is no record, is passed over. */
static int walk(struct reg_blocking *registry, const char *path, const char *api, struct err_info *why)
{
    struct reg_found *found = NULL;
    char **names = NULL;
    size_t n = 0;
    int err = reg_blocking_list_records(registry, path, &found, &n, why);

    for (size_t i = 0; i < n; i++)
        print_match(found[i].path, found[i].record, api);
    reg_found_free(found, n);
    if (!err)
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
