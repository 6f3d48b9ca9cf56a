#include "http/http_priv.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/str.h"

/* A page that had its own name point here could make a browser ask us in our user's place, and read the answers: the browser
 * sends that name as Host (DNS rebinding). An address as Host is no name, so nobody can have it point elsewhere. */

static void add_name(struct http_server *s, const char *name)
{
    size_t len = strlen(name);
    if (len && name[len - 1] == '.')
        len--;
    if (!len)
        return;
    s->hosts = mem_resize(s->hosts, s->n_hosts + 1, sizeof *s->hosts);
    s->hosts[s->n_hosts++] = mem_strn(name, len);
}

static void on_canonical_name(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct http_server *s = obj_cast(req->data, struct http_server, HTTP_SERVER_MAGIC);
    if (status == 0 && found->ai_canonname)
        add_name(s, found->ai_canonname);
    uv_freeaddrinfo(found);
    http_server_released(s);
}

void http_host_start(struct http_server *s)
{
    char own[256] = "";
    add_name(s, "localhost");
    for (const char *at = s->def.limits.hosts; at && *at;) {
        size_t len = strcspn(at, ", ");
        mem_auto char *name = mem_strn(at, len);
        add_name(s, name);
        at += len;
        at += strspn(at, ", ");
    }
    if (gethostname(own, sizeof own - 1) != 0)
        return;
    add_name(s, own);
    if (addr_is_loopback(&s->bound))
        return;
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
    s->canonical.data = s;
    if (uv_getaddrinfo(run_loop_uv(s->loop), &s->canonical, on_canonical_name, own, NULL, &hints) == 0)
        s->n_handles++;
}

void http_host_stop(struct http_server *s)
{
    for (size_t i = 0; i < s->n_hosts; i++)
        free(s->hosts[i]);
    free(s->hosts);
    s->hosts = NULL;
    s->n_hosts = 0;
}

static bool is_any(const struct addr *a)
{
    static const uint8_t zeros[16];
    return memcmp(a->bytes, zeros, a->family == AF_INET ? 4 : 16) == 0;
}

static bool is_own_address(const struct http_server *s, const struct addr *a)
{
    return is_any(&s->bound) || addr_equal(&s->bound, a) ||
           (addr_is_loopback(&s->bound) && addr_is_loopback(a));
}

static bool is_own_name(const struct http_server *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (strlen(s->hosts[i]) == len && strncasecmp(s->hosts[i], name, len) == 0)
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

int http_host_check(const struct http_server *s, const char *host, struct err_info *why)
{
    const char *at = host;
    size_t len = host_part(&at);
    mem_auto char *text = mem_strn(at, len);
    struct addr a;
    bool is_own = addr_read(text, &a) == 0 ? is_own_address(s, &a) : is_own_name(s, text, len);
    if (is_own)
        return 0;
    return err_set(why, ERR_HOST, "Host",
                   "this server is not known as \"%.200s\"; if that is its name, say so with %shosts", host,
                   s->def.limits.prefix);
}
