/** See outage.h. */
#include "outage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "options.h"
#include "wait.h"

#define ASK_MS 2000

/** What /readyz says is missing, on one line. free(); or NULL: nothing, or there is no such answer. */
static char *missing_at(struct wait *wait, const char *server)
{
    mem_auto char *url = mem_fmt("%s/readyz", server);
    const struct http_call_def def = {.url = url, .timeout_ms = ASK_MS};
    const struct wire_asked asked = {.url = url, .program = "registryd"};
    struct wait_answer answer;
    struct err_info said = {0};
    char *text = NULL;

    if (wait_http(wait, &def, &answer, &said) == 0 && answer.status == 200) {
        const char *rest = strchr(buf_cstr(&answer.body), '\n');
        text = rest && rest[1] ? mem_strn(rest + 1, strcspn(rest + 1, "\n")) : NULL;
    } else if (!said.code) {
        wire_read_problem(answer.status, buf_cstr(&answer.body), answer.body.len, &asked, &said);
        text = mem_str(said.text);
    }
    wait_answer_fini(&answer);
    return text;
}

void outage_explain(const struct cli *cli, struct err_info *why)
{
    const char *url = cli_value(cli, CLI_URL);
    mem_auto char *server = str_field(url ? url : opt_text(cli->options, KEY_REGISTRY_URL), ',', 0);
    size_t len = server ? strlen(server) : 0;
    struct err_info timed_out = *why;
    struct wait wait;

    if (!len)
        return;
    server[len - (server[len - 1] == '/')] = 0;
    wait_open(&wait);
    mem_auto char *missing = missing_at(&wait, server);
    wait_close(&wait);
    if (missing)
        err_set(why, timed_out.code, timed_out.where, "%s; %s", timed_out.text, missing);
}
