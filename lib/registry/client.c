/**
 * The operations over REST. See registry.h.
 *
 * A request is sent to the server that answered last; when it cannot be reached (or says it is not ready) the next one is
 * asked at once, and when all were asked, again after a pause, until the time of the operation is over. A write is sent
 * again only when it certainly was not done.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "registry/client_priv.h"
#include "registry/wire.h"

#define REQUEST_MAGIC    OBJ_MAGIC('R', 'E', 'Q', '1')
#define DEFAULT_URL      "http://127.0.0.1:9192"
#define DEFAULT_TIMEOUT  10000
#define DEFAULT_IDLE     15000
#define PAUSE_MIN_MS     50
#define PAUSE_MAX_MS     1000
#define TRY_MS           1000 /* a server that is given less time and says nothing proves nothing by it */
#define FACE             "/ws/v1/registry"
#define LEASE_UNKNOWN_MS 1000 /* of records that an earlier registry object has bound */
#define LOCATE_GIVE_UP   60000
#define LOCATE_PAUSE     200
#define LOCATE_PAUSE_MAX 5000

static const struct {
    const char *method;
    const char *face; /* after FACE, for operations that are not on the node of a path */
} kinds[] = {
    [REQUEST_MKNODE] = {"POST", NULL},
    [REQUEST_BIND] = {"PUT", NULL},
    [REQUEST_RESOLVE] = {"GET", NULL},
    [REQUEST_LOCATE] = {"GET", NULL},
    [REQUEST_STAT] = {"GET", NULL},
    [REQUEST_EXISTS] = {"GET", NULL},
    [REQUEST_LIST] = {"GET", NULL},
    [REQUEST_PAGE] = {"GET", NULL},
    [REQUEST_DELETE] = {"DELETE", NULL},
    [REQUEST_ACCESSOR] = {"GET", NULL},
    [REQUEST_FIND] = {"GET", "-find"},
    [REQUEST_PURGE] = {"POST", "-admin/purge"},
    [REQUEST_HOME] = {"POST", "-admin/users"},
    [REQUEST_REPORT] = {"POST", "-admin/events"},
    [REQUEST_RENEW] = {"POST", "-lease"},
};

/* ---- URLs ---- */

