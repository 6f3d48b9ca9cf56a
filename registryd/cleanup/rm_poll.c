#include "cleanup/rm_poll.h"
#include "registryd/events.h"
#include "cleanup/rm_issued.h"
#include "cleanup/rm_poll_apps.h"
#include "cleanup/rm_poll_read.h"
#include "base/mem.h"
#include "base/obj.h"
#include "http/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_MAGIC     OBJ_MAGIC('R', 'M', 'P', 'O')
#define ASKED_MAGIC    OBJ_MAGIC('R', 'M', 'A', 'S')
#define REACH_MAGIC    OBJ_MAGIC('R', 'M', 'R', 'E')
#define GREETING_MAGIC OBJ_MAGIC('R', 'M', 'G', 'R')

#define CALL_TIMEOUT_MS 30000
/** Applications asked about side by side. */
#define FLYING_MAX 8
/** The lists overlap, so that what the RM's clock and caches blur is not missed. */
#define OVERLAP_MS 60000

struct rm_poll {
    struct obj obj;
    struct rm_poll_def def;
    char **urls;
    size_t n_urls, at, n_tried; /* RM being asked; RMs tried in this poll */
    struct http_client *client;
    struct run_timer *timer;
    struct rm_apps *apps;
    size_t asked_at; /* RM that was asked last */
    struct outage *outage;
    bool is_up, is_closing;

    struct rm_info before; /* of this poll */
    int64_t clock_ms;      /* the RM's clock in this poll */
    struct rm_info now;    /* of the RM as we know it; started_on 0: none yet */
    size_t now_at;         /* its address */
    int64_t listed_ms;     /* RM's clock at the last poll that counted; 0: none */
    struct rm_nodes *nodes;
    struct rm_metrics metrics; /* of this poll */
    int64_t n_ended;           /* metrics.n_ended_apps of the last poll that counted; -1: not shown */
    struct rm_issued *issued;
    int64_t *heard; /* cluster timestamps of ids that the RM has shown in this poll, not of issued */
    size_t n_heard;
    struct map greeted; /* applications of the last list of those that have started */
    size_t n_flying;    /* applications being asked about */
};

/* One application being asked about. */
struct asked {
    struct obj obj;
    struct rm_poll *poll;
    struct rm_app *app;
    bool is_running; /* its AM is registered */
};

/* ---- calls ---- */

#define RM_DONE void (*done)(void *arg, int err, const struct http_answer *answer, const struct err_info *why)

static void ask(struct rm_poll *p, const char *path, RM_DONE, void *arg)
{
    static const char *const headers[] = {"Accept: application/json", NULL};
    mem_auto char *url = mem_fmt("%s/ws/v1/cluster%s", p->urls[p->at], path);
    struct http_call_def def = {.url = url,
                                .headers = headers,
                                .timeout_ms = CALL_TIMEOUT_MS,
                                .no_follow =
                                    true, /* a standby sends elsewhere: we go there by our own list */
                                .done = done,
                                .arg = arg};
    p->asked_at = p->at;
    http_call(p->client, &def);
}

static void wait_for_next(struct rm_poll *p)
{
    run_timer_start(p->timer, (uint64_t)p->def.interval_ms, 0);
}

/* Nothing of this poll counts. */
static void give_up(struct rm_poll *p, const struct err_info *why)
{
    rm_apps_discard(p->apps);
    p->n_heard = 0;
    metric_add(p->def.metrics, M_RM_DISCARDED, 1);
    metric_set(p->def.metrics, M_RM_UP, 0);
    outage_fails(p->outage, p->urls[p->asked_at], why, run_now_ms());
    p->is_up = false;
    wait_for_next(p);
}

/* An answer of the RM that can be used. @return 0; or why not. */
static int check_answer(int err, const struct http_answer *a, struct err_info *why)
{
    if (err)
        return err;
    if (a->status == 200)
        return 0;
    return err_set(why, ERR_UNAVAILABLE, "", "the resource manager answered with status %d", a->status);
}

/* Bring the poll to its end when an answer of the lists cannot be used. @return true: it was ended. */
static bool has_failed(struct rm_poll *p, int err, const struct http_answer *a, const struct err_info *why)
{
    struct err_info bad = *why;
    if (p->is_closing)
        return true;
    if (!check_answer(err, a, &bad))
        return false;
    give_up(p, &bad);
    return true;
}

