#include "cluster/shim_tail.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "shim/wire.h"

#define ESC     0x1b
#define DEL     0x7f
#define C1_LAST 0x9f

/** Length of a terminal sequence at p, "ESC [ parameters letter"; 0: there is none. Source: ECMA-48 5.4. */
static size_t sequence_len(const char *p, const char *end)
{
    const char *q = p + 2;

    if (end - p < 3 || p[0] != ESC || p[1] != '[')
        return 0;
    while (q < end && *q >= 0x20 && *q <= 0x3f)
        q++;
    return q < end && *q >= 0x40 && *q <= 0x7e ? (size_t)(q - p) + 1 : 0;
}

static bool is_control(uint32_t cp)
{
    return cp < ' ' ? cp != '\n' && cp != '\t' : cp >= DEL && cp <= C1_LAST;
}

static void clean(const char *p, const char *end, struct buf *out)
{
    uint32_t cp;
    size_t len;

    for (; p < end; p += len) {
        len = sequence_len(p, end);
        if (len || *p == '\r') {
            len = len ? len : 1;
            continue;
        }
        len = utf8_next(p, (size_t)(end - p), &cp);
        if (!len || is_control(cp))
            buf_add_char(out, '?');
        else
            buf_add(out, p, len);
        len = len ? len : 1;
    }
}

/** Where the last lines begin. */
static const char *last_lines(const char *bytes, const char *end)
{
    size_t n = 0;

    for (const char *p = end; p > bytes; p--)
        if (p[-1] == '\n' && ++n == SHIM_TAIL_LINES)
            return p;
    return bytes;
}

char *shim_tail_text(const char *bytes, size_t len, bool is_cut)
{
    const char *end = bytes + len;
    struct buf out = BUF_EMPTY;

    while (end > bytes && strchr("\r\n\t ", end[-1]))
        end--;
    const char *whole = is_cut ? memchr(bytes, '\n', (size_t)(end - bytes)) : NULL;
    const char *from = whole ? whole + 1 : bytes;
    clean(last_lines(from, end), end, &out);
    if (out.len)
        return buf_take(&out);
    buf_fini(&out);
    return NULL;
}

char *shim_tail_read(const char *dir)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, SHIM_TAIL_FILE);
    char bytes[SHIM_TAIL_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

    if (fd >= 0)
        close(fd);
    return n > 0 ? shim_tail_text(bytes, (size_t)n, n == SHIM_TAIL_MAX) : NULL;
}
