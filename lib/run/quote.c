#include "run/quote.h"
#include "base/str.h"

#include <stdbool.h>
#include <string.h>

/* C0, DEL and C1: what a terminal may take as a command. */
static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

static bool is_plain_word(const char *s)
{
    size_t n = strlen(s);
    uint32_t cp;
    for (size_t i = 0, k = 1; i < n; i += k, k = 1) {
        unsigned char c = (unsigned char)s[i];
        if (c > ' ' && c < 0x7f && c != '"' && c != '\\')
            continue;
        k = utf8_next(s + i, n - i, &cp);
        if (!k || is_control(cp) || cp == ' ' || cp == '"' || cp == '\\')
            return false;
    }
    return n > 0;
}

/* The letter of a short escape both forms have, or 0. */
static char short_escape(uint32_t cp)
{
    switch (cp) {
    case '"': return '"';
    case '\\': return '\\';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

/* Append one character of s, or one byte that is none. @return its bytes */
static size_t add_escaped(struct buf *out, const char *s, size_t n, bool is_quoted)
{
    uint32_t cp = 0;
    size_t k = utf8_next(s, n, &cp);
    bool is_bare = k && !is_control(cp) && (!is_quoted || !short_escape(cp));
    if (is_bare) {
        buf_add(out, s, k);
    } else if (k && short_escape(cp)) {
        buf_addf(out, "\\%c", short_escape(cp));
    } else {
        k = k ? k : 1;
        for (size_t i = 0; i < k; i++)
            buf_addf(out, "\\x%02X", (unsigned)(unsigned char)s[i]);
    }
    return k;
}

void quote_text(struct buf *out, const char *s)
{
    if (is_plain_word(s)) {
        buf_add_str(out, s);
        return;
    }
    buf_add_char(out, '"');
    for (size_t n = strlen(s), i = 0; i < n;)
        i += add_escaped(out, s + i, n - i, true);
    buf_add_char(out, '"');
}

void quote_line(struct buf *out, const char *s)
{
    for (size_t n = strlen(s), i = 0; i < n;)
        i += add_escaped(out, s + i, n - i, false);
}

void quote_json(struct buf *out, const char *s)
{
    buf_add_char(out, '"');
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        size_t k = utf8_next(s + i, n - i, &cp);
        if (!k)
            buf_add_str(out, "\xef\xbf\xbd");
        else if (short_escape(cp))
            buf_addf(out, "\\%c", short_escape(cp));
        else if (is_control(cp))
            buf_addf(out, "\\u%04X", (unsigned)cp);
        else
            buf_add(out, s + i, k);
        i += k ? k : 1;
    }
    buf_add_char(out, '"');
}
