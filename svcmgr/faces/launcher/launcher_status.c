/** The LauncherStatus: see site.h. */
#include "launcher/site.h"

#include "base/obj.h"
#include "launcher/exits.h"

/** A number of LauncherConfiguration. */
struct number {
    const char *name;
    int64_t value;
};

static void write_numbers(struct jw *w, const struct number *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        jw_kint(w, rows[i].name, rows[i].value);
}

static void write_common(struct jw *w, const struct launcher_site *site)
{
    jw_kstr(w, "zkConnectString", site->zk_connect);
    jw_kstr(w, "zkRootDir", site->zk_root);
    jw_kstr(w, "hdfsRootDir", site->hdfs_root);
    jw_key(w, "rootAdminUsers");
    jw_array(w);
    for (size_t i = 0; i < site->n_root_admins; i++) {
        jw_object(w);
        jw_kstr(w, "name", site->root_admins[i]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/** What the original asks and repeats at intervals happens here at once: the least interval. */
#define AT_ONCE_S 1

static void write_applications(struct jw *w, const struct launcher_site *site)
{
    const struct number rows[] = {
        {"serviceRMResyncIntervalSec", AT_ONCE_S},
        {"serviceRequestPullIntervalSec", AT_ONCE_S},
        {"applicationRetrieveDiagnosticsRetryIntervalSec", 30},
        {"applicationRetrieveDiagnosticsMaxRetryCount", 15},
        {"applicationTransientConflictMinDelaySec", site->conflict_min_s},
        {"applicationTransientConflictMaxDelaySec", site->conflict_max_s},
        {"applicationSetupContextMaxRetryCount", 3},
        {"applicationSetupContextRetryIntervalSec", 1},
        {"frameworkCompletedRetainSec", site->retain_s},
        {"frameworkLeftoverGCMaxCount", 1000},
        {"maxTotalTaskNumber", site->max_tasks},
    };
    write_numbers(w, rows, ARRAY_LEN(rows));
}

static void write_manager(struct jw *w, const struct launcher_site *site)
{
    const struct number rows[] = {
        {"amVersion", 0},
        {"amPriority", 1},
        {"amDiagnosticsMaxBytes", 49152},
        {"amAttemptMaxCount", 3},
        {"amAttemptFailuresValidityIntervalSec", 10},
        {"amRmHeartbeatIntervalSec", AT_ONCE_S},
        {"amRmResyncFrequency", 6},
        {"amRmResyncNmExpiryBufferSec", 60},
        {"amRequestPullIntervalSec", AT_ONCE_S},
        {"amStatusPushIntervalSec", AT_ONCE_S},
        {"amFrameworkInfoPublishIntervalSec", 30},
        {"amContainerRequestMinTimeoutSec", 10},
        {"amContainerRequestMaxTimeoutSec", 200},
        {"amSetupContainerRequestMinRetryIntervalSec", 30},
        {"amSetupContainerRequestMaxRetryIntervalSec", 150},
        {"amGangAllocationTimeoutSec", site->gang_timeout_s},
        {"amContainerMinPort", site->min_port},
        {"amCandidateNodesFactor", 2},
    };
    write_numbers(w, rows, ARRAY_LEN(rows));
    jw_kbool(w, "amAllowNoneGpuJobOnGpuNode", true);
}

static void write_web(struct jw *w, const struct launcher_site *site)
{
    jw_kstr(w, "webServerBindHost", site->bind_host);
    jw_kstr(w, "webServerAddress", site->own_url);
    jw_kint(w, "webServerStatusPullIntervalSec", AT_ONCE_S);
    jw_kbool(w, "webServerAclEnable", site->has_acl);
    jw_kbool(w, "webServerAclIgnoreWithoutNamespace", site->ignores_without_namespace);
}

static void write_exits(struct jw *w, const struct engine *e)
{
    size_t n = 0;
    const struct eng_exit_row *rows = engine_exits(e, &n);
    jw_key(w, "userContainerExitSpec");
    jw_object(w);
    jw_key(w, "spec");
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        jw_object(w);
        jw_kint(w, "code", rows[i].code);
        jw_kstr(w, "type", launcher_exit_type_word(rows[i].type));
        jw_kstr(w, "description", launcher_exit_of_code(e, rows[i].code).description);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
}

void launcher_write_launcher_status(struct jw *w, const struct launcher_site *site, const struct engine *e)
{
    jw_object(w);
    jw_key(w, "launcherConfiguration");
    jw_object(w);
    write_common(w, site);
    write_applications(w, site);
    write_manager(w, site);
    write_web(w, site);
    jw_object_end(w);
    write_exits(w, e);
    jw_key(w, "loggedInUser");
    jw_object(w);
    jw_kstr(w, "name", site->login_user);
    jw_object_end(w);
    jw_kbool(w, "hadoopLibrarySupportsGpu", true);
    jw_kbool(w, "hadoopLibrarySupportsPort", true);
    jw_kstr(w, "serviceHost", site->host);
    jw_kstr(w, "serviceIp", site->ip);
    jw_object_end(w);
}
