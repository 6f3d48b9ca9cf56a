/**
 * The Slider API outside of its face: its configuration, records in the registry, and who answers on YARN.
 *
 *     svcmgr   what runs (live views, ping, action/upgrade) ──> the application master, once it has taken the orders given before
 *              all else: the documents, changes, the registry          answered here, as svcmgr alone writes what is wanted
 *     master   reads, ping                                             answered here
 *              changes ──> svcmgr: 307; passed on where the proxy of the resource manager asks
 *
 * Without a master (before it runs, after the end) svcmgr answers by what is stored.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "slider/kit.h"
#include "slider/routes.h"
#include "slider/site.h"
#include "slider/wait.h"
#include "svcmgr/app.h"
#include "svcmgr/app_forward.h"
#include "svcmgr/app_remote.h"
#include "svcmgr/options.h"

#define HOLD_MAGIC   OBJ_MAGIC('S', 'H', 'L', 'D')
#define SLIDER_CLASS "org-apache-slider" /* of the records of its applications */

/** A request that waits until the master has taken the orders given before it. */
struct hold {
    struct obj obj;
    TAILQ_ENTRY(hold) link;
    struct app *app;
    struct forward *forward;
    char *application;
    struct run_timer *limit;
};

/** What struct slider_site borrows. */
struct app_slider {
    struct slider_site site;
    char *own_url, *host;
    TAILQ_HEAD(, hold) holds;
};

static void hold_free(struct hold *h)
{
    TAILQ_REMOVE(&h->app->slider->holds, h, link);
    run_timer_free(h->limit);
    free(h->application);
    obj_fini(&h->obj);
    free(h);
}

void app_slider_open(struct app *a)
{
    const char *manager = opt_text(daemon_options(a->daemon), OPT_MASTER_MANAGER);
    struct app_slider *s = mem_new(struct app_slider);

    TAILQ_INIT(&s->holds);
    /* Where the application has its URL. */
    s->own_url = manager && strstr(manager, "://") ? mem_str(manager) : app_own_url(a);
    const char *host = strstr(s->own_url, "://") + 3;
    s->host = mem_strn(host, strcspn(host, ":/"));
    s->site = (struct slider_site){.own_url = s->own_url, .host = s->host};
    a->slider = s;
    a->face.slider = &s->site;
}

void app_slider_close(struct app *a)
{
    struct hold *h;

    if (!a->slider)
        return;
    while ((h = TAILQ_FIRST(&a->slider->holds))) {
        app_forward_fail(h->forward, ERR_CANCELLED, "svcmgr ends");
        hold_free(h);
    }
    free(a->slider->own_url);
    free(a->slider->host);
    free(a->slider);
    a->slider = NULL;
    a->face.slider = NULL;
}

/* ---- records ---- */

/** URL of the svcmgr that has the documents: of an application master's manager. free() */
static char *manager_url(const struct app *a)
{
    const char *url = opt_text(daemon_options(a->daemon), OPT_MASTER_MANAGER);

    return a->master && url ? mem_str(url) : app_own_url(a);
}

void app_slider_record(struct app *a, struct eng_effect *e)
{
    const struct eng_service *s = engine_find(a->engine, e->service_kind, e->user, e->name);
    struct eng_record *r = e->record;

    if (!s || strcmp(s->registry_class, SLIDER_CLASS) != 0)
        return;
    const struct eng_component *c = r->component ? eng_service_component(s, r->component) : NULL;
    mem_auto char *url = manager_url(a);
    if (r->component && !c)
        return; /* the record of an instance whose component has gone */
    free(r->description);
    r->description = mem_str(c ? eng_component_title(c) : "Slider Application Master");
    if (!c)
        r->slider_root = mem_fmt("%s/proxy/%s/", url, s->app_id);
}

/* ---- who runs it answers: svcmgr ---- */

#define READ_MS    10000
#define TAKEN_MS   5000 /* an application master that works takes an order much sooner */
#define PROXY_USER "proxy-user="

static void on_not_taken(void *arg)
{
    struct hold *h = obj_cast(arg, struct hold, HOLD_MAGIC);

    app_forward_fail(h->forward, ERR_UNAVAILABLE, "it has not taken the last request yet");
    hold_free(h);
}

void app_slider_changed(struct app *a)
{
    struct hold *h = TAILQ_FIRST(&a->slider->holds), *next;

    for (; h; h = next) {
        const struct eng_service *s = engine_find_application(a->engine, h->application);
        next = TAILQ_NEXT(h, link);
        if (s && s->n_orders > 0)
            continue;
        app_forward_start(h->forward);
        hold_free(h);
    }
}

static void hold(struct app *a, struct forward *take_f, const char *application)
{
    struct hold *h = mem_new(struct hold);

    obj_init(&h->obj, HOLD_MAGIC);
    h->app = a;
    h->forward = take_f;
    h->application = mem_str(application);
    h->limit = run_timer_new(a->loop, on_not_taken, h);
    run_timer_start(h->limit, TAKEN_MS, 0);
    TAILQ_INSERT_TAIL(&a->slider->holds, h, link);
}

/** No answer: its next attempt has one soon, or svcmgr itself once the application has ended. */
static void on_master_away(struct app *a, struct http_req *req, const char *who, int code, const char *text)
{
    mem_auto char *message = mem_fmt(
        "The application master of %s does not answer (%s). When it has ended YARN starts another one", who,
        text);

    (void)a;
    (void)code;
    slider_reply_error(req, 503, message);
}

