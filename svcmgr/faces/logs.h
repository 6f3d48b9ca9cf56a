/**
 * Serves the output of containers over the services API: GET …/services/{s}/component-instances/{i}/logs/{file}?offset=N
 *
 * {i} is an instance, or the id of a container of the service's present application. An instance means its present container;
 * before that has logs, and without one, its last container. Logs are kept after the end of a container for
 * yarn.nodemanager.log.retain-seconds.
 * {file} is stdout.txt or stderr.txt, or an older file of them: stdout.txt.1, .2 … up to .99. The answer is text:
 * the file from byte N on, at most LOGS_PIECE bytes; a client that wants more, or wants to follow, asks
 * again. Bobbin-Container names the container, Bobbin-Log-Size the size of the file (0: there is none), Bobbin-Log-Id the
 * file itself, whatever its name: an instance that moved to another container begins anew at 0; a file that has another id
 * than before has taken its place, and what was not read of it is in the one that ends in .1.
 *
 * Of a container on a cluster of YARN its node manager has the files, under any plain name, for as long as it keeps them. Their ids are not
 * known there. The application master's own are at GET …/services/{s}/application-master/logs/{file}?offset=N.
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_LOGS_H
#define FACES_LOGS_H

#include <stdbool.h>

#include "http/server.h"

/** Most bytes of one answer. */
#define LOGS_PIECE 65536

/** Handler of the route; the app pointer is a `struct face`. 404: no such service, instance, file, or no container; 503:
 *  the node manager that has it does not answer. */
void logs_get(struct http_req *req, void *app);
/** The same of the application master. 404: no such service or file, or it is not kept any more; 501: services have none here. */
void logs_get_master(struct http_req *req, void *app);
struct face;
struct face_log;
/** Reply with a piece of a file of a container: kept here, or where node_http is not NULL by its node. 404: there is no such file. */
void logs_reply_container(struct http_req *req, const struct face *face, const struct face_log *what);
/** stdout.txt, stderr.txt, or a numbered older one: no other name ever reaches the file system. Thread: any. */
bool logs_is_output(const char *name);

#endif
