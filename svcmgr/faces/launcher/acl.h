/**
 * Who may write: the user of the header UserName, where access is controlled. Reading is everybody's.
 *
 * Thread: owner loop.   Source: framework-launcher 11.
 */
#ifndef LAUNCHER_ACL_H
#define LAUNCHER_ACL_H

#include "faces/face.h"
#include "http/server.h"

/** What is to be written. All borrowed. */
struct launcher_write {
    const char *framework; /* NULL: a document of the launcher */
    const char *user;      /* of the descriptor that is put; NULL: none is */
};
/** Whether the caller may write; else that is replied. */
bool launcher_may_write(struct http_req *req, const struct face *face, struct launcher_write what);

#endif
