/**
 * A streaming JSON writer into a buffer: compact, no blanks. It puts commas and colons; the caller keeps the nesting right
 * (a BUG otherwise). Escapes are those of registry.md's record writer: `"` `\` and U+0000–001F (short forms
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

static inline struct jw jw_on(struct buf *out)
{
    return (struct jw){out, 0, false, false, false};
}

void jw_object(struct jw *w);
void jw_object_end(struct jw *w);
void jw_array(struct jw *w);
void jw_array_end(struct jw *w);
void jw_key(struct jw *w, const char *key);
void jw_keyn(struct jw *w, const char *key, size_t len);
void jw_str(struct jw *w, const char *s); /* NULL writes null */
void jw_strn(struct jw *w, const char *s, size_t len);
void jw_int(struct jw *w, int64_t v);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
/** Text that is JSON already. */
void jw_raw(struct jw *w, const char *json, size_t len);
/** key and value in one. */
void jw_kstr(struct jw *w, const char *key, const char *value);
void jw_kint(struct jw *w, const char *key, int64_t value);
void jw_kbool(struct jw *w, const char *key, bool value);

#endif
