#include "base/base64.h"

#include <stdbool.h>
#include <string.h>

#include "bobbin/error.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(struct buf *out, const void *p, size_t n)
{
    const unsigned char *in = p;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        unsigned bits = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                        (left > 2 ? (unsigned)in[i + 2] : 0);
        buf_add_char(out, digits[bits >> 18]);
        buf_add_char(out, digits[bits >> 12 & 63]);
        buf_add_char(out, left > 1 ? digits[bits >> 6 & 63] : '=');
        buf_add_char(out, left > 2 ? digits[bits & 63] : '=');
    }
}

/** Four characters, of which the last n_pad are padding, to 3 - n_pad bytes. */
static bool get_four(const char *text, size_t n_pad, unsigned char bytes[3])
{
    unsigned bits = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *digit = i < 4 - n_pad ? memchr(digits, text[i], sizeof digits - 1) : digits;
        if (!digit)
            return false;
        bits = bits << 6 | (unsigned)(digit - digits);
    }
    bytes[0] = (unsigned char)(bits >> 16);
    bytes[1] = (unsigned char)(bits >> 8);
    bytes[2] = (unsigned char)bits;
    return (n_pad < 1 || bytes[2] == 0) && (n_pad < 2 || bytes[1] == 0);
}

int base64_get(const char *text, size_t n, struct buf *out)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    if (n % 4)
        return ERR_PARSE;
    for (size_t i = 0; i < n; i += 4) {
        bool is_last = i + 4 == n;
        size_t n_pad = is_last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        unsigned char three[3];
        if (!get_four(text + i, n_pad, three))
            return ERR_PARSE;
        buf_add(&bytes, three, 3 - n_pad);
    }
    buf_add(out, bytes.bytes, bytes.len);
    return 0;
}
