/** What the node of a write holds: see claims.h. Thread: any.   Source: ours. */
#ifndef REPEATS_NOTE_H
#define REPEATS_NOTE_H

#include <stddef.h>

#include "base/buf.h"
#include "http/repeats.h"

/** Longest body that goes into a node; of a longer one the others know status and headers. */
#define NOTE_BODY_MAX ((size_t)64 << 10)
/** Most headers of an answer: ours have fewer. */
#define NOTE_HEADERS_MAX 32

/** What a node says. */
enum note_state {
    NOTE_BROKEN,  /* it is none of ours: no client is sent it */
    NOTE_TAKEN,   /* it is being done */
    NOTE_ANSWERED /* answer holds what it was answered with */
};

struct note {
    enum note_state state;
    char *by; /* who has taken it */
    struct http_kept_answer answer;
};

/** Write what a node holds. @param by  who has taken the write [borrowed] @param answer  NULL: none yet [borrowed] @param out  appended
 *  [in,out] */
void note_write(const char *by, const struct http_kept_answer *answer, struct buf *out);
/** Read it. @param bytes  len bytes of anything [borrowed] @return release with note_fini. */
struct note note_read(const char *bytes, size_t len);
/** Release. */
void note_fini(struct note *k);

#endif
