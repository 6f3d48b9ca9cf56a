#include "probe/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/backoff.h"
#include "base/mem.h"
#include "probe/probe_priv.h"

#define FIRST_DELAY_MS 50

/* ---- tries ---- */

struct probe_try *probe_try_new(struct probe *p)
{
    struct probe_try *t = mem_new(struct probe_try);

    obj_init(&t->obj, TRY_MAGIC);
    t->probe = p;
    p->trying = t;
    return t;
}

static void on_try_closed(uv_handle_t *handle)
{
    struct probe_try *t = obj_cast(handle->data, struct probe_try, TRY_MAGIC);

    obj_fini(&t->obj);
    free(t);
}

void probe_try_drop(struct probe *p)
{
    struct probe_try *t = p->trying;

    p->trying = NULL;
    if (!t)
        return;
    t->probe = NULL;
    if (t->has_handle)
        run_handle_close(&t->uv.handle, on_try_closed);
    /* A look-up has no handle: its callback frees the try. */
}

/* ---- the schedule ---- */

static void look(void *arg);

static void schedule(struct probe *p)
{
    int64_t delay = p->was_ready_once ? p->def.interval_ms : p->delay_ms;

    if (delay > p->def.interval_ms)
        delay = p->def.interval_ms;
    p->delay_ms = backoff_next(p->delay_ms, FIRST_DELAY_MS, p->def.interval_ms);
    run_timer_free(p->timer);
    p->timer = run_timer_new(p->owner->loop, look, p);
    run_timer_start(p->timer, (uint64_t)delay, 0);
}

void probe_look_ended(struct probe *p, const char *text)
{
    struct probes *owner = p->owner;
    bool ready = !text, changed = !p->is_reported || p->is_ready != ready;

    probe_try_drop(p);
    p->is_reported = true;
    p->is_ready = ready;
    p->was_ready_once |= ready;
    schedule(p);
    if (changed)
        owner->result(owner->arg, p->container_id, p->def.attempt, ready, text); /* It may stop this probe. */
}

static void on_time_over(void *arg)
{
    struct probe *p = obj_cast(arg, struct probe, PROBE_MAGIC);
    char text[96];

    snprintf(text, sizeof text, "no answer within %" PRId64 " ms", p->def.timeout_ms);
    probe_look_ended(p, text);
}

static void limit_time(struct probe *p)
{
    run_timer_free(p->timer);
    p->timer = run_timer_new(p->owner->loop, on_time_over, p);
    run_timer_start(p->timer, (uint64_t)p->def.timeout_ms, 0);
}

static void look(void *arg)
{
    struct probe *p = obj_cast(arg, struct probe, PROBE_MAGIC);

    limit_time(p);
    if (p->def.dns_name)
        probe_ask_dns(p);
    else
        probe_look_further(p);
}

/* ---- PORT ---- */

static void on_connected(uv_connect_t *req, int status)
{
    struct probe_try *t = obj_cast(req->data, struct probe_try, TRY_MAGIC);
    char text[160];

    if (!t->probe)
        return;
    snprintf(text, sizeof text, "port %" PRId64 " of %.60s: %s", t->probe->def.port, t->probe->def.ip,
             status ? uv_strerror(status) : "open");
    probe_look_ended(t->probe, status ? text : NULL);
}

static void look_at_port(struct probe *p)
{
    struct addr a;
    struct sockaddr_storage to;
    struct probe_try *t;

    if (addr_read(p->def.ip ? p->def.ip : "", &a)) {
        probe_look_ended(p, "the address of the container is not known");
        return;
    }
    t = probe_try_new(p);
    addr_to_sockaddr(&a, (uint16_t)p->def.port, &to);
    BUG_IF(uv_tcp_init(run_loop_uv(p->owner->loop), &t->uv.tcp));
    t->has_handle = true;
    t->uv.handle.data = t;
    t->req.connect.data = t;
    int err = uv_tcp_connect(&t->req.connect, &t->uv.tcp, (struct sockaddr *)&to, on_connected);
    if (err)
        probe_look_ended(p, uv_strerror(err));
}

/* ---- HTTP ---- */

static void drop_bytes(void *arg, const char *bytes, size_t len)
{
    (void)arg; /* Only the status counts. */
    (void)bytes;
    (void)len;
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct probe *p = obj_cast(arg, struct probe, PROBE_MAGIC);
    int status = answer ? answer->status : 0;
    char text[200];

    p->call = NULL;
    if (err == ERR_CANCELLED)
        return;
    if (!err && status >= p->def.min_success && status <= p->def.max_success) {
        probe_look_ended(p, NULL);
        return;
    }
    if (err)
        snprintf(text, sizeof text, "%.100s: %.90s", p->def.url, why ? why->text : err_text(err));
    else
        snprintf(text, sizeof text, "%.100s answers %d", p->def.url, status);
    probe_look_ended(p, text);
}

static void look_at_url(struct probe *p)
{
    const struct http_call_def def = {
        .url = p->def.url,
        .timeout_ms = p->def.timeout_ms,
        .connect_timeout_ms = p->def.timeout_ms,
        .on_data = drop_bytes,
        .done = on_answer,
        .arg = p,
    };

    run_timer_stop(p->timer); /* The call has its own limit. */
    p->call = http_call(p->owner->http, &def);
}

void probe_look_further(struct probe *p)
{
    switch (p->def.type) {
    case CHECK_HTTP: look_at_url(p); return;
    case CHECK_PORT: look_at_port(p); return;
    case CHECK_DEFAULT:
        probe_look_ended(p, p->def.ip ? NULL : "the address of the container is not known");
        return;
    }
}

/* ---- the whole ---- */

struct probes *probes_new(struct run_loop *loop, struct http_client *http,
                          void (*result)(void *arg, const char *container_id, int64_t attempt, bool ready,
                                         const char *text),
                          void *arg)
{
    struct probes *p = mem_new(struct probes);

    *p = (struct probes){loop, http, result, arg, MAP_EMPTY};
    return p;
}

static void free_probe(void *arg)
{
    struct probe *p = obj_cast(arg, struct probe, PROBE_MAGIC);

    if (p->call)
        http_call_cancel(p->call);
    probe_try_drop(p);
    run_timer_free(p->timer);
    free(p->container_id);
    free(p->def.ip);
    free(p->def.dns_name);
    free(p->def.dns_address);
    free(p->def.url);
    obj_fini(&p->obj);
    free(p);
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    map_fini(&p->by_container, free_probe);
    free(p);
}

void probe_stop(struct probes *p, const char *container_id)
{
    struct probe *old = map_remove(&p->by_container, container_id);

    if (old)
        free_probe(old);
}

void probe_start(struct probes *p, const char *container_id, const struct eng_probe *def)
{
    struct probe *probe = mem_new(struct probe);

    probe_stop(p, container_id);
    obj_init(&probe->obj, PROBE_MAGIC);
    probe->owner = p;
    probe->container_id = mem_str(container_id);
    probe->def = *def;
    probe->def.ip = mem_str(def->ip);
    probe->def.dns_name = mem_str(def->dns_name);
    probe->def.dns_address = mem_str(def->dns_address);
    probe->def.url = mem_str(def->url);
    probe->delay_ms = FIRST_DELAY_MS;
    probe->timer = run_timer_new(p->loop, look, probe);
    run_timer_start(probe->timer, 0, 0);
    map_set(&p->by_container, container_id, probe);
}
