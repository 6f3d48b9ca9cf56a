/** See access.h. */
#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/input.h"
#include "kit/options.h"

int registry_secret(const char *option, const char *text, char **out, struct err_info *why)
{
    if (text[0] == '@')
        return input_read_line(text + 1, option, out, why);
    *out = mem_str(text);
    return 0;
}

/** What Hadoop's clients authenticate with. As there it has no effect unless the registry is said to be secure. */
static int configured_pair(const struct options *o, char **out, struct err_info *why)
{
    static const struct {
        int row;
        const char *key;
    } needed[] = {{KEY_AUTH_ID, "hadoop.registry.client.auth.id"},
                  {KEY_AUTH_PASSWORD, "hadoop.registry.client.auth.password"}};
    const char *kind = opt_text(o, KEY_AUTH);

    if (!opt_bool(o, KEY_SECURE) || !kind || strcmp(kind, "digest") != 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        const char *value = opt_text(o, needed[i].row);
        if (!value || !value[0])
            return err_set(why, ERR_CONFIG, needed[i].key, "Missing value for configuration option %s",
                           needed[i].key);
    }
    *out = mem_fmt("%s:%s", opt_text(o, KEY_AUTH_ID), opt_text(o, KEY_AUTH_PASSWORD));
    return 0;
}

int registry_accessor(const struct cli *cli, char **out, struct err_info *why)
{
    const char *given = cli_value(cli, CLI_ACCESSOR);
    const char *set = getenv("BOBBIN_ACCESSOR");

    *out = NULL;
    if (!(cli->command->options & CLI_BIT(CLI_ACCESSOR)))
        return 0;
    if (given)
        return registry_secret("--accessor", given, out, why);
    if (!set || !*set)
        return configured_pair(cli->options, out, why);
    *out = mem_str(set);
    return 0;
}

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
        err = registry_secret("--grant", cli->given[i].values[0], &pair, why);
        err = err ? err : grant_one(registry, pair, &is_secure, why);
    }
    if (!err && !is_secure)
        fprintf(stderr, "bobbin: the registry is not secure: everybody may write, --grant has no effect\n");
    return err;
}
