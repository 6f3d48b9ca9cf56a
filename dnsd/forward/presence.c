#include "forward/presence.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "run/loop.h"
#include "run/outage.h"

#define REPORT_MAGIC OBJ_MAGIC('F', 'R', 'P', 'T')

struct presence {
    struct run_loop *owner;
    struct outage *outage;
    bool is_missing;
    int64_t reported_ms; /* while is_missing */
    char *servers;
};

/** A report on its way to the owner's loop. */
struct report {
    struct obj obj;
    struct outage *outage;
    bool is_reached;
    struct err_info why; /* unless is_reached */
    int64_t at_ms;
    char *servers;
};

/* "10.0.0.53:53, [fd00::53]:53" */
static char *servers_text(const struct upstreams *upstreams)
{
    buf_auto struct buf out = BUF_EMPTY;
    for (size_t i = 0; i < upstreams->n_items; i++) {
        struct addr addr;
        uint16_t port;
        char text[ADDR_TEXT_MAX];
        BUG_IF(addr_from_sockaddr((const struct sockaddr *)&upstreams->items[i].sa, &addr, &port));
        buf_addf(&out, addr.family == AF_INET6 ? "%s[%s]:%u" : "%s%s:%u", i ? ", " : "",
                 addr_text(&addr, text), port);
    }
    return mem_str(buf_cstr(&out));
}

struct presence *presence_new(const struct upstreams *upstreams, struct run_loop *owner, struct outage *o)
{
    struct presence *p = mem_new(struct presence);
    *p = (struct presence){.owner = owner, .outage = o, .servers = servers_text(upstreams)};
    return p;
}

void presence_free(struct presence *p)
{
    if (!p)
        return;
    free(p->servers);
    free(p);
}

static void on_report(void *arg)
{
    struct report *r = obj_cast(arg, struct report, REPORT_MAGIC);
    if (r->is_reached)
        outage_ends(r->outage, r->servers, r->at_ms);
    else
        outage_fails(r->outage, r->servers, &r->why, r->at_ms);
    free(r->servers);
    obj_fini(&r->obj);
    free(r);
}

static void report(const struct presence *p, const struct err_info *why, int64_t now_ms)
{
    struct report *r = mem_new(struct report);
    obj_init(&r->obj, REPORT_MAGIC);
    r->outage = p->outage;
    r->is_reached = !why;
    if (why)
        r->why = *why;
    r->at_ms = now_ms;
    r->servers = mem_str(p->servers);
    run_post(p->owner, on_report, r);
}

void presence_missing(struct presence *p, const struct err_info *why, int64_t now_ms)
{
    if (p->is_missing && now_ms - p->reported_ms < PRESENCE_AGAIN_MS)
        return;
    p->is_missing = true;
    p->reported_ms = now_ms;
    report(p, why, now_ms);
}

void presence_reached(struct presence *p, int64_t now_ms)
{
    if (!p->is_missing)
        return;
    p->is_missing = false;
    report(p, NULL, now_ms);
}
