/**
 * Authentication to ZooKeeper: SASL with the mechanism GSSAPI, that is Kerberos. This is the client's side of the exchange;
 * session.c carries the messages.
 *
 *     zksasl_begin ─► CONTEXT: our token ─► send ─► zksasl_answer: its token ─► … until the security context is there
 *                          └► LAYERS: it offers layers of protection ─► none is taken ─► send ─► OUTCOME: its outcome ─► done
 *
 * Every step runs on libuv's worker threads, because a token may need the KDC; the outcome comes to the owner loop. One step
 * runs at a time: an exchange that is begun while one of a lost connection is still at the KDC waits for that. Between
 * exchanges the ticket is kept good (login.h).
 *
 * Thread: owner for everything.   Source: RFC 4752; ZooKeeper's ZooKeeperSaslClient.
 */
#ifndef STORE_ZK_SASL_H
#define STORE_ZK_SASL_H

#include <stdbool.h>
#include <stddef.h>

#include "run/loop.h"
#include "store/store.h"

struct zksasl;

struct zksasl_ops {
    /** Bring this token to the server, and its answer to zksasl_answer. len 0: an empty token. */
    void (*send)(void *arg, const char *token, size_t len);
    /** The server has authenticated us; principals: ours, its. */
    void (*done)(void *arg, const char *principal, const char *server);
    /** The exchange failed. */
    void (*failed)(void *arg, const struct err_info *why);
};

/** @param kerberos copied; ops, arg [borrowed, until zksasl_free] */
struct zksasl *zksasl_new(struct run_loop *loop, const struct store_kerberos *kerberos,
                          const struct zksasl_ops *ops, void *arg);
/** ops are not called any more. A step that runs ends by itself, before the loop does. NULL is fine. */
void zksasl_free(struct zksasl *s);

/** Begin an exchange with the server on this host; an earlier one is aborted. ops come from a later turn of the loop on. */
void zksasl_begin(struct zksasl *s, const char *host);
/** Go on with what the server has answered. @param token NULL: it sent none */
void zksasl_answer(struct zksasl *s, const char *token, size_t len);
/** Abort the exchange: the connection is gone. */
void zksasl_stop(struct zksasl *s);

enum { ZKSASL_LAYERS_LEN = 4 };
/**
 * Choose from what the server offers: no layer of protection, which is all that ZooKeeper speaks.
 *
 * @param offer   unwrapped: a set of layers (1: none), the longest message in 3 bytes  [borrowed]
 * @param choice  ZKSASL_LAYERS_LEN bytes to wrap and send                        [out]
 * @return 0; ERR_PARSE: no such message; ERR_UNSUPPORTED: it insists on a layer. choice unchanged.
 * Thread: any.   Source: RFC 4752 3.1.
 */
int zksasl_choose(const void *offer, size_t len, unsigned char choice[ZKSASL_LAYERS_LEN]);

#endif
