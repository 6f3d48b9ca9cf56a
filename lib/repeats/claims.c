#include "repeats/claims.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "repeats/note.h"
#include "run/log.h"

#define CLAIMS_MAGIC OBJ_MAGIC('C', 'L', 'M', 'S')
#define CLAIM_MAGIC  OBJ_MAGIC('C', 'L', 'M', '1')

#define REPEATS_EVENTS(X)                                                                                    \
    X(repeats_not_shared, LOG_WARN,                                                                          \
      "Writes that a gateway sends again to another daemon are done again: the store refuses the node by "   \
      "which they are known.")
LOG_DECLARE(REPEATS_EVENTS)

#define REPEATS_PATH STORE_ASIDE "/repeats"

enum { WAIT_MS = 2000, SWEEP_MS = 180000, FIRST_LOOK_MS = 10, SHA256_LEN = 32, HASH_LEN = 32 };
/** Length of a node's name. */
#define NAME_LEN (2 * HASH_LEN + 1)

struct claims {
    struct obj obj;
    struct claims_def def;
    char me[2 * 16 + 1]; /* this process */
    uint64_t n_claims;
    struct map own;    /* names of nodes that our claims have made: struct http_claim */
    struct map before; /* names that the last look has found; the value says nothing */
    struct run_timer *sweep;
    bool is_swept; /* the timer runs */
    bool is_stopped;
    bool is_barred; /* the store did not let the last one make a node */
    size_t n_calls; /* of the store, that have not come back */
    size_t n_open;  /* claims */
};

/*
 *     (a body may be lost: names ──► nodes with its key ──►) create ──► ours: FIRST
 *                                            ▲                └─EXISTS─► read ──► answered: KNOWN, UNKNOWN
 *                                            └──────────it has gone──────┴──taken──► wait, read
 */
struct http_claim {
    struct obj obj;
    struct claims *claims;
    char name[NAME_LEN + 1];
    char *by; /* what our node says */
    bool is_repeat_only;
    void (*found)(void *arg, enum http_repeat what, const struct http_kept_answer *answer,
                  const struct err_info *why);
    void *arg;
    bool is_ours, is_released;
    bool has_parents; /* they were made, or are there */
    bool has_read;
    size_t n_calls;
    struct run_timer *wait;
    int64_t until_ms, look_ms; /* when waiting ends; until the next look */
    char other[NAME_LEN + 1];  /* the node that is read; "": our own */
};

/* ---- names ---- */

static void hash_into(const void *bytes, size_t len, char *out)
{
    unsigned char hash[SHA256_LEN];
    BUG_IF(gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes ? bytes : "", len, hash) != 0);
    for (size_t i = 0; i < HASH_LEN / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static char *path_of(const char *name)
{
    return mem_fmt(REPEATS_PATH "/%s", name);
}

/* ---- calls of the store ---- */

static void claim_calls(struct http_claim *k)
{
    k->n_calls++;
    k->claims->n_calls++;
}

static void claim_free(struct http_claim *k)
{
    k->claims->n_open--;
    run_timer_free(k->wait);
    free(k->by);
    obj_fini(&k->obj);
    free(k);
}

/* A call has come back. @return whether somebody waits for what it found; else the claim may be gone. */
static bool claim_came_back(struct http_claim *k)
{
    k->n_calls--;
    k->claims->n_calls--;
    if (!k->is_released)
        return true;
    if (!k->n_calls)
        claim_free(k);
    return false;
}

static void on_ignored(void *arg, int err, const struct store_result *r)
{
    struct claims *c = obj_cast(arg, struct claims, CLAIMS_MAGIC);
    (void)err, (void)r; /* what stays is found by a sweep */
    c->n_calls--;
}

static void remove_node(struct claims *c, const char *name)
{
    mem_auto char *path = path_of(name);
    if (c->is_stopped)
        return;
    c->n_calls++;
    store_delete(c->def.store, path, -1, on_ignored, c);
}

/* ---- what was found ---- */

static void claim_finds(struct http_claim *k, enum http_repeat what, const struct http_kept_answer *answer,
                        const struct err_info *why)
{
    k->found(k->arg, what, answer, why);
}

static void claim_is_ours(struct http_claim *k)
{
    k->is_ours = true;
    map_set(&k->claims->own, k->name, k);
    claim_finds(k, HTTP_REPEAT_FIRST, NULL, NULL);
}

/* Where the store does not let us make a node, nothing is shared, and the write is done as without others. */
static void claim_fails(struct http_claim *k, int err, const struct err_info *why)
{
    struct claims *c = k->claims;
    bool is_barred = err == ERR_PERMISSION || err == ERR_AUTH;
    if (is_barred && !c->is_barred)
        log_emit(&ev_repeats_not_shared, LOG_ERR(why));
    c->is_barred = is_barred;
    claim_finds(k, is_barred ? HTTP_REPEAT_FIRST : HTTP_REPEAT_FAILED, NULL, is_barred ? NULL : why);
}

/* ---- looking again while another process does it ---- */

static void claim_make(struct http_claim *k);
static void claim_read(struct http_claim *k);

static void on_wait(void *arg)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    claim_read(k);
}

