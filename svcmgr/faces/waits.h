/**
 * Requests that wait for a change of a service. What waits costs nothing but its memory until its own service changes or its time
 * is over.
 *
 *     waits_begin() ──> waiter ──┬─ the service may have changed ──> ops->is_over()? ─┐
 *                                ├─ its time is over, or a gateway waits no longer ───┼─> ops->answer()
 *                                ├─ the service is gone ──────────────────────────────┘
 *                                └─ the client has closed its connection ───────────────> ops->free() alone
 *
 * Those of one service look in turns of 500 µs, however many they are.
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_WAITS_H
#define FACES_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "faces/face.h"
#include "http/server.h"
#include "run/loop.h"

struct waits;

/** What a kind of wait is for. */
struct wait_ops {
    /** Whether there is nothing more to wait for. */
    bool (*is_over)(void *arg, const struct face *face, const struct eng_service *s);
    /** Reply with what is. @param s  NULL: the service of this name is gone */
    void (*answer)(void *arg, struct http_req *req, struct face *face, const struct eng_service *s,
                   const char *name);
    /** Release arg; called exactly once. */
    void (*free)(void *arg);
};

/** Nobody waits. @param loop  [borrowed, outlives it] @return waits_free releases it. */
struct waits *waits_new(struct run_loop *loop);
/** Release, after the HTTP server has stopped; NULL is fine. */
void waits_free(struct waits *w);
/** Requests that wait. */
size_t waits_n(const struct waits *w);
/** Those of one kind that wait for one service. */
size_t waits_n_of(const struct waits *w, const struct eng_service *s, const struct wait_ops *ops);
/**
 * A service may have changed, or has gone: those who wait for it look, in later turns of the loop.
 *
 * @param user, name  of the service                                               [borrowed]
 */
void waits_changed(struct waits *w, enum eng_kind kind, const char *user, const char *name);
/**
 * Let a request wait, in its handler.
 *
 * @param face        its waits are the place                                      [borrowed, outlives the request]
 * @param s           the service                                                  [borrowed]
 * @param ops         what it waits for                                            [borrowed, static]
 * @param arg         of ops                                                       [consumed]
 * @param timeout_ms  it is answered then at the latest
 */
void waits_begin(struct http_req *req, struct face *face, const struct eng_service *s,
                 const struct wait_ops *ops, void *arg, int64_t timeout_ms);

/** Entity tag of a service as it is now, weak: the lifetime that is left counts down without another one. free() */
char *waits_tag(const struct face *face, const struct eng_service *s);
/** Whether If-None-Match of the request names a tag. */
bool waits_tag_is_known(const struct http_req *req, const char *tag);

#endif
