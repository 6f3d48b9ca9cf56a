/** Reading a command line against a row of the command table: see cli.h. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "input.h"
#include "keys/keys.h"
#include "options.h"

const struct cli_option_def cli_options[N_CLI_OPTIONS] = {
#define CLI_OPTION_ROW(id, name, letter, n_values, placeholder, prose)                                       \
    [id] = {name, letter, n_values, placeholder, prose},
    CLI_OPTIONS(CLI_OPTION_ROW)
#undef CLI_OPTION_ROW
};

_Static_assert(N_CLI_OPTIONS <= 62, "options and the flags of a command share 64 bits");

static const struct opt_def key_rows[] = {OPTIONS_ROWS(CLI_KEYS)};

/** The words that are left to read. */
struct words {
    char **at;
    size_t n;
};

static const char *next_word(struct words *w)
{
    if (!w->n)
        return NULL;
    w->n--;
    return *w->at++;
}

/** The option that a word names; *inside: the value in the same word, or NULL. N_CLI_OPTIONS: none. */
static enum cli_option find_option(const struct cli_command *command, const char *word, const char **inside)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");

    for (unsigned id = 0; id < N_CLI_OPTIONS; id++) {
        const struct cli_option_def *def = &cli_options[id];
        if (!((command->options | CLI_COMMON) & CLI_BIT(id)))
            continue;
        *inside = name[len] ? name + len + 1 : NULL;
        if (strlen(def->name) == len && strncmp(def->name, name, len) == 0)
            return id;
        bool is_letter = word[1] != '-' && def->letter && word[1] == def->letter;
        *inside = name[0] && name[1] ? name + 1 : NULL;
        if (is_letter && (def->n_values == 1 || !*inside))
            return id;
    }
    return N_CLI_OPTIONS;
}

/** No option of the command is called so. */
static int refuse_option(const struct cli_command *command, const char *word, struct err_info *why)
{
    mem_auto char *name = mem_strn(word, strcspn(word, "="));
    struct nearest n = nearest_to(name + strspn(name, "-"));

    for (unsigned id = 0; id < N_CLI_OPTIONS; id++)
        if ((command->options | CLI_COMMON) & CLI_BIT(id))
            nearest_offer(&n, cli_options[id].name);
    return err_set(why, ERR_USAGE, word, "no such option%s%s%s (bobbin %s %s --help lists them)",
                   n.name ? ", did you mean \"--" : "", n.name ? n.name : "", n.name ? "\"?" : "",
                   command->group, command->verb);
}

/** Several letters in one word, each an option without a value: "-it". @return whether all are */
static bool read_letters(struct cli *cli, const char *word)
{
    size_t n = cli->n_given, n_letters = strlen(word) - 1;

    for (size_t i = 1; word[1] != '-' && n_letters > 1 && i <= n_letters; i++) {
        const char letter[] = {'-', word[i], '\0'}, *inside;
        enum cli_option id = find_option(cli->command, letter, &inside);
        if (id == N_CLI_OPTIONS || cli_options[id].n_values || cli_options[id].letter != word[i])
            return false;
        cli->given[n++] = (struct cli_given){.option = id};
    }
    bool are_all = n == cli->n_given + n_letters;
    if (are_all)
        cli->n_given = n;
    return are_all;
}

static int read_option(struct cli *cli, const char *word, struct words *w, struct err_info *why)
{
    const char *inside = NULL;
    struct cli_given given = {.option = find_option(cli->command, word, &inside)};

    if (given.option == N_CLI_OPTIONS && read_letters(cli, word))
        return 0;
    if (given.option == N_CLI_OPTIONS)
        return refuse_option(cli->command, word, why);
    const struct cli_option_def *def = &cli_options[given.option];
    if (inside && def->n_values != 1)
        return err_set(why, ERR_USAGE, word, "takes %s", def->n_values ? "two words" : "no value");
    for (int i = 0; i < def->n_values; i++) {
        given.values[i] = inside ? inside : next_word(w);
        if (!given.values[i])
            return err_set(why, ERR_USAGE, word, "needs %s", def->placeholder);
    }
    cli->given[cli->n_given++] = given;
    return 0;
}

/** All that is left is operands. */
static void take_rest(struct cli *cli, struct words *w)
{
    const char *word;

    while ((word = next_word(w)))
        cli->operands[cli->n_operands++] = word;
}

/** The last operand is the begin of words that are not ours. */
static bool ends_options(const struct cli *cli)
{
    const struct cli_command *c = cli->command;

    return c->options & CLI_RAW || (c->options & CLI_COMMAND_LAST && cli->n_operands > c->min_operands);
}

static int read_words(struct cli *cli, struct words *w, struct err_info *why)
{
    bool is_option = true;
    const char *word;

    while ((word = next_word(w))) {
        if (is_option && strcmp(word, "--") == 0) {
            is_option = false;
            continue;
        }
        if (!is_option || word[0] != '-' || !word[1]) {
            cli->operands[cli->n_operands++] = word;
            if (ends_options(cli))
                take_rest(cli, w);
            continue;
        }
        int err = read_option(cli, word, w, why);
        if (err)
            return err;
    }
    return 0;
}

