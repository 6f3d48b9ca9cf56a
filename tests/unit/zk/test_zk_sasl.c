/*
 * Kerberos without a KDC: what is read from files, what is said when it does not work, and what the session does then. The
 * exchange itself has a real KDC and a real ZooKeeper: tests/interop/kerberos.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <krb5.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fake_zk.h"
#include "store/zk/login.h"
#include "store/zk/sasl.h"
#include "store/zk/session.h"

#define RIG_MAGIC OBJ_MAGIC('R', 'I', 'G', 'K')

struct rig {
    struct obj obj;
    char dir[32];
    char *keytab, *conf;
};

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void add_key(const char *keytab, const char *principal)
{
    krb5_context krb5;
    krb5_keytab file;
    krb5_keytab_entry entry = {.vno = 1};
    unsigned char key[32] = "0123456789abcdef0123456789abcde";
    assert_int_equal(krb5_init_context(&krb5), 0);
    assert_int_equal(krb5_parse_name(krb5, principal, &entry.principal), 0);
    mem_auto char *name = mem_fmt("WRFILE:%s", keytab);
    assert_int_equal(krb5_kt_resolve(krb5, name, &file), 0);
    entry.key =
        (krb5_keyblock){.enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96, .length = sizeof key, .contents = key};
    assert_int_equal(krb5_kt_add_entry(krb5, file, &entry), 0);
    krb5_kt_close(krb5, file);
    krb5_free_principal(krb5, entry.principal);
    krb5_free_context(krb5);
}

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    strcpy(r->dir, "/tmp/bobbin-sasl-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    r->keytab = mem_fmt("%s/keytab", r->dir);
    r->conf = mem_fmt("%s/krb5.conf", r->dir);
    write_file(
        r->conf,
        "[libdefaults]\n default_realm = R.TEST\n dns_lookup_kdc = false\n plugin_base_dir = /nowhere\n"
        " dns_canonicalize_hostname = false\n");
    mem_auto char *cache = mem_fmt("FILE:%s/cache", r->dir);
    setenv("KRB5_CONFIG", r->conf, 1);
    setenv("KRB5CCNAME", cache, 1);
    add_key(r->keytab, "first/host@R.TEST");
    add_key(r->keytab, "second@OTHER.TEST");
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    unlink(r->keytab);
    unlink(r->conf);
    rmdir(r->dir);
    free(r->keytab);
    free(r->conf);
    free(r);
    return 0;
}

/* The principal, or "code: text". */
static char *identity(const struct store_kerberos *kerberos)
{
    char *found = NULL;
    struct err_info why = {0};
    int err = zkl_identity(kerberos, &found, &why);
    return err ? mem_fmt("%s: %s", err_name(err), why.text) : found;
}

