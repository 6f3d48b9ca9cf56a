/**
 * Frames of Hadoop IPC, version 9: what goes to a server as octets, and what its octets are.
 *
 *     connection:  "hrpc" 09 00 AUTH            7 octets, once; AUTH 00: simple, DF: SASL
 *     frame:       LENGTH  n header  n body     LENGTH: 4 octets, big-endian, of all that follows;
 *                                               n: length of the part behind it, as a varint of protobuf
 *
 *     callId   request                            answer
 *     >= 0     method header, request message     response message
 *     -3       connection context                 none
 *     -4       (ping, no body)                    none
 *     -33      SASL message                       SASL message
 *     -1                                          the connection was refused
 *
 * Pure: no socket, clock or log. Thread: any.   Source: Hadoop IPC, version 9.
 */
#ifndef YARN_FRAME_H
#define YARN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "ipc.pb-c.h"

enum { FRAME_CALL_REFUSED = -1, FRAME_CALL_CONTEXT = -3, FRAME_CALL_PING = -4, FRAME_CALL_SASL = -33 };

/** Octets of a client id; those of the connection header; those of the length before a frame. */
enum { FRAME_CLIENT_ID_LEN = 16, FRAME_HELLO_LEN = 7, FRAME_LENGTH_LEN = 4 };

/** A piece of somebody's memory. */
struct frame_bytes {
    const uint8_t *at;
    size_t len;
};

/** Make a client id: 16 random octets in the form of a UUID of version 4. @param out  room for them [out] */
void frame_make_client_id(uint8_t out[FRAME_CLIENT_ID_LEN]);

/** Append the 7 octets that open a connection. @param is_sasl  false: simple authentication. */
void frame_put_hello(struct buf *out, bool is_sasl);
/**
 * Append the frame with the connection context.
 *
 * @param client_id  FRAME_CLIENT_ID_LEN octets                                  [borrowed]
 * @param user       whom to act as, of simple authentication; NULL: whom the token names [borrowed]
 * @param protocol   full name, as in the method header                          [borrowed]
 */
void frame_put_context(struct buf *out, const uint8_t *client_id, const char *user, const char *protocol);
/** Append the frame of a ping, which has no answer. @param client_id  as above */
void frame_put_ping(struct buf *out, const uint8_t *client_id);
/** Append the frame of a SASL message. */
void frame_put_sasl(struct buf *out, const Yarn__SaslMessage *message);

/** What a call is for. Static. */
struct frame_method {
    const char *protocol, *name;
    uint64_t version; /* of the protocol */
};
/**
 * Append the body of a call: method header and request message. It is the same each time the call is sent.
 *
 * @param request  complete: every required field is set                         [borrowed]
 */
void frame_put_body(struct buf *out, const struct frame_method *method, const ProtobufCMessage *request);
/**
 * Append the frame of a call.
 *
 * @param call_id  >= 0, not used by another call under way
 * @param n_sent   how often it was sent before
 * @param body     of frame_put_body                                             [borrowed]
 */
void frame_put_call(struct buf *out, const uint8_t *client_id, int32_t call_id, int32_t n_sent,
                    const struct buf *body);

/**
 * Find the first frame of what has arrived.
 *
 * @param bytes, len  what has arrived and was not taken yet                     [borrowed]
 * @param max         longest frame accepted, without its length
 * @param frame       its content; points into bytes                             [out]
 * @param why         what is wrong; may be NULL                                 [out]
 * @return octets used, > 0; 0: more must arrive first; ERR_PARSE: no frame (a length that is not positive, text of HTTP);
 *         ERR_TOOBIG: longer than max, frame holds the part of it that has arrived. *frame is undefined for 0 and ERR_PARSE.
 */
int64_t frame_next(const void *bytes, size_t len, size_t max, struct frame_bytes *frame,
                   struct err_info *why);

enum { FRAME_CLASS_MAX = 160, FRAME_TEXT_MAX = 400 };

/** An answer, as far as it is the same for all methods. */
struct frame_response {
    int32_t call_id;                  /* signed, as in the request                                */
    int status;                       /* YARN__RPC_STATUS__…, or a number that nobody has defined */
    int detail;                       /* YARN__RPC_ERROR_CODE__…; 0: none                         */
    bool is_others;                   /* it names another client than ours                        */
    char class_name[FRAME_CLASS_MAX]; /* Java class of the exception, cut; "": none               */
    char text[FRAME_TEXT_MAX];        /* its message: the first line, cut                         */
    struct frame_bytes body;          /* delimited message; empty but for success                 */
};

/**
 * Read the header of a response.
 *
 * @param frame      content of one frame, or its beginning when is_cut          [borrowed]
 * @param client_id  ours                                                        [borrowed]
 * @param out        body points into frame                                      [out]
 * @return 0; or ERR_PARSE: no header, *out undefined.
 */
int frame_read_response(struct frame_bytes frame, const uint8_t *client_id, struct frame_response *out);

/**
 * Read a message with its length before it.
 *
 * @param body       exactly one; octets behind it are refused                   [borrowed]
 * @param allocator  where the message goes; NULL: free it with protobuf_c_message_free_unpacked [borrowed]
 * @return the message; or NULL: malformed, a required field is missing, or the allocator has no room.
 */
ProtobufCMessage *frame_read_message(struct frame_bytes body, const ProtobufCMessageDescriptor *type,
                                     ProtobufCAllocator *allocator);

#endif
