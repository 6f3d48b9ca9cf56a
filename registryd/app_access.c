#include "app.h"
#include "events.h"
#include "access/jaas.h"
#include "options.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "store/zk/login.h"

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

static bool is_kerberos(const char *auth)
{
    return strcmp(auth, "kerberos") == 0;
}

/* The word is checked also where it has no effect. */
static int check_auth(const char *auth, struct err_info *why)
{
    if (is_anonymous(auth) || strcmp(auth, "digest") == 0 || is_kerberos(auth))
        return 0;
    return err_set(why, ERR_CONFIG, "hadoop.registry.client.auth",
                   "Unknown/unsupported authentication mechanism: \"%s\"", auth);
}

const char *app_system_accounts(const struct options *o)
{
    const char *old = opt_other(o, "hadoop.registry.system.acls");
    return old && !opt_is_set(o, OPT_SYSTEM_ACCOUNTS) ? old : opt_text(o, OPT_SYSTEM_ACCOUNTS);
}

/* ---- Kerberos: who registryd is ---- */

static const char *or_text(const char *text, const char *fallback)
{
    return is_empty(text) ? fallback : text;
}

/* What the options say is kept; what they leave empty is filled from the JAAS file, if there is one. */
static int read_login(const struct options *o, struct store_kerberos **out, struct err_info *why)
{
    struct jaas_entry jaas = {0};
    const char *file = opt_text(o, OPT_JAAS_FILE), *cache = opt_text(o, OPT_KERBEROS_CACHE);
    int err =
        is_empty(file) ? 0 : jaas_read(file, or_text(opt_text(o, OPT_JAAS_CONTEXT), "Client"), &jaas, why);
    if (err)
        return err;
    const struct store_kerberos login = {
        .principal = or_text(opt_text(o, OPT_KERBEROS_PRINCIPAL), jaas.principal),
        .keytab = or_text(opt_text(o, OPT_KERBEROS_KEYTAB), is_empty(cache) ? jaas.keytab : NULL),
        .cache = or_text(cache, jaas.cache),
        .server_name = opt_text(o, OPT_ZK_SASL_USERNAME),
        .server_principal = opt_text(o, OPT_ZK_SERVER_PRINCIPAL)};
    *out = zkl_kerberos_copy(&login);
    jaas_fini(&jaas);
    return 0;
}

void app_credentials_fini(struct app_credentials *c)
{
    free(c->digest);
    free(c->principal);
    zkl_kerberos_free(c->kerberos);
    *c = (struct app_credentials){0};
}

/* Hadoop's security is on, and somebody said who we are. */
static bool has_login(const struct options *o)
{
    static const int keys[] = {OPT_KERBEROS_PRINCIPAL, OPT_KERBEROS_KEYTAB, OPT_KERBEROS_CACHE,
                               OPT_JAAS_FILE};
    bool is_said = false;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        is_said |= !is_empty(opt_text(o, keys[i]));
    return is_said && strcmp(opt_text(o, OPT_AUTHENTICATION), "kerberos") == 0;
}

/* Find the own principal, from files alone: it stands in each ACL. */
static int read_kerberos(const struct options *o, const char *auth, struct app_credentials *c,
                         struct err_info *why)
{
    if (is_anonymous(auth) || (!is_kerberos(auth) && !has_login(o)))
        return 0;
    if (strcmp(opt_text(o, OPT_AUTHENTICATION), "kerberos") != 0)
        return err_set(
            why, ERR_CONFIG, "hadoop.registry.client.auth",
            "Kerberos required for secure registry access: set hadoop.security.authentication=kerberos");
    int err = read_login(o, &c->kerberos, why);
    if (!err)
        err = zkl_identity(c->kerberos, &c->principal, why);
    c->is_kerberos = is_kerberos(auth);
    return err;
}

/* The realm of the options, or, where that is empty, the own principal's. free() */
static char *realm_of(const struct options *o, const struct app_credentials *c)
{
    const char *at = c->principal ? strrchr(c->principal, '@') : NULL;
    return mem_str(or_text(opt_text(o, OPT_REALM), at ? at + 1 : NULL));
}

/* The own principal; where no account is named with a realm, its short name. */
static void add_own(struct app_accounts *a, const struct options *o, const struct app_credentials *c)
{
    if (!c->principal)
        return;
    bool has_realms = strchr(app_system_accounts(o), '@') != NULL;
    mem_auto char *name =
        has_realms ? mem_str(c->principal) : mem_strn(c->principal, strcspn(c->principal, "/@"));
    acl_add(&a->acl, STORE_ALL, "sasl", name);
}

