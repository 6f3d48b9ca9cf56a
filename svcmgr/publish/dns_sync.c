#include "publish/dns_sync.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#define SYNC_MAGIC   OBJ_MAGIC('D', 'S', 'Y', 'N')
#define SERVER_MAGIC OBJ_MAGIC('D', 'S', 'R', 'V')

#define OPTION         "yarn.service.drain.dns-urls"
#define SPARE_MS       1000 /* of a call, beyond the wait that is asked for */
#define RETRY_FIRST_MS 200
#define RETRY_MAX_MS   30000
#define TURN_ASKS      64 /* settled in one turn of the loop */
#define ANSWER_MAX     65536

struct ask {
    TAILQ_ENTRY(ask) link;
    uint64_t number; /* from 1, in the order in which they came */
    char *key;
};

/** One dnsd. Asks up to `confirmed` are confirmed; up to `settled` nobody waits for it any more. */
struct server {
    struct obj obj;
    struct dns_sync *owner;
    char *url;
    struct http_call *call;
    struct run_timer *timer; /* the next call of one that is away */
    uint64_t confirmed, settled;
    uint64_t covered; /* by the call */
    int64_t pause_ms; /* before that call; 0: it is reached */
    int64_t blind_ms; /* since when no revision was known; 0: one is */
    int code;         /* why it is away */
    char *why;
};

struct dns_sync {
    struct obj obj;
    struct run_loop *loop;
    struct http_client *http;
    struct dns_sync_def def; /* urls NULL */
    struct server *servers;
    size_t n_servers;
    TAILQ_HEAD(, ask) asks; /* oldest first */
    uint64_t n_asked;
    struct run_timer *turn; /* settles what can be settled */
    bool is_closing;
};

/* ---- URLs ---- */

static bool is_url(const char *url)
{
    size_t scheme = str_starts(url, "http://") ? 7 : str_starts(url, "https://") ? 8 : 0;

    return scheme && url[scheme] && !strpbrk(url, "?# ");
}

int dns_sync_check(const char *urls, struct err_info *why)
{
    size_t n = 0;
    int err = 0;

    if (!urls || !urls[0])
        return 0;
    for (char *url; !err && (url = str_field(urls, ',', n)); n++) {
        if (!is_url(url) || n == DNS_SYNC_SERVERS_MAX)
            err = err_set(why, ERR_INVALID, url,
                          "not the URL of a dnsd (http://host:port; at most %d, comma-separated)",
                          DNS_SYNC_SERVERS_MAX);
        free(url);
    }
    return err;
}

/* ---- settling ---- */

static bool is_away(const struct server *v)
{
    return v->pause_ms > 0;
}

/** Up to which ask no server is waited for. */
static uint64_t settled_by_all(const struct dns_sync *s)
{
    uint64_t least = s->n_asked;

    for (size_t i = 0; i < s->n_servers; i++) {
        if (s->servers[i].settled < least)
            least = s->servers[i].settled;
    }
    return least;
}

/** A server that has not confirmed an ask. */
static const struct server *silent_about(const struct dns_sync *s, uint64_t number)
{
    for (size_t i = 0; i < s->n_servers; i++) {
        if (s->servers[i].confirmed < number)
            return &s->servers[i];
    }
    return NULL;
}

static void settle_some(void *arg)
{
    struct dns_sync *s = obj_cast(arg, struct dns_sync, SYNC_MAGIC);
    uint64_t last = settled_by_all(s);
    struct ask *a;

    for (int i = 0; i < TURN_ASKS && (a = TAILQ_FIRST(&s->asks)) && a->number <= last; i++) {
        const struct server *silent = silent_about(s, a->number);
        mem_auto char *text = silent ? mem_fmt("%s (" OPTION "): %s", silent->url, silent->why) : NULL;
        TAILQ_REMOVE(&s->asks, a, link);
        s->def.done(s->def.arg, a->key, silent ? silent->code : 0, text);
        free(a->key);
        free(a);
    }
    if ((a = TAILQ_FIRST(&s->asks)) && a->number <= last)
        run_timer_start(s->turn, 0, 0);
}

static void settle_soon(struct dns_sync *s)
{
    run_timer_start(s->turn, 0, 0);
}

/* ---- one server ---- */

static void begin(struct server *v);

