/* Cookies as RFC 9018 gives them, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "wire/cookie.h"

static void unhex(const char *text, uint8_t *out)
{
    unsigned octet;
    for (; *text; text += 2) {
        assert_int_equal(sscanf(text, "%2x", &octet), 1);
        *out++ = (uint8_t)octet;
    }
}

/** Key and message are 00 01 02 …: the first and the last vector of the reference implementation. */
static void siphash_vectors(void **state)
{
    (void)state;
    uint8_t key[16], text[64], out[8], wanted[8];
    for (uint8_t i = 0; i < 64; i++)
        text[i] = i;
    memcpy(key, text, 16);
    cookie_siphash(key, text, 0, out);
    unhex("310e0edd47db6f72", wanted);
    assert_memory_equal(out, wanted, 8);
    cookie_siphash(key, text, 15, out);
    unhex("e545be4961ca29a1", wanted);
    assert_memory_equal(out, wanted, 8);
    cookie_siphash(key, text, 63, out);
    unhex("724506eb4c328a95", wanted);
    assert_memory_equal(out, wanted, 8);
}

#define SECRET "e5e973e5a6b2a43f48e7dc849e37bfcf"

static struct cookie_secrets secrets(const char *first, const char *second)
{
    struct cookie_secrets s = {.n_keys = second ? 2 : 1};
    unhex(first, s.keys[0]);
    if (second)
        unhex(second, s.keys[1]);
    return s;
}

/** RFC 9018 appendix A. */
static void rfc9018_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *secret, *address, *cookie;
        uint32_t time_s;
    } cases[] = {
        {SECRET, "c6336464", "2464c4abcf10c957010000005cf79f111f8130c3eee29480", 1559731985},
        {"dd3bdf9344b678b185a6f5cb60fca715", "20010db80220000159ded0f4876982b8",
         "22681ab97d52c298010000005cf7c57926556bd0934c72f8", 1559741817},
        {"445536bcd2513298075a5d379663c962", "20010db80220000159ded0f4876982b8",
         "22681ab97d52c298010000005cf7c609a6bb79d16625507a", 1559741961},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cookie_secrets s = secrets(cases[i].secret, NULL);
        struct cookie_client client = {.address_len = (uint8_t)(strlen(cases[i].address) / 2),
                                       .now_s = cases[i].time_s};
        uint8_t wanted[COOKIE_LEN], out[COOKIE_LEN];
        unhex(cases[i].address, client.address);
        unhex(cases[i].cookie, wanted);
        cookie_make(&s, &client, wanted, out);
        assert_memory_equal(out, wanted, COOKIE_LEN);
        assert_true(cookie_check(&s, &client, wanted, COOKIE_LEN, out));
        assert_memory_equal(out, wanted, COOKIE_LEN);
    }
}

static void reserved_octets_are_part_of_the_cookie(void **state)
{
    (void)state;
    struct cookie_secrets s = secrets(SECRET, NULL);
    struct cookie_client client = {{203, 0, 113, 203}, 4, 1559727985};
    uint8_t cookie[COOKIE_LEN], out[COOKIE_LEN];
    unhex("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", cookie);
    assert_true(cookie_check(&s, &client, cookie, COOKIE_LEN, out));
}

static void time_and_secret_decide(void **state)
{
    (void)state;
    struct cookie_secrets old = secrets(SECRET, NULL),
                          both = secrets("445536bcd2513298075a5d379663c962", SECRET),
                          other = secrets("445536bcd2513298075a5d379663c962", NULL);
    static const struct {
        const char *what;
        int32_t age_s;
        bool is_good, is_same;
    } cases[] = {
        {"young", 0, true, true},
        {"half an hour", 1800, true, true},
        {"to be renewed", 1801, true, false},
        {"an hour", 3600, true, false},
        {"too old", 3601, false, false},
        {"clock ahead", -300, true, true},
        {"from the future", -301, false, false},
    };
    uint8_t cookie[COOKIE_LEN], out[COOKIE_LEN];
    struct cookie_client client = {{10, 0, 0, 1}, 4, 0xfffffff0u},
                         later = client; /* the clock wraps on the way */
    cookie_make(&old, &client, (const uint8_t *)"abcdefgh", cookie);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        later.now_s = client.now_s + (uint32_t)cases[i].age_s;
        if (cookie_check(&old, &later, cookie, COOKIE_LEN, out) != cases[i].is_good ||
            !memcmp(out, cookie, COOKIE_LEN) != cases[i].is_same)
            fail_msg("%s", cases[i].what);
    }
    assert_true(
        cookie_check(&both, &client, cookie, COOKIE_LEN, out)); /* rolled over: good, but a new one comes */
    assert_memory_not_equal(out, cookie, COOKIE_LEN);
    assert_false(cookie_check(&other, &client, cookie, COOKIE_LEN, out));
    assert_false(cookie_check(&old, &client, cookie, 8, out));
    assert_false(cookie_check(&old, &client, cookie, 16, out));
    later = client;
    later.address[3] = 2;
    assert_false(cookie_check(&old, &later, cookie, COOKIE_LEN, out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_vectors),
        cmocka_unit_test(rfc9018_vectors),
        cmocka_unit_test(reserved_octets_are_part_of_the_cookie),
        cmocka_unit_test(time_and_secret_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
