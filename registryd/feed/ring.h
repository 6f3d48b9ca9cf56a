/**
 * The bounded ring of recent change lines that all followers share; each holds only a sequence number.
 *
 *     oldest mark                                   newest
 *     │ M put put del M put M │ put …
 *     └ seq first                                   └ seq next
 *
 * A mark M says that every change up to revision n stands before it. A follower resumes after a mark, never between: revisions of
 * changes need not ascend (after a reconnect to ZooKeeper they come in tree order), those of marks do. A change may stand before a
 * mark of a lower revision (an own write is known before the changes that precede it): a follower that has reached only that mark
 * resumes before the change. A full ring drops its oldest lines; lines that lost their mark still serve followers past it.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FEED_RING_H
#define FEED_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

struct ring_line {
    int64_t zxid; /* of the change, or of the mark */
    char *text;   /* JSON line with newline; NULL: a mark */
    size_t len;   /* bytes of text */
    char *path;   /* whose change it is; NULL: a mark */
    int64_t from; /* of a mark: who has this revision may resume after it; nothing before it is newer */
};

/** A ring that holds up to max_bytes of lines. */
struct ring *ring_new(size_t max_bytes);
void ring_free(struct ring *r);
/** Forget everything and begin with a mark at zxid. Sequence numbers go on. */
void ring_reset(struct ring *r, int64_t zxid);
/** Append a change; takes text, copies path. */
void ring_add(struct ring *r, int64_t zxid, char *take_text, size_t len, const char *path);
/** Append a mark; one right after another replaces it. */
void ring_mark(struct ring *r, int64_t zxid);
/** Sequence number of the oldest line held / of the next one to come. */
uint64_t ring_first(const struct ring *r);
uint64_t ring_next(const struct ring *r);
/** Line by number, or NULL when it is not held (any more, or yet). Borrowed until the ring changes. */
const struct ring_line *ring_line(const struct ring *r, uint64_t seq);
/** Where to go on after revision zxid: behind the newest mark that is not above it.
 *  @return true and *seq; false when the oldest mark is above zxid. */
bool ring_after(const struct ring *r, int64_t zxid, uint64_t *seq);
/** Oldest revision that can be resumed from; INT64_MAX when there is none. */
int64_t ring_oldest(const struct ring *r);
size_t ring_bytes(const struct ring *r);

#endif
