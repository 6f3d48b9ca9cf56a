/**
 * A growing byte buffer. `bytes[len]` is always a NUL, so a buffer of text is a C string; `bytes` is never NULL
 * after the first append or buf_cstr(). Thread: one buffer, one thread.   Source: ours.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
    char *bytes;
    size_t len, cap;
};

#define BUF_EMPTY ((struct buf){NULL, 0, 0})

/** Release the bytes; the buffer is empty and usable again. */
void buf_fini(struct buf *b);
/** A local buffer that releases itself: `buf_auto struct buf b = BUF_EMPTY;` */
#define buf_auto __attribute__((cleanup(buf_fini)))
/** Forget the content, keep the memory. */
void buf_clear(struct buf *b);
/** Get more memory, for n more bytes and the NUL; buf_room calls it where there is too little. */
void buf_grow(struct buf *b, size_t n);

/** Make room for n more bytes and return where they go; advance with `b->len += n`. A caller that uses fewer of them
 *  puts the NUL after them itself. */
static inline char *buf_room(struct buf *b, size_t n)
{
    if (b->cap - b->len <= n)
        buf_grow(b, n);
    b->bytes[b->len] = 0;
    b->bytes[b->len + n] = 0;
    return b->bytes + b->len;
}

/** Append n bytes, which do not lie in b itself; p may be NULL when n is 0. */
static inline void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_room(b, n);
    if (n)
        memcpy(to, p, n);
    b->len += n;
}

/** Append a C string. */
static inline void buf_add_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

/** Append one byte. */
static inline void buf_add_char(struct buf *b, char c)
{
    *buf_room(b, 1) = c;
    b->len++;
}

/** Append a decimal integer. */
void buf_add_i64(struct buf *b, int64_t v);
/** Append in printf form. */
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** As buf_addf, from an argument list, which is used up. */
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/** Drop the first n bytes. n <= len. */
void buf_drop(struct buf *b, size_t n);
/** The content as a C string, "" when empty. Valid until the next change. */
const char *buf_cstr(struct buf *b);
/** Hand the bytes over (NUL-terminated, free() them); the buffer is empty afterwards. Never NULL. */
char *buf_take(struct buf *b);

#endif
