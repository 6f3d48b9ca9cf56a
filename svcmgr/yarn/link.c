#include "yarn/link_priv.h"
#include "base/backoff.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_MAGIC OBJ_MAGIC('Y', 'B', 'U', 'D')

/* MESSAGE_FACTOR: memory of a message, compared with its octets. HEADER_MAX: of an answer that is too long, its header is within this.
 * WRAP_MAX: what a wrapped answer may be longer by. */
enum { MESSAGE_FACTOR = 4, HEADER_MAX = 4096, WRAP_MAX = 4096, KEEP_MAX = 1 << 20 };

/* ---- out ---- */

/* Send what stands in l->out. @return false: it cannot be signed. */
static bool send_out(struct yarn_link *l, struct err_info *why)
{
    buf_auto struct buf wrapped = BUF_EMPTY;
    struct buf *wire = &l->out;
    if (l->sasl && yarn_sasl_wraps(l->sasl)) {
        if (yarn_sasl_wrap(l->sasl, &l->out, &wrapped, why) != 0)
            return false;
        wire = &wrapped;
    }
    l->written_ms = run_now_ms();
    l->n_flushed += wire->len;
    run_tcp_write(l->conn, wire);
    return true;
}

static void drop_conn(struct yarn_link *l)
{
    if (l->conn)
        run_tcp_close(l->conn);
    l->conn = NULL;
    yarn_sasl_free(l->sasl);
    l->sasl = NULL;
    buf_clear(&l->out);
    buf_clear(&l->plain);
}

/* ---- failing ---- */

static void begin_pause(struct yarn_link *l)
{
    int64_t ms = 0;
    if (l->n_attempts % l->addresses.n_items == 0)
        ms = backoff_random(l->n_attempts / l->addresses.n_items - 1, l->config.pause_min_ms,
                            l->config.pause_max_ms);
    l->state = LINK_WAITING;
    run_timer_start(l->timer, (uint64_t)ms, 0);
}

static void report(struct yarn_link *l, const struct err_info *why)
{
    if (l->config.reach)
        l->config.reach(l->config.reach_arg, l->server, why);
}

/* The connection, or the attempt to make one, has failed. One that has brought answers is made again at once, to the same server. */
static void lose(struct yarn_link *l, const struct err_info *why)
{
    uint64_t n_left = l->conn ? l->n_flushed - run_tcp_unsent(l->conn) : 0;
    bool is_renewed = l->has_answered;
    l->has_answered = false;
    drop_conn(l);
    if (is_renewed) {
        l->state = LINK_WAITING;
        run_timer_start(l->timer, 0, 0);
    } else {
        l->last = *why;
        l->n_attempts++;
        l->next = (l->next + 1) % l->addresses.n_items;
        begin_pause(l);
        report(l, why);
    }
    if (l->state != LINK_CLOSED)
        queue_settle(l, n_left, why);
}

static void lose_because(struct yarn_link *l, int code, const char *text)
{
    struct err_info why;
    err_set(&why, code, l->server, "%s %s: %s", l->config.noun, l->server, text);
    lose(l, &why);
}

/* The server is not the active one: the next, whatever it has answered before. */
static void fail_over(struct yarn_link *l, const struct err_info *why)
{
    l->has_answered = false;
    lose(l, why);
}

/* The server does not want us, as we are: no call can be answered. */
static void refuse(struct yarn_link *l, const struct err_info *why, const char *class_name)
{
    l->has_answered = false;
    l->last = *why;
    drop_conn(l);
    l->n_attempts++;
    begin_pause(l);
    report(l, why);
    if (l->state != LINK_CLOSED)
        queue_fail_all(l, why, class_name);
}

static void refuse_because(struct yarn_link *l, const struct err_info *its)
{
    struct err_info why;
    err_set(&why, its->code, l->server, "%s %s: %.400s", l->config.noun, l->server, its->text);
    refuse(l, &why, "");
}

/* ---- up ---- */

