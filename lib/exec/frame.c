#include "exec/frame.h"

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

struct row {
    enum exec_kind kind;
    enum exec_side side;
    size_t min, max;
};

static const struct row rows[] = {
#define ROW(id, number, side, min, max) {id, side, min, max},
    EXEC_FRAMES(ROW)
#undef ROW
};

static const struct row *find_row(unsigned number)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((unsigned)rows[i].kind == number)
            return &rows[i];
    return NULL;
}

static uint32_t read_number(const char *bytes, size_t len)
{
    uint32_t n = 0;

    for (size_t i = 0; i < len; i++)
        n = n << 8 | (unsigned char)bytes[i];
    return n;
}

static void put_number(struct buf *out, uint32_t number, size_t len)
{
    while (len--)
        buf_add_char(out, (char)(number >> 8 * len));
}

void exec_frame_put(struct buf *out, enum exec_kind kind, const void *payload, size_t len)
{
    const struct row *row = find_row(kind);

    BUG_IF(!row || len < row->min || len > row->max);
    buf_add_char(out, (char)kind);
    put_number(out, (uint32_t)len, EXEC_HEAD - 1);
    buf_add(out, payload, len);
}

void exec_frame_put_number(struct buf *out, enum exec_kind kind, uint32_t number)
{
    const struct row *row = find_row(kind);

    BUG_IF(!row || row->min != row->max || (row->max < sizeof number && number >> 8 * row->max));
    buf_add_char(out, (char)kind);
    put_number(out, (uint32_t)row->max, EXEC_HEAD - 1);
    put_number(out, number, row->max);
}

void exec_frame_put_size(struct buf *out, uint16_t n_rows, uint16_t n_columns)
{
    exec_frame_put_number(out, EXEC_RESIZE, (uint32_t)n_rows << 16 | n_columns);
}

int exec_frame_read(const char *bytes, size_t len, enum exec_side from, struct exec_frame *out)
{
    if (len < EXEC_HEAD)
        return 0;
    const struct row *row = find_row((unsigned char)bytes[0]);
    size_t n = read_number(bytes + 1, EXEC_HEAD - 1);
    if (!row || row->side != from || n < row->min || n > row->max)
        return ERR_PARSE;
    if (len < EXEC_HEAD + n)
        return 0;
    *out = (struct exec_frame){.kind = row->kind, .payload = bytes + EXEC_HEAD, .len = n};
    if (row->min == row->max)
        out->number = read_number(out->payload, n);
    if (row->kind == EXEC_RESIZE) {
        out->rows = (uint16_t)(out->number >> 16);
        out->columns = (uint16_t)out->number;
    }
    return (int)(EXEC_HEAD + n);
}
