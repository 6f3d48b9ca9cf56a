/**
 * Authentication of a connection by a token: SASL with DIGEST-MD5, and what protects the octets behind it.
 *
 *     we                                    server
 *     NEGOTIATE ──────────────────────────► NEGOTIATE, the methods it has, the first challenge
 *     INITIATE, one method, a response ───► SUCCESS with the proof that it knows the password
 *                                       └─► CHALLENGE ─► RESPONSE ─► … ─► SUCCESS
 *
 * With integrity (hadoop.rpc.protection) every frame of both sides goes as a WRAP message from then on: its token is a piece of the
 * stream of frames, signed and counted.
 *
 * The exchange is complete only when the server has proved that it knows the password, too. Kerberos has its row in the table of methods;
 * it is refused with a sentence that says so. Privacy likewise: libgsasl has no cipher of DIGEST-MD5.
 *
 * No socket, clock or log. Thread: one exchange, one thread.   Source: RFC 4422, RFC 2831; Hadoop, SaslRpcClient.
 */
#ifndef YARN_SASL_H
#define YARN_SASL_H

#include <stdbool.h>

#include "yarn/frame.h"
#include "yarn/token.h"

enum sasl_protection { SASL_AUTHENTICATION = 1, SASL_INTEGRITY = 2 };

/** Which protections are accepted, best first; 0 ends them. */
struct sasl_wish {
    enum sasl_protection order[2];
};

/**
 * Read the value of hadoop.rpc.protection.
 *
 * @param text  "authentication", "integrity", "privacy", or several, separated by commas; NULL: authentication [borrowed]
 * @param out   without privacy where another one is named, too                  [out]
 * @param why   may be NULL                                                      [out]
 * @return 0; ERR_INVALID: another word, or none; ERR_UNSUPPORTED: privacy alone. *out unchanged.
 */
int sasl_wish_read(const char *text, struct sasl_wish *out, struct err_info *why);

struct yarn_sasl;

/** A new exchange. @param token, wish [copied]. Free with yarn_sasl_free. */
struct yarn_sasl *yarn_sasl_new(const struct yarn_token *token, const struct sasl_wish *wish);
/** Release; NULL is fine. */
void yarn_sasl_free(struct yarn_sasl *s);

/** Begin: append our first frame. Once. */
void yarn_sasl_begin(struct yarn_sasl *s, struct buf *out);
/**
 * Go on with what the server has answered.
 *
 * @param message  of a frame with FRAME_CALL_SASL; changed                       [borrowed]
 * @param out      our next frame is appended, when there is one                 [in,out]
 * @param why      filled on error                                               [out]
 * @return 0, ask yarn_sasl_is_done; or ERR_AUTH (it refuses us, or cannot prove that it knows the password), ERR_UNSUPPORTED (it asks
 *         for what is not there), ERR_PARSE (this message has no place here): the connection is of no use.
 */
int yarn_sasl_answer(struct yarn_sasl *s, Yarn__SaslMessage *message, struct buf *out, struct err_info *why);
/** Whether both sides are authenticated. */
bool yarn_sasl_is_done(const struct yarn_sasl *s);
/** Whether what follows is wrapped. */
bool yarn_sasl_wraps(const struct yarn_sasl *s);
/**
 * Wrap frames; only when yarn_sasl_wraps.
 *
 * @param plain  frames, whole or in pieces; empty afterwards                    [in,out]
 * @param out    frames with them are appended                                   [in,out]
 */
int yarn_sasl_wrap(struct yarn_sasl *s, struct buf *plain, struct buf *out, struct err_info *why);
/**
 * Unwrap a piece; only when yarn_sasl_wraps.
 *
 * @param message  a WRAP message                                                [borrowed]
 * @param out      octets of frames are appended                                 [in,out]
 * @return 0; or ERR_AUTH: it is forged, or out of order; ERR_PARSE: this message has no place here.
 */
int yarn_sasl_unwrap(struct yarn_sasl *s, const Yarn__SaslMessage *message, struct buf *out,
                     struct err_info *why);

#endif
