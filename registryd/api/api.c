#include "api/api.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/path.h"

#include <stdlib.h>
#include <string.h>

static int bad(struct err_info *why, const char *raw, const char *fault)
{
    return err_set(why, ERR_PATH, raw, "%s: percent-encode each path element on its own", fault);
}

/* One raw element, n bytes at raw, decoded to *to, which is advanced past it; the buffer holds it and a '/' before it. */
static int add_element(char **to, const char *raw, size_t n, const char *whole, struct err_info *why)
{
    if (n == 0)
        return bad(why, whole, "an empty path element");
    *(*to)++ = '/';
    char *text = *to;
    int64_t len = str_unpercent(raw, n, text);
    if (len < 0)
        return bad(why, whole, "a malformed percent escape");
    for (int64_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || text[i] == '/')
            return bad(why, whole, "a path element with an encoded '/', NUL or control character");
    if (!utf8_valid(text, (size_t)len))
        return bad(why, whole, "a path element that is not UTF-8");
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return bad(why, whole, "a path element \".\" or \"..\"");
    *to += len;
    return 0;
}

/* A path without escapes that is valid as it is; the fault of any other is found element by element. */
static bool plain_path(const char *raw, char **out)
{
    size_t len = strlen(raw);
    if (len == 0 || memchr(raw, '%', len))
        return false;
    mem_auto char *path = mem_alloc(len + 2);
    path[0] = '/';
    memcpy(path + 1, raw, len + 1);
    if (raw[len - 1] == '/')
        path[len] = '\0';
    struct err_info ignored;
    if (!path[1] || reg_path_check(path, &ignored))
        return false;
    *out = path;
    path = NULL;
    return true;
}

int api_path(struct http_req *req, char **out, struct err_info *why)
{
    const char *sent = http_path_param(req);
    if (sent)
        return reg_path_normal(sent, out, why);
    const char *raw = http_path_raw(req, "*");
    raw = raw ? raw : "";
    if (plain_path(raw, out))
        return 0;
    if (*raw == '/')
        return bad(why, raw, "an empty path element");
    mem_auto char *path = mem_alloc(strlen(raw) + 2); /* decoding makes nothing longer */
    char *end = path;
    for (const char *p = raw; *p;) {
        size_t n = (size_t)(strchrnul(p, '/') - p);
        int err = add_element(&end, p, n, raw, why);
        if (err)
            return err;
        p += n + (p[n] == '/');
    }
    if (end == path)
        *end++ = '/';
    *end = '\0';
    int err = reg_path_check(path, why);
    if (err)
        return err;
    *out = path;
    path = NULL;
    return 0;
}

void api_revision(struct api *api, struct http_req *req, int64_t zxid)
{
    char text[STORE_REVISION_MAX];
    http_reply_header(req, "Bobbin-Revision", store_revision_text(mirror_store_id(api->mirror), zxid, text));
}

void api_mirror_headers(struct api *api, struct http_req *req)
{
    api_revision(api, req, mirror_newest(api->mirror));
    if (mirror_stale(api->mirror))
        http_reply_header(req, "Bobbin-Stale", "true");
}

/* Bytes of an entity tag: two numbers, quotes, the dot, the NUL. */
#define ETAG_MAX (2 * STR_I64_MAX + 4)

static const char *etag_text(const struct store_stat *stat, char out[ETAG_MAX])
{
    char *end = out;
    *end++ = '"';
    end += str_put_i64(end, stat->mzxid);
    *end++ = '.';
    end += str_put_i64(end, stat->pzxid);
    memcpy(end, "\"", sizeof "\"");
    return out;
}

void api_etag(struct http_req *req, const struct store_stat *stat)
{
    char text[ETAG_MAX];
    http_reply_header(req, "ETag", etag_text(stat, text));
}

bool api_etag_matches(const char *header, const struct store_stat *stat)
{
    char text[ETAG_MAX];
    const char *tag = etag_text(stat, text);
    return strstr(header, tag) != NULL || strchr(header, '*') != NULL;
}

int api_etag_mzxid(const char *header, int64_t *mzxid, struct err_info *why)
{
    const char *quote = strchr(header, '"');
    char *end = NULL;
    long long n = quote ? strtoll(quote + 1, &end, 10) : 0;
    if (!quote || n <= 0 || *end != '.')
        return err_set(why, ERR_CONFLICT, "If-Match", "%s is no entity tag of a node (\"<mzxid>.<pzxid>\")",
                       header);
    *mzxid = n;
    return 0;
}

void api_warn(struct http_req *req, const char *text)
{
    buf_auto struct buf value = BUF_EMPTY;
    buf_add_str(&value, "299 - \"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_add_char(&value, '\\');
        buf_add_char(&value, (unsigned char)*text < 0x7f
                                 ? *text
                                 : '?'); /* http_reply_header sees to control characters */
    }
    buf_add_char(&value, '"');
    http_reply_header(req, "Warning", buf_cstr(&value));
}

void api_refuse(struct api *api, struct http_req *req, int code, const struct err_info *why)
{
    metric_add(api->metrics, M_REFUSED, 1);
    http_reply_error(req, code, why);
}

int api_check_ready(struct api *api, struct err_info *why)
{
    return feed_check_ready(api->feed, why);
}

bool api_ready(struct api *api, struct http_req *req)
{
    struct err_info why;
    if (!api_check_ready(api, &why))
        return true;
    api_refuse(api, req, ERR_UNAVAILABLE, &why);
    return false;
}
