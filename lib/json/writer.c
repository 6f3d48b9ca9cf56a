#include "json/writer.h"
#include "base/obj.h"
#include "base/str.h"

#include <string.h>

/* What must stand before a key or a value. */
static void begin(struct jw *w)
{
    if (w->need_comma && !w->after_key)
        buf_add_char(w->out, ',');
    w->after_key = false;
    w->need_comma = true;
}

static void open_level(struct jw *w, char c)
{
    begin(w);
    buf_add_char(w->out, c);
    w->depth++;
    w->need_comma = false;
}

static void close_level(struct jw *w, char c)
{
    BUG_IF(w->depth == 0 || w->after_key);
    buf_add_char(w->out, c);
    w->depth--;
    w->need_comma = true;
}

void jw_object(struct jw *w)
{
    open_level(w, '{');
}

void jw_object_end(struct jw *w)
{
    close_level(w, '}');
}

void jw_array(struct jw *w)
{
    open_level(w, '[');
}

void jw_array_end(struct jw *w)
{
    close_level(w, ']');
}

static void add_escaped(struct buf *out, unsigned char c)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c == '"' || c == '\\')
        buf_addf(out, "\\%c", c);
    else if (short_form[c])
        buf_addf(out, "\\%c", short_form[c]);
    else
        buf_addf(out, "\\u%04X", (unsigned)c);
}

/* A surrogate in 3-byte form: ED A0..BF 80..BF. */
static bool is_surrogate(const unsigned char *s, size_t n)
{
    return n >= 3 && s[0] == 0xed && (s[1] & 0xe0) == 0xa0 && (s[2] & 0xc0) == 0x80;
}

/* Write the character of more than one byte at s. @return its length in bytes. */
static size_t add_wide(struct jw *w, const char *s, size_t n)
{
    uint32_t cp;
    size_t k = utf8_next(s, n, &cp);
    const unsigned char *u = (const unsigned char *)s;
    if (k == 4 && w->escape_supplementary) {
        uint32_t v = cp - 0x10000;
        buf_addf(w->out, "\\u%04X\\u%04X", (unsigned)(0xd800 + (v >> 10)), (unsigned)(0xdc00 + (v & 0x3ff)));
    } else if (k) {
        buf_add(w->out, s, k);
    } else if (is_surrogate(u, n)) {
        k = 3;
        buf_addf(w->out, "\\u%04X", 0xd000u | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu));
    } else {
        k = 1;
        buf_add_str(w->out, "\xef\xbf\xbd");
    }
    return k;
}

/* Whether any of 8 bytes is a control character, '"', '\\' or no ASCII (a byte of 0x80 in the result says yes). */
static uint64_t special_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
    uint64_t quotes = word ^ ones * '"', slashes = word ^ ones * '\\';
    uint64_t low = (word - ones * 0x20) | (quotes - ones) | (slashes - ones);
    return (low | word) & tops;
}

/* Whether a text is printable ASCII without anything to escape; false may also be said of one that is. */
static bool is_plain(const char *s, size_t len)
{
    uint64_t word;
    size_t i = 0;
    for (; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        if (special_bytes(word))
            return false;
    }
    word = UINT64_C(0x6161616161616161);
    if (i < len)
        memcpy(&word, s + i, len - i);
    return special_bytes(word) == 0;
}

/* Append a plain text in quotes. */
static void add_plain(struct buf *out, const char *s, size_t len)
{
    char *to = buf_room(out, len + 2);
    to[0] = '"';
    if (len)
        memcpy(to + 1, s, len);
    to[len + 1] = '"';
    out->len += len + 2;
}

static void add_string(struct jw *w, const char *s, size_t len)
{
    if (is_plain(s, len)) {
        add_plain(w->out, s, len);
        return;
    }
    buf_add_char(w->out, '"');
    for (size_t i = 0; i < len;) {
        size_t plain = i;
        unsigned char c = 0;
        for (; plain < len; plain++) {
            c = (unsigned char)s[plain];
            if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
                break;
        }
        buf_add(w->out, s + i, plain - i);
        i = plain;
        if (i == len)
            break;
        if (c >= 0x80) {
            i += add_wide(w, s + i, len - i);
        } else {
            add_escaped(w->out, c);
            i++;
        }
    }
    buf_add_char(w->out, '"');
}

void jw_ready_key(struct jw *w, const char *text, size_t len)
{
    BUG_IF(w->depth == 0 || w->after_key);
    begin(w);
    buf_add(w->out, text, len);
    w->after_key = true;
}

void jw_keyn(struct jw *w, const char *key, size_t len)
{
    BUG_IF(w->depth == 0 || w->after_key);
    begin(w);
    add_string(w, key, len);
    buf_add_char(w->out, ':');
    w->after_key = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_keyn(w, key, strlen(key));
}

void jw_strn(struct jw *w, const char *s, size_t len)
{
    begin(w);
    add_string(w, s, len);
}

void jw_str(struct jw *w, const char *s)
{
    if (s)
        jw_strn(w, s, strlen(s));
    else
        jw_null(w);
}

void jw_int(struct jw *w, int64_t v)
{
    begin(w);
    buf_add_i64(w->out, v);
}

void jw_bool(struct jw *w, bool v)
{
    begin(w);
    buf_add_str(w->out, v ? "true" : "false");
}

void jw_null(struct jw *w)
{
    begin(w);
    buf_add_str(w->out, "null");
}

void jw_raw(struct jw *w, const char *json, size_t len)
{
    begin(w);
    buf_add(w->out, json, len);
}

void jw_kstr(struct jw *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_str(w, value);
}

void jw_kint(struct jw *w, const char *key, int64_t value)
{
    jw_key(w, key);
    jw_int(w, value);
}

void jw_kbool(struct jw *w, const char *key, bool value)
{
    jw_key(w, key);
    jw_bool(w, value);
}
