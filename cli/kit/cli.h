/**
 * The program `bobbin`: what every command gets, and what reads the command line.
 *
 *     bobbin GROUP VERB [OPTION…] [OPERAND…]        bobbin registry bind --parents /users/alice/services/c/s record.json
 *
 * main.c finds the row of commands.h, cli_read reads its options, the row's function does the work and returns an ERR_*
 * code with the reason; main prints it as one line and ends with the exit code of the error table.
 *
 * Thread: main, for everything in cli/.   Source: ours.
 */
#ifndef CLI_KIT_CLI_H
#define CLI_KIT_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "registry/prose.h"
#include "run/options.h"

struct cli;

/* Options of commands: id, long name, short letter or 0, number of values, their names, prose. */
#define CLI_OPTIONS(X)                                                                                       \
    X(CLI_HELP, "help", 'h', 0, "", "show this help")                                                        \
    X(CLI_OUTPUT, "output", 'o', 1, "table|json", "form of the output; default: table")                      \
    X(CLI_CONFIG, "config", 0, 1, "DIR", "directory of core-site.xml, hdfs-site.xml, yarn-site.xml")         \
    X(CLI_SET, "set", 'D', 1, "KEY=VALUE", "set a configuration key; may be repeated")                       \
    X(CLI_URL, "url", 0, 1, "URL", "server to ask instead of the configured one")                            \
    X(CLI_USER, "user", 0, 1, "NAME", "user to act as; default: HADOOP_USER_NAME, else the login name")      \
    X(CLI_PASSWORD_FILE, "password-file", 0, 1, "FILE",                                                      \
      "file with the user's password as its one line, for the gateway (Apache Knox) that --url names")       \
    X(CLI_CA_FILE, "ca-file", 0, 1, "FILE",                                                                  \
      "PEM file of the authorities that the gateway is checked by; default: the system's")                   \
    X(CLI_TIMEOUT, "timeout", 0, 1, "TIME", "give up (watch: end) after this time, as 500ms, 10s or 2m")     \
    X(CLI_OVERWRITE, "overwrite", 0, 0, "", REG_PROSE_OVERWRITE)                                             \
    X(CLI_PARENTS, "parents", 'p', 0, "", REG_PROSE_PARENTS)                                                 \
    X(CLI_RECURSIVE, "recursive", 'r', 0, "", REG_PROSE_RECURSIVE)                                           \
    X(CLI_SYNC, "sync", 0, 1, "DNSD_URL", "wait until this dnsd answers with the change")                    \
    X(CLI_SINCE, "since", 0, 1, "REVISION", REG_PROSE_SINCE)                                                 \
    X(CLI_MAX, "max", 0, 1, "N", "end after this number of changes, without those of the snapshot")          \
    X(CLI_LIMIT, "limit", 0, 1, "N", "look at no more names a zone, and say how many were left out")         \
    X(CLI_API, "api", 0, 1, "API", "interface name of the n-th endpoint")                                    \
    X(CLI_REST, "rest", 0, 1, "URI", "external REST endpoint")                                               \
    X(CLI_WEBUI, "webui", 0, 1, "URI", "external web page")                                                  \
    X(CLI_INET, "inet", 0, 2, "HOST PORT", "external TCP endpoint")                                          \
    X(CLI_IPC, "ipc", 0, 2, "HOST PORT", "external Hadoop IPC endpoint")                                     \
    X(CLI_DESCRIPTION, "description", 0, 1, "TEXT", "description of the record")                             \
    X(CLI_ATTR, "attr", 0, 1, "KEY=VALUE",                                                                   \
      "attribute of the record, as yarn:persistence=permanent; may be repeated")                             \
    X(CLI_FIELD_API, "endpointField.api", 0, 1, "API", REG_PROSE_API)                                        \
    X(CLI_FIELD_PROTOCOL, "endpointField.protocolType", 0, 1, "PROTOCOL", REG_PROSE_PROTOCOL)                \
    X(CLI_ACCESSOR, "accessor", 0, 1, "ID:PASSWORD|@FILE",                                                   \
      "act as the holder of this write accessor, to ZooKeeper of this digest; default: BOBBIN_ACCESSOR of "  \
      "the environment, else the configured digest")                                                         \
    X(CLI_GRANT, "grant", 0, 1, "ID:PASSWORD|@FILE",                                                         \
      "let the holder of this pair write the created nodes of a secure registry; may be repeated")           \
    X(CLI_PERSISTENCE, "persistence", 0, 1, "WORD",                                                          \
      "yarn:persistence of the records; default: by the kind of the ID")                                     \
    X(CLI_CHILDREN, "children", 0, 1, "all|fail|skip",                                                       \
      "records with nodes below them: delete these, too (default), stop there, or skip the record")          \
    X(CLI_DRY_RUN, "dry-run", 0, 0, "", "only print what would be done")                                     \
    X(CLI_TTL, "ttl", 0, 0, "", "compare TTLs as well")                                                      \
    X(CLI_LEASE, "ttl", 0, 1, "TIME",                                                                        \
      "bind with a lease of so long, as 30s: the record goes when nobody renews")                            \
    X(CLI_KEEP_ALIVE, "keep-alive", 0, 0, "", "with --ttl: renew until Ctrl-C or SIGTERM")                   \
    X(CLI_WAIT, "wait", 0, 0, "",                                                                            \
      "wait until the service is READY, a task of the framework runs, all of the application is live")       \
    X(CLI_NO_WAIT, "no-wait", 0, 0, "",                                                                      \
      "do not wait until the service is READY, or STOPPED; the framework has completed; the application "    \
      "has ended")                                                                                           \
    X(CLI_AUTO, "auto", 0, 0, "", "move instances by request, and end when all are moved")                   \
    X(CLI_EXPRESS, "express", 0, 0, "", "move one instance after the other, and end then (the default)")     \
    X(CLI_MANUAL, "manual", 0, 0, "", "move instances by request, and end by --finalize")                    \
    X(CLI_AUTO_REVERT, "auto-revert", 0, 0, "", "go back when an instance of the new version fails")         \
    X(CLI_INSTANCES, "instances", 0, 1, "NAME,...", "move these instances")                                  \
    X(CLI_COMPONENTS, "components", 0, 1, "NAME,...", "move all instances of these components")              \
    X(CLI_FINALIZE, "finalize", 0, 0, "", "end a manual upgrade, when all instances are moved")              \
    X(CLI_CANCEL, "cancel", 0, 0, "", "go back to the version before")                                       \
    X(CLI_QUIET, "quiet", 'q', 0, "", "show no progress on standard error")                                  \
    X(CLI_LENIENT, "lenient", 0, 0, "", "take a definition with unknown members, too, and name them")        \
    X(CLI_ALL, "all", 0, 0, "",                                                                              \
      "print whole lines of all instances, each with the name of its instance before it")                    \
    X(CLI_MASTER, "master", 0, 0, "", "print the logs of the application master, on a cluster of YARN")      \
    X(CLI_FOLLOW, "follow", 'f', 0, "", "keep printing what is written, until Ctrl-C")                       \
    X(CLI_TTY, "tty", 't', 0, "",                                                                            \
      "give the command a terminal; default when standard input and output are one")                         \
    X(CLI_INTERACTIVE, "interactive", 'i', 0, "", "pass standard input on; default with a terminal")         \
    X(CLI_RESOURCES, "resources", 0, 1, "FILE",                                                              \
      "resources.json: how many of which components run, and their sizes")                                   \
    X(CLI_TEMPLATE, "template", 0, 1, "FILE", "appConfig.json: the configuration of the application")        \
    X(CLI_INTERNAL, "internal", 0, 1, "FILE",                                                                \
      "internal.json: the queue, and other options of Slider itself")                                        \
    X(CLI_PACKAGE, "package", 0, 1, "ZIP",                                                                   \
      "Slider package with metainfo.json or metainfo.xml: what the components run")                          \
    X(CLI_COMPONENT, "component", 0, 2, "NAME NUMBER",                                                       \
      "number of instances of a component, or +NUMBER or -NUMBER more or fewer; may be repeated")            \
    X(CLI_EXAMPLE, "example", 0, 1, "FILE", "service to launch; default: the installed hello-world.json")    \
    X(CLI_ZONES, "zones", 0, 1, "DIR", "master files that dnsd serves, too; default: the installed ones")    \
    X(CLI_CHECK, "check", 0, 0, "", "stop after the questions; exit code 1 when one has no answer")          \
    X(CLI_REPLACE, "overwrite", 0, 0, "", "replace what svcmgr has, too")                                    \
    X(CLI_COMPLETED, "completed", 0, 0, "", "frameworks that have completed, too: they start anew")          \
    X(CLI_STORE, "store", 0, 1, "embedded|zookeeper",                                                        \
      "store of the registry; zookeeper starts a ZooKeeper server")                                          \
    X(CLI_KEEP, "keep", 0, 1, "DIR",                                                                         \
      "keep the state in DIR; the next run continues with it and starts its services again")

