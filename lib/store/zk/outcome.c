#include "store/zk/outcome.h"
#include "base/mem.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define INQUIRY_MAGIC OBJ_MAGIC('Z', 'K', 'Q', 'U')

/* ---- the table ---- */

static bool has_same_data(const struct store_op *write, const struct zkq_node *node)
{
    return node->bytes && node->len == write->len &&
           (write->len == 0 || memcmp(node->bytes, write->bytes, write->len) == 0);
}

/* Since the node was seen. Who has not said how takes any number. */
static bool is_only_set(const struct store_seen *seen, const struct store_stat *stat)
{
    return !seen || (stat->czxid == seen->czxid && stat->version == seen->version + 1);
}

static enum zkq_outcome judge_set(const struct store_op *write, int64_t floor, const struct zkq_node *node)
{
    const struct store_stat *stat = &node->stat;
    if (stat->mzxid <= floor)
        return ZKQ_NOT_DONE;
    if (stat->czxid > floor)
        return ZKQ_UNKNOWN;
    if (write->version < 0)
        return has_same_data(write, node) && is_only_set(write->seen, stat) ? ZKQ_DONE : ZKQ_UNKNOWN;
    bool has_other_data = node->bytes && !has_same_data(write, node);
    bool is_others_step = stat->version == write->version + 1 && has_other_data;
    return stat->version <= write->version || is_others_step ? ZKQ_NOT_DONE : ZKQ_UNKNOWN;
}

enum zkq_outcome zkq_judge(const struct store_op *write, int64_t floor, const struct zkq_node *node)
{
    if (write->kind == STORE_OP_CHECK)
        return ZKQ_UNKNOWN;
    if (!node->is_there)
        return node->ancestor_pzxid <= floor ? ZKQ_NOT_DONE : ZKQ_UNKNOWN;
    if (write->kind == STORE_OP_SET)
        return judge_set(write, floor, node);
    return node->stat.czxid <= floor ? ZKQ_NOT_DONE : ZKQ_UNKNOWN;
}

/* ---- finding out ---- */

static void finish(struct zkq *q, enum zkq_outcome outcome)
{
    struct store_stat stat = q->node.stat;
    zkr_fini(&q->question);
    free(q->ancestor);
    free(q->bytes);
    q->ancestor = NULL;
    q->bytes = NULL;
    obj_fini(&q->obj);
    q->done(q->arg, outcome, outcome == ZKQ_DONE ? &stat : NULL);
}

static void question_send(struct zkq *q, void (*on_reply)(void *arg, const struct zks_reply *reply))
{
    q->request.done = on_reply;
    q->request.arg = q;
    zks_send_made(q->session, &q->request, q->question.opcode, &q->question.body);
    zks_flush(q->session);
}

static void ask(struct zkq *q, enum store_read_kind kind, const char *path,
                void (*on_reply)(void *arg, const struct zks_reply *reply))
{
    zkr_fini(&q->question);
    zkr_make_read(&q->question, kind, q->root, path);
    question_send(q, on_reply);
}

/* Several operations of one multi on one path: the last is what is seen of them, so none is judged. */
static bool is_alone(const struct zkq *q)
{
    for (size_t i = 0; i < q->lost->n_paths; i++)
        if (i != q->at && strcmp(q->lost->paths[i], q->lost->paths[q->at]) == 0)
            return false;
    return true;
}

static void on_node(void *arg, const struct zks_reply *reply);

/* Ask about the next operation that can prove something; finish when there is none. */
static void ask_next(struct zkq *q)
{
    for (; q->at < q->lost->n_paths; q->at++) {
        bool is_write = zkr_write(q->lost, q->at, &q->write) && q->write.kind != STORE_OP_CHECK;
        if (!is_write || !is_alone(q))
            continue;
        bool needs_data = q->write.kind == STORE_OP_SET;
        q->node = (struct zkq_node){.ancestor_pzxid = INT64_MAX};
        free(q->ancestor);
        q->ancestor = NULL;
        ask(q, needs_data ? STORE_READ_DATA : STORE_READ_STAT, q->write.path, on_node);
        return;
    }
    finish(q, ZKQ_UNKNOWN);
}

static void judge(struct zkq *q)
{
    enum zkq_outcome outcome = zkq_judge(&q->write, q->floor, &q->node);
    bool is_sure = outcome == ZKQ_NOT_DONE || (outcome == ZKQ_DONE && q->lost->opcode != ZKW_MULTI);
    if (is_sure) {
        finish(q, outcome);
        return;
    }
    q->at++;
    ask_next(q);
}

/* Read it. @return false: the connection broke, and the inquiry has ended. */
static bool read_reply(struct zkq *q, const struct zks_reply *reply, int32_t *number, struct zkr_answer *a)
{
    bool is_bad;
    *number = zkr_read(&q->question, reply->err, reply->body, a, &is_bad);
    if (!is_bad && zkw_error(*number) != ERR_UNAVAILABLE)
        return true;
    zkr_answer_fini(a);
    finish(q, ZKQ_LOST);
    return false;
}

static void on_ancestor(void *arg, const struct zks_reply *reply);

/* The node above what was asked for last. Above the store's root nothing is ours to ask. */
static void ask_above(struct zkq *q)
{
    const char *below = q->ancestor ? q->ancestor : q->write.path;
    if (strcmp(below, "/") == 0 || strcmp(below, STORE_ASIDE) == 0) {
        judge(q);
        return;
    }
    char *above = path_parent(below);
    free(q->ancestor);
    q->ancestor = above;
    ask(q, STORE_READ_STAT, above, on_ancestor);
}

static void on_ancestor(void *arg, const struct zks_reply *reply)
{
    struct zkq *q = obj_cast(arg, struct zkq, INQUIRY_MAGIC);
    struct zkr_answer a;
    int32_t number;
    if (!read_reply(q, reply, &number, &a))
        return;
    if (number == ZKW_OK)
        q->node.ancestor_pzxid = a.stat.pzxid;
    zkr_answer_fini(&a);
    if (number == ZKW_NO_NODE)
        ask_above(q);
    else
        judge(q);
}

static void on_node(void *arg, const struct zks_reply *reply)
{
    struct zkq *q = obj_cast(arg, struct zkq, INQUIRY_MAGIC);
    struct zkr_answer a;
    int32_t number;
    if (!read_reply(q, reply, &number, &a))
        return;
    q->node.is_there = number == ZKW_OK;
    q->node.stat = a.stat;
    free(q->bytes);
    q->bytes = a.bytes;
    a.bytes = NULL;
    q->node.bytes = q->bytes;
    q->node.len = a.len;
    zkr_answer_fini(&a);
    if (number == ZKW_OK)
        judge(q);
    else if (number == ZKW_NO_NODE)
        ask_above(q);
    else if (number == ZKW_NO_AUTH && q->question.opcode == ZKW_GET_DATA)
        ask(q, STORE_READ_STAT, q->write.path,
            on_node); /* we may not read its data; its stat may be read by all */
    else
        finish(q, ZKQ_UNKNOWN);
}

static void on_synced(void *arg, const struct zks_reply *reply)
{
    struct zkq *q = obj_cast(arg, struct zkq, INQUIRY_MAGIC);
    if (reply->err != ZKW_OK)
        finish(q, ZKQ_LOST);
    else if (!q->is_fenced)
        finish(q, ZKQ_UNKNOWN);
    else
        ask_next(q);
}

void zkq_start(struct zkq *q)
{
    obj_init(&q->obj, INQUIRY_MAGIC);
    q->at = 0;
    zkr_make_sync(&q->question, q->root, "/");
    question_send(q, on_synced);
}
