/**
 * The table of commands: group, verb, operands, fewest and most of them, options, function, sentence, details. Help and
 * manual page derive from it. Each function is in the file of its command and returns 0 or ERR_* with *why filled.
 *
 * Source: the verbs of registry are those of Hadoop's RegistryCli and more; the rest is ours.
 */
#ifndef CLI_KIT_COMMANDS_H
#define CLI_KIT_COMMANDS_H

#include "cli.h"

#define ANY_NUMBER 1000

/* Sets of options that several commands take. */
#define O(name) CLI_BIT(CLI_##name)
/* At a gateway. */
#define LOGIN          (O(PASSWORD_FILE) | O(CA_FILE))
#define RECORD_OPTIONS (O(API) | O(REST) | O(WEBUI) | O(INET) | O(IPC) | O(DESCRIPTION) | O(ATTR))

/* The groups in the order of the manual: name, what it speaks to. */
#define CLI_GROUPS(X)                                                                                        \
    X("registry", "registryd over REST. Paths are registry paths, as /users/alice/services/web/shop.")       \
    X("app", "svcmgr over the YARN services API.")                                                           \
    X("framework", "svcmgr over the FrameworkLauncher API.")                                                 \
    X("launcher", "The original FrameworkLauncher, whose frameworks svcmgr takes over.")                     \
    X("slider", "svcmgr over the Slider API.")                                                               \
    X("dns", "dnsd over HTTP.")                                                                              \
    X("log-level", "The level of the log of daemons that run.")                                              \
    X("dev", "Everything on one machine.")

