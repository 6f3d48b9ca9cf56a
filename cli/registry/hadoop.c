/** `bobbin registry -o hadoop`: the words, the output and the results of Hadoop's RegistryCli. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/commands.h"
#include "hadoop_args.h"
#include "registry.h"

#define FAILURE_CODE 255 /* what -1 is to a shell */

#define LS_USAGE      "ls pathName"
#define RESOLVE_USAGE "resolve pathName"
#define BIND_USAGE                                                                                           \
    "bind -inet  -api apiName -p portNumber -h hostName  pathName\n"                                         \
    "bind -webui uriString -api apiName  pathName\n"                                                         \
    "bind -rest uriString -api apiName  pathName"
#define MKNODE_USAGE "mknode directoryName"
#define RM_USAGE     "rm pathName"
#define USAGE        "\n" LS_USAGE "\n" RESOLVE_USAGE "\n" BIND_USAGE "\n" MKNODE_USAGE "\n" RM_USAGE

#define EXCEPTIONS "org.apache.hadoop.registry.client.exceptions."

static int usage_error(const char *usage, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int usage_error(const char *usage, const char *fmt, ...)
{
    va_list list;

    fputs("Error: ", stderr);
    va_start(list, fmt);
    vfprintf(stderr, fmt, list);
    va_end(list);
    fprintf(stderr, "\nUsage: %s\n", usage);
    return ERR_USAGE;
}

/** Say what the registry refused, as Hadoop says it. */
static int failed(int err, const char *path, const struct err_info *why)
{
    const char *name = err_exception(err);
    bool is_of_files = err == ERR_NOTFOUND || err == ERR_EXISTS || err == ERR_NOTEMPTY;
    mem_auto char *error =
        mem_fmt("%s%s: `%s': %s", is_of_files ? "org.apache.hadoop.fs." : EXCEPTIONS,
                *name ? name : "RegistryIOException", path, why->text[0] ? why->text : err_text(err));

    if (err == ERR_PATH)
        fprintf(stderr, "InvalidPath :%s: %s\n", path, error);
    else if (err == ERR_NOTFOUND)
        fprintf(stderr, "Path not found: %s\n", path);
    else if (err == ERR_NORECORD)
        fprintf(stderr, "No service record at path %s\n", path);
    else if (err == ERR_AUTH)
        fprintf(stderr, "Failed to authenticate to registry : %s\n", error);
    else if (err == ERR_PERMISSION)
        fprintf(stderr, "No Permission to path: %s: %s\n", path, error);
    else if (err == ERR_RECORD)
        fprintf(stderr, "Unable to read record at: %s: %s\n", path, error);
    else
        fprintf(stderr, "IO Exception when accessing path :%s: %s\n", path, error);
    return err;
}

/* ---- commands: what each does with its one path ---- */

/** Words that were read, and what is made of them. */
struct order {
    const char *path;
    bool is_recursive;
    struct reg_record *record; /* bind */
};

static int do_ls(struct reg_blocking *b, const struct order *o, struct err_info *why)
{
    char **names = NULL;
    int err = reg_blocking_list(b, o->path, &names, why);

    for (size_t i = 0; !err && names[i]; i++)
        puts(names[i]);
    if (!err)
        reg_path_split_free(names);
    return err;
}

static void print_endpoint(const struct reg_endpoint *e)
{
    printf(" Endpoint(ProtocolType=%s, Api=%s); Addresses(AddressType=%s) are: \n", e->protocol_type, e->api,
           e->address_type);
    for (size_t i = 0; i < e->n_addresses; i++) {
        const struct reg_address *a = &e->addresses[i];
        fputs("[ \n", stdout);
        for (size_t k = 0; k < a->n_pairs; k++)
            printf("\t%s:%s", a->pairs[k].key, a->pairs[k].value ? a->pairs[k].value : "null");
        fputs("\n]\n", stdout);
    }
    fputs("\n", stdout);
}

static int do_resolve(struct reg_blocking *b, const struct order *o, struct err_info *why)
{
    struct reg_record *record = NULL;
    int err = reg_blocking_resolve(b, o->path, &record, why);

    for (size_t i = 0; !err && i < record->external.n_items; i++)
        print_endpoint(&record->external.items[i]);
    reg_record_free(record);
    return err;
}

static int do_bind(struct reg_blocking *b, const struct order *o, struct err_info *why)
{
    return reg_blocking_bind(b, o->path, o->record, REG_OVERWRITE, NULL, why);
}

static int do_mknode(struct reg_blocking *b, const struct order *o, struct err_info *why)
{
    return reg_blocking_mknode(b, o->path, false, NULL, why);
}

static int do_rm(struct reg_blocking *b, const struct order *o, struct err_info *why)
{
    return reg_blocking_delete(b, o->path, o->is_recursive ? REG_RECURSIVE : 0, NULL, why);
}

/** The last part of each command: one path, then the registry. */
static int carry_out(struct cli *cli, const struct order *order,
                     int (*run)(struct reg_blocking *b, const struct order *o, struct err_info *why))
{
    struct reg_blocking *registry = NULL;
    struct err_info why = {0};

    if (order->path[0] != '/') {
        fprintf(stderr, "Path must start with /; given path was: %s\n", order->path);
        return ERR_PATH;
    }
    int err = registry_open(cli, &registry, &why);
    if (!err)
        err = run(registry, order, &why);
    reg_blocking_close(registry);
    return err ? failed(err, order->path, &why) : 0;
}

/** ls, resolve, mknode, rm. */
static int simple(struct cli *cli, const char *noun, const char *usage,
                  int (*run)(struct reg_blocking *b, const struct order *o, struct err_info *why))
{
    static const struct hadoop_option none[] = {{0}}, recursive[] = {{"r", false}, {0}};
    struct hadoop_args args;
    int err;

    hadoop_args_read(run == do_rm ? recursive : none, cli->operands, cli->n_operands, &args);
    const struct order order = {.path = args.n_operands == 2 ? args.operands[1] : NULL,
                                .is_recursive = args.has[0]};
    if (args.exception)
        err =
            usage_error(usage, "Invalid syntax org.apache.commons.cli.%s: %s", args.exception, args.message);
    else if (!order.path)
        err = usage_error(usage, "%s requires exactly one path argument", noun);
    else
        err = carry_out(cli, &order, run);
    hadoop_args_fini(&args);
    return err;
}

/* ---- bind ---- */

enum { OPTION_KIND, OPTION_API, OPTION_PORT, OPTION_HOST };

static const struct hadoop_option inet_options[] = {
    {"inet", false}, {"api", true}, {"p", true}, {"h", true}, {0}};
static const struct hadoop_option webui_options[] = {{"webui", true}, {"api", true}, {0}};
static const struct hadoop_option rest_options[] = {{"rest", true}, {"api", true}, {0}};

/** Index of the first character that no URI has; -1: there is none. */
static int bad_in_uri(const char *uri)
{
    static const char refused[] = " \"<>\\^`{|}";

    for (int i = 0; uri[i]; i++) {
        unsigned char c = (unsigned char)uri[i];
        bool is_escape = c == '%' && strspn(uri + i + 1, "0123456789abcdefABCDEF") >= 2;
        if (c < 0x20 || c == 0x7f || strchr(refused, c) || (c == '%' && !is_escape))
            return i;
    }
    return uri[0] == ':' ? 0 : -1;
}

static int make_inet(const struct hadoop_args *a, struct reg_endpoint *out)
{
    int64_t port = 0;

    if (!a->has[OPTION_KIND] || !a->has[OPTION_API] || !a->has[OPTION_PORT] || !a->has[OPTION_HOST])
        return usage_error(BIND_USAGE, "Missing options: must have host, port and api");
    if (str_to_i64(a->values[OPTION_PORT], INT32_MIN, INT32_MAX, &port))
        return usage_error(BIND_USAGE, "Invalid Port - int requiredFor input string: \"%s\"",
                           a->values[OPTION_PORT]);
    reg_endpoint_ipc(out, a->values[OPTION_API], a->values[OPTION_HOST], (int)port);
    return 0;
}

static int make_uri(const struct hadoop_args *a, bool is_web, struct reg_endpoint *out)
{
    if (!a->has[OPTION_KIND] || !a->has[OPTION_API])
        return usage_error(BIND_USAGE, "Missing options: must have value for uri and api");
    const char *const uris[] = {a->values[OPTION_KIND], NULL};
    int bad = bad_in_uri(uris[0]);
    if (bad >= 0)
        return usage_error(BIND_USAGE, "Invalid URI: Illegal character at index %d: %s", bad, uris[0]);
    if (is_web)
        reg_endpoint_web(out, a->values[OPTION_API], uris);
    else
        reg_endpoint_rest(out, a->values[OPTION_API], uris);
    return 0;
}

static int bind_endpoint(struct cli *cli, const struct hadoop_args *args, struct reg_endpoint *take_e)
{
    struct err_info why = {0};
    struct order order = {.path = args->n_operands == 2 ? args->operands[1] : NULL};

    if (!order.path)
        return usage_error(BIND_USAGE, "bind requires exactly one path argument");
    order.record = reg_record_new();
    int err = reg_record_add_external(order.record, take_e, &why);
    err = err ? failed(err, order.path, &why) : carry_out(cli, &order, do_bind);
    reg_record_free(order.record);
    return err;
}

static int bind_record(struct cli *cli)
{
    static const struct {
        const char *word;
        const struct hadoop_option *options;
    } kinds[] = {{"-inet", inet_options}, {"-webui", webui_options}, {"-rest", rest_options}};
    struct hadoop_args args;
    struct reg_endpoint e = {0};
    size_t kind = 0;

    if (cli->n_operands < 2)
        return usage_error(BIND_USAGE, "Invalid syntax ");
    while (kind < ARRAY_LEN(kinds) && strcmp(cli->operands[1], kinds[kind].word) != 0)
        kind++;
    if (kind == ARRAY_LEN(kinds))
        return usage_error(BIND_USAGE, "Invalid syntax");
    hadoop_args_read(kinds[kind].options, cli->operands, cli->n_operands, &args);
    int err = args.exception ? usage_error(BIND_USAGE, "Invalid syntax %s", args.message)
              : kind == 0    ? make_inet(&args, &e)
                             : make_uri(&args, kind == 1, &e);
    if (!err)
        err = bind_endpoint(cli, &args, &e);
    reg_endpoint_fini(&e);
    hadoop_args_fini(&args);
    return err;
}

int registry_hadoop(struct cli *cli, struct err_info *why)
{
    const char *command = cli->n_operands ? cli->operands[0] : NULL;
    int err;

    (void)why; /* this command prints every error itself, in Hadoop's words */
    cli->is_reported = true;
    cli->failure_code = FAILURE_CODE;
    if (!command)
        err = usage_error(USAGE, "No command arg passed.");
    else if (strcmp(command, "ls") == 0)
        err = simple(cli, "ls", LS_USAGE, do_ls);
    else if (strcmp(command, "resolve") == 0)
        err = simple(cli, "resolve", RESOLVE_USAGE, do_resolve);
    else if (strcmp(command, "mknode") == 0)
        err = simple(cli, "mknode", MKNODE_USAGE, do_mknode);
    else if (strcmp(command, "rm") == 0)
        err = simple(cli, "RM", RM_USAGE, do_rm);
    else if (strcmp(command, "bind") == 0)
        err = bind_record(cli);
    else
        err = usage_error(USAGE, "Invalid command: %s", command);
    return err;
}
