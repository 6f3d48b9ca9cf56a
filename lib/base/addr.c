#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

int addr_read(const char *s, struct addr *out)
{
    struct addr a = {0, {0}};
    if (inet_pton(AF_INET, s, a.bytes) == 1)
        a.family = AF_INET;
    else if (inet_pton(AF_INET6, s, a.bytes) == 1)
        a.family = AF_INET6;
    else
        return ERR_PARSE;
    *out = a;
    return 0;
}

const char *addr_text(const struct addr *a, char out[ADDR_TEXT_MAX])
{
    if (!inet_ntop(a->family, a->bytes, out, ADDR_TEXT_MAX))
        out[0] = 0;
    return out;
}

bool addr_is_loopback(const struct addr *a)
{
    static const uint8_t v6[16] = {[15] = 1};
    return a->family == AF_INET ? a->bytes[0] == 127 : memcmp(a->bytes, v6, 16) == 0;
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16) == 0;
}

bool addr_is_host(const char *host)
{
    enum { HOST_MAX_LEN = 253 };
    size_t len = strlen(host);
    return len > 0 && len <= HOST_MAX_LEN && str_is_visible(host, len);
}

int addr_split_host_port(const char *s, uint16_t default_port, char **host, uint16_t *port)
{
    const char *start = s, *end, *rest;
    if (*s == '[') {
        start = s + 1;
        end = strchr(s, ']');
        if (!end)
            return ERR_PARSE;
        rest = end + 1;
    } else {
        const char *colon = strrchr(s, ':');
        bool bare_v6 = colon && strchr(s, ':') != colon;
        end = rest = colon && !bare_v6 ? colon : s + strlen(s);
    }
    int64_t p = default_port;
    if (end == start || (*rest && *rest != ':') ||
        (*rest && (rest[1] == '-' || str_to_i64(rest + 1, 0, 65535, &p))))
        return ERR_PARSE;
    *host = mem_strn(start, (size_t)(end - start));
    *port = (uint16_t)p;
    return 0;
}

socklen_t addr_to_sockaddr(const struct addr *a, uint16_t port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof *out);
    if (a->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, a->bytes, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, a->bytes, 16);
    return sizeof *in6;
}

int addr_from_sockaddr(const struct sockaddr *sa, struct addr *a, uint16_t *port)
{
    memset(a, 0, sizeof *a);
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
        memcpy(a->bytes, &in->sin_addr, 4);
        *port = ntohs(in->sin_port);
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
        memcpy(a->bytes, &in6->sin6_addr, 16);
        *port = ntohs(in6->sin6_port);
    } else {
        return ERR_PARSE;
    }
    a->family = sa->sa_family;
    return 0;
}
