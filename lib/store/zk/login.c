#include "store/zk/login.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/log.h"

#include <errno.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOGIN_MAGIC OBJ_MAGIC('Z', 'K', 'L', 'O')

#define ZKL_EVENTS(X)                                                                                        \
    X(zk_login, LOG_INFO, "A Kerberos ticket was fetched with the keytab.")                                  \
    X(zk_login_failed, LOG_WARN,                                                                             \
      "The Kerberos ticket cannot be renewed; the present one is used until it expires.")
LOG_DECLARE(ZKL_EVENTS)

enum { RENEW_TENTHS = 8, MARGIN_S = 10, RENEW_MIN_MS = 1000, RETRY_MS = 60000 };

/** Credentials in memory, or what a cache has. */
struct zkl_ticket {
    krb5_context krb5;
    krb5_ccache cache;
    gss_cred_id_t credentials;
    int64_t renew_at_s, ends_at_s; /* since the epoch */
    bool is_own;                   /* the cache goes with it */
};

struct zkl {
    struct obj obj;
    char *principal, *keytab, *cache; /* as configured; NULL: default */
    struct zkl_ticket *ticket;
    char *name; /* of the ticket */
    bool is_overdue;
};

struct store_kerberos *zkl_kerberos_copy(const struct store_kerberos *kerberos)
{
    if (!kerberos)
        return NULL;
    struct store_kerberos *copy = mem_new(struct store_kerberos);
    copy->principal = mem_str(kerberos->principal);
    copy->keytab = mem_str(kerberos->keytab);
    copy->cache = mem_str(kerberos->cache);
    copy->server_name = mem_str(kerberos->server_name);
    copy->server_principal = mem_str(kerberos->server_principal);
    return copy;
}

void zkl_kerberos_free(struct store_kerberos *kerberos)
{
    if (!kerberos)
        return;
    free((char *)kerberos->principal);
    free((char *)kerberos->keytab);
    free((char *)kerberos->cache);
    free((char *)kerberos->server_name);
    free((char *)kerberos->server_principal);
    free(kerberos);
}

static char *or_null(const char *text)
{
    return text && *text ? mem_str(text) : NULL;
}

struct zkl *zkl_new(const struct store_kerberos *kerberos)
{
    struct zkl *l = mem_new(struct zkl);
    obj_init(&l->obj, LOGIN_MAGIC);
    l->principal = or_null(kerberos->principal);
    l->keytab = or_null(kerberos->keytab);
    l->cache = or_null(kerberos->cache);
    return l;
}

static void ticket_free(struct zkl_ticket *t)
{
    OM_uint32 minor;
    if (!t)
        return;
    if (t->credentials != GSS_C_NO_CREDENTIAL)
        gss_release_cred(&minor, &t->credentials);
    if (t->cache && t->is_own)
        krb5_cc_destroy(t->krb5, t->cache);
    else if (t->cache)
        krb5_cc_close(t->krb5, t->cache);
    krb5_free_context(t->krb5);
    free(t);
}

void zkl_free(struct zkl *l)
{
    if (!l)
        return;
    ticket_free(l->ticket);
    free(l->principal);
    free(l->keytab);
    free(l->cache);
    free(l->name);
    obj_fini(&l->obj);
    free(l);
}

/* ---- what went wrong ---- */

