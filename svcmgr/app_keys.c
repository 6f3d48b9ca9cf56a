/* Options of svcmgr as other folders read them. */
#include <string.h>

#include "svcmgr/app.h"
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