static const char *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* The RM's clock by its Date header, whatever our own says. */
static int64_t answer_clock_ms(const struct http_answer *a)
{
    struct tm t = {0};
    char month[4] = "";
    const char *date = a->header(a, "Date");
    if (!date || sscanf(date, "%*3s, %2d %3s %4d %2d:%2d:%2d", &t.tm_mday, month, &t.tm_year, &t.tm_hour,
                        &t.tm_min, &t.tm_sec) != 6)
        return run_wall_ms();
    t.tm_year -= 1900;
    while (t.tm_mon < 12 && strcmp(month_names[t.tm_mon], month) != 0)
        t.tm_mon++;
    return t.tm_mon < 12 ? (int64_t)timegm(&t) * 1000 : run_wall_ms();
}

/* ---- after: does what was seen count? ---- */

static void on_ended(void *arg, enum cleanup_kind kind, const char *subject, const char *reason)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct cleanup_event event = {
        .kind = kind, .subject = subject, .reason = reason, .dry_run = p->def.dry_run};
    cleanup_event(p->def.cleanup, &event, NULL, NULL);
}

/* The RM has shown this id: it has issued it, or recovered it from the store of the one that did. A number that is later than its
 * own is neither's: somebody submitted an application under an id of his own. */
static void hear(struct rm_poll *p, const char *id)
{
    int64_t timestamp = index_cluster_time(id);
    bool is_heard = timestamp < 0 || timestamp > p->before.cluster_id || rm_issued_has(p->issued, timestamp);
    for (size_t i = 0; i < p->n_heard && !is_heard; i++)
        is_heard = p->heard[i] == timestamp;
    if (is_heard || p->n_heard == RM_ISSUED_MAX)
        return;
    p->heard = mem_resize(p->heard, p->n_heard + 1, sizeof *p->heard);
    p->heard[p->n_heard++] = timestamp;
}

/* What the RM has issued, by a poll that counts. What it did not know before may have been its own. */
static void learn_issued(struct rm_poll *p)
{
    bool is_news = rm_issued_add(p->issued, p->before.cluster_id);
    for (size_t i = 0; i < p->n_heard; i++)
        is_news = rm_issued_add(p->issued, p->heard[i]) || is_news;
    p->n_heard = 0;
    if (is_news)
        rm_apps_ask_all(p->apps);
    rm_issued_save(p->issued);
}

static void commit(struct rm_poll *p)
{
    rm_apps_commit(p->apps, on_ended, p);
    learn_issued(p);
    rm_nodes_commit(p->nodes);
    p->listed_ms = p->clock_ms;
    p->n_ended = p->metrics.n_ended_apps;
    metric_add(p->def.metrics, M_RM_POLLS, 1);
    metric_set(p->def.metrics, M_RM_UP, 1);
    outage_ends(p->outage, p->urls[p->at], run_now_ms());
    wait_for_next(p);
}

static void on_after(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct rm_info after;
    struct err_info bad = *why;
    if (has_failed(p, err, a, why))
        return;
    if (rm_read_info(a->body.bytes, a->body.len, &after, &bad)) {
        give_up(p, &bad);
    } else if (!after.is_active || after.started_on != p->before.started_on) {
        err_set(&bad, ERR_UNAVAILABLE, p->urls[p->at], "the resource manager changed during the poll");
        give_up(p, &bad);
    } else {
        commit(p);
    }
}

/* ---- applications ---- */

static void ask_apps(struct rm_poll *p);

static void asked_done(struct asked *q)
{
    struct rm_poll *p = q->poll;
    obj_fini(&q->obj);
    free(q);
    p->n_flying--;
    if (!p->is_closing)
        ask_apps(p);
}

static void on_containers(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct asked *q = obj_cast(arg, struct asked, ASKED_MAGIC);
    struct map live = MAP_EMPTY;
    struct err_info bad = *why;
    if (!check_answer(err, a, &bad) && !rm_read_containers(a->body.bytes, a->body.len, &live, &bad))
        rm_app_saw_containers(q->poll->apps, q->app, &live, q->poll->nodes);
    map_fini(&live, free);
    asked_done(q);
}

static void ask_containers(struct asked *q, const char *attempt)
{
    mem_auto char *path = mem_fmt("/apps/%s/appattempts/%s/containers", rm_app_id(q->app), attempt);
    ask(q->poll, path, on_containers, q);
}

