/** Help, derived from the tables of commands and options: see cli.h. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli.h"

#define COLUMN 34

static void print_row(const char *left, const char *prose)
{
    printf("  %-*s %s\n", COLUMN, left, prose);
}

static void print_option(const struct cli_option_def *def)
{
    buf_auto struct buf left = BUF_EMPTY;

    if (def->letter)
        buf_addf(&left, "-%c, ", def->letter);
    buf_addf(&left, "--%s%s%s", def->name, def->n_values ? " " : "", def->placeholder);
    print_row(buf_cstr(&left), def->prose);
}

static void print_usage(const struct cli_command *c)
{
    printf("usage: bobbin %s%s%s [OPTION]...%s%s\n", c->group, c->verb[0] ? " " : "", c->verb,
           c->operands[0] ? " " : "", c->operands);
}

static void print_common(void)
{
    static const enum cli_option common[] = {CLI_OUTPUT, CLI_CONFIG, CLI_SET, CLI_URL, CLI_USER, CLI_HELP};

    printf("\ncommon options:\n");
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        print_option(&cli_options[common[i]]);
}

void help_print_command(const struct cli_command *command)
{
    print_usage(command);
    printf("%s\n", command->summary);
    if (command->details[0])
        printf("\n%s\n", command->details);
    if (command->options)
        printf("\noptions:\n");
    for (unsigned id = 0; id < N_CLI_OPTIONS; id++) {
        if (command->options & CLI_BIT(id))
            print_option(&cli_options[id]);
    }
    print_common();
}

void help_print(const struct cli_command *commands, size_t n, const char *group)
{
    printf("usage: bobbin COMMAND [OPTION]... [OPERAND]...\n\n");
    for (size_t i = 0; i < n; i++) {
        const struct cli_command *c = &commands[i];
        buf_auto struct buf left = BUF_EMPTY;
        if (group && strcmp(group, c->group) != 0)
            continue;
        buf_addf(&left, "%s%s%s %s", c->group, c->verb[0] ? " " : "", c->verb, c->operands);
        print_row(buf_cstr(&left), c->summary);
    }
    print_common();
    printf("\nbobbin COMMAND --help describes a command.\n");
}
