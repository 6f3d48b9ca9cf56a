#include "http/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/obj.h"

#define CLIENT_MAGIC OBJ_MAGIC('H', 'C', 'L', 'I')
#define CALL_MAGIC   OBJ_MAGIC('H', 'C', 'A', 'L')
#define SOCK_MAGIC   OBJ_MAGIC('H', 'C', 'S', 'O')

#define CONNECT_TIMEOUT_MS 2000
#define LOGIN_TIMEOUT_MS   10000 /* to a gateway, which is far away, TLS included */
#define MAX_BODY           ((size_t)64 << 20)
#define MAX_REDIRECTS      8L
#define TURN_US            300 /* of what sockets bring in one turn of the loop, and one more */
/** Octets of one answer that are passed on piece by piece before the loop does its other work: some 1 ms of a change feed. */
#define PIECES_MAX ((size_t)64 << 10)

/** NEW: not handed to libcurl yet; OVER: `done` was called, to be removed as soon as libcurl is not on the stack. */
enum call_state { CALL_NEW, CALL_RUNNING, CALL_OVER };

struct http_call {
    struct obj obj;
    TAILQ_ENTRY(http_call) link;
    struct http_client *client;
    enum call_state state;
    bool is_added; /* libcurl knows the easy handle */
    CURL *easy;
    struct curl_slist *headers;
    char *method, *url;
    struct http_call_def def; /* its pointers are not used after http_call but for callbacks and arg */
    size_t max_body;
    struct http_file file; /* fd -1: none */
    int64_t file_at;       /* what of it has left */
    bool is_file_short;
    bool is_too_big;
    bool is_write;     /* its method may change something */
    bool is_sent;      /* it has begun to leave on a connection, and no answer to that has begun to come */
    bool is_answered;  /* an answer has begun to come */
    size_t pieces_len; /* passed on since the loop last had its round */
    bool is_paused;    /* until then nothing more is read */
    struct http_answer answer;
    struct run_timer *idle;
    int64_t last_byte_ms;
    char curl_text[CURL_ERROR_SIZE];
};

TAILQ_HEAD(call_list, http_call);

struct http_client {
    struct obj obj;
    struct run_loop *loop;
    CURLM *multi;
    struct run_timer *timer;
    struct run_timer *resume; /* runs while a call is paused */
    struct call_list calls;
    char *user, *password, *ca_file; /* of http_client_sign_in, or NULL */
    int depth;     /* how often we are inside libcurl or `done`; handles are added and removed at 0 only */
    uint64_t turn; /* of the loop, in which spent_us went to sockets */
    int64_t spent_us;
    bool is_dying;
};

/** A socket of libcurl's that the loop polls; frees itself after uv_close. */
struct http_sock {
    struct obj obj;
    struct http_client *client;
    uv_poll_t poll;
    curl_socket_t fd;
};

static void forget_login(struct http_client *c)
{
    free(c->user);
    free(c->password);
    free(c->ca_file);
}

/* ---- the end of a call ---- */

/** "host:port" of a URL; free(). */
static char *url_authority(const char *url)
{
    CURLU *u = curl_url();
    char *host = NULL, *port = NULL, *text = NULL;
    if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        text = mem_fmt("%s:%s", host, port);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
    return text ? text : mem_str("this address");
}

static int describe_timeout(struct http_call *call, const char *authority, struct err_info *why)
{
    long request_bytes = 0;
    curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    if (request_bytes == 0)
        return err_set(why, ERR_UNAVAILABLE, call->url,
                       "%s: %s does not answer: is the host up, and is the address right?", call->method,
                       authority);
    return err_set(why, ERR_TIMEOUT, call->url, "%s: no whole answer from %s within %lld ms%s", call->method,
                   authority, (long long)call->def.timeout_ms,
                   call->is_write ? ", and whether this was done is not known" : "");
}

static int describe_connect(struct http_call *call, const char *authority, struct err_info *why)
{
    long err = 0;
    curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &err);
    if (err == ECONNREFUSED)
        return err_set(why, ERR_UNAVAILABLE, call->url,
                       "%s: nothing listens at %s: is the server running, and is the address right?",
                       call->method, authority);
    return err_set(why, ERR_UNAVAILABLE, call->url, "%s: no connection to %s: %s", call->method, authority,
                   err ? strerror((int)err) : call->curl_text);
}

