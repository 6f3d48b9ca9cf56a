/** Writes that come again to another registryd of the same store: lib/repeats. */
#include "app.h"
#include "options.h"

#include <string.h>

int app_repeats_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    struct claims_def def = {.loop = daemon_loop(d),
                             .store = app->api.store,
                             .acl = opt_bool(daemon_options(d), OPT_SECURE) ? &app->accounts.acl.acl : NULL};
    (void)why;
    /* An embedded store has one registryd. */
    if (strcmp(store_kind(def.store), "zookeeper") == 0 && store_has_aside(def.store))
        app->claims = claims_new(&def);
    return 0;
}

void app_repeats_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    if (app->claims)
        claims_stop(app->claims);
    daemon_stopped(d);
}
