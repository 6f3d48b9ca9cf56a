/**
 * What client.c and watch.c share. Thread: the loop's.   Source: ours.
 */
#ifndef REGISTRY_CLIENT_INSIDE_H
#define REGISTRY_CLIENT_INSIDE_H

#include <sys/queue.h>

#include "base/buf.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "http/client.h"
#include "run/loop.h"

#define REG_MAGIC OBJ_MAGIC('R', 'E', 'G', '1')

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
    struct buf creations;  /* digest ids for nodes to be made, with ", " between */
    int64_t timeout_ms, idle_ms;
    TAILQ_HEAD(, request) requests;
    TAILQ_HEAD(, reg_watch) watches;
    uint64_t random; /* state of the jitter */
};

/** URL of a path at the server that is asked now; query: "a=b&c=d" or "". free(). */
char *client_url(const struct reg *r, const char *path, const char *query);
/** Ask the next server from now on, unless another call did so already: url_at is what the failed call was sent to. */
void client_next_server(struct reg *r, size_t url_at);
/** A number in low..high, for jitter. */
int64_t client_jitter(struct reg *r, int64_t low, int64_t high);
/** Percent-encode everything but unreserved characters and those of `keep`, appended to out. */
void client_percent(const char *text, const char *keep, struct buf *out);
/** Free a stopped watch, or stop and free: the registry is closed. */
void watch_drop(struct reg_watch *w);

#endif
