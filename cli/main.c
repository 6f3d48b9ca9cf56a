/** `bobbin`: find the command, run it, print its error. See cli.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/obj.h"
#include "kit/cli.h"
#include "kit/commands.h"
#include "kit/outage.h"

static const struct cli_command commands[] = {
#define CLI_COMMAND_ROW(group, verb, operands, min, max, options, function, summary, details)                \
    {group, verb, operands, min, max, options, function, summary, details},
    CLI_COMMANDS(CLI_COMMAND_ROW)
#undef CLI_COMMAND_ROW
};

/** Row for group and verb; for a group that is a command itself verb is not looked at. NULL: none. */
static const struct cli_command *find_command(const char *group, const char *verb)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const struct cli_command *c = &commands[i];
        if (strcmp(c->group, group) == 0 && (!c->verb[0] || (verb && strcmp(c->verb, verb) == 0)))
            return c;
    }
    return NULL;
}

/** Row of the group whose verb is an option: `bobbin registry -o hadoop …`. NULL: none. */
static const struct cli_command *find_raw(const char *group)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].group, group) == 0 && (commands[i].options & CLI_RAW))
            return &commands[i];
    }
    return NULL;
}

static bool is_group(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].group, word) == 0)
            return true;
    }
    return false;
}

static bool is_help(const char *word)
{
    return !word || strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/** What a person can do about an error whose text does not name it; NULL: nothing to add. */
static const char *remedy_of(const struct cli_command *c, int code)
{
    static const struct {
        int code;
        enum cli_option option;
        const char *remedy;
    } rows[] = {
        {ERR_EXISTS, CLI_OVERWRITE, "--overwrite replaces its record"},
        {ERR_NOTFOUND, CLI_PARENTS, "--parents makes what is missing above it"},
        {ERR_NOTEMPTY, CLI_RECURSIVE, "--recursive deletes everything below too"},
        {ERR_UNAVAILABLE, CLI_URL, "--url or -D names another server"},
    };

    for (size_t i = 0; c && i < ARRAY_LEN(rows); i++) {
        bool is_common = rows[i].option == CLI_URL && strcmp(c->group, "dev") != 0;
        if (rows[i].code == code && (is_common || (c->options & CLI_BIT(rows[i].option))))
            return rows[i].remedy;
    }
    return NULL;
}

/** The one line about what went wrong. */
static void complain(const struct cli_command *c, int code, const struct err_info *why)
{
    const char *remedy = remedy_of(c, code);

    fflush(stdout);
    fprintf(stderr, "bobbin: %s%s%s%s%s%s\n", why->where, why->where[0] ? ": " : "",
            why->text[0] ? why->text : err_text(code), remedy ? " (" : "", remedy ? remedy : "",
            remedy ? ")" : "");
}

static int run_command(const struct cli_command *command, char **words, size_t n)
{
    struct cli cli;
    struct err_info why = {0};
    int err = cli_read(&cli, command, words, n, &why);

    if (!err && cli_has(&cli, CLI_HELP))
        help_print_command(command);
    else if (!err)
        err = command->run(&cli, &why);
    if (!err && fflush(stdout))
        err = err_set(&why, ERR_IO, "standard output", "could not be written");
    if (err == ERR_TIMEOUT && strcmp(command->group, "registry") == 0)
        outage_explain(&cli, &why);
    int failure_code = cli.failure_code ? cli.failure_code : err_exit_code(err);
    bool is_reported = cli.is_reported;
    cli_fini(&cli);
    if (err && !is_reported)
        complain(command, err, &why);
    return err ? failure_code : 0;
}

/** Switches that stand alone, for packagers and tools. @return false: it is none of them */
static bool print_about(const char *word)
{
    if (strcmp(word, "--version") == 0)
        printf("bobbin %s\n", BOBBIN_VERSION);
    else if (strcmp(word, "--man") == 0)
        manual_print(commands, ARRAY_LEN(commands));
    else if (strcmp(word, "--completion") == 0)
        completion_print(commands, ARRAY_LEN(commands));
    else if (strcmp(word, "--show-defaults") == 0)
        manual_print_keys();
    else
        return false;
    return true;
}

/** No command is called so: the nearest group, or, within a group, the nearest verb is offered. */
static int refuse_command(const char *group, const char *verb)
{
    bool is_verb = is_group(group);
    const char *word = is_verb ? verb : group;
    struct nearest n = nearest_to(word);
    struct err_info why;

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!is_verb || strcmp(commands[i].group, group) == 0)
            nearest_offer(&n, is_verb ? commands[i].verb : commands[i].group);
    }
    int err = err_set(&why, ERR_USAGE, word, "no such command%s%s%s (bobbin help lists them)",
                      n.name ? ", did you mean \"" : "", n.name ? n.name : "", n.name ? "\"?" : "");
    complain(NULL, err, &why);
    return err_exit_code(err);
}

int main(int argc, char **argv)
{
    const char *group = argc > 1 ? argv[1] : NULL;
    const char *verb = argc > 2 ? argv[2] : NULL;

    signal(SIGPIPE, SIG_IGN); /* A closed pipe is an error of write(2). */
    if (is_help(group)) {
        help_print(commands, ARRAY_LEN(commands), verb);
        return 0;
    }
    if (print_about(group))
        return 0;
    const struct cli_command *command = find_command(group, verb);
    if (!command && verb && verb[0] == '-' && !is_help(verb) && (command = find_raw(group)))
        return run_command(command, argv + 2, (size_t)(argc - 2));
    if (command) {
        int n_names = command->verb[0] ? 3 : 2;
        return run_command(command, argv + n_names, (size_t)(argc - n_names));
    }
    if (is_group(group) && is_help(verb)) {
        help_print(commands, ARRAY_LEN(commands), group);
        return 0;
    }
    return refuse_command(group, verb);
}