static const struct remedy {
    int32_t status;
    int code;
    const char *text;
} remedies[] = {
    {ENOENT, ERR_CONFIG, "the file does not exist"},
    {EACCES, ERR_CONFIG, "the file may not be read: it must belong to the user who runs this program"},
    {KRB5_KT_NOTFOUND, ERR_CONFIG, "the keytab has no key for this principal: `klist -k` lists those it has"},
    {KRB5_KEYTAB_BADVNO, ERR_CONFIG, "this is no keytab"},
    {KRB5_FCC_NOFILE, ERR_CONFIG,
     "there is no credential cache: run kinit, or name a keytab (hadoop.registry.kerberos.keytab)"},
    {KRB5_CC_FORMAT, ERR_CONFIG, "this is no credential cache"},
    {KRB5_PARSE_MALFORMED, ERR_CONFIG, "this is no principal: name[/host]@REALM is one"},
    {KRB5_CONFIG_NODEFREALM, ERR_CONFIG, "the principal has no realm, and krb5.conf names no default_realm"},
    {KRB5_CONFIG_CANTOPEN, ERR_CONFIG, "krb5.conf cannot be read"},
    {KRB5_CONFIG_BADFORMAT, ERR_CONFIG, "krb5.conf is malformed"},
    {KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, ERR_AUTH, "the KDC knows no such principal"},
    {KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN, ERR_AUTH,
     "the KDC knows no principal of this ZooKeeper server: zookeeper.sasl.client.username and "
     "zookeeper.server.principal say what it is called"},
    {KRB5KDC_ERR_PREAUTH_FAILED, ERR_AUTH,
     "the key in the keytab is not the one that the KDC has: export the keytab anew"},
    {KRB5KRB_AP_ERR_BAD_INTEGRITY, ERR_AUTH,
     "the key in the keytab is not the one that the KDC has: export the keytab anew"},
    {KRB5KRB_AP_ERR_SKEW, ERR_AUTH,
     "the clocks of this host and the other differ too much: synchronise them"},
    {KRB5_KDCREP_SKEW, ERR_AUTH, "the clocks of this host and the KDC differ too much: synchronise them"},
    {KRB5KDC_ERR_NAME_EXP, ERR_AUTH, "the principal has expired"},
    {KRB5KDC_ERR_KEY_EXP, ERR_AUTH, "the principal's key has expired"},
    {KRB5KDC_ERR_CLIENT_REVOKED, ERR_AUTH, "the KDC has locked the principal"},
    {KRB5KDC_ERR_ETYPE_NOSUPP, ERR_AUTH, "the KDC and the keytab have no encryption type in common"},
    {KRB5KRB_AP_ERR_TKT_EXPIRED, ERR_AUTH, "the ticket has expired: run kinit, or name a keytab"},
    {KRB5_KDC_UNREACH, ERR_UNAVAILABLE, "no KDC answers: is the one of krb5.conf up, and is its port open?"},
    {KRB5_REALM_CANT_RESOLVE, ERR_UNAVAILABLE, "the host of the KDC in krb5.conf cannot be resolved"},
    {KRB5_REALM_UNKNOWN, ERR_CONFIG, "krb5.conf names no KDC of this realm"},
};

int zkl_explain(int32_t status, const char *text, const char *about, struct err_info *why)
{
    for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
        if (remedies[i].status == status)
            return err_set(why, remedies[i].code, about, "Kerberos, %s: %s (%s)", about, remedies[i].text,
                           text);
    return err_set(why, ERR_IO, about, "Kerberos, %s: %s", about, text);
}

static int explain(krb5_context krb5, krb5_error_code status, const char *about, struct err_info *why)
{
    const char *text = krb5_get_error_message(krb5, status);
    int code = zkl_explain(status, text, about, why);
    krb5_free_error_message(krb5, text);
    return code;
}

/* ---- the principal ---- */

static int unparse(krb5_context krb5, krb5_const_principal name, char **out, struct err_info *why)
{
    char *text = NULL;
    krb5_error_code status = krb5_unparse_name(krb5, name, &text);
    if (status)
        return explain(krb5, status, "principal", why);
    *out = mem_str(text);
    krb5_free_unparsed_name(krb5, text);
    return 0;
}

/* name/_HOST[@REALM] with this host's name, as krb5 knows it. */
static int with_host(krb5_context krb5, const char *principal, char **out, struct err_info *why)
{
    const char *mark = strstr(principal, "/_HOST");
    if (!mark || (mark[6] && mark[6] != '@')) {
        *out = mem_str(principal);
        return 0;
    }
    krb5_principal here = NULL;
    krb5_error_code status = krb5_sname_to_principal(krb5, NULL, NULL, KRB5_NT_SRV_HST, &here);
    if (status)
        return explain(krb5, status, principal, why);
    mem_auto char *host = mem_strn(here->data[1].data, here->data[1].length);
    *out = mem_fmt("%.*s/%s%s", (int)(mark - principal), principal, host, mark + 6);
    krb5_free_principal(krb5, here);
    return 0;
}

static int read_principal(krb5_context krb5, const char *text, krb5_principal *out, struct err_info *why)
{
    mem_auto char *full = NULL;
    int err = with_host(krb5, text, &full, why);
    if (err)
        return err;
    krb5_error_code status = krb5_parse_name(krb5, full, out);
    return status ? explain(krb5, status, full, why) : 0;
}