static void send_waiting(struct yarn_link *l)
{
    struct err_info why;
    struct yarn_call *call;
    if (l->state != LINK_UP || TAILQ_EMPTY(&l->waiting))
        return;
    bool is_exact = !l->sasl || !yarn_sasl_wraps(l->sasl);
    while ((call = TAILQ_FIRST(&l->waiting))) {
        call->id = l->next_id;
        call->begin = l->n_flushed + (is_exact ? l->out.len : 0);
        call->sent_ms = run_now_ms();
        call->was_maybe_done = call->is_maybe_done;
        call->is_maybe_done = true;
        frame_put_call(&l->out, l->client_id, call->id, call->n_sent++, &call->body);
        queue_move(&l->sent, call);
        l->is_id_wrapped = l->is_id_wrapped || l->next_id == INT32_MAX;
        l->next_id = l->next_id == INT32_MAX ? 0 : l->next_id + 1;
    }
    if (!send_out(l, &why))
        lose_because(l, ERR_AUTH, why.text);
}

/* The timer of a connection that is up: for the next ping while calls wait for answers, for its end while none does. */
static void arm_up(struct yarn_link *l)
{
    int64_t at = queue_is_empty(l) ? l->used_ms + l->config.idle_ms : l->written_ms + l->config.ping_ms;
    int64_t now = run_now_ms();
    run_timer_start(l->timer, at > now ? (uint64_t)(at - now) : 0, 0);
}

static void stay_alive(struct yarn_link *l)
{
    struct err_info why;
    int64_t now = run_now_ms();
    if (queue_is_empty(l) && now - l->used_ms >= l->config.idle_ms) {
        drop_conn(l);
        l->has_answered = false;
        l->state = LINK_IDLE;
        return;
    }
    if (!queue_is_empty(l) && now - l->written_ms >= l->config.ping_ms) {
        frame_put_ping(&l->out, l->client_id);
        if (!send_out(l, &why)) {
            lose_because(l, ERR_AUTH, why.text);
            return;
        }
    }
    arm_up(l);
}

static void go_up(struct yarn_link *l)
{
    l->state = LINK_UP;
    l->used_ms = run_now_ms();
    frame_put_context(&l->out, l->client_id, l->config.auth == YARN_AUTH_SIMPLE ? l->user : NULL,
                      l->config.protocol);
    if (TAILQ_EMPTY(&l->waiting)) {
        struct err_info why;
        if (!send_out(l, &why)) {
            lose_because(l, ERR_AUTH, why.text);
            return;
        }
    }
    send_waiting(l);
    if (l->state == LINK_UP)
        arm_up(l);
}

/* ---- answers ---- */

/* protobuf-c's memory: an arena with a limit. */
struct budget {
    struct obj obj;
    struct arena *arena;
    size_t left;
};

static void *budget_alloc(void *arg, size_t n)
{
    struct budget *b = obj_cast(arg, struct budget, BUDGET_MAGIC);
    if (n > b->left)
        return NULL;
    b->left -= n;
    return arena_alloc(b->arena, n);
}

static void budget_free(void *arg, void *p)
{
    obj_cast(arg, struct budget, BUDGET_MAGIC);
    (void)p; /* with the arena */
}

static void note_answer(struct yarn_link *l)
{
    l->has_answered = true;
    l->n_attempts = 0;
    l->last.code = 0;
}

static void on_success(struct yarn_link *l, struct yarn_call *call, struct frame_bytes body)
{
    struct budget budget = {.arena = arena_new(0), .left = l->config.answer_max * MESSAGE_FACTOR};
    obj_init(&budget.obj, BUDGET_MAGIC);
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
    ProtobufCMessage *message = frame_read_message(body, call->method->answer, &allocator);
    if (message) {
        queue_succeed(call, message);
    } else {
        struct yarn_failure failure = {.is_not_done = false};
        err_set(&failure.why, ERR_PARSE, l->server, "the answer to %s is malformed, or too large",
                call->method->at.name);
        queue_fail(call, &failure);
    }
    arena_free(budget.arena);
}

