#include "store/zk_handle.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/log.h"

#include <stdlib.h>
#include <string.h>

#define HANDLE_MAGIC OBJ_MAGIC('Z', 'K', 'H', 'A')
#define LINK_MAGIC   OBJ_MAGIC('Z', 'K', 'L', 'I')
#define EVENT_MAGIC  OBJ_MAGIC('Z', 'K', 'E', 'V')

#define ZKH_EVENTS(X)                                                                                        \
    X(zk_client_connected, LOG_INFO, "The ZooKeeper client is connected.")                                   \
    X(zk_client_expired, LOG_WARN, "The ZooKeeper client's session is over; another is opened.")             \
    X(zk_client_message, LOG_DEBUG, "The ZooKeeper client says.")
LOG_DECLARE(ZKH_EVENTS)

enum { REOPEN_MS = 1000 };

/**
 * What one handle's threads know. They read `loop` and `link` itself; the rest is the owner's. It is freed by a message
 * posted after the threads have ended, so it outlives every message of theirs.
 */
struct zkh_link {
    struct obj obj;
    struct run_loop *loop;
    struct zkh *handle;
    zhandle_t *zh; /* set when zookeeper_init2 has returned, on the owner loop */
    bool is_opened, is_connected, is_over;
    int open_errno; /* of zookeeper_init2 */
    uv_work_t work;
};

struct zkh_event {
    struct obj obj;
    struct zkh_link *link;
    int state;
};

struct zkh {
    struct obj obj;
    struct run_loop *loop;
    char *servers, *digest;
    int timeout_ms;
    const struct zkh_ops *ops;
    void *arg;
    struct zkh_link *link;    /* the handle in use or in the making; NULL between two */
    struct zkh_link *ending;  /* being closed */
    struct run_timer *reopen; /* after a handle could not even be made */
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void open_link(struct zkh *h);
static void end_link(struct zkh *h);

/* ---- foreign threads ---- */

static void on_client_message(const char *message)
{
    log_emit(&ev_zk_client_message, LOG_STR("message", message));
}

static void on_event(void *arg);

/* Thread: the client's. */
static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct zkh_link *link = obj_cast(context, struct zkh_link, LINK_MAGIC);
    (void)zh;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    struct zkh_event *event = mem_new(struct zkh_event);
    obj_init(&event->obj, EVENT_MAGIC);
    event->link = link;
    event->state = state;
    run_post(link->loop, on_event, event);
}

/* Thread: libuv's worker. */
static void work_open(uv_work_t *work)
{
    struct zkh_link *link = obj_cast(work->data, struct zkh_link, LINK_MAGIC);
    const struct zkh *h = link->handle;
    link->zh = zookeeper_init2(h->servers, on_watch, h->timeout_ms, NULL, link, 0, on_client_message);
    link->open_errno = link->zh ? 0 : errno;
    /* Else the servers' names are looked up again each time the client's thread wakes: twice a write. They are looked up when
     * a connection is lost. */
    if (link->zh)
        zoo_set_servers_resolution_delay(link->zh, -1);
    /* It leaves before any request, on this connection and each later one; a refusal comes as ZOO_AUTH_FAILED_STATE. */
    if (link->zh && h->digest)
        zoo_add_auth(link->zh, "digest", h->digest, (int)strlen(h->digest), NULL, NULL);
}

/* Thread: libuv's worker. */
static void work_close(uv_work_t *work)
{
    struct zkh_link *link = obj_cast(work->data, struct zkh_link, LINK_MAGIC);
    zookeeper_close(link->zh); /* whatever it answers, the handle and its threads are gone */
}

/* ---- owner ---- */

static void tell_up(struct zkh *h)
{
    char name[ADDR_TEXT_MAX] = "";
    uint16_t port = 0;
    struct addr address;
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    const struct sockaddr *at = zookeeper_get_connected_host(h->link->zh, (struct sockaddr *)&peer, &len);
    if (at && addr_from_sockaddr(at, &address, &port) == 0)
        addr_text(&address, name);
    log_emit(&ev_zk_client_connected, LOG_STR("server", name), LOG_INT("port", port),
             LOG_STR("servers", h->servers));
    h->ops->up(h->arg);
}

static void tell_down(struct zkh *h, const char *text)
{
    struct err_info why = {0};
    err_set(&why, ERR_UNAVAILABLE, h->servers, "ZooKeeper at %s: %s", h->servers, text);
    h->ops->down(h->arg, &why);
}

static bool is_up(const struct zkh_link *link)
{
    return link && link->is_opened && link->is_connected;
}

static void set_connected(struct zkh *h, bool is_connected)
{
    bool was_up = is_up(h->link);
    h->link->is_connected = is_connected;
    if (h->is_closing || was_up == is_up(h->link))
        return;
    if (was_up)
        tell_down(h, "the connection is lost");
    else
        tell_up(h);
}

