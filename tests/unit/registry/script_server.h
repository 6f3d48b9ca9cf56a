/**
 * A server that plays registryd from a script: each request takes the next step that is for any path or for its own. What was asked is logged, one line a
 * request: method, raw path, and the parameters that Bobbin knows.
 */
#ifndef SCRIPT_SERVER_H
#define SCRIPT_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "http/server.h"
#include "run/loop.h"

struct step {
    int status; /* 0: never answer */
    const char *body;
    const char *revision, *applied; /* headers, or NULL */
    const char *secure;             /* Bobbin-Secure, or NULL */
    bool stream;                    /* the body as a stream … */
    size_t piece;                   /* … in pieces of so many bytes (0: all at once) … */
    bool hold;                      /* … that stays open */
    const char *path;               /* only for requests of this node, as the request has it; NULL: for any */
};

struct script_server {
    struct run_loop *loop;
    struct http_server *server;
    const struct step *steps;
    size_t n_steps, n_asked;
    bool *is_taken;    /* one a step */
    struct buf log;    /* requests */
    struct buf bodies; /* of requests, one a line */
    char url[64];
    bool is_stopped;
};

/** Start on a free loopback port. steps: borrowed. A request after the last step gets a 500. */
void script_start(struct script_server *s, struct run_loop *loop, const struct step *steps, size_t n_steps);
/** Stop, running the loop until it is over, and release. */
void script_stop(struct script_server *s);
/** Run the loop until cond(arg); fails the test after a minute. */
void script_await(struct run_loop *loop, bool (*cond)(void *arg), void *arg);
/** URL of a loopback port where nothing listens. */
void script_dead_url(char out[64]);
/** URL of a loopback port that takes no connection: its queue is full. */
void script_full_url(char out[64]);

#endif
