/* Options of svcmgr as other folders read them. */
#include <string.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/app_files.h"
#include "svcmgr/options.h"

static const struct opt_def rows[] = {OPTIONS_ROWS(SVCMGR_OPTIONS)};

const char *app_hadoop_key(const struct options *o, const char *key)
{
    int id = opt_find(o, key);

    return id < 0 ? opt_other(o, key) : opt_text(o, id);
}

const char *app_option_key(int id)
{
    BUG_IF(id < 0 || id >= N_SVCMGR_OPTIONS);
    return rows[id].key;
}

static const char *yarn_key(void *arg, const char *key)
{
    const struct options *const *o = arg;

    return app_hadoop_key(*o, key);
}

struct yarn_keys app_yarn_keys(const struct options *const *o)
{
    return (struct yarn_keys){yarn_key, (void *)o};
}

struct fs_conf app_fs_conf(const struct options *o)
{
    return (struct fs_conf){app_hadoop_key, o};
}

bool app_is_on_yarn(const struct options *o)
{
    return strcmp(opt_text(o, OPT_CLUSTER), "yarn") == 0;
}

int app_protection(const struct options *o, struct sasl_wish *out, struct err_info *why)
{
    const char *text = opt_text(o, OPT_RPC_PROTECTION);
    const char *both = "authentication,integrity"; /* as the server has it */
    int err = sasl_wish_read(text ? text : both, out, why);

    if (err && why)
        snprintf(why->where, sizeof why->where, "%s", app_option_key(OPT_RPC_PROTECTION));
    return err;
}

void app_check_yarn(const struct options *o, struct opt_report *report)
{
    const char *url = opt_text(o, OPT_STATE_STORE);
    struct err_info why = {0};

    if (!app_is_on_yarn(o))
        return;
    if (!url || strncmp(url, "file:", 5) == 0) {
        err_set(&why, ERR_CONFIG, NULL,
                "%s is on one host, and with yarn.service.cluster=yarn the application masters write the "
                "state from others: set zk://hosts/path",
                url ? url : "The default store");
        opt_error(o, "yarn.service.state.store", &why, report);
    }
    app_files_check(o, report);
    struct sasl_wish wish;
    if (app_protection(o, &wish, &why))
        opt_error(o, app_option_key(OPT_RPC_PROTECTION), &why, report);
    const struct yarn_keys keys = app_yarn_keys(&o);
    int err = 0;
    for (int port = YARN_RM_CLIENT; !err && port <= YARN_RM_SCHEDULER; port++) {
        struct yarn_addresses addresses = ADDRESSES_EMPTY;
        err = yarn_rm_addresses(&keys, (enum yarn_rm_port)port, &addresses, &why);
        if (err)
            opt_error(o, "yarn.resourcemanager.address", &why, report);
        yarn_addresses_fini(&addresses);
    }
}

enum yarn_constraints app_constraints(const struct options *o)
{
    const char *handler = opt_text(o, OPT_RM_CONSTRAINTS);

    if (!strcmp(handler, "placement-processor"))
        return YARN_CONSTRAINTS_PROCESSOR;
    return !strcmp(handler, "scheduler") ? YARN_CONSTRAINTS_SCHEDULER : YARN_CONSTRAINTS_NONE;
}

const char *app_no_constraints(const struct options *o)
{
    if (app_constraints(o) != YARN_CONSTRAINTS_NONE)
        return NULL;
    return "the resource manager takes none while yarn.resourcemanager.placement-constraints.handler is "
           "disabled: remove them";
}

char *app_files_url(const struct app *a)
{
    const char *set = opt_text(daemon_options(a->daemon), OPT_FILES_URL);
    mem_auto char *own = app_own_url(a);

    return set ? mem_str(set) : mem_fmt("%s/files", own);
}
