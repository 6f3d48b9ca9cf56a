#include "app.h"
#include "events.h"
#include "options.h"
#include "net/acl.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/** LOOP_NICE: a third of a worker's share. */
enum { MAX_ADDRESSES = 16, NSID_MAX = 64, LOOP_NICE = 5 };

static const char version_text[] = "Bobbin dnsd " BOBBIN_VERSION;

static struct rrl_options rrl_options(const struct options *o)
{
    return (struct rrl_options){.rate_per_s = (unsigned)opt_int(o, OPT_RRL_RATE),
                                .slip = (unsigned)opt_int(o, OPT_RRL_SLIP),
                                .exempt = opt_text(o, OPT_RRL_EXEMPT)};
}

static int read_acl(const struct options *o, struct acl **out, struct err_info *why)
{
    return acl_read(opt_text(o, OPT_ACL), opt_text(o, OPT_ACL_ZONES), out, why);
}

/* ---- cookie secrets: a file of lines of 32 hexadecimal digits ---- */

static int hex_value(char c)
{
    if (!isxdigit((unsigned char)c))
        return -1;
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static bool read_key(const char *line, uint8_t *out)
{
    mem_auto char *text = str_trim(line);
    if (strlen(text) != 2 * COOKIE_SECRET_LEN)
        return false;
    for (size_t i = 0; i < COOKIE_SECRET_LEN; i++) {
        int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static int read_secrets(const char *path, struct cookie_secrets *out, struct err_info *why)
{
    FILE *in = fopen(path, "re");
    char line[256];
    int err = 0;
    out->n_keys = 0;
    if (!in)
        return err_set(why, ERR_CONFIG, path, "the cookie secrets cannot be read: %s", strerror(errno));
    for (int n = 1; !err && fgets(line, sizeof line, in); n++) {
        mem_auto char *where = mem_fmt("%s:%d", path, n);
        if (out->n_keys == COOKIE_SECRETS_MAX)
            err = err_set(why, ERR_CONFIG, where, "more than %d secrets", COOKIE_SECRETS_MAX);
        else if (!read_key(line, out->keys[out->n_keys++]))
            err = err_set(why, ERR_CONFIG, where, "a secret is 32 hexadecimal digits");
    }
    fclose(in);
    if (!err && !out->n_keys)
        err = err_set(why, ERR_CONFIG, path, "there is no secret in it");
    return err;
}

/* ---- start, reload, stop ---- */

static size_t read_addresses(const char *list, char **out, size_t max)
{
    size_t n = 0;
    for (char *a; n < max && (a = str_field(list, ',', n)); n++)
        out[n] = a;
    return n;
}

/* ---- the check: all that dnsd_net_start would refuse, but for what only a socket can show ---- */

static bool is_wildcard(const struct addr *a)
{
    static const uint8_t zeros[sizeof a->bytes];
    return memcmp(a->bytes, zeros, a->family == AF_INET ? 4 : 16) == 0;
}

/** Read the i-th address of the list. @param seen  those before it; it is added [in,out] @return 0; ERR_CONFIG. */
static int check_address(const char *text, size_t i, struct addr *seen, struct err_info *why)
{
    struct addr *own = &seen[i];
    int err = net_check_address(text, why);
    if (err || addr_read(text, own))
        return err;
    for (const struct addr *other = seen; other < own; other++)
        if (addr_equal(other, own) ||
            (other->family == own->family && (is_wildcard(other) || is_wildcard(own))))
            return err_set(why, ERR_CONFIG, NULL, "another address of the list has the same as %s", text);
    return 0;
}

static void check_addresses(const struct options *o, struct opt_report *report)
{
    const char *list = opt_text(o, OPT_BIND_ADDRESS);
    struct addr seen[MAX_ADDRESSES] = {0};
    struct err_info why;
    char *text;
    for (size_t i = 0; i <= MAX_ADDRESSES && (text = str_field(list, ',', i)); i++) {
        int err = i == MAX_ADDRESSES
                      ? err_set(&why, ERR_CONFIG, NULL, "more than %d addresses", MAX_ADDRESSES)
                      : check_address(text, i, seen, &why);
        if (err)
            opt_error(o, "hadoop.registry.dns.bind-address", &why, report);
        free(text);
    }
}

/** Each of the two keys by itself, so that the error names it. */
static void check_acl(const struct options *o, struct opt_report *report)
{
    struct acl *acl = NULL;
    struct err_info why;
    if (acl_read(opt_text(o, OPT_ACL), NULL, &acl, &why))
        opt_error(o, "hadoop.registry.dns.acl", &why, report);
    acl_free(acl);
    acl = NULL;
    if (acl_read(NULL, opt_text(o, OPT_ACL_ZONES), &acl, &why))
        opt_error(o, "hadoop.registry.dns.acl.zones", &why, report);
    acl_free(acl);
}

static void check_tls(const struct options *o, struct opt_report *report)
{
    const char *cert = opt_text(o, OPT_TLS_CERT), *key = opt_text(o, OPT_TLS_KEY);
    const char *set = cert ? "hadoop.registry.dns.tls.certificate" : "hadoop.registry.dns.tls.key";
    const char *unset = cert ? "hadoop.registry.dns.tls.key" : "hadoop.registry.dns.tls.certificate";
    struct err_info why;
    if (!cert && !key)
        return;
    if (!cert || !key) {
        err_set(&why, ERR_CONFIG, NULL, "goes together with %s, which is not set", unset);
        opt_error(o, set, &why, report);
    } else if (report->purpose != OPT_FOR_RELOAD && net_check_tls(cert, key, &why)) {
        opt_error(o, "hadoop.registry.dns.tls.certificate", &why, report);
    }
}

void dnsd_net_check(const struct options *o, struct opt_report *report)
{
    const char *secret_file = report->purpose == OPT_FOR_RELOAD ? NULL : opt_text(o, OPT_COOKIE_FILE);
    struct rrl_options rrl = rrl_options(o);
    struct cookie_secrets secrets;
    struct err_info why;
    check_addresses(o, report);
    check_acl(o, report);
    check_tls(o, report);
    if (secret_file && read_secrets(secret_file, &secrets, &why))
        opt_error(o, "hadoop.registry.dns.cookies.secret-file", &why, report);
    if (rrl_check_options(&rrl, &why))
        opt_error(o, "hadoop.registry.dns.rrl.exempt", &why, report);
    dnsd_tap_check(o, report);
    dnsd_forward_check(o, report);
}

static struct answer_options answer_options(struct dnsd *app, const struct options *o)
{
    const char *identity = opt_text(o, OPT_IDENTITY);
    bool has_chaos = opt_bool(o, OPT_CHAOS);
    if (!identity && !gethostname(app->host, sizeof app->host - 1))
        identity = app->host;
    size_t nsid_len = identity ? strnlen(identity, NSID_MAX) : 0;
    return (struct answer_options){
        .udp_max = (uint16_t)opt_int(o, OPT_UDP_MAX),
        .keep_order = !strcmp(opt_text(o, OPT_ANSWER_ORDER), "fixed"),
        .has_empty_zones = opt_bool(o, OPT_EMPTY_ZONES),
        .needs_cookie = !strcmp(opt_text(o, OPT_COOKIES), "require"),
        .version = has_chaos ? version_text : NULL,
        .identity = has_chaos && nsid_len ? identity : NULL,
        .nsid = has_chaos && nsid_len ? (const uint8_t *)identity : NULL,
        .nsid_len = (uint8_t)nsid_len,
    };
}

static void log_listening(const struct log_event *event, const char *address, uint16_t port)
{
    mem_auto char *where = mem_fmt(strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, port);
    log_emit(event, LOG_STR("address", where));
}

static void end_forward(struct dnsd *app)
{
    forward_stop(app->forward);
    forward_free(app->forward);
    app->forward = NULL;
}

/* The workers run already and keep their priority: on a processor that they share with the loop they go before its bursts of
 * milliseconds. Raising the nice value needs no right, so this cannot fail. */
static void loop_comes_second(void)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LOOP_NICE);
}

/* Where DNS is answered, for /version: bobbin asks there. */
static void note_address(struct dnsd *app, const char *address)
{
    mem_auto char *text = mem_fmt(strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, net_port(app->net));
    daemon_version_fact(app->daemon, "dns", text);
}

int dnsd_net_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct options *o = daemon_options(d);
    struct cookie_secrets secrets;
    char *addresses[MAX_ADDRESSES];
    const char *secret_file = opt_text(o, OPT_COOKIE_FILE);
    int err = secret_file ? read_secrets(secret_file, &secrets, why) : 0;
    if (err)
        return err;
    size_t n = read_addresses(opt_text(o, OPT_BIND_ADDRESS), addresses, MAX_ADDRESSES);
    struct net_options opts = {.addresses = (const char *const *)addresses,
                               .n_addresses = n,
                               .port = (uint16_t)opt_int(o, OPT_BIND_PORT),
                               .n_workers = (unsigned)opt_int(o, OPT_WORKERS),
                               .tcp_max_clients = (unsigned)opt_int(o, OPT_TCP_CLIENTS),
                               .tcp_max_per_client = (unsigned)opt_int(o, OPT_TCP_PER_CLIENT),
                               .tcp_idle_ms = (unsigned)opt_ms(o, OPT_TCP_IDLE),
                               .tls_cert = opt_text(o, OPT_TLS_CERT),
                               .tls_key = opt_text(o, OPT_TLS_KEY),
                               .tls_port = (uint16_t)opt_int(o, OPT_TLS_PORT),
                               .has_cookies = strcmp(opt_text(o, OPT_COOKIES), "off") != 0,
                               .cookie_secrets = secret_file ? &secrets : NULL,
                               .rrl = rrl_options(o),
                               .answer = answer_options(app, o),
                               .zones = app->zones};
    err = dnsd_tap_start(app, why);
    opts.tap = app->tap;
    err = err ? err : dnsd_forward_start(app, &opts, why);
    err = err ? err : read_acl(o, &opts.take_acl, why);
    if (!err)
        err = net_start(&opts, &app->net, why);
    for (size_t i = 0; i < n; i++) {
        if (!err)
            log_listening(&ev_dns_listening, addresses[i], net_port(app->net));
        if (!err && !i)
            note_address(app, addresses[0]);
        if (!err && net_tls_port(app->net))
            log_listening(&ev_dns_tls_listening, addresses[i], net_tls_port(app->net));
        free(addresses[i]);
    }
    if (err == ERR_ADDRINUSE)
        err_set(why, err, why->where,
                "something answers there already: stop it, or set hadoop.registry.dns.bind-port, "
                "hadoop.registry.dns.tls.port or hadoop.registry.dns.bind-address");
    if (app->forward && !err)
        forward_use(app->forward, app->net);
    if (err) {
        end_forward(app);
        dnsd_tap_stop(app);
    } else {
        loop_comes_second();
    }
    return err;
}

