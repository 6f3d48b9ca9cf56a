/**
 * What a server asks of those who know the writes that other processes of the same service have done: the repeat of an HTTP_DONE_ONCE
 * that a gateway sends to another address is answered as the first was, and not done again.
 *
 *     claim ──found: FIRST───► it is done ──settle──► known to all ──its time is over: release──► forgotten
 *           ├─found: KNOWN───► answered as the first was
 *           └─found: UNKNOWN, FAILED──► refused
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef HTTP_REPEATS_H
#define HTTP_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "http/params.h"

/** An answer for repeats. */
struct http_kept_answer {
    int status;                /* 0: unknown outcome */
    int error;                 /* ERR_* that it reports, or 0 */
    char *media_type;          /* NULL: none */
    struct http_pair *headers; /* each with its texts one piece of memory */
    struct buf body;
    bool has_lost_body; /* its body was too large to be kept */
};

/** Append a header. @param name, value  copied [borrowed] Thread: any. Source: ours. */
void http_kept_header(struct http_kept_answer *a, const char *name, const char *value);
/** Copy. @param out  {0}; http_kept_fini releases [out] Thread: any. Source: ours. */
void http_kept_copy(const struct http_kept_answer *a, struct http_kept_answer *out);
/** Release; `{0}` afterwards. Thread: any. Source: ours. */
void http_kept_fini(struct http_kept_answer *a);

/** A write: what a repeat has in common with the first. */
struct http_write_key {
    const void *bytes; /* user, method, path, query, conditions, accessor and X-Request-Id */
    size_t len;
    const void *body;
    size_t body_len;
    bool may_have_lost_body; /* it has none, and the first may have had one */
    bool is_repeat_only;     /* it has none, and is refused unless it is a repeat */
};

enum http_repeat {
    HTTP_REPEAT_FIRST,   /* nobody has taken it: it is to be done here */
    HTTP_REPEAT_KNOWN,   /* it was done, and this was the answer */
    HTTP_REPEAT_UNKNOWN, /* another process has taken it, and has not said what came of it */
    HTTP_REPEAT_FAILED   /* that cannot be found out; nothing was done here */
};

/** A write on its way through those who share. */
struct http_claim;

struct http_repeats_ops {
    /**
     * Find out whether another process has taken a write; when none has, it is taken for this one.
     *
     * @param arg    of the server's definition
     * @param key    copied as far as needed                                      [borrowed]
     * @param found  called later, once, unless the claim is released before. answer: of KNOWN; why: of FAILED [borrowed]
     * @return released by release; NULL: nothing is shared now, found is not called and the write is to be done.
     */
    struct http_claim *(*claim)(void *arg, const struct http_write_key *key,
                                void (*found)(void *found_arg, enum http_repeat what,
                                              const struct http_kept_answer *answer,
                                              const struct err_info *why),
                                void *found_arg);
    /** A FIRST was answered. @param answer  status 0: what came of it is not known [borrowed] */
    void (*settle)(struct http_claim *claim, const struct http_kept_answer *answer);
    /** Nothing more is asked of a claim. @param stays  others go on knowing what was settled, or that it was taken; else a FIRST is forgotten
     *  by all, and its repeat is done */
    void (*release)(struct http_claim *claim, bool stays);
};

#endif