static int first_of_keytab(krb5_context krb5, krb5_keytab keytab, const char *file, krb5_principal *out,
                           struct err_info *why)
{
    krb5_kt_cursor cursor;
    krb5_keytab_entry entry;
    krb5_error_code status = krb5_kt_start_seq_get(krb5, keytab, &cursor);
    if (status)
        return explain(krb5, status, file, why);
    status = krb5_kt_next_entry(krb5, keytab, &entry, &cursor);
    krb5_kt_end_seq_get(krb5, keytab, &cursor);
    if (status == KRB5_KT_END)
        return err_set(why, ERR_CONFIG, file, "Kerberos, %s: the keytab is empty", file);
    if (status)
        return explain(krb5, status, file, why);
    status = krb5_copy_principal(krb5, entry.principal, out);
    krb5_free_keytab_entry_contents(krb5, &entry);
    return status ? explain(krb5, status, file, why) : 0;
}

/* The keytab has a key for the principal. */
static int check_key(krb5_context krb5, krb5_keytab keytab, const char *file, krb5_const_principal name,
                     struct err_info *why)
{
    krb5_keytab_entry entry;
    krb5_error_code status = krb5_kt_get_entry(krb5, keytab, name, 0, 0, &entry);
    if (status == 0) {
        krb5_free_keytab_entry_contents(krb5, &entry);
        return 0;
    }
    mem_auto char *text = NULL;
    if (status != KRB5_KT_NOTFOUND || unparse(krb5, name, &text, why))
        return explain(krb5, status, file, why);
    mem_auto char *about = mem_fmt("%s in %s", text, file);
    return explain(krb5, status, about, why);
}

/* The principal that is asked for, or the keytab's first, which has a key there. */
static int name_of_keytab(const struct zkl *l, krb5_context krb5, krb5_keytab keytab, krb5_principal *out,
                          struct err_info *why)
{
    int err = l->principal ? read_principal(krb5, l->principal, out, why)
                           : first_of_keytab(krb5, keytab, l->keytab, out, why);
    if (err == 0)
        err = check_key(krb5, keytab, l->keytab, *out, why);
    return err;
}

static int open_cache(const struct zkl *l, krb5_context krb5, krb5_ccache *out, struct err_info *why)
{
    krb5_error_code status = l->cache ? krb5_cc_resolve(krb5, l->cache, out) : krb5_cc_default(krb5, out);
    return status ? explain(krb5, status, l->cache ? l->cache : "credential cache", why) : 0;
}

static int name_of_cache(const struct zkl *l, krb5_context krb5, krb5_ccache cache, krb5_principal *out,
                         struct err_info *why)
{
    char *name = NULL;
    mem_auto char *about = NULL;
    krb5_error_code status = krb5_cc_get_full_name(krb5, cache, &name);
    about = mem_str(status ? "credential cache" : name);
    krb5_free_string(krb5, name);
    status = krb5_cc_get_principal(krb5, cache, out);
    if (status)
        return explain(krb5, status, about, why);
    krb5_principal wanted = NULL;
    if (!l->principal)
        return 0;
    int err = read_principal(krb5, l->principal, &wanted, why);
    bool is_other = err == 0 && !krb5_principal_compare(krb5, *out, wanted);
    krb5_free_principal(krb5, wanted);
    if (!is_other)
        return err;
    return err_set(why, ERR_CONFIG, about, "Kerberos, %s: the cache is not that of %s: run kinit as it",
                   about, l->principal);
}

static int open_krb5(krb5_context *out, struct err_info *why)
{
    krb5_error_code status = krb5_init_context(out);
    return status ? explain(NULL, status, "krb5.conf", why) : 0;
}

static int identity(const struct zkl *l, krb5_context krb5, char **out, struct err_info *why)
{
    krb5_principal name = NULL;
    krb5_keytab keytab = NULL;
    krb5_ccache cache = NULL;
    int err = 0;
    if (l->keytab) {
        krb5_error_code status = krb5_kt_resolve(krb5, l->keytab, &keytab);
        err = status ? explain(krb5, status, l->keytab, why) : name_of_keytab(l, krb5, keytab, &name, why);
    } else {
        err = open_cache(l, krb5, &cache, why);
        if (err == 0)
            err = name_of_cache(l, krb5, cache, &name, why);
    }
    if (err == 0)
        err = unparse(krb5, name, out, why);
    krb5_free_principal(krb5, name);
    if (keytab)
        krb5_kt_close(krb5, keytab);
    if (cache)
        krb5_cc_close(krb5, cache);
    return err;
}

