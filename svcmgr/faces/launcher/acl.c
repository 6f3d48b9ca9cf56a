/** Access control: see acl.h. */
#include "launcher/acl.h"

#include <string.h>

#include "base/mem.h"
#include "launcher/kit.h"
#include "launcher/site.h"

#define USER_HEADER  "UserName"
#define DEFAULT_USER "default"

/** Who acts: the header; without it whom our own authentication names. */
static const char *acting_user(const struct http_req *req)
{
    const char *claimed = http_header(req, USER_HEADER);
    if (claimed)
        return claimed;
    return http_user_is_named(req) ? http_user(req) : DEFAULT_USER;
}

/** Whether one of a list of {"name"} is that. */
static bool lists_user(const json_t *users, const char *user)
{
    for (size_t i = 0; i < json_array_size(users); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(users, i), "name"));
        if (name && !strcmp(name, user))
            return true;
    }
    return false;
}

static bool is_administrator(const struct launcher_site *site, const json_t *acl, const char *user)
{
    for (size_t i = 0; i < site->n_root_admins; i++) {
        if (!strcmp(site->root_admins[i], user))
            return true;
    }
    return !strcmp(site->login_user, user) || lists_user(json_object_get(acl, "normalAdminUsers"), user);
}

/** Text before the only '~', which is at neither end. @return free(); NULL: there is none */
static char *namespace_of(const char *framework)
{
    const char *at = strchr(framework, '~');
    bool is_one = at && at > framework && at[1] && !strchr(at + 1, '~');
    return is_one ? mem_strn(framework, (size_t)(at - framework)) : NULL;
}

/** Whether a user may write what is in a namespace. */
static bool may_write_in(const json_t *acl, const char *namespace, const char *user)
{
    const json_t *entry = json_object_get(json_object_get(acl, "namespaceAcls"), namespace);
    return !strcmp(namespace, user) || lists_user(json_object_get(entry, "users"), user);
}

/** @return 0: it may; ERR_INVALID, ERR_PERMISSION: *why is filled. */
static int check(const struct http_req *req, const struct face *face, const struct launcher_write *what,
                 struct err_info *why)
{
    const struct launcher_site *site = face->launcher;
    const json_t *acl = engine_cluster_document(face->ops->engine(face->app), DOC_ACL_CONFIGURATION);
    const char *user = acting_user(req);
    mem_auto char *namespace = what->framework ? namespace_of(what->framework) : NULL;
    bool is_named = http_user_is_named(req), is_admin = is_administrator(site, acl, user);

    if (!ldoc_is_name(user))
        return err_set(why, ERR_INVALID, USER_HEADER, "[%.128s] is not a user name", user);
    if (is_named && strcmp(http_user(req), user) != 0)
        return err_set(why, ERR_PERMISSION, USER_HEADER, "[%s] is not the authenticated user", user);
    if (what->user && strcmp(what->user, user) != 0)
        return err_set(why, ERR_INVALID, "user.name", "[%.128s] is not the acting user [%.128s]", what->user,
                       user);
    if (what->framework && !namespace && site->ignores_without_namespace)
        return 0;
    if (what->framework && !namespace)
        return err_set(why, ERR_INVALID, NULL, "Framework name [%s] has no namespace: ^([^~]+)~([^~]+)$",
                       what->framework);
    if (is_admin || (namespace && may_write_in(acl, namespace, user)))
        return 0;
    return err_set(why, ERR_PERMISSION, NULL, "User [%.128s] may not write %s%.256s", user,
                   namespace ? "in namespace " : "documents of the launcher", namespace ? namespace : "");
}

bool launcher_may_write(struct http_req *req, const struct face *face, struct launcher_write what)
{
    struct err_info why = {0};
    int err = face->launcher->has_acl ? check(req, face, &what, &why) : 0;
    mem_auto char *text = mem_fmt("%s%s%s", why.where, why.where[0] ? ": " : "", why.text);
    if (err)
        launcher_reply_error(req, err_http_status(err), text);
    return !err;
}