static void on_error(struct yarn_link *l, struct yarn_call *call, const struct frame_response *r)
{
    struct yarn_failure failure;
    enum failure_reaction reaction = failure_read(l->server, r->class_name, r->text, &failure);
    if (reaction == FAILURE_RETRIES) {
        queue_hold(
            call, backoff_random((uint64_t)call->n_sent - 1, l->config.pause_min_ms, l->config.pause_max_ms));
    } else if (reaction == FAILURE_FAILS_OVER) {
        queue_undo(call); /* so it waits for the next server, repeatable or not */
        fail_over(l, &failure.why);
    } else {
        note_answer(l);
        queue_fail(call, &failure);
    }
}

/* The server ends the connection and says why: because of one call, or of what we are. */
static void on_fatal(struct yarn_link *l, const struct frame_response *r)
{
    struct yarn_failure failure;
    enum failure_reaction reaction = failure_read(l->server, r->class_name, r->text, &failure);
    struct yarn_call *call = r->call_id >= 0 ? queue_find(l, r->call_id) : NULL;
    if (call && reaction == FAILURE_ANSWERS) {
        const struct run_tcp *conn = l->conn;
        queue_fail(call, &failure);
        if (l->conn == conn)
            lose_because(l, failure.why.code, failure.why.text);
        return;
    }
    if (call)
        queue_undo(call);
    TAILQ_FOREACH (call, &l->sent, link)
        if (!l->has_answered)
            queue_undo(call);
    if (reaction != FAILURE_ANSWERS) {
        fail_over(l, &failure.why);
        return;
    }
    if (failure.why.code == ERR_PERMISSION || r->detail == YARN__RPC_ERROR_CODE__FATAL_UNAUTHORIZED)
        failure.why.code = ERR_AUTH;
    struct err_info why;
    err_set(&why, failure.why.code, l->server, "%s %s refuses the connection: %.400s", l->config.noun,
            l->server, failure.why.text);
    refuse(l, &why, failure.class_name);
}

static void on_response(struct yarn_link *l, const struct frame_response *r)
{
    const struct run_tcp *conn = l->conn;
    bool is_first = !l->has_answered;
    struct yarn_call *call = queue_find(l, r->call_id);
    if (!call && (r->call_id < 0 || (!l->is_id_wrapped && r->call_id >= l->next_id))) {
        lose_because(l, ERR_PARSE, "it answers a call that was not made");
        return;
    }
    if (!call)
        return; /* one that was cancelled, or came too late */
    if (r->status == YARN__RPC_STATUS__RPC_SUCCESS) {
        note_answer(l);
        on_success(l, call, r->body);
    } else if (r->status == YARN__RPC_STATUS__RPC_ERROR) {
        on_error(l, call, r);
    } else {
        lose_because(l, ERR_PARSE, "an answer has a status that is not known");
    }
    if (is_first && l->conn == conn && l->has_answered)
        report(l, NULL);
}

/* ---- SASL ---- */

static void go_on_authenticating(struct yarn_link *l, Yarn__SaslMessage *message)
{
    struct err_info why = {0};
    if (yarn_sasl_answer(l->sasl, message, &l->out, &why) != 0) {
        refuse_because(l, &why);
        return;
    }
    if (yarn_sasl_is_done(l->sasl)) {
        l->n_hang_ups = 0;
        go_up(l);
        return;
    }
    if (!send_out(l, &why))
        lose_because(l, ERR_AUTH, why.text);
}

static void on_sasl(struct yarn_link *l, const struct frame_response *r)
{
    struct err_info why = {0};
    Yarn__SaslMessage *message = NULL;
    if (r->status == YARN__RPC_STATUS__RPC_SUCCESS)
        message = (Yarn__SaslMessage *)frame_read_message(r->body, &yarn__sasl_message__descriptor, NULL);
    if (!message || !l->sasl)
        lose_because(l, ERR_PARSE, "its SASL message is malformed, or has no place here");
    else if (l->state == LINK_AUTHENTICATING)
        go_on_authenticating(l, message);
    else if (!yarn_sasl_wraps(l->sasl))
        lose_because(l, ERR_PARSE, "it sends SASL messages after it has authenticated us");
    else if (yarn_sasl_unwrap(l->sasl, message, &l->plain, &why) != 0)
        lose_because(l, why.code, why.text);
    if (message)
        yarn__sasl_message__free_unpacked(message, NULL);
}

