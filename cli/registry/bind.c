/** `bobbin registry bind`: the record comes from a file or standard input, or is made of the options. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "registry.h"
#include "access.h"

static int read_record(const char *name, struct reg_record **out, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int err = input_read(name, &bytes, why);

    if (err)
        return err;
    err = reg_record_read(buf_cstr(&bytes), bytes.len, REG_LENIENT, out, why);
    return err ? input_blame(name, err, why) : 0;
}

/** The n-th --api (from 0), or NULL. */
static const char *nth_api(const struct cli *cli, size_t n)
{
    for (size_t i = 0; i < cli->n_given; i++) {
        if (cli->given[i].option == CLI_API && n-- == 0)
            return cli->given[i].values[0];
    }
    return NULL;
}

static bool is_endpoint(enum cli_option option)
{
    return option == CLI_REST || option == CLI_WEBUI || option == CLI_INET || option == CLI_IPC;
}

static int make_endpoint(const struct cli_given *g, const char *api, struct reg_endpoint *out,
                         struct err_info *why)
{
    const char *const uris[] = {g->values[0], NULL};
    int64_t port = 0;
    bool has_port = g->option == CLI_INET || g->option == CLI_IPC;

    if (has_port && str_to_i64(g->values[1], 0, 65535, &port))
        return err_set(why, ERR_USAGE, cli_options[g->option].name, "\"%s\" is not a port", g->values[1]);
    switch (g->option) {
    case CLI_REST: reg_endpoint_rest(out, api, uris); break;
    case CLI_WEBUI: reg_endpoint_web(out, api, uris); break;
    case CLI_INET: reg_endpoint_inet(out, api, "tcp", g->values[0], (int)port); break;
    default: reg_endpoint_ipc(out, api, g->values[0], (int)port); break;
    }
    return 0;
}

static int add_endpoint(const struct cli *cli, size_t *n_endpoints, const struct cli_given *g,
                        struct reg_record *record, struct err_info *why)
{
    struct reg_endpoint e = {0};
    const char *api = nth_api(cli, *n_endpoints);

    if (!api)
        return err_set(why, ERR_USAGE, cli_options[g->option].name, "each endpoint needs an --api");
    ++*n_endpoints;
    int err = make_endpoint(g, api, &e, why);
    return err ? err : reg_record_add_external(record, &e, why);
}

static int add_attribute(struct reg_record *record, const char *text, struct err_info *why)
{
    const char *sign = strchr(text, '=');

    if (!sign || sign == text)
        return err_set(why, ERR_USAGE, "--attr", "\"%s\" is not KEY=VALUE", text);
    mem_auto char *key = mem_strn(text, (size_t)(sign - text));
    return reg_record_set(record, key, sign + 1, why);
}

/** Put what the options say on top of the record; *n_parts counts them. */
static int apply_options(const struct cli *cli, struct reg_record *record, size_t *n_parts,
                         struct err_info *why)
{
    size_t n_endpoints = 0;
    int err = 0;

    for (size_t i = 0; i < cli->n_given && !err; i++) {
        const struct cli_given *g = &cli->given[i];
        if (is_endpoint(g->option))
            err = add_endpoint(cli, &n_endpoints, g, record, why);
        else if (g->option == CLI_ATTR)
            err = add_attribute(record, g->values[0], why);
        else if (g->option == CLI_DESCRIPTION)
            reg_record_describe(record, g->values[0]);
        else
            continue;
        ++*n_parts;
    }
    if (!err && nth_api(cli, n_endpoints))
        err =
            err_set(why, ERR_USAGE, "--api", "belongs to no endpoint: add --rest, --webui, --inet or --ipc");
    return err;
}

/** The record that the command line describes. @param out  new also on error, or NULL [out] */
static int make_record(const struct cli *cli, struct reg_record **out, struct err_info *why)
{
    const char *file = cli->n_operands > 1 ? cli->operands[1] : NULL;
    size_t n_parts = 0;
    int err = 0;

    if (file)
        err = read_record(file, out, why);
    else
        *out = reg_record_new();
    if (!err)
        err = apply_options(cli, *out, &n_parts, why);
    if (!err && !file && !n_parts)
        err = err_set(why, ERR_USAGE, "bind",
                      "no record: name a FILE (- is standard input), or describe it by options");
    return err;
}

int registry_bind(struct cli *cli, struct err_info *why)
{
    const char *path = cli->operands[0];
    struct reg_blocking *registry = NULL;
    struct reg_record *record = NULL;
    char revision[REG_REVISION_MAX] = "";
    unsigned flags = (cli_has(cli, CLI_OVERWRITE) ? REG_OVERWRITE : 0u) |
                     (cli_has(cli, CLI_PARENTS) ? REG_CREATE_PARENTS : 0u);
    int err = make_record(cli, &record, why);

    if (!err)
        err = registry_open(cli, &registry, why);
    if (!err)
        err = registry_grant(cli, registry, why);
    if (!err)
        err = reg_blocking_bind(registry, path, record, flags, revision, why);
    if (!err)
        err = registry_changed(cli, "bound", path, revision, why);
    reg_record_free(record);
    reg_blocking_close(registry);
    return err;
}
