/** See admin.h. */
#include "admin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/options.h"
#include "registry.h"
#include "registry/wire.h"
#include "kit/services.h"

/** Longest time without a byte from the server. */
#define IDLE_MS 120000

char *registry_admin_url(const struct cli *cli, size_t n, const char *call)
{
    const char *url = cli_value(cli, CLI_URL);
    mem_auto char *base = str_field(url ? url : opt_text(cli->options, KEY_REGISTRY_URL), ',', n);
    mem_auto char *user = services_quote(cli->user);

    if (!base || !base[0])
        return NULL;
    int slashes = str_ends(base, "/") ? 1 : 0;
    return mem_fmt("%.*s/ws/v1/registry-admin/%s%cuser.name=%s", (int)strlen(base) - slashes, base, call,
                   strchr(call, '?') ? '&' : '?', user);
}

static int post_to(struct wait *wait, const char *url, const struct buf *body, json_t **out,
                   struct err_info *why)
{
    const struct http_call_def def = {
        .method = "POST", .url = url, .body = body->bytes, .body_len = body->len, .idle_timeout_ms = IDLE_MS};
    const struct wire_asked asked = {.url = url, .program = "registryd"};
    struct wait_answer answer;
    int err = wait_http(wait, &def, &answer, why);

    if (!err && answer.status / 100 != 2)
        err = wire_read_problem(answer.status, buf_cstr(&answer.body), answer.body.len, &asked, why);
    else if (!err && json_read(answer.body.bytes, answer.body.len, out, why))
        err = wire_not_readable(&asked, why);
    wait_answer_fini(&answer);
    return err;
}

int registry_admin_post(const struct cli *cli, struct wait *wait, const char *call, const struct buf *body,
                        json_t **out, struct err_info *why)
{
    int err = ERR_UNAVAILABLE;

    for (size_t i = 0; err == ERR_UNAVAILABLE; i++) {
        mem_auto char *url = registry_admin_url(cli, i, call);
        if (!url)
            return i ? err : err_set(why, ERR_INVALID, "hadoop.registry.url", "names no server");
        err = post_to(wait, url, body, out, why);
    }
    return err;
}
