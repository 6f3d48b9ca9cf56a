/**
 * The table of commands: group, verb, operands, fewest and most of them, options, function, sentence. Help and manual
 * page are derived from it. Each function is in the file of its command and returns 0 or ERR_* with *why filled.
 *
 * Source: issue 3; the verbs of registry are those of Hadoop's RegistryCli and more.
 */
#ifndef CLI_KIT_COMMANDS_H
#define CLI_KIT_COMMANDS_H

#include "cli.h"

#define ANY_NUMBER 1000
#define RECORD_OPTIONS                                                                                       \
    (CLI_BIT(CLI_API) | CLI_BIT(CLI_REST) | CLI_BIT(CLI_WEBUI) | CLI_BIT(CLI_INET) | CLI_BIT(CLI_IPC) |      \
     CLI_BIT(CLI_DESCRIPTION) | CLI_BIT(CLI_ATTR))

/* clang-format off */
#define CLI_COMMANDS(X)                                                                                           \
    X("registry", "ls", "[PATH]", 0, 1, CLI_BIT(CLI_TIMEOUT), registry_ls, "List the nodes below a path.")        \
    X("registry", "resolve", "PATH", 1, 1, CLI_BIT(CLI_TIMEOUT), registry_resolve, "Show the record of a path.")  \
    X("registry", "stat", "PATH", 1, 1, CLI_BIT(CLI_TIMEOUT), registry_stat, "Show what is known of a node.")     \
    X("registry", "bind", "PATH [FILE|-]", 1, 2,                                                                  \
      RECORD_OPTIONS | CLI_BIT(CLI_OVERWRITE) | CLI_BIT(CLI_PARENTS) | CLI_BIT(CLI_SYNC) | CLI_BIT(CLI_TIMEOUT) | \
          CLI_BIT(CLI_ACCESSOR) | CLI_BIT(CLI_GRANT),                                                             \
      registry_bind, "Write a record: from a file or standard input, or made of the options.")                    \
    X("registry", "mknode", "PATH", 1, 1,                                                                         \
      CLI_BIT(CLI_PARENTS) | CLI_BIT(CLI_TIMEOUT) | CLI_BIT(CLI_ACCESSOR) | CLI_BIT(CLI_GRANT), registry_mknode,  \
      "Make a node without record.")                                                                              \
    X("registry", "rm", "PATH", 1, 1,                                                                             \
      CLI_BIT(CLI_RECURSIVE) | CLI_BIT(CLI_SYNC) | CLI_BIT(CLI_TIMEOUT) | CLI_BIT(CLI_ACCESSOR), registry_rm,     \
      "Delete a node.")                                                                                           \
    X("registry", "purge", "ID [PATH]", 1, 2,                                                                     \
      CLI_BIT(CLI_PERSISTENCE) | CLI_BIT(CLI_CHILDREN) | CLI_BIT(CLI_DRY_RUN) | CLI_BIT(CLI_TIMEOUT),             \
      registry_purge, "Delete the records of an application, attempt or container that has ended.")                                                                             \
    X("registry", "watch", "[PATH]", 0, 1, CLI_BIT(CLI_SINCE) | CLI_BIT(CLI_MAX) | CLI_BIT(CLI_TIMEOUT),          \
      registry_watch, "Print what is below a path, then every change, until Ctrl-C.")                             \
    X("registry", "find", "[TERM=VALUE...]", 0, ANY_NUMBER,                                                        \
      CLI_BIT(CLI_FIELD_API) | CLI_BIT(CLI_FIELD_PROTOCOL) | CLI_BIT(CLI_TIMEOUT), registry_find,                 \
      "Find records by api, protocol, user, class, component, id.")                                               \
    X("registry", "export", "[PATH]", 0, 1, 0, registry_export,                                                   \
      "Print everything below a path, bytes and ACLs as stored, one JSON object a line.")                         \
    X("registry", "import", "[FILE|-]", 0, 1, CLI_BIT(CLI_OVERWRITE), registry_import,                            \
      "Write the nodes of an export.")                                                                            \
    X("registry", "backup", "DIR", 1, 1, 0, registry_backup,                                                      \
      "Copy registryd's embedded store into a new directory while it is in use.")                                 \
    X("registry", "-o hadoop", "COMMAND [WORD...]", 0, ANY_NUMBER,                                                \
      CLI_BIT(CLI_TIMEOUT) | CLI_BIT(CLI_ACCESSOR) | CLI_RAW, registry_hadoop,                                    \
      "Do as Hadoop's own registry command does: ls, resolve, bind, mknode, rm.")                                 \
    X("app", "launch", "FILE", 1, 1, CLI_BIT(CLI_WAIT) | CLI_BIT(CLI_NO_WAIT) | CLI_BIT(CLI_TIMEOUT), app_launch, \
      "Create a service of a definition and wait until it is READY.")                                             \
    X("app", "status", "NAME", 1, 1, 0, app_status, "Show a service and its containers.")                         \
    X("app", "list", "", 0, 0, 0, app_list, "List the services that run.")                                        \
    X("app", "flex", "NAME COMPONENT=NUMBER...", 2, ANY_NUMBER, CLI_BIT(CLI_WAIT) | CLI_BIT(CLI_TIMEOUT),         \
      app_flex, "Change the number of containers of components.")                                                 \
    X("app", "stop", "NAME", 1, 1, 0, app_stop, "Stop a service; its definition stays.")                          \
    X("app", "start", "NAME", 1, 1, CLI_BIT(CLI_WAIT) | CLI_BIT(CLI_TIMEOUT), app_start,                          \
      "Start a stopped service.")                                                                                 \
    X("app", "logs", "NAME [INSTANCE]", 1, 2, CLI_BIT(CLI_FOLLOW), app_logs, "Print what containers wrote.")       \
    X("app", "destroy", "NAME", 1, 1, 0, app_destroy, "Stop a service and forget it.") \
    X("dns", "explain", "NAME [TYPE]", 1, 2, CLI_BIT(CLI_TIMEOUT), dns_explain,                                    \
      "Say why a name is answered as it is, or what is missing.")                                                 \
    X("dns", "zones", "", 0, 0, CLI_BIT(CLI_TIMEOUT), dns_zones, "List the zones with serial, size and file.")    \
    X("dns", "stats", "", 0, 0, CLI_BIT(CLI_TIMEOUT), dns_stats, "Count records, names and queries.")             \
    X("dns", "dump", "[ZONE]", 0, 1, CLI_BIT(CLI_TIMEOUT), dns_dump, "Print a zone as a master file.")            \
    X("dns", "reload", "", 0, 0, CLI_BIT(CLI_TIMEOUT), dns_reload, "Read master files, certificate and secrets again.") \
    X("dns", "release", "", 0, 0, CLI_BIT(CLI_TIMEOUT), dns_release, "Let removals that the guard holds happen.") \
    X("dns", "sync", "REVISION", 1, 1, CLI_BIT(CLI_TIMEOUT), dns_sync,                                            \
      "Wait until names are answered from a revision.")                                                           \
    X("dns", "shadow", "HOST:PORT [ZONE...]", 1, ANY_NUMBER,                                                      \
      CLI_BIT(CLI_MAX) | CLI_BIT(CLI_TTL) | CLI_BIT(CLI_TIMEOUT), dns_shadow,                                     \
      "Ask another server the same as dnsd and print what differs.")                                              \
    X("dev", "", "", 0, 0,                                                                                        \
      CLI_BIT(CLI_EXAMPLE) | CLI_BIT(CLI_ZONES) | CLI_BIT(CLI_CHECK) | CLI_BIT(CLI_STORE) | CLI_BIT(CLI_KEEP), dev_run,                \
      "Start all of Bobbin on this machine with an example service, until Ctrl-C.")
/* clang-format on */

#define CLI_COMMAND_FUNCTION(group, verb, operands, min, max, options, function, summary)                    \
    int function(struct cli *cli, struct err_info *why);
CLI_COMMANDS(CLI_COMMAND_FUNCTION)
#undef CLI_COMMAND_FUNCTION

#endif
