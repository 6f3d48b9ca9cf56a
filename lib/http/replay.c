#include "http/http_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REPLAY_MAGIC OBJ_MAGIC('H', 'R', 'P', 'L')

/** What is kept at most; the oldest goes first. */
#define KEEP_MAX         2048
#define KEEP_BYTES       ((size_t)16 << 20)
#define ANSWER_MAX_BYTES ((size_t)256 << 10)
/** Longest X-Request-Id that counts. */
#define ID_MAX_BYTES 256
/** Looks for what is too old, in the time for which an answer is kept. */
#define FORGETS_PER_TERM 10

/**
 * A write that was asked for, found by user, method, target, id and the headers that it depends on.
 *
 *     (others are asked ──►) first runs ──answer──► known ──repeat_ms, or room is needed──► freed
 *             │                  └──its connection ends──► known, with status 0: nobody knows the outcome
 *             └──another process has done it──► known
 */
struct http_replay {
    struct obj obj;
    TAILQ_ENTRY(http_replay) link; /* in server->replays, oldest first */
    struct http_server *server;
    struct buf key;
    uint64_t key_hash, body_hash;
    size_t body_len;
    struct http_req *first;       /* its answer is awaited; NULL: the answer is known */
    struct http_req_list waiting; /* repeats that came meanwhile, by wait_link */
    bool is_passing; /* the answer says that nothing was done: it goes to those who wait, and is not kept */
    int64_t known_ms;
    struct http_kept_answer answer;
    struct http_claim *claim; /* by which other processes know of it; NULL: they do not */
    bool is_asked;            /* they are being asked; nothing is done yet */
    void (*decided)(struct http_req *req, enum http_replay_verdict verdict, const struct err_info *why);
};

/* ---- answers ---- */

void http_kept_header(struct http_kept_answer *a, const char *name, const char *value)
{
    size_t name_len = strlen(name) + 1, value_len = strlen(value) + 1;
    struct http_pair *h = mem_alloc(sizeof *h + name_len + value_len), **end = &a->headers;
    char *texts = (char *)(h + 1);
    memcpy(texts, name, name_len);
    memcpy(texts + name_len, value, value_len);
    *h = (struct http_pair){.name = texts, .value = texts + name_len};
    while (*end)
        end = &(*end)->next;
    *end = h;
}

void http_kept_copy(const struct http_kept_answer *a, struct http_kept_answer *out)
{
    *out = *a;
    out->media_type = a->media_type ? mem_str(a->media_type) : NULL;
    out->headers = NULL;
    out->body = BUF_EMPTY;
    for (const struct http_pair *h = a->headers; h; h = h->next)
        http_kept_header(out, h->name, h->value);
    if (a->body.len)
        buf_add(&out->body, a->body.bytes, a->body.len);
}

void http_kept_fini(struct http_kept_answer *a)
{
    struct http_pair *next;
    for (struct http_pair *h = a->headers; h; h = next) {
        next = h->next;
        free(h);
    }
    free(a->media_type);
    buf_fini(&a->body);
    *a = (struct http_kept_answer){0};
}

/* ---- what is kept ---- */

static size_t n_bytes(const struct http_replay *r)
{
    return sizeof *r + r->key.len + r->answer.body.len;
}

static void release_claim(struct http_replay *r, bool stays)
{
    struct http_claim *claim = r->claim;
    r->claim = NULL;
    r->is_asked = false;
    if (claim)
        r->server->def.repeats->release(claim, stays);
}

/** @param stays  other processes go on knowing it */
static void replay_free(struct http_replay *r, bool stays)
{
    struct http_server *s = r->server;
    BUG_IF(r->first || !TAILQ_EMPTY(&r->waiting));
    release_claim(r, stays);
    TAILQ_REMOVE(&s->replays, r, link);
    s->n_replays--;
    s->n_replay_bytes -= n_bytes(r);
    http_kept_fini(&r->answer);
    buf_fini(&r->key);
    obj_fini(&r->obj);
    free(r);
}

/** Free what is too old, and then the oldest until there is room. @param more, more_bytes  for so many more, of these bytes */
static void make_room(struct http_server *s, size_t more, size_t more_bytes)
{
    int64_t now_ms = http_server_now_ms(s);
    struct http_replay *r, *next;
    for (r = TAILQ_FIRST(&s->replays); r; r = next) {
        bool is_full = s->n_replays + more > KEEP_MAX || s->n_replay_bytes + more_bytes > KEEP_BYTES;
        next = TAILQ_NEXT(r, link);
        if (!r->first && TAILQ_EMPTY(&r->waiting) && (is_full || now_ms - r->known_ms >= s->def.repeat_ms))
            replay_free(r, false);
        else if (!r->first && !is_full)
            break;
    }
}

void http_replay_free_all(struct http_server *s)
{
    struct http_replay *r;
    while ((r = TAILQ_FIRST(&s->replays)))
        replay_free(r, true);
}

