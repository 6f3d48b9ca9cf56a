/* The DNS part of a probe: the system resolver, or one A query to a named server over UDP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "probe/probe_priv.h"

#define DNS_PORT       53
#define DNS_HEADER_LEN 12

static void look_up_ended(struct probe *p, const char *problem)
{
    char text[200];

    probe_try_drop(p);
    if (!problem) {
        probe_look_further(p);
        return;
    }
    snprintf(text, sizeof text, "DNS name %.100s: %.80s", p->def.dns_name, problem);
    probe_look_ended(p, text);
}

/* ---- the system resolver ---- */

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct probe_try *t = obj_cast(req->data, struct probe_try, TRY_MAGIC);
    struct probe *p = t->probe;

    uv_freeaddrinfo(found);
    if (p)
        p->trying = NULL;
    obj_fini(&t->obj);
    free(t);
    if (p)
        look_up_ended(p, status ? uv_strerror(status) : NULL);
}

static void ask_system(struct probe *p)
{
    struct probe_try *t = probe_try_new(p);

    t->req.lookup.data = t;
    int err =
        uv_getaddrinfo(run_loop_uv(p->owner->loop), &t->req.lookup, on_resolved, p->def.dns_name, NULL, NULL);
    if (!err)
        return;
    p->trying = NULL;
    obj_fini(&t->obj);
    free(t);
    look_up_ended(p, uv_strerror(err));
}

/* ---- a named server ---- */

/** A query for the A records of a name. @return its length, 0: not a name for DNS.   Source: RFC 1035 4.1. */
static size_t write_query(struct probe_try *t, const char *name)
{
    unsigned char *at = (unsigned char *)t->packet + DNS_HEADER_LEN;

    if (strlen(name) > 253)
        return 0;
    t->dns_id = (uint16_t)(hash_bytes(&t, sizeof t) ^ (uint64_t)run_now_us());
    memcpy(t->packet,
           (unsigned char[]){(unsigned char)(t->dns_id >> 8), (unsigned char)t->dns_id, 1, 0, 0, 1, 0, 0, 0,
                             0, 0, 0},
           DNS_HEADER_LEN);
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, ".");
        if (n == 0 || n > 63)
            return 0;
        *at++ = (unsigned char)n;
        memcpy(at, p, n);
        at += n;
        p += n + (p[n] == '.');
    }
    memcpy(at, "\0\0\1\0\1", 5);
    return (size_t)(at + 5 - (unsigned char *)t->packet);
}

static void on_udp(uv_udp_t *udp, ssize_t n, const uv_buf_t *bytes, const struct sockaddr *from,
                   unsigned flags)
{
    struct probe_try *t = obj_cast(udp->data, struct probe_try, TRY_MAGIC);
    const unsigned char *b = (const unsigned char *)bytes->base;

    (void)flags;
    if (!t->probe || (n == 0 && !from))
        return;
    if (n < 0) {
        look_up_ended(t->probe, uv_strerror((int)n));
        return;
    }
    if (n < DNS_HEADER_LEN || (b[0] << 8 | b[1]) != t->dns_id || !(b[2] & 0x80))
        return;
    char text[48];
    int rcode = b[3] & 15, n_answers = b[6] << 8 | b[7];
    snprintf(text, sizeof text, "rcode %d, %d answers", rcode, n_answers);
    look_up_ended(t->probe, rcode || !n_answers ? text : NULL);
}

static void alloc_packet(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct probe_try *t = obj_cast(handle->data, struct probe_try, TRY_MAGIC);

    (void)suggested;
    *out = uv_buf_init(t->packet, sizeof t->packet);
}

static void ask_server(struct probe *p)
{
    struct probe_try *t = probe_try_new(p);
    mem_auto char *host = NULL;
    struct addr a;
    struct sockaddr_storage to;
    uint16_t port;

    BUG_IF(uv_udp_init(run_loop_uv(p->owner->loop), &t->uv.udp));
    t->has_handle = true;
    t->uv.handle.data = t;
    size_t len = write_query(t, p->def.dns_name);
    if (!len || addr_split_host_port(p->def.dns_address, DNS_PORT, &host, &port) || addr_read(host, &a)) {
        look_up_ended(p, "bad name or bad dns.address");
        return;
    }
    addr_to_sockaddr(&a, port, &to);
    uv_buf_t bytes = uv_buf_init(t->packet, (unsigned)len);
    int err = uv_udp_connect(&t->uv.udp, (struct sockaddr *)&to);
    if (!err)
        err = uv_udp_try_send(&t->uv.udp, &bytes, 1, NULL) < 0 ? UV_EIO : 0;
    if (!err)
        err = uv_udp_recv_start(&t->uv.udp, alloc_packet, on_udp);
    if (err)
        look_up_ended(p, uv_strerror(err));
}

void probe_ask_dns(struct probe *p)
{
    if (p->def.dns_address)
        ask_server(p);
    else
        ask_system(p);
}
