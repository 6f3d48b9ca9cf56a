/**
 * What svcmgr asks other servers of a cluster of YARN for, when a request is about what runs there: the resource manager, node
 * managers and application masters, each by its REST interface. Only app*.c include this.
 *
 * Each call has a limit of time and of bytes, and is ended with ERR_CANCELLED when the app stops.
 *
 * Thread: owner loop for everything.   Source: Hadoop, RMWebServices, NMWebServices.
 */
#ifndef SVCMGR_APP_REMOTE_H
#define SVCMGR_APP_REMOTE_H

#include <jansson.h>

#include "bobbin/error.h"
#include "faces/face.h"

struct app;

/** A document that was asked for. @param doc  borrowed for the call; NULL: there is none, why says why */
typedef void app_remote_done(void *arg, const json_t *doc, const struct err_info *why);

/** What an application master may still have to say; a request waits for it no longer. */
#define REMOTE_TIMEOUT_MS 3000

/** A GET of a JSON document. @param url  whole [copied] */
void app_remote_get(struct app *a, const char *url, app_remote_done *done, void *arg);
/** The same of the resource manager: of the first that answers. @param path  with its query, from "/" on [copied] */
void app_remote_rm(struct app *a, const char *path, app_remote_done *done, void *arg);
/** The same with the text of the document, of at most 64 MiB. @param done  err: 0; or what *why of the others would say; take_body may be taken */
void app_remote_rm_text(struct app *a, const char *path,
                        void (*done)(void *arg, int err, struct buf *take_body), void *arg);
/** "http://node1:8042", of the pages of a node. free(); NULL: it is no host:port */
char *app_remote_node_url(const struct app *a, const char *node_http);

/** A container is of an application, by its id: "container_e03_1700000000000_0001_01_000002". Thread: any. */
bool app_remote_is_of(const char *container_id, const char *application_id);

/** app_ops.explain: what the application master of a service says. */
bool app_explain(void *app, const struct eng_service *s,
                 void (*done)(void *arg, const json_t *list, const struct err_info *why), void *arg);
/** app_ops.registry_node. */
void app_registry_node(void *app, const char *path, const char *user, app_remote_done *done, void *arg);
/** app_ops.node_log: app_node_log.c. */
void app_node_log(void *app, const struct face_log *what,
                  void (*done)(void *arg, const struct face_log_piece *piece, const struct err_info *why),
                  void *arg);

#endif