static void claim_wait(struct http_claim *k)
{
    int64_t left_ms = k->until_ms - run_now_ms();
    if (left_ms <= 0) {
        claim_finds(k, HTTP_REPEAT_UNKNOWN, NULL, NULL);
        return;
    }
    if (!k->wait)
        k->wait = run_timer_new(k->claims->def.loop, on_wait, k);
    k->look_ms = k->look_ms ? 2 * k->look_ms : FIRST_LOOK_MS;
    run_timer_start(k->wait, (uint64_t)(k->look_ms < left_ms ? k->look_ms : left_ms), 0);
}

/* ---- the node of a write ---- */

static void claim_take_in(struct http_claim *k, const struct store_result *r)
{
    struct note note = note_read(r->data, r->data_len);
    if (note.by && strcmp(note.by, k->by) == 0)
        claim_is_ours(k); /* the answer to our making it was lost */
    else if (note.state == NOTE_TAKEN)
        claim_wait(k);
    else if (note.state == NOTE_ANSWERED && note.answer.status)
        claim_finds(k, HTTP_REPEAT_KNOWN, &note.answer, NULL);
    else
        claim_finds(k, HTTP_REPEAT_UNKNOWN, NULL, NULL);
    note_fini(&note);
}

static void on_read(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    if (!claim_came_back(k))
        return;
    if (!err) {
        claim_take_in(k, r);
    } else if (err == ERR_NOTFOUND && run_now_ms() < k->until_ms) {
        k->other[0] = '\0';
        claim_make(k); /* it was not done there */
    } else {
        claim_fails(k, err, &r->why);
    }
}

static void claim_read(struct http_claim *k)
{
    mem_auto char *path = path_of(k->other[0] ? k->other : k->name);
    k->has_read = true;
    claim_calls(k);
    store_get(k->claims->def.store, path, on_read, k);
}

static void on_parents(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    if (!claim_came_back(k))
        return;
    k->has_parents = true;
    if (err && err != ERR_EXISTS)
        claim_fails(k, err, &r->why);
    else
        claim_make(k);
}

static void on_aside(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    struct claims *c = k->claims;
    if (!claim_came_back(k))
        return;
    if (err && err != ERR_EXISTS) {
        claim_fails(k, err, &r->why);
        return;
    }
    claim_calls(k);
    store_create(c->def.store, REPEATS_PATH, "", 0, c->def.acl, on_parents, k);
}

static void on_made(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    struct claims *c = k->claims;
    if (k->is_released && (!err || err == ERR_UNKNOWN_OUTCOME))
        remove_node(c, k->name); /* nothing will be done */
    if (!claim_came_back(k))
        return;
    if (!err) {
        claim_is_ours(k);
    } else if (err == ERR_NOTFOUND && !k->has_parents) {
        claim_calls(k);
        store_create(c->def.store, STORE_ASIDE, "", 0, c->def.acl, on_aside, k);
    } else if (err == ERR_EXISTS && k->has_read) {
        claim_wait(k); /* the server that we read from is behind, or it was made again */
    } else if (err == ERR_EXISTS || err == ERR_UNKNOWN_OUTCOME) {
        claim_read(k);
    } else {
        claim_fails(k, err, &r->why);
    }
}

/* Make our node; a repeat that is nothing else finds none. */
static void claim_make(struct http_claim *k)
{
    if (k->is_repeat_only) {
        claim_finds(k, HTTP_REPEAT_FIRST, NULL, NULL);
        return;
    }
    mem_auto char *path = path_of(k->name);
    buf_auto struct buf text = BUF_EMPTY;
    note_write(k->by, NULL, &text);
    claim_calls(k);
    store_create(k->claims->def.store, path, text.bytes, text.len, k->claims->def.acl, on_made, k);
}

/* ---- a repeat that has lost its body ---- */

static void on_names(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    if (!claim_came_back(k))
        return;
    if (err && err != ERR_NOTFOUND) {
        claim_fails(k, err, &r->why);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < r->n_children; i++) {
        if (strlen(r->children[i]) != NAME_LEN || strncmp(r->children[i], k->name, HASH_LEN + 1) != 0)
            continue;
        memcpy(k->other, r->children[i], NAME_LEN + 1);
        n++;
    }
    if (n > 1)
        claim_finds(k, HTTP_REPEAT_UNKNOWN, NULL, NULL); /* it may be the repeat of any of them */
    else if (n)
        claim_read(k);
    else
        claim_make(k);
}

