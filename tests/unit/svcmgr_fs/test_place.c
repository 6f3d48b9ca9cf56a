/* fs/place.h: which words of a caller are which place, and at which NameNodes HDFS is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "fs/place.h"

#define KEYS_MAX 12

/** Keys and values by turns. */
struct options {
    const char *items[2 * KEYS_MAX];
};

static const char *get(const struct options *c, const char *key)
{
    for (size_t i = 0; i < KEYS_MAX && c->items[2 * i]; i++)
        if (!strcmp(c->items[2 * i], key))
            return c->items[2 * i + 1];
    return NULL;
}

/** Hadoop's defaults. */
static const struct options plain = {{"fs.defaultFS", "file:///", "dfs.namenode.http-address", "0.0.0.0:9870",
                                      "dfs.namenode.https-address", "0.0.0.0:9871", "dfs.http.policy",
                                      "HTTP_ONLY"}};
static const struct options named = {
    {"fs.defaultFS", "hdfs://nn:8020", "dfs.namenode.http-address", "web.nn:50070"}};
static const struct options wild = {
    {"fs.defaultFS", "hdfs://nn:8020/", "dfs.namenode.http-address", "0.0.0.0:1234"}};
static const struct options tls = {{"fs.defaultFS", "hdfs://nn", "dfs.http.policy", "HTTPS_ONLY"}};
static const struct options over_http = {{"fs.defaultFS", "webhdfs://nn:5000"}};
static const struct options pair = {
    {"fs.defaultFS", "hdfs://ns", "dfs.nameservices", "other, ns, one", "dfs.ha.namenodes.ns", "a, b",
     "dfs.namenode.http-address.ns.a", "n1:1", "dfs.namenode.http-address.ns.b", "0.0.0.0:2",
     "dfs.namenode.rpc-address.ns.b", "n2:8020", "dfs.namenode.https-address.ns.a", "n1:3",
     "dfs.namenode.rpc-address.ns.a", "n0:8020", "dfs.namenode.http-address.one", "n3:4"}};
static const struct options bad = {{"fs.defaultFS", "hdfs://nn", "dfs.nameservices", "ns,port",
                                    "dfs.ha.namenodes.ns", "a", "dfs.namenode.http-address.port", "host:port",
                                    "dfs.namenode.http-address", "[::1"}};

struct row {
    const struct options *conf;
    const char *uri;
    int err;
    const char *wanted; /* kind, path and URLs; or a part of the error's text */
};

