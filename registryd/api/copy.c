/* Whole registries: export, import, backup. For the administrators only. */
#include "api/api.h"
#include "api/routes.h"
#include "registryd/events.h"
#include "copy/export.h"
#include "copy/import.h"
#include "registryd/options.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define COPY_MAGIC OBJ_MAGIC('C', 'O', 'P', 'Y')

/*
 * An import or backup on its way: done ──► (own mirror has applied it, or the time is over) ──► answer.
 * It continues when the client disconnects.
 */
struct copying {
    struct obj obj;
    struct api *api;
    struct http_req *req; /* NULL: the client has gone */
    struct buf body;      /* of the answer, once known */
    char *dir;            /* backup: where */
    int err;
    struct err_info why;
    int64_t zxid;
};

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct copying, COPY_MAGIC)->req = NULL;
}

static struct copying *copying_new(struct api *api, struct http_req *req)
{
    struct copying *c = mem_new(struct copying);
    obj_init(&c->obj, COPY_MAGIC);
    c->api = api;
    c->req = req;
    return c;
}

static void copying_free(struct copying *c)
{
    buf_fini(&c->body);
    free(c->dir);
    obj_fini(&c->obj);
    free(c);
}

static void copying_answer(struct copying *c)
{
    if (c->req && c->err) {
        api_refuse(c->api, c->req, c->err, &c->why);
    } else if (c->req) {
        api_revision(c->api, c->req, c->zxid ? c->zxid : mirror_newest(c->api->mirror));
        http_reply(c->req, 200, "application/json", &c->body);
    }
    copying_free(c);
}

/* The user who runs registryd, root, and those of hadoop.registry.admin.users. */
static bool is_admin(struct api *api, const char *user)
{
    mem_auto char *current = reg_current_user();
    return user && (strcmp(user, current) == 0 || strcmp(user, "root") == 0 ||
                    str_has_field(opt_text(api->options, OPT_ADMINS), ',', user));
}

int api_may_copy(struct http_req *req, void *arg, struct err_info *why)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    const char *user = http_user(req);
    if (access_is_secure(api->access))
        return api_may_administer(req, api, why);
    if (http_user_is_named(req) && is_admin(api, user))
        return 0;
    return err_set(why, ERR_PERMISSION, http_user_is_named(req) ? user : "user.name",
                   "only administrators may do this, by name (user.name): the user who runs registryd, root, "
                   "and those of "
                   "hadoop.registry.admin.users");
}

/* ---- export ---- */

void api_export(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    mem_auto char *path = NULL;
    int err = api_check_ready(api, &why);
    err = err ? err : reg_path_normal(http_param_text(req, EXPORT_PATH), &path, &why);
    if (!err && !mirror_find(api->mirror, path))
        err = err_set(&why, ERR_NOTFOUND, path, "there is no such node");
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    api_mirror_headers(api, req);
    export_reply(req, api->mirror, api->store, path);
}

/* ---- import ---- */

static void on_applied(void *arg, int late)
{
    struct copying *c = obj_cast(arg, struct copying, COPY_MAGIC);
    if (c->req && late)
        http_reply_header(c->req, "Bobbin-Applied", "false");
    copying_answer(c);
}

static void on_imported(void *arg, const struct import_result *r)
{
    struct copying *c = obj_cast(arg, struct copying, COPY_MAGIC);
    struct jw w = jw_on(&c->body);
    jw_object(&w);
    jw_kint(&w, "created", r->n_created);
    jw_kint(&w, "replaced", r->n_replaced);
    jw_kint(&w, "unchanged", r->n_unchanged);
    jw_key(&w, "failed");
    jw_raw(&w, r->failed, r->failed_len);
    jw_object_end(&w);
    c->zxid = r->zxid;
    mirror_when_applied(c->api->mirror, c->zxid, c->api->write_wait_ms, on_applied, c);
}

void api_import(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    json_auto json_t *body = NULL;
    bool is_overwrite = http_param_bool(req, IMPORT_OVERWRITE);
    size_t n;
    if (!api_ready(api, req))
        return;
    const char *bytes = http_body(req, &n);
    int err = import_read(bytes, n, api->options, &body, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    struct copying *c = copying_new(api, req);
    err = import_start(api->store, body, is_overwrite, on_imported, c, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        copying_free(c);
        return;
    }
    metric_add(api->metrics, M_WRITES, 1);
    http_reply_later(req, on_client_gone, c);
}

/* ---- backup ---- */

/* The place that a request names: below the directory of backups, by plain names. @param out  free() [out] */
static int backup_place(struct api *api, const char *dir, char **out, struct err_info *why)
{
    const struct options *o = api->options;
    const char *base = opt_text(o, OPT_BACKUP_DIR) ? opt_text(o, OPT_BACKUP_DIR) : opt_text(o, OPT_DATA_DIR);
    size_t base_len = strlen(base) - (str_ends(base, "/") ? 1 : 0);
    if (dir && *dir == '/') {
        bool is_below = strncmp(dir, base, base_len) == 0 && dir[base_len] == '/';
        dir = is_below ? dir + base_len + 1 : NULL;
    }
    if (!dir)
        return err_set(why, ERR_INVALID, "/dir",
                       "a directory below %s is expected (hadoop.registry.backup.dir)", base);
    mem_auto char *below = mem_fmt("/%s", dir);
    int err = reg_path_check(below, why); /* no empty, "." or ".." element */
    if (err || !dir[0])
        return err_set(why, ERR_INVALID, "/dir", "\"%s\" has an empty, \".\" or \"..\" element", dir);
    if (*base != '/')
        return err_set(why, ERR_CONFIG, base, "the directory of backups is not absolute");
    *out = mem_fmt("%.*s%s", (int)base_len, base, below);
    return 0;
}

static void on_backed_up(void *arg, int err, const struct store_result *r)
{
    struct copying *c = obj_cast(arg, struct copying, COPY_MAGIC);
    struct jw w = jw_on(&c->body);
    c->err = err;
    c->why = r->why;
    if (!err)
        log_emit(&ev_backed_up, LOG_STR("dir", c->dir));
    jw_object(&w);
    jw_kstr(&w, "dir", c->dir);
    jw_object_end(&w);
    copying_answer(c);
}

void api_backup(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    json_auto json_t *body = NULL;
    char *dir = NULL;
    size_t n;
    const char *bytes = http_body(req, &n);
    int err = json_read(bytes, n, &body, &why);
    err = err ? err : backup_place(api, json_string_value(json_object_get(body, "dir")), &dir, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    struct copying *c = copying_new(api, req);
    c->dir = dir;
    http_reply_later(req, on_client_gone, c);
    store_backup(api->store, dir, on_backed_up, c);
}
