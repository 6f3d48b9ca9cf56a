/**
 * The JSON forms that registryd gives out: a node's status, its record, the lines of the feed.
 * Thread: any; owner for nodes of the mirror.   Source: docs/registry-rest.md.
 */
#ifndef FEED_LINES_H
#define FEED_LINES_H

#include "json/writer.h"
#include "store/mirror/mirror.h"

/** `"status":{…}` of a node; `name` is its last path element. */
void lines_status(struct jw *w, const char *name, const struct store_stat *stat, const char *store_id);
/** Append the canonical form of a node's bytes. @return false: they are no record by the strict rules; nothing appended. */
bool lines_record(struct buf *out, const char *bytes, size_t len);
/** As lines_record for a node of the mirror; what its bytes are is found out once and kept with the node. */
bool lines_node_record(struct buf *out, const struct mirror_node *node);
/** Whether a node's bytes are a record whose list of external endpoints is not null: Slider shows no other. Source: slider-am 9.2. */
bool lines_node_has_external(const struct mirror_node *node);
/** As lines_service for a node of the mirror. */
void lines_node_service(struct jw *w, const struct mirror_node *node);
/** `"service":{…}` when the bytes are a record by the strict rules, else nothing. @return whether they are. */
bool lines_service(struct jw *w, const char *bytes, size_t len);
/** The bytes are meant as a record and are none by the strict rules: append why. @return whether that is so. */
bool lines_why_invalid(struct buf *out, const char *bytes, size_t len);
/** `"invalidRecord":"why"` when that is so of a node of the mirror for which lines_node_service wrote nothing. */
void lines_node_invalid(struct jw *w, const struct mirror_node *node);
/** A `put` line with newline, appended. */
void lines_put(struct buf *out, const char *path, const struct mirror_node *node, const char *store_id);
/** A `delete` line with newline, appended. */
void lines_delete(struct buf *out, const char *path, int64_t zxid, const char *store_id);
/** What a mark says about the store; LINES_UNSAID: nothing, which means current. */
enum lines_stale { LINES_UNSAID, LINES_STALE, LINES_CURRENT };
/** `{"type":TYPE,"revision":R}` with newline (sync, progress), `"stale":…` where something is to be said; appended. */
void lines_mark(struct buf *out, const char *type, int64_t zxid, const char *store_id,
                enum lines_stale stale);
/** Say why an answer that is under way cannot be completed: the store that it began with was replaced. @return ERR_GONE. */
int lines_why_replaced(struct err_info *why);
/**
 * The end of a JSON document that is under way when the store was replaced: `{"error":…,"detail":…}` on a line of its own, where it
 * cannot stand, and nothing after it. What was sent is no JSON then, so nobody takes a part for the whole, however it was passed on.
 */
void lines_broken_off(struct buf *out);

#endif