void client_percent(const char *text, const char *keep, struct buf *out)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++) {
        if (strchr(unreserved, *text) || strchr(keep, *text))
            buf_add_char(out, *text);
        else
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

static char *url_of(const struct reg *r, const char *face, const char *path, const char *query)
{
    buf_auto struct buf url = BUF_EMPTY;

    buf_addf(&url, "%s" FACE "%s", r->urls[r->url_at], face);
    client_percent(path, "/", &url);
    buf_addf(&url, "?user.name=%s%s%s", r->user, query[0] ? "&" : "", query);
    return buf_take(&url);
}

char *client_url(const struct reg *r, const char *path, const char *query)
{
    return url_of(r, "", path, query);
}

const char *reg_server(const struct reg *r)
{
    return r->urls[r->url_at];
}

void client_next_server(struct reg *r, size_t url_at)
{
    if (r->url_at == url_at)
        r->url_at = (url_at + 1) % r->n_urls;
}

int64_t client_jitter(struct reg *r, int64_t low, int64_t high)
{
    r->random = hash_bytes(&r->random, sizeof r->random);
    return low + (int64_t)(r->random % (uint64_t)(high - low + 1));
}

/* ---- the end of a request ---- */

static void request_finish(struct request *q, int err)
{
    if (err && q->why.code == 0)
        err_set(&q->why, err, q->path, "%s", err_text(err));
    TAILQ_REMOVE(&q->reg->requests, q, link);
    run_timer_free(q->timer);
    q->done(q->arg, err, &q->result, &q->why);
    wire_node_fini(&q->node);
    wire_many_fini(&q->many);
    free(q->path);
    free(q->query);
    free(q->body);
    free(q->api);
    free(q->terms);
    obj_fini(&q->obj);
    free(q);
}

static void fill_list(struct request *q, struct reg_status *list)
{
    for (size_t i = 0; i < q->node.n_names; i++)
        list[i].path = q->node.names[i];
    q->result.list = list;
    q->result.n_list = q->node.n_names;
}

/** The whole answer is there: report it as the operation has it. */
static void request_succeed(struct request *q, int status)
{
    mem_auto struct reg_status *list = mem_array(q->node.n_names + 1, sizeof *list);
    int err = 0;

    q->why = (struct err_info){0};
    q->result.status = q->node.status;
    switch (q->kind) {
    case REQUEST_MKNODE: q->result.changed = q->node.created; break;
    case REQUEST_BIND:
        q->result.changed = status == 201;
        if (q->lease_ttl_ms)
            lease_bound(q->reg, q->lease_ttl_ms);
        break;
    case REQUEST_DELETE: q->result.changed = q->node.deleted; break;
    case REQUEST_EXISTS: q->result.changed = true; break;
    case REQUEST_STAT: break;
    case REQUEST_ACCESSOR: q->result.changed = q->is_secure; break;
    case REQUEST_LIST:
    case REQUEST_PAGE: fill_list(q, list); break;
    case REQUEST_FIND:
    case REQUEST_PURGE:
    case REQUEST_HOME:
    case REQUEST_RENEW:
    case REQUEST_REPORT: break; /* client_take_many has filled the result */
    case REQUEST_LOCATE:
    case REQUEST_RESOLVE:
        q->result.record = q->node.record;
        if (!q->node.record && q->node.invalid)
            err = err_set(&q->why, ERR_RECORD, q->path, "%s", q->node.invalid);
        else if (!q->node.record)
            err = err_set(&q->why, ERR_NORECORD, q->path, "the node holds no record");
        break;
    }
    request_finish(q, err);
}

/* ---- sending ---- */

static void request_send(struct request *q);

static bool may_send(const struct reg *r)
{
    return !r->may_send || r->may_send(r->may_send_arg);
}

static void on_pause_over(void *arg)
{
    struct request *q = obj_cast(arg, struct request, REQUEST_MAGIC);

    if (!q->err && q->n_tries > 0 && !may_send(q->reg)) {
        q->why = q->before;
        q->err = q->why.code ? q->why.code : err_set(&q->why, ERR_UNAVAILABLE, q->path, "it may not be sent");
    }
    if (q->err)
        request_finish(q, q->err);
    else
        request_send(q);
}

/** Not reachable: the next server, or all of them again after a pause; @return false when the time is over. */
static bool request_retry(struct request *q)
{
    struct reg *r = q->reg;
    int64_t left_ms = q->deadline_ms - run_now_ms();
    int64_t pause_ms = 0;

    client_next_server(r, q->url_at);
    if (q->n_tries % r->n_urls == 0) {
        pause_ms = client_jitter(r, q->pause_ms / 2, q->pause_ms);
        q->pause_ms = backoff_next(q->pause_ms, PAUSE_MIN_MS, PAUSE_MAX_MS);
    }
    if (left_ms <= pause_ms)
        return false;
    run_timer_start(q->timer, (uint64_t)pause_ms, 0);
    return true;
}

/** Nothing there yet: again after a pause; @return false when the time is over. */
static bool locate_again(struct request *q)
{
    int64_t pause_ms = client_jitter(q->reg, q->pause_ms / 2, q->pause_ms);

    if (q->deadline_ms - run_now_ms() <= pause_ms)
        return false;
    q->pause_ms = backoff_next(q->pause_ms, LOCATE_PAUSE, LOCATE_PAUSE_MAX);
    run_timer_start(q->timer, (uint64_t)pause_ms, 0);
    return true;
}

static bool is_reachable(const struct reg_record *record, const char *api)
{
    const struct reg_endpoint *external = reg_record_external(record, api);
    const struct reg_endpoint *internal = reg_record_internal(record, api);

    return (external && external->n_addresses) || (internal && internal->n_addresses);
}

/** Why a locate must ask again, or NULL. */
static const char *locate_missing(const struct request *q, int err)
{
    if (err == ERR_NOTFOUND)
        return "there is no such node";
    if (!q->node.record)
        return "the node holds no record";
    if (q->api && !is_reachable(q->node.record, q->api))
        return "the record has no address for the API that is wanted";
    return NULL;
}

/** The time is over, between two tries or in one that came to nothing: the one before it says why. */
static void request_give_up(struct request *q)
{
    q->why = q->before;
    request_finish(q, q->before.code);
}

static void locate_answered(struct request *q, int err)
{
    const char *missing = locate_missing(q, err);

    if (!missing) {
        request_succeed(q, 200);
        return;
    }
    err_set(&q->before, ERR_TIMEOUT, q->path, "nothing to be found in time: %s", missing);
    wire_node_fini(&q->node);
    if (!locate_again(q))
        request_give_up(q);
}

static bool is_read(const struct request *q)
{
    return strcmp(kinds[q->kind].method, "GET") == 0;
}

/** The last try was not answered: whether the caller gets the error of an earlier one. A write that was sent may be done. */
static bool reports_before(const struct request *q)
{
    return is_read(q) && q->before.code && (q->kind == REQUEST_LOCATE || q->try_ms < TRY_MS);
}

/** The last try was cut by the end of the time: what was wrong before says more than that. */
static void name_before(struct request *q)
{
    const struct err_info cut = q->why;

    if (q->before.code)
        err_set(&q->why, cut.code, cut.where, "%s; before that: %s", cut.text, q->before.text);
}

static void take_headers(struct request *q, const struct http_answer *answer)
{
    const char *revision = answer->header(answer, "Bobbin-Revision");
    const char *applied = answer->header(answer, "Bobbin-Applied");
    const char *secure = answer->header(answer, "Bobbin-Secure");

    if (revision && strlen(revision) < sizeof q->result.revision)
        memcpy(q->result.revision, revision, strlen(revision) + 1);
    q->is_secure = secure && strcmp(secure, "true") == 0;
    q->result.applied = !is_read(q) && !(applied && strcmp(applied, "false") == 0);
}

/** The answer came in part: ask for the rest, with the same terms. */
static void request_continue(struct request *q, const char *cursor)
{
    struct buf query = BUF_EMPTY;

    if (q->terms)
        buf_addf(&query, "%s&", q->terms);
    buf_add_str(&query, "cursor=");
    client_percent(cursor, "", &query);
    free(q->query);
    q->query = buf_take(&query);
    request_send(q);
}

/** The answer cannot be read: who answers may be another program. */
static void request_misread(struct request *q, int err, const struct http_answer *answer)
{
    const struct wire_asked asked = {.url = answer->url, .program = PROGRAM};

    if (err == ERR_JSON)
        wire_not_readable(&asked, &q->why);
    request_finish(q, err);
}

static void many_answered(struct request *q, const struct http_answer *answer, const char *body)
{
    int err = client_take_many(q, body, answer->body.len);

    if (err)
        request_misread(q, err, answer);
    else if (q->many.cursor)
        request_continue(q, q->many.cursor);
    else
        request_succeed(q, answer->status);
}

static void request_answered(struct request *q, const struct http_answer *answer, const char *body)
{
    if (kinds[q->kind].face) {
        many_answered(q, answer, body);
        return;
    }
    bool with_record = q->kind == REQUEST_RESOLVE || q->kind == REQUEST_LOCATE;
    int err = wire_read_node(body, answer->body.len, with_record, &q->node, &q->why);
    if (err)
        request_misread(q, err, answer);
    else if (q->kind == REQUEST_LOCATE)
        locate_answered(q, 0);
    else if (q->kind == REQUEST_LIST && q->node.cursor)
        request_continue(q, q->node.cursor);
    else
        request_succeed(q, answer->status);
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct request *q = obj_cast(arg, struct request, REQUEST_MAGIC);
    const char *body = answer->body.bytes ? answer->body.bytes : "";
    const struct wire_asked asked = {answer->url, PROGRAM, !is_read(q), q->reg->is_gateway};
    const bool is_cut = err && run_now_ms() >= q->deadline_ms;

    q->call = NULL;
    q->why = err ? *why : (struct err_info){0};
    if (!err && answer->status >= 300)
        err = wire_read_problem(answer->status, body, answer->body.len, &asked, &q->why);
    if (err == ERR_UNAVAILABLE && !is_cut)
        q->before = q->why;
    if ((err == ERR_UNAVAILABLE || (err == ERR_TIMEOUT && is_read(q))) && request_retry(q))
        return;
    if (!err || answer->status >= 300)
        take_headers(q, answer);
    if (!err) {
        request_answered(q, answer, body);
    } else if (err == ERR_NOTFOUND && q->kind == REQUEST_LOCATE) {
        locate_answered(q, err);
    } else if (err == ERR_TIMEOUT && reports_before(q)) {
        request_give_up(q);
    } else if (err == ERR_TIMEOUT || is_cut) {
        name_before(q);
        request_finish(q, err);
    } else if (err == ERR_NOTFOUND && q->kind == REQUEST_EXISTS) {
        q->why = (struct err_info){0};
        request_finish(q, 0);
    } else {
        request_finish(q, err);
    }
}

/** Header that lets others write the node that is made; NULL: none. */
static char *creation_header(const struct request *q)
{
    bool makes = q->kind == REQUEST_MKNODE || q->kind == REQUEST_BIND;

    return makes && q->reg->creations.len
               ? mem_fmt("X-Bobbin-Write-Accessors: %s", buf_cstr(&q->reg->creations))
               : NULL;
}

static void request_send(struct request *q)
{
    struct reg *r = q->reg;
    const char *face = kinds[q->kind].face;
    mem_auto char *url = url_of(r, face ? face : "", face ? "" : q->path, q->query);
    int64_t left_ms = q->deadline_ms - run_now_ms();
    mem_auto char *creations = creation_header(q);
    mem_auto char *lease = q->lease_ttl_ms ? mem_fmt("X-Bobbin-Lease: %s", r->lease) : NULL;
    const char *const some[] = {r->accessor_header, creations, lease};
    const char *headers[ARRAY_LEN(some) + 1] = {NULL};
    for (size_t i = 0, n = 0; i < ARRAY_LEN(some); i++)
        if (some[i])
            headers[n++] = some[i];
    struct http_call_def def = {.method = kinds[q->kind].method,
                                .url = url,
                                .headers = headers,
                                .no_follow = r->accessor_header || lease || q->kind == REQUEST_RENEW,
                                .body = q->body,
                                .body_len = q->body_len,
                                .done = on_answer,
                                .arg = q};

    if (left_ms < 1)
        left_ms = 1;
    /* A server that takes the request and says nothing must leave time for the next one. */
    def.timeout_ms = is_read(q) && r->n_urls > 1 && left_ms > 1 ? left_ms / 2 : left_ms;
    q->try_ms = def.timeout_ms;
    q->n_tries++;
    q->url_at = r->url_at;
    q->call = http_call(r->http, &def);
}

struct request *client_request(struct reg *r, enum request_kind kind, const char *path, REG_DONE, void *arg)
{
    struct request *q = mem_new(struct request);

    obj_init(&q->obj, REQUEST_MAGIC);
    q->reg = r;
    q->kind = kind;
    q->done = done;
    q->arg = arg;
    q->deadline_ms = run_now_ms() + r->timeout_ms;
    q->pause_ms = PAUSE_MIN_MS;
    q->timer = run_timer_new(r->loop, on_pause_over, q);
    TAILQ_INSERT_TAIL(&r->requests, q, link);
    q->err = reg_path_normal(path, &q->path, &q->why);
    return q;
}

void client_start(struct request *q, char *take_query)
{
    q->query = take_query;
    if (q->err)
        run_timer_start(q->timer, 0, 0);
    else
        request_send(q);
}

void client_cancel(struct request *q)
{
    if (q->call)
        http_call_cancel(q->call);
    else
        request_finish(q, ERR_CANCELLED);
}

/* ---- operations ---- */

void reg_mknode(struct reg *r, const char *path, bool create_parents, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_MKNODE, path, done, arg);

    client_start(q, mem_fmt("op=mknode%s", create_parents ? "&createParents=true" : ""));
}