/* ---- in ---- */

/* @param is_wire  as it came; false: it was unwrapped */
static void on_frame(struct yarn_link *l, struct frame_bytes frame, bool is_wire)
{
    struct frame_response r;
    if (frame_read_response(frame, l->client_id, &r) != 0) {
        lose_because(l, ERR_PARSE, "an answer has no header");
        return;
    }
    l->heard_ms = run_now_ms();
    bool must_be_sasl = l->state == LINK_AUTHENTICATING || (is_wire && l->sasl && yarn_sasl_wraps(l->sasl));
    if (r.is_others)
        lose_because(l, ERR_PARSE, "an answer is for another client");
    else if (r.status == YARN__RPC_STATUS__RPC_FATAL ||
             (l->state == LINK_AUTHENTICATING && r.status == YARN__RPC_STATUS__RPC_ERROR))
        on_fatal(l, &r);
    else if (is_wire && r.call_id == FRAME_CALL_SASL)
        on_sasl(l, &r);
    else if (must_be_sasl)
        lose_because(l, ERR_PARSE,
                     "it answers without authentication, or without the signature that was agreed");
    else
        on_response(l, &r);
}

/* An answer that is longer than we accept: its call ends, and the connection with it; nothing before the header is there. Whose a
 * wrapped one is cannot be seen: the oldest is as good a guess as any, and the others are sent again. */
static void on_oversize(struct yarn_link *l, struct frame_bytes part, const struct err_info *its)
{
    struct frame_response r;
    const struct run_tcp *conn = l->conn;
    bool is_read = frame_read_response(part, l->client_id, &r) == 0;
    if (!is_read && part.len < HEADER_MAX)
        return;
    struct yarn_call *call = NULL;
    if (is_read)
        call = r.call_id == FRAME_CALL_SASL ? TAILQ_FIRST(&l->sent) : queue_find(l, r.call_id);
    if (call) {
        struct yarn_failure failure = {.why = *its};
        err_set(&failure.why, ERR_TOOBIG, l->server, "%s: %s", call->method->at.name, its->text);
        queue_fail(call, &failure);
    }
    if (l->conn == conn)
        lose_because(l, ERR_TOOBIG, its->text);
}

/* Read frames off the front; whatever loses the connection makes the rest void. */
static void read_frames(struct yarn_link *l, struct buf *in, bool is_wire)
{
    const struct run_tcp *conn = l->conn;
    bool is_wrapped = is_wire && l->sasl && yarn_sasl_wraps(l->sasl);
    size_t max = l->config.answer_max + (is_wrapped ? WRAP_MAX : 0);
    struct frame_bytes frame;
    struct err_info why = {0};
    size_t used = 0;
    int64_t n = 0;
    while (l->conn == conn && (n = frame_next(in->bytes + used, in->len - used, max, &frame, &why)) > 0) {
        used += (size_t)n;
        on_frame(l, frame, is_wire);
        if (is_wire && l->conn == conn && l->plain.len)
            read_frames(l, &l->plain, false);
    }
    if (l->conn != conn && !is_wire)
        return;
    buf_drop(in, used < in->len ? used : in->len);
    if (l->conn != conn || n == 0)
        return;
    if (n == ERR_TOOBIG)
        on_oversize(l, frame, &why);
    else if (n < 0)
        lose_because(l, ERR_PARSE, why.text);
}

static void on_arrived(void *arg, struct buf *in)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    const struct run_tcp *conn = l->conn;
    read_frames(l, in, true);
    if (l->plain.len == 0 && l->plain.cap > KEEP_MAX)
        buf_fini(&l->plain);
    if (l->conn == conn && l->state == LINK_UP && queue_is_empty(l))
        arm_up(l);
}

