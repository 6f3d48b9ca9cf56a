/**
 * The services API as its client sees it: calls that return JSON or the server's own words (services.c), and waiting for a
 * service with progress on standard error (services_wait.c, progress.h).
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
    /** Asked between two looks of services_wait: a code that is not 0 ends the waiting; NULL: nothing to ask. */
    int (*check)(void *arg, struct err_info *why);
    void *check_arg;
    bool is_quiet; /* waits show no progress */
};

/** A call that is under way. */
struct services_request;

/** What a service is waited for. */
struct services_goal {
    const char *query; /* of the GET, as "?wait=READY&timeout=500ms"; "": it answers at once */
    /**
     * Judge a look at it.
     *
     * @param service    its document                                               [borrowed]
     * @param waits_for  what is waited for, for a person; NULL: nothing any more    [out, owned by the caller]
     * @return 0; ERR_*: it will not be reached, *why filled.
     */
    int (*judge)(const struct services_goal *goal, const char *name, const json_t *service, char **waits_for,
                 struct err_info *why);
    const char *version;     /* that the service has then; NULL: any */
    const char *word;        /* when it is reached, as "READY" */
    const char *interrupted; /* what becomes of the service when the waiting is interrupted */
};
extern const struct services_goal services_ready, services_stopped;

/** @param url  "http://host:port" [copied] @param user  caller [copied] @param out  services_fini releases it [out] */
void services_init(struct services *s, struct wait *wait, const char *url, const char *user);
/** Release. */
void services_fini(struct services *s);
/** Where svcmgr is: --url, else yarn.service.api-server.address; no slash at the end. free() */
char *services_url(const struct cli *cli);
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
/** As services_call, while something else is done; services_end must follow. Parameters as there. @return new */
struct services_request *services_begin(struct services *s, const char *method, const char *path,
                                        const json_t *body);
/** Whether services_end returns at once; wait_event returns when it comes to that. */
bool services_is_answered(const struct services_request *r);
/** Wait for the answer and release the request. Parameters and result as services_call. */
int services_end(struct services_request *take_request, json_t **out, struct err_info *why);
/** The error of an answer that came in another way than by a call. @param status  none of 2xx @param body  [borrowed] @return as services_call. */
int services_refused(int status, const struct buf *body, const char *url, struct err_info *why);
/** The code for a status that svcmgr has answered, none of 2xx. */
int services_code(int status);
/** GET of one service. @return as services_call; ERR_NOTFOUND. */
int services_get(struct services *s, const char *name, json_t **out, struct err_info *why);
/**
 * Wait until a service has come to a goal.
 *
 * @param out    the service then                                                    [out, new reference]
 * @return 0; ERR_TIMEOUT; what goal->judge or s->check returned; ERR_CANCELLED: interrupted; as services_get.
 */
int services_wait(struct services *s, const char *name, const struct services_goal *goal, int64_t limit_ms,
                  json_t **out, struct err_info *why);
/** Stop a service and delete it, and wait for that. @return as services_call. */
int services_destroy(struct services *s, const char *name, struct err_info *why);
/** A member's text, or "" when it is no text. [borrowed] */
const char *services_text(const json_t *object, const char *key);

#endif
