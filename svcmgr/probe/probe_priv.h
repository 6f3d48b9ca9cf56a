/** Shared by probe.c and probe_dns.c: one probe and its kinds of check. Thread: owner.   Source: ours. */
#ifndef PROBE_PROBE_PRIV_H
#define PROBE_PROBE_PRIV_H

#include "base/map.h"
#include "base/obj.h"
#include "probe/probe.h"

#define PROBE_MAGIC OBJ_MAGIC('P', 'R', 'O', 'B')
#define TRY_MAGIC   OBJ_MAGIC('P', 'T', 'R', 'Y')

struct probes {
    struct run_loop *loop;
    struct http_client *http;
    void (*result)(void *arg, const char *container_id, int64_t attempt, bool ready, const char *text);
    void *arg;
    struct map by_container; /* struct probe * */
};

struct probe_try;

struct probe {
    struct obj obj;
    struct probes *owner;
    char *container_id;
    struct eng_probe def;    /* strings owned */
    struct run_timer *timer; /* the next look, or the time limit of the present one */
    int64_t delay_ms;        /* before the next look, while it was never ready */
    bool was_ready_once, is_reported, is_ready;
    struct http_call *call;   /* HTTP under way */
    struct probe_try *trying; /* connection or look-up under way */
};

/** One look that goes through libuv handles; outlives an abandoned probe until libuv lets go. */
struct probe_try {
    struct obj obj;
    struct probe *probe; /* NULL: abandoned */
    union {
        uv_handle_t handle;
        uv_tcp_t tcp;
        uv_udp_t udp;
    } uv;
    union {
        uv_connect_t connect;
        uv_getaddrinfo_t lookup;
        uv_udp_send_t send;
    } req;
    bool has_handle;
    uint16_t dns_id;
    char packet[512];
};

/** A look has ended. @param text why not, or NULL: it is as it should be. */
void probe_look_ended(struct probe *p, const char *text);
/** DNS was fine (or is not asked): look at the port or URL. */
void probe_look_further(struct probe *p);
/** A new try of this probe. */
struct probe_try *probe_try_new(struct probe *p);
/** Let go of the present try. */
void probe_try_drop(struct probe *p);
/** Ask DNS for def.dns_name; continues with probe_look_further or probe_look_ended. */
void probe_ask_dns(struct probe *p);

#endif
