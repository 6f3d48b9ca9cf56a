#include "yarn/link_priv.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

#define CALL_MAGIC OBJ_MAGIC('Y', 'C', 'A', 'L')

void queue_put(struct yarn_link *l, struct yarn_call_list *list, struct yarn_call *call)
{
    obj_init(&call->obj, CALL_MAGIC);
    call->owner = l;
    call->home = list;
    TAILQ_INSERT_TAIL(list, call, link);
    heap_set(&l->due, &call->due, call->deadline_ms, 0);
    l->n_calls++;
    l->n_octets += call->body.len;
    queue_arm(l);
}

void queue_move(struct yarn_call_list *list, struct yarn_call *call)
{
    TAILQ_REMOVE(call->home, call, link);
    call->home = list;
    TAILQ_INSERT_TAIL(list, call, link);
}

/* Out of everything: the caller's storage is the caller's again. */
static void take_out(struct yarn_call *call)
{
    struct yarn_link *l = call->owner;
    TAILQ_REMOVE(call->home, call, link);
    call->home = NULL;
    heap_remove(&l->due, &call->due);
    l->n_calls--;
    l->n_octets -= call->body.len;
    buf_fini(&call->body);
    obj_fini(&call->obj);
    l->used_ms = run_now_ms();
}

void yarn_call_cancel(struct yarn_call *call)
{
    if (!call->home)
        return;
    struct yarn_call *mine = obj_cast(call, struct yarn_call, CALL_MAGIC);
    take_out(mine);
}

struct yarn_call *queue_find(const struct yarn_link *l, int32_t id)
{
    struct yarn_call *call;
    TAILQ_FOREACH (call, &l->sent, link)
        if (call->id == id)
            return call;
    return NULL;
}

void queue_undo(struct yarn_call *call)
{
    call->is_maybe_done = call->was_maybe_done;
}

void queue_succeed(struct yarn_call *call, const ProtobufCMessage *message)
{
    mem_auto char *server = mem_str(call->owner->server); /* done may begin another connection */
    const struct yarn_answer answer = {call->method, server, message, NULL};
    take_out(call);
    call->done(call->arg, &answer);
}

void queue_fail(struct yarn_call *call, const struct yarn_failure *failure)
{
    mem_auto char *server = mem_str(call->owner->server);
    struct yarn_failure own = *failure;
    const struct yarn_answer answer = {call->method, server, NULL, &own};
    own.is_not_done = !call->is_maybe_done;
    take_out(call);
    call->done(call->arg, &answer);
}

/* Move all of a list to another one, in order. */
static void move_all(struct yarn_call_list *from, struct yarn_call_list *to)
{
    struct yarn_call *call;
    while ((call = TAILQ_FIRST(from)))
        queue_move(to, call);
}

/* A callback may close the link, which ends the rest of the list in another way. */
static void fail_list(struct yarn_call_list *list, const struct yarn_failure *failure)
{
    struct yarn_call *call;
    while ((call = TAILQ_FIRST(list)))
        queue_fail(call, failure);
}

void queue_fail_all(struct yarn_link *l, const struct err_info *why, const char *class_name)
{
    struct yarn_failure failure = {.why = *why};
    snprintf(failure.class_name, sizeof failure.class_name, "%s", class_name);
    move_all(&l->sent, &l->failed);
    move_all(&l->waiting, &l->failed);
    move_all(&l->held, &l->failed);
    fail_list(&l->failed, &failure);
}

void queue_settle(struct yarn_link *l, uint64_t n_left, const struct err_info *why)
{
    struct yarn_call_list again = TAILQ_HEAD_INITIALIZER(again);
    struct yarn_call *call;
    while ((call = TAILQ_FIRST(&l->sent))) {
        if (call->begin >= n_left)
            queue_undo(call);
        queue_move(call->is_maybe_done && !call->method->is_repeatable ? &l->failed : &again, call);
    }
    move_all(&l->waiting, &again);
    move_all(&again, &l->waiting);
    struct yarn_failure failure = {.why = *why};
    err_set(&failure.why, ERR_UNKNOWN_OUTCOME, l->server,
            "the connection was lost before an answer came: %.400s", why->text);
    fail_list(&l->failed, &failure);
}

void queue_hold(struct yarn_call *call, int64_t ms)
{
    struct yarn_link *l = call->owner;
    queue_undo(call);
    call->retry_ms = run_now_ms() + ms;
    queue_move(&l->held, call);
    int64_t key = call->retry_ms < call->deadline_ms ? call->retry_ms : call->deadline_ms;
    heap_set(&l->due, &call->due, key, 0);
    queue_arm(l);
}

static void expire_one(struct yarn_link *l, struct yarn_call *call)
{
    struct yarn_failure failure = {.why = l->last};
    int64_t ms = call->timeout_ms ? call->timeout_ms : l->config.call_timeout_ms;
    if (call->home == &l->sent || l->last.code == 0)
        err_set(&failure.why, ERR_TIMEOUT, l->server, "%s has no answer after %" PRId64 " ms",
                call->method->at.name, ms);
    else
        failure.why.code = l->last.code == ERR_AUTH ? ERR_AUTH : ERR_UNAVAILABLE;
    queue_fail(call, &failure);
}

bool queue_expire(struct yarn_link *l)
{
    int64_t now = run_now_ms();
    bool is_silent = false;
    struct heap_node *first;
    while (l->state != LINK_CLOSED && (first = heap_first(&l->due)) && first->key <= now) {
        struct yarn_call *call = container_of(first, struct yarn_call, due);
        if (call->deadline_ms > now) {
            queue_move(&l->waiting, call);
            heap_set(&l->due, &call->due, call->deadline_ms, 0);
            continue;
        }
        is_silent = is_silent || (call->home == &l->sent && call->sent_ms > l->heard_ms);
        expire_one(l, call);
    }
    queue_arm(l);
    return is_silent;
}

void queue_arm(struct yarn_link *l)
{
    const struct heap_node *first = heap_first(&l->due);
    if (l->state == LINK_CLOSED || !first) {
        if (l->due_timer)
            run_timer_stop(l->due_timer);
        return;
    }
    int64_t now = run_now_ms();
    run_timer_start(l->due_timer, first->key > now ? (uint64_t)(first->key - now) : 0, 0);
}

bool queue_is_empty(const struct yarn_link *l)
{
    return TAILQ_EMPTY(&l->waiting) && TAILQ_EMPTY(&l->sent);
}