/** For how long the answer of the master is waited for: for what the request wants to wait, and for the answer. */
static int64_t limit_ms(const struct http_req *req)
{
    const char *timeout = http_query(req, "timeout");
    int64_t wait_s = 0;

    if (timeout)
        (void)str_to_i64(timeout, 0, INT64_MAX, &wait_s); /* the master refuses what is wrong */
    (void)slider_wait_preferred(req, &wait_s);
    if (wait_s > SLIDER_WAIT_MAX_S)
        wait_s = SLIDER_WAIT_MAX_S;
    return READ_MS + wait_s * 1000;
}

static bool to_master(struct app *a, struct http_req *req, const struct eng_service *s)
{
    const struct eng_master *m = s->master;
    const char *path = strstr(http_raw_path(req), "/ws/v1/slider");

    if (!engine_is_away(a->engine, s) || !m || !m->url || !m->container_id || !s->app_id || !path ||
        !app_remote_is_of(m->container_id, s->app_id))
        return false;
    mem_auto char *url = mem_fmt("%s%s", m->url, path);
    mem_auto char *who = mem_fmt("%s (%s)", eng_service_title(s), s->app_id);
    struct forward *f = app_forward_new(a, req,
                                        &(struct forward_def){.url = url,
                                                              .application = s->app_id,
                                                              .timeout_ms = limit_ms(req),
                                                              .failed = on_master_away,
                                                              .who = who});
    if (s->n_orders > 0)
        hold(a, f, s->app_id);
    else
        app_forward_start(f);
    return true;
}

/** svcmgr names the application that it asks for, as an address may have become another master's. */
static bool is_of_another(struct http_req *req, const struct eng_service *s)
{
    const char *id = http_header(req, FORWARD_APPLICATION);

    if (!id || !s->app_id)
        return false;
    http_reply_header(req, FORWARD_APPLICATION, s->app_id);
    if (strcmp(id, s->app_id) == 0)
        return false;
    slider_reply_error(req, 404, "This is the application master of another application");
    return true;
}

bool app_slider_forward(void *app, struct http_req *req, const struct eng_service *s)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);

    if (a->role == ROLE_MASTER)
        return is_of_another(req, s);
    return a->role == ROLE_MANAGER && to_master(a, req, s);
}

/* ---- svcmgr changes it: an application master ---- */

static void on_manager_away(struct app *a, struct http_req *req, const char *who, int code, const char *text)
{
    mem_auto char *message =
        mem_fmt("svcmgr at %s, which makes changes, does not answer (%s)%s", who, text,
                code == ERR_UNAVAILABLE ? "" : ". Whether it has made this one is not known");

    (void)a;
    slider_reply_error(req, 503, message);
}

/** Who asks by the proxy of the resource manager, which has found that out. free(); NULL: nobody does */
static char *proxy_user(const struct http_req *req)
{
    const char *cookies = http_header(req, "Cookie"), *at = cookies ? strstr(cookies, PROXY_USER) : NULL;

    if (!at)
        return NULL;
    at += strlen(PROXY_USER);
    size_t len = strcspn(at, "; ");
    char *user = mem_array(len + 1, 1);
    bool is_text = str_unpercent(at, len, user) > 0 && utf8_valid(user, strlen(user));
    if (is_text)
        return user;
    free(user);
    return NULL;
}

/**
 * A change that came by the proxy of the resource manager, which follows no redirect of it, is passed on; any other is sent there, or passed on
 * as well where the switch says so, in the name of the user that it names.
 */
static void to_manager(struct http_req *req, void *face)
{
    struct app *a = obj_cast(obj_cast(face, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);
    const struct eng_service *s = slider_find(req, &a->face);
    mem_auto char *manager = manager_url(a);
    mem_auto char *user = proxy_user(req);
    buf_auto struct buf url = BUF_EMPTY;

    if (!s)
        return;
    buf_addf(&url, "%s/proxy/%s%s", manager, s->app_id, http_raw_path(req));
    if (!user && !opt_bool(daemon_options(a->daemon), OPT_SLIDER_INSECURE)) {
        slider_add_query(req, &url);
        slider_reply_redirect(req, 307, buf_cstr(&url));
        return;
    }
    app_forward_start(app_forward_new(a, req,
                                      &(struct forward_def){.url = buf_cstr(&url),
                                                            .user = user,
                                                            .timeout_ms = READ_MS,
                                                            .failed = on_manager_away,
                                                            .who = manager}));
}

static const struct http_route_answer changed[] = {
    {307, NULL, NULL, "To svcmgr."},
    {202, SLIDER_JSON, NULL,
     "What svcmgr answers to a request that came by the proxy of the resource manager."},
    {0}};

/** Whether it changes nothing, so that a master answers it itself. */
static bool is_read(const struct http_route *row)
{
    return strcmp(row->method, "GET") == 0 || row->handle == slider_ping;
}

size_t app_slider_master_routes(struct http_route *to)
{
    for (size_t i = 0; i < slider_n_routes; i++) {
        to[i] = slider_routes[i];
        to[i].pattern += strlen(SLIDER_PROXY);
        if (is_read(&to[i]))
            continue;
        to[i].handle = to_manager;
        to[i].answers = changed;
    }
    return slider_n_routes;
}
