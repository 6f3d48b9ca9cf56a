#include "fs/place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "fs/webhdfs.h"

/** A scheme of HDFS. */
struct scheme {
    const char *name;
    bool is_tls, is_by_policy; /* by policy: dfs.http.policy says whether TLS is used */
    bool has_http_port;        /* the port of its URI is the one of HTTP */
};

static const struct scheme schemes[] = {
    {"hdfs:", false, true, false},
    {"webhdfs:", false, false, true},
    {"swebhdfs:", true, false, true},
};

/** A reading under way. */
struct reading {
    const struct fs_conf *conf;
    const char *uri;
    bool is_tls;      /* of its NameNodes */
    const char *path; /* in HDFS, clean */
    struct fs_place *place;
    struct err_info *why;
};

static const char *get(const struct fs_conf *conf, const char *key)
{
    const char *text = conf->get ? conf->get(conf->options, key) : NULL;

    return text && *text ? text : NULL;
}

/* ---- host:port ---- */

/** A host's name or address; a colon only within brackets. */
static bool is_host(const char *s, size_t n)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    static const char of_v6[] = "0123456789abcdefABCDEF:.";
    bool is_v6 = n > 2 && s[0] == '[' && s[n - 1] == ']';

    return n > 0 && (is_v6 ? strspn(s + 1, of_v6) == n - 2 : strspn(s, of_names) >= n);
}

/**
 * Split "host[:port]".
 * @param host  new text, free(); on success only                                    [out]
 * @param port  0: there is none                                                     [out]
 */
static bool split(const char *authority, char **host, int64_t *port)
{
    const char *last = strrchr(authority, ':'), *bracket = strrchr(authority, ']');
    const char *colon = last && (!bracket || last > bracket) ? last : NULL;
    size_t n = colon ? (size_t)(colon - authority) : strlen(authority);

    *port = 0;
    if (!is_host(authority, n) || (colon && str_to_i64(colon + 1, 1, 65535, port)))
        return false;
    *host = mem_strn(authority, n);
    return true;
}

static bool is_wildcard(const char *host)
{
    return !strcmp(host, "0.0.0.0") || !strcmp(host, "[::]");
}

/* ---- NameNodes ---- */

/** host:port of a key. @return 0, *host NULL: the key is not set; or ERR_CONFIG. */
static int read_address(const struct reading *r, const char *key, const char *suffix, char **host,
                        int64_t *port)
{
    mem_auto char *whole = mem_fmt("%s%s", key, suffix);
    const char *text = get(r->conf, whole);

    if (!text || split(text, host, port))
        return 0;
    return err_set(r->why, ERR_CONFIG, r->uri, "%.140s: %s is \"%.140s\", which is no host:port.", r->uri,
                   whole, text);
}

static void add_url(const struct reading *r, const char *host, int64_t port)
{
    mem_auto char *escaped = webhdfs_escape(r->path, "/");

    port = port ? port : r->is_tls ? WEBHDFS_TLS_PORT : WEBHDFS_PORT;
    r->place->urls = mem_resize(r->place->urls, r->place->n_urls + 1, sizeof *r->place->urls);
    r->place->urls[r->place->n_urls++] =
        mem_fmt("%s://%s:%d" WEBHDFS_ROOT "%s", r->is_tls ? "https" : "http", host, (int)port, escaped);
}

static const char *http_key(const struct reading *r)
{
    return r->is_tls ? "dfs.namenode.https-address" : "dfs.namenode.http-address";
}

/** A NameNode of a nameservice. @param suffix  of its keys: ".ns", ".ns.nn1" */
static int add_namenode(const struct reading *r, const char *suffix)
{
    mem_auto char *host = NULL, *rpc_host = NULL;
    int64_t port = 0, rpc_port = 0;
    int err = read_address(r, http_key(r), suffix, &host, &port);

    if (!err)
        err = read_address(r, "dfs.namenode.rpc-address", suffix, &rpc_host, &rpc_port);
    if (err)
        return err;
    const char *used = host && !is_wildcard(host) ? host : rpc_host;
    if (!used)
        return err_set(
            r->why, ERR_CONFIG, r->uri,
            "%.140s: where its NameNode is does not follow from the configuration: %s%s is not set.", r->uri,
            http_key(r), suffix);
    add_url(r, used, port);
    return 0;
}

