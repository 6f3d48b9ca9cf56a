/**
 * An example application master: it binds its endpoints in the registry, updates one, and unbinds them at the end.
 *
 *     example-am [--registry URL] [--user NAME] [--class CLASS] [--name NAME] [--id APPLICATION] [--host HOST] [--once]
 *
 * The record stands at /users/{user}/services/{class}/{name}; dnsd makes {name}.{user}.{domain} of it, with SRV and TXT
 * for each endpoint: http-api, appmaster-rest-api and appmaster-ipc-api below that name. It stays until SIGINT or
 * SIGTERM; with --once it does everything and ends.
 *
 * Outside Bobbin's own build: cc am.c $(pkg-config --cflags --libs bobbin)
 */
#include <bobbin/path.h>
#include <bobbin/record.h>
#include <bobbin/registry.h>

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API_WEB  "http://"
#define API_REST "classpath:org.apache.hadoop.yarn.service.appmaster.rest"
#define API_IPC  "classpath:org.apache.hadoop.yarn.service.appmaster.ipc"

struct settings {
    const char *registry, *user, *service_class, *name, *application, *host;
    int once;
};

/** The record as it is when the web UI listens at web_port. */
static struct reg_record *make_record(const struct settings *s, int web_port)
{
    struct reg_record *record = reg_record_new();
    struct reg_endpoint e;
    char web[256], rest[256];

    snprintf(web, sizeof web, "http://%s:%d/", s->host, web_port);
    snprintf(rest, sizeof rest, "http://%s:%d/ws/v1/am", s->host, web_port);
    reg_record_describe(record, "Example application master");
    reg_record_set(record, "yarn:id", s->application, NULL);
    reg_record_set(record, "yarn:persistence", "application", NULL);

    reg_endpoint_web(&e, API_WEB, (const char *[]){web, NULL});
    reg_record_add_external(record, &e, NULL);
    reg_endpoint_rest(&e, API_REST, (const char *[]){rest, NULL});
    reg_record_add_external(record, &e, NULL);
    reg_endpoint_ipc(&e, API_IPC, s->host, 8031);
    reg_record_add_external(record, &e, NULL);
    return record;
}

static int bind_endpoints(struct reg_blocking *registry, const struct settings *s, const char *path,
                          int web_port, struct err_info *why)
{
    struct reg_record *record = make_record(s, web_port);
    char revision[REG_REVISION_MAX] = "";
    int err = reg_blocking_bind(registry, path, record, REG_OVERWRITE | REG_CREATE_PARENTS, revision, why);

    reg_record_free(record);
    if (!err) {
        printf("bound %s web_port=%d revision=%s\n", path, web_port, revision);
        fflush(stdout);
    }
    return err;
}

/** What the registry says now, to show that the update arrived. */
static int show(struct reg_blocking *registry, const char *path, struct err_info *why)
{
    struct reg_record *record = NULL;
    int err = reg_blocking_resolve(registry, path, &record, why);
    const struct reg_endpoint *web = err ? NULL : reg_record_external(record, API_WEB);

    if (web && web->n_addresses > 0)
        printf("resolved %s web=%s\n", path, reg_address_get(&web->addresses[0], "uri"));
    reg_record_free(record);
    return err;
}

/** Bind, update, wait to be stopped, unbind. */
static int run(struct reg_blocking *registry, const struct settings *s, const char *path,
               const sigset_t *stop, struct err_info *why)
{
    char revision[REG_REVISION_MAX] = "";
    int signal_number;
    int err = bind_endpoints(registry, s, path, 8088, why);

    if (!err)
        err = bind_endpoints(registry, s, path, 8090, why); /* the web UI moved */
    if (!err)
        err = show(registry, path, why);
    fflush(stdout);
    if (err)
        return err;
    if (!s->once)
        sigwait(stop, &signal_number);
    err = reg_blocking_delete(registry, path, 0, revision, why);
    if (!err)
        printf("unbound %s revision=%s\n", path, revision);
    return err;
}

static int usage(void)
{
    fprintf(stderr, "usage: example-am [--registry URL] [--user NAME] [--class CLASS] [--name NAME]\n"
                    "                  [--id APPLICATION] [--host HOST] [--once]\n");
    return 2;
}

static int read_options(int argc, char **argv, struct settings *s)
{
    static const struct option options[] = {
        {"registry", required_argument, NULL, 'r'}, {"user", required_argument, NULL, 'u'},
        {"class", required_argument, NULL, 'c'},    {"name", required_argument, NULL, 'n'},
        {"id", required_argument, NULL, 'i'},       {"host", required_argument, NULL, 'h'},
        {"once", no_argument, NULL, 'o'},           {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'r': s->registry = optarg; break;
        case 'u': s->user = optarg; break;
        case 'c': s->service_class = optarg; break;
        case 'n': s->name = optarg; break;
        case 'i': s->application = optarg; break;
        case 'h': s->host = optarg; break;
        case 'o': s->once = 1; break;
        default: return usage();
        }
    }
    return optind < argc ? usage() : 0;
}

int main(int argc, char **argv)
{
    struct settings s = {NULL, NULL, "example", "am", "application_1700000000000_0001", "127.0.0.1", 0};
    struct reg_options options = {0};
    struct reg_blocking *registry = NULL;
    struct err_info why = {0};
    char *user, *path = NULL;
    sigset_t stop;
    int err = read_options(argc, argv, &s);

    if (err)
        return err;
    /* Signals are waited for in run(); blocked from here, so that none is lost. */
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);

    user = s.user ? strdup(s.user) : reg_current_user();
    options.url = s.registry;
    options.user = user;
    err = reg_service_path(user, s.service_class, s.name, &path, &why);
    if (!err)
        err = reg_blocking_open(&options, &registry, &why);
    if (!err)
        err = run(registry, &s, path, &stop, &why);
    if (err)
        fprintf(stderr, "example-am: %s: %s\n", why.where, why.text);
    reg_blocking_close(registry);
    free(path);
    free(user);
    return err_exit_code(err);
}