/** Log that a file was read again, or could not be. */
static void log_reload(const char *file, int err, const struct err_info *why)
{
    if (err)
        log_emit(&ev_dns_reload_failed, LOG_STR("where", why->where), LOG_STR("error", why->text));
    else
        log_emit(&ev_dns_reloaded, LOG_STR("where", file));
}

/** Put the access lists of the options in force; those that cannot be read leave the old ones, which is logged. */
static int reload_acl(struct dnsd *app, struct err_info *why)
{
    struct acl *acl = NULL;
    int err = read_acl(daemon_options(app->daemon), &acl, why);
    if (err)
        log_reload("hadoop.registry.dns.acl", err, why);
    else
        net_set_acl(app->net, acl);
    return err;
}

int dnsd_net_reload(struct dnsd *app, struct err_info *why)
{
    struct err_info secrets_why, acl_why;
    struct cookie_secrets secrets;
    const struct options *o = daemon_options(app->daemon);
    const char *cert_file = opt_text(o, OPT_TLS_CERT), *secret_file = opt_text(o, OPT_COOKIE_FILE);
    int tls_err = net_reload_tls(app->net, why), err = reload_acl(app, tls_err ? &acl_why : why);
    if (cert_file)
        log_reload(cert_file, tls_err, why);
    tls_err = tls_err ? tls_err : err;
    if (!secret_file)
        return tls_err;
    err = read_secrets(secret_file, &secrets, &secrets_why);
    if (!err)
        net_set_cookie_secrets(app->net, &secrets);
    log_reload(secret_file, err, &secrets_why);
    if (err && !tls_err)
        *why = secrets_why;
    return tls_err ? tls_err : err;
}

void dnsd_net_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    forward_stop(app->forward);
    net_stop(app->net);
    forward_free(app->forward);
    app->forward = NULL;
    dnsd_tap_stop(app);
    zoneset_reclaim(app->zones, UINT64_MAX);
    daemon_stopped(d);
}