static void on_opened(void *arg)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    struct err_info why;
    frame_put_hello(&l->out, l->config.auth == YARN_AUTH_TOKEN);
    if (l->config.auth != YARN_AUTH_TOKEN) {
        go_up(l);
        return;
    }
    l->state = LINK_AUTHENTICATING;
    l->sasl = yarn_sasl_new(&l->token, &l->config.wish);
    yarn_sasl_begin(l->sasl, &l->out);
    send_out(l, &why);
}

static void on_lost(void *arg, const struct err_info *why)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    if (l->state == LINK_AUTHENTICATING && ++l->n_hang_ups > l->addresses.n_items) {
        static const struct err_info its = {
            .code = ERR_AUTH,
            .text = "it ends the connection while it authenticates us, as for a token of another kind"};
        refuse_because(l, &its);
        return;
    }
    lose(l, why);
}

static void finish(void *arg)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    void (*closed)(void *) = l->closed;
    void *closed_arg = l->closed_arg;
    yarn_addresses_fini(&l->addresses);
    yarn_token_fini(&l->token);
    heap_fini(&l->due);
    buf_fini(&l->out);
    buf_fini(&l->plain);
    free(l->user);
    free(l->server);
    obj_fini(&l->obj);
    free(l);
    closed(closed_arg);
}

static void on_closed(void *arg)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    l->n_conns--;
    if (l->state == LINK_CLOSED && l->n_conns == 0)
        finish(l);
}

static const struct run_tcp_ops tcp_ops = {on_opened, on_arrived, on_lost, on_closed};

/* ---- time ---- */

static void attempt(struct yarn_link *l)
{
    const struct yarn_address *a = &l->addresses.items[l->next];
    const struct run_tcp_target target = {l->config.noun, a->host, a->port,
                                          l->n_attempts / l->addresses.n_items};
    l->state = LINK_CONNECTING;
    l->n_flushed = 0;
    l->next_id = 0;
    l->is_id_wrapped = false;
    l->n_conns++;
    l->conn = run_tcp_open(l->loop, &target, &tcp_ops, l);
    free(l->server);
    l->server = mem_str(run_tcp_name(l->conn));
    run_timer_start(l->timer, (uint64_t)l->config.connect_timeout_ms, 0);
}

static void on_timer(void *arg)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    if (l->state == LINK_UP)
        stay_alive(l);
    else if (l->state == LINK_CONNECTING)
        lose_because(l, ERR_UNAVAILABLE, "no connection in time");
    else if (l->state == LINK_AUTHENTICATING)
        lose_because(l, ERR_UNAVAILABLE, "it does not authenticate us in time");
    else if (TAILQ_EMPTY(&l->waiting))
        l->state = LINK_IDLE;
    else
        attempt(l);
}

static void on_due(void *arg)
{
    struct yarn_link *l = obj_cast(arg, struct yarn_link, YARN_LINK_MAGIC);
    const struct run_tcp *conn = l->conn;
    bool is_silent = queue_expire(l);
    if (is_silent && l->conn == conn && l->state == LINK_UP)
        lose_because(l, ERR_TIMEOUT, "it has not answered in time");
    if (l->state == LINK_IDLE && !TAILQ_EMPTY(&l->waiting))
        attempt(l);
    send_waiting(l);
}

/* ---- for callers ---- */

static int check_config(const struct yarn_link_config *config, const struct yarn_addresses *addresses,
                        struct err_info *why)
{
    if (config->auth == YARN_AUTH_KERBEROS)
        return err_set(why, ERR_UNSUPPORTED, NULL, "Kerberos towards YARN is not supported yet");
    if (addresses->n_items == 0)
        return err_set(why, ERR_INVALID, NULL, "no %s is named", config->noun);
    if (config->auth == YARN_AUTH_SIMPLE && !config->user)
        return err_set(why, ERR_INVALID, NULL, "no user is named");
    if (config->auth == YARN_AUTH_TOKEN && !config->token)
        return err_set(why, ERR_INVALID, NULL, "no token is given");
    return 0;
}