/* ---- finding ---- */

static void add_text(struct buf *key, const char *text)
{
    if (text)
        buf_add_str(key, text);
    buf_add(key, "", 1);
}

static void write_key(struct http_req *req, const char *user, struct buf *key)
{
    /* A conditional write, or one by an accessor, is another write. */
    static const char *const names[] = {"If-Match",          "If-None-Match",  "Authorization",
                                        "X-Bobbin-Accessor", "X-Bobbin-Lease", "X-Bobbin-Write-Accessors"};
    add_text(key, user);
    add_text(key, req->method);
    add_text(key, req->path);
    add_text(key, req->request_id);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        add_text(key, http_header(req, names[i]));
    for (const struct http_pair *p = req->query; p; p = p->next) {
        add_text(key, p->name);
        add_text(key, p->value);
    }
}

/** The newest of the same write: a repeat has the same body, or has lost it. */
static struct http_replay *find(struct http_server *s, const struct buf *key, uint64_t key_hash,
                                const struct buf *body)
{
    int64_t now_ms = http_server_now_ms(s);
    struct http_replay *r;
    TAILQ_FOREACH_REVERSE(r, &s->replays, http_replay_list, link)
    {
        if (r->key_hash != key_hash || r->key.len != key->len ||
            memcmp(r->key.bytes, key->bytes, key->len) != 0)
            continue;
        if (!r->first && now_ms - r->known_ms >= s->def.repeat_ms)
            continue;
        if (body->len == 0 ||
            (body->len == r->body_len && hash_bytes(body->bytes, body->len) == r->body_hash))
            return r;
    }
    return NULL;
}

/** The request is the first of its kind: its answer will be kept, when there is room. */
static void begin(struct http_req *req, struct buf *take_key, uint64_t key_hash)
{
    struct http_server *s = req->server;
    make_room(s, 1, sizeof(struct http_replay) + take_key->len);
    if (s->n_replays >= KEEP_MAX)
        return;
    struct http_replay *r = mem_new(struct http_replay);
    obj_init(&r->obj, REPLAY_MAGIC);
    r->server = s;
    r->key = *take_key;
    *take_key = BUF_EMPTY;
    r->key_hash = key_hash;
    r->body_len = req->body.len;
    r->body_hash = req->body.len ? hash_bytes(req->body.bytes, req->body.len) : 0;
    r->first = req;
    TAILQ_INIT(&r->waiting);
    TAILQ_INSERT_TAIL(&s->replays, r, link);
    s->n_replays++;
    s->n_replay_bytes += n_bytes(r);
    req->replay = r;
}

/* ---- what other processes have taken ---- */

static void on_found(void *arg, enum http_repeat what, const struct http_kept_answer *answer,
                     const struct err_info *why)
{
    struct http_replay *r = obj_cast(arg, struct http_replay, REPLAY_MAGIC);
    struct http_req *req = r->first;
    r->is_asked = false;
    if (what == HTTP_REPEAT_FIRST) {
        r->decided(req, HTTP_REPLAY_NONE, NULL);
        return;
    }
    if (what == HTTP_REPEAT_FAILED) {
        r->decided(req, HTTP_REPLAY_FAILED, why);
        return;
    }
    if (what == HTTP_REPEAT_KNOWN) {
        http_kept_copy(answer, &r->answer);
        r->server->n_replay_bytes += r->answer.body.len;
    }
    http_server_count(r->server, M_HTTP_REPLAYED, 1);
    r->is_passing = what == HTTP_REPEAT_UNKNOWN; /* the next repeat may learn more */
    r->known_ms = http_server_now_ms(r->server);
    release_claim(r, true);
    r->decided(req, HTTP_REPLAY_KNOWN, NULL);
}

/** @return whether others are asked. */
static bool ask(struct http_req *req, void (*decided)(struct http_req *req, enum http_replay_verdict verdict,
                                                      const struct err_info *why))
{
    const struct http_server_def *def = &req->server->def;
    const struct http_route *row = req->match.route->row;
    struct http_replay *r = req->replay;
    if (!r || !def->repeats)
        return false;
    bool has_no_body = req->body.len == 0 && req->match.route->max_body > 0;
    struct http_write_key key = {.bytes = r->key.bytes,
                                 .len = r->key.len,
                                 .body = req->body.bytes,
                                 .body_len = req->body.len,
                                 .may_have_lost_body = has_no_body,
                                 .is_repeat_only = has_no_body && row->flags & HTTP_JSON_IN};
    r->decided = decided;
    r->claim = def->repeats->claim(def->repeats_arg, &key, on_found, r);
    r->is_asked = r->claim != NULL;
    return r->is_asked;
}

