/** The rows of bash completion of `bobbin`, derived from the tables of commands, options and keys: see cli.h, run/completion.h. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli.h"
#include "options.h"
#include "run/completion.h"

static const struct opt_def keys[] = {OPTIONS_ROWS(CLI_KEYS)};

/** --name and -l of the options in a set, for the words of a place. */
static void add_options(struct buf *words, uint64_t set)
{
    for (unsigned id = 0; id < N_CLI_OPTIONS; id++)
        if (set & CLI_BIT(id))
            buf_addf(words, " --%s", cli_options[id].name);
}

/** What follows an option; nothing for a switch. */
static void add_values(struct buf *out, enum cli_option id)
{
    const struct cli_option_def *def = &cli_options[id];
    buf_auto struct buf kind = BUF_EMPTY;
    mem_auto char *name = mem_fmt("bobbin --%s", def->name), *letter = mem_fmt("bobbin -%c", def->letter);

    if (!def->n_values)
        return;
    if (id == CLI_SET)
        buf_add_str(&kind, "<key>");
    else if (def->n_values == 2)
        buf_add_str(&kind, "<any2>");
    else
        completion_kind(def->placeholder, &kind);
    completion_row(out, "values", name, buf_cstr(&kind));
    if (def->letter)
        completion_row(out, "values", letter, buf_cstr(&kind));
}

static void add_operands(struct buf *out, const struct cli_command *c, const char *place)
{
    buf_auto struct buf kinds = BUF_EMPTY;

    for (size_t i = 0;; i++) {
        mem_auto char *operand = str_field(c->operands, ' ', i);
        if (!operand || !operand[0])
            break;
        buf_add_char(&kinds, ' ');
        completion_kind(operand, &kinds);
    }
    if (kinds.len)
        completion_row(out, "operands", place, buf_cstr(&kinds));
}

static void add_command(struct buf *out, const struct cli_command *c)
{
    buf_auto struct buf words = BUF_EMPTY;
    mem_auto char *place = mem_fmt("bobbin %s%s%s", c->group, c->verb[0] ? " " : "", c->verb);

    add_options(&words, c->options | CLI_COMMON);
    completion_row(out, "words", place, buf_cstr(&words));
    add_operands(out, c, place);
}

/** The verbs of a group; of one with two words (`-o hadoop`) the second stands at a place of its own. */
static void add_group(struct buf *out, const struct cli_command *commands, size_t n, const char *group)
{
    buf_auto struct buf verbs = BUF_EMPTY;
    mem_auto char *place = mem_fmt("bobbin %s", group);

    for (size_t i = 0; i < n; i++) {
        const char *verb = commands[i].verb, *second = strchr(verb, ' ');
        if (strcmp(commands[i].group, group) != 0 || !verb[0])
            continue;
        buf_addf(&verbs, " %.*s", (int)strcspn(verb, " "), verb);
        mem_auto char *between = mem_fmt("%s %.*s", place, (int)strcspn(verb, " "), verb);
        if (second)
            completion_row(out, "words", between, second);
    }
    if (verbs.len)
        completion_row(out, "words", place, buf_cstr(&verbs));
}

void completion_print(const struct cli_command *commands, size_t n)
{
    buf_auto struct buf out = BUF_EMPTY, groups = BUF_EMPTY;

    for (size_t i = 0; i < n; i++) {
        bool is_first = !i || strcmp(commands[i].group, commands[i - 1].group) != 0;
        if (is_first) {
            buf_addf(&groups, "%s ", commands[i].group);
            add_group(&out, commands, n, commands[i].group);
        }
        add_command(&out, &commands[i]);
    }
    buf_add_str(&groups, "help --help --version");
    completion_row(&out, "words", "bobbin", buf_cstr(&groups));
    for (unsigned id = 0; id < N_CLI_OPTIONS; id++)
        add_values(&out, id);
    completion_keys(&out, "bobbin", keys, ARRAY_LEN(keys));
    completion_end(&out, "bobbin");
    fputs(buf_cstr(&out), stdout);
}
