/**
 * A short-lived application: its record says "application-attempt", so the registry removes it when the attempt ends,
 * however that happens. The application itself never deletes it.
 *
 *     example-short-lived [--registry URL] USER NAME ATTEMPT URI
 */
#include "common.h"

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    const char *user = operands[0], *name = operands[1], *attempt = operands[2], *uri = operands[3];
    struct reg_record *record = reg_record_new();
    struct reg_endpoint web;
    char *path = NULL;
    int err = reg_service_path(user, "short-lived", name, &path, why);

    reg_record_describe(record, "A job that ends by itself");
    reg_record_set(record, "yarn:id", attempt, NULL);
    reg_record_set(record, "yarn:persistence", "application-attempt", NULL);
    reg_endpoint_web(&web, "http://", (const char *[]){uri, NULL});
    reg_record_add_external(record, &web, NULL);

    /* A later attempt takes the place of an earlier one: overwrite. */
    if (!err)
        err = reg_blocking_bind(registry, path, record, REG_OVERWRITE | REG_CREATE_PARENTS, NULL, why);
    if (!err)
        printf("bound %s\n", path);
    reg_record_free(record);
    free(path);
    return err;
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "USER NAME ATTEMPT URI", .n_operands = 4, .run = run};

    return example_main(&example, argc, argv);
}