static const struct row rows[] = {
    {&plain, "/a b", 0, "file /a b"},
    {&plain, "file:///a%20b", 0, "file /a b"},
    {&plain, "FILE:/a", 0, "file /a"},
    {&plain, "file://localhost/a", 0, "file /a"},
    {&plain, "file://elsewhere/a", ERR_INVALID, "no absolute path"},
    {&plain, "file:a", ERR_INVALID, "no absolute path"},
    {&plain, "file:///a%00", ERR_INVALID, "no absolute path"},
    {&plain, "https://h/a?b#c", 0, "web https://h/a?b#c"},
    {&plain, "ftp://h/a", ERR_INVALID, "hdfs:, webhdfs: or swebhdfs: URI"},
    {&plain, "http:h", ERR_INVALID, "no absolute path"},
    {&plain, "", ERR_INVALID, "no absolute path"},
    {&plain, "a/b", ERR_INVALID, "fs.defaultFS is not HDFS"},
    /* a host that the URI names */
    {&plain, "hdfs://h:8020/a", 0, "hdfs hdfs://h:8020/a http://h:9870/webhdfs/v1/a"},
    {&plain, "HDFS://h/a", 0, "hdfs hdfs://h/a http://h:9870/webhdfs/v1/a"},
    {&plain, "hdfs://[::1]:8020/a", 0, "hdfs hdfs://[::1]:8020/a http://[::1]:9870/webhdfs/v1/a"},
    {&plain, "webhdfs://h/a", 0, "hdfs webhdfs://h/a http://h:9870/webhdfs/v1/a"},
    {&plain, "webhdfs://h:50070/a", 0, "hdfs webhdfs://h:50070/a http://h:50070/webhdfs/v1/a"},
    {&plain, "swebhdfs://h/a", 0, "hdfs swebhdfs://h/a https://h:9871/webhdfs/v1/a"},
    {&tls, "hdfs://h/a", 0, "hdfs hdfs://h/a https://h:9871/webhdfs/v1/a"},
    {&tls, "webhdfs://h/a", 0, "hdfs webhdfs://h/a http://h:9870/webhdfs/v1/a"},
    /* paths stand as they are */
    {&plain, "hdfs://h/a b%20?c#d\xc3\xa4", 0,
     "hdfs hdfs://h/a b%20?c#d\xc3\xa4 http://h:9870/webhdfs/v1/a%20b%2520%3Fc%23d%C3%A4"},
    {&plain, "hdfs://h//a/./b//", 0, "hdfs hdfs://h/a/b http://h:9870/webhdfs/v1/a/b"},
    {&plain, "hdfs://h/", 0, "hdfs hdfs://h/ http://h:9870/webhdfs/v1/"},
    {&plain, "hdfs://h", ERR_INVALID, "no absolute path of HDFS"},
    {&plain, "hdfs:a", ERR_INVALID, "no absolute path of HDFS"},
    {&plain, "hdfs://h/a/../b", ERR_INVALID, "no absolute path of HDFS"},
    {&plain, "hdfs://h/a\nb", ERR_INVALID, "no absolute path of HDFS"},
    {&plain, "hdfs://h/\xff", ERR_INVALID, "no absolute path of HDFS"},
    /* what is no host */
    {&plain, "hdfs://u@h/a", ERR_INVALID, "neither host, host:port nor nameservice"},
    {&plain, "hdfs://h:x/a", ERR_INVALID, "neither host"},
    {&plain, "hdfs://h:0/a", ERR_INVALID, "neither host"},
    {&plain, "hdfs://:1/a", ERR_INVALID, "neither host"},
    {&plain, "hdfs://h h/a", ERR_INVALID, "neither host"},
    {&plain, "hdfs://[::1/a", ERR_INVALID, "neither host"},
    /* fs.defaultFS */
    {&plain, "hdfs:///a", ERR_CONFIG,
     "names no NameNode, and fs.defaultFS is file:///: name it, as hdfs://host/"},
    {&named, "hdfs:///a", 0, "hdfs hdfs://nn:8020/a http://web.nn:50070/webhdfs/v1/a"},
    {&named, "hdfs:/a", 0, "hdfs hdfs://nn:8020/a http://web.nn:50070/webhdfs/v1/a"},
    {&named, "hdfs://NN:8020/a", 0, "hdfs hdfs://NN:8020/a http://web.nn:50070/webhdfs/v1/a"},
    {&named, "hdfs://else/a", 0, "hdfs hdfs://else/a http://else:50070/webhdfs/v1/a"},
    {&named, "a/./b", 0, "hdfs hdfs://nn:8020/user/alice/a/b http://web.nn:50070/webhdfs/v1/user/alice/a/b"},
    {&named, "../bob/b", ERR_INVALID, "no absolute path of HDFS"},
    {&named, "/a", 0, "file /a"},
    {&named, "webhdfs:///a", ERR_CONFIG, "fs.defaultFS is hdfs://nn:8020: name it, as webhdfs://host/"},
    {&wild, "hdfs:///a", 0, "hdfs hdfs://nn:8020/a http://nn:1234/webhdfs/v1/a"},
    {&over_http, "webhdfs:///a", 0, "hdfs webhdfs://nn:5000/a http://nn:5000/webhdfs/v1/a"},
    {&over_http, "a", 0, "hdfs webhdfs://nn:5000/user/alice/a http://nn:5000/webhdfs/v1/user/alice/a"},
    /* nameservices */
    {&pair, "hdfs:///a", 0, "hdfs hdfs://ns/a http://n1:1/webhdfs/v1/a http://n2:2/webhdfs/v1/a"},
    {&pair, "webhdfs://ns/a", 0, "hdfs webhdfs://ns/a http://n1:1/webhdfs/v1/a http://n2:2/webhdfs/v1/a"},
    {&pair, "swebhdfs://ns/a", 0,
     "hdfs swebhdfs://ns/a https://n1:3/webhdfs/v1/a https://n2:9871/webhdfs/v1/a"},
    {&pair, "hdfs://ns:8020/a", 0, "hdfs hdfs://ns:8020/a http://ns:9870/webhdfs/v1/a"},
    {&pair, "hdfs://one/a", 0, "hdfs hdfs://one/a http://n3:4/webhdfs/v1/a"},
    {&pair, "hdfs://other/a", ERR_CONFIG, "dfs.namenode.http-address.other is not set"},
    {&bad, "hdfs://ns/a", ERR_CONFIG, "dfs.namenode.http-address.ns.a is not set"},
    {&bad, "hdfs://port/a", ERR_CONFIG,
     "dfs.namenode.http-address.port is \"host:port\", which is no host:port"},
    {&bad, "hdfs:///a", ERR_CONFIG, "dfs.namenode.http-address is \"[::1\", which is no host:port"},
};