static void who_we_are_is_read_from_the_keytab(void **state)
{
    struct rig *r = *state;
    static const char *const rows[][2] = {
        {NULL, "first/host@R.TEST"},
        {"", "first/host@R.TEST"},
        {"first/host", "first/host@R.TEST"},
        {"second@OTHER.TEST", "second@OTHER.TEST"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct store_kerberos kerberos = {.keytab = r->keytab, .principal = rows[i][0]};
        mem_auto char *found = identity(&kerberos);
        assert_string_equal(found, rows[i][1]);
    }
}

static void a_principal_that_cannot_be_used_is_explained(void **state)
{
    struct rig *r = *state;
    const struct {
        struct store_kerberos kerberos;
        const char *wanted[2];
    } rows[] = {
        {{.keytab = r->keytab, .principal = "third"}, {"third@R.TEST", "no key for this principal"}},
        {{.keytab = r->keytab, .principal = "a@b@c"}, {"a@b@c", "no principal"}},
        {{.keytab = "/nowhere/keytab"}, {"/nowhere/keytab", "does not exist"}},
        {{.keytab = r->conf}, {r->conf, "no keytab"}},
        {{0}, {r->dir, "run kinit"}},
        {{.cache = "NOKIND:x"}, {"NOKIND:x", ""}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *found = identity(&rows[i].kerberos);
        if (strncmp(found, "ERR_", 4) != 0 || !strstr(found, rows[i].wanted[0]) ||
            !strstr(found, rows[i].wanted[1]))
            fail_msg("row %zu: %s", i, found);
    }
}

static void the_host_in_a_principal_is_this_one(void **state)
{
    struct rig *r = *state;
    const struct store_kerberos kerberos = {.keytab = r->keytab, .principal = "name/_HOST@R.TEST"};
    mem_auto char *found = identity(&kerberos);
    assert_null(strstr(found, "_HOST"));
    assert_non_null(strstr(found, "name/"));
    assert_non_null(strstr(found, "@R.TEST"));
}

static void errors_name_a_remedy(void **state)
{
    static const struct {
        int32_t status;
        int code;
        const char *wanted;
    } rows[] = {
        {KRB5KRB_AP_ERR_SKEW, ERR_AUTH, "clocks"},
        {KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, ERR_AUTH, "knows no such principal"},
        {KRB5_KDC_UNREACH, ERR_UNAVAILABLE, "no KDC answers"},
        {KRB5KRB_AP_ERR_TKT_EXPIRED, ERR_AUTH, "kinit"},
        {KRB5_KT_NOTFOUND, ERR_CONFIG, "klist -k"},
        {KRB5_ERR_BAD_S2K_PARAMS, ERR_IO, "said"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        assert_int_equal(zkl_explain(rows[i].status, "said", "a@R", &why), rows[i].code);
        assert_non_null(strstr(why.text, rows[i].wanted));
        assert_non_null(strstr(why.text, "a@R"));
        assert_string_equal(why.where, "a@R");
    }
}

static void no_layer_is_chosen(void **state)
{
    unsigned char choice[ZKSASL_LAYERS_LEN] = "xyz";
    (void)state;
    assert_int_equal(zksasl_choose("\x06\x01\x00\x00", 4, choice), ERR_UNSUPPORTED);
    assert_int_equal(zksasl_choose("\x01\x00\x00", 3, choice), ERR_PARSE);
    assert_int_equal(zksasl_choose("\x01\x00\x00\x00\x00", 5, choice), ERR_PARSE);
    assert_int_equal(zksasl_choose(NULL, 0, choice), ERR_PARSE);
    assert_memory_equal(choice, "xyz", 4);
    assert_int_equal(zksasl_choose("\x07\x01\x00\x00", 4, choice), 0);
    assert_memory_equal(choice, "\x01\0\0\0", 4);
}

static void a_token_is_one_buffer_of_request_102(void **state)
{
    static const char wanted[] = "\0\0\0\x0f"
                                 "\0\0\0\x07"
                                 "\0\0\0\x66"
                                 "\0\0\0\x03"
                                 "abc";
    buf_auto struct buf body = BUF_EMPTY, out = BUF_EMPTY;
    (void)state;
    zkw_put_bytes(&body, "abc", 3);
    zkw_put_made(&out, 7, ZKW_SASL, &body);
    assert_int_equal(out.len, sizeof wanted - 1);
    assert_memory_equal(out.bytes, wanted, sizeof wanted - 1);
}

static void a_copy_is_whole(void **state)
{
    const struct store_kerberos original = {"p", "k", "c", "n", "s"};
    (void)state;
    struct store_kerberos *copy = zkl_kerberos_copy(&original);
    assert_string_equal(copy->principal, "p");
    assert_string_equal(copy->keytab, "k");
    assert_string_equal(copy->cache, "c");
    assert_string_equal(copy->server_name, "n");
    assert_string_equal(copy->server_principal, "s");
    zkl_kerberos_free(copy);
    assert_null(zkl_kerberos_copy(NULL));
}

/* ---- the session ---- */

struct session_rig {
    struct obj obj;
    struct run_loop *loop;
    struct fake_zk *fake;
    struct zks *session;
    size_t n_up, n_down;
    struct err_info why;
    bool is_closed;
};

static void on_up(void *arg, bool is_resumed)
{
    (void)is_resumed;
    obj_cast(arg, struct session_rig, RIG_MAGIC)->n_up++;
}

static void on_down(void *arg, const struct err_info *why)
{
    struct session_rig *r = obj_cast(arg, struct session_rig, RIG_MAGIC);
    r->n_down++;
    r->why = *why;
}

static void on_notice(void *arg, int32_t kind, const char *path)
{
    (void)kind;
    (void)path;
    obj_cast(arg, struct session_rig, RIG_MAGIC);
}

static void on_drained(void *arg)
{
    obj_cast(arg, struct session_rig, RIG_MAGIC);
}

static bool is_down(void *arg)
{
    return obj_cast(arg, struct session_rig, RIG_MAGIC)->n_down > 0;
}

static void on_closed(void *arg)
{
    obj_cast(arg, struct session_rig, RIG_MAGIC)->is_closed = true;
}

static bool is_closed(void *arg)
{
    return obj_cast(arg, struct session_rig, RIG_MAGIC)->is_closed;
}

static void session_open(struct session_rig *s, const struct store_kerberos *kerberos)
{
    static const struct zks_ops ops = {on_up, on_down, on_notice, on_drained};
    obj_init(&s->obj, RIG_MAGIC);
    s->loop = run_loop_new();
    s->fake = fake_new(s->loop);
    const struct zks_config config = {.role = "testing",
                                      .servers = fake_address(s->fake),
                                      .session_timeout_ms = 4000,
                                      .attempt_timeout_ms = 10000,
                                      .pause_min_ms = 1,
                                      .pause_max_ms = 10,
                                      .kerberos = kerberos};
    assert_int_equal(zks_open(s->loop, &config, &ops, s, &s->session, NULL), 0);
}

static void session_close(struct session_rig *s)
{
    zks_close(s->session, on_closed, s);
    fake_until(s->fake, is_closed, s);
    fake_free(s->fake);
    run_loop_free(s->loop);
}

static void a_session_without_a_ticket_never_goes_up(void **state)
{
    struct rig *r = *state;
    struct session_rig s = {0};
    const struct store_kerberos kerberos = {.keytab = r->keytab};
    session_open(&s, &kerberos);
    fake_until(s.fake, is_down, &s);
    assert_int_equal(s.n_up, 0);
    assert_int_equal(s.why.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(s.why.text, fake_address(s.fake)));
    assert_non_null(strstr(s.why.text, "first/host@R.TEST"));
    assert_non_null(strstr(s.why.text, r->keytab));
    fake_want_none(s.fake);
    session_close(&s);
}

static void closing_does_not_wait_for_the_login(void **state)
{
    struct rig *r = *state;
    struct session_rig s = {0};
    const struct store_kerberos kerberos = {.keytab = r->keytab};
    session_open(&s, &kerberos);
    session_close(&s);
    assert_int_equal(s.n_up, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(who_we_are_is_read_from_the_keytab),
        CASE(a_principal_that_cannot_be_used_is_explained),
        CASE(the_host_in_a_principal_is_this_one),
        CASE(errors_name_a_remedy),
        CASE(no_layer_is_chosen),
        CASE(a_token_is_one_buffer_of_request_102),
        CASE(a_copy_is_whole),
        CASE(a_session_without_a_ticket_never_goes_up),
        CASE(closing_does_not_wait_for_the_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
