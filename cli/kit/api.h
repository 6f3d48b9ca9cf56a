/**
 * An API of svcmgr whose errors are a document with a "message": FrameworkLauncher's and Slider's.
 *
 * Thread: main.   Source: framework-launcher 1, slider-am 2.
 */
#ifndef CLI_KIT_API_H
#define CLI_KIT_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "cli.h"
#include "wait.h"

struct api {
    struct cli *cli;
    struct wait wait;
    char *url; /* without slash at the end */
};

/** A request, all borrowed. */
struct api_request {
    const char *method, *url;
    const char *const *headers; /* "Name: value", NULL at the end */
    const json_t *body;         /* JSON to send; NULL: none */
    const char *form;           /* instead of it, as an HTML form sends it; NULL: none */
    size_t max_body;            /* of the answer */
};

/** Begin: --url or yarn.service.api-server.address, signed in where that is to be. @param out  api_close releases it [out] */
void api_open(struct cli *cli, struct api *out);
/** Release. */
void api_close(struct api *a);
/**
 * One call. The texts of the header Warning of a success are printed on standard error.
 *
 * @param out  document of a success as it came; NULL: not wanted                    [out, buf_fini]
 * @return 0 for 2xx; ERR_* after the status, *why with the server's message; as wait_http.
 */
int api_call(struct api *a, const struct api_request *r, struct buf *out, struct err_info *why);
/** As api_call, of a JSON document. @param out  NULL: not wanted [out, new reference] @return also ERR_PARSE: it is none */
int api_json(struct api *a, const struct api_request *r, json_t **out, struct err_info *why);

/** What is waited for: see api_wait. */
struct api_goal {
    /**
     * Look how far it is.
     *
     * @param line  what is waited for now, for a person; NULL: nothing any more        [out, free()]
     * @return 0; ERR_*: it will not come, *why filled
     */
    int (*look)(void *arg, const char *name, char **line, struct err_info *why);
    void *arg;
    const char *what; /* goes on when the waiting is interrupted, as "framework" */
};
/**
 * Look every 200 ms until there is nothing to wait for, with progress on standard error and the limit of --timeout, by default 5 minutes.
 *
 * @return 0; ERR_TIMEOUT; ERR_CANCELLED: interrupted; what goal->look returned.
 */
int api_wait(struct api *a, const char *name, const struct api_goal *goal, struct err_info *why);

#endif
