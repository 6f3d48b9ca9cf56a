/**
 * A streaming JSON writer into a buffer: compact, no blanks. It puts commas and colons; the caller keeps the nesting right
 * (a BUG otherwise). Escapes are those of Hadoop's record writer: `"` `\` and U+0000–001F (short forms
 * \b \t \n \f \r, else \u00XX with upper-case hex); everything else raw, but a supplementary character becomes two
 * upper-case \uXXXX escapes when `escape_supplementary` is set. Text must be UTF-8; a lone surrogate in its 3-byte form
 * (WTF-8) is written as its escape.
 *
 * Thread: one writer, one thread.   Source: RFC 8259; Jackson's compact form.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct jw {
    struct buf *out;
    int depth;
    bool need_comma;
    bool after_key;
    bool escape_supplementary;
};

/** A writer that appends to `out`, which outlives it; nothing to release. Thread: any. Source: ours. */
static inline struct jw jw_on(struct buf *out)
{
    return (struct jw){out, 0, false, false, false};
}

/* All of them: texts are borrowed; bytes that are neither UTF-8 nor WTF-8 are written as U+FFFD. Thread: the writer's.
 * Source: RFC 8259. */

/** Begin an object as the next value. */
void jw_object(struct jw *w);
/** End it. BUG: nothing is open, or a key waits for its value. */
void jw_object_end(struct jw *w);
/** Begin an array as the next value. */
void jw_array(struct jw *w);
/** End it. BUG: nothing is open, or a key waits for its value. */
void jw_array_end(struct jw *w);
/** Key of the next value. BUG: nothing is open, or another key waits. */
void jw_key(struct jw *w, const char *key);
/** As jw_key, for `len` bytes; NUL may be inside. */
void jw_keyn(struct jw *w, const char *key, size_t len);
/**
 * As jw_key, for a string literal without anything to escape, which is put as it stands: jw_literal_key(w, "path").
 */
#define jw_literal_key(w, key) jw_ready_key((w), "\"" key "\":", sizeof("\"" key "\":") - 1)
/** As jw_key, for the len bytes of a key in quotes with its colon; they are not checked. */
void jw_ready_key(struct jw *w, const char *text, size_t len);
/** A string; NULL writes null. */
void jw_str(struct jw *w, const char *s);
/** A string of `len` bytes; NUL may be inside. */
void jw_strn(struct jw *w, const char *s, size_t len);
/** A number. */
void jw_int(struct jw *w, int64_t v);
/** true or false. */
void jw_bool(struct jw *w, bool v);
/** null. */
void jw_null(struct jw *w);
/** A value, or members of the object that is open, of `len` bytes that are JSON already; they are not checked. */
void jw_raw(struct jw *w, const char *json, size_t len);
/** Key and string in one; a NULL value writes null. */
void jw_kstr(struct jw *w, const char *key, const char *value);
/** Key and number in one. */
void jw_kint(struct jw *w, const char *key, int64_t value);
/** Key and boolean in one. */
void jw_kbool(struct jw *w, const char *key, bool value);

#endif