/** Nobody waits for it until it confirms again. */
static void be_away(struct server *v, const struct err_info *why)
{
    struct dns_sync *s = v->owner;
    bool was_away = is_away(v);

    v->code = why->code;
    free(v->why);
    v->why = mem_str(why->text);
    v->settled = s->n_asked;
    v->pause_ms = backoff_next(v->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
    run_timer_start(v->timer, (uint64_t)v->pause_ms, 0);
    if (!was_away)
        s->def.changed(s->def.arg, v->url, why);
    settle_soon(s);
}

static void confirm(struct server *v)
{
    struct dns_sync *s = v->owner;

    v->confirmed = v->covered;
    if (is_away(v))
        s->def.changed(s->def.arg, v->url, NULL);
    else
        v->settled = v->covered;
    v->pause_ms = 0;
    if (v->settled < s->n_asked)
        begin(v);
    settle_soon(s);
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct server *v = obj_cast(arg, struct server, SERVER_MAGIC);
    struct err_info problem = *why;

    v->call = NULL;
    if (v->owner->is_closing)
        return;
    if (!err && answer->status == 200) {
        confirm(v);
        return;
    }
    if (!err)
        err_set(&problem, answer->status == 504 ? ERR_TIMEOUT : ERR_UNAVAILABLE, v->url,
                answer->status == 504 ? "it does not answer from the revision within %lld ms (HTTP %d)"
                                      : "it does not confirm the revision within %lld ms (HTTP %d)",
                (long long)v->owner->def.timeout_ms, answer->status);
    be_away(v, &problem);
}

/** Right after a start: the registry says it soon. */
static void wait_for_revision(struct server *v)
{
    int64_t now = run_now_ms();
    struct err_info why = {0};

    if (!v->blind_ms)
        v->blind_ms = now;
    if (is_away(v) || now - v->blind_ms >= v->owner->def.timeout_ms) {
        err_set(&why, ERR_UNAVAILABLE, v->url, "the registry has not said its revision yet");
        be_away(v, &why);
        return;
    }
    run_timer_start(v->timer, RETRY_FIRST_MS, 0);
}

static void begin(struct server *v)
{
    struct dns_sync *s = v->owner;
    char revision[REG_REVISION_MAX];

    v->covered = s->n_asked;
    if (!s->def.revision(s->def.arg, revision)) {
        wait_for_revision(v);
        return;
    }
    v->blind_ms = 0;
    mem_auto char *url =
        mem_fmt("%s/sync?revision=%s&timeout=%lldms", v->url, revision, (long long)s->def.timeout_ms);
    const struct http_call_def call = {.url = url,
                                       .timeout_ms = s->def.timeout_ms + SPARE_MS,
                                       .connect_timeout_ms = s->def.timeout_ms,
                                       .max_body = ANSWER_MAX,
                                       .no_follow = true,
                                       .done = on_answer,
                                       .arg = v};
    v->call = http_call(s->http, &call);
}

static void on_retry(void *arg)
{
    struct server *v = obj_cast(arg, struct server, SERVER_MAGIC);

    if (!v->call)
        begin(v);
}

/* ---- the interface ---- */

static void add_server(struct dns_sync *s, char *take_url)
{
    struct server *v = &s->servers[s->n_servers++];

    for (size_t n = strlen(take_url); n && take_url[n - 1] == '/';)
        take_url[--n] = '\0';
    obj_init(&v->obj, SERVER_MAGIC);
    v->owner = s;
    v->url = take_url;
    v->timer = run_timer_new(s->loop, on_retry, v);
}

struct dns_sync *dns_sync_new(struct run_loop *loop, struct http_client *http, const struct dns_sync_def *def)
{
    struct dns_sync *s = mem_new(struct dns_sync);
    char *url;

    obj_init(&s->obj, SYNC_MAGIC);
    s->loop = loop;
    s->http = http;
    s->def = *def;
    s->def.urls = NULL;
    TAILQ_INIT(&s->asks);
    s->turn = run_timer_new(loop, settle_some, s);
    s->servers = mem_array(DNS_SYNC_SERVERS_MAX, sizeof s->servers[0]);
    for (size_t i = 0; def->urls && def->urls[0] && (url = str_field(def->urls, ',', i)); i++)
        add_server(s, url);
    return s;
}

void dns_sync_ask(struct dns_sync *s, const char *key)
{
    struct ask *a = mem_new(struct ask);

    a->number = ++s->n_asked;
    a->key = mem_str(key);
    TAILQ_INSERT_TAIL(&s->asks, a, link);
    for (size_t i = 0; i < s->n_servers; i++) {
        struct server *v = &s->servers[i];
        if (is_away(v))
            v->settled = s->n_asked;
        else if (!v->call && !v->blind_ms)
            begin(v);
    }
    settle_soon(s);
}

void dns_sync_free(struct dns_sync *s)
{
    struct ask *a;

    if (!s)
        return;
    s->is_closing = true;
    for (size_t i = 0; i < s->n_servers; i++) {
        struct server *v = &s->servers[i];
        if (v->call)
            http_call_cancel(v->call);
        run_timer_free(v->timer);
        free(v->url);
        free(v->why);
        obj_fini(&v->obj);
    }
    while ((a = TAILQ_FIRST(&s->asks))) {
        TAILQ_REMOVE(&s->asks, a, link);
        free(a->key);
        free(a);
    }
    run_timer_free(s->turn);
    free(s->servers);
    obj_fini(&s->obj);
    free(s);
}
