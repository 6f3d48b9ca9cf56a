/**
 * Leases over REST: records that go when this program stops renewing. See registry.h.
 */
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/writer.h"
#include "registry/client_priv.h"

#define KEEPING_MAGIC OBJ_MAGIC('K', 'E', 'E', 'P')

/** Renewals in one TTL; bytes of a new key; lengths that the registry takes; the longest pause. */
enum { RENEWALS_PER_TTL = 3, KEY_BYTES = 16, KEY_MIN = 16, KEY_MAX = 128, PAUSE_MAX_MS = 3600000 };

/**
 * Renewing by itself:
 *
 *     RESTING ──a record was bound──► PAUSING ──timer──► RENEWING ──answer──► PAUSING
 *                                                            └──no record is left──► RESTING
 */
struct reg_keeping {
    struct obj obj;
    struct reg *reg;
    struct run_timer *timer;
    struct request *request; /* RENEWING */
    int64_t due_ms;          /* PAUSING; 0: RESTING or RENEWING */
    void (*notify)(void *arg, int err, const struct reg_result *result, const struct err_info *why);
    void *arg;
};

/* ---- keys ---- */

char *lease_key_new(void)
{
    unsigned char bytes[KEY_BYTES];
    char text[2 * KEY_BYTES + 1];

    BUG_IF(gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof bytes) != 0);
    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return mem_str(text);
}

bool lease_key_fits(const char *key)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t len = strlen(key);

    return len >= KEY_MIN && len <= KEY_MAX && strspn(key, letters) == len;
}

const char *reg_lease(const struct reg *r)
{
    return r->lease;
}

/* ---- operations ---- */

/** Renew in time for the shortest TTL, if there is any. */
static void plan(struct reg_keeping *k)
{
    int64_t pause_ms = k->reg->lease_ttl_ms / RENEWALS_PER_TTL;
    int64_t due_ms = run_now_ms() + (pause_ms < PAUSE_MAX_MS ? pause_ms : PAUSE_MAX_MS);

    if (k->request || !k->reg->lease_ttl_ms || (k->due_ms && k->due_ms <= due_ms))
        return;
    k->due_ms = due_ms;
    run_timer_start(k->timer, (uint64_t)(due_ms - run_now_ms()), 0);
}

/** The shorter one of two TTLs; 0: there is none. */
static int64_t shorter(int64_t a, int64_t b)
{
    return !a || (b && b < a) ? b : a;
}

void lease_bound(struct reg *r, int64_t ttl_ms)
{
    r->bound_ttl_ms = shorter(r->bound_ttl_ms, ttl_ms);
    r->lease_ttl_ms = shorter(r->lease_ttl_ms, ttl_ms);
    r->has_bound = true;
    if (r->keeping)
        plan(r->keeping);
}

void reg_bind_leased(struct reg *r, const char *path, const struct reg_record *record, unsigned flags,
                     int64_t ttl_ms, REG_DONE, void *arg)
{
    /* A TTL of nothing, or less, is for the registry to refuse. */
    client_bind(r, path, record, flags, ttl_ms > 0 ? ttl_ms : -1, done, arg);
}

static struct request *renew(struct reg *r, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_RENEW, "/", done, arg);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);

    jw_object(&w);
    jw_kstr(&w, "lease", r->lease);
    jw_object_end(&w);
    q->body_len = body.len;
    q->body = buf_take(&body);
    r->has_bound = false;
    client_start(q, mem_str(""));
    return q;
}

void reg_keep_alive(struct reg *r, REG_DONE, void *arg)
{
    renew(r, done, arg);
}

/* ---- by itself ---- */

/** No record is left, or these live: the keeper may not know yet of one that was bound by another registryd. */
static void take_ttl(struct reg *r, int64_t ttl_ms)
{
    r->bound_ttl_ms = ttl_ms ? r->bound_ttl_ms : 0;
    r->lease_ttl_ms = shorter(ttl_ms, r->bound_ttl_ms);
}

static void on_renewed(void *arg, int err, const struct reg_result *result, const struct err_info *why)
{
    struct reg_keeping *k = obj_cast(arg, struct reg_keeping, KEEPING_MAGIC);
    struct reg *r = k->reg;

    k->request = NULL;
    if (err == ERR_CANCELLED)
        return;
    if ((!err || err == ERR_NOTFOUND) && !r->has_bound)
        take_ttl(r, err ? 0 : result->ttl_ms);
    plan(k);
    if (k->notify && (err || result->n_found))
        k->notify(k->arg, err, result, why); /* may free k */
}

static void on_due(void *arg)
{
    struct reg_keeping *k = obj_cast(arg, struct reg_keeping, KEEPING_MAGIC);

    k->due_ms = 0;
    k->request = renew(k->reg, on_renewed, k);
}

void reg_keep_alive_start(struct reg *r,
                          void (*notify)(void *arg, int err, const struct reg_result *result,
                                         const struct err_info *why),
                          void *arg)
{
    struct reg_keeping *k = r->keeping;

    if (!k) {
        k = r->keeping = mem_new(struct reg_keeping);
        obj_init(&k->obj, KEEPING_MAGIC);
        k->reg = r;
        k->timer = run_timer_new(r->loop, on_due, k);
    }
    k->notify = notify;
    k->arg = arg;
    plan(k);
}

void reg_keep_alive_stop(struct reg *r)
{
    struct reg_keeping *k = r->keeping;

    r->keeping = NULL;
    if (!k)
        return;
    run_timer_free(k->timer);
    if (k->request)
        client_cancel(k->request);
    obj_fini(&k->obj);
    free(k);
}