/** A lost write may have been done, unless nothing of it had left. */
static int describe_lost(struct http_call *call, const char *authority, const char *text,
                         struct err_info *why)
{
    if (!call->is_write || (!call->is_sent && !call->is_answered))
        return err_set(why, ERR_UNAVAILABLE, call->url, "%s: the connection to %s was lost: %s", call->method,
                       authority, text);
    return err_set(why, ERR_UNKNOWN_OUTCOME, call->url,
                   "%s: the connection to %s was lost before it answered, and whether this was done is not "
                   "known: look before you repeat it (%s)",
                   call->method, authority, text);
}

/** Turn libcurl's result into ours. @return ERR_* with *why filled. */
static int describe(struct http_call *call, CURLcode code, struct err_info *why)
{
    mem_auto char *authority = url_authority(call->url);
    const char *text = call->curl_text[0] ? call->curl_text : curl_easy_strerror(code);
    if (call->is_too_big)
        return err_set(why, ERR_TOOBIG, call->url, "%s: the answer is larger than %zu bytes", call->method,
                       call->max_body);
    if (call->is_file_short)
        return err_set(why, ERR_IO, call->url, "%s: of the file that is sent %lld of %lld bytes can be read",
                       call->method, (long long)call->file_at, (long long)call->file.len);
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return err_set(why, ERR_INVALID, call->url, "not an http:// or https:// URL: %s", text);
    case CURLE_COULDNT_RESOLVE_HOST:
        return err_set(why, ERR_UNAVAILABLE, call->url,
                       "%s: the host of %s is not known: check its spelling and the resolver", call->method,
                       authority);
    case CURLE_COULDNT_CONNECT: return describe_connect(call, authority, why);
    case CURLE_OPERATION_TIMEDOUT: return describe_timeout(call, authority, why);
    default: return describe_lost(call, authority, text, why);
    }
}

static void call_finish(struct http_call *call, int err, const struct err_info *why)
{
    if (call->state == CALL_OVER)
        return;
    call->state = CALL_OVER;
    run_timer_free(call->idle);
    call->idle = NULL;
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    call->answer.status = (int)status;
    call->def.done(call->def.arg, err, &call->answer, why);
}

static void call_free(struct http_call *call)
{
    TAILQ_REMOVE(&call->client->calls, call, link);
    if (call->is_added)
        curl_multi_remove_handle(call->client->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    buf_fini(&call->answer.body);
    free(call->method);
    free(call->url);
    obj_fini(&call->obj);
    free(call);
}

/* ---- entering and leaving libcurl ---- */

static void call_add(struct http_call *call)
{
    call->state = CALL_RUNNING;
    call->is_added = true;
    CURLMcode rc = curl_multi_add_handle(call->client->multi, call->easy);
    BUG_IF(rc != CURLM_OK);
}

/** Call `done` of what libcurl has finished. */
static void reap_messages(struct http_client *c)
{
    int n_left = 0;
    const CURLMsg *msg;
    while ((msg = curl_multi_info_read(c->multi, &n_left))) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        CURLcode code = msg->data.result;
        char *private = NULL;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &private);
        struct http_call *call = obj_cast(private, struct http_call, CALL_MAGIC);
        struct err_info why = {0};
        int err = call->state == CALL_OVER || code == CURLE_OK ? 0 : describe(call, code, &why);
        call_finish(call, err, &why);
    }
}

/** Remove what is over and start what is new. */
static void sweep_calls(struct http_client *c)
{
    struct http_call *call, *next;
    for (call = TAILQ_FIRST(&c->calls); call; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->state == CALL_OVER)
            call_free(call);
        else if (call->state == CALL_NEW)
            call_add(call);
    }
}

static void client_destroy(struct http_client *c)
{
    BUG_IF(!TAILQ_EMPTY(&c->calls));
    curl_multi_cleanup(c->multi);
    run_timer_free(c->timer);
    run_timer_free(c->resume);
    forget_login(c);
    obj_fini(&c->obj);
    free(c);
    curl_global_cleanup();
}

static void client_enter(struct http_client *c)
{
    c->depth++;
}

/** The outermost leave tidies up; c may be gone afterwards. */
static void client_leave(struct http_client *c)
{
    if (c->depth == 1) {
        reap_messages(c);
        sweep_calls(c);
    }
    c->depth--;
    if (c->depth == 0 && c->is_dying)
        client_destroy(c);
}

