#include "app.h"
#include "options.h"
#include "base/mem.h"
#include "json/writer.h"
#include "tap/frames.h"
#include "tap/tap.h"

#include <string.h>
#include <unistd.h>

static struct tap_rates rates(const struct options *o)
{
    return (struct tap_rates){.log_every = (unsigned)opt_int(o, OPT_QUERY_LOG_SAMPLE),
                              .log_per_s = (unsigned)opt_int(o, OPT_QUERY_LOG_RATE),
                              .dnstap_every = (unsigned)opt_int(o, OPT_DNSTAP_SAMPLE)};
}

void dnsd_tap_check(const struct options *o, struct opt_report *report)
{
    static const char key[] = "hadoop.registry.dns.dnstap.socket";
    const char *path = opt_text(o, OPT_DNSTAP_SOCKET);
    struct err_info why;
    if (!path || (*path == '/' && strlen(path) <= FRAMES_PATH_MAX))
        return;
    err_set(&why, ERR_CONFIG, path, "\"%s\" is no absolute path of at most %d bytes", path, FRAMES_PATH_MAX);
    opt_error(o, key, &why, report);
}

int dnsd_tap_start(struct dnsd *app, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    const char *identity = opt_text(o, OPT_IDENTITY);
    char host[sizeof app->host] = "";
    if (!identity && gethostname(host, sizeof host - 1))
        host[0] = 0;
    struct tap_options to = {.rates = rates(o),
                             .socket = opt_text(o, OPT_DNSTAP_SOCKET),
                             .identity = identity ? identity : host,
                             .version = "Bobbin dnsd " BOBBIN_VERSION};
    return tap_new(&to, &app->tap, why);
}

void dnsd_tap_reload(struct dnsd *app)
{
    struct tap_rates now = rates(daemon_options(app->daemon));
    tap_set_rates(app->tap, &now);
}

void dnsd_tap_stop(struct dnsd *app)
{
    tap_free(app->tap);
    app->tap = NULL;
}

void dnsd_tap_write(const struct dnsd *app, struct jw *w)
{
    struct tap_counts counts;
    tap_counts_read(app->tap, &counts);
    jw_key(w, "queryLog");
    jw_object(w);
#define COUNT(field, name, help) jw_kint(w, #field, (int64_t)counts.field);
    TAP_COUNTERS(COUNT)
#undef COUNT
    jw_object_end(w);
}