static void on_event(void *arg)
{
    struct zkh_event *event = obj_cast(arg, struct zkh_event, EVENT_MAGIC);
    struct zkh_link *link = event->link;
    struct zkh *h = link->handle;
    int state = event->state;
    obj_fini(&event->obj);
    free(event);
    if (link != h->link)
        return;
    set_connected(h, state == ZOO_CONNECTED_STATE);
    if (link != h->link || (state != ZOO_EXPIRED_SESSION_STATE && state != ZOO_AUTH_FAILED_STATE))
        return; /* whoever was told may have closed the handle */
    log_emit(&ev_zk_client_expired, LOG_STR("servers", h->servers));
    link->is_over = true;
    if (link->is_opened)
        end_link(h);
}

static void finish(struct zkh *h)
{
    void (*closed)(void *) = h->closed;
    void *arg = h->closed_arg;
    free(h->servers);
    free(h->digest);
    run_timer_free(h->reopen);
    obj_fini(&h->obj);
    free(h);
    closed(arg);
}

/* Comes after every message of the link's threads. */
static void on_link_over(void *arg)
{
    struct zkh_link *link = obj_cast(arg, struct zkh_link, LINK_MAGIC);
    struct zkh *h = link->handle;
    h->ending = NULL;
    obj_fini(&link->obj);
    free(link);
    h->ops->gone(h->arg);
    if (h->is_closing)
        finish(h);
    else
        open_link(h);
}

static void after_close(uv_work_t *work, int status)
{
    struct zkh_link *link = obj_cast(work->data, struct zkh_link, LINK_MAGIC);
    BUG_IF(status != 0);
    run_post(link->loop, on_link_over, link);
}

/* Close the current handle, whose opening is over. */
static void end_link(struct zkh *h)
{
    struct zkh_link *link = h->link;
    h->link = NULL;
    h->ending = link;
    BUG_IF(uv_queue_work(run_loop_uv(h->loop), &link->work, work_close, after_close) != 0);
}

static void on_reopen(void *arg)
{
    struct zkh *h = obj_cast(arg, struct zkh, HANDLE_MAGIC);
    open_link(h);
}

/* zookeeper_init2 failed: no address, no memory, no descriptors. */
static void open_failed(struct zkh *h)
{
    struct zkh_link *link = h->link;
    h->link = NULL;
    if (!h->is_closing)
        tell_down(h, strerror(link->open_errno));
    obj_fini(&link->obj);
    free(link);
    if (h->is_closing)
        finish(h);
    else
        run_timer_start(h->reopen, REOPEN_MS, 0);
}

static void after_open(uv_work_t *work, int status)
{
    struct zkh_link *link = obj_cast(work->data, struct zkh_link, LINK_MAGIC);
    struct zkh *h = link->handle;
    BUG_IF(status != 0);
    if (!link->zh) {
        open_failed(h);
        return;
    }
    link->is_opened = true;
    if (h->is_closing || link->is_over)
        end_link(h);
    else if (link->is_connected)
        tell_up(h);
}

static void open_link(struct zkh *h)
{
    struct zkh_link *link = mem_new(struct zkh_link);
    obj_init(&link->obj, LINK_MAGIC);
    link->loop = h->loop;
    link->handle = h;
    link->work.data = link;
    h->link = link;
    BUG_IF(uv_queue_work(run_loop_uv(h->loop), &link->work, work_open, after_open) != 0);
}

struct zkh *zkh_open(struct run_loop *loop, const char *servers, int timeout_ms, const char *digest,
                     const struct zkh_ops *ops, void *arg)
{
    zoo_set_debug_level(
        ZOO_LOG_LEVEL_WARN); /* of the whole library; what it says goes to our log at debug level */
    struct zkh *h = mem_new(struct zkh);
    obj_init(&h->obj, HANDLE_MAGIC);
    h->loop = loop;
    h->servers = mem_str(servers);
    h->digest = mem_str(digest);
    h->timeout_ms = timeout_ms;
    h->ops = ops;
    h->arg = arg;
    h->reopen = run_timer_new(loop, on_reopen, h);
    open_link(h);
    return h;
}

static void finish_later(void *arg)
{
    struct zkh *h = obj_cast(arg, struct zkh, HANDLE_MAGIC);
    finish(h);
}

void zkh_close(struct zkh *h, void (*closed)(void *arg), void *arg)
{
    BUG_IF(h->is_closing);
    h->is_closing = true;
    h->closed = closed;
    h->closed_arg = arg;
    run_timer_stop(h->reopen);
    if (h->link && h->link->is_opened)
        end_link(h);
    else if (!h->link && !h->ending)
        run_post(h->loop, finish_later, h);
}

zhandle_t *zkh_get(const struct zkh *h)
{
    return is_up(h->link) && !h->is_closing ? h->link->zh : NULL;
}
