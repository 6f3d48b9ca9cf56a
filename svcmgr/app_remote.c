#include "svcmgr/app_remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"
#include "yarn/ids.h"

#define REMOTE_MAGIC OBJ_MAGIC('A', 'R', 'M', 'T')
#define BODY_MAX     ((size_t)4 << 20)
#define TEXT_MAX     ((size_t)64 << 20)

/** A document that is asked for, of one server after the other. */
struct remote {
    struct obj obj;
    struct app *app;
    char **urls; /* n_urls of them */
    size_t n_urls, next;
    app_remote_done *done;
    void (*text_done)(void *arg, int err, struct buf *take_body); /* instead of done */
    void *arg;
    struct buf text; /* for text_done */
    bool is_too_big;
    struct http_call *call;
};

static void remote_free(struct remote *r)
{
    for (size_t i = 0; i < r->n_urls; i++)
        free(r->urls[i]);
    free(r->urls);
    buf_fini(&r->text);
    obj_fini(&r->obj);
    free(r);
}

static void finish(struct remote *r, int err, const json_t *doc, const struct err_info *why)
{
    if (r->text_done)
        r->text_done(r->arg, err, &r->text);
    else
        r->done(r->arg, doc, why);
    remote_free(r);
}

static void ask(struct remote *r);

static int refusal_of(int status)
{
    switch (status) {
    case 400: return ERR_PATH;
    case 401:
    case 403: return ERR_PERMISSION;
    case 404: return ERR_NOTFOUND;
    default: return ERR_UNAVAILABLE;
    }
}

/** Its JSON, when it answers 200 and that is wanted; else *why. */
static int read_answer(const struct remote *r, int err, const struct http_answer *answer, json_t **doc,
                       struct err_info *why)
{
    if (r->is_too_big)
        return err_set(why, ERR_TOOBIG, answer->url, "answers too much");
    if (err)
        return err;
    if (answer->status != 200)
        return err_set(why, refusal_of(answer->status), answer->url, "answers %d", answer->status);
    if (r->text_done)
        return 0;
    if (json_read(answer->body.bytes ? answer->body.bytes : "", answer->body.len, doc, NULL))
        return err_set(why, ERR_JSON, answer->url, "answers no JSON that can be read");
    return 0;
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct remote *r = obj_cast(arg, struct remote, REMOTE_MAGIC);
    struct err_info own = *why;
    json_auto json_t *doc = NULL;

    err = read_answer(r, err, answer, &doc, &own);
    bool may_try_another = err && err != ERR_CANCELLED && err != ERR_NOTFOUND && !r->app->is_ending;
    if (may_try_another && r->next < r->n_urls)
        ask(r);
    else
        finish(r, err, doc, &own);
}

static void on_text(void *arg, const char *bytes, size_t len)
{
    struct remote *r = obj_cast(arg, struct remote, REMOTE_MAGIC);

    r->is_too_big = len > TEXT_MAX - r->text.len;
    if (r->is_too_big)
        http_call_cancel(r->call);
    else
        buf_add(&r->text, bytes, len);
}

static void ask(struct remote *r)
{
    static const char *const headers[] = {"Accept: application/json", NULL};
    const struct http_call_def def = {.url = r->urls[r->next++],
                                      .headers = headers,
                                      .timeout_ms = REMOTE_TIMEOUT_MS,
                                      .max_body = BODY_MAX,
                                      .on_data = r->text_done ? on_text : NULL,
                                      .done = on_answer,
                                      .arg = r};

    r->text.len = 0;
    r->is_too_big = false;
    r->call = http_call(r->app->http, &def);
}

static struct remote *remote_new(struct app *a, app_remote_done *done, void *arg)
{
    struct remote *r = mem_new(struct remote);

    obj_init(&r->obj, REMOTE_MAGIC);
    r->app = a;
    r->done = done;
    r->arg = arg;
    return r;
}

static void add_url(struct remote *r, char *take_url)
{
    r->urls = mem_resize(r->urls, r->n_urls + 1, sizeof *r->urls);
    r->urls[r->n_urls++] = take_url;
}

void app_remote_get(struct app *a, const char *url, app_remote_done *done, void *arg)
{
    struct remote *r = remote_new(a, done, arg);

    add_url(r, mem_str(url));
    ask(r);
}

void app_registry_node(void *app, const char *path, const char *user, app_remote_done *done, void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    mem_auto char *base = str_field(opt_text(daemon_options(a->daemon), OPT_REGISTRY_URL), ',', 0);
    buf_auto struct buf url = BUF_EMPTY;

    buf_addf(&url, "%s/ws/v1/slider/registry/%s", base, path);
    if (user)
        http_query_add(&url, "user.name", user);
    app_remote_get(a, buf_cstr(&url), done, arg);
}

/* ---- where they are ---- */

static bool has_tls(const struct app *a)
{
    const char *policy = app_hadoop_key(daemon_options(a->daemon), "yarn.http.policy");

    return policy && strcmp(policy, "HTTPS_ONLY") == 0;
}

/** A host in a URL: an address of IPv6 in brackets. free() */
static char *write_url(const struct app *a, const char *host, unsigned port, const char *path)
{
    bool is_v6 = strchr(host, ':') != NULL;

    return mem_fmt("%s://%s%s%s:%u%s", has_tls(a) ? "https" : "http", is_v6 ? "[" : "", host,
                   is_v6 ? "]" : "", port, path);
}

/** Nothing in it ends a host in a URL. */
static bool is_plain_host(const char *host)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";

    return host[0] && host[strspn(host, chars)] == '\0';
}

char *app_remote_node_url(const struct app *a, const char *node_http)
{
    mem_auto char *host = NULL;
    uint16_t port = 0;

    if (addr_split_host_port(node_http, 0, &host, &port) || !port || !is_plain_host(host))
        return NULL;
    return write_url(a, host, port, "");
}

/** Ask the first one of the resource managers. It is freed with the answer. */
static void ask_rm(struct remote *r, const char *path)
{
    struct app *a = r->app;
    const struct options *o = daemon_options(a->daemon);
    const struct yarn_keys keys = app_yarn_keys(&o);
    struct yarn_addresses list = ADDRESSES_EMPTY;
    struct err_info why = {0};
    int err = yarn_rm_addresses(&keys, has_tls(a) ? YARN_RM_WEB_TLS : YARN_RM_WEB, &list, &why);

    if (err) {
        finish(r, err, NULL, &why);
        return;
    }
    for (size_t i = 0; i < list.n_items; i++)
        add_url(r, write_url(a, list.items[i].host, list.items[i].port, path));
    yarn_addresses_fini(&list);
    ask(r);
}

void app_remote_rm(struct app *a, const char *path, app_remote_done *done, void *arg)
{
    ask_rm(remote_new(a, done, arg), path);
}

void app_remote_rm_text(struct app *a, const char *path,
                        void (*done)(void *arg, int err, struct buf *take_body), void *arg)
{
    struct remote *r = remote_new(a, NULL, arg);

    r->text_done = done;
    ask_rm(r, path);
}

bool app_remote_is_of(const char *container_id, const char *application_id)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];

    return !yarn_container_id_parse(container_id, &id) &&
           strcmp(yarn_app_id_text(&id.attempt.app, text), application_id) == 0;
}
