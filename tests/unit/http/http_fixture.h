/**
 * A server, a client and raw connections on one loop, for the tests of lib/http. Everything awaits a condition; a wait
 * that lasts a minute fails the test.
 */
#ifndef HTTP_FIXTURE_H
#define HTTP_FIXTURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/buf.h"
#include "http/client.h"
#include "http/server.h"
#include "run/loop.h"

struct fixture {
    struct run_loop *loop;
    struct http_server *server; /* NULL once stopped */
    struct http_client *client;
    uint16_t port;
    struct run_timer *guard;
    uv_prepare_t prepare;
    bool (*cond)(void *arg); /* what is awaited */
    void *cond_arg;
    bool is_late;
    bool is_stopped;
};

/** A plain TCP connection to the server. */
struct raw {
    struct fixture *fx;
    int fd;
    uv_poll_t *poll;
    struct buf in;
    bool is_ended; /* end of file or reset */
};

/** Start a server with these routes on a free loopback port, and a client. @param def NULL: defaults. */
void fixture_start(struct fixture *fx, const struct http_route *routes, size_t n_routes, void *app,
                   const struct http_server_def *def);
/** Ask the server to stop and wait until it has. */
void fixture_stop_server(struct fixture *fx);
/** Stop what still runs and release all. */
void fixture_end(struct fixture *fx);
/** Run the loop until *flag. */
void fixture_await(struct fixture *fx, const bool *flag);
/** Run the loop until cond(arg). */
void fixture_await_fn(struct fixture *fx, bool (*cond)(void *arg), void *arg);
/** Run one iteration that does not wait. */
void fixture_spin(struct fixture *fx);

struct raw *raw_open(struct fixture *fx);
void raw_send(struct raw *r, const char *bytes, size_t len);
void raw_send_str(struct raw *r, const char *text);
/** Wait until the received text contains `needle` n times. */
void raw_await_n(struct raw *r, const char *needle, size_t n);
void raw_await(struct raw *r, const char *needle);
void raw_await_end(struct raw *r);
/** Do not read (the peer's sends will block) / read again. */
void raw_pause(struct raw *r);
void raw_resume(struct raw *r);
void raw_close(struct raw *r);
/** Close with a reset instead of an orderly end. */
void raw_reset(struct raw *r);
/** One request on its own connection, answered until the connection ends; free() the text. */
char *raw_exchange(struct fixture *fx, const char *request);

/** Result of one client call. */
struct result {
    bool is_done;
    int err, status;
    struct buf body;
    struct err_info why;
    char header[256]; /* of the name given to call_sync */
    const char *header_name;
};
/** Issue def with done/arg set here and wait for the end. */
void call_sync(struct fixture *fx, struct http_call_def def, struct result *out);
/** GET of a path on the fixture's server. */
void get_sync(struct fixture *fx, const char *path, struct result *out);
/** `done` for struct result. */
void result_done(void *arg, int err, const struct http_answer *a, const struct err_info *why);
/** "http://127.0.0.1:PORT/path" into a buffer that lives until the next call. */
const char *fixture_url(struct fixture *fx, const char *path);

#endif