/* ---- libcurl's sockets and timer on the loop ---- */

static void on_timer(void *arg)
{
    struct http_client *c = obj_cast(arg, struct http_client, CLIENT_MAGIC);
    int n_running = 0;
    client_enter(c);
    curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &n_running);
    client_leave(c);
}

static int on_timeout_set(CURLM *multi, long timeout_ms, void *arg)
{
    struct http_client *c = obj_cast(arg, struct http_client, CLIENT_MAGIC);
    (void)multi;
    if (timeout_ms < 0)
        run_timer_stop(c->timer);
    else
        run_timer_start(c->timer, (uint64_t)timeout_ms, 0);
    return 0;
}

/* Many answers may come at once. A socket that is left as it is is ready in the next turn again, after those that were not. */
static bool is_turn_spent(struct http_client *c)
{
    uint64_t turn = run_loop_turns(c->loop).n;
    if (c->turn != turn)
        c->spent_us = 0;
    c->turn = turn;
    return c->spent_us >= TURN_US;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct http_sock *sock = obj_cast(poll->data, struct http_sock, SOCK_MAGIC);
    struct http_client *c = sock->client;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0, n_running = 0;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    if (status >= 0 && is_turn_spent(c))
        return;
    int64_t began_us = run_now_us();
    client_enter(c);
    curl_multi_socket_action(c->multi, sock->fd, flags, &n_running);
    c->spent_us += run_now_us() - began_us;
    client_leave(c);
}

static void on_sock_closed(uv_handle_t *poll)
{
    struct http_sock *sock = obj_cast(poll->data, struct http_sock, SOCK_MAGIC);
    obj_fini(&sock->obj);
    free(sock);
}

static struct http_sock *sock_new(struct http_client *c, curl_socket_t fd)
{
    struct http_sock *sock = mem_new(struct http_sock);
    obj_init(&sock->obj, SOCK_MAGIC);
    sock->client = c;
    sock->fd = fd;
    int rc = uv_poll_init_socket(run_loop_uv(c->loop), &sock->poll, fd);
    BUG_IF(rc != 0);
    sock->poll.data = sock;
    curl_multi_assign(c->multi, fd, sock);
    return sock;
}

/** libcurl says what it waits for on a socket. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *sock_arg)
{
    struct http_client *c = obj_cast(arg, struct http_client, CLIENT_MAGIC);
    struct http_sock *sock = sock_arg ? obj_cast(sock_arg, struct http_sock, SOCK_MAGIC) : NULL;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        curl_multi_assign(c->multi, fd, NULL);
        if (sock)
            uv_close((uv_handle_t *)&sock->poll, on_sock_closed);
        return 0;
    }
    if (!sock)
        sock = sock_new(c, fd);
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    uv_poll_start(&sock->poll, events, on_poll);
    return 0;
}

/* ---- bytes of an answer ---- */

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    (void)bytes;
    call->last_byte_ms = run_now_ms();
    call->is_sent = false;
    call->is_answered = true;
    return call->state == CALL_OVER ? 0 : size * n;
}

/**
 * A request is about to leave. libcurl sends one again by itself when the connection, one that was used before, ends without
 * a byte of an answer: as if the server had ended it before it read the request, which nobody knows. A write is not sent twice.
 */
static int on_leaving(void *arg, char *to_ip, char *from_ip, int to_port, int from_port)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    (void)to_ip;
    (void)from_ip;
    (void)to_port;
    (void)from_port;
    if (call->is_write && call->is_sent)
        return CURL_PREREQFUNC_ABORT;
    call->is_sent = true;
    return CURL_PREREQFUNC_OK;
}

/** The loop had its round: go on with what is paused. Bytes that libcurl has read already are passed on inside. */
static void on_resume(void *arg)
{
    struct http_client *c = obj_cast(arg, struct http_client, CLIENT_MAGIC);
    struct http_call *call;
    client_enter(c);
    TAILQ_FOREACH (call, &c->calls, link) {
        bool was_paused = call->is_paused;
        call->is_paused = false;
        call->pieces_len = 0;
        if (was_paused && call->state == CALL_RUNNING)
            curl_easy_pause(call->easy, CURLPAUSE_CONT);
    }
    client_leave(c);
}

