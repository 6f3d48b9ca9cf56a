/** See access.h. */
#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit/accessor.h"

static int grant_one(struct reg_blocking *registry, const char *pair, bool *is_secure, struct err_info *why)
{
    const char *colon = strchr(pair, ':');

    if (!colon)
        return err_set(why, ERR_USAGE, "--grant", "Invalid id:password");
    mem_auto char *id = mem_strn(pair, (size_t)(colon - pair));
    return reg_blocking_add_write_accessor(registry, id, colon + 1, is_secure, why);
}

int registry_grant(const struct cli *cli, struct reg_blocking *registry, struct err_info *why)
{
    bool is_secure = true;
    int err = 0;

    for (size_t i = 0; i < cli->n_given && !err; i++) {
        mem_auto char *pair = NULL;
        if (cli->given[i].option != CLI_GRANT)
            continue;
        err = accessor_secret("--grant", cli->given[i].values[0], &pair, why);
        err = err ? err : grant_one(registry, pair, &is_secure, why);
    }
    if (!err && !is_secure)
        fprintf(stderr, "bobbin: the registry is not secure: everybody may write, --grant has no effect\n");
    return err;
}