static int add_nameservice(const struct reading *r, const char *name)
{
    mem_auto char *key = mem_fmt(FS_HA_NAMENODES_FAMILY "%s", name);
    mem_auto char *alone = mem_fmt(".%s", name);
    const char *ids = get(r->conf, key);
    int err = ids ? 0 : add_namenode(r, alone);

    for (size_t i = 0; ids && !err && i < FS_NAMENODES_MAX; i++) {
        mem_auto char *id = str_field(ids, ',', i);
        if (!id)
            break;
        mem_auto char *suffix = mem_fmt(".%s.%s", name, id);
        err = add_namenode(r, suffix);
    }
    return err;
}

/**
 * The only NameNode of a cluster that is no nameservice. The keys without suffix are those of the cluster of fs.defaultFS; of another
 * one only their port counts.
 */
static int add_single(const struct reading *r, const char *host, bool is_default)
{
    mem_auto char *http_host = NULL;
    int64_t port = 0;
    int err = read_address(r, http_key(r), "", &http_host, &port);

    if (!err)
        add_url(r, is_default && http_host && !is_wildcard(http_host) ? http_host : host, port);
    return err;
}

static int add_urls(struct reading *r, const struct scheme *scheme, const char *authority, bool is_default)
{
    const char *policy = get(r->conf, "dfs.http.policy");
    mem_auto char *host = NULL;
    int64_t port = 0;

    r->is_tls = scheme->is_by_policy ? policy && !strcmp(policy, "HTTPS_ONLY") : scheme->is_tls;
    if (!split(authority, &host, &port))
        return err_set(r->why, ERR_INVALID, r->uri,
                       "%.140s: \"%.140s\" is neither host, host:port nor nameservice.", r->uri, authority);
    if (!port && str_has_field(get(r->conf, "dfs.nameservices"), ',', host))
        return add_nameservice(r, host);
    if (!scheme->has_http_port)
        return add_single(r, host, is_default);
    add_url(r, host, port);
    return 0;
}

/* ---- URIs ---- */

static const struct scheme *scheme_of(const char *uri)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (!strncasecmp(uri, schemes[i].name, strlen(schemes[i].name)))
            return &schemes[i];
    return NULL;
}

bool fs_is_hdfs(const char *uri)
{
    return scheme_of(uri) != NULL;
}

bool fs_is_archive(const char *uri)
{
    static const char *const suffixes[] = {".zip", ".tgz", ".tar", ".tar.gz"};
    size_t len = strlen(uri);

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        size_t n = strlen(suffixes[i]);
        if (len > n && uri[len - n - 1] != '/' && !strcasecmp(uri + len - n, suffixes[i]))
            return true;
    }
    return false;
}

/** "scheme:[//authority][/path]". @return authority, "" when there is none, free(); *path is what comes behind it. */
static char *authority_of(const char *uri, const struct scheme *scheme, const char **path)
{
    const char *rest = uri + strlen(scheme->name);
    bool has_authority = str_starts(rest, "//");
    size_t n = has_authority ? strcspn(rest + 2, "/") : 0;

    *path = has_authority ? rest + 2 + n : rest;
    return mem_strn(has_authority ? rest + 2 : rest, n);
}

/** Clean a path of empty elements and ".". @return new text, free(); NULL: ".." is in it, or what no path has. */
static char *clean_path(const char *path)
{
    buf_auto struct buf out = BUF_EMPTY;

    if (!utf8_valid(path, strlen(path)) || strlen(path) > FS_PATH_MAX)
        return NULL;
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && !strncmp(p, "..", 2))
            return NULL;
        if (n > 0 && !(n == 1 && *p == '.')) {
            buf_add_char(&out, '/');
            buf_add(&out, p, n);
        }
        p += n + (p[n] == '/');
    }
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.bytes[i] < ' ' || out.bytes[i] == 0x7f)
            return NULL;
    return out.len ? buf_take(&out) : mem_str("/");
}

