/** See accessor.h. */
#include "kit/accessor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "kit/input.h"
#include "kit/options.h"

int accessor_secret(const char *option, const char *text, char **out, struct err_info *why)
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

int accessor_find(const struct cli *cli, char **out, struct err_info *why)
{
    const char *given = cli_value(cli, CLI_ACCESSOR);
    const char *set = getenv("BOBBIN_ACCESSOR");

    *out = NULL;
    if (!(cli->command->options & CLI_BIT(CLI_ACCESSOR)))
        return 0;
    if (given)
        return accessor_secret("--accessor", given, out, why);
    if (!set || !*set)
        return configured_pair(cli->options, out, why);
    *out = mem_str(set);
    return 0;
}
