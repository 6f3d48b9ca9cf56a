/**
 * HTTP client: libcurl's multi interface on the owner loop. Nothing blocks; HTTP/1.1 over http:// and https:// only, no
 * proxy from the environment, paths are sent as they are written (no "/../" is resolved). Connections are reused.
 *
 * Calls may be started and cancelled, and the client freed, from within on_data and done. Nothing of a call is used
 * after its done has returned.
 *
 * Thread: owner for everything.   Source: RFC 9110; ours.
 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/loop.h"

struct http_client;
struct http_call;

/**
 * A client without calls.
 *
 * @param loop  loop that drives it; must run for calls to make progress         [borrowed, outlives the client]
 * @return the client; free with http_client_free.   Thread: owner.   Source: ours.
 */
struct http_client *http_client_new(struct run_loop *loop);
/**
 * Cancel all calls (their `done` is called with ERR_CANCELLED before this returns; it must not start new ones), then
 * free. From within on_data or done the memory goes when that callback has returned.
 *
 * @param c  client; NULL is fine                                                [owned, taken]
 * Thread: owner.   Source: ours.
 */
void http_client_free(struct http_client *c);

/** How servers are proved to, and prove themselves. With a password a connection may take 10 s to be made. */
struct http_login {
    const char *user, *password; /* HTTP Basic, sent with every call; NULL: none */
    /* PEM file of the authorities that https servers are checked by; NULL: the system's */
    const char *ca_file;
};
/**
 * Sign all later calls in. The password is sent to the host of a call's URL only, not to where that redirects; that the URL is
 * https is the caller's to see to.
 *
 * @param c      without a call under way                                        [in,out]
 * @param login  copied
 * Thread: owner.   Source: RFC 7617.
 */
void http_client_sign_in(struct http_client *c, const struct http_login *login);

/** An answer; valid inside `done`. A call that failed half-way has the status and the bytes it received. */
struct http_answer {
    const char *url; /* that was asked */
    int status;      /* HTTP status; 0 when there was no answer */
    struct buf body; /* whole body, up to max_body; empty when on_data took it [owned by the call] */
    /** Header of the answer by name, or NULL; valid inside `done`. */
    const char *(*header)(const struct http_answer *a, const char *name);
    void *inside; /* of the client's */
};

/** A body that is read from a file as it leaves, at most 64 KiB in one turn of the loop. */
struct http_file {
    int fd;      /* a regular file, read from its begin whatever its offset; open until done [borrowed] */
    int64_t len; /* bytes that are sent; a file that ends before ends the call: ERR_IO */
};

struct http_call_def {
    const char *method; /* "GET" when NULL */
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated, or NULL */
    /** Copied. Content-Type: application/json is added when there is a body and no header says otherwise. */
    const void *body;
    size_t body_len;
    /** Instead of a body: copied. Content-Type: application/octet-stream is added when no header says otherwise. */
    const struct http_file *file;
    int64_t timeout_ms;         /* whole call; 0: none (streams) */
    int64_t connect_timeout_ms; /* 0: 2000 */
    int64_t idle_timeout_ms;    /* no byte came or left for so long: ERR_TIMEOUT; 0: none */
    size_t max_body;            /* 0: 64 MiB */
    bool no_follow; /* do not follow redirects; set it when headers hold secrets other than Authorization */
    /** A piece of a 2xx body as it comes; NULL: collected in answer.body. */
    void (*on_data)(void *arg, const char *bytes, size_t len);
    /**
     * Called exactly once, never inside http_call. err: 0 when an HTTP answer was read whole, whatever its status;
     * ERR_UNAVAILABLE (no connection; of a GET or HEAD also: connection lost), ERR_UNKNOWN_OUTCOME (connection lost after
     * any other request had begun to leave: it may have been done, and is not sent again), ERR_TIMEOUT (of those
     * likewise: it may have been done), ERR_TOOBIG, ERR_CANCELLED, ERR_IO (the file cannot be read whole), ERR_INVALID (no http or https URL) with *why filled: where is the URL, text names method, address, reason and what to do about it.
     * answer and why are never NULL.
     */
    void (*done)(void *arg, int err, const struct http_answer *answer, const struct err_info *why);
    void *arg;
};

/**
 * Start a call.
 *
 * @param c    client that is not being freed                                    [in,out]
 * @param def  url and done are required; everything is copied but arg           [borrowed during the call]
 * @return handle for http_call_cancel, valid until `done`.   Thread: owner.   Source: ours.
 */
struct http_call *http_call(struct http_client *c, const struct http_call_def *def);
/**
 * End a call; `done` is called with ERR_CANCELLED before this returns.
 *
 * @param call  call whose `done` has not been called                            [owned by the client]
 * Thread: owner.   Source: ours.
 */
void http_call_cancel(struct http_call *call);

#endif
