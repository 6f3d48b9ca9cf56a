/**
 * A container that holds nothing but an id and a password: it puts its endpoint into the record that its application master
 * made for it (container_am.c). No account, no token that runs out: it can do so as long as the node is there.
 *
 *     CONTAINER_ACCESSOR=id:password example-container [--registry URL] PATH URI
 */
#include "common.h"

#define API "org.example.worker"

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    const char *path = operands[0], *uri = operands[1];
    struct reg_record *made = NULL, *record = reg_record_new();
    struct reg_endpoint rest;
    int err = reg_blocking_resolve(registry, path, &made, why);

    if (!err) {
        /* The application master's attributes stay: by them the record goes when the container ends. */
        reg_record_describe(record, "running");
        reg_record_set(record, "yarn:id", reg_record_get(made, "yarn:id"), NULL);
        reg_record_set(record, "yarn:persistence", reg_record_get(made, "yarn:persistence"), NULL);
        reg_endpoint_rest(&rest, API, (const char *[]){uri, NULL});
        reg_record_add_external(record, &rest, NULL);
        err = reg_blocking_bind(registry, path, record, REG_OVERWRITE, NULL, why);
    }
    if (!err)
        printf("updated %s\n", path);
    reg_record_free(made);
    reg_record_free(record);
    return err;
}

int main(int argc, char **argv)
{
    const struct example example = {
        .usage = "PATH URI", .n_operands = 2, .accessor_variable = "CONTAINER_ACCESSOR", .run = run};

    return example_main(&example, argc, argv);
}
