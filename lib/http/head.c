#include "http/head.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/str.h"

static bool is_header(const char *name, const char *wanted)
{
    return (*name | 0x20) == (*wanted | 0x20) && strcasecmp(name, wanted) == 0;
}

void http_head_note(struct http_head *head, const char *name, const char *value)
{
    if (is_header(name, "Host")) {
        head->host = value;
        head->n_hosts++;
    } else if (is_header(name, "Origin")) {
        head->origin = value;
    } else if (is_header(name, "Content-Length")) {
        head->length = value;
        head->n_lengths++;
    } else if (is_header(name, "Transfer-Encoding")) {
        head->coding = value;
        head->n_codings++;
    } else if (is_header(name, "X-Request-Id")) {
        head->request_id = value;
    } else if (is_header(name, "X-Forwarded-Host")) {
        head->forwarded_host = value;
    } else if (is_header(name, "X-Forwarded-Proto")) {
        head->forwarded_proto = value;
    }
}

int http_head_check_framing(const struct http_head *head, struct err_info *why)
{
    bool needs_host = strcmp(head->version, "HTTP/1.1") == 0;
    if (head->n_hosts > 1 || (head->n_hosts == 0 && needs_host))
        return err_set(why, ERR_PARSE, "Host", "a request of HTTP/1.1 has one Host header, not %u",
                       head->n_hosts);
    if (head->n_lengths > 1)
        return err_set(why, ERR_PARSE, "Content-Length", "%u Content-Length headers, where one says all",
                       head->n_lengths);
    if (head->n_lengths && head->n_codings)
        return err_set(why, ERR_PARSE, "Transfer-Encoding",
                       "both Content-Length and Transfer-Encoding say where the body ends: send one of them");
    if (head->n_codings > 1 || (head->coding && strcasecmp(head->coding, "chunked") != 0))
        return err_set(why, ERR_PARSE, "Transfer-Encoding", "the only transfer coding known here is chunked");
    return 0;
}

/* ---- target ---- */

int http_head_check_target(const struct http_head *head, const char *target, struct err_info *why)
{
    size_t len = strlen(target);
    if (head->target_has_nul)
        return err_set(why, ERR_PATH, NULL, "the request target contains a NUL byte");
    if (str_is_visible(target, len))
        return 0;
    if (!utf8_valid(target, len))
        return err_set(why, ERR_PATH, NULL, "the request target is not UTF-8; percent-encode it");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)target[i];
        if (c <= ' ' || c == 0x7f)
            return err_set(why, ERR_PATH, NULL,
                           "the request target contains a blank or control character at byte %zu", i);
    }
    return 0;
}

const char *http_head_split_target(char *target, const char **query)
{
    char *at = target;
    if (*at != '/' && (strncasecmp(at, "http://", 7) == 0 || strncasecmp(at, "https://", 8) == 0)) {
        at = strstr(at, "//") + 2;
        at += strcspn(at, "/?");
    }
    size_t len = (size_t)(strchrnul(at, '?') - at);
    *query = at[len] == '?' ? at + len + 1 : NULL;
    at[len] = '\0';
    return len ? at : "/";
}

/* ---- Host ---- */

/* A page that had its own name point here could make a browser ask us in our user's place, and read the answers: the browser
 * sends that name as Host (DNS rebinding). An address as Host is no name, so nobody can have it point elsewhere. */

static bool is_any(const struct addr *a)
{
    static const uint8_t zeros[16];
    return memcmp(a->bytes, zeros, a->family == AF_INET ? 4 : 16) == 0;
}

static bool is_own_address(const struct http_names *own, const struct addr *a)
{
    return is_any(&own->bound) || addr_equal(&own->bound, a) ||
           (addr_is_loopback(&own->bound) && addr_is_loopback(a));
}

static bool is_own_name(const struct http_names *own, const char *name, size_t len)
{
    for (size_t i = 0; i < own->n_names; i++) {
        if (strlen(own->names[i]) == len && strncasecmp(own->names[i], name, len) == 0)
            return true;
    }
    return false;
}

/** The host of "host", "host:port", "[address]:port", without brackets and final dot. @return its length; 0: malformed. */
static size_t host_part(const char **at)
{
    bool is_bracketed = **at == '[';
    *at += is_bracketed;
    size_t len = strcspn(*at, is_bracketed ? "]" : ":");
    const char *rest = *at + len;
    if (is_bracketed && *rest++ != ']')
        return 0;
    if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
        return 0;
    return len && (*at)[len - 1] == '.' ? len - 1 : len;
}

static bool is_address(const char *at, size_t len, struct addr *out)
{
    char text[ADDR_TEXT_MAX];
    if (len >= sizeof text)
        return false;
    memcpy(text, at, len);
    text[len] = '\0';
    return addr_read(text, out) == 0;
}

int http_head_check_host(const struct http_head *head, const struct http_names *own, struct err_info *why)
{
    const char *at = head->host;
    if (!at)
        return 0;
    size_t len = host_part(&at);
    struct addr a;
    bool is_own = is_address(at, len, &a) ? is_own_address(own, &a) : is_own_name(own, at, len);
    if (is_own)
        return 0;
    return err_set(why, ERR_HOST, "Host",
                   "this server is not known as \"%.200s\"; if that is its name, say so with %shosts",
                   head->host, own->prefix);
}

/* ---- Origin ---- */

/** Length of an authority without the scheme's default port. */
static size_t authority_len(const char *authority, const char *default_port)
{
    size_t len = strlen(authority), port_len = strlen(default_port);
    if (len > port_len && strcmp(authority + len - port_len, default_port) == 0)
        len -= port_len;
    return len;
}

static bool origin_is_own(const char *origin, const char *host)
{
    const char *port = ":80";
    if (strncasecmp(origin, "https://", 8) == 0) {
        port = ":443";
        origin += 8;
    } else if (strncasecmp(origin, "http://", 7) == 0) {
        origin += 7;
    } else {
        return false;
    }
    size_t origin_len = authority_len(origin, port), host_len = authority_len(host, port);
    return origin_len == host_len && strncasecmp(origin, host, host_len) == 0;
}

/** A page of the proxy that passed this on: both headers of the proxy say so. */
static bool origin_is_proxy(const struct http_head *head)
{
    const char *proto = head->forwarded_proto, *host = head->forwarded_host;
    size_t len = proto ? strlen(proto) : 0;
    return len && host && strncasecmp(head->origin, proto, len) == 0 &&
           strncmp(head->origin + len, "://", 3) == 0 && origin_is_own(head->origin, host);
}

int http_head_check_origin(const struct http_head *head, struct err_info *why)
{
    if (!head->origin || (head->host && origin_is_own(head->origin, head->host)) || origin_is_proxy(head))
        return 0;
    return err_set(why, ERR_ORIGIN, NULL, "requests from pages of %.200s are not accepted", head->origin);
}

/* ---- body ---- */

int64_t http_head_body_len(const struct http_head *head)
{
    int64_t len = 0;
    if (head->length && str_to_i64(head->length, 0, INT64_MAX, &len) != 0)
        len = INT64_MAX;
    return len;
}

bool http_head_is_json(const char *media_type)
{
    static const char json[] = "application/json";
    size_t len = sizeof json - 1;
    if (!media_type || strncasecmp(media_type, json, len) != 0)
        return false;
    const char *rest = media_type + len + strspn(media_type + len, " \t");
    return *rest == '\0' || *rest == ';';
}