/* ---- accounts ---- */

static int add_accounts(struct app_accounts *a, const char *accounts, const char *key, struct err_info *why)
{
    struct err_info bad = {0};
    if (acl_add_accounts(&a->acl, accounts, a->realm, &bad) == 0)
        return 0;
    return err_set(why, ERR_CONFIG, key, "%s: %s", bad.where, bad.text);
}

static int missing(struct err_info *why, const char *key)
{
    return err_set(why, ERR_CONFIG, key, "Missing value for configuration option %s", key);
}

/* id and password, whose digest stands in each ACL. */
static int add_digest(struct app_accounts *a, const struct options *o, struct app_credentials *c,
                      struct err_info *why)
{
    const char *id = opt_text(o, OPT_AUTH_ID), *password = opt_text(o, OPT_AUTH_PASSWORD);
    if (is_empty(id))
        return missing(why, "hadoop.registry.client.auth.id");
    if (is_empty(password))
        return missing(why, "hadoop.registry.client.auth.password");
    if (is_empty(opt_text(o, OPT_USER_ACCOUNTS)) && !c->principal)
        return err_set(why, ERR_CONFIG, "hadoop.registry.user.accounts",
                       "No user for ACLs determinable from configuration key hadoop.registry.user.accounts");
    mem_auto char *pair = mem_fmt("%s:%s", id, password);
    mem_auto char *entry = NULL;
    if (reg_digest_id(pair, &entry, why))
        return err_set(why, ERR_CONFIG, "hadoop.registry.client.auth.password", "Invalid id:password");
    acl_add(&a->acl, STORE_ALL, "digest", entry);
    c->digest = pair;
    pair = NULL;
    return 0;
}

/* World, system, users, ourselves, the digest: the order of Hadoop's. */
static int make_acl(struct app_accounts *a, const struct options *o, const char *auth,
                    struct app_credentials *c, struct err_info *why)
{
    acl_add(&a->acl, STORE_READ, "world", "anyone");
    int err = add_accounts(a, app_system_accounts(o), "hadoop.registry.system.accounts", why);
    if (err || is_anonymous(auth))
        return err;
    err = add_accounts(a, opt_text(o, OPT_USER_ACCOUNTS), "hadoop.registry.user.accounts", why);
    add_own(a, o, c);
    return err || is_kerberos(auth) ? err : add_digest(a, o, c, why);
}

/* The mechanism of a secure registry, which check_auth has accepted. */
static int read_secure(const struct options *o, const char *auth, struct app_accounts *a,
                       struct app_credentials *c, struct err_info *why)
{
    if (is_empty(app_system_accounts(o)))
        return missing(why, "hadoop.registry.system.accounts");
    int err = read_kerberos(o, auth, c, why);
    a->realm = realm_of(o, c);
    return err ? err : make_acl(a, o, auth, c, why);
}

/* free() */
static char *auth_of(const struct options *o)
{
    return str_trim(opt_text(o, OPT_AUTH) ? opt_text(o, OPT_AUTH) : "");
}

int app_access_read(const struct options *o, struct app_accounts *accounts,
                    struct app_credentials *credentials, struct err_info *why)
{
    mem_auto char *auth = auth_of(o);
    int err = check_auth(auth, why);
    return err || !opt_bool(o, OPT_SECURE) ? err : read_secure(o, auth, accounts, credentials, why);
}

void app_access_check(const struct options *o, struct opt_report *report)
{
    mem_auto char *auth = auth_of(o);
    struct app_accounts accounts = {0};
    struct app_credentials credentials = {0};
    struct err_info why;
    bool is_known = check_auth(auth, &why) == 0;
    if (!is_known)
        opt_error(o, "hadoop.registry.client.auth", &why, report);
    if (opt_bool(o, OPT_SECURE) && read_secure(o, is_known ? auth : "", &accounts, &credentials, &why))
        opt_error(o, "hadoop.registry.kerberos.principal", &why, report);
    if (opt_bool(o, OPT_SECURE) && app_system_accounts(o) != opt_text(o, OPT_SYSTEM_ACCOUNTS)) {
        err_set(&why, ERR_CONFIG, NULL,
                "used because hadoop.registry.system.accounts, the key that Hadoop reads, is not set");
        opt_warning(o, "hadoop.registry.system.acls", &why, report);
    }
    app_credentials_fini(&credentials);
    app_accounts_fini(&accounts);
}

void app_accounts_fini(struct app_accounts *a)
{
    acl_fini(&a->acl);
    free(a->realm);
    a->realm = NULL;
}