static void on_attempts(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct asked *q = obj_cast(arg, struct asked, ASKED_MAGIC);
    struct rm_poll *p = q->poll;
    struct rm_attempts attempts;
    struct err_info bad = *why;
    if (check_answer(err, a, &bad) || rm_read_attempts(a->body.bytes, a->body.len, &attempts, &bad)) {
        asked_done(q);
        return;
    }
    rm_app_saw_attempts(p->apps, q->app, &attempts);
    const struct rm_attempt *last = attempts.n_items ? &attempts.items[attempts.n_items - 1] : NULL;
    /* Between two attempts, and where no node is back after a start of the RM, absence means nothing. */
    if (q->is_running && last && last->is_running && rm_app_wants_containers(p->apps, q->app, p->nodes))
        ask_containers(q, last->id);
    else
        asked_done(q);
    rm_attempts_fini(&attempts);
}

/* Whether a 404 means something: an RM knows what it has issued, until it has ended. */
static enum rm_view unknown_view(const struct rm_poll *p, const struct rm_app *app)
{
    bool is_own = rm_issued_has(p->issued, index_cluster_time(rm_app_id(app)));
    return is_own ? RM_VIEW_UNKNOWN : RM_VIEW_FOREIGN;
}

static const enum rm_view state_views[] = {[RM_STATE_ALIVE] = RM_VIEW_ALIVE,
                                           [RM_STATE_RUNNING] = RM_VIEW_ALIVE,
                                           [RM_STATE_ENDING] = RM_VIEW_ENDING,
                                           [RM_STATE_ENDED] = RM_VIEW_ENDED};

static void on_state(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct asked *q = obj_cast(arg, struct asked, ASKED_MAGIC);
    struct rm_poll *p = q->poll;
    enum rm_state state;
    char text[32];
    struct err_info bad = *why;
    if (!err && a->status == 404 && rm_read_not_found(a->body.bytes, a->body.len)) {
        rm_app_saw(q->app, unknown_view(p, q->app), "");
        asked_done(q);
        return;
    }
    if (check_answer(err, a, &bad) || rm_read_state(a->body.bytes, a->body.len, &state, text, &bad)) {
        asked_done(q);
        return;
    }
    rm_app_saw(q->app, state_views[state], text);
    hear(p, rm_app_id(q->app));
    q->is_running = state == RM_STATE_RUNNING;
    bool has_parts =
        rm_app_has(p->apps, q->app, INDEX_ATTEMPT) || rm_app_has(p->apps, q->app, INDEX_CONTAINER);
    if (state != RM_STATE_ENDED && has_parts) {
        mem_auto char *path = mem_fmt("/apps/%s/appattempts", rm_app_id(q->app));
        ask(p, path, on_attempts, q);
    } else {
        asked_done(q);
    }
}

static void ask_apps(struct rm_poll *p)
{
    struct rm_app *app;
    while (p->n_flying < FLYING_MAX && (app = rm_apps_take(p->apps))) {
        struct asked *q = mem_new(struct asked);
        obj_init(&q->obj, ASKED_MAGIC);
        q->poll = p;
        q->app = app;
        p->n_flying++;
        mem_auto char *path = mem_fmt("/apps/%s/state", rm_app_id(app));
        ask(p, path, on_state, q);
    }
    if (p->n_flying)
        return;
    ask(p, "/info", on_after, p);
}

/* ---- lists ---- */

static int64_t list_begin_ms(const struct rm_poll *p)
{
    int64_t from = (p->listed_ms ? p->listed_ms : p->clock_ms) - OVERLAP_MS;
    return from > 1 ? from : 1; /* 0 would list what is not finished, too */
}

static void begin_apps(struct rm_poll *p)
{
    rm_apps_begin(p->apps, (size_t)p->def.max_apps);
    ask_apps(p);
}

/* The list of ended ones as far as it lies before what was asked for. */
struct reach {
    struct obj obj;
    int64_t begin_ms;
    bool is_back; /* it has one from before begin_ms */
};

static void note_reach(void *arg, const struct rm_listed *app)
{
    struct reach *r = obj_cast(arg, struct reach, REACH_MAGIC);
    r->is_back = r->is_back || (app->is_ended && app->finished_ms <= r->begin_ms);
}

static void on_oldest(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct reach r = {.obj = {REACH_MAGIC}, .begin_ms = list_begin_ms(p)};
    struct err_info bad = *why;
    if (has_failed(p, err, a, why))
        return;
    if (rm_read_apps(a->body.bytes, a->body.len, note_reach, &r, &bad)) {
        give_up(p, &bad);
        return;
    }
    if (!r.is_back)
        rm_apps_ask_all(p->apps);
    begin_apps(p);
}

