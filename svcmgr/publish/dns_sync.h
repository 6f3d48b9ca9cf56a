/**
 * Asks every dnsd that is configured whether it answers without a record that was withdrawn: GET /sync?revision=R&timeout=T.
 *
 *                 an ask waits for its answer                    an ask is settled at once, as not confirmed
 *             ┌────────────────────────────────┐  failed   ┌───────────────────────────────────────────┐
 *     ───────>│ reached: one call at a time    │──────────>│ away: one call at a time, after a pause   │
 *             └────────────────────────────────┘<──────────└───────────────────────────────────────────┘
 *                                                 confirmed
 *
 * A call covers all asks that came before it, as a revision covers those before it. So a server that does not answer costs one
 * wait, however many instances are drained, and one that answers costs one call for many of them.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef PUBLISH_DNS_SYNC_H
#define PUBLISH_DNS_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "http/client.h"
#include "run/loop.h"

#define DNS_SYNC_SERVERS_MAX 16

struct dns_sync;

struct dns_sync_def {
    /* "http://host:port", several comma-separated; NULL or "": none, each ask is confirmed at once */
    const char *urls;
    int64_t timeout_ms; /* of one wait for a server, > 0 */
    /** The newest revision of the registry that is known, in REG_REVISION_MAX bytes. @return false: none is known yet */
    bool (*revision)(void *arg, char *out);
    /**
     * An ask is settled, never inside dns_sync_ask.
     *
     * @param key   of the ask                                                     [borrowed]
     * @param code  0: every server has confirmed it; else ERR_*, and text names the server, the reason and the key of the
     *              option; NULL after a success                                   [borrowed]
     */
    void (*done)(void *arg, const char *key, int code, const char *text);
    /** A server is away (why: the reason), or confirms again (why NULL). url [borrowed] */
    void (*changed)(void *arg, const char *url, const struct err_info *why);
    void *arg;
};

/** Whether a list of URLs can be used. @return 0; or ERR_INVALID with *why filled. Thread: any. */
int dns_sync_check(const char *urls, struct err_info *why);
/**
 * Without asks.
 *
 * @param loop, http  must live longer                                             [borrowed]
 * @param def         urls was checked; copied
 * @return free with dns_sync_free.
 */
struct dns_sync *dns_sync_new(struct run_loop *loop, struct http_client *http,
                              const struct dns_sync_def *def);
/**
 * Ask whether names are answered from the newest revision that is known when a server is asked, or from a later one. Settled once, within
 * twice the timeout and three seconds.
 *
 * @param key  handed to done; several asks may have the same one                  [copied]
 */
void dns_sync_ask(struct dns_sync *s, const char *key);
/** Drop all asks and free; no callback comes any more. NULL is fine. */
void dns_sync_free(struct dns_sync *s);

#endif