int zkl_identity(const struct store_kerberos *kerberos, char **principal, struct err_info *why)
{
    krb5_context krb5 = NULL;
    int err = open_krb5(&krb5, why);
    if (err)
        return err;
    struct zkl *l = zkl_new(kerberos);
    err = identity(l, krb5, principal, why);
    zkl_free(l);
    krb5_free_context(krb5);
    return err;
}

/* ---- tickets ---- */

static int import(struct zkl_ticket *t, const char *about, struct err_info *why)
{
    OM_uint32 minor = 0;
    OM_uint32 major = gss_krb5_import_cred(&minor, t->cache, NULL, NULL, &t->credentials);
    return GSS_ERROR(major) ? explain(t->krb5, (krb5_error_code)minor, about, why) : 0;
}

/* A ticket of the KDC's, in a cache of our own. */
static int ask_kdc(const struct zkl *l, struct zkl_ticket *t, const char *name, struct err_info *why)
{
    krb5_keytab keytab = NULL;
    krb5_principal principal = NULL;
    krb5_creds got = {0};
    mem_auto char *about = mem_fmt("%s with %s", name, l->keytab);
    krb5_error_code status = krb5_parse_name(t->krb5, name, &principal);
    if (!status)
        status = krb5_kt_resolve(t->krb5, l->keytab, &keytab);
    if (!status)
        status = krb5_get_init_creds_keytab(t->krb5, &got, principal, keytab, 0, NULL, NULL);
    if (!status)
        status = krb5_cc_new_unique(t->krb5, "MEMORY", NULL, &t->cache);
    if (!status)
        status = krb5_cc_initialize(t->krb5, t->cache, principal);
    if (!status)
        status = krb5_cc_store_cred(t->krb5, t->cache, &got);
    int err = status ? explain(t->krb5, status, about, why) : 0;
    t->is_own = true;
    t->ends_at_s = (uint32_t)got.times.endtime;
    t->renew_at_s =
        (uint32_t)got.times.starttime + (t->ends_at_s - (uint32_t)got.times.starttime) * RENEW_TENTHS / 10;
    krb5_free_cred_contents(t->krb5, &got);
    krb5_free_principal(t->krb5, principal);
    if (keytab)
        krb5_kt_close(t->krb5, keytab);
    return err;
}

static int make_ticket(const struct zkl *l, struct zkl_ticket *t, char **name, struct err_info *why)
{
    int err = open_krb5(&t->krb5, why);
    if (err == 0)
        err = identity(l, t->krb5, name, why);
    if (err == 0)
        err = l->keytab ? ask_kdc(l, t, *name, why) : open_cache(l, t->krb5, &t->cache, why);
    if (err == 0)
        err = import(t, *name, why);
    return err;
}

static bool is_good(const struct zkl *l)
{
    return l->ticket && l->keytab && time(NULL) < l->ticket->ends_at_s - MARGIN_S;
}

int zkl_refresh(struct zkl *l, struct err_info *why)
{
    if (is_good(l) && time(NULL) < l->ticket->renew_at_s)
        return 0;
    struct zkl_ticket *t = mem_new(struct zkl_ticket);
    mem_auto char *name = NULL;
    int err = make_ticket(l, t, &name, why);
    l->is_overdue = err != 0;
    if (err) {
        ticket_free(t);
        if (!is_good(l))
            return err;
        log_emit(&ev_zk_login_failed, LOG_ERR(why), LOG_INT("left_s", l->ticket->ends_at_s - time(NULL)));
        return 0;
    }
    ticket_free(l->ticket);
    free(l->name);
    l->ticket = t;
    l->name = name;
    name = NULL;
    if (l->keytab)
        log_emit(&ev_zk_login, LOG_STR("principal", l->name), LOG_STR("keytab", l->keytab),
                 LOG_INT("life_s", t->ends_at_s - time(NULL)));
    return 0;
}

gss_cred_id_t zkl_credentials(const struct zkl *l)
{
    return l->ticket->credentials;
}

int64_t zkl_renew_in_ms(const struct zkl *l)
{
    if (!l->keytab || !l->ticket)
        return -1;
    int64_t left_ms = (l->ticket->renew_at_s - time(NULL)) * 1000;
    int64_t least_ms = l->is_overdue ? RETRY_MS : RENEW_MIN_MS;
    return left_ms > least_ms ? left_ms : least_ms;
}

const char *zkl_principal(const struct zkl *l)
{
    return l->name;
}
