/**
 * One TCP connection to one server: look-up, connect, bytes in, bytes out; it does not interpret the bytes.
 * After `lost`, or whenever it is no longer wanted, the owner calls zkc_close; `closed` is the last callback.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_ZK_CONN_H
#define STORE_ZK_CONN_H

#include "base/buf.h"
#include "run/loop.h"
#include "store/zk/url.h"

struct zkc;

struct zkc_ops {
    /** Connected; writing is possible. */
    void (*opened)(void *arg);
    /** More bytes have arrived; take what is complete off the front of `in` (buf_drop). */
    void (*arrived)(void *arg, struct buf *in);
    /** Look-up, connect, read or write failed, or the server closed the connection. */
    void (*lost)(void *arg, const struct err_info *why);
    /** It is freed now; the only call after zkc_close. */
    void (*closed)(void *arg);
};

/**
 * Begin to connect. ops are called from a later turn of the loop on.
 *
 * @param server  copied
 * @param turn    which of the addresses of a name to take, modulo their number
 * @param ops     live until closed                                              [borrowed]
 */
struct zkc *zkc_open(struct run_loop *loop, const struct zk_server *server, size_t turn,
                     const struct zkc_ops *ops, void *arg);
/** Send the buffer's bytes; it is empty afterwards. */
void zkc_write(struct zkc *c, struct buf *out);
/** Upper bound of the bytes of zkc_write that the kernel has not taken yet; too low after a failed write. */
size_t zkc_unsent(const struct zkc *c);
/** Send what fits into the socket at once, then close; the bytes may be lost. */
void zkc_close_saying(struct zkc *c, const struct buf *last_words);
/** Close. */
void zkc_close(struct zkc *c);
/** "host:port" as it was named; borrowed. */
const char *zkc_name(const struct zkc *c);

#endif
