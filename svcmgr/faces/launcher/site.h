/**
 * How the launcher is configured, as its API shows it and decides by it. The app fills it once at its start.
 *
 * Thread: owner; nobody changes it afterwards.   Source: framework-launcher 14.
 */
#ifndef LAUNCHER_SITE_H
#define LAUNCHER_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "json/writer.h"

/** All texts are borrowed, for as long as it lives; none but rm_url is NULL. */
struct launcher_site {
    const char *own_url;   /* webServerAddress: "http://host:9191" */
    const char *bind_host; /* webServerBindHost */
    const char *rm_url;    /* "http://host:8088" of the resource manager; NULL: applications have no proxy */
    const char *zk_connect, *zk_root, *hdfs_root;
    const char *fs_uri;             /* fs.defaultFS, where sources without a scheme are; or NULL */
    const char *const *root_admins; /* n_root_admins names */
    size_t n_root_admins;
    bool has_acl, ignores_without_namespace;
    int64_t conflict_min_s, conflict_max_s; /* pauses before a retry after a conflict */
    int64_t retain_s;                       /* so long a completed framework is kept */
    int64_t max_tasks;                      /* of all frameworks */
    int64_t gang_timeout_s;
    int64_t min_port; /* lowest of dynamic ports */
    const char *login_user;
    const char *host, *ip; /* of this server */
};

/**
 * Write the LauncherStatus as the next value.
 *
 * @param e  whose types of exit codes count                                        [borrowed]
 * Thread: owner.   Source: framework-launcher 14.
 */
void launcher_write_launcher_status(struct jw *w, const struct launcher_site *site, const struct engine *e);

#endif
