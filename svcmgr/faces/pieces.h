/**
 * Answers that are made piece by piece, each in a turn of the loop of its own.
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_PIECES_H
#define FACES_PIECES_H

#include <stdbool.h>

#include "base/buf.h"
#include "http/server.h"

/** How a document is made. */
struct pieces_ops {
    /** Append the next piece, at least a byte. @return true: there is more */
    bool (*next)(void *maker, struct buf *out);
    void (*free)(void *maker);
};

/**
 * Reply 200 with a document, at once when it is of one piece. Headers are added before.
 *
 * @param media_type  a constant                                                   [borrowed]
 * @param ops         copied
 * @param take_maker  released with ops->free when the answer is over
 */
void pieces_reply(struct http_req *req, const char *media_type, const struct pieces_ops *ops,
                  void *take_maker);

#endif
