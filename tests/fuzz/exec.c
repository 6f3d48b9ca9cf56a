/* Frames of an exec session, of both sides: what is read fits what came, and written again it is the same octets. */
#include "fuzz.h"

#include <string.h>

#include "bobbin/error.h"
#include "exec/frame.h"

static void put_again(struct buf *out, const struct exec_frame *f)
{
    switch (f->kind) {
    case EXEC_STDIN:
    case EXEC_STDOUT:
    case EXEC_STDERR:
    case EXEC_ERROR: exec_frame_put(out, f->kind, f->payload, f->len); break;
    case EXEC_RESIZE: exec_frame_put_size(out, f->rows, f->columns); break;
    case EXEC_SIGNAL:
    case EXEC_CREDIT:
    case EXEC_EXIT: exec_frame_put_number(out, f->kind, f->number); break;
    }
}

static void read_all(const char *bytes, size_t len, enum exec_side from)
{
    size_t at = 0;
    int n = 1;

    while (n > 0) {
        struct exec_frame f;
        n = exec_frame_read(bytes + at, len - at, from, &f);
        FUZZ_HOLDS(n >= 0 || n == ERR_PARSE);
        if (n <= 0)
            break;
        buf_auto struct buf again = BUF_EMPTY;
        put_again(&again, &f);
        FUZZ_HOLDS(again.len == (size_t)n && again.len <= len - at);
        FUZZ_HOLDS(memcmp(again.bytes, bytes + at, again.len) == 0);
        FUZZ_HOLDS(f.len <= EXEC_PAYLOAD_MAX);
        at += (size_t)n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all((const char *)data, size, EXEC_CLIENT);
    read_all((const char *)data, size, EXEC_SERVER);
    return 0;
}