void reg_bind(struct reg *r, const char *path, const struct reg_record *record, unsigned flags, REG_DONE,
              void *arg)
{
    client_bind(r, path, record, flags, 0, done, arg);
}

void client_bind(struct reg *r, const char *path, const struct reg_record *record, unsigned flags,
                 int64_t ttl_ms, REG_DONE, void *arg)
{
    mem_auto char *ttl = ttl_ms ? mem_fmt("&ttl=%" PRId64 "ms", ttl_ms) : mem_str("");
    struct request *q = client_request(r, REQUEST_BIND, path, done, arg);

    if (!q->err && !record)
        q->err = err_set(&q->why, ERR_INVALID, q->path, "no record given");
    if (!q->err)
        q->err = reg_record_check(record, &q->why);
    if (!q->err)
        q->body = reg_record_write(record, &q->body_len);
    q->lease_ttl_ms = ttl_ms;
    client_start(q, mem_fmt("overwrite=%s%s%s", flags & REG_OVERWRITE ? "true" : "false",
                            flags & REG_CREATE_PARENTS ? "&createParents=true" : "", ttl));
}

void reg_resolve(struct reg *r, const char *path, REG_DONE, void *arg)
{
    client_start(client_request(r, REQUEST_RESOLVE, path, done, arg), mem_str("limit=1"));
}