enum http_replay_verdict http_replay_find(struct http_req *req, const char *user,
                                          void (*decided)(struct http_req *req,
                                                          enum http_replay_verdict verdict,
                                                          const struct err_info *why))
{
    struct http_server *s = req->server;
    const struct http_route_bound *route = req->match.route;
    bool has_lost_body = (req->refusal == ERR_MEDIATYPE || req->refusal == ERR_JSON) && req->body.len == 0 &&
                         req->n_dropped == 0;
    if (!route || !(route->row->flags & HTTP_DONE_ONCE) || (req->refusal && !has_lost_body))
        return HTTP_REPLAY_NONE;
    if (!req->request_id || !*req->request_id || strlen(req->request_id) > ID_MAX_BYTES)
        return HTTP_REPLAY_NONE;
    buf_auto struct buf key = BUF_EMPTY;
    write_key(req, user, &key);
    uint64_t key_hash = hash_bytes(key.bytes, key.len);
    struct http_replay *r = find(s, &key, key_hash, &req->body);
    if (!r) {
        if (!req->refusal || s->def.repeats)
            begin(req, &key, key_hash);
        return ask(req, decided) ? HTTP_REPLAY_ASKED : HTTP_REPLAY_NONE;
    }
    http_server_count(s, M_HTTP_REPLAYED, 1);
    req->refusal = 0;
    req->replay = r;
    if (!r->first)
        return HTTP_REPLAY_KNOWN;
    TAILQ_INSERT_TAIL(&r->waiting, req, wait_link);
    req->is_repeat_waiting = true;
    return HTTP_REPLAY_AWAITED;
}

bool http_replay_is_asked(const struct http_req *req)
{
    return req->replay && req->replay->is_asked;
}

bool http_replay_is_begun(const struct http_req *req)
{
    const struct http_replay *r = req->replay;
    return r && !r->is_asked && (r->first == req || req->is_repeat_waiting);
}

/* ---- answering ---- */

struct http_replay *http_replay_keep(struct http_req *req, int status, const char *media_type,
                                     const struct buf *body)
{
    struct http_replay *r = req->replay;
    if (!r || r->first != req)
        return NULL;
    req->replay = NULL;
    r->first = NULL;
    r->known_ms = http_server_now_ms(req->server);
    r->answer.status = status;
    r->answer.error = req->error;
    r->answer.media_type = media_type ? mem_str(media_type) : NULL;
    for (const struct http_pair *h = req->reply_headers; h; h = h->next) {
        if (strcasecmp(h->name, "Connection") != 0)
            http_kept_header(&r->answer, h->name, h->value);
    }
    if (body && body->len) {
        buf_add(&r->answer.body, body->bytes, body->len);
        req->server->n_replay_bytes += body->len;
    }
    /* What was not done now may be done by the next try. */
    r->is_passing = r->is_asked || (status == 503 && req->error != ERR_UNKNOWN_OUTCOME);
    return r;
}

struct http_req *http_replay_next_waiting(struct http_replay *r)
{
    struct http_req *req = TAILQ_FIRST(&r->waiting);
    if (!req)
        return NULL;
    TAILQ_REMOVE(&r->waiting, req, wait_link);
    req->is_repeat_waiting = false;
    return req;
}

void http_replay_stop_waiting(struct http_req *req)
{
    if (!req->is_repeat_waiting)
        return;
    TAILQ_REMOVE(&req->replay->waiting, req, wait_link);
    req->is_repeat_waiting = false;
    req->replay = NULL;
}

/** See to it that what is known is forgotten in time. */
static void forget_later(struct http_server *s, int64_t delay_ms)
{
    if (!s->is_forgetting)
        run_timer_start(s->forget, (uint64_t)delay_ms, 0);
    s->is_forgetting = true;
}

void http_replay_forget(void *server)
{
    struct http_server *s = obj_cast(server, struct http_server, HTTP_SERVER_MAGIC);
    make_room(s, 0, 0);
    s->is_forgetting = false;
    if (!TAILQ_EMPTY(&s->replays))
        forget_later(s, s->def.repeat_ms / FORGETS_PER_TERM);
}

void http_replay_settle(struct http_replay *r)
{
    struct http_server *s = r->server;
    if (r->is_passing) {
        replay_free(r, false);
        return;
    }
    forget_later(s, s->def.repeat_ms);
    if (r->answer.body.len > ANSWER_MAX_BYTES) {
        s->n_replay_bytes -= r->answer.body.len;
        buf_fini(&r->answer.body);
        r->answer.has_lost_body = true;
    }
    if (r->claim)
        s->def.repeats->settle(r->claim, &r->answer);
    make_room(s, 0, 0);
}

struct http_replay *http_replay_lose(struct http_req *first)
{
    struct http_replay *r = first->replay;
    if (!r || r->first != first)
        return NULL;
    first->replay = NULL;
    r->first = NULL;
    r->known_ms = http_server_now_ms(first->server);
    r->is_passing |= r->is_asked;
    return r;
}

const struct http_kept_answer *http_replay_answer(const struct http_replay *r)
{
    return &r->answer;
}
