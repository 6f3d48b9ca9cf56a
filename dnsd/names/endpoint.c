#include "names/endpoint.h"
#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/record.h"

#include <stdio.h>
#include <string.h>

#define YARN_API "classpath:org.apache.hadoop.yarn.service."

enum { ODD_MAX = 59 };

/* Text of an api as one label, [a-z0-9-], behind a '?'. */
static char *odd_fragment(const char *api)
{
    struct buf out = BUF_EMPTY;
    buf_add_char(&out, '?');
    for (; *api && out.len < ODD_MAX; api++) {
        char c = (char)(*api >= 'A' && *api <= 'Z' ? *api + 32 : *api);
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain || (out.len > 1 && out.bytes[out.len - 1] != '-'))
            buf_add_char(&out, is_plain ? c : '-');
    }
    while (out.len > 1 && out.bytes[out.len - 1] == '-')
        out.bytes[--out.len] = 0;
    return buf_take(&out);
}

static char *fragment_of(const char *api)
{
    if (str_starts(api, "http://"))
        return mem_str("http");
    if (!str_starts(api, YARN_API) || !api[strlen(YARN_API)])
        return odd_fragment(api);
    char *f = mem_str(api + strlen(YARN_API));
    for (char *c = f; *c; c++)
        if (*c == '.')
            *c = '-';
    return f;
}

/* host, port and path of a URI; anything it lacks is an empty field. */
static void pack_uri(const char *uri, struct buf *out)
{
    const char *slashes = uri ? strstr(uri, "://") : NULL;
    const char *authority = slashes ? slashes + 3 : NULL;
    size_t n = authority ? strcspn(authority, "/?#") : 0;
    const char *path = authority ? authority + n : "";
    mem_auto char *text = mem_strn(authority ? authority : "", n);
    const char *at = strrchr(text, '@');
    mem_auto char *host = NULL;
    uint16_t port = 0;
    if (addr_split_host_port(at ? at + 1 : text, 0, &host, &port))
        host = mem_str("");
    char number[8];
    int len = snprintf(number, sizeof number, "%u", port);
    block_add(out, host);
    block_add_n(out, number, port ? (size_t)len : 0);
    size_t path_len = strcspn(path, "?#");
    mem_auto char *decoded = mem_alloc(path_len + 1);
    int64_t k = str_unpercent(path, path_len, decoded);
    buf_add_str(out, "path=");
    block_add_n(out, decoded, k > 0 && !memchr(decoded, 0, (size_t)k) ? (size_t)k : 0);
}

void endpoint_pack(const struct reg_endpoint *in, struct buf *out)
{
    mem_auto char *fragment = fragment_of(in->api);
    const struct reg_address *a = &in->addresses[0];
    block_add(out, fragment);
    if (strcmp(in->address_type, "uri") == 0) {
        pack_uri(reg_address_get(a, "uri"), out);
        return;
    }
    bool is_host_port = strcmp(in->address_type, "host/port") == 0;
    const char *host = is_host_port ? reg_address_get(a, "host") : NULL;
    const char *port = is_host_port ? reg_address_get(a, "port") : NULL;
    block_add(out, host ? host : "");
    block_add(out, port ? port : "");
    block_add(out, "");
}

void endpoint_set_fragment(struct endpoint *e, const char *packed)
{
    e->is_odd = *packed == '?';
    e->fragment = packed + e->is_odd;
}

bool endpoint_next(struct block *b, struct endpoint *e)
{
    const char *fragment = block_next(b);
    e->host = block_next(b);
    e->port = block_next(b);
    e->path = block_next(b);
    if (!e->path)
        return false;
    endpoint_set_fragment(e, fragment);
    return true;
}

bool endpoint_port(const struct endpoint *e, uint16_t *port)
{
    int64_t value;
    if (str_to_i64(e->port, 0, 65535, &value))
        return false;
    *port = (uint16_t)value;
    return true;
}
