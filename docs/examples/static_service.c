/**
 * A service that no application manages, known for good: its record is permanent. While it is down it stays known, with
 * the same description and without any endpoint: "known but not reachable".
 *
 *     example-static-service [--registry URL] NAME URI     it is up, at URI
 *     example-static-service [--registry URL] NAME down    it is down
 */
#include "common.h"

#define API "classpath:org.example.store"

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    const char *name = operands[0], *uri = operands[1];
    struct reg_record *record = reg_record_new();
    char *path = reg_path_join("/services", name);

    reg_record_describe(record, "The store of the cluster");
    reg_record_set(record, "yarn:persistence", "permanent", NULL);
    if (strcmp(uri, "down") != 0) {
        struct reg_endpoint rest;

        reg_endpoint_rest(&rest, API, (const char *[]){uri, NULL});
        reg_record_add_external(record, &rest, NULL);
    }
    int err = reg_blocking_bind(registry, path, record, REG_OVERWRITE, NULL, why);
    if (!err)
        printf("%s is %s\n", path, record->external.n_items ? "reachable" : "known but not reachable");
    reg_record_free(record);
    free(path);
    return err;
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "NAME URI|down", .n_operands = 2, .run = run};

    return example_main(&example, argc, argv);
}