static void on_synced(void *arg, int err, const struct store_result *r)
{
    struct http_claim *k = obj_cast(arg, struct http_claim, CLAIM_MAGIC);
    if (!claim_came_back(k))
        return;
    if (err) {
        claim_fails(k, err, &r->why);
        return;
    }
    claim_calls(k);
    store_children(k->claims->def.store, REPEATS_PATH, on_names, k);
}

/* ---- what processes that ended have left behind ---- */

static void on_left(void *arg, int err, const struct store_result *r)
{
    struct claims *c = obj_cast(arg, struct claims, CLAIMS_MAGIC);
    struct map now = MAP_EMPTY;
    c->n_calls--;
    if (err || c->is_stopped)
        return;
    for (size_t i = 0; i < r->n_children; i++) {
        const char *name = r->children[i];
        if (map_get(&c->own, name))
            continue;
        map_set(&now, name, c);
        if (map_get(&c->before, name))
            remove_node(c, name);
    }
    map_fini(&c->before, NULL);
    c->before = now;
}

static void on_sweep(void *arg)
{
    struct claims *c = obj_cast(arg, struct claims, CLAIMS_MAGIC);
    c->n_calls++;
    store_children(c->def.store, REPEATS_PATH, on_left, c);
}

/* The first write that is shared begins it. */
static void sweep_begin(struct claims *c)
{
    if (c->is_swept)
        return;
    c->is_swept = true;
    run_timer_start(c->sweep, 0, (uint64_t)c->def.sweep_ms);
}

/* ---- for the server ---- */

static struct http_claim *claim_begin(void *arg, const struct http_write_key *key,
                                      void (*found)(void *found_arg, enum http_repeat what,
                                                    const struct http_kept_answer *answer,
                                                    const struct err_info *why),
                                      void *found_arg)
{
    struct claims *c = obj_cast(arg, struct claims, CLAIMS_MAGIC);
    if (c->is_stopped)
        return NULL;
    struct http_claim *k = mem_new(struct http_claim);
    obj_init(&k->obj, CLAIM_MAGIC);
    k->claims = c;
    k->by = mem_fmt("%s.%" PRIu64, c->me, ++c->n_claims);
    k->found = found;
    k->arg = found_arg;
    k->is_repeat_only = key->is_repeat_only;
    k->until_ms = run_now_ms() + c->def.wait_ms;
    hash_into(key->bytes, key->len, k->name);
    k->name[HASH_LEN] = '-';
    hash_into(key->body, key->body_len, k->name + HASH_LEN + 1);
    c->n_open++;
    sweep_begin(c);
    if (!key->may_have_lost_body) {
        claim_make(k);
        return k;
    }
    claim_calls(k);
    store_sync(c->def.store, on_synced, k);
    return k;
}

static void claim_settle(struct http_claim *k, const struct http_kept_answer *answer)
{
    struct claims *c = k->claims;
    (void)obj_cast(k, struct http_claim, CLAIM_MAGIC);
    if (!k->is_ours || c->is_stopped)
        return;
    mem_auto char *path = path_of(k->name);
    buf_auto struct buf text = BUF_EMPTY;
    note_write(k->by, answer, &text);
    c->n_calls++;
    store_set(c->def.store, path, text.bytes, text.len, -1, on_ignored, c);
}

static void claim_release(struct http_claim *k, bool stays)
{
    (void)obj_cast(k, struct http_claim, CLAIM_MAGIC);
    k->is_released = true;
    if (k->is_ours) {
        map_remove(&k->claims->own, k->name);
        if (!stays)
            remove_node(k->claims, k->name);
    }
    run_timer_free(k->wait);
    k->wait = NULL;
    if (!k->n_calls)
        claim_free(k);
}

const struct http_repeats_ops claims_ops = {claim_begin, claim_settle, claim_release};

/* ---- life ---- */

struct claims *claims_new(const struct claims_def *def)
{
    struct claims *c = mem_new(struct claims);
    unsigned char id[16];
    obj_init(&c->obj, CLAIMS_MAGIC);
    c->def = *def;
    c->def.wait_ms = def->wait_ms ? def->wait_ms : WAIT_MS;
    c->def.sweep_ms = def->sweep_ms ? def->sweep_ms : SWEEP_MS;
    BUG_IF(gnutls_rnd(GNUTLS_RND_NONCE, id, sizeof id) != 0);
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(c->me + 2 * i, 3, "%02x", id[i]);
    c->sweep = run_timer_new(def->loop, on_sweep, c);
    return c;
}

void claims_stop(struct claims *c)
{
    c->is_stopped = true;
    run_timer_stop(c->sweep);
}

void claims_free(struct claims *c)
{
    if (!c)
        return;
    BUG_IF(c->n_open || c->n_calls);
    run_timer_free(c->sweep);
    map_fini(&c->own, NULL);
    map_fini(&c->before, NULL);
    obj_fini(&c->obj);
    free(c);
}