void reg_locate(struct reg *r, const struct reg_locate *what, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_LOCATE, what->path, done, arg);

    q->api = mem_str(what->api);
    q->deadline_ms = run_now_ms() + (what->give_up_ms > 0 ? what->give_up_ms : LOCATE_GIVE_UP);
    q->pause_ms = what->pause_ms > 0 ? what->pause_ms : LOCATE_PAUSE;
    client_start(q, mem_str("limit=1"));
}

void reg_stat(struct reg *r, const char *path, REG_DONE, void *arg)
{
    client_start(client_request(r, REQUEST_STAT, path, done, arg), mem_str("limit=1"));
}

void reg_exists(struct reg *r, const char *path, REG_DONE, void *arg)
{
    client_start(client_request(r, REQUEST_EXISTS, path, done, arg), mem_str("limit=1"));
}

void reg_list(struct reg *r, const char *path, REG_DONE, void *arg)
{
    client_start(client_request(r, REQUEST_LIST, path, done, arg), mem_str(""));
}

void reg_delete(struct reg *r, const char *path, unsigned flags, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_DELETE, path, done, arg);
    bool is_recursive = flags & REG_RECURSIVE, must_exist = flags & REG_MUST_EXIST;

    client_start(q, mem_fmt("%s%s%s", is_recursive ? "recursive=true" : "",
                            is_recursive && must_exist ? "&" : "", must_exist ? "mustExist=true" : ""));
}