enum cli_option {
#define CLI_OPTION_ID(id, ...) id,
    CLI_OPTIONS(CLI_OPTION_ID)
#undef CLI_OPTION_ID
        N_CLI_OPTIONS
};

struct cli_option_def {
    const char *name;
    char letter; /* 0: none */
    int n_values;
    const char *placeholder, *prose;
};

/** The option table by id. */
extern const struct cli_option_def cli_options[N_CLI_OPTIONS];

/** Set of options with this one in it. */
#define CLI_BIT(id) (UINT64_C(1) << (id))

/** The options that every command takes. */
#define CLI_COMMON                                                                                           \
    (CLI_BIT(CLI_HELP) | CLI_BIT(CLI_OUTPUT) | CLI_BIT(CLI_CONFIG) | CLI_BIT(CLI_SET) | CLI_BIT(CLI_URL) |   \
     CLI_BIT(CLI_USER))

/** In the options of a row: its verb is an option itself, `-o FORM`, its first operand ends the options, and it prints its
 *  errors itself. */
#define CLI_RAW (UINT64_C(1) << 63)

/** In the options of a row: the operand behind the fewest ends the options, as it is a command with options of its own. */
#define CLI_COMMAND_LAST (UINT64_C(1) << 62)

struct cli_command {
    const char *group, *verb; /* verb "" : the group is the command */
    const char *operands;     /* for the usage line */
    size_t min_operands, max_operands;
    uint64_t options; /* CLI_BIT of each that it takes, besides the common ones */
    int (*run)(struct cli *cli, struct err_info *why);
    const char *summary; /* one sentence */
    const char *details; /* more sentences for help and manual, or "" */
};

