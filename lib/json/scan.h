/**
 * A pull tokenizer over JSON text that keeps what jansson drops: the source text of numbers, the order of members,
 * repeated keys, and what follows the first value. The record reader stands on it; other documents use json.h.
 *
 * Bytes that are not UTF-8 inside strings become U+FFFD; lone surrogate escapes are kept in 3-byte form (WTF-8).
 * Strict RFC 8259 otherwise: no comments, trailing commas, single quotes, NaN, leading zeros, raw control characters.
 * Nesting deeper than `max_depth` is an error.
 *
 * Thread: one scanner, one thread.   Source: RFC 8259; Jackson's reader (acceptance).
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"

enum js_token {
    JS_ERROR = -1,
    JS_END, /* after the first value: nothing more was read */
    JS_OBJECT,
    JS_OBJECT_END,
    JS_ARRAY,
    JS_ARRAY_END,
    JS_KEY,     /* text: the decoded key   */
    JS_STRING,  /* text: the decoded value */
    JS_INTEGER, /* text: source text       */
    JS_REAL,    /* text: source text       */
    JS_TRUE,
    JS_FALSE,
    JS_NULL
};

struct js {
    const char *p, *start, *end;
    int depth, max_depth;
    unsigned char *stack; /* 'o' or 'a' per open level */
    int expect;           /* state of the grammar */
    struct buf text;      /* of the last token; NUL inside is possible, use text.len */
    struct err_info why;  /* filled after JS_ERROR; where = "line:col" */
};

/**
 * Start on a text.
 *
 * @param s          release with js_fini                                        [out]
 * @param bytes      text of `len` bytes, outlives s                             [borrowed]
 * @param max_depth  levels of objects and arrays allowed, 0 or more; this many bytes are allocated
 * Thread: any.   Source: ours.
 */
void js_init(struct js *s, const char *bytes, size_t len, int max_depth);
/** Release what js_init made; a second call is fine. Thread: the scanner's. Source: ours. */
void js_fini(struct js *s);
/**
 * Next token; s->text holds the text of JS_KEY, JS_STRING, JS_INTEGER and JS_REAL until the next call.
 *
 * @return the token; JS_END after the first value, whatever follows it; or JS_ERROR: s->why holds ERR_JSON and
 *         "line:col" (the column counts characters). After JS_ERROR or JS_END it repeats itself.
 * Thread: the scanner's.   Source: RFC 8259.
 */
enum js_token js_next(struct js *s);
/**
 * Skip the value that starts with the next token (whole objects and arrays).
 *
 * @return 0; or ERR_JSON, s->why filled: malformed text, or no value stands here.
 * Thread: the scanner's.   Source: ours.
 */
int js_skip(struct js *s);
/**
 * Check that a text begins with a value.
 *
 * @param bytes      text of `len` bytes                                         [borrowed]
 * @param max_depth  as of js_init
 * @param why        filled on failure; where = "line:col"                       [out]
 * @return 0, whatever follows the value; ERR_JSON: malformed text, or none.
 * Thread: any.   Source: ours.
 */
int js_check(const char *bytes, size_t len, int max_depth, struct err_info *why);

#endif
