/**
 * Waiting in straight-line code: a loop that is run until the one thing asked for has happened. Commands read from top to
 * bottom; Ctrl-C ends every wait.
 *
 * Thread: main.   Source: ours.
 */
#ifndef CLI_KIT_WAIT_H
#define CLI_KIT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/obj.h"
#include "cli.h"
#include "bobbin/error.h"
#include "http/client.h"
#include "registry/wire.h"
#include "run/loop.h"

#define WAIT_MAGIC OBJ_MAGIC('W', 'A', 'I', 'T')

struct wait {
    struct obj obj;
    struct run_loop *loop;
    struct http_client *http;
    struct run_timer *timer;
    uv_signal_t signals[4]; /* SIGINT, SIGTERM, SIGHUP, SIGCHLD */
    bool is_interrupted;    /* one of the first three came */
    bool is_time_over;      /* of wait_event */
    bool is_gateway;        /* signed in at one */
};

/** Begin: from now on SIGINT, SIGTERM and SIGHUP interrupt instead of killing. @param w  release with wait_close [out] */
void wait_open(struct wait *w);
/** Sign requests in at the gateway of --password-file, if there is one. */
void wait_sign_in(struct wait *w, const struct cli *cli);
/** Release; nothing of it is under way. */
void wait_close(struct wait *w);
/**
 * Wait until something happened (a signal, the end of a child, whatever stops the loop) or the time is over.
 *
 * @param limit_ms  -1: no limit
 * @return 0: something, or the time is over (w->is_time_over); ERR_CANCELLED: interrupted.
 */
int wait_event(struct wait *w, int64_t limit_ms);
/** Let time pass. @return 0; ERR_CANCELLED: interrupted. */
int wait_ms(struct wait *w, int64_t ms);

/** What came back of a request; release with wait_answer_fini. */
struct wait_answer {
    int status;
    struct buf body;
    char revision[64];   /* header Bobbin-Revision, "" when there is none */
    char container[128]; /* Bobbin-Container */
    char log_size[24];   /* Bobbin-Log-Size */
    char log_id[24];     /* Bobbin-Log-Id */
    char *warning;       /* Warning; NULL: there is none */
};

/** Release the body and what else is owned. */
void wait_answer_fini(struct wait_answer *a);
/**
 * One HTTP request.
 *
 * @param def  done and arg are set here                                            [borrowed]
 * @param out  filled when an answer came, whatever its status; release it in any case [out]
 * @return 0; as http_call_def.done; ERR_CANCELLED: interrupted.
 */
int wait_http(struct wait *w, const struct http_call_def *def, struct wait_answer *out, struct err_info *why);
/** A request that is under way while something else is done. */
struct wait_call;
/** Send a request; wait_http_end must follow. @param def  as wait_http [borrowed during the call] @return new */
struct wait_call *wait_http_begin(struct wait *w, const struct http_call_def *def);
/** Whether it was answered, or has failed: wait_http_end returns at once then, and wait_event returns when it comes to that. */
bool wait_http_is_over(const struct wait_call *call);
/** Wait for the answer, and release the call. Parameters and result as wait_http. */
int wait_http_end(struct wait_call *take_call, struct wait_answer *out, struct err_info *why);
/** GET of a URL that must answer 200: as wait_http, else the error its problem document names (ERR_*, *why filled). */
int wait_get(struct wait *w, const struct wire_asked *asked, int64_t timeout_ms, struct wait_answer *out,
             struct err_info *why);

#endif