static void describe(const struct fs_place *p, struct buf *out)
{
    static const char *const words[] = {[FS_FILE] = "file", [FS_WEB] = "web", [FS_HDFS] = "hdfs"};

    buf_addf(out, "%s %s", words[p->kind], p->path);
    for (size_t i = 0; i < p->n_urls; i++)
        buf_addf(out, " %s", p->urls[i]);
}

static void places_follow_from_words_and_configuration(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        const struct fs_conf conf = {get, row->conf};
        struct fs_place place = {.path = NULL};
        struct err_info why = {0};
        buf_auto struct buf text = BUF_EMPTY;

        int err = fs_place_read(&conf, row->uri, "alice", &place, &why);
        if (!err)
            describe(&place, &text);
        bool is_it = err == row->err && (err ? !place.path && strstr(why.text, row->wanted)
                                             : !strcmp(buf_cstr(&text), row->wanted));
        if (!is_it)
            fail_msg("%zu, %s: %s %s %s", i, row->uri, err_name(err), why.text, buf_cstr(&text));
        fs_place_fini(&place);
    }
}

static void a_path_may_be_long_and_not_longer(void **state)
{
    (void)state;
    const struct fs_conf conf = {get, &plain};
    static const char head[] = "hdfs://h";
    mem_auto char *uri = mem_alloc(sizeof head + FS_PATH_MAX + 1);

    for (size_t n = FS_PATH_MAX; n <= FS_PATH_MAX + 1; n++) {
        struct fs_place place = {.path = NULL};
        struct err_info why = {0};
        memcpy(uri, head, sizeof head);
        memset(uri + sizeof head - 1, 'x', n);
        uri[sizeof head - 1] = '/';
        uri[sizeof head - 1 + n] = '\0';
        assert_int_equal(fs_place_read(&conf, uri, "alice", &place, &why), n > FS_PATH_MAX ? ERR_INVALID : 0);
        fs_place_fini(&place);
    }
}

static void more_namenodes_than_a_few_are_not_asked(void **state)
{
    (void)state;
    static const struct options many = {{"dfs.nameservices", "ns", "dfs.ha.namenodes.ns",
                                         "a,a,a,a,a,a,a,a,a,a,a,a", "dfs.namenode.http-address.ns.a", "h:1"}};
    const struct fs_conf conf = {get, (void *)&many};
    struct fs_place place;
    struct err_info why;

    assert_int_equal(fs_place_read(&conf, "hdfs://ns/a", "alice", &place, &why), 0);
    assert_int_equal(place.n_urls, FS_NAMENODES_MAX);
    fs_place_fini(&place);
}

static void without_a_configuration_no_key_is_set(void **state)
{
    (void)state;
    const struct fs_conf none = {NULL, NULL};
    struct fs_place place = {.path = NULL};
    struct err_info why = {0};

    assert_int_equal(fs_place_read(&none, "hdfs://h/a", "alice", &place, &why), 0);
    assert_string_equal(place.urls[0], "http://h:9870/webhdfs/v1/a");
    fs_place_fini(&place);
    assert_int_equal(fs_place_read(&none, "hdfs:///a", "alice", &place, &why), ERR_CONFIG);
    assert_non_null(strstr(why.text, "fs.defaultFS is not set"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_follow_from_words_and_configuration),
        cmocka_unit_test(a_path_may_be_long_and_not_longer),
        cmocka_unit_test(more_namenodes_than_a_few_are_not_asked),
        cmocka_unit_test(without_a_configuration_no_key_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
