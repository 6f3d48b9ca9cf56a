#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_fini(struct buf *b)
{
    free(b->bytes);
    *b = BUF_EMPTY;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->bytes)
        b->bytes[0] = 0;
}

void buf_grow(struct buf *b, size_t n)
{
    BUG_IF(n > SIZE_MAX / 4 || b->len > SIZE_MAX / 4);
    size_t cap = b->cap ? b->cap : 64;
    while (cap < b->len + n + 1)
        cap *= 2;
    b->bytes = mem_resize(b->bytes, cap, 1);
    b->cap = cap;
}

void buf_add_i64(struct buf *b, int64_t v)
{
    b->len += str_put_i64(buf_room(b, STR_I64_MAX), v);
    b->bytes[b->len] = 0;
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char small[256];
    int n = vsnprintf(small, sizeof small, fmt, ap);
    BUG_IF(n < 0);
    if ((size_t)n < sizeof small) {
        buf_add(b, small, (size_t)n);
    } else {
        char *to = buf_room(b, (size_t)n);
        vsnprintf(to, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(b, fmt, ap);
    va_end(ap);
}

void buf_drop(struct buf *b, size_t n)
{
    BUG_IF(n > b->len);
    if (!n)
        return;
    memmove(b->bytes, b->bytes + n, b->len - n);
    b->len -= n;
    b->bytes[b->len] = 0;
}

const char *buf_cstr(struct buf *b)
{
    return b->bytes ? b->bytes : "";
}

char *buf_take(struct buf *b)
{
    char *p = b->bytes ? b->bytes : mem_strn("", 0);
    *b = BUF_EMPTY;
    return p;
}