/** Tell a piece, or leave it with libcurl when the loop has waited long enough: that reads on as long as there is something. */
static size_t pass_piece(struct http_call *call, const char *bytes, size_t len)
{
    if (call->pieces_len >= PIECES_MAX) {
        call->is_paused = true;
        run_timer_start(call->client->resume, 0, 0);
        return CURL_WRITEFUNC_PAUSE;
    }
    call->pieces_len += len;
    call->def.on_data(call->def.arg, bytes, len);
    return call->state == CALL_OVER ? CURL_WRITEFUNC_ERROR : len;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    size_t len = size * n;
    if (call->state == CALL_OVER)
        return CURL_WRITEFUNC_ERROR;
    call->last_byte_ms = run_now_ms();
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (call->def.on_data && status >= 200 && status < 300)
        return pass_piece(call, bytes, len);
    if (len > call->max_body - call->answer.body.len) {
        call->is_too_big = true;
        return CURL_WRITEFUNC_ERROR;
    }
    buf_add(&call->answer.body, bytes, len);
    return len;
}

/* ---- a body from a file ---- */

/** What follows of it, or nothing before the loop has had its round. */
static size_t on_file(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    int64_t left = call->file.len - call->file_at;
    n *= size;
    if (call->state == CALL_OVER)
        return CURL_READFUNC_ABORT;
    if (left > 0 && call->pieces_len >= PIECES_MAX) {
        call->is_paused = true;
        run_timer_start(call->client->resume, 0, 0);
        return CURL_READFUNC_PAUSE;
    }
    ssize_t n_read =
        left > 0 ? pread(call->file.fd, bytes, (int64_t)n < left ? n : (size_t)left, call->file_at) : 0;
    call->is_file_short = left > 0 && n_read <= 0;
    if (call->is_file_short)
        return CURL_READFUNC_ABORT;
    call->last_byte_ms = run_now_ms();
    call->pieces_len += (size_t)n_read;
    call->file_at += n_read;
    return (size_t)n_read;
}

/** It leaves anew: a redirect, or a connection that had ended before anything left. */
static int on_rewind(void *arg, curl_off_t offset, int origin)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    call->file_at = offset;
    return CURL_SEEKFUNC_OK;
}

static void set_file(struct http_call *call)
{
    curl_easy_setopt(call->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(call->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->file.len);
    curl_easy_setopt(call->easy, CURLOPT_READFUNCTION, on_file);
    curl_easy_setopt(call->easy, CURLOPT_READDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_SEEKFUNCTION, on_rewind);
    curl_easy_setopt(call->easy, CURLOPT_SEEKDATA, call);
}

static const char *answer_header(const struct http_answer *a, const char *name)
{
    struct curl_header *header = NULL;
    return curl_easy_header(a->inside, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value
                                                                                        : NULL;
}

/* ---- starting a call ---- */

static void on_idle(void *arg)
{
    struct http_call *call = obj_cast(arg, struct http_call, CALL_MAGIC);
    struct http_client *c = call->client;
    int64_t silent_ms = run_now_ms() - call->last_byte_ms;
    if (silent_ms < call->def.idle_timeout_ms) {
        run_timer_start(call->idle, (uint64_t)(call->def.idle_timeout_ms - silent_ms), 0);
        return;
    }
    struct err_info why;
    err_set(&why, ERR_TIMEOUT, call->url, "%s: no byte came for %lld ms", call->method, (long long)silent_ms);
    client_enter(c);
    call_finish(call, ERR_TIMEOUT, &why);
    client_leave(c);
}

static void add_header(struct http_call *call, const char *line)
{
    struct curl_slist *list = curl_slist_append(call->headers, line);
    BUG_IF(list == NULL);
    call->headers = list;
}

static void set_headers(struct http_call *call, const struct http_call_def *def)
{
    bool has_type = false;
    for (size_t i = 0; def->headers && def->headers[i]; i++) {
        add_header(call, def->headers[i]);
        has_type = has_type || strncasecmp(def->headers[i], "Content-Type:", 13) == 0;
    }
    const char *type = def->file       ? "Content-Type: application/octet-stream"
                       : def->body_len ? "Content-Type: application/json"
                                       : "Content-Type:";
    if (!has_type)
        add_header(call, type);
    add_header(call, "Expect:"); /* a round trip for nothing */
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

/** Method and body. A POST, PUT or PATCH without body says Content-Length: 0. */
static void set_request(struct http_call *call, const struct http_call_def *def)
{
    bool is_post_like = strcmp(call->method, "POST") == 0 || strcmp(call->method, "PUT") == 0 ||
                        strcmp(call->method, "PATCH") == 0;
    if (def->file) {
        set_file(call);
    } else if (def->body_len || is_post_like) {
        curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)def->body_len);
        CURLcode rc = curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, def->body_len ? def->body : "");
        BUG_IF(rc != CURLE_OK);
    }
    if (strcmp(call->method, "HEAD") == 0)
        curl_easy_setopt(call->easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(call->easy, CURLOPT_URL, call->url);
    curl_easy_setopt(call->easy, CURLOPT_PATH_AS_IS, 1L);
}

/** Strings are copied; NULL leaves libcurl's default. */
static void set_login(CURL *easy, const struct http_client *c)
{
    if (c->user && c->password) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, c->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, c->password);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)LOGIN_TIMEOUT_MS);
    }
    if (c->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, c->ca_file);
}