static void expedite_app(void *arg, const struct rm_listed *app)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    hear(p, app->id);
    rm_apps_expedite(p->apps, app->id);
}

/* The RM evicts what ended first: while its list has one from before the part that was read, that part is whole. */
static void on_finished(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct err_info bad = *why;
    if (has_failed(p, err, a, why))
        return;
    if (rm_read_apps(a->body.bytes, a->body.len, expedite_app, p, &bad)) {
        give_up(p, &bad);
        return;
    }
    bool has_ended = p->metrics.n_ended_apps < 0 || p->metrics.n_ended_apps != p->n_ended;
    if (!p->listed_ms || !has_ended) {
        begin_apps(p); /* all are asked about anyway, or none can have been evicted */
        return;
    }
    mem_auto char *path = mem_fmt("/apps?states=FINISHED,FAILED,KILLED&finishedTimeEnd=%" PRId64
                                  "&limit=1&deSelects=resourceRequests",
                                  list_begin_ms(p));
    ask(p, path, on_oldest, p);
}

/* One list of applications that have started. */
struct greeting {
    struct obj obj;
    struct rm_poll *poll;
    struct map apps, users; /* of this list; sets */
};

/* A home for the user of each application that the list before did not have: it may have gone since it was made last. */
static void greet_app(void *arg, const struct rm_listed *app)
{
    struct greeting *g = obj_cast(arg, struct greeting, GREETING_MAGIC);
    struct rm_poll *p = g->poll;
    hear(p, app->id);
    bool is_old = app->is_ended && !p->listed_ms;
    map_set(&g->apps, app->id, p);
    if (is_old || !*app->user || map_get(&p->greeted, app->id) || map_get(&g->users, app->user))
        return;
    map_set(&g->users, app->user, p);
    mem_auto char *reason = mem_fmt("the RM has %s", app->id);
    struct cleanup_event event = {
        .kind = CLEANUP_APP_STORED, .subject = app->user, .reason = reason, .dry_run = p->def.dry_run};
    cleanup_event(p->def.cleanup, &event, NULL, NULL);
}

static void on_started(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct greeting g = {.obj = {GREETING_MAGIC}, .poll = p};
    struct err_info bad = *why;
    if (has_failed(p, err, a, why))
        return;
    if (rm_read_apps(a->body.bytes, a->body.len, greet_app, &g, &bad)) {
        give_up(p, &bad);
        return;
    }
    map_fini(&g.users, NULL);
    map_fini(&p->greeted, NULL);
    p->greeted = g.apps;
    mem_auto char *path = mem_fmt("/apps?finishedTimeBegin=%" PRId64
                                  "&states=FINISHED,FAILED,KILLED&deSelects=resourceRequests",
                                  list_begin_ms(p));
    ask(p, path, on_finished, p);
}

static void ask_started(struct rm_poll *p)
{
    /* The first time all that it knows, the ended ones too: whose ids it has issued is seen by them. */
    mem_auto char *path =
        p->listed_ms
            ? mem_fmt("/apps?startedTimeBegin=%" PRId64 "&deSelects=resourceRequests", list_begin_ms(p))
            : mem_str("/apps?deSelects=resourceRequests");
    ask(p, path, on_started, p);
}

/* An RM that does not show its nodes is followed all the same: absent containers mean less then. */
static void on_nodes(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct err_info bad = *why;
    struct map list = MAP_EMPTY;
    if (p->is_closing)
        return;
    err = check_answer(err, a, &bad);
    err = err ? err : rm_read_nodes(a->body.bytes, a->body.len, &list, &bad);
    rm_nodes_saw(p->nodes, p->metrics.n_nodes, err ? NULL : &list, run_now_ms());
    map_fini(&list, NULL);
    ask_started(p);
}

static void on_metrics(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct err_info bad = *why;
    if (has_failed(p, err, a, why))
        return;
    if (rm_read_metrics(a->body.bytes, a->body.len, &p->metrics, &bad)) {
        give_up(p, &bad);
        return;
    }
    if (rm_nodes_wants_list(p->nodes, p->metrics.n_nodes, run_now_ms())) {
        ask(p, "/nodes", on_nodes, p);
        return;
    }
    rm_nodes_saw(p->nodes, p->metrics.n_nodes, NULL, run_now_ms());
    ask_started(p);
}

/* ---- before: which RM is it? ---- */

