/**
 * What client.c, client_admin.c, client_records.c and watch.c share. Thread: the loop's.   Source: ours.
 */
#ifndef REGISTRY_CLIENT_PRIV_H
#define REGISTRY_CLIENT_PRIV_H

#include <sys/queue.h>

#include "base/buf.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "http/client.h"
#include "registry/wire.h"
#include "run/loop.h"

#define REG_MAGIC OBJ_MAGIC('R', 'E', 'G', '1')

/** What is expected at the URLs. */
#define PROGRAM "registryd"

struct request;
struct reg_watch;

struct reg {
    struct obj obj;
    struct run_loop *loop;
    struct http_client *http;
    char **urls; /* without slash at the end; ended by NULL */
    size_t n_urls, url_at;
    char *user;            /* percent-encoded */
    char *accessor_header; /* who we are: "X-Bobbin-Accessor: …"; NULL: nobody's accessor */
    bool is_gateway;       /* signed in with a password: watches are bounded */
    struct buf creations;  /* digest ids for nodes to be made, with ", " between */
    int64_t timeout_ms, idle_ms;
    bool (*may_send)(void *arg); /* reg_options */
    void *may_send_arg;
    TAILQ_HEAD(, request) requests;
    TAILQ_HEAD(, reg_watch) watches;
    uint64_t random;             /* state of the jitter */
    char *lease;                 /* key of the lease of all records that are bound with a TTL */
    int64_t lease_ttl_ms;        /* shortest of its records; 0: it has none */
    int64_t bound_ttl_ms;        /* shortest that was bound here since it had none; 0: nothing was */
    bool has_bound;              /* since the last renewal was sent */
    struct reg_keeping *keeping; /* renewing by itself; NULL: not */
};

enum request_kind {
    REQUEST_MKNODE,
    REQUEST_BIND,
    REQUEST_RESOLVE,
    REQUEST_LOCATE,
    REQUEST_STAT,
    REQUEST_EXISTS,
    REQUEST_LIST,
    REQUEST_PAGE, /* as LIST, but one answer only: node.cursor says where the next begins */
    REQUEST_DELETE,
    REQUEST_ACCESSOR,
    REQUEST_FIND,
    REQUEST_PURGE,
    REQUEST_HOME,
    REQUEST_REPORT,
    REQUEST_RENEW,
};

struct request {
    struct obj obj;
    struct reg *reg;
    TAILQ_ENTRY(request) link;
    enum request_kind kind;
    char *path, *query;
    char *body;
    size_t body_len;
    REG_DONE;
    void *arg;

    char *api;   /* locate: the endpoint that is wanted, or NULL */
    char *terms; /* find: the query without a cursor; NULL otherwise */

    int64_t deadline_ms, pause_ms, try_ms;
    size_t n_tries, url_at;
    struct err_info before;  /* why an earlier try was not enough: no registry there, or what it lacked */
    struct http_call *call;  /* running */
    struct run_timer *timer; /* of the pause, or of an error found at once */
    int err;                 /* found before anything was sent */
    struct err_info why;
    bool is_secure; /* the registry is, its answer says */
    struct wire_node node;
    int64_t lease_ttl_ms;  /* bind: with the lease, of so long; 0: without */
    struct wire_many many; /* of the operations of client_admin.c and client_lease.c */
    struct reg_result result;
};

/** A new request; a bad path is reported later, from the loop. [borrowed until it is started] */
struct request *client_request(struct reg *r, enum request_kind kind, const char *path, REG_DONE, void *arg);
/** As reg_bind, with a lease of ttl_ms; 0: without. */
void client_bind(struct reg *r, const char *path, const struct reg_record *record, unsigned flags,
                 int64_t ttl_ms, REG_DONE, void *arg);
/** A new key of a lease. free() */
char *lease_key_new(void);
/** Whether it can be a key of a lease. */
bool lease_key_fits(const char *key);
/** A record was bound with the lease. */
void lease_bound(struct reg *r, int64_t ttl_ms);
/** Send it, or report q->err later. @param take_query  "a=b&c=d" or "" [taken] */
void client_start(struct request *q, char *take_query);
/** End it: its completion gets ERR_CANCELLED before this returns. */
void client_cancel(struct request *q);
/** A 2xx answer to an operation on more than one node: fill q->result. @return 0; ERR_*, with q->why. */
int client_take_many(struct request *q, const char *body, size_t len);

/**
 * Read the URLs of a registry's servers.
 *
 * @param list  comma-separated; trailing slashes do not matter                      [borrowed]
 * @param out   ended by NULL; client_urls_free                                      [out]
 * @param n     of them                                                              [out]
 * @return 0; ERR_INVALID: one is no http or https URL; *out and *n unchanged.
 */
int client_urls_read(const char *list, char ***out, size_t *n, struct err_info *why);
/** Free them. @param urls  of client_urls_read; NULL is fine */
void client_urls_free(char **urls);
/** URL of a path at the server that is asked now; query: "a=b&c=d" or "". free(). */
char *client_url(const struct reg *r, const char *path, const char *query);
/** Ask the next server from now on, unless another call did so already: url_at is what the failed call was sent to. */
void client_next_server(struct reg *r, size_t url_at);
/** A number in low..high, for jitter. */
int64_t client_jitter(struct reg *r, int64_t low, int64_t high);
/** Percent-encode everything but unreserved characters and those of `keep`, appended to out. */
void client_percent(const char *text, const char *keep, struct buf *out);
/** Ask `refused` (of reg_watch_ops) of this one, with its own arg, instead of the follower's. */
void watch_on_refusal(struct reg_watch *w, bool (*refused)(void *arg, const struct err_info *why), void *arg);
/** Why no registry is heard by this watch; NULL: one is. [borrowed until the loop runs] */
const struct err_info *watch_lost(const struct reg_watch *w);
/** Free a stopped watch, or stop and free: the registry is closed. */
void watch_drop(struct reg_watch *w);

#endif