/* ---- write accessors ---- */

static bool can_be_sent(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static int add_accessor(struct reg *r, const char *id, const char *password, struct err_info *why)
{
    mem_auto char *pair = mem_fmt("%s:%s", id ? id : "", password ? password : "");
    mem_auto char *digest = NULL;
    int err = reg_digest_id(pair, &digest, why);

    if (err)
        return err;
    if (strchr(digest, ',') || !can_be_sent(digest))
        return err_set(why, ERR_INVALID, NULL, "an id with a comma or control character cannot be sent");
    buf_addf(&r->creations, "%s%s", r->creations.len ? ", " : "", digest);
    return 0;
}

void reg_add_write_accessor(struct reg *r, const char *id, const char *password, REG_DONE, void *arg)
{
    struct request *q = client_request(r, REQUEST_ACCESSOR, "/", done, arg);

    q->err = add_accessor(r, id, password, &q->why);
    client_start(q, mem_str("limit=1"));
}

void reg_clear_write_accessors(struct reg *r)
{
    buf_clear(&r->creations);
}

/** Header that says whose accessor we hold. @return 0; ERR_IO, ERR_INVALID. */
static int read_accessor(const char *pair, char **out, struct err_info *why)
{
    mem_auto char *digest = NULL;

    *out = NULL;
    if (!pair)
        return 0;
    int err = reg_digest_id(pair, &digest, why);
    if (!err && !can_be_sent(pair))
        err = err_set(why, ERR_INVALID, NULL, "an id:password with a control character cannot be sent");
    if (!err)
        *out = mem_fmt("X-Bobbin-Accessor: %s", pair);
    return err;
}

/* ---- opening and closing ---- */

static char *encoded_user(const char *name)
{
    mem_auto char *user = name ? mem_str(name) : reg_current_user();
    buf_auto struct buf b = BUF_EMPTY;

    client_percent(user, "", &b);
    return buf_take(&b);
}

/** A password is not sent in the clear. @return 0; ERR_INVALID. */
static int check_login(const struct reg_options *o, char *const *urls, struct err_info *why)
{
    for (size_t i = 0; o->password && urls[i]; i++) {
        if (!str_starts(urls[i], "https://"))
            return err_set(why, ERR_INVALID, urls[i], "a password is sent to https:// URLs only");
    }
    return 0;
}

static void sign_in(struct reg *r, const struct reg_options *o)
{
    mem_auto char *user = o->user ? mem_str(o->user) : reg_current_user();

    r->is_gateway = o->password != NULL;
    http_client_sign_in(r->http, &(struct http_login){user, o->password, o->ca_file});
}

int reg_open(struct run_loop *loop, const struct reg_options *options, struct reg **out, struct err_info *why)
{
    static const struct reg_options defaults = {0};
    const struct reg_options *o = options ? options : &defaults;
    char **urls = NULL;
    size_t n_urls = 0;
    struct reg *r;
    char *accessor = NULL;
    int err = read_accessor(o->accessor, &accessor, why);

    if (!err && o->lease && !lease_key_fits(o->lease))
        err = err_set(why, ERR_INVALID, "lease", "this is no key of a lease");
    err = err ? err : client_urls_read(o->url ? o->url : DEFAULT_URL, &urls, &n_urls, why);
    err = err ? err : check_login(o, urls, why);
    if (err) {
        client_urls_free(urls);
        free(accessor);
        return err;
    }
    r = mem_new(struct reg);
    obj_init(&r->obj, REG_MAGIC);
    r->loop = loop;
    r->http = http_client_new(loop);
    r->urls = urls;
    r->n_urls = n_urls;
    r->user = encoded_user(o->user);
    sign_in(r, o);
    r->accessor_header = accessor;
    r->lease = o->lease ? mem_str(o->lease) : lease_key_new();
    r->lease_ttl_ms = o->lease ? LEASE_UNKNOWN_MS : 0;
    r->may_send = o->may_send;
    r->may_send_arg = o->may_send_arg;
    r->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : DEFAULT_TIMEOUT;
    r->idle_ms = o->idle_ms > 0 ? o->idle_ms : DEFAULT_IDLE;
    r->random = (uint64_t)(uintptr_t)r ^ (uint64_t)run_now_us();
    TAILQ_INIT(&r->requests);
    TAILQ_INIT(&r->watches);
    *out = r;
    return 0;
}

void reg_close(struct reg *r)
{
    struct request *q;

    if (!r)
        return;
    obj_cast(r, struct reg, REG_MAGIC);
    reg_keep_alive_stop(r);
    while (!TAILQ_EMPTY(&r->watches))
        watch_drop(TAILQ_FIRST(&r->watches));
    while ((q = TAILQ_FIRST(&r->requests)))
        client_cancel(q);
    http_client_free(r->http);
    client_urls_free(r->urls);
    free(r->user);
    free(r->accessor_header);
    free(r->lease);
    buf_fini(&r->creations);
    obj_fini(&r->obj);
    free(r);
}
