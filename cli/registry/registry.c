/** See registry.h. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/accessor.h"
#include "kit/options.h"
#include "kit/out.h"
#include "kit/wait.h"

#define SYNC_MARGIN_MS 2000

int registry_options(const struct cli *cli, struct reg_options *out, struct err_info *why)
{
    const char *url = cli_value(cli, CLI_URL);

    *out = (struct reg_options){.url = url ? url : opt_text(cli->options, KEY_REGISTRY_URL),
                                .user = cli->user,
                                .password = cli->password,
                                .ca_file = cli_value(cli, CLI_CA_FILE)};
    if (cli->registry_url)
        out->url = cli->registry_url;
    return cli_timeout_ms(cli, 0, &out->timeout_ms, why);
}

int registry_open(const struct cli *cli, struct reg_blocking **out, struct err_info *why)
{
    struct reg_options options;
    mem_auto char *accessor = NULL;
    int err = registry_options(cli, &options, why);

    *out = NULL;
    err = err ? err : accessor_find(cli, &accessor, why);
    options.accessor = accessor;
    return err ? err : reg_blocking_open(&options, out, why);
}

json_t *registry_record_json(const struct reg_record *record)
{
    size_t len;
    mem_auto char *bytes = reg_record_write(record, &len);
    json_t *value = NULL;

    BUG_IF(json_read(bytes, len, &value, NULL) != 0);
    return value;
}

/** Wait until dnsd answers with a revision. */
static int sync_dns(const struct cli *cli, const char *dns_url, const char *revision, struct err_info *why)
{
    struct wait wait;
    struct wait_answer answer;
    int64_t limit_ms;
    int err = cli_timeout_ms(cli, 10000, &limit_ms, why);

    if (err)
        return err;
    int slashes = str_ends(dns_url, "/") ? 1 : 0;
    mem_auto char *url = mem_fmt("%.*s/sync?revision=%s&timeout=%lldms", (int)strlen(dns_url) - slashes,
                                 dns_url, revision, (long long)limit_ms);
    wait_open(&wait);
    err = wait_get(&wait, &(struct wire_asked){.url = url, .program = "dnsd"}, limit_ms + SYNC_MARGIN_MS,
                   &answer, why);
    wait_answer_fini(&answer);
    wait_close(&wait);
    return err;
}

int registry_changed(const struct cli *cli, const char *verb, const char *path, const char *revision,
                     struct err_info *why)
{
    const char *dns_url = cli_value(cli, CLI_SYNC);
    int err = dns_url ? sync_dns(cli, dns_url, revision, why) : 0;

    if (err)
        return err;
    if (cli->is_json) {
        json_auto json_t *v = json_pack("{s:s, s:s, s:s, s:b}", "change", verb, "path", path, "revision",
                                        revision, "synced", dns_url != NULL);
        out_json(v);
    } else {
        printf("%s %s revision=%s%s\n", verb, path, revision, dns_url ? " synced" : "");
    }
    return 0;
}
