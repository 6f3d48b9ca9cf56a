#include "http/head.h"
#include "base/mem.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define ARRAY_END(a) (sizeof(a) / sizeof *(a))

/** The head of these lines, "Name: value" each, with the version before them. */
static struct http_head head_of(const char *const *lines)
{
    static char texts[8][2][64];
    struct http_head head = {.method = "GET", .version = lines[0]};
    for (int i = 1; lines[i]; i++) {
        size_t len = strcspn(lines[i], ":");
        memcpy(texts[i][0], lines[i], len);
        texts[i][0][len] = '\0';
        strcpy(texts[i][1], lines[i] + len + 2);
        http_head_note(&head, texts[i][0], texts[i][1]);
    }
    return head;
}

static const struct {
    const char *lines[6];
    const char *where; /* of the error; NULL: none */
} framings[] = {
    {{"HTTP/1.1", "Host: a"}, NULL},
    {{"HTTP/1.1", "host: a", "CONTENT-LENGTH: 3", "X-Length: 4"}, NULL},
    {{"HTTP/1.1", "Host: a", "Transfer-Encoding: Chunked"}, NULL},
    {{"HTTP/1.0"}, NULL},
    {{"HTTP/1.1"}, "Host"},
    {{"HTTP/1.1", "Host: a", "HOST: a"}, "Host"},
    {{"HTTP/1.0", "Host: a", "Host: b"}, "Host"},
    {{"HTTP/1.1", "Host: a", "Content-Length: 3", "Content-Length: 3"}, "Content-Length"},
    {{"HTTP/1.1", "Host: a", "Content-Length: 3", "Transfer-Encoding: chunked"}, "Transfer-Encoding"},
    {{"HTTP/1.1", "Host: a", "Transfer-Encoding: gzip"}, "Transfer-Encoding"},
    {{"HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"},
     "Transfer-Encoding"},
};

static void a_message_has_one_end_and_one_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_END(framings); i++) {
        struct http_head head = head_of(framings[i].lines);
        struct err_info why = {0};
        assert_int_equal(http_head_check_framing(&head, &why), framings[i].where ? ERR_PARSE : 0);
        assert_string_equal(why.where, framings[i].where ? framings[i].where : "");
    }
}

static const struct {
    const char *target;
    bool has_nul;
    const char *text; /* of the error; NULL: none */
} targets[] = {
    {"/a/b?c=d", false, NULL},
    {"/caf\xc3\xa9", false, NULL},
    {"/a", true, "the request target contains a NUL byte"},
    {"/a\xff", false, "the request target is not UTF-8; percent-encode it"},
    {"/a b", false, "the request target contains a blank or control character at byte 2"},
    {"/\x7f\xc3\xa9", false, "the request target contains a blank or control character at byte 1"},
};

static void a_target_is_utf8_without_blanks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_END(targets); i++) {
        struct http_head head = {.target_has_nul = targets[i].has_nul};
        struct err_info why = {0};
        assert_int_equal(http_head_check_target(&head, targets[i].target, &why),
                         targets[i].text ? ERR_PATH : 0);
        assert_string_equal(why.text, targets[i].text ? targets[i].text : "");
    }
}

static const struct {
    const char *target, *path, *query;
} splits[] = {
    {"/a/b", "/a/b", NULL},
    {"/a/b?c=d?e", "/a/b", "c=d?e"},
    {"/a?", "/a", ""},
    {"http://host:1/a?b", "/a", "b"},
    {"HTTPS://host/a", "/a", NULL},
    {"http://host", "/", NULL},
    {"http://host?q", "/", "q"},
    {"*", "*", NULL},
    {"/http://x", "/http://x", NULL},
    {"", "/", NULL},
};

static void a_target_is_a_path_and_a_query(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_END(splits); i++) {
        mem_auto char *target = mem_str(splits[i].target);
        const char *query = "unset";
        assert_string_equal(http_head_split_target(target, &query), splits[i].path);
        if (splits[i].query)
            assert_string_equal(query, splits[i].query);
        else
            assert_null(query);
    }
}

static const struct {
    const char *bound, *host;
    bool is_ours;
} hosts[] = {
    {"127.0.0.1", "localhost", true},
    {"127.0.0.1", "LOCALHOST:9192", true},
    {"127.0.0.1", "registry.example.", true},
    {"127.0.0.1", "127.0.0.1:1", true},
    {"127.0.0.1", "127.9.9.9", true},
    {"127.0.0.1", "[::1]:9192", true},
    {"127.0.0.1", "192.0.2.1", false},
    {"127.0.0.1", "evil.example", false},
    {"127.0.0.1", "localhost.evil.example", false},
    {"127.0.0.1", "localhost:port", false},
    {"127.0.0.1", "[::1", false},
    {"127.0.0.1", "[::1]x", false},
    {"127.0.0.1", "", false},
    {"127.0.0.1", ":80", false},
    {"192.0.2.1", "192.0.2.1:80", true},
    {"192.0.2.1", "127.0.0.1", false},
    {"0.0.0.0", "192.0.2.77", true},
    {"::", "[2001:db8::1]", true},
    {"0.0.0.0", "evil.example", false},
};

