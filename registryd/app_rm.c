/* Which resource managers there are, by Hadoop's keys. */
#include "app.h"
#include "options.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/log.h"

#include <stdlib.h>
#include <string.h>

#define HTTP_PORT  8088
#define HTTPS_PORT 8090

/* Value of a row, or of its key with ".id" appended. NULL: not set. */
static const char *value_of(const struct options *o, int row, const char *key, const char *id)
{
    if (!id)
        return opt_text(o, row);
    mem_auto char *own = mem_fmt("%s.%s", key, id);
    return opt_other(o, own);
}

/* URL of one RM; id NULL: the only one. */
static char *rm_url(const struct options *o, const char *id)
{
    bool is_https = strcmp(opt_text(o, OPT_RM_HTTP_POLICY), "HTTPS_ONLY") == 0;
    const char *address =
        is_https ? value_of(o, OPT_RM_WEBAPP_HTTPS, "yarn.resourcemanager.webapp.https.address", id)
                 : value_of(o, OPT_RM_WEBAPP, "yarn.resourcemanager.webapp.address", id);
    const char *scheme = is_https ? "https" : "http";
    if (address)
        return mem_fmt("%s://%s", scheme, address);
    const char *host = value_of(o, OPT_RM_HOSTNAME, "yarn.resourcemanager.hostname", id);
    return host ? mem_fmt("%s://%s:%d", scheme, host, is_https ? HTTPS_PORT : HTTP_PORT) : NULL;
}

static void urls_free(char **urls)
{
    for (size_t i = 0; urls[i]; i++)
        free(urls[i]);
    free(urls);
}

/* URLs of all RMs. @return 0; ERR_CONFIG: an id without address, or no id. */
static int rm_urls(const struct options *o, char ***out, struct err_info *why)
{
    const char *ids = opt_bool(o, OPT_RM_HA) ? log_text(opt_text(o, OPT_RM_IDS)) : NULL;
    char **urls = mem_array(2, sizeof *urls);
    size_t n = 0;
    if (!ids)
        urls[n++] = rm_url(o, NULL);
    for (size_t i = 0; ids; i++) {
        mem_auto char *id = str_field(ids, ',', i);
        if (!id)
            break;
        if (!*id)
            continue;
        urls = mem_resize(urls, n + 2, sizeof *urls);
        urls[n] = rm_url(o, id);
        urls[n + 1] = NULL;
        if (!urls[n++]) {
            err_set(why, ERR_CONFIG, "yarn.resourcemanager.ha.rm-ids",
                    "\"%s\" has no yarn.resourcemanager.webapp.address.%s and no "
                    "yarn.resourcemanager.hostname.%s",
                    id, id, id);
            urls_free(urls);
            return ERR_CONFIG;
        }
    }
    if (!n) {
        urls_free(urls);
        return err_set(why, ERR_CONFIG, "yarn.resourcemanager.ha.rm-ids",
                       "yarn.resourcemanager.ha.enabled is set, and no id is given");
    }
    *out = urls;
    return 0;
}

void app_rm_check(const struct options *o, struct opt_report *report)
{
    char **urls = NULL;
    struct err_info why;
    if (!opt_bool(o, OPT_RM_ENABLED))
        return;
    if (rm_urls(o, &urls, &why))
        opt_error(o, "yarn.resourcemanager.ha.rm-ids", &why, report);
    else
        urls_free(urls);
}

int app_rm_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    const struct options *o = daemon_options(d);
    char **urls = NULL;
    if (!opt_bool(o, OPT_RM_ENABLED))
        return 0;
    int err = rm_urls(o, &urls, why);
    if (err)
        return err;
    struct rm_poll_def def = {.loop = daemon_loop(d),
                              .mirror = app->api.mirror,
                              .index = app->api.index,
                              .cleanup = app->api.cleanup,
                              .metrics = daemon_metrics(d),
                              .outages = daemon_outages(d),
                              .urls = (const char *const *)urls,
                              .interval_ms = opt_ms(o, OPT_RM_INTERVAL),
                              .node_expiry_ms = opt_ms(o, OPT_NM_EXPIRY),
                              .node_settle_ms = opt_ms(o, OPT_RM_SETTLE),
                              .max_apps = opt_int(o, OPT_RM_MAX_APPS),
                              .dry_run = opt_bool(o, OPT_RM_DRY_RUN),
                              .data_dir = opt_text(o, OPT_DATA_DIR)};
    app->rm = rm_poll_new(&def);
    urls_free(urls);
    return 0;
}

void app_rm_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    rm_poll_free(app->rm);
    app->rm = NULL;
    daemon_stopped(d);
}
