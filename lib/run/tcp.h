/**
 * One TCP connection to a server: look-up, connect, bytes in, bytes out; it does not interpret the bytes.
 * After `lost`, or whenever it is no longer wanted, the owner calls run_tcp_close; `closed` is the last callback.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef RUN_TCP_H
#define RUN_TCP_H

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/loop.h"

struct run_tcp;

struct run_tcp_ops {
    /** Connected; writing is possible. */
    void (*opened)(void *arg);
    /** More bytes have arrived; take what is complete off the front of `in` (buf_drop). */
    void (*arrived)(void *arg, struct buf *in);
    /** Look-up, connect, read or write failed, or the server closed the connection. */
    void (*lost)(void *arg, const struct err_info *why);
    /** It is freed now; the only call after run_tcp_close. */
    void (*closed)(void *arg);
};

/** What to connect to. */
struct run_tcp_target {
    const char *noun; /* of the server, for errors: "ZooKeeper server" [static] */
    const char *host; /* a name, or an address without brackets; addr_is_host    */
    uint16_t port;
    size_t turn; /* which of the addresses of a name to take, modulo their number */
};

/**
 * Begin to connect. ops are called from a later turn of the loop on.
 *
 * @param target  copied but for its noun
 * @param ops     live until closed                                              [borrowed]
 */
struct run_tcp *run_tcp_open(struct run_loop *loop, const struct run_tcp_target *target,
                             const struct run_tcp_ops *ops, void *arg);
/** Send the buffer's bytes; it is empty afterwards. */
void run_tcp_write(struct run_tcp *c, struct buf *out);
/** Upper bound of the bytes of run_tcp_write that the kernel has not taken yet; too low after a failed write. */
size_t run_tcp_unsent(const struct run_tcp *c);
/** Send what fits into the socket at once, then close; the bytes may be lost. */
void run_tcp_close_saying(struct run_tcp *c, const struct buf *last_words);
/** Close. */
void run_tcp_close(struct run_tcp *c);
/** "host:port" as it was named; borrowed. */
const char *run_tcp_name(const struct run_tcp *c);

#endif