int yarn_link_open(struct run_loop *loop, const struct yarn_link_config *config,
                   const struct yarn_addresses *addresses, struct yarn_link **out, struct err_info *why)
{
    int err = check_config(config, addresses, why);
    if (err != 0)
        return err;
    struct yarn_link *l = mem_new(struct yarn_link);
    obj_init(&l->obj, YARN_LINK_MAGIC);
    l->loop = loop;
    l->config = *config;
    l->config.user = NULL;
    l->config.token = NULL;
    l->user = mem_str(config->user);
    l->server = mem_str("");
    if (config->auth == YARN_AUTH_TOKEN)
        yarn_token_copy(&l->token, config->token);
    for (size_t i = 0; i < addresses->n_items; i++)
        yarn_addresses_add(&l->addresses, addresses->items[i].host, addresses->items[i].port);
    frame_make_client_id(l->client_id);
    TAILQ_INIT(&l->waiting);
    TAILQ_INIT(&l->sent);
    TAILQ_INIT(&l->held);
    TAILQ_INIT(&l->failed);
    l->timer = run_timer_new(loop, on_timer, l);
    l->due_timer = run_timer_new(loop, on_due, l);
    *out = l;
    return 0;
}

void yarn_link_close(struct yarn_link *l, void (*closed)(void *arg), void *arg)
{
    static const struct err_info why = {.code = ERR_CANCELLED, .text = "the link was closed"};
    BUG_IF(l->state == LINK_CLOSED);
    l->state = LINK_CLOSED;
    l->closed = closed;
    l->closed_arg = arg;
    run_timer_free(l->timer);
    run_timer_free(l->due_timer);
    l->timer = l->due_timer = NULL;
    drop_conn(l);
    queue_fail_all(l, &why, "");
    if (l->n_conns == 0)
        run_post(l->loop, finish, l);
}

void yarn_link_set_token(struct yarn_link *l, const struct yarn_token *token)
{
    BUG_IF(l->config.auth != YARN_AUTH_TOKEN);
    yarn_token_fini(&l->token);
    yarn_token_copy(&l->token, token);
    if (l->state == LINK_WAITING)
        run_timer_start(l->timer, 0, 0);
}

bool yarn_link_is_up(const struct yarn_link *l)
{
    return l->state == LINK_UP;
}

int yarn_call_start(struct yarn_link *l, int method, const ProtobufCMessage *request, struct yarn_call *call,
                    struct err_info *why)
{
    const struct yarn_method *m = &yarn_methods[method];
    BUG_IF(l->state == LINK_CLOSED || call->home || request->descriptor != m->request ||
           strcmp(m->at.protocol, l->config.protocol) != 0);
    if (l->n_calls >= l->config.max_calls)
        return err_set(why, ERR_LIMIT, NULL, "%zu calls to the %s are under way", l->n_calls, l->config.noun);
    buf_auto struct buf body = BUF_EMPTY;
    frame_put_body(&body, &m->at, request);
    if (body.len > l->config.request_max)
        return err_set(why, ERR_TOOBIG, NULL, "%s would take %zu octets; %zu are allowed", m->at.name,
                       body.len, l->config.request_max);
    if (body.len > l->config.queue_max - l->n_octets)
        return err_set(why, ERR_LIMIT, NULL, "requests of %zu octets to the %s are under way", l->n_octets,
                       l->config.noun);
    call->body = body;
    body = BUF_EMPTY;
    call->method = m;
    call->due = (struct heap_node){0};
    call->n_sent = 0;
    call->retry_ms = 0;
    call->is_maybe_done = call->was_maybe_done = false;
    call->deadline_ms = run_now_ms() + (call->timeout_ms ? call->timeout_ms : l->config.call_timeout_ms);
    queue_put(l, &l->waiting, call);
    if (l->state == LINK_IDLE)
        attempt(l);
    else
        send_waiting(l);
    return 0;
}