static int check_operands(const struct cli *cli, struct err_info *why)
{
    const struct cli_command *c = cli->command;

    if (cli->n_operands >= c->min_operands && cli->n_operands <= c->max_operands)
        return 0;
    return err_set(why, ERR_USAGE, c->verb[0] ? c->verb : c->group,
                   "%s; usage: bobbin %s%s%s [OPTION]...%s%s",
                   cli->n_operands < c->min_operands ? "an operand is missing" : "too many operands",
                   c->group, c->verb[0] ? " " : "", c->verb, c->operands[0] ? " " : "", c->operands);
}

static int read_output(struct cli *cli, struct err_info *why)
{
    const char *form = cli_value(cli, CLI_OUTPUT);

    if (cli->command->options & CLI_RAW) {
        if (form && strcmp(form, cli->command->verb + strlen("-o ")) == 0)
            return 0;
        return err_set(why, ERR_USAGE, cli->command->group,
                       "options come after the command's name; only %s may come before it",
                       cli->command->verb);
    }
    cli->is_json = form && strcmp(form, "json") == 0;
    if (form && !cli->is_json && strcmp(form, "table") != 0)
        return err_set(why, ERR_USAGE, "-o", "the form is table or json, not \"%s\"", form);
    return 0;
}

static int read_configuration(struct cli *cli, struct err_info *why)
{
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_START);
    size_t n_sets = 0;
    bool is_dev = strcmp(cli->command->group, "dev") == 0;

    for (size_t i = 0; i < cli->n_given; i++) {
        if (cli->given[i].option == CLI_SET)
            cli->sets[n_sets++] = cli->given[i].values[0];
    }
    cli->config_dir = cli_value(cli, CLI_CONFIG);
    if (!cli->config_dir && !is_dev)
        cli->config_dir = getenv("HADOOP_CONF_DIR");
    if (cli->config_dir && !cli->config_dir[0])
        cli->config_dir = NULL;
    cli->options = options_load(key_rows, N_CLI_KEYS, cli->config_dir, cli->sets, &report);
    known_check(cli->options, keys_known, false, &report); /* what files have is warned of by the daemons */
    mem_auto char *first = mem_strn(report.errors.bytes, strcspn(buf_cstr(&report.errors), "\n"));
    bool is_fine = !report.errors.len;
    opt_report_fini(&report);
    return is_fine ? 0 : err_set(why, ERR_CONFIG, "configuration", "%s", first);
}

/** The password of --password-file, and where the registry is behind the gateway that asks for it. */
static int read_login(struct cli *cli, struct err_info *why)
{
    const char *file = cli_value(cli, CLI_PASSWORD_FILE), *url = cli_value(cli, CLI_URL);

    if (!file && cli_has(cli, CLI_CA_FILE))
        return err_set(why, ERR_USAGE, "--ca-file", "--ca-file goes with --password-file");
    if (!file)
        return 0;
    if (!url || !str_starts(url, "https://") || strchr(url, ','))
        return err_set(why, ERR_USAGE, "--password-file",
                       "a password is sent to one https:// URL, that of a gateway: name it with --url, as "
                       "https://HOST:8443/gateway/TOPOLOGY/bobbin");
    cli->registry_url = mem_fmt("%.*s/registry", (int)(strlen(url) - str_ends(url, "/")), url);
    return input_read_line(file, "--password-file", &cli->password, why);
}

int cli_read(struct cli *cli, const struct cli_command *command, char **words, size_t n, struct err_info *why)
{
    struct words left = {words, n};

    *cli = (struct cli){.command = command};
    obj_init(&cli->obj, CLI_MAGIC);
    size_t n_given = n + 1;
    for (size_t i = 0; i < n; i++)
        n_given += strlen(words[i]); /* Each letter of a word may be one. */
    cli->given = mem_array(n_given, sizeof *cli->given);
    cli->operands = mem_array(n + 1, sizeof *cli->operands);
    cli->sets = mem_array(n + 1, sizeof *cli->sets);
    int err = read_words(cli, &left, why);
    if (err || cli_has(cli, CLI_HELP))
        return err;
    err = check_operands(cli, why);
    if (!err)
        err = read_output(cli, why);
    if (!err)
        err = read_configuration(cli, why);
    const char *user = cli_value(cli, CLI_USER);
    cli->user = user ? mem_str(user) : reg_current_user();
    return err ? err : read_login(cli, why);
}

void cli_fini(struct cli *cli)
{
    options_free(cli->options);
    free(cli->user);
    free(cli->password);
    free(cli->registry_url);
    free(cli->sets);
    free(cli->operands);
    free(cli->given);
}

bool cli_has(const struct cli *cli, enum cli_option option)
{
    for (size_t i = 0; i < cli->n_given; i++) {
        if (cli->given[i].option == option)
            return true;
    }
    return false;
}

const char *cli_value(const struct cli *cli, enum cli_option option)
{
    const char *value = NULL;

    for (size_t i = 0; i < cli->n_given; i++) {
        if (cli->given[i].option == option)
            value = cli->given[i].values[0];
    }
    return value;
}

int cli_timeout_ms(const struct cli *cli, int64_t otherwise_ms, int64_t *out, struct err_info *why)
{
    const char *text = cli_value(cli, CLI_TIMEOUT);

    *out = otherwise_ms;
    if (!text || !str_to_ms(text, 1000, out))
        return 0;
    return err_set(why, ERR_USAGE, "--timeout", "\"%s\" is not a duration; write 500ms, 10s or 2m", text);
}
