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
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_LOGS_H
#define FACES_LOGS_H

#include "http/server.h"

/** Most bytes of one answer. */
#define LOGS_PIECE 65536

/** Handler of the route; the app pointer is a `struct face`. 404: no such service, instance, file, or no container. */
void logs_get(struct http_req *req, void *app);

#endif
