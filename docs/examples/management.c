/**
 * Management endpoints: a service publishes its management beside its data, each under an API of its own, and a tool looks
 * up the one it needs in the record of any service.
 *
 *     example-management [--registry URL] PATH publish URI     put the management of the service at PATH into its record
 *     example-management [--registry URL] PATH show -          where is it?
 */
#include "common.h"

#define API "org.example.management"

static int publish(struct reg_blocking *registry, const char *path, const char *uri, struct err_info *why)
{
    struct reg_record *record = NULL;
    struct reg_endpoint rest;
    int err = reg_blocking_resolve(registry, path, &record, why);

    if (err)
        return err;
    if (reg_record_external(record, API)) {
        err = err_set(why, ERR_EXISTS, path, "its management is published already");
    } else {
        reg_endpoint_rest(&rest, API, (const char *[]){uri, NULL});
        reg_record_add_external(record, &rest, NULL);
        err = reg_blocking_bind(registry, path, record, REG_OVERWRITE, NULL, why);
    }
    reg_record_free(record);
    return err;
}

static int show(struct reg_blocking *registry, const char *path, struct err_info *why)
{
    struct reg_record *record = NULL;
    int err = reg_blocking_resolve(registry, path, &record, why);
    const struct reg_endpoint *rest = err ? NULL : reg_record_external(record, API);

    if (rest && rest->n_addresses)
        printf("%s\n", reg_address_get(&rest->addresses[0], "uri"));
    else if (!err)
        err = err_set(why, ERR_NOTFOUND, path, "this service has no management");
    reg_record_free(record);
    return err;
}

static int run(struct reg_blocking *registry, char **operands, struct err_info *why)
{
    if (strcmp(operands[1], "publish") == 0)
        return publish(registry, operands[0], operands[2], why);
    return show(registry, operands[0], why);
}

int main(int argc, char **argv)
{
    const struct example example = {.usage = "PATH publish|show URI", .n_operands = 3, .run = run};

    return example_main(&example, argc, argv);
}
