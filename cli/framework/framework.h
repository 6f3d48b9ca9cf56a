/**
 * What the commands of `bobbin framework` and `bobbin launcher` share: calls of the FrameworkLauncher API.
 *
 * Thread: main.   Source: framework-launcher 1, 2.
 */
#ifndef CLI_FRAMEWORK_FRAMEWORK_H
#define CLI_FRAMEWORK_FRAMEWORK_H

#include <jansson.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "kit/api.h"
#include "kit/cli.h"

struct framework_client {
    struct api api;
    char *user;         /* who acts */
    const char *client; /* LaunchClientType. Static, or the caller's */
};

/** Begin: --url or yarn.service.api-server.address, the user. @param out  framework_close releases it [out] */
void framework_open(struct cli *cli, struct framework_client *out);
/** Release. */
void framework_close(struct framework_client *f);
/** Act as a user of a client type in the calls that follow; at a gateway whoever has signed in stays the user. @param user  [copied] @param client  [borrowed] */
void framework_act(struct framework_client *f, const char *user, const char *client);
/** Path below /v1/Frameworks: "/NAME/REST", each element percent-encoded but the rest; rest NULL: "/NAME". free() */
char *framework_path(const char *name, const char *rest);
/**
 * One call.
 *
 * @param path  below /v1/Frameworks                                                [borrowed]
 * @param body  JSON to send, or NULL                                                [borrowed]
 * @param out   document of a success as it came; NULL: not wanted                   [out, buf_fini]
 * @return 0 for 2xx; ERR_* after the status, *why with the server's message; as wait_http.
 */
int framework_call(struct framework_client *f, const char *method, const char *path, const json_t *body,
                   struct buf *out, struct err_info *why);
/** As framework_call, of any resource. @param path  below /v1, as "/LauncherRequest" [borrowed] */
int framework_api(struct framework_client *f, const char *method, const char *path, const json_t *body,
                  struct buf *out, struct err_info *why);
/** GET of a document. @param out  new reference [out] @return as framework_call; ERR_PARSE: it is no JSON. */
int framework_get(struct framework_client *f, const char *path, json_t **out, struct err_info *why);
/** GET of a document, which -o json prints as it came; else *out is to be printed. @param out  NULL: it was printed [out, new reference] */
int framework_show(struct framework_client *f, const char *path, json_t **out, struct err_info *why);
/** Say that a change was accepted: a line, or {"change","framework"}. */
void framework_print_change(const struct cli *cli, const char *change, const char *name);
/**
 * Wait until a framework has come to a state, or has completed, with the limit of --timeout, by default 5 minutes.
 *
 * @param state  that is waited for: "APPLICATION_RUNNING", "FRAMEWORK_COMPLETED"   [borrowed]
 * @param out    its FrameworkStatus then                                           [out, new reference]
 * @return 0; ERR_TIMEOUT; ERR_CANCELLED: interrupted; as framework_call.
 */
int framework_wait(struct framework_client *f, const char *name, const char *state, json_t **out,
                   struct err_info *why);
/** Print a FrameworkStatus in some lines. */
void framework_print_status(const json_t *status);

#endif
