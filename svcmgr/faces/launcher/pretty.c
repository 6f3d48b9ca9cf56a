#include "launcher/pretty.h"

#include <string.h>

#include "base/obj.h"

static void new_line(const struct launcher_pretty *p, struct buf *out)
{
    size_t n = 1 + 2 * (size_t)p->n_objects;
    char *to = buf_room(out, n);
    to[0] = '\n';
    memset(to + 1, ' ', n - 1);
    out->len += n;
}

/** What was opened is not empty. */
static void begin_value(struct launcher_pretty *p, struct buf *out)
{
    if (p->opened == '{')
        new_line(p, out);
    else if (p->opened == '[')
        buf_add_char(out, ' ');
    p->opened = 0;
}

static void add_open(struct launcher_pretty *p, char c, struct buf *out)
{
    BUG_IF(p->n_open == LAUNCHER_PRETTY_DEPTH);
    begin_value(p, out);
    p->opened = c;
    p->n_open++;
    p->n_objects += c == '{';
    p->lists = p->lists << 1 | (c == '[');
    buf_add_char(out, c);
}

static void add_close(struct launcher_pretty *p, char c, struct buf *out)
{
    p->n_open--;
    p->n_objects -= c == '}';
    p->lists >>= 1;
    if (p->opened || c == ']')
        buf_add_char(out, ' ');
    else
        new_line(p, out);
    p->opened = 0;
    buf_add_char(out, c);
}

/** A character outside of texts. */
static void add_char(struct launcher_pretty *p, char c, struct buf *out)
{
    switch (c) {
    case '{':
    case '[': add_open(p, c, out); break;
    case '}':
    case ']': add_close(p, c, out); break;
    case ':': buf_add(out, " : ", 3); break;
    case ',':
        buf_add_char(out, ',');
        if (p->lists & 1)
            buf_add_char(out, ' ');
        else
            new_line(p, out);
        break;
    default:
        begin_value(p, out);
        p->in_text = c == '"';
        buf_add_char(out, c);
    }
}

/** Add a text up to its end, or to that of the piece. @return its length in bytes. */
static size_t add_text(struct launcher_pretty *p, const char *json, size_t len, struct buf *out)
{
    size_t n = 0;
    while (n < len && p->in_text) {
        const char *quote = memchr(json + n, '"', len - n);
        size_t end = quote ? (size_t)(quote - json) : len, n_slashes = 0;
        while (n_slashes < end - n && json[end - 1 - n_slashes] == '\\')
            n_slashes++;
        bool is_escaped = (n_slashes + (n_slashes == end - n && p->after_backslash)) % 2;
        p->in_text = !quote || is_escaped;
        p->after_backslash = !quote && is_escaped;
        n = quote ? end + 1 : len;
    }
    buf_add(out, json, n);
    return n;
}

void launcher_pretty_add(struct launcher_pretty *p, const char *json, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len;) {
        if (p->in_text)
            i += add_text(p, json + i, len - i, out);
        else
            add_char(p, json[i++], out);
    }
}
