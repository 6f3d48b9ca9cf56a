/**
 * Leases: a PUT with ttl, renewals, and how long a lease lasts. A registryd that does not keep the leases passes a request on to
 * the one that does: it carries the owner's key, and no rights of ours.
 */
#include "api/api.h"
#include "api/routes.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "json/members.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RENEWAL_MAGIC OBJ_MAGIC('R', 'N', 'E', 'W')

#define FORWARDED          "Bobbin-Forwarded"
#define FORWARD_TIMEOUT_MS 5000
#define RETRY_AFTER_S      "1"

/* ---- PUT with ttl ---- */

int api_lease_read(struct api *api, struct http_req *req, const char *path, struct api_lease *out,
                   struct err_info *why)
{
    const char *key = http_header(req, "X-Bobbin-Lease");
    if (!http_param_given(req, PUT_TTL))
        return key ? err_set(why, ERR_USAGE, "X-Bobbin-Lease", "a lease needs ttl, too") : 0;
    int64_t ttl_ms = http_param_ms(req, PUT_TTL);
    int err = leases_check(api->leases, ttl_ms, why);
    if (!err && key)
        err = lease_key_check(key, why);
    if (err)
        return err;
    if (key)
        snprintf(out->key, sizeof out->key, "%s", key);
    else
        lease_key_make(out->key);
    out->ttl_ms = ttl_ms;
    lease_node_init(&out->node, out->key, path, ttl_ms);
    return 0;
}

void api_lease_fini(struct api_lease *l)
{
    lease_node_fini(&l->node);
}

/* ---- requests to the keeper ---- */

/** A request that waits for the store, or for the registryd that keeps. */
struct renewal {
    struct obj obj;
    struct api *api;
    struct http_req *req; /* NULL: the client has gone */
    char *key;            /* NULL: it asks for a path's lease */
    struct http_call *call;
};

static void renewal_free(struct renewal *n)
{
    free(n->key);
    obj_fini(&n->obj);
    free(n);
}

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct renewal, RENEWAL_MAGIC)->req = NULL;
}

static struct renewal *renewal_new(struct api *api, struct http_req *req, const char *key)
{
    struct renewal *n = mem_new(struct renewal);
    obj_init(&n->obj, RENEWAL_MAGIC);
    n->api = api;
    n->req = req;
    n->key = mem_str(key);
    http_reply_later(req, on_client_gone, n);
    return n;
}

static void refuse_for_now(struct api *api, struct http_req *req, int err, const struct err_info *why)
{
    if (err == ERR_UNAVAILABLE)
        http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    api_refuse(api, req, err, why);
}

static void on_forwarded(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct renewal *n = obj_cast(arg, struct renewal, RENEWAL_MAGIC);
    struct err_info whose = {0};
    struct buf body = BUF_EMPTY;
    if (n->req && err) {
        err_set(&whose, ERR_UNAVAILABLE, "lease", "the registryd that keeps the leases does not answer: %s",
                why->text);
        refuse_for_now(n->api, n->req, ERR_UNAVAILABLE, &whose);
    } else if (n->req) {
        buf_add(&body, answer->body.bytes, answer->body.len);
        http_reply(n->req, answer->status, answer->header(answer, "Content-Type"), &body);
    }
    renewal_free(n);
}

/* Pass it on. @return false: nobody is known who keeps. */
static bool forward(struct api *api, struct http_req *req, const char *query)
{
    static const char *const headers[] = {FORWARDED ": 1", NULL};
    const char *url = leases_keeper_url(api->leases);
    size_t len;
    const char *body = http_body(req, &len);
    if (!*url || http_header(req, FORWARDED))
        return false;
    mem_auto char *whole = mem_fmt("%s%s%s", url, http_raw_path(req), query);
    struct renewal *n = renewal_new(api, req, NULL);
    n->call = http_call(api->http, &(struct http_call_def){.method = http_method(req),
                                                           .url = whole,
                                                           .headers = headers,
                                                           .body = len ? body : NULL,
                                                           .body_len = len,
                                                           .timeout_ms = FORWARD_TIMEOUT_MS,
                                                           .no_follow = true,
                                                           .done = on_forwarded,
                                                           .arg = n});
    return true;
}

