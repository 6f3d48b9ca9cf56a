/** `bobbin registry bind`: the record comes from a file or standard input, or is made of the options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/input.h"
#include "kit/out.h"
#include "kit/wait.h"
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

/* ---- leases ---- */

/** Renewals in one TTL. */
enum { RENEWALS = 3 };

/** --ttl in ms; 0: without a lease. */
static int read_ttl(const struct cli *cli, int64_t *ttl_ms, struct err_info *why)
{
    const char *text = cli_value(cli, CLI_LEASE);

    *ttl_ms = 0;
    if (!text && cli_has(cli, CLI_KEEP_ALIVE))
        return err_set(why, ERR_USAGE, "--keep-alive", "there is nothing to renew without --ttl");
    if (!text || (!str_to_ms(text, 1000, ttl_ms) && *ttl_ms > 0))
        return 0;
    return err_set(why, ERR_USAGE, "--ttl", "\"%s\" is not a duration; write 500ms, 10s or 2m", text);
}

/** Print a trouble when it is another than before. */
static void warn(const struct err_info *trouble, struct err_info *said)
{
    if (strcmp(trouble->text, said->text) != 0)
        fprintf(stderr, "bobbin: %s: %s (trying again)\n", trouble->where, trouble->text);
    *said = *trouble;
}

/** One renewal. @return 0, also for a registry that is away; ERR_NOTFOUND: the record is not ours any more. */
static int renew(const struct cli *cli, struct reg_blocking *registry, struct err_info *said,
                 struct err_info *why)
{
    const char *path = cli->operands[0];
    struct err_info trouble = {0};
    char **gone = NULL;
    int err = reg_blocking_keep_alive(registry, &gone, NULL, &trouble);
    bool is_gone = err == ERR_NOTFOUND || (!err && gone[0]);

    if (!err)
        *said = (struct err_info){0};
    else if (!is_gone)
        warn(&trouble, said);
    reg_path_split_free(gone);
    return is_gone ? err_set(why, ERR_NOTFOUND, path,
                             "the record is gone, or somebody else's, and is not renewed any more")
                   : 0;
}

static int keep_alive(const struct cli *cli, struct reg_blocking *registry, int64_t ttl_ms,
                      struct err_info *why)
{
    struct wait wait;
    struct err_info said = {0};
    int err = 0;

    fflush(stdout);
    wait_open(&wait);
    while (!err && !wait_ms(&wait, ttl_ms / RENEWALS))
        err = renew(cli, registry, &said, why);
    wait_close(&wait);
    return err;
}

/** Who renews needs the key. */
static void print_lease(const struct cli *cli, const char *key, int64_t ttl_ms)
{
    if (cli->is_json) {
        json_auto json_t *v = json_pack("{s:s, s:I}", "lease", key, "ttl", (json_int_t)ttl_ms);
        out_json(v);
    } else {
        printf("lease %s ttl=%s\n", key, cli_value(cli, CLI_LEASE));
    }
}

static int bind_record(const struct cli *cli, struct reg_blocking *registry, const struct reg_record *record,
                       int64_t ttl_ms, struct err_info *why)
{
    const char *path = cli->operands[0];
    char revision[REG_REVISION_MAX] = "";
    unsigned flags = (cli_has(cli, CLI_OVERWRITE) ? REG_OVERWRITE : 0u) |
                     (cli_has(cli, CLI_PARENTS) ? REG_CREATE_PARENTS : 0u);
    int err = ttl_ms ? reg_blocking_bind_leased(registry, path, record, flags, ttl_ms, revision, why)
                     : reg_blocking_bind(registry, path, record, flags, revision, why);

    if (!err)
        err = registry_changed(cli, "bound", path, revision, why);
    if (!err && ttl_ms && !cli_has(cli, CLI_KEEP_ALIVE))
        print_lease(cli, reg_blocking_lease(registry), ttl_ms);
    return err;
}

/** Hadoop takes a record that does not say how long it stays; a word that nobody knows is a slip.
 *  @param doubt  code 0: there is none; else what to warn of [out] */
static int check_persistence(const struct reg_record *record, struct err_info *doubt, struct err_info *why)
{
    *doubt = (struct err_info){0};
    if (reg_record_check_persistence(record, doubt) == ERR_INVALID)
        return err_set(why, ERR_USAGE, doubt->where, "%s", doubt->text);
    return 0;
}

int registry_bind(struct cli *cli, struct err_info *why)
{
    struct reg_blocking *registry = NULL;
    struct reg_record *record = NULL;
    struct err_info doubt;
    int64_t ttl_ms;
    int err = read_ttl(cli, &ttl_ms, why);

    if (!err)
        err = make_record(cli, &record, why);
    if (!err)
        err = check_persistence(record, &doubt, why);
    if (!err)
        err = registry_open(cli, &registry, why);
    if (!err)
        err = registry_grant(cli, registry, why);
    if (!err)
        err = bind_record(cli, registry, record, ttl_ms, why);
    if (!err && doubt.code)
        fprintf(stderr, "bobbin: warning: %s\n", doubt.text);
    if (!err && cli_has(cli, CLI_KEEP_ALIVE))
        err = keep_alive(cli, registry, ttl_ms, why);
    reg_record_free(record);
    reg_blocking_close(registry);
    return err;
}
