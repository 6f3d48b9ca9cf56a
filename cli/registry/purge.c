/** `bobbin registry purge`: the records of an application, attempt or container that has ended. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry.h"

/** --persistence, else what the kind of the id says. */
static int read_persistence(const struct cli *cli, const char *id, const char **out, struct err_info *why)
{
    static const struct {
        const char *prefix, *persistence;
    } kinds[] = {
        {"application_", "application"}, {"appattempt_", "application-attempt"}, {"container_", "container"}};

    *out = cli_value(cli, CLI_PERSISTENCE);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && !*out; i++)
        if (str_starts(id, kinds[i].prefix))
            *out = kinds[i].persistence;
    if (*out)
        return 0;
    return err_set(why, ERR_USAGE, "--persistence",
                   "\"%s\" is not a YARN id: --persistence must name the yarn:persistence of its records",
                   id);
}

static int read_policy(const struct cli *cli, enum reg_purge_policy *out, struct err_info *why)
{
    static const char *const words[] = {
        [REG_PURGE_ALL] = "all", [REG_PURGE_FAIL] = "fail", [REG_PURGE_SKIP] = "skip"};
    const char *given = cli_value(cli, CLI_CHILDREN);

    *out = REG_PURGE_ALL;
    for (size_t i = 0; given && i < ARRAY_LEN(words); i++) {
        if (strcmp(given, words[i]) == 0) {
            *out = (enum reg_purge_policy)i;
            return 0;
        }
    }
    return given ? err_set(why, ERR_USAGE, "--children", "is all, fail or skip, not \"%s\"", given) : 0;
}

static void print_purged(const struct cli *cli, const struct reg_found *found, size_t n, bool is_dry)
{
    json_auto json_t *paths = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(paths, json_string(found[i].path));
        if (!cli->is_json)
            printf("%s %s\n", is_dry ? "would delete" : "deleted", found[i].path);
    }
    if (!cli->is_json)
        return;
    json_auto json_t *v =
        json_pack("{s:I, s:b, s:O}", "count", (json_int_t)n, "dryRun", is_dry, "deleted", paths);
    out_json(v);
}

int registry_purge(struct cli *cli, struct err_info *why)
{
    struct reg_purge what = {.id = cli->operands[0],
                             .path = cli->n_operands > 1 ? cli->operands[1] : NULL,
                             .dry_run = cli_has(cli, CLI_DRY_RUN)};
    struct reg_blocking *registry = NULL;
    struct reg_found *found = NULL;
    size_t n = 0;
    int err = read_persistence(cli, what.id, &what.persistence, why);

    err = err ? err : read_policy(cli, &what.policy, why);
    err = err ? err : registry_open(cli, &registry, why);
    err = err ? err : reg_blocking_purge(registry, &what, &found, &n, why);
    if (!err)
        print_purged(cli, found, n, what.dry_run);
    reg_found_free(found, n);
    reg_blocking_close(registry);
    return err;
}
