/**
 * The services API as its client sees it: calls that return JSON or the server's own words, and waiting for a service.
 *
 * Thread: main.   Source: YARN services API 1.
 */
#ifndef CLI_KIT_SERVICES_H
#define CLI_KIT_SERVICES_H

#include <jansson.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "cli.h"
#include "wait.h"

struct services {
    struct wait *wait;
    char *url, *user; /* url without slash at the end; user percent-encoded */
    /** Asked between two looks of services_wait_ready: a code that is not 0 ends the waiting; NULL: nothing to ask. */
    int (*check)(void *arg, struct err_info *why);
    void *check_arg;
};

/** @param url  "http://host:port" [copied] @param user  caller [copied] @param out  services_fini releases it [out] */
void services_init(struct services *s, struct wait *wait, const char *url, const char *user);
/** Release. */
void services_fini(struct services *s);
/** Percent-encode a name for a path or a query. New. */
char *services_quote(const char *name);
/**
 * One call.
 *
 * @param path  below /app/v1/services, as "/hello-world", names quoted; it may have a query   [borrowed]
 * @param body  JSON to send, or NULL                                                [borrowed]
 * @param out   document of a success, or NULL when it has none; NULL: not wanted    [out, new reference]
 * @return 0 for 2xx; ERR_* after the status, *why with the server's diagnostics; as wait_http.
 */
int services_call(struct services *s, const char *method, const char *path, const json_t *body, json_t **out,
                  struct err_info *why);
/** GET of one service. @return as services_call; ERR_NOTFOUND. */
int services_get(struct services *s, const char *name, json_t **out, struct err_info *why);
/**
 * Wait until a service is READY, with progress on stderr.
 *
 * @param out    the service when it is ready                                        [out, new reference]
 * @return 0; ERR_TIMEOUT; ERR_WRONGSTATE: it failed or stopped; ERR_CANCELLED; what s->check returned; as services_get.
 */
int services_wait_ready(struct services *s, const char *name, int64_t limit_ms, json_t **out,
                        struct err_info *why);
/** A member's text, or "" when it is no text. [borrowed] */
const char *services_text(const json_t *object, const char *key);

#endif
