/*
 * Words about HDFS: a URI of a caller, an address of the configuration, an answer of a NameNode. What is taken has the form that its
 * header promises, and a refusal says something.
 */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "fs/place.h"
#include "fs/webhdfs.h"

struct options {
    const char *address;
};

static const char *get(const struct options *o, const char *key)
{
    static const char *const rows[][2] = {
        {"fs.defaultFS", "hdfs://ns"}, {"dfs.nameservices", "ns"}, {"dfs.ha.namenodes.ns", "a,b"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(key, rows[i][0]))
            return rows[i][1];
    return str_starts(key, "dfs.namenode.") ? o->address : NULL;
}

static void check_url(const char *url)
{
    FUZZ_HOLDS(str_starts(url, "http://") || str_starts(url, "https://"));
    FUZZ_HOLDS(strstr(url, WEBHDFS_ROOT "/"));
    FUZZ_HOLDS(str_is_visible(url, strlen(url)) && !strpbrk(url, "?#\\\"<>@") && !strstr(url, "/../"));
}

static void read_place(const char *address, const char *uri)
{
    const struct options options = {address};
    const struct fs_conf conf = {get, &options};
    struct fs_place place = {.path = NULL};
    struct err_info why = {0};
    int err = fs_place_read(&conf, uri, "alice", &place, &why);

    FUZZ_HOLDS(err ? (err == ERR_INVALID || err == ERR_CONFIG) && why.text[0] && !place.path
                   : place.path != NULL);
    FUZZ_HOLDS(!err || !place.n_urls);
    FUZZ_HOLDS(err || (place.kind == FS_HDFS) == (place.n_urls > 0));
    FUZZ_HOLDS(err || place.kind != FS_FILE || place.path[0] == '/');
    for (size_t i = 0; i < place.n_urls; i++)
        check_url(place.urls[i]);
    fs_place_fini(&place);
}

static void read_answer(const char *bytes, size_t len)
{
    struct fs_status status = {.len = 0};
    struct err_info why = {0};
    bool is = false;

    FUZZ_HOLDS(webhdfs_read_status(bytes, len, &status, &why) == 0 ? status.len >= 0 : why.text[0] != 0);
    why.text[0] = '\0';
    FUZZ_HOLDS(webhdfs_read_boolean(bytes, len, &is, &why) == 0 || why.text[0]);
    why.text[0] = '\0';
    FUZZ_HOLDS(webhdfs_read_fault(403, bytes, len, &why) < 0 && why.text[0] && !strpbrk(why.text, "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strn((const char *)data, size);

    read_place("host:1", text);
    read_place(text, "hdfs:///x");
    read_answer((const char *)data, size);
    free(text);
    return 0;
}
