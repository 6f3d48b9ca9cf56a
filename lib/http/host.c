#include "http/host.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define HOST_MAGIC OBJ_MAGIC('H', 'H', 'S', 'T')

struct http_host {
    struct obj obj;
    struct http_names names;
    uv_getaddrinfo_t lookup;
    bool is_looking, is_freed;
};

static void add_name(struct http_host *h, const char *name)
{
    struct http_names *own = &h->names;
    size_t len = strlen(name);
    if (len && name[len - 1] == '.')
        len--;
    if (!len)
        return;
    own->names = mem_resize(own->names, own->n_names + 1, sizeof *own->names);
    own->names[own->n_names++] = mem_strn(name, len);
}

static void host_free(struct http_host *h)
{
    for (size_t i = 0; i < h->names.n_names; i++)
        free(h->names.names[i]);
    free(h->names.names);
    obj_fini(&h->obj);
    free(h);
}

static void on_canonical_name(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    struct http_host *h = obj_cast(lookup->data, struct http_host, HOST_MAGIC);
    h->is_looking = false;
    if (status == 0 && found->ai_canonname)
        add_name(h, found->ai_canonname);
    uv_freeaddrinfo(found);
    if (h->is_freed)
        host_free(h);
}

struct http_host *http_host_new(struct run_loop *loop, const struct addr *bound, const char *more,
                                const char *prefix)
{
    static const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
    struct http_host *h = mem_new(struct http_host);
    char own[256] = "";
    obj_init(&h->obj, HOST_MAGIC);
    h->names.bound = *bound;
    h->names.prefix = prefix;
    h->lookup.data = h;
    add_name(h, "localhost");
    for (const char *at = more; at && *at;) {
        size_t len = strcspn(at, ", ");
        mem_auto char *name = mem_strn(at, len);
        add_name(h, name);
        at += len;
        at += strspn(at, ", ");
    }
    if (gethostname(own, sizeof own - 1) != 0)
        return h;
    add_name(h, own);
    h->is_looking = !addr_is_loopback(bound) &&
                    uv_getaddrinfo(run_loop_uv(loop), &h->lookup, on_canonical_name, own, NULL, &hints) == 0;
    return h;
}

const struct http_names *http_host_names(const struct http_host *h)
{
    return &h->names;
}

void http_host_free(struct http_host *h)
{
    if (!h)
        return;
    h->is_freed = true;
    if (!h->is_looking)
        host_free(h);
}
