/**
 * A ZooKeeper server that says exactly what a test wants said, when it wants: it runs on the loop of what is tested, takes
 * one connection after another and remembers requests until the test asks for them.
 * Thread: one.   Source: ours.
 */
#ifndef FAKE_ZK_H
#define FAKE_ZK_H

#include "run/loop.h"
#include "store/zk/wire.h"

enum { FAKE_SESSION = 0x1234, FAKE_PASSWORD_LEN = 16 };

/** What it does with the frame that opens a connection. */
enum fake_hello { FAKE_ACCEPT, FAKE_EXPIRE, FAKE_REFUSE };

struct fake_zk;

struct fake_zk *fake_new(struct run_loop *loop);
/** Close everything; free when the loop has run on. */
void fake_free(struct fake_zk *z);
/** "127.0.0.1:port"; borrowed. */
const char *fake_address(const struct fake_zk *z);
void fake_set_hello(struct fake_zk *z, enum fake_hello what, int32_t timeout_ms);
/** Send at most n bytes a turn of the loop; 0: all at once. */
void fake_set_chunk(struct fake_zk *z, size_t n);
/** What the last connection began with; hellos received so far. */
struct zkw_hello fake_hello_seen(const struct fake_zk *z);
size_t fake_n_hellos(const struct fake_zk *z);

/** Run the loop until is_so(arg); fails the test after 20 s. */
void fake_until(struct fake_zk *z, bool (*is_so)(void *arg), void *arg);
/** Wait for the next request, which must be this one (path NULL: has none). @return its xid. */
int32_t fake_want(struct fake_zk *z, enum zkw_opcode op, const char *path);
/** The last request wanted was a multi with this text in it. */
bool fake_wanted_has(const struct fake_zk *z, const char *text);
/** No request has come that was not asked for; gives the loop time to bring one. */
void fake_want_none(struct fake_zk *z);

/** Send a reply; body may be NULL. */
void fake_reply(struct fake_zk *z, int32_t xid, int64_t zxid, int32_t err, const struct buf *body);
void fake_notice(struct fake_zk *z, int32_t kind, const char *path);
void fake_raw(struct fake_zk *z, const void *bytes, size_t len);
/** Nothing leaves until fake_uncork: then all of it at once. */
void fake_cork(struct fake_zk *z);
void fake_uncork(struct fake_zk *z);
/** Close the connection once what was sent before is out. */
void fake_hang_up(struct fake_zk *z);

/** Bodies: stat of a node made by zxid, with n children and len bytes; the same behind data; behind names (NULL at end). */
void fake_put_stat(struct buf *out, int64_t zxid, int32_t n_children, size_t len);
void fake_put_data(struct buf *out, const char *data, int64_t zxid, int32_t n_children);
void fake_put_names(struct buf *out, const char *const *names, int64_t zxid);

#endif
