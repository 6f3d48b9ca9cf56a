#include "run/args.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/completion.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* name, letter (getopt's value), has a value, its name, prose */
#define SWITCHES(X)                                                                                          \
    X("config", 'c', "DIR",                                                                                  \
      "read core-site.xml, hdfs-site.xml and yarn-site.xml of DIR (else: of $HADOOP_CONF_DIR)")              \
    X("define", 'D', "KEY=VALUE", "set a configuration key; wins over the files; may be repeated")           \
    X("test", 't', "", "check the configuration, print all errors, and exit")                                \
    X("strict", 'S', "", "with -t: a key that nobody knows is an error in a file, too")                      \
    X("show-defaults", 's', "", "show all configuration keys with their defaults, and end")                  \
    X("show-xml", 'x', "", "show the same as a Hadoop configuration file, and end")                          \
    X("man", 'm', "", "show the manual page as roff, and end")                                               \
    X("log-level", 'l', LOG_LEVELS, "level of the log; default: info")                                       \
    X("log-format", 'f', "text|json", "form of the log; default: text")                                      \
    X("completion", 'b', "", "show the rows of bash completion, and end")                                    \
    X("version", 'V', "", "show the version, and end")                                                       \
    X("help", 'h', "", "show this help, and end")

static const struct option switches[] = {
#define SWITCH_ROW(name, letter, value, prose)                                                               \
    {name, (value)[0] ? required_argument : no_argument, NULL, letter},
    SWITCHES(SWITCH_ROW)
#undef SWITCH_ROW
        {NULL, 0, NULL, 0}};

static int index_of(const char *const *words, size_t n_words, const char *word)
{
    for (size_t i = 0; i < n_words; i++)
        if (strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

static int read_level(struct args *a, const char *text, struct err_info *why)
{
    if (log_level_read(text, &a->level))
        return err_set(why, ERR_USAGE, "--log-level", "\"%s\" is not error, warn, info or debug", text);
    return 0;
}

static int read_format(struct args *a, const char *text, struct err_info *why)
{
    static const char *const words[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json"};
    int i = index_of(words, ARRAY_LEN(words), text);
    if (i < 0)
        return err_set(why, ERR_USAGE, "--log-format", "\"%s\" is not text or json", text);
    a->format = (enum log_format)i;
    return 0;
}

static int take_switch(struct args *a, int letter, const char *offender, struct err_info *why)
{
    switch (letter) {
    case 'c': a->config_dir = optarg; return 0;
    case 'D': a->sets[a->n_sets++] = optarg; return 0;
    case 't': a->action = ARGS_TEST; return 0;
    case 'S': a->is_strict = true; return 0;
    case 's': a->action = ARGS_SHOW_DEFAULTS; return 0;
    case 'x': a->action = ARGS_SHOW_XML; return 0;
    case 'm': a->action = ARGS_MAN; return 0;
    case 'b': a->action = ARGS_COMPLETION; return 0;
    case 'V': a->action = ARGS_VERSION; return 0;
    case 'h': a->action = ARGS_HELP; return 0;
    case 'l': return read_level(a, optarg, why);
    case 'f': return read_format(a, optarg, why);
    case ':': return err_set(why, ERR_USAGE, offender, "a value is missing");
    default: return err_set(why, ERR_USAGE, offender, "unknown switch");
    }
}

int args_read(int argc, char **argv, struct args *out, struct err_info *why)
{
    *out = (struct args){.action = ARGS_RUN, .level = LOG_INFO, .format = LOG_TEXT};
    out->config_dir = getenv("HADOOP_CONF_DIR");
    if (out->config_dir && !out->config_dir[0])
        out->config_dir = NULL;
    out->sets = mem_array((size_t)argc + 1, sizeof *out->sets);
    optind = 0; /* glibc: start afresh */
    for (;;) {
        int letter = getopt_long(argc, argv, ":D:th", switches, NULL);
        if (letter == -1)
            break;
        int err = take_switch(out, letter, argv[optind - 1], why);
        if (err)
            return err;
    }
    if (optind < argc)
        return err_set(why, ERR_USAGE, argv[optind], "no operand is expected");
    if (out->is_strict && out->action != ARGS_TEST)
        return err_set(why, ERR_USAGE, "--strict", "goes with -t");
    return 0;
}

void args_fini(struct args *a)
{
    free(a->sets);
    a->sets = NULL;
}

static bool has_short_form(int letter)
{
    return letter == 'D' || letter == 't' || letter == 'h';
}

static void help_row(struct buf *out, const char *name, int letter, const char *value, const char *prose)
{
    buf_auto struct buf left = BUF_EMPTY;
    if (has_short_form(letter))
        buf_addf(&left, "-%c%s%s, ", letter, value[0] ? " " : "", value);
    buf_addf(&left, "--%s%s%s", name, value[0] ? "=" : "", value);
    buf_addf(out, "  %-32s %s\n", buf_cstr(&left), prose);
}

void args_help(const char *name, const char *summary, struct buf *out)
{
    buf_addf(out, "usage: %s [--config DIR] [-D KEY=VALUE]... [-t [--strict]]\n%s\n\n", name, summary);
#define SWITCH_HELP(long_name, letter, value, prose) help_row(out, long_name, letter, value, prose);
    SWITCHES(SWITCH_HELP)
#undef SWITCH_HELP
}

static void completion_switch(struct buf *out, struct buf *words, const char *program, int letter,
                              const char *name, const char *value)
{
    buf_auto struct buf kind = BUF_EMPTY;
    mem_auto char *place = mem_fmt("%s --%s", program, name), *at_letter = mem_fmt("%s -%c", program, letter);

    buf_addf(words, " --%s", name);
    if (!value[0])
        return;
    if (letter == 'D')
        buf_add_str(&kind, "<key>");
    else
        completion_kind(value, &kind);
    completion_row(out, "values", place, buf_cstr(&kind));
    if (has_short_form(letter))
        completion_row(out, "values", at_letter, buf_cstr(&kind));
}

void args_completion(const char *name, struct buf *out)
{
    buf_auto struct buf words = BUF_EMPTY;

#define SWITCH_COMPLETION(long_name, letter, value, prose)                                                   \
    completion_switch(out, &words, name, letter, long_name, value);
    SWITCHES(SWITCH_COMPLETION)
#undef SWITCH_COMPLETION
    completion_row(out, "words", name, buf_cstr(&words));
}
