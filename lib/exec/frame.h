/**
 * Frames of an exec session: what the two ends of a connection say after an upgrade to EXEC_PROTOCOL.
 *
 *     octet 0        1..3                  4..
 *     +------+------------------+------------------+
 *     | kind | length, big end  | payload          |    at most EXEC_PAYLOAD_MAX octets of payload
 *     +------+------------------+------------------+
 *
 *   client (bobbin)                              server (container-shim exec)
 *     STDIN   octets; none: the end of the input    STDOUT, STDERR  octets of the command; with a terminal all is STDOUT
 *     RESIZE  rows, columns: 2 + 2 octets           CREDIT  4 octets: so many more octets of STDIN may come
 *     SIGNAL  1 octet: its number                   ERROR   a sentence for a person
 *                                                   EXIT    1 octet: exit code, 128 + N of signal N; the last frame
 *
 * A client sends EXEC_WINDOW octets of STDIN, then as many as it gets credit for. So the server can always take them, and SIGNAL and RESIZE
 * never wait behind input that the command does not read. Output has no credit: who does not take it holds the command up.
 *
 * Pure. Thread: any.   Source: ours; the window is that of RFC 4254 5.2.
 */
#ifndef EXEC_FRAME_H
#define EXEC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/** Token of the Upgrade header. */
#define EXEC_PROTOCOL "bobbin-exec"

#define EXEC_HEAD        4
#define EXEC_PAYLOAD_MAX 16384
/** Octets of STDIN that a client may send before the first CREDIT. */
#define EXEC_WINDOW 65536
/** Exit code of a command that ended by signal N is this and N. */
#define EXEC_SIGNAL_BASE 128
/** Exit codes of a command that is there and cannot be run, and of one that is not there: a shell's. */
#define EXEC_NOT_EXECUTABLE 126
#define EXEC_NOT_FOUND      127

/** Kind, number on the wire, who sends it, fewest and most octets of payload. */
#define EXEC_FRAMES(X)                                                                                       \
    X(EXEC_STDIN, 1, EXEC_CLIENT, 0, EXEC_PAYLOAD_MAX)                                                       \
    X(EXEC_RESIZE, 2, EXEC_CLIENT, 4, 4)                                                                     \
    X(EXEC_SIGNAL, 3, EXEC_CLIENT, 1, 1)                                                                     \
    X(EXEC_STDOUT, 17, EXEC_SERVER, 1, EXEC_PAYLOAD_MAX)                                                     \
    X(EXEC_STDERR, 18, EXEC_SERVER, 1, EXEC_PAYLOAD_MAX)                                                     \
    X(EXEC_CREDIT, 19, EXEC_SERVER, 4, 4)                                                                    \
    X(EXEC_ERROR, 20, EXEC_SERVER, 1, 1024)                                                                  \
    X(EXEC_EXIT, 21, EXEC_SERVER, 1, 1)

/** Who has sent a frame. */
enum exec_side { EXEC_CLIENT, EXEC_SERVER };

enum exec_kind {
#define EXEC_KIND_ID(id, number, side, min, max) id = number,
    EXEC_FRAMES(EXEC_KIND_ID)
#undef EXEC_KIND_ID
};

struct exec_frame {
    enum exec_kind kind;
    const char *payload; /* of STDIN, STDOUT, STDERR, ERROR: len octets, in what was read [borrowed] */
    size_t len;
    uint16_t rows, columns; /* of RESIZE */
    uint32_t number;        /* of SIGNAL, CREDIT, EXIT */
};

/** Append a frame of octets: STDIN, STDOUT, STDERR, ERROR. @param len  as EXEC_FRAMES allows; else a BUG */
void exec_frame_put(struct buf *out, enum exec_kind kind, const void *payload, size_t len);
/** Append SIGNAL, CREDIT or EXIT. @param number  that its octets hold; else a BUG */
void exec_frame_put_number(struct buf *out, enum exec_kind kind, uint32_t number);
/** Append RESIZE. */
void exec_frame_put_size(struct buf *out, uint16_t rows, uint16_t columns);
/**
 * Read the frame at the start of what came.
 *
 * @param bytes  len octets                                                       [borrowed, while *out is used]
 * @param from   who has sent them
 * @param out    filled when the result is positive                               [out]
 * @return octets of the frame; 0: it is not whole yet; ERR_PARSE: a kind that this side does not send, or a length that the kind does not
 *         have, which is known from the first EXEC_HEAD octets.
 */
int exec_frame_read(const char *bytes, size_t len, enum exec_side from, struct exec_frame *out);

#endif
