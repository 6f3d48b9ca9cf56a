/** `bobbin app exec`: a command in the container of an instance, at this terminal or in a pipe. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/mem.h"
#include "kit/commands.h"
#include "kit/options.h"

static void add_text(struct buf *url, const char *name, const char *value)
{
    mem_auto char *quoted = services_quote(value);

    buf_addf(url, "&%s=%s", name, quoted);
}

static void add_terminal(struct buf *url)
{
    const char *term = getenv("TERM");
    unsigned short rows, columns;

    exec_terminal_size(&rows, &columns);
    buf_addf(url, "&tty=true&rows=%u&columns=%u", (unsigned)rows, (unsigned)columns);
    if (term && *term)
        add_text(url, "term", term);
}

static void write_url(const struct cli *cli, bool has_terminal, struct buf *url)
{
    mem_auto char *base = services_url(cli);
    mem_auto char *service = services_quote(cli->operands[0]);
    mem_auto char *instance = services_quote(cli->operands[1]);
    mem_auto char *user = services_quote(cli->user);

    buf_addf(url, "%s/app/v1/services/%s/component-instances/%s/exec?user.name=%s", base, service, instance,
             user);
    if (has_terminal)
        add_terminal(url);
    for (size_t i = 2; i < cli->n_operands; i++)
        add_text(url, "command", cli->operands[i]);
}

int app_exec(struct cli *cli, struct err_info *why)
{
    bool has_terminal = cli_has(cli, CLI_TTY) || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
    struct exec_relay relay = {.has_terminal = has_terminal,
                               .passes_input = has_terminal || cli_has(cli, CLI_INTERACTIVE)};
    buf_auto struct buf url = BUF_EMPTY;
    int code = 0;

    write_url(cli, has_terminal, &url);
    int err = exec_connect(buf_cstr(&url), &relay.fd, &relay.rest, why);
    if (err)
        return err;
    err = exec_relay_run(&relay, &code, why);
    close(relay.fd);
    if (err || !code)
        return err;
    cli->failure_code = code; /* Whatever it means: the command has said why itself. */
    cli->is_reported = true;
    return ERR_CANCELLED;
}