static void on_before(void *arg, int err, const struct http_answer *a, const struct err_info *why);

static void ask_before(struct rm_poll *p)
{
    p->n_tried++;
    ask(p, "/info", on_before, p);
}

/* How much of the time in which nodes come back has passed. One RM alone has been active since it started; of several, this one
 * may have taken over a moment ago, and one that was not heard may have been hung. */
static int64_t passed_ms(const struct rm_poll *p, bool is_first)
{
    int64_t age_ms = p->clock_ms - p->before.started_on;
    return is_first && p->n_urls == 1 && age_ms > 0 ? age_ms : 0;
}

/* Another RM, or another start of it: what was seen before does not count any more. */
static void note_rm(struct rm_poll *p)
{
    bool is_first = p->now.started_on == 0, is_heard_again = !p->is_up;
    bool is_same = p->now.started_on == p->before.started_on && p->now_at == p->at;
    if (!is_same)
        log_emit(&ev_rm_followed, LOG_STR("url", p->urls[p->at]),
                 LOG_INT("started_on_ms", p->before.started_on));
    if (!is_same || is_heard_again)
        rm_nodes_restart(p->nodes, passed_ms(p, is_first));
    p->is_up = true;
    if (is_same)
        return;
    p->now = p->before;
    p->now_at = p->at;
    p->listed_ms = 0;
    rm_apps_restart(p->apps);
}

static void on_before(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    struct err_info bad = *why;
    if (p->is_closing)
        return;
    err = check_answer(err, a, &bad);
    err = err ? err : rm_read_info(a->body.bytes, a->body.len, &p->before, &bad);
    if (!err && !p->before.is_active)
        err = err_set(&bad, ERR_UNAVAILABLE, p->urls[p->at], "the resource manager is not active");
    if (!err) {
        p->clock_ms = answer_clock_ms(a);
        note_rm(p);
        ask(p, "/metrics", on_metrics, p);
        return;
    }
    p->at = (p->at + 1) % p->n_urls;
    if (p->n_tried < p->n_urls)
        ask_before(p);
    else
        give_up(p, &bad);
}

static void poll_begin(void *arg)
{
    struct rm_poll *p = obj_cast(arg, struct rm_poll, POLL_MAGIC);
    /* Without the store nothing could be purged, and the index may be behind. */
    if (!mirror_ready(p->def.mirror) || mirror_stale(p->def.mirror) || !index_ready(p->def.index)) {
        wait_for_next(p);
        return;
    }
    p->n_tried = 0;
    ask_before(p);
}

/* ---- life ---- */

static const struct outage_def rm_outage = {"resource-manager", &ev_rm_lost,  &ev_rm_still_lost,
                                            &ev_rm_back,        M_MANAGER_UP, M_MANAGER_SINCE};

struct rm_poll *rm_poll_new(const struct rm_poll_def *def)
{
    struct rm_poll *p = mem_new(struct rm_poll);
    obj_init(&p->obj, POLL_MAGIC);
    p->def = *def;
    p->outage = outage_new(def->outages, &rm_outage);
    while (def->urls[p->n_urls])
        p->n_urls++;
    BUG_IF(!p->n_urls);
    p->urls = mem_array(p->n_urls, sizeof *p->urls);
    for (size_t i = 0; i < p->n_urls; i++)
        p->urls[i] = mem_str(def->urls[i]);
    p->def.urls = NULL;
    p->issued = rm_issued_open(def->loop, def->data_dir, def->urls);
    p->def.data_dir = NULL;
    p->client = http_client_new(def->loop);
    p->timer = run_timer_new(def->loop, poll_begin, p);
    p->apps = rm_apps_new(def->index);
    p->nodes = rm_nodes_new(def->node_expiry_ms, def->node_settle_ms);
    run_timer_start(p->timer, 0, 0);
    return p;
}

void rm_poll_free(struct rm_poll *p)
{
    if (!p)
        return;
    p->is_closing = true;
    http_client_free(p->client);
    run_timer_free(p->timer);
    rm_apps_free(p->apps);
    rm_nodes_free(p->nodes);
    rm_issued_free(p->issued);
    free(p->heard);
    map_fini(&p->greeted, NULL);
    for (size_t i = 0; i < p->n_urls; i++)
        free(p->urls[i]);
    free(p->urls);
    obj_fini(&p->obj);
    free(p);
}

size_t rm_poll_n_watched(const struct rm_poll *p)
{
    return p ? rm_apps_n_watched(p->apps) : 0;
}
