/**
 * A server of YARN that says exactly what a test wants said, when it wants: it runs on the loop of what is tested, takes one connection
 * after another and remembers calls until the test asks for them. By token it authenticates as a real one does, or not, as it is set.
 * Thread: one.   Source: ours.
 */
#ifndef FAKE_YARN_H
#define FAKE_YARN_H

#include "digest_kit.h"
#include "run/loop.h"
#include "yarn/address.h"
#include "yarn/frame.h"
#include "yarn/token.h"

/** What it does when a connection begins. */
enum fake_mode {
    FAKE_SIMPLE,        /* takes simple authentication                                    */
    FAKE_TOKEN,         /* by token                                                       */
    FAKE_INTEGRITY,     /* by token; what follows is signed                               */
    FAKE_WRONG_PROOF,   /* by token, whose password it does not know                      */
    FAKE_TOKEN_REFUSED, /* refuses every token, as one that has been revoked              */
    FAKE_HANGS_UP,      /* ends the connection when it sees the token                     */
    FAKE_SILENT,        /* says nothing                                                   */
    FAKE_REFUSES        /* refuses the connection: simple authentication is not enabled   */
};

/** The identifier and the password of the only token that it knows. */
#define FAKE_IDENTIFIER "an identifier"
#define FAKE_PASSWORD   "a password"

struct fake_yarn;

struct fake_yarn *fake_new(struct run_loop *loop, enum fake_mode mode);
/** Close everything; free when the loop has run on. */
void fake_free(struct fake_yarn *y);
void fake_set_mode(struct fake_yarn *y, enum fake_mode mode);
/** Send at most n bytes a turn of the loop; 0: all at once. */
void fake_set_chunk(struct fake_yarn *y, size_t n);
/** Add where it listens. */
void fake_add_address(const struct fake_yarn *y, struct yarn_addresses *list);
/** Stop listening, and end the connection: the port refuses from now on. */
void fake_shut(struct fake_yarn *y);

/** Run the loop until is_so(arg); fails the test after 20 s. */
void fake_until(struct run_loop *loop, bool (*is_so)(void *arg), void *arg);
/** Wait for the next call, which must be of this method. @return its id. */
int32_t fake_want(struct fake_yarn *y, const char *method);
/** How often the call that was wanted last had been sent before. */
int32_t fake_wanted_retries(const struct fake_yarn *y);
/** No call has come that was not asked for; gives the loop time to bring one. */
void fake_want_none(struct fake_yarn *y);
/** Connections so far; pings; the user of the last context, "" by token; its protocol. */
size_t fake_n_connections(const struct fake_yarn *y);
size_t fake_n_pings(const struct fake_yarn *y);
const char *fake_user(const struct fake_yarn *y);
const char *fake_protocol(const struct fake_yarn *y);
bool fake_is_connected(const struct fake_yarn *y);

/** Answer a call; m: undelimited message, NULL: an empty one. */
void fake_answer(struct fake_yarn *y, int32_t id, const ProtobufCMessage *m);
/** The same with octets in place of a message, its length included. */
void fake_answer_raw(struct fake_yarn *y, int32_t id, const void *body, size_t len);
/** Fail a call, or the connection: status is ERROR or FATAL. */
void fake_fail(struct fake_yarn *y, int32_t id, Yarn__RpcStatus status, const char *class_name,
               const char *text);
/** Send octets as they are. */
void fake_raw(struct fake_yarn *y, const void *bytes, size_t len);
/** Spoil the next signature. */
void fake_forge(struct fake_yarn *y);
/** Close the connection once what was sent before is out. */
void fake_hang_up(struct fake_yarn *y);

#endif