/* ---- renewing ---- */

static void reply_renewed(struct http_req *req, struct lease_renewal *r)
{
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    jw_kint(&w, "living", (int64_t)r->n_records);
    jw_kint(&w, "ttl", r->ttl_ms);
    jw_key(&w, "gone");
    jw_array(&w);
    for (size_t i = 0; r->gone && r->gone[i]; i++)
        jw_str(&w, r->gone[i]);
    jw_array_end(&w);
    jw_object_end(&w);
    http_reply(req, 200, "application/json", &body);
    reg_path_split_free(r->gone);
}

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    struct renewal *n = obj_cast(arg, struct renewal, RENEWAL_MAGIC);
    struct lease_renewal r;
    struct err_info whose = why ? *why : (struct err_info){0};
    if (n->req && !err)
        err = leases_renew(n->api->leases, n->key, true, &r, &whose);
    if (n->req && err)
        refuse_for_now(n->api, n->req, err, &whose);
    else if (n->req)
        reply_renewed(n->req, &r);
    renewal_free(n);
}

static int read_key(struct http_req *req, json_t **doc, const char **key, struct err_info *why)
{
    size_t len;
    const char *body = http_body(req, &len);
    int err = json_read(body, len, doc, why);
    if (err)
        return err;
    *key = json_string_value(json_object_get(*doc, "lease"));
    if (!*key || json_object_size(*doc) != 1)
        return err_set(why, ERR_INVALID, "/lease", "a renewal is {\"lease\":KEY} and nothing else");
    return lease_key_check(*key, why);
}

void api_renew(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    json_auto json_t *doc = NULL;
    const char *key = NULL;
    struct err_info why;
    struct lease_renewal r;
    int err = read_key(req, &doc, &key, &why);
    if (!err)
        err = leases_renew(api->leases, key, false, &r, &why);
    else {
        api_refuse(api, req, err, &why);
        return;
    }
    if (!err)
        reply_renewed(req, &r);
    else if (err == ERR_NOTFOUND)
        leases_load(api->leases, key, on_loaded, renewal_new(api, req, key));
    else if (!forward(api, req, ""))
        refuse_for_now(api, req, err, &why);
}

/* ---- reading ---- */

static void reply_lease(struct http_req *req, const char *path, int64_t ttl_ms, int64_t left_ms)
{
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    jw_kstr(&w, "path", path);
    jw_kint(&w, "ttl", ttl_ms);
    jw_kint(&w, "remaining", left_ms);
    jw_object_end(&w);
    http_reply(req, 200, "application/json", &body);
}

static bool forward_reading(struct api *api, struct http_req *req, const char *path)
{
    buf_auto struct buf query = BUF_EMPTY;
    buf_add_str(&query, "?path=");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        buf_addf(&query, "%%%02X", *p);
    return forward(api, req, buf_cstr(&query));
}

void api_lease(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    mem_auto char *path = NULL;
    struct err_info why;
    int64_t ttl_ms, left_ms;
    int err = reg_path_normal(http_param_text(req, LEASE_PATH), &path, &why);
    if (err) {
        api_refuse(api, req, err, &why);
    } else if (!leases_is_keeper(api->leases)) {
        err_set(&why, ERR_UNAVAILABLE, path, "no registryd keeps the leases now; try again in a moment");
        if (!forward_reading(api, req, path))
            refuse_for_now(api, req, ERR_UNAVAILABLE, &why);
    } else if (leases_of_path(api->leases, path, &ttl_ms, &left_ms)) {
        reply_lease(req, path, ttl_ms, left_ms);
    } else {
        err_set(&why, ERR_NOTFOUND, path, "no record with a lease is there");
        api_refuse(api, req, ERR_NOTFOUND, &why);
    }
}
