/**
 * The head of a request, checked: for whom it is, where its body ends, which target it names, what its body is. Pure; nothing here
 * knows routes or sockets.
 *
 *     GET /a/b?c=d HTTP/1.1          method, target, version
 *     Host: registry:9192            http_head_check_host: an address we are bound to, or a name of ours
 *     Origin: http://registry:9192   http_head_check_origin: no page of another host, be it ours or the proxy's
 *     Content-Length: 12             http_head_check_framing: one way to say where the body ends, one Host
 *
 * Texts are borrowed. why is filled with each error, and may be NULL.
 * Thread: any.   Source: RFC 9110, RFC 9112, RFC 6454; ours.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "bobbin/error.h"

/** Headers that describe the message itself; NULL: absent. Of a repeated header the last value, and how many there are. */
struct http_head {
    const char *method, *version; /* "GET"; "HTTP/1.1" */
    bool target_has_nul;          /* bytes of the target lie behind a NUL */
    const char *host, *origin;
    const char *forwarded_host,
        *forwarded_proto; /* of X-Forwarded-Host, -Proto: how a proxy was asked; anybody may send them */
    const char *length, *coding; /* of Content-Length, Transfer-Encoding */
    unsigned n_hosts, n_lengths, n_codings;
    const char *request_id; /* of X-Request-Id, for the log; NULL: absent */
};

/** Names and address of a server. */
struct http_names {
    struct addr bound; /* address that is listened on; of 0.0.0.0 and :: any address is ours */
    char **names;      /* without final dot, in any case */
    size_t n_names;
    const char *prefix; /* of the option PREFIXhosts, which adds names; for the error text */
};

/** Take one header down, if it is one of struct http_head. @param name  in any case */
void http_head_note(struct http_head *head, const char *name, const char *value);

/** The end of the message and its host must be unambiguous: every proxy on the way must read the same. @return 0; ERR_PARSE.
 *  Source: RFC 9112 3.2, 6.3. */
int http_head_check_framing(const struct http_head *head, struct err_info *why);
/** A target of printable UTF-8 without blanks. @param target  raw, NUL-terminated @return 0; ERR_PATH. Source: RFC 9112 3.2; ours. */
int http_head_check_target(const struct http_head *head, const char *target, struct err_info *why);
/**
 * Cut a target into path and query; scheme and authority of an absolute one are dropped.
 *
 * @param target  raw; a NUL is written at the end of the path                    [in,out]
 * @param query   what follows the '?', within target; NULL: there is no '?'      [out]
 * @return the path, within target, or "/" when it is empty.
 * Source: RFC 9112 3.2.2.
 */
const char *http_head_split_target(char *target, const char **query);
/** Whether a Host means us: an address that we are bound to, or one of our names; the port does not matter.
 *  @return 0 (also without Host); ERR_HOST. Source: RFC 9110 7.2; against DNS rebinding. */
int http_head_check_host(const struct http_head *head, const struct http_names *own, struct err_info *why);
/** Whether a page of the host that is asked sent this, or of the proxy that was, or no page at all: a foreign page cannot set the
 *  headers of a proxy, its browser would ask for leave first. @return 0; ERR_ORIGIN. Source: RFC 6454 7; ours. */
int http_head_check_origin(const struct http_head *head, struct err_info *why);
/** Bytes of the body as announced; 0 without Content-Length; INT64_MAX when it is no number or larger. */
int64_t http_head_body_len(const struct http_head *head);
/** Whether the media type is application/json, whatever its parameters are; NULL is not. Source: RFC 9110 8.3.1. */
bool http_head_is_json(const char *media_type);

#endif
