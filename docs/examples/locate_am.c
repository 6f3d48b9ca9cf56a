/**
 * A container that looks for its application master, which may start later, or be down for a moment: it asks again with
 * jittered pauses, and gives up in the end.
 *
 *     example-locate-am [--registry URL] USER CLASS NAME API GIVE-UP-MS
 */
#include "common.h"

static void print_address(const struct reg_endpoint *endpoint)
{
    const struct reg_address *address = &endpoint->addresses[0];

    for (size_t i = 0; i < address->n_pairs; i++)
        printf("%s=%s\n", address->pairs[i].key, address->pairs[i].value);
}

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    struct reg_locate what = {.api = operands[3], .give_up_ms = atoll(operands[4])};
    struct reg_record *record = NULL;
    const struct reg_endpoint *endpoint;
    char *path = NULL;
    int err = reg_service_path(operands[0], operands[1], operands[2], &path, why);

    what.path = path;
    if (!err)
        err = reg_blocking_locate(registry, &what, &record, why);
    if (!err) {
        /* For the application's own containers: internal endpoints first. */
        endpoint = reg_record_internal(record, what.api);
        print_address(endpoint && endpoint->n_addresses ? endpoint : reg_record_external(record, what.api));
    }
    reg_record_free(record);
    free(path);
    return err;
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "USER CLASS NAME API GIVE-UP-MS", .n_operands = 5, .run = run};

    return example_main(&example, argc, argv);
}
