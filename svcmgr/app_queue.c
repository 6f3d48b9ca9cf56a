#include "svcmgr/app_queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

void queue_init(struct queue *q)
{
    *q = (struct queue){.n_requests = 0};
    TAILQ_INIT(&q->events);
}

/* ---- copies ---- */

static const struct eng_flex *copy_flex(const struct eng_flex *flex, size_t n)
{
    struct eng_flex *copy = mem_array(n + 1, sizeof *copy);

    for (size_t i = 0; i < n; i++) {
        copy[i] = flex[i];
        copy[i].component = mem_str(flex[i].component);
    }
    return copy;
}

static const char *const *copy_names(const char *const *names, size_t n)
{
    const char **copy = mem_array(n + 1, sizeof *copy);

    for (size_t i = 0; i < n; i++)
        copy[i] = mem_str(names[i]);
    return copy;
}

/** Texts of an event, borrowed by its sender and owned in the queue. */
static const size_t texts[] = {
    offsetof(struct eng_event, user),         offsetof(struct eng_event, name),
    offsetof(struct eng_event, container_id), offsetof(struct eng_event, ip),
    offsetof(struct eng_event, host),         offsetof(struct eng_event, lacking),
    offsetof(struct eng_event, exit.text),    offsetof(struct eng_event, application_id),
    offsetof(struct eng_event, text),         offsetof(struct eng_event, exit.last_stderr),
    offsetof(struct eng_event, key),          offsetof(struct eng_event, node_http),
};

static char **text_at(struct eng_event *ev, size_t i)
{
    return (char **)((char *)ev + texts[i]);
}

/** Replace what an event borrows by copies. */
static void own(struct eng_event *ev)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *text_at(ev, i) = mem_str(*text_at(ev, i));
    ev->flex = copy_flex(ev->flex, ev->n_flex);
    ev->names = copy_names(ev->names, ev->n_names);
    json_incref((json_t *)ev->value);
    ev->node = ev->node ? eng_node_copy(ev->node) : NULL;
}

static void release(struct eng_event *ev)
{
    for (size_t i = 0; i < ev->n_flex; i++)
        free((char *)ev->flex[i].component);
    for (size_t i = 0; i < ev->n_names; i++)
        free((char *)ev->names[i]);
    free((void *)ev->flex);
    free((void *)ev->names);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(*text_at(ev, i));
    spec_free(ev->take_spec);
    eng_rules_free(ev->take_rules);
    eng_node_free((struct eng_node *)ev->node);
    json_decref((json_t *)ev->value);
}

/* ---- the queue ---- */

static void remove_one(struct queue *q, struct queued *item)
{
    TAILQ_REMOVE(&q->events, item, link);
    q->n_requests -= eng_event_is_request(&item->ev);
    q->n_bytes -= item->n_bytes;
    if (item->ev.kind == EV_PROBE && map_get(&q->probes, item->ev.container_id) == item)
        map_remove(&q->probes, item->ev.container_id);
    release(&item->ev);
    free(item);
}

/** A probe's result of the same process start that still waits, or NULL. */
static struct queued *earlier_probe(const struct queue *q, const struct eng_event *ev)
{
    struct queued *item = ev->kind == EV_PROBE ? map_get(&q->probes, ev->container_id) : NULL;

    return item && item->ev.attempt == ev->attempt ? item : NULL;
}

void queue_push(struct queue *q, struct eng_event *ev, size_t n_bytes)
{
    struct queued *old = earlier_probe(q, ev), *item = mem_new(struct queued);

    if (old)
        remove_one(q, old);
    item->ev = *ev;
    ev->take_spec = NULL;
    ev->take_rules = NULL;
    own(&item->ev);
    q->n_requests += eng_event_is_request(&item->ev);
    q->n_bytes += item->n_bytes = n_bytes;
    TAILQ_INSERT_TAIL(&q->events, item, link);
    if (ev->kind == EV_PROBE)
        map_set(&q->probes, ev->container_id, item);
}

struct eng_event *queue_first(const struct queue *q)
{
    struct queued *item = TAILQ_FIRST(&q->events);

    return item ? &item->ev : NULL;
}

void queue_pop(struct queue *q)
{
    remove_one(q, TAILQ_FIRST(&q->events));
}

void queue_drop_requests(struct queue *q, void (*dropped)(void *arg, uint64_t token), void *arg)
{
    struct queued *next;

    for (struct queued *item = TAILQ_FIRST(&q->events); item; item = next) {
        next = TAILQ_NEXT(item, link);
        if (!eng_event_is_request(&item->ev))
            continue;
        uint64_t token = item->ev.token;
        remove_one(q, item);
        dropped(arg, token);
    }
}

void queue_fini(struct queue *q)
{
    while (queue_first(q))
        queue_pop(q);
    map_fini(&q->probes, NULL);
}