static void a_host_is_an_address_or_a_name_of_ours(void **state)
{
    (void)state;
    char *names[] = {"localhost", "registry.example"};
    for (size_t i = 0; i < ARRAY_END(hosts); i++) {
        struct http_names own = {.names = names, .n_names = ARRAY_END(names), .prefix = "my.http."};
        struct http_head head = {.host = hosts[i].host};
        struct err_info why = {0};
        assert_int_equal(addr_read(hosts[i].bound, &own.bound), 0);
        assert_int_equal(http_head_check_host(&head, &own, &why), hosts[i].is_ours ? 0 : ERR_HOST);
        assert_true(hosts[i].is_ours || strstr(why.text, "my.http.hosts"));
    }
    struct http_head without = {.host = NULL};
    assert_int_equal(http_head_check_host(&without, NULL, NULL), 0);
}

static const struct {
    const char *origin, *host;
    bool is_ours;
} origins[] = {
    {NULL, "a", true},
    {NULL, NULL, true},
    {"http://a", "a", true},
    {"http://A:80", "a", true},
    {"http://a", "a:80", true},
    {"https://a:443", "a", true},
    {"http://a:9192", "a:9192", true},
    {"http://a:9192", "a:9193", false},
    {"http://b", "a", false},
    {"http://a", NULL, false},
    {"http://ab", "a", false},
    {"null", "a", false},
    {"ftp://a", "a", false},
    {"", "", false},
};

static const struct {
    const char *origin, *proto, *host;
    bool is_proxy;
} proxied[] = {
    {"https://gate:8443", "https", "gate:8443", true},
    {"https://gate", "https", "gate:443", true},
    {"http://gate:8443", "https", "gate:8443", false},
    {"https://gate:8443", "https", "other:8443", false},
    {"https://gate:8443", NULL, "gate:8443", false},
    {"https://gate:8443", "https", NULL, false},
    {"https://gate", "", "gate", false},
    {"https://evil", "https", "gate:8443", false},
    {"null", "null", "gate", false},
};

static void a_page_of_the_proxy_is_not_foreign(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_END(proxied); i++) {
        struct http_head head = {0};
        http_head_note(&head, "host", "127.0.0.1:9192");
        http_head_note(&head, "Origin", proxied[i].origin);
        http_head_note(&head, "x-forwarded-proto", proxied[i].proto);
        http_head_note(&head, "X-Forwarded-Host", proxied[i].host);
        assert_int_equal(http_head_check_origin(&head, NULL), proxied[i].is_proxy ? 0 : ERR_ORIGIN);
    }
}

static void a_page_of_another_host_is_foreign(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_END(origins); i++) {
        struct http_head head = {.origin = origins[i].origin, .host = origins[i].host};
        assert_int_equal(http_head_check_origin(&head, NULL), origins[i].is_ours ? 0 : ERR_ORIGIN);
    }
}

static void the_length_of_a_body_is_what_is_announced(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t len;
    } lengths[] = {{NULL, 0},         {"0", 0},         {"12", 12},      {"9223372036854775807", INT64_MAX},
                   {"-1", INT64_MAX}, {"x", INT64_MAX}, {"", INT64_MAX}, {"9223372036854775808", INT64_MAX}};
    for (size_t i = 0; i < ARRAY_END(lengths); i++) {
        struct http_head head = {.length = lengths[i].text};
        assert_int_equal(http_head_body_len(&head), lengths[i].len);
    }
}

static void json_is_json_with_any_parameters(void **state)
{
    (void)state;
    static const char *const json[] = {"application/json", "Application/JSON",
                                       "application/json;charset=utf-8", "application/json ; a=b",
                                       "application/json\t"};
    static const char *const other[] = {"application/jsonp", "text/json", "application/json x", "",
                                        "application/jso"};
    for (size_t i = 0; i < ARRAY_END(json); i++)
        assert_true(http_head_is_json(json[i]));
    for (size_t i = 0; i < ARRAY_END(other); i++)
        assert_false(http_head_is_json(other[i]));
    assert_false(http_head_is_json(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_one_end_and_one_host),
        cmocka_unit_test(a_target_is_utf8_without_blanks),
        cmocka_unit_test(a_target_is_a_path_and_a_query),
        cmocka_unit_test(a_host_is_an_address_or_a_name_of_ours),
        cmocka_unit_test(a_page_of_another_host_is_foreign),
        cmocka_unit_test(a_page_of_the_proxy_is_not_foreign),
        cmocka_unit_test(the_length_of_a_body_is_what_is_announced),
        cmocka_unit_test(json_is_json_with_any_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
