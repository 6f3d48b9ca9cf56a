/** `bobbin registry renew`: one renewal of a lease whose key another command, or program, has printed. */
#include <stdio.h>

#include "base/mem.h"
#include "json/json.h"
#include "bobbin/path.h"
#include "kit/accessor.h"
#include "kit/commands.h"
#include "kit/out.h"
#include "registry.h"

static int open_lease(const struct cli *cli, struct reg_blocking **out, struct err_info *why)
{
    struct reg_options options;
    mem_auto char *key = NULL;
    int err = registry_options(cli, &options, why);

    if (!err)
        err = accessor_secret("KEY", cli->operands[0], &key, why);
    options.lease = key;
    return err ? err : reg_blocking_open(&options, out, why);
}

static void print_json(char **gone, int64_t ttl_ms)
{
    json_auto json_t *v = json_pack("{s:I, s:[]}", "ttl", (json_int_t)ttl_ms, "gone");

    for (; *gone; gone++)
        json_array_append_new(json_object_get(v, "gone"), json_string(*gone));
    out_json(v);
}

static void print_lines(char **gone, int64_t ttl_ms)
{
    if (ttl_ms)
        printf("renewed ttl=%lldms\n", (long long)ttl_ms);
    for (; *gone; gone++)
        printf("gone %s\n", *gone);
}

int registry_renew(struct cli *cli, struct err_info *why)
{
    struct reg_blocking *registry = NULL;
    char **gone = NULL;
    int64_t ttl_ms = 0;
    int err = open_lease(cli, &registry, why);

    if (!err)
        err = reg_blocking_keep_alive(registry, &gone, &ttl_ms, why);
    if (!err && cli->is_json)
        print_json(gone, ttl_ms);
    else if (!err)
        print_lines(gone, ttl_ms);
    if (!err && ttl_ms == 0)
        err =
            err_set(why, ERR_NOTFOUND, "lease", "no record of this lease is left: bind what is wanted anew");
    reg_path_split_free(gone);
    reg_blocking_close(registry);
    return err;
}
