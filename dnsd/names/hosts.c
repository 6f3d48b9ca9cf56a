#include "names/hosts.h"
#include "names/addresses.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "run/outage.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define HOSTS_MAGIC  OBJ_MAGIC('H', 'S', 'T', 'S')
#define HOST_MAGIC   OBJ_MAGIC('H', 'S', 'T', 'N')
#define LOOKUP_MAGIC OBJ_MAGIC('H', 'S', 'T', 'Q')

/** Look-ups at once: the thread pool has other work, too. */
#define MAX_LOOKUPS 2
/** Delay of a look-up after a failure of the resolver. */
#define RETRY_MS 2000

struct host {
    struct obj obj;
    TAILQ_ENTRY(host) link; /* in waiting, unless is_asked */
    int64_t due_ms;
    bool is_asked;
    bool is_failing;  /* the resolver failed when it was asked last */
    struct map users; /* paths -> the map itself */
    struct addresses installed, found;
    char name[];
};

struct hosts {
    struct obj obj;
    struct hosts_def def;
    struct map by_name;
    TAILQ_HEAD(host_list, host) waiting; /* by due_ms */
    struct run_timer *timer;
    TAILQ_HEAD(, lookup) lookups;
    unsigned n_lookups;
    size_t n_failing; /* hosts */
};

/** A look-up in flight; outlives the hosts when the resolver is slow. */
struct lookup {
    struct obj obj;
    TAILQ_ENTRY(lookup) link;
    uv_getaddrinfo_t request;
    struct hosts *hosts; /* NULL: dropped */
    char name[];
};

static void ask_due(struct hosts *h);

static void on_timer(void *arg)
{
    ask_due(obj_cast(arg, struct hosts, HOSTS_MAGIC));
}

struct hosts *hosts_new(const struct hosts_def *def)
{
    struct hosts *h = mem_new(struct hosts);
    obj_init(&h->obj, HOSTS_MAGIC);
    h->def = *def;
    TAILQ_INIT(&h->waiting);
    TAILQ_INIT(&h->lookups);
    h->timer = run_timer_new(def->loop, on_timer, h);
    return h;
}

static void host_free(void *arg)
{
    struct host *host = obj_cast(arg, struct host, HOST_MAGIC);
    map_fini(&host->users, NULL);
    obj_fini(&host->obj);
    free(host);
}

void hosts_free(struct hosts *h)
{
    if (!h)
        return;
    struct lookup *q;
    TAILQ_FOREACH (q, &h->lookups, link) {
        q->hosts = NULL;
        uv_cancel((uv_req_t *)&q->request); /* one that runs already ends by itself */
    }
    run_timer_free(h->timer);
    map_fini(&h->by_name, host_free);
    obj_fini(&h->obj);
    free(h);
}

/* Insert a host into `waiting`; due times are nearly in order, so its place is near the end. */
static void wait_until(struct hosts *h, struct host *host, int64_t due_ms)
{
    struct host *before = TAILQ_LAST(&h->waiting, host_list);
    host->due_ms = due_ms;
    host->is_asked = false;
    while (before && before->due_ms > due_ms)
        before = TAILQ_PREV(before, host_list, link);
    if (before)
        TAILQ_INSERT_AFTER(&h->waiting, before, host, link);
    else
        TAILQ_INSERT_HEAD(&h->waiting, host, link);
}

static void read_addresses(const struct addrinfo *found, struct addresses *out)
{
    out->n_items = 0;
    for (int family = 0; family < 2; family++) { /* IPv4 first */
        for (const struct addrinfo *i = found; i && out->n_items < MAP_MAX_ADDRESSES; i = i->ai_next) {
            uint16_t port;
            if (i->ai_family == (family ? AF_INET6 : AF_INET) &&
                addr_from_sockaddr(i->ai_addr, &out->items[out->n_items], &port) == 0)
                out->n_items++;
        }
    }
}

/* The same addresses, in any order: resolvers rotate. */
static bool is_same(const struct addresses *a, const struct addresses *b)
{
    for (size_t i = 0; i < a->n_items; i++)
        if (!addresses_contain(b, &a->items[i]))
            return false;
    return a->n_items == b->n_items;
}

static bool is_final(int status)
{
    return status == 0 || status == UV_EAI_NONAME || status == UV_EAI_NODATA;
}

/* Where one name fails and others do not, the outage lasts as long as there is such a name. */
static void set_failing(struct hosts *h, struct host *host, bool is_failing)
{
    if (host->is_failing == is_failing)
        return;
    host->is_failing = is_failing;
    h->n_failing += is_failing ? 1u : (size_t)-1;
    if (!h->n_failing && h->def.outage)
        outage_ends(h->def.outage, host->name, run_now_ms());
}

