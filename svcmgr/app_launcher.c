/* The FrameworkLauncher API beside the others: its configuration, and one table of routes, schemas and errors for all. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "faces/services.h"
#include "faces/services_routes.h"
#include "launcher/kit.h"
#include "launcher/routes.h"
#include "slider/kit.h"
#include "slider/routes.h"
#include "svcmgr/app.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/options.h"

#define MS_PER_S  1000
#define MIN_PORT  2000
#define ADMIN_MAX 1000 /* more users of the option are left out */

/** What struct launcher_site borrows. */
struct app_launcher {
    struct launcher_site site;
    char *own_url, *bind_host, *host, *login_user;
    char *admins[ADMIN_MAX];
    struct http_route *routes;
    struct http_schema *schemas;
};

static void read_admins(struct app_launcher *l, const char *list)
{
    char *name;
    for (size_t i = 0; list && l->site.n_root_admins < ADMIN_MAX && (name = str_field(list, ',', i)); i++) {
        if (*name)
            l->admins[l->site.n_root_admins++] = name;
        else
            free(name);
    }
    l->site.root_admins = (const char *const *)l->admins;
}

static char *host_of(const struct options *o)
{
    char name[256] = "localhost";
    const char *host = opt_text(o, OPT_HOSTNAME);
    if (!host && !gethostname(name, sizeof name - 1))
        host = name;
    return mem_str(host ? host : name);
}

void app_launcher_open(struct app *a)
{
    const struct options *o = daemon_options(a->daemon);
    struct app_launcher *l = mem_new(struct app_launcher);
    const char *address = opt_text(o, OPT_ADDRESS), *zk = opt_text(o, OPT_ZK_QUORUM);

    l->own_url = app_own_url(a);
    l->host = host_of(o);
    l->login_user = reg_current_user();
    l->bind_host = mem_strn(address, (size_t)(strrchr(address, ':') - address));
    l->site = (struct launcher_site){.own_url = l->own_url,
                                     .bind_host = l->bind_host,
                                     .zk_connect = zk ? zk : "",
                                     .zk_root = opt_text(o, OPT_LAUNCHER_ZK_ROOT),
                                     .hdfs_root = opt_text(o, OPT_LAUNCHER_HDFS_ROOT),
                                     .fs_uri = opt_text(o, OPT_FS),
                                     .has_acl = opt_bool(o, OPT_LAUNCHER_ACL),
                                     .ignores_without_namespace = opt_bool(o, OPT_LAUNCHER_ACL_IGNORE),
                                     .conflict_min_s = opt_ms(o, OPT_LAUNCHER_CONFLICT_MIN) / MS_PER_S,
                                     .conflict_max_s = opt_ms(o, OPT_LAUNCHER_CONFLICT_MAX) / MS_PER_S,
                                     .retain_s = opt_ms(o, OPT_LAUNCHER_RETAIN) / MS_PER_S,
                                     .max_tasks = opt_int(o, OPT_LAUNCHER_MAX_TASKS),
                                     .gang_timeout_s = opt_ms(o, OPT_LAUNCHER_GANG) / MS_PER_S,
                                     .min_port = MIN_PORT,
                                     .login_user = l->login_user,
                                     .host = l->host,
                                     .ip = l->bind_host};
    read_admins(l, opt_text(o, OPT_LAUNCHER_ADMINS));
    a->launcher = l;
    a->face.launcher = &l->site;
}

void app_launcher_close(struct app *a)
{
    struct app_launcher *l = a->launcher;
    if (!l)
        return;
    for (size_t i = 0; i < l->site.n_root_admins; i++)
        free(l->admins[i]);
    free(l->own_url);
    free(l->bind_host);
    free(l->host);
    free(l->login_user);
    free(l->routes);
    free(l->schemas);
    free(l);
    a->launcher = NULL;
    a->face.launcher = NULL;
}

/* ---- all APIs together ---- */

static void add_routes(struct http_route *to, size_t *n, const struct http_route *rows, size_t n_rows)
{
    memcpy(to + *n, rows, n_rows * sizeof *rows);
    *n += n_rows;
}

const struct http_route *app_api_routes(struct app *a, size_t *n)
{
    struct app_launcher *l = a->launcher;
    *n = 0;
    free(l->routes);
    l->routes = mem_array(services_n_routes + launcher_n_routes + slider_n_routes + slider_named_n_routes +
                              app_manager_n_routes,
                          sizeof *l->routes);
    add_routes(l->routes, n, services_routes, services_n_routes);
    add_routes(l->routes, n, launcher_routes, launcher_n_routes);
    add_routes(l->routes, n, slider_routes, slider_n_routes);
    add_routes(l->routes, n, slider_named_routes, slider_named_n_routes);
    if (a->manager)
        add_routes(l->routes, n, app_manager_routes, app_manager_n_routes);
    return l->routes;
}

static size_t n_schemas(const struct http_schema *schemas)
{
    size_t n = 0;
    while (schemas[n].name)
        n++;
    return n;
}

const struct http_schema *app_api_schemas(struct app *a)
{
    static const struct http_schema *const all[] = {services_schemas, launcher_schemas, slider_schemas};
    struct app_launcher *l = a->launcher;
    size_t n = 0;
    mem_free_ptr(&l->schemas);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t n_more = n_schemas(all[i]);
        l->schemas = mem_resize(l->schemas, n + n_more + 1, sizeof *l->schemas);
        memcpy(l->schemas + n, all[i], n_more * sizeof *l->schemas);
        n += n_more;
        l->schemas[n] = (struct http_schema){.name = NULL};
    }
    return l->schemas;
}

const char *app_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    if (slider_owns(req))
        return slider_write_error(req, code, why, body);
    return launcher_owns(req) ? launcher_write_error(req, code, why, body)
                              : services_write_error(req, code, why, body);
}
