#include "names/block.h"
#include "base/buf.h"

#include <string.h>

#define ABSENT "\x01"

void block_begin(struct buf *out, enum block_kind kind)
{
    buf_add_char(out, (char)kind);
    buf_add_char(out, 0);
}

void block_add(struct buf *out, const char *text)
{
    const char *field = text ? text : ABSENT;
    block_add_n(out, field, strlen(field));
}

void block_add_n(struct buf *out, const char *text, size_t n)
{
    buf_add(out, text, n);
    buf_add_char(out, 0);
}

enum block_kind block_next_kind(struct block *b)
{
    const char *kind = block_next(b);
    switch (kind ? *kind : 0) {
    case BLOCK_APPLICATION: return BLOCK_APPLICATION;
    case BLOCK_CONTAINER: return BLOCK_CONTAINER;
    default: return BLOCK_NO_NAMES;
    }
}

const char *block_next(struct block *b)
{
    if (b->p >= b->end)
        return NULL;
    const char *field = b->p;
    b->p += strlen(field) + 1;
    return field;
}

const char *block_next_present(struct block *b)
{
    const char *field = block_next(b);
    return field && strcmp(field, ABSENT) != 0 ? field : NULL;
}
