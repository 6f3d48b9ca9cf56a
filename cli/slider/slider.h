/**
 * What the commands of `bobbin slider` share: calls of the Slider API of svcmgr, by the names of applications.
 *
 * Thread: main.   Source: slider-am 1.5, 2.
 */
#ifndef CLI_SLIDER_SLIDER_H
#define CLI_SLIDER_SLIDER_H

#include <jansson.h>

#include "bobbin/error.h"
#include "kit/api.h"
#include "kit/cli.h"

#define SLIDER_CLIENT_MAGIC OBJ_MAGIC('S', 'L', 'C', 'L')

struct slider_client {
    struct obj obj;
    struct api api;
    char *user; /* percent-encoded */
};

/**
 * A request, all borrowed. name: of the application; NULL: it is about all. rest: behind the name, as "application/live/components", perhaps with a
 * query; NULL: the application itself. form: instead of a body, as an HTML form sends it.
 */
struct slider_request {
    const char *method, *name, *rest;
    const json_t *body;
    const char *form;
};

/** Begin: --url or yarn.service.api-server.address, the user. @param out  slider_close releases it [out] */
void slider_open(struct cli *cli, struct slider_client *out);
/** Release. */
void slider_close(struct slider_client *s);
/**
 * One call, redirects followed.
 *
 * @param out  document of a success; NULL: not wanted                                [out, new reference]
 * @return 0 for 2xx; ERR_* after the status, *why with the server's message; as wait_http.
 */
int slider_call(struct slider_client *s, const struct slider_request *r, json_t **out, struct err_info *why);
/** GET of a document of an application. @param rest  as in slider_request [borrowed] @return as slider_call */
int slider_get(struct slider_client *s, const char *name, const char *rest, json_t **out,
               struct err_info *why);
/** Say that a change was accepted: a line, or {"change","application"}. */
void slider_print_change(const struct cli *cli, const char *change, const char *name);
/**
 * Wait until every request of an application is satisfied, with the limit of --timeout, by default 5 minutes.
 *
 * @return 0; ERR_TIMEOUT; ERR_WRONGSTATE: it has ended; ERR_CANCELLED: interrupted; as slider_call.
 */
int slider_wait_live(struct slider_client *s, const char *name, struct err_info *why);
/** Wait until nothing of an application runs. Result as slider_wait_live. */
int slider_wait_stopped(struct slider_client *s, const char *name, struct err_info *why);

#endif
