#include "svcmgr/app_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "submit/application.h"
#include "svcmgr/app.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define DEFAULT_BASE ".yarn" /* in the user's home */

/** The base path of a user as a URI of HDFS, or as a path in his home there. free(); NULL: it is not there. */
static char *base_path(const struct options *o)
{
    const char *fs = opt_text(o, OPT_FS), *set = opt_text(o, OPT_BASE_PATH);
    const char *base = set && *set ? set : DEFAULT_BASE;
    bool has_scheme = base[strcspn(base, ":/")] == ':';

    if (has_scheme)
        return fs_is_hdfs(base) ? mem_str(base) : NULL;
    if (!fs_is_hdfs(fs))
        return NULL;
    return *base == '/' ? mem_fmt("%.*s:%s", (int)strcspn(fs, ":"), fs, base) : mem_str(base);
}

char *app_files_directory(const struct app *a, enum eng_kind kind, const char *user, const char *name)
{
    mem_auto char *base = base_path(daemon_options(a->daemon));
    char tag[SUBMIT_TAG_ROOM];

    submit_tag(&(struct submit_key){a->state_url, eng_kind_word(kind), user, name, 0}, tag);
    return base ? mem_fmt("%s/bobbin-%s", base, strchr(tag, ':') + 1) : NULL;
}

void app_files_check(const struct options *o, struct opt_report *report)
{
    const struct fs_conf conf = app_fs_conf(o);
    mem_auto char *base = base_path(o);
    struct fs_place place = {.path = NULL};
    struct err_info why = {0};

    if (base && fs_place_read(&conf, base, "user", &place, &why))
        opt_error(o, "yarn.service.base.path", &why, report);
    fs_place_fini(&place);
}

/** What is not there needs no deletion. */
struct fs_call *app_files_remove(struct app *a, const char *directory, const char *user,
                                 void (*done)(void *arg, int err, const struct fs_status *status,
                                              const struct err_info *why),
                                 void *arg)
{
    const struct fs_conf conf = app_fs_conf(daemon_options(a->daemon));
    struct fs_place place = {.path = NULL};
    struct err_info why = {0};

    if (fs_place_read(&conf, directory, user, &place, &why)) {
        log_emit(&ev_app_files_stay, LOG_STR("user", user), LOG_ERR(&why));
        return NULL;
    }
    struct fs_call *call = fs_start(
        a->http,
        &(struct fs_request){
            .op = FS_DELETE, .place = &place, .user = user, .is_recursive = true, .done = done, .arg = arg});
    fs_place_fini(&place);
    return call;
}
