/**
 * What containers write, over the services API: GET …/services/{s}/component-instances/{i}/logs/{file}?offset=N
 *
 * {file} is stdout.txt or stderr.txt. The answer is text: what stands in the file from byte N on, at most LOGS_PIECE bytes;
 * a client that wants more, or wants to follow, asks again. Bobbin-Container names the container, Bobbin-Log-Size the size
 * of the file: an instance that moved to another container begins anew at 0.
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