/* clang-format off */
#define CLI_COMMANDS(X)                                                                                                \
    X("registry", "ls", "[PATH]", 0, 1, LOGIN | O(TIMEOUT), registry_ls,                                               \
      "List the nodes below a path.",                                                                                  \
      "")                                                                                                              \
    X("registry", "resolve", "PATH", 1, 1, LOGIN | O(TIMEOUT), registry_resolve,                                       \
      "Show the record of a node.",                                                                                    \
      "")                                                                                                              \
    X("registry", "stat", "PATH", 1, 1, LOGIN | O(TIMEOUT), registry_stat,                                             \
      "Show creation time, size, number of children and revision of a node.",                                          \
      "")                                                                                                              \
    X("registry", "bind", "PATH [FILE|-]", 1, 2,                                                                       \
      LOGIN | RECORD_OPTIONS | O(OVERWRITE) | O(PARENTS) | O(SYNC) | O(TIMEOUT) | O(ACCESSOR) | O(GRANT) | O(LEASE) |  \
      O(KEEP_ALIVE), registry_bind,                                                                                    \
      "Write a record: from a file or standard input, or made of the options.",                                        \
      "The n-th --api belongs to the n-th endpoint (--rest, --webui, --inet, --ipc). --accessor and --grant take "     \
      "ID:PASSWORD, or @FILE, a file with the pair as its only line: other users of the machine can read a "           \
      "command line. With --ttl the record goes when its lease is not renewed in time: with --keep-alive the command "  \
      "stays and renews; without it the key of the lease is printed for who does. An interrupted one leaves the "      \
      "record, which goes when the TTL is over.")                                                                                                 \
    X("registry", "renew", "KEY", 1, 1, LOGIN | O(TIMEOUT), registry_renew,                                            \
      "Renew the lease of all records that are bound with its key.",                                                   \
      "KEY is what bind --ttl printed, or @FILE, a file with it as its only line: other users of the machine can "     \
      "read a command line. Renew three times in a TTL. Prints the shortest TTL of the records that live, and the "    \
      "paths of those that are gone; ends with 10 when none is left.")                                                 \
    X("registry", "mknode", "PATH", 1, 1, LOGIN | O(PARENTS) | O(TIMEOUT) | O(ACCESSOR) | O(GRANT), registry_mknode,   \
      "Create a node without a record.",                                                                               \
      "")                                                                                                              \
    X("registry", "rm", "PATH", 1, 1, LOGIN | O(RECURSIVE) | O(SYNC) | O(TIMEOUT) | O(ACCESSOR), registry_rm,          \
      "Delete a node.",                                                                                                \
      "")                                                                                                              \
    X("registry", "purge", "ID [PATH]", 1, 2, O(PERSISTENCE) | O(CHILDREN) | O(DRY_RUN) | O(TIMEOUT), registry_purge,  \
      "Delete the records of an application, attempt or container that has ended.",                                    \
      "Deletes the records at PATH (default: everywhere) and below that have this yarn:id and the "                    \
      "yarn:persistence of its kind, whoever bound them. In a secure registry only system accounts may do this.")      \
    X("registry", "watch", "[PATH]", 0, 1, LOGIN | O(SINCE) | O(MAX) | O(TIMEOUT), registry_watch,                     \
      "Print what is below a path, then every change, until Ctrl-C.",                                                  \
      "The word synced separates what was there from the changes.")                                                    \
    X("registry", "find", "[TERM=VALUE...]", 0, ANY_NUMBER, LOGIN | O(FIELD_API) | O(FIELD_PROTOCOL) | O(TIMEOUT),     \
      registry_find,                                                                                                   \
      "Find the records that have all terms: api, protocol, user, class, component, id.",                              \
      "--endpointField.api and --endpointField.protocolType are the first two terms as Hadoop's design document "      \
      "spells them.")                                                                                                  \
    X("registry", "export", "[PATH]", 0, 1, 0, registry_export,                                                        \
      "Print everything below a path, one JSON object a line.",                                                        \
      "A line has the path, the stored bytes and the ACL of a node. Only administrators of registryd may export.")     \
    X("registry", "import", "[FILE|-]", 0, 1, O(OVERWRITE) | O(QUIET), registry_import,                                \
      "Write the nodes of an export.",                                                                                 \
      "Keeps bytes and ACLs, and creates missing parents. Refuses and names each node that exists with another "       \
      "record, and writes all others. A record may be an object instead of a string; then it is read as bind "         \
      "reads it. A node that only its owner may add to stays open until all below it is written. Leaves out "          \
      "ephemeral nodes; refuses nodes whose ACL the export holds only in part. Also reads what the REST interface "    \
      "of registryd exports: its last line says whether the export is complete. To move a registry to another "        \
      "store, export from one registryd and import into the other.")                                                   \
    X("registry", "backup", "DIR", 1, 1, 0, registry_backup,                                                           \
      "Copy registryd's embedded store into a new directory while it is in use.",                                      \
      "DIR is below hadoop.registry.backup.dir of registryd.")                                                         \
    X("registry", "-o hadoop", "COMMAND [WORD...]", 0, ANY_NUMBER, O(TIMEOUT) | O(ACCESSOR) | CLI_RAW,                 \
      registry_hadoop,                                                                                                 \
      "Run ls, resolve, bind, mknode or rm as Hadoop's registry command does.",                                        \
      "For scripts that were written for that command: the same words, output and results (0, or 255 for its -1). "    \
      "Options of bobbin come before COMMAND.")                                                                        \
    X("app", "launch", "FILE", 1, 1, LOGIN | O(WAIT) | O(NO_WAIT) | O(TIMEOUT) | O(LENIENT) | O(QUIET), app_launch,    \
      "Create the service that a JSON document describes, and wait until it is READY.",                                \
      "Refuses members that no definition knows, unless it is --lenient.")                                             \
    X("app", "status", "NAME", 1, 1, LOGIN, app_status,                                                                \
      "Show a service and its containers.",                                                                            \
      "")                                                                                                              \
    X("app", "explain", "NAME", 1, 1, LOGIN, app_explain,                                                              \
      "Explain what of a service is not as wanted, why, and what would mend it.",                                       \
      "Instances of a component that wait for the same are one entry. Says so when there is nothing to explain.")      \
    X("app", "events", "NAME", 1, 1, LOGIN | O(FOLLOW), app_events,                                                    \
      "Show what happened to a service, and why.",                                                                     \
      "The last requests, changes of state and ends of processes, oldest first. With -f prints what happens, too, until Ctrl-C.")                                      \
    X("app", "list", "", 0, 0, LOGIN, app_list,                                                                        \
      "List the services that run.",                                                                                   \
      "")                                                                                                              \
    X("app", "flex", "NAME COMPONENT=NUMBER...", 2, ANY_NUMBER, LOGIN | O(WAIT) | O(TIMEOUT) | O(QUIET), app_flex,     \
      "Change the number of containers of components.",                                                                \
      "")                                                                                                              \
    X("app", "upgrade", "NAME [FILE]", 1, 2,                                                                            \
      LOGIN | O(AUTO) | O(EXPRESS) | O(MANUAL) | O(AUTO_REVERT) | O(INSTANCES) | O(COMPONENTS) | O(FINALIZE) |          \
      O(CANCEL) | O(WAIT) | O(TIMEOUT) | O(QUIET), app_upgrade,                                                         \
      "Bring a service to the version that a JSON document describes, while it runs.",                                 \
      "With FILE begins an upgrade; without it --instances, --components, --finalize or --cancel goes on with it. "    \
      "With --wait ends when the upgrade has, and with 8 when the service runs another version then.")                 \
    X("app", "plan", "FILE|NAME [CHANGE...]", 1, ANY_NUMBER,                                                            \
      LOGIN | O(AUTO) | O(EXPRESS) | O(MANUAL) | O(AUTO_REVERT), app_plan,                                 \
      "Show what a change would do, instance by instance, and do nothing.",                                            \
      "FILE: the launch of a service, or the upgrade of one that is there. CHANGE of the service NAME: stop, start, "   \
      "finalize, cancel, or COMPONENT=NUMBER as for flex.")                                                            \
    X("app", "stop", "NAME", 1, 1, LOGIN | O(NO_WAIT) | O(TIMEOUT) | O(QUIET), app_stop,                               \
      "Stop a service, and wait until no container of it is left; its definition stays.",                              \
      "")                                                                                                              \
    X("app", "start", "NAME", 1, 1, LOGIN | O(WAIT) | O(TIMEOUT) | O(QUIET), app_start,                                \
      "Start a stopped service.",                                                                                      \
      "")                                                                                                              \
    X("app", "restart", "NAME INSTANCE", 2, 2, LOGIN, app_restart,                                                     \
      "Replace the process of an instance, in its container.",                                                         \
      "It counts as no failure. Where its component has yarn.service.drain.seconds its clients go first.")             \
    X("app", "signal", "NAME INSTANCE SIGNAL", 3, 3, LOGIN, app_signal,                                                \
      "Send a signal to the processes of an instance.",                                                                \
      "SIGNAL is a name or a number: HUP, SIGHUP, 1. Of an image the first process gets it.")                          \
    X("app", "exec", "NAME INSTANCE [COMMAND...]", 2, ANY_NUMBER,                                                       \
      O(TTY) | O(INTERACTIVE) | CLI_COMMAND_LAST, app_exec,                                                             \
      "Execute a command in the container of an instance, at this terminal; without COMMAND a shell.",                  \
      "It has rights, environment, working directory and limits of the instance's process, and ends with it, with "     \
      "this program and with svcmgr, as does all that it has started. Without a terminal its standard error stays apart, and "   \
      "INT, TERM, HUP, QUIT, USR1 and USR2 are passed on. Ends with the exit code of the command, 128 + N when signal N ended it, 127 "   \
      "when it is not there. Write -- before a COMMAND that begins with a hyphen. Not through a gateway.")                                           \
    X("app", "top", "NAME", 1, 1, LOGIN, app_top,                                                                      \
      "Show what the instances of a service use of CPU and memory.",                                                   \
      "On a terminal every second until Ctrl-C, else once. With -o json the sums since the start of the processes.")   \
    X("app", "logs", "NAME [INSTANCE]", 1, 2, LOGIN | O(FOLLOW) | O(ALL) | O(MASTER), app_logs,                        \
      "Print the output of containers.",                                                                               \
      "On a cluster of YARN it comes from the node managers, for as long as they keep it. An error names the command of "  \
      "Hadoop that reads what was aggregated.")                                                                                                              \
    X("app", "destroy", "NAME", 1, 1, LOGIN | O(QUIET), app_destroy,                                                   \
      "Stop a service and delete it.",                                                                                 \
      "")                                                                                                              \
    X("framework", "list", "", 0, 0, LOGIN, framework_list,                                                            \
      "List the frameworks.",                                                                                          \
      "")                                                                                                              \
    X("framework", "status", "NAME", 1, 1, LOGIN, framework_status,                                                    \
      "Show the state of a framework, and how its application has ended.",                                             \
      "With -o json prints the FrameworkStatus.")                                                                      \
    X("framework", "tasks", "NAME [ROLE]", 1, 2, LOGIN, framework_tasks,                                               \
      "List the tasks of a framework, or of one of its task roles.",                                                   \
      "With -o json prints the AggregatedFrameworkStatus, of all roles.")                                              \
    X("framework", "explain", "NAME", 1, 1, LOGIN, framework_explain,                                                  \
      "Explain what of a framework is not as wanted, why, and what would mend it, and what its tasks are called.",     \
      "Tasks of a task role that wait for the same are one entry. Then come the names in DNS: of each task, and of "   \
      "each port, whose SRV records are those of all tasks of its role. With -o json prints the FrameworkExplanation.") \
    X("framework", "put", "NAME FILE|-", 2, 2, LOGIN | O(WAIT) | O(TIMEOUT) | O(QUIET), framework_put,                 \
      "Add a framework from its descriptor, change it in place, or start another version of it.",                      \
      "The same version changes it in place, another one starts all of it anew. With --wait ends when a task runs, "   \
      "or when it has completed.")                                                                                     \
    X("framework", "start", "NAME", 1, 1, LOGIN, framework_start,                                                      \
      "Start a framework that is wanted to be stopped and has not completed.",                                         \
      "What has completed starts again only with another version: bobbin framework put.")                              \
    X("framework", "stop", "NAME", 1, 1, LOGIN | O(NO_WAIT) | O(TIMEOUT) | O(QUIET), framework_stop,                   \
      "Stop a framework, and wait until it has completed.",                                                            \
      "")                                                                                                              \
    X("framework", "flex", "NAME ROLE=NUMBER", 2, 2, LOGIN, framework_flex,                                            \
      "Change the number of tasks of a task role.",                                                                    \
      "Fewer tasks: those of the highest indices go, whatever they do.")                                               \
    X("framework", "migrate", "NAME CONTAINER", 2, 2, LOGIN, framework_migrate,                                        \
      "Move the task of a container to another container.",                                                            \
      "For the retry policy of the task the container fails: without a retry that fails the task, and so perhaps the " \
      "framework.")                                                                                                    \
    X("framework", "delete", "NAME", 1, 1, LOGIN, framework_delete,                                                    \
      "Delete a framework and all that runs of it.",                                                                   \
      "")                                                                                                              \
    X("launcher", "import", "zk://HOST:PORT[,...]/PATH", 1, 1,                                                          \
      LOGIN | O(DRY_RUN) | O(REPLACE) | O(COMPLETED) | O(TIMEOUT) | O(QUIET) | O(ACCESSOR), launcher_import,            \
      "Take over the frameworks of an original FrameworkLauncher from its store in ZooKeeper.",                        \
      "PATH is its zkRootDir, as /Launcher. Puts the descriptor of each FrameworkRequest to svcmgr, as its user and "  \
      "with its client type, parents first, and before them the configuration of the cluster and of access; then its " \
      "progress, where a client has set it. Leaves out what svcmgr has, unless it is --overwrite, and what has "       \
      "completed. Names each one that is malformed or refused, goes on with the others, and ends with the code of "    \
      "the first. Never writes to the store: what runs there goes on. --accessor is for a store that not everybody "   \
      "may read. With --dry-run shows what it would do, and how many tasks run there. --timeout is for connecting to " \
      "ZooKeeper.")                                                                                                    \
    X("slider", "list", "", 0, 0, LOGIN | O(ALL), slider_list,                                                         \
      "List the applications of Slider.",                                                                              \
      "With --all also those that have ended.")                                                                        \
    X("slider", "status", "NAME", 1, 1, LOGIN, slider_status,                                                          \
      "Show an application, its components and its containers.",                                                       \
      "With -o json prints the document of the application, with its live/components and live/containers.")            \
    X("slider", "create", "NAME", 1, 1,                                                                                \
      LOGIN | O(RESOURCES) | O(TEMPLATE) | O(INTERNAL) | O(PACKAGE) | O(WAIT) | O(TIMEOUT) | O(QUIET), slider_create,  \
      "Create an application from the documents of Slider, and start it.",                                             \
      "--resources and --template are needed. What a component runs is commands/exec of the package, or the option "   \
      "launch_command in the template. The package is read here, with your rights. Parts of it that need Slider's "    \
      "agent are refused.")                                                                                            \
    X("slider", "update", "NAME", 1, 1,                                                                                \
      LOGIN | O(RESOURCES) | O(TEMPLATE) | O(INTERNAL) | O(PACKAGE) | O(WAIT) | O(TIMEOUT) | O(QUIET), slider_update,  \
      "Replace all documents of an application.",                                                                      \
      "A component that they lack has no instances any more. A stopped application stays stopped.")                    \
    X("slider", "start", "NAME", 1, 1, LOGIN | O(WAIT) | O(TIMEOUT) | O(QUIET), slider_start,                          \
      "Start a stopped application.",                                                                                  \
      "")                                                                                                              \
    X("slider", "flex", "NAME", 1, 1,                                                                                  \
      LOGIN | O(COMPONENT) | O(RESOURCES) | O(WAIT) | O(TIMEOUT) | O(QUIET), slider_flex,                              \
      "Change the number of instances of components, or the whole resources document.",                                \
      "With --resources a component that the document lacks has no instances any more.")                               \
    X("slider", "stop", "NAME", 1, 1, LOGIN | O(NO_WAIT) | O(TIMEOUT) | O(QUIET), slider_stop,                         \
      "Stop an application, and wait until nothing of it runs; its documents stay.",                                   \
      "")                                                                                                              \
    X("slider", "destroy", "NAME", 1, 1, LOGIN, slider_destroy,                                                        \
      "Stop an application and delete it.",                                                                            \
      "")                                                                                                              \
    X("dns", "explain", "NAME [TYPE]", 1, 2, O(TIMEOUT), dns_explain,                                                  \
      "Explain the answer for a name, or why there is none.",                                                          \
      "Shows for type A, or TYPE: the registry records that give or could have given the name, and what became of "    \
      "each; what the zones hold at it and at each name that an alias leads to; the answer, and whether it may be "    \
      "stale; the missing link. An address in place of the name asks for its PTR. A name that does not exist is "      \
      "no error.")                                                                                                     \
    X("dns", "zones", "", 0, 0, O(TIMEOUT), dns_zones,                                                                 \
      "List the zones with serial, size and errors of their files.",                                                   \
      "")                                                                                                              \
    X("dns", "stats", "", 0, 0, O(TIMEOUT), dns_stats,                                                                 \
      "Count records, names and queries.",                                                                             \
      "Also shows the age of the records and, where dnsd forwards, the response time and failures of each "            \
      "upstream server.")                                                                                              \
    X("dns", "dump", "[ZONE]", 0, 1, O(TIMEOUT), dns_dump,                                                             \
      "Print a zone as a master file.",                                                                                \
      "The default is the zone of the registry. -o json prints one record a line.")                                    \
    X("dns", "reload", "", 0, 0, O(TIMEOUT), dns_reload,                                                               \
      "Read master files, certificate and secrets again.",                                                             \
      "Names file:line of the first error.")                                                                           \
    X("dns", "release", "", 0, 0, O(TIMEOUT), dns_release,                                                             \
      "Apply the removals that the guard against mass removal holds back.",                                            \
      "")                                                                                                              \
    X("dns", "sync", "REVISION", 1, 1, O(TIMEOUT), dns_sync,                                                           \
      "Wait until dnsd answers from a revision of the registry.",                                                      \
      "Waits 10 seconds, or --timeout.")                                                                               \
    X("dns", "shadow", "HOST:PORT [ZONE...]", 1, ANY_NUMBER, O(LIMIT) | O(TTL) | O(TIMEOUT), dns_shadow,               \
      "Compare the answers of another server with dnsd's.",                                                            \
      "Prints response codes and records that differ, in any order. Asks for the names of dnsd's zones, or of the "    \
      "given ones, all of them or --limit a zone: the types of each name, A and AAAA, and some names that do not "     \
      "exist. Leaves out the SOA, the NS of a zone and signatures, which each server has of its own. Finds names "     \
      "that only the other server has where that lets its zones be transferred, as RegistryDNS does; names each "      \
      "zone that it refuses to transfer. Asks the DNS port that the dnsd of --url names. Exit code "                   \
      "0: no difference; 1: differences; 6: five questions in a row without an answer, or --timeout has "              \
      "passed.")                                                                                        \
    X("log-level", "", "[registryd|dnsd|svcmgr|URL] [error|warn|info|debug]", 0, 2, 0, log_level_run,                  \
      "Show the level of the log of daemons that run, or change it until their next start.",                           \
      "Without a daemon or URL of all three; of registryd all servers of hadoop.registry.url. Every write is logged "  \
      "at info, every read at debug. Only on the host of the daemon; in a secure registry for system accounts only. "  \
      "Prints each daemon that cannot be asked with the error; the exit code is that of the first error.")             \
    X("dev", "", "", 0, 0, O(EXAMPLE) | O(ZONES) | O(CHECK) | O(STORE) | O(KEEP), dev_run,                             \
      "Start all of Bobbin on this machine with an example service, until Ctrl-C.",                                    \
      "Starts registryd, dnsd and svcmgr on their default ports, launches the example, shows with dig(1) and "         \
      "curl(1) that DNS finds it, runs the example application master, and asks the questions that the master "        \
      "files name in their comments. -D moves a port: hadoop.registry.http.address, "                                  \
      "hadoop.registry.dns.bind-port, hadoop.registry.dns.http.address, yarn.service.api-server.address. Ignores "     \
      "HADOOP_CONF_DIR.")
/* clang-format on */

#define CLI_COMMAND_FUNCTION(group, verb, operands, min, max, options, function, summary, details)           \
    int function(struct cli *cli, struct err_info *why);
CLI_COMMANDS(CLI_COMMAND_FUNCTION)
#undef CLI_COMMAND_FUNCTION

#endif
