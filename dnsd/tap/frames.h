/**
 * The sending side of a frame stream over a Unix socket: it connects to a collector that listens there, agrees on the type of what is
 * sent, and sends frames. Without a collector frames are dropped, and so are those for which the queue has no room: a slow collector
 * costs nothing but frames. A lost connection is tried again after a pause that doubles, up
 * to 10 s; a connection that lasts so long makes the next pause short again.
 *
 *     away ──► connecting ──► greeting (READY sent) ──ACCEPT──► open (START sent) ──► closing (STOP sent) ──FINISH──► ended
 *      ▲            │             │                              │
 *      └── pause ───┴─────────────┴──────────────────────────────┘
 *
 * Thread: owner of the loop.   Source: Frame Streams, bidirectional (farsightsec/fstrm, the comment of its control.h).
 */
#ifndef TAP_FRAMES_H
#define TAP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct frames;
struct run_loop;

/** Longest path of a Unix socket. */
#define FRAMES_PATH_MAX 107

struct frames_def {
    struct run_loop *loop;    /* lives on                                        [borrowed] */
    const char *path;         /* of the socket, at most FRAMES_PATH_MAX          [borrowed] */
    const char *content_type; /* "protobuf:dnstap.Dnstap"                        [borrowed] */
    size_t queue_max;         /* octets that wait to be sent */
};

/** Begin to connect. @return frames_stop ends and frees it. Thread: the loop's. Source: ours. */
struct frames *frames_new(const struct frames_def *def);

/** Is a collector there, and the queue not full? Else a frame need not be made. Thread: the loop's. Source: ours. */
bool frames_take(const struct frames *f);
/**
 * Send a frame.
 *
 * @param take_frame  its octets; cleared                                        [in,out]
 * @return false: it was dropped.   Thread: the loop's.   Source: Frame Streams.
 */
bool frames_send(struct frames *f, struct buf *take_frame);
/** Send what was written since the last call. Thread: the loop's. Source: ours. */
void frames_flush(struct frames *f);

/**
 * Say that the stream ends, and end. A collector that does not answer is left after half a second.
 *
 * @param ended  called once, later or now; f is freed                            [called on the loop]
 * Thread: the loop's.   Source: Frame Streams.
 */
void frames_stop(struct frames *f, void (*ended)(void *arg), void *arg);

#endif
