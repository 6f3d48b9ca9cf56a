#include "base/str.h"
#include "base/mem.h"
#include "bobbin/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
    const char *digits = *s == '-' ? s + 1 : s;
    if (*digits < '0' || *digits > '9')
        return ERR_PARSE;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end || v < min || v > max)
        return ERR_PARSE;
    *out = v;
    return 0;
}

struct unit {
    const char *name;
    int64_t factor;
};

/* A number, then one of the units; "" stands for `bare`. */
static int number_with_unit(const char *s, const struct unit *units, size_t n_units, int64_t bare,
                            int64_t *out)
{
    if (*s < '0' || *s > '9')
        return ERR_PARSE;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno)
        return ERR_PARSE;
    int64_t factor = *end ? 0 : bare;
    for (size_t i = 0; i < n_units && *end; i++)
        if (strcmp(end, units[i].name) == 0)
            factor = units[i].factor;
    int64_t product;
    if (!factor || __builtin_mul_overflow((int64_t)v, factor, &product))
        return ERR_PARSE;
    *out = product;
    return 0;
}

int str_to_ms(const char *s, int64_t bare_unit_ms, int64_t *out)
{
    static const struct unit units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    return number_with_unit(s, units, sizeof units / sizeof units[0], bare_unit_ms, out);
}

int str_to_bytes(const char *s, int64_t *out)
{
    static const struct unit units[] = {{"k", 1024},    {"K", 1024},       {"m", 1048576},
                                        {"M", 1048576}, {"g", 1073741824}, {"G", 1073741824}};
    return number_with_unit(s, units, sizeof units / sizeof units[0], 1, out);
}

int str_to_bool(const char *s, bool *out)
{
    mem_auto char *t = str_trim(s);
    if (strcasecmp(t, "true") == 0)
        *out = true;
    else if (strcasecmp(t, "false") == 0)
        *out = false;
    else
        return ERR_PARSE;
    return 0;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && memcmp(s + n - k, suffix, k) == 0;
}

char *str_trim(const char *s)
{
    while (blank(*s))
        s++;
    size_t n = strlen(s);
    while (n && blank(s[n - 1]))
        n--;
    return mem_strn(s, n);
}

void str_lower(char *s)
{
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s + 32);
}

char *str_field(const char *s, char sep, size_t n)
{
    for (; n; n--) {
        s = strchr(s, sep);
        if (!s)
            return NULL;
        s++;
    }
    const char *end = strchr(s, sep);
    mem_auto char *raw = mem_strn(s, end ? (size_t)(end - s) : strlen(s));
    return str_trim(raw);
}

bool str_has_field(const char *s, char sep, const char *word)
{
    bool found = false;
    char *field;
    for (size_t i = 0; s && !found && (field = str_field(s, sep, i)); i++) {
        found = strcmp(field, word) == 0;
        free(field);
    }
    return found;
}

/* The two digits of each number below 100. */
static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

size_t str_put_i64(char *out, int64_t v)
{
    char text[STR_I64_MAX];
    char *end = text + sizeof text, *at = end;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    for (; left >= 10; left /= 100)
        memcpy(at -= 2, digit_pairs + left % 100 * 2, 2);
    if (left || at == end)
        *--at = (char)('0' + left);
    if (v < 0)
        *--at = '-';
    memcpy(out, at, (size_t)(end - at));
    return (size_t)(end - at);
}

/* Length of the ASCII text that s begins with, in whole words of 8. */
static size_t ascii_words_len(const char *s, size_t n)
{
    size_t len = 0;
    uint64_t word;
    while (n - len >= sizeof word) {
        memcpy(&word, s + len, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
        len += sizeof word;
    }
    return len;
}

size_t utf8_next(const char *s, size_t n, uint32_t *cp)
{
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (!n)
        return 0;
    unsigned char c = (unsigned char)s[0];
    size_t len = c < 0x80 ? 1 : (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 0;
    if (!len || len > n)
        return 0;
    uint32_t v = len == 1 ? c : c & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        unsigned char d = (unsigned char)s[i];
        if ((d & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (d & 0x3fu);
    }
    if (v < lowest[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return 0;
    *cp = v;
    return len;
}

bool utf8_valid(const char *s, size_t n)
{
    uint32_t cp;
    for (size_t at = ascii_words_len(s, n); at < n;) {
        size_t k = utf8_next(s + at, n - at, &cp);
        if (!k)
            return false;
        at += k;
    }
    return true;
}

bool str_is_visible(const char *s, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
    uint64_t word, bad = 0;
    size_t i = 0;
    for (; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        bad |= word | (word - ones * '!') | (word + ones);
    }
    for (; i < n; i++)
        bad |= s[i] < '!' || s[i] > '~' ? tops : 0;
    return (bad & tops) == 0;
}

size_t utf8_put(char *out, uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int64_t str_unpercent(const char *s, size_t n, char *out)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '%') {
            out[len++] = s[i];
            continue;
        }
        if (i + 2 >= n || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
            return ERR_PARSE;
        out[len++] = (char)(hex(s[i + 1]) << 4 | hex(s[i + 2]));
        i += 2;
    }
    out[len] = 0;
    return (int64_t)len;
}