/** Options of every call: HTTP/1.1 only, no proxy of the environment, no signals. */
static void set_manner(struct http_call *call, const struct http_call_def *def)
{
    CURL *easy = call->easy;
    int64_t connect_ms = def->connect_timeout_ms ? def->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "bobbin/" BOBBIN_VERSION);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, def->no_follow ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, MAX_REDIRECTS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)def->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->curl_text);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_leaving);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
}

struct http_call *http_call(struct http_client *c, const struct http_call_def *def)
{
    BUG_IF(c->is_dying);
    struct http_call *call = mem_new(struct http_call);
    obj_init(&call->obj, CALL_MAGIC);
    call->client = c;
    call->def = *def;
    call->method = mem_str(def->method ? def->method : "GET");
    call->is_write = strcmp(call->method, "GET") != 0 && strcmp(call->method, "HEAD") != 0;
    call->url = mem_str(def->url);
    call->answer.url = call->url;
    call->file = def->file ? *def->file : (struct http_file){-1, 0};
    call->max_body = def->max_body ? def->max_body : MAX_BODY;
    call->easy = curl_easy_init();
    BUG_IF(call->easy == NULL);
    call->answer.header = answer_header;
    call->answer.inside = call->easy;
    set_manner(call, def);
    set_login(call->easy, c);
    set_headers(call, def);
    set_request(call, def);
    call->last_byte_ms = run_now_ms();
    if (def->idle_timeout_ms) {
        call->idle = run_timer_new(c->loop, on_idle, call);
        run_timer_start(call->idle, (uint64_t)def->idle_timeout_ms, 0);
    }
    TAILQ_INSERT_TAIL(&c->calls, call, link);
    if (c->depth == 0)
        call_add(call);
    return call;
}

static void cancel(struct http_call *call)
{
    struct err_info why;
    err_set(&why, ERR_CANCELLED, call->url, "%s: cancelled", call->method);
    call_finish(call, ERR_CANCELLED, &why);
}

void http_call_cancel(struct http_call *call)
{
    struct http_client *c = obj_cast(call, struct http_call, CALL_MAGIC)->client;
    client_enter(c);
    cancel(call);
    client_leave(c);
}

void http_client_sign_in(struct http_client *c, const struct http_login *login)
{
    forget_login(c);
    c->user = mem_str(login->user);
    c->password = mem_str(login->password);
    c->ca_file = mem_str(login->ca_file);
}

struct http_client *http_client_new(struct run_loop *loop)
{
    struct http_client *c = mem_new(struct http_client);
    obj_init(&c->obj, CLIENT_MAGIC);
    TAILQ_INIT(&c->calls);
    c->loop = loop;
    c->timer = run_timer_new(loop, on_timer, c);
    c->resume = run_timer_new(loop, on_resume, c);
    BUG_IF(curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK);
    c->multi = curl_multi_init();
    BUG_IF(c->multi == NULL);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timeout_set);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    return c;
}

void http_client_free(struct http_client *c)
{
    struct http_call *call;
    if (!c)
        return;
    client_enter(c);
    c->is_dying = true;
    TAILQ_FOREACH (call, &c->calls, link)
        cancel(call);
    client_leave(c);
}