/** One option as it was given, in order. */
struct cli_given {
    enum cli_option option;
    const char *values[2];
};

#define CLI_MAGIC OBJ_MAGIC('C', 'L', 'I', '1')

struct cli {
    struct obj obj;
    const struct cli_command *command;
    struct cli_given *given;
    size_t n_given;
    const char **operands;
    size_t n_operands;
    const char **sets; /* values of -D, NULL-terminated */
    bool is_json;
    const char *config_dir;  /* --config, or HADOOP_CONF_DIR (not for `dev`); NULL: none */
    struct options *options; /* CLI_KEYS */
    char *user;
    char *password;     /* of --password-file: a gateway is asked; NULL: none */
    char *registry_url; /* of registryd behind that gateway; NULL: none */
    bool is_reported;   /* the command has printed its error itself */
    int failure_code;   /* exit code of any failure of the command; 0: that of the error table */
};

/**
 * Read the words after the command's name: options with one or two hyphens, `--name=value`, `-Dkey=value`, several letters without
 * values in one word; `--` ends them.
 *
 * @param cli      release with cli_fini, also after an error                       [out]
 * @param command  row that is asked for                                            [borrowed, lives on]
 * @param words    n of them                                                        [borrowed, live on]
 * @return 0; ERR_USAGE: unknown option, missing value, too few or many operands; ERR_CONFIG: a bad -D or file.
 *         With --help operands and configuration are not looked at.
 */
int cli_read(struct cli *cli, const struct cli_command *command, char **words, size_t n,
             struct err_info *why);
/** Release what cli_read made. */
void cli_fini(struct cli *cli);
/** The option was given. */
bool cli_has(const struct cli *cli, enum cli_option option);
/** Value of an option, the last one given; NULL when it was not. */
const char *cli_value(const struct cli *cli, enum cli_option option);
/** --timeout in ms, or otherwise_ms. @return 0; ERR_USAGE: no duration. */
int cli_timeout_ms(const struct cli *cli, int64_t otherwise_ms, int64_t *out, struct err_info *why);

/** Help of the whole program, or of the commands of a group when it is not NULL, to stdout. */
void help_print(const struct cli_command *commands, size_t n, const char *group);
/** Help of one command, to stdout. */
void help_print_command(const struct cli_command *command);
/** The manual page of section 1, derived from the tables, as roff to stdout. Parameters as help_print. */
void manual_print(const struct cli_command *commands, size_t n);
/** The rows of bash completion, derived from the tables (run/completion.h), to stdout. Parameters as help_print. */
void completion_print(const struct cli_command *commands, size_t n);
/** The configuration keys as the daemons' --show-defaults has theirs, to stdout. */
void manual_print_keys(void);

#endif
