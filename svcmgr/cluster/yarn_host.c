/** Addresses of nodes, for processes that get theirs before they start: see yarn_priv.h. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cluster/yarn_priv.h"

#define LOOKUP_MAGIC OBJ_MAGIC('Y', 'H', 'L', 'K')

/** A question to the resolver; it outlives its node. */
struct yarn_lookup {
    struct obj obj;
    uv_getaddrinfo_t request;
    struct yarn_node *node; /* NULL: it has gone */
};

static void report_waiting(struct yarn_node *n)
{
    struct on_yarn *y = n->owner;
    mem_auto const char **ids = map_sorted_keys(&y->boxes);

    for (size_t i = 0; ids[i]; i++) {
        struct yarn_box *b = map_get(&y->boxes, ids[i]); /* the callback may release others */
        if (!b || b->node != n || !b->awaits_ip)
            continue;
        b->awaits_ip = false;
        b->c.node_ip = n->ip;
        y->cluster.ops->allocated(y->cluster.ops_arg, &b->c);
    }
}

static void on_found(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct yarn_lookup *k = obj_cast(request->data, struct yarn_lookup, LOOKUP_MAGIC);
    struct yarn_node *n = k->node;
    char ip[INET_ADDRSTRLEN];

    if (n && !status && found &&
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_addr, ip,
                  sizeof ip))
        n->ip = mem_str(ip);
    uv_freeaddrinfo(found);
    obj_fini(&k->obj);
    free(k);
    if (!n)
        return;
    n->lookup = NULL;
    if (!n->owner->is_closing)
        report_waiting(n);
}

/** @return the resolver was asked */
static bool look_up(struct yarn_node *n)
{
    static const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct yarn_lookup *k = mem_new(struct yarn_lookup);

    obj_init(&k->obj, LOOKUP_MAGIC);
    k->node = n;
    k->request.data = k;
    if (uv_getaddrinfo(run_loop_uv(n->owner->loop), &k->request, on_found, n->host, NULL, &hints)) {
        obj_fini(&k->obj);
        free(k);
        return false;
    }
    n->lookup = k;
    return true;
}

bool yarn_node_address(struct yarn_box *b)
{
    struct yarn_node *n = b->node;
    struct in_addr any;

    if (!n->ip && !strcmp(n->host, "localhost"))
        n->ip = mem_str("127.0.0.1");
    if (!n->ip && inet_pton(AF_INET, n->host, &any) == 1)
        n->ip = mem_str(n->host);
    b->c.node_ip = n->ip;
    b->awaits_ip = !n->ip && (n->lookup || look_up(n));
    return !b->awaits_ip;
}

void yarn_node_forget_lookup(struct yarn_node *n)
{
    if (n->lookup)
        n->lookup->node = NULL;
    n->lookup = NULL;
}
