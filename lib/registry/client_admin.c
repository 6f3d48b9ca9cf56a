/**
 * Operations over REST that are not on the node of one path: find, purge, homes, events. See registry.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/writer.h"
#include "registry/client_priv.h"

void reg_found_free(struct reg_found *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(found[i].path);
        reg_record_free(found[i].record);
        free(found[i].status.path);
    }
    free(found);
}

int client_take_many(struct request *q, const char *body, size_t len)
{
    int err = wire_read_many(body, len, &q->many, &q->why);

    if (err)
        return err;
    q->result.found = q->many.found;
    q->result.n_found = q->many.n_found;
    q->result.n_purged = q->many.n_purged;
    q->result.ttl_ms = q->many.ttl_ms;
    q->result.changed = q->many.created || q->many.n_purged > 0;
    if (!q->many.failed.code)
        return 0;
    q->why = q->many.failed;
    return q->why.code;
}

/** A missing text is an error that is reported later. */
static const char *need(struct request *q, const char *name, const char *text)
{
    if (!q->err && (!text || !*text))
        q->err = err_set(&q->why, ERR_INVALID, name, "this is needed");
    return text ? text : "";
}

static void take_body(struct request *q, struct buf *body)
{
    q->body_len = body->len;
    q->body = buf_take(body);
    client_start(q, mem_str(""));
}

/* ---- find ---- */

static void add_term(struct buf *query, const char *name, const char *value)
{
    if (!value)
        return;
    buf_addf(query, "%s%s=", query->len ? "&" : "", name);
    client_percent(value, "", query);
}

void reg_find(struct reg *r, const struct reg_find *what, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_FIND, "/", done, arg);
    struct buf query = BUF_EMPTY;

    add_term(&query, "api", what->api);
    add_term(&query, "protocol", what->protocol);
    add_term(&query, "user", what->user);
    add_term(&query, "class", what->service_class);
    add_term(&query, "component", what->component);
    add_term(&query, "id", what->id);
    q->terms = buf_take(&query);
    need(q, "what", q->terms);
    client_start(q, mem_str(q->terms));
}

/* ---- purge ---- */

void reg_purge(struct reg *r, const struct reg_purge *what, REG_DONE, void *arg)
{
    static const char *const policies[] = {[REG_PURGE_ALL] = "PurgeAll",
                                           [REG_PURGE_FAIL] = "FailOnChildren",
                                           [REG_PURGE_SKIP] = "SkipOnChildren"};
    struct request *q = client_request(r, REQUEST_PURGE, what->path ? what->path : "/", done, arg);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);

    jw_object(&w);
    jw_kstr(&w, "id", need(q, "id", what->id));
    jw_kstr(&w, "persistence", need(q, "persistence", what->persistence));
    jw_kstr(&w, "path", q->path ? q->path : "");
    jw_kstr(&w, "policy", policies[what->policy]);
    jw_kbool(&w, "dryRun", what->dry_run);
    jw_object_end(&w);
    take_body(q, &body);
}

/* ---- homes, events ---- */

void reg_user_home(struct reg *r, const char *user, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_HOME, "/", done, arg);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);

    jw_object(&w);
    jw_kstr(&w, "user", need(q, "user", user));
    jw_object_end(&w);
    take_body(q, &body);
}

void reg_report(struct reg *r, const struct reg_event *events, size_t n, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_REPORT, "/", done, arg);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);

    jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        jw_object(&w);
        jw_kstr(&w, "type", need(q, "type", events[i].type));
        jw_kstr(&w, "id", need(q, "id", events[i].id));
        jw_object_end(&w);
    }
    jw_array_end(&w);
    take_body(q, &body);
}
