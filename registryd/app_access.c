#include "app.h"
#include "events.h"
#include "options.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static bool is_anonymous(const char *auth)
{
    return !*auth || strcmp(auth, "simple") == 0;
}

static bool is_empty(const char *text)
{
    return !text || !*text;
}

/* The word is checked also where it has no effect. */
static int check_auth(const char *auth, bool is_secure, struct err_info *why)
{
    if (strcmp(auth, "kerberos") == 0 && is_secure)
        return err_set(why, ERR_CONFIG, "hadoop.registry.client.auth",
                       "Kerberos towards ZooKeeper is not supported yet: use digest");
    if (is_anonymous(auth) || strcmp(auth, "digest") == 0 || strcmp(auth, "kerberos") == 0)
        return 0;
    return err_set(why, ERR_CONFIG, "hadoop.registry.client.auth",
                   "Unknown/unsupported authentication mechanism: \"%s\"", auth);
}

const char *app_system_accounts(const struct options *o)
{
    const char *old = opt_other(o, "hadoop.registry.system.acls");
    return old && !opt_is_set(o, OPT_SYSTEM_ACCOUNTS) ? old : opt_text(o, OPT_SYSTEM_ACCOUNTS);
}

static int add_accounts(struct registryd *app, const struct options *o, const char *accounts, const char *key,
                        struct err_info *why)
{
    struct err_info bad = {0};
    if (acl_add_accounts(&app->acl, accounts, opt_text(o, OPT_REALM), &bad) == 0)
        return 0;
    return err_set(why, ERR_CONFIG, key, "%s: %s", bad.where, bad.text);
}

static int missing(struct err_info *why, const char *key)
{
    return err_set(why, ERR_CONFIG, key, "Missing value for configuration option %s", key);
}

/* id and password, whose digest stands in each ACL. */
static int add_digest(struct registryd *app, const struct options *o, char **digest, struct err_info *why)
{
    const char *id = opt_text(o, OPT_AUTH_ID), *password = opt_text(o, OPT_AUTH_PASSWORD);
    if (is_empty(id))
        return missing(why, "hadoop.registry.client.auth.id");
    if (is_empty(password))
        return missing(why, "hadoop.registry.client.auth.password");
    if (is_empty(opt_text(o, OPT_USER_ACCOUNTS)))
        return err_set(why, ERR_CONFIG, "hadoop.registry.user.accounts",
                       "No user for ACLs determinable from configuration key hadoop.registry.user.accounts");
    int err = add_accounts(app, o, opt_text(o, OPT_USER_ACCOUNTS), "hadoop.registry.user.accounts", why);
    if (err)
        return err;
    mem_auto char *pair = mem_fmt("%s:%s", id, password);
    mem_auto char *entry = NULL;
    if (reg_digest_id(pair, &entry, why))
        return err_set(why, ERR_CONFIG, "hadoop.registry.client.auth.password", "Invalid id:password");
    acl_add(&app->acl, STORE_ALL, "digest", entry);
    *digest = pair;
    pair = NULL;
    return 0;
}

int app_access_read(struct registryd *app, const struct options *o, char **digest, struct err_info *why)
{
    mem_auto char *auth = str_trim(opt_text(o, OPT_AUTH) ? opt_text(o, OPT_AUTH) : "");
    int err = check_auth(auth, opt_bool(o, OPT_SECURE), why);
    if (err || !opt_bool(o, OPT_SECURE))
        return err;
    if (app_system_accounts(o) != opt_text(o, OPT_SYSTEM_ACCOUNTS))
        log_emit0(&ev_system_acls_read);
    if (is_empty(app_system_accounts(o)))
        return missing(why, "hadoop.registry.system.accounts");
    acl_add(&app->acl, STORE_READ, "world", "anyone");
    err = add_accounts(app, o, app_system_accounts(o), "hadoop.registry.system.accounts", why);
    if (!err && !is_anonymous(auth))
        err = add_digest(app, o, digest, why);
    return err;
}