/** @param scheme  NULL: uri is a path that begins in the user's home of fs.defaultFS */
static int read_hdfs(struct reading *r, const struct scheme *scheme, const char *user)
{
    const char *fs = get(r->conf, "fs.defaultFS"), *rest = "";
    const struct scheme *of_default = fs ? scheme_of(fs) : NULL;
    mem_auto char *authority_of_default = of_default ? authority_of(fs, of_default, &rest) : mem_str("");
    mem_auto char *own = scheme ? authority_of(r->uri, scheme, &rest) : mem_str("");
    mem_auto char *in_home = scheme ? NULL : mem_fmt("/user/%s/%s", user, r->uri);
    bool is_absolute = in_home || *rest == '/';
    mem_auto char *path = is_absolute ? clean_path(in_home ? in_home : rest) : NULL;

    scheme = scheme ? scheme : of_default;
    if (!scheme)
        return err_set(r->why, ERR_INVALID, r->uri,
                       "%.140s is no absolute path, and fs.defaultFS is not HDFS.", r->uri);
    if (!path)
        return err_set(r->why, ERR_INVALID, r->uri,
                       "%.140s has no absolute path of HDFS, which has no \"..\".", r->uri);
    const char *authority = *own ? own : of_default == scheme ? authority_of_default : "";
    if (!*authority)
        return err_set(r->why, ERR_CONFIG, r->uri,
                       "%.140s names no NameNode, and fs.defaultFS is %.140s: name it, as %s//host/…", r->uri,
                       fs ? fs : "not set", scheme->name);
    r->path = path;
    r->place->kind = FS_HDFS;
    r->place->path = mem_fmt("%s//%s%s", scheme->name, authority, path);
    return add_urls(r, scheme, authority, !strcasecmp(authority, authority_of_default));
}

/** "file:/path", "file:///path", "file://localhost/path". @return new text, free(); NULL: it is none. */
static char *path_of_file(const char *uri)
{
    const char *path = uri + strlen("file:");

    if (str_starts(path, "//localhost/"))
        path += strlen("//localhost");
    else if (str_starts(path, "///"))
        path += 2;
    mem_auto char *out = mem_alloc(strlen(path) + 1);
    int64_t n = path[0] == '/' && path[1] != '/' ? str_unpercent(path, strlen(path), out) : -1;
    if (n < 0 || memchr(out, '\0', (size_t)n))
        return NULL;
    return mem_strn(out, (size_t)n);
}

static int read_place(struct reading *r, const char *user)
{
    const char *uri = r->uri;
    const struct scheme *scheme = scheme_of(uri);
    bool is_web = !strncasecmp(uri, "http://", 7) || !strncasecmp(uri, "https://", 8);
    bool is_file = !strncasecmp(uri, "file:", 5), has_scheme = uri[strcspn(uri, ":/")] == ':';

    if (scheme || (*uri && *uri != '/' && !has_scheme))
        return read_hdfs(r, scheme, user);
    r->place->kind = is_web ? FS_WEB : FS_FILE;
    r->place->path = *uri == '/' || is_web ? mem_str(uri) : is_file ? path_of_file(uri) : NULL;
    return r->place->path ? 0
                          : err_set(r->why, ERR_INVALID, uri,
                                    "src_file %.140s is no absolute path of a file of this host, and no "
                                    "file:, http:, https:, hdfs:, "
                                    "webhdfs: or swebhdfs: URI.",
                                    uri);
}

int fs_place_read(const struct fs_conf *conf, const char *uri, const char *user, struct fs_place *out,
                  struct err_info *why)
{
    struct fs_place place = {.path = NULL};
    struct reading r = {.conf = conf, .uri = uri, .place = &place, .why = why};
    int err = read_place(&r, user);

    if (err)
        fs_place_fini(&place);
    else
        *out = place;
    return err;
}

void fs_place_fini(struct fs_place *p)
{
    for (size_t i = 0; i < p->n_urls; i++)
        free(p->urls[i]);
    free(p->urls);
    free(p->path);
    *p = (struct fs_place){0};
}
