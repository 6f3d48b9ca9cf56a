/* lib/http/proxy_users: who may act for whom, from where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/proxy_users.h"
#include "run/options.h"

#define NOT_ALLOWED "User: knox is not allowed to impersonate alice (hadoop.proxyuser.knox.users"
#define UNAUTHORIZED                                                                                         \
    "Unauthorized connection for super-user: knox from IP 10.1.2.3 (hadoop.proxyuser.knox.hosts"

static void rules_decide(void **state)
{
    static const struct {
        const char *users, *groups, *hosts;
        const char *refusal; /* NULL: allowed */
    } cases[] = {
        {"*", NULL, "*", NULL},
        {" * ", NULL, " * ", NULL},
        {NULL, "*", "*", NULL},
        {"bob, alice ", NULL, "*", NULL},
        {"Alice", NULL, "*", NOT_ALLOWED},
        {"bob,*", NULL, "*", NOT_ALLOWED},
        {"", "", "*", NOT_ALLOWED},
        {NULL, NULL, "*", NOT_ALLOWED},
        {NULL, NULL, NULL, NOT_ALLOWED},
        {"*", NULL, NULL, UNAUTHORIZED},
        {"*", NULL, "", UNAUTHORIZED},
        {"*", NULL, "10.1.2.3", NULL},
        {"*", NULL, "10.9.9.9, 10.1.2.3", NULL},
        {"*", NULL, "10.9.9.9", UNAUTHORIZED},
        {"*", NULL, "*,10.9.9.9", UNAUTHORIZED},
        {"*", NULL, "10.1.0.0/16", NULL},
        {"*", NULL, "10.2.0.0/16", UNAUTHORIZED},
        {"*", NULL, "10.1.2.3/33", UNAUTHORIZED},
        {"*", NULL, "::/0", UNAUTHORIZED},
        {"*", NULL, "::1", UNAUTHORIZED},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proxy_ask ask = {"knox", "alice", "10.1.2.3", cases[i].users, cases[i].groups, cases[i].hosts};
        struct err_info why = {0};
        bool is_open = true;
        int rc = proxy_users_check(&ask, &is_open, &why);
        assert_int_equal(rc, cases[i].refusal ? ERR_IMPERSONATION : 0);
        if (cases[i].refusal && strncmp(why.text, cases[i].refusal, strlen(cases[i].refusal)) != 0)
            fail_msg("row %zu says %s", i, why.text);
        assert_true(rc != 0 || !is_open);
        assert_int_equal(proxy_users_check(&ask, NULL, &why), rc);
    }
}

/** Groups and names are left open at first; both must be so, and either refuses. */
static void look_ups_decide_the_rest(void **state)
{
    const struct passwd *me = getpwuid(getuid());
    assert_non_null(me);
    mem_auto char *user = mem_str(me->pw_name);
    const struct group *mine = getgrgid(me->pw_gid);
    assert_non_null(mine);
    mem_auto char *groups = mem_fmt("no-such-group, %s", mine->gr_name);
    const struct {
        const char *target, *groups, *hosts;
        int rc;
    } cases[] = {
        {user, groups, "127.0.0.1", 0},
        {user, groups, "localhost", 0},
        {user, "no-such-group", "*", ERR_IMPERSONATION},
        {"no-such-user", groups, "*", ERR_IMPERSONATION},
        {user, groups, "no-such-host.invalid", ERR_IMPERSONATION},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proxy_ask ask = {"knox", cases[i].target, "127.0.0.1", NULL, cases[i].groups, cases[i].hosts};
        struct err_info why = {0};
        bool is_open = false;
        assert_int_equal(proxy_users_check(&ask, &is_open, &why), 0);
        assert_true(is_open);
        assert_int_equal(proxy_users_check(&ask, NULL, &why), cases[i].rc);
    }
}

static void keys_are_those_of_the_caller(void **state)
{
    static const char *const sets[] = {
        "hadoop.proxyuser.knox.users=alice", "hadoop.proxyuser.knox.hosts=10.0.0.0/40, h, ::/0",
        "hadoop.proxyuser.a.b.groups=staff", "hadoop.proxyuser.*.users=*",
        "hadoop.proxyuser.knox.host=*",      NULL};
    (void)state;
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_TEST);
    struct options *o = options_load(NULL, 0, NULL, sets, &report);
    struct proxy_ask ask = {.caller = "knox"};
    proxy_users_find(o, &ask);
    assert_string_equal(ask.users, "alice");
    assert_null(ask.groups);
    ask.caller = "a.b";
    proxy_users_find(o, &ask);
    assert_string_equal(ask.groups, "staff");
    assert_null(ask.hosts);
    ask.caller = "Knox";
    proxy_users_find(o, &ask);
    assert_null(ask.users);
    proxy_users_find(NULL, &ask);
    assert_null(ask.users);
    proxy_users_report(o, &report);
    assert_non_null(
        strstr(buf_cstr(&report.warnings), "-D: hadoop.proxyuser.knox.hosts: 10.0.0.0/40: no IPv4 network"));
    assert_non_null(strstr(buf_cstr(&report.warnings), "hadoop.proxyuser.knox.hosts: ::/0: no IPv4 network"));
    assert_non_null(strstr(buf_cstr(&report.warnings), "hadoop.proxyuser.knox.host: no such key"));
    assert_int_equal(report.errors.len, 0);
    opt_report_fini(&report);
    options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_decide),
        cmocka_unit_test(look_ups_decide_the_rest),
        cmocka_unit_test(keys_are_those_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
