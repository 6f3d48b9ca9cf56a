/** The manual page of `bobbin`, derived from the tables of commands, options and keys: see cli.h. Source: man-pages(7). */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/obj.h"
#include "commands.h"
#include "options.h"
#include "run/manual.h"

struct item {
    const char *name, *text;
};

static const struct item groups[] = {
#define GROUP_ROW(name, text) {name, text},
    CLI_GROUPS(GROUP_ROW)
#undef GROUP_ROW
};

static const struct opt_def keys[] = {OPTIONS_ROWS(CLI_KEYS)};

static const struct item environment[] = {
    {"HADOOP_CONF_DIR",
     "Directory of core-site.xml, hdfs-site.xml and yarn-site.xml when --config is not given."},
    {"HADOOP_USER_NAME", "User to act as when --user is not given."},
    {"BOBBIN_ACCESSOR", "Write accessor, ID:PASSWORD, when --accessor is not given."},
};

static const char *const examples[] = {
    "bobbin dev",
    "bobbin registry watch /users/alice -o json",
    "bobbin registry bind /users/alice/services/web/shop --parents --api http:// --webui "
    "http://10.0.0.5:8080/ "
    "--attr yarn:persistence=permanent --sync http://127.0.0.1:9193",
    "bobbin registry -o hadoop resolve /users/alice/services/web/shop",
    "bobbin app launch hello-world.json && bobbin app logs -f hello-world",
    "bobbin slider create demo --resources resources.json --template appConfig.json --wait",
    "bobbin dns explain hello-0.hello-world.alice.cluster.example",
};

/** A tag in bold, then its text. */
static void add_entry(struct buf *out, const char *tag, const char *text)
{
    buf_add_str(out, ".TP\n.B ");
    manual_text(out, tag);
    buf_add_char(out, '\n');
    manual_text(out, text);
    buf_add_char(out, '\n');
}

static void add_items(struct buf *out, const struct item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_entry(out, items[i].name, items[i].text);
}

/** Long names of the options of a command, as a sentence. */
static void add_option_names(struct buf *out, const struct cli_command *c)
{
    const char *before = "Options: ";

    for (unsigned id = 0; id < N_CLI_OPTIONS; id++) {
        if (!(c->options & CLI_BIT(id)))
            continue;
        manual_text(out, before);
        manual_text(out, "--");
        manual_text(out, cli_options[id].name);
        before = ", ";
    }
    if (before[0] == ',')
        buf_add_str(out, ".\n");
}

static void add_command(struct buf *out, const struct cli_command *c)
{
    buf_auto struct buf tag = BUF_EMPTY;

    buf_addf(&tag, "bobbin %s%s%s%s%s", c->group, c->verb[0] ? " " : "", c->verb, c->operands[0] ? " " : "",
             c->operands);
    add_entry(out, buf_cstr(&tag), c->summary);
    if (c->details[0]) {
        manual_text(out, c->details);
        buf_add_char(out, '\n');
    }
    add_option_names(out, c);
}

static void add_option(struct buf *out, const struct cli_option_def *def)
{
    buf_auto struct buf tag = BUF_EMPTY;

    if (def->letter)
        buf_addf(&tag, "-%c, ", def->letter);
    buf_addf(&tag, "--%s%s%s", def->name, def->n_values ? " " : "", def->placeholder);
    add_entry(out, buf_cstr(&tag), def->prose);
}

static void add_examples(struct buf *out)
{
    buf_add_str(out, ".SH EXAMPLES\n.nf\n");
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        manual_text(out, examples[i]);
        buf_add_char(out, '\n');
    }
    buf_add_str(out, ".fi\n");
}

static void add_head(struct buf *out)
{
    buf_addf(out, ".TH BOBBIN 1 \"\" \"bobbin %s\"\n", BOBBIN_VERSION);
    buf_add_str(out,
                ".SH NAME\nbobbin \\- the YARN service registry, services and DNS from the command line\n"
                ".SH SYNOPSIS\n.B bobbin\n.I COMMAND\n.RI [ OPTION ]...\n.RI [ OPERAND ]...\n.br\n"
                ".B bobbin help\n.SH DESCRIPTION\n");
    manual_text(
        out,
        "bobbin COMMAND --help lists the options of a command. Options may stand anywhere after the command, "
        "with one or two hyphens. An error is one line on standard error, with its remedy in parentheses.");
    buf_add_char(out, '\n');
}

void manual_print_keys(void)
{
    buf_auto struct buf out = BUF_EMPTY;

    options_show(keys, ARRAY_LEN(keys), &out);
    fputs(buf_cstr(&out), stdout);
}

void manual_print(const struct cli_command *commands, size_t n)
{
    buf_auto struct buf out = BUF_EMPTY;

    add_head(&out);
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        buf_addf(&out, ".SH COMMANDS: %s\n", groups[g].name);
        manual_text(&out, groups[g].text);
        buf_add_char(&out, '\n');
        for (size_t i = 0; i < n; i++) {
            if (strcmp(commands[i].group, groups[g].name) == 0)
                add_command(&out, &commands[i]);
        }
    }
    buf_add_str(&out, ".SH OPTIONS\n");
    for (size_t i = 0; i < N_CLI_OPTIONS; i++)
        add_option(&out, &cli_options[i]);
    buf_add_str(&out, ".SH CONFIGURATION\n");
    manual_text(&out, "Keys of core-site.xml, hdfs-site.xml and yarn-site.xml that bobbin reads.");
    buf_add_char(&out, '\n');
    manual_keys(keys, ARRAY_LEN(keys), &out);
    buf_add_str(&out, ".SH ENVIRONMENT\n");
    add_items(&out, environment, ARRAY_LEN(environment));
    manual_exit_codes(&out);
    add_examples(&out);
    fputs(buf_cstr(&out), stdout);
}
