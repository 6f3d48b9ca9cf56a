/** A bare ZooKeeper session on one blocking socket, for floors. Thread: one. Source: ours. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "base/buf.h"
#include "store/zk/wire.h"

struct session {
    int fd;
    struct buf out, in;
    size_t n_used; /* of `in` */
};

/** Connect to 127.0.0.1:port and say hello. @return 0, ERR_IO, ERR_PARSE. */
int session_open(struct session *s, uint16_t port);
/** Send what s->out holds. @return 0, ERR_IO. */
int session_send(struct session *s);
/** Next frame; its bytes are valid until the next call. @return 0, ERR_IO, ERR_PARSE. */
int session_next(struct session *s, struct zkw_bytes *frame);
/** Close and release. */
void session_fini(struct session *s);

#endif
