/* The rate limit with a clock of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/addr.h"
#include "bobbin/error.h"
#include "net/rrl.h"
#include "wire/rdata.h"

static enum rrl_verdict judge(struct rrl *r, const char *client, uint16_t rcode, uint64_t name,
                              int64_t now_ms)
{
    struct addr a;
    struct sockaddr_storage sa;
    static struct answer answer;
    assert_int_equal(addr_read(client, &a), 0);
    addr_to_sockaddr(&a, 53, &sa);
    answer.rcode = rcode;
    answer.q.has_question = true;
    answer.q.name.hash[0] = name;
    return rrl_judge(r, &sa, &answer, now_ms);
}

static unsigned n_sent(struct rrl *r, const char *client, uint16_t rcode, uint64_t name, int64_t now_ms)
{
    unsigned n = 0;
    for (int i = 0; i < 100; i++)
        n += judge(r, client, rcode, name, now_ms) == RRL_SEND;
    return n;
}

static void credit_comes_back_with_time(void **state)
{
    (void)state;
    struct rrl *r = rrl_new(&(struct rrl_options){.rate_per_s = 20});
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 7, 1000), 20);
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 7, 1000), 0);
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 7, 1500), 10);
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 7, 90000),
                     20); /* saved up for one second, no more */
    rrl_free(r);
}

static void network_and_kind_have_a_bucket(void **state)
{
    (void)state;
    struct rrl *r = rrl_new(&(struct rrl_options){.rate_per_s = 5});
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 7, 0), 5);
    assert_int_equal(n_sent(r, "192.0.2.250", DNS_NOERROR, 7, 0), 0); /* the same /24 */
    assert_int_equal(n_sent(r, "192.0.3.1", DNS_NOERROR, 7, 0), 5);
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NOERROR, 8, 0), 5); /* another name */
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NXDOMAIN, 1, 0), 5);
    assert_int_equal(n_sent(r, "192.0.2.1", DNS_NXDOMAIN, 2, 0), 0); /* names that are not there share one */
    assert_int_equal(n_sent(r, "2001:db8:0:1::1", DNS_NOERROR, 7, 0), 5);
    assert_int_equal(n_sent(r, "2001:db8:0:ff::1", DNS_NOERROR, 7, 0), 0); /* the same /56 */
    assert_int_equal(n_sent(r, "2001:db8:0:100::1", DNS_NOERROR, 7, 0), 5);
    rrl_free(r);
}

static void each_slipth_is_empty(void **state)
{
    (void)state;
    struct rrl *r = rrl_new(&(struct rrl_options){.rate_per_s = 1, .slip = 3});
    unsigned n[3] = {0};
    for (int i = 0; i < 31; i++)
        n[judge(r, "192.0.2.1", DNS_NOERROR, 7, 0)]++;
    assert_int_equal(n[RRL_SEND], 1);
    assert_int_equal(n[RRL_EMPTY], 10);
    assert_int_equal(n[RRL_DROP], 20);
    rrl_free(r);
}

static void exempt_networks(void **state)
{
    (void)state;
    struct rrl *r = rrl_new(&(struct rrl_options){.rate_per_s = 1, .exempt = "10.128.0.0/9, ::1,192.0.2.7"});
    assert_int_equal(n_sent(r, "10.200.1.1", DNS_NOERROR, 7, 0), 100);
    assert_int_equal(n_sent(r, "::1", DNS_NOERROR, 7, 0), 100);
    assert_int_equal(n_sent(r, "192.0.2.7", DNS_NOERROR, 7, 0), 100);
    assert_int_equal(n_sent(r, "10.127.255.255", DNS_NOERROR, 7, 0), 1);
    assert_int_equal(n_sent(r, "192.0.2.6", DNS_NOERROR, 7, 0), 1);
    assert_int_equal(n_sent(r, "::2", DNS_NOERROR, 7, 0), 1);
    rrl_free(r);
}

static void options_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"10.0.0.0/33", "::/129", "localhost", "10.0.0.0/", "10.0.0.0/x"};
    struct err_info why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rrl_check_options(&(struct rrl_options){.exempt = bad[i]}, &why), ERR_INVALID);
    assert_int_equal(rrl_check_options(&(struct rrl_options){.exempt = "0.0.0.0/0,::/0"}, &why), 0);
    assert_int_equal(rrl_check_options(&(struct rrl_options){.exempt = ""}, &why), 0);
    assert_null(rrl_new(&(struct rrl_options){.slip = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_comes_back_with_time), cmocka_unit_test(network_and_kind_have_a_bucket),
        cmocka_unit_test(each_slipth_is_empty),        cmocka_unit_test(exempt_networks),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
