/**
 * A request that another process answers: the active svcmgr, an application master, or the svcmgr of one. Only app*.c include this.
 *
 *     handler ──app_forward_new: what is to be sent is copied──> waiting ──app_forward_start──> sent ──> its answer is relayed
 *                                                                   └──────app_forward_fail──> failed(…) replies
 *
 * Sent are the method, the body, and of the headers those that the APIs know; relayed are the status, the body, and of the headers likewise.
 * Both bodies, the time and the number of such requests are bounded.
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_FORWARD_H
#define SVCMGR_APP_FORWARD_H

#include <stdint.h>

#include "http/server.h"

struct app;
struct forward;

/** Header of a request that is for the master of one application, and of what that answers: its id. */
#define FORWARD_APPLICATION "Bobbin-Application"

struct forward_def {
    const char *url;         /* whole, without the query [copied] */
    const char *user;        /* in whose name; NULL: that of the request, if it names one [copied] */
    const char *header;      /* one more, "Name: value"; NULL: none [copied] */
    const char *application; /* whose master is asked: only that may answer. NULL: anybody [copied] */
    int64_t timeout_ms;
    /**
     * Reply: there is no answer. @param who  of the def [borrowed] @param code  ERR_UNAVAILABLE: it was not done; ERR_TIMEOUT,
     * ERR_UNKNOWN_OUTCOME: a write may have been; ERR_TOOBIG; ERR_LIMIT: too many are forwarded @param text  why, a clause [borrowed]
     */
    void (*failed)(struct app *a, struct http_req *req, const char *who, int code, const char *text);
    const char *who; /* for failed; NULL: nothing [copied] */
};

/** Copy what is to be sent; the request is answered later. Inside of its handler. @return for start or fail, one of which follows */
struct forward *app_forward_new(struct app *a, struct http_req *req, const struct forward_def *def);
/** Send it, unless its client has gone. */
void app_forward_start(struct forward *take_f);
/** Do not send it: failed replies, unless the client has gone. */
void app_forward_fail(struct forward *take_f, int code, const char *text);

#endif