static void resolver_failed(struct hosts *h, struct host *host, int status)
{
    struct err_info why;
    set_failing(h, host, true);
    err_set(&why, ERR_UNAVAILABLE, NULL, "%s", uv_strerror(status));
    if (h->def.outage)
        outage_fails(h->def.outage, host->name, &why, run_now_ms());
}

/* Take the answer of the resolver, if the host still has users. */
static void take_answer(struct hosts *h, const char *name, int status, const struct addrinfo *found)
{
    struct host *host = map_get(&h->by_name, name);
    if (!host)
        return;
    if (!host->is_asked) /* dropped and used again since the look-up */
        TAILQ_REMOVE(&h->waiting, host, link);
    wait_until(h, host, run_now_ms() + (is_final(status) ? h->def.refresh_ms : RETRY_MS));
    if (!is_final(status)) {
        resolver_failed(h, host, status);
        return;
    }
    set_failing(h, host, false);
    read_addresses(status ? NULL : found, &host->found);
    if (!is_same(&host->found, &host->installed))
        h->def.changed(h->def.arg, name);
}

static void on_answer(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct lookup *q = obj_cast(request->data, struct lookup, LOOKUP_MAGIC);
    struct hosts *h = q->hosts;
    if (h) {
        TAILQ_REMOVE(&h->lookups, q, link);
        h->n_lookups--;
        take_answer(h, q->name, status, found);
        ask_due(h);
    }
    uv_freeaddrinfo(found);
    obj_fini(&q->obj);
    free(q);
}

static void ask(struct hosts *h, struct host *host)
{
    size_t n = strlen(host->name) + 1;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    struct lookup *q = mem_zalloc(sizeof *q + n);
    obj_init(&q->obj, LOOKUP_MAGIC);
    q->hosts = h;
    q->request.data = q;
    memcpy(q->name, host->name, n);
    if (uv_getaddrinfo(run_loop_uv(h->def.loop), &q->request, on_answer, q->name, NULL, &hints)) {
        obj_fini(&q->obj);
        free(q);
        wait_until(h, host, run_now_ms() + RETRY_MS);
        return;
    }
    host->is_asked = true;
    TAILQ_INSERT_TAIL(&h->lookups, q, link);
    h->n_lookups++;
}

static void ask_due(struct hosts *h)
{
    int64_t now = run_now_ms();
    struct host *host;
    while ((host = TAILQ_FIRST(&h->waiting)) && host->due_ms <= now && h->n_lookups < MAX_LOOKUPS) {
        TAILQ_REMOVE(&h->waiting, host, link);
        ask(h, host);
    }
    if (!host || h->n_lookups == MAX_LOOKUPS)
        run_timer_stop(h->timer);
    else
        run_timer_start(h->timer, (uint64_t)(host->due_ms - now), 0);
}

void hosts_use(struct hosts *h, const char *host, const char *path)
{
    struct host *entry = map_get(&h->by_name, host);
    if (!entry) {
        size_t n = strlen(host) + 1;
        entry = mem_zalloc(sizeof *entry + n);
        obj_init(&entry->obj, HOST_MAGIC);
        memcpy(entry->name, host, n);
        map_set(&h->by_name, host, entry);
        wait_until(h, entry, run_now_ms());
        run_timer_start(h->timer, 0, 0);
    }
    map_set(&entry->users, path, entry);
}

void hosts_drop(struct hosts *h, const char *host, const char *path)
{
    struct host *entry = map_get(&h->by_name, host);
    if (!entry)
        return;
    map_remove(&entry->users, path);
    if (entry->users.n_items)
        return;
    if (!entry->is_asked)
        TAILQ_REMOVE(&h->waiting, entry, link);
    set_failing(h, entry, false);
    map_remove(&h->by_name, host);
    host_free(entry);
}

size_t hosts_get(const struct hosts *h, const char *host, struct addr *out, size_t max)
{
    const struct host *entry = map_get(&h->by_name, host);
    size_t n = entry ? entry->installed.n_items : 0;
    n = n < max ? n : max;
    if (n)
        memcpy(out, entry->installed.items, n * sizeof *out);
    return n;
}

void hosts_apply(struct hosts *h, const char *host)
{
    struct host *entry = map_get(&h->by_name, host);
    if (entry)
        entry->installed = entry->found;
}

void hosts_each_user(const struct hosts *h, const char *host, void (*fn)(void *arg, const char *path),
                     void *arg)
{
    const struct host *entry = map_get(&h->by_name, host);
    if (!entry)
        return;
    for (MAP_EACH (&entry->users, it))
        fn(arg, it->key);
}
