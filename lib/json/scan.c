#include "json/scan.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may come next. */
enum expect {
    EXPECT_VALUE,        /* the document */
    EXPECT_MEMBER_VALUE, /* ':' and a value */
    EXPECT_ELEMENT,      /* a first element, or ']' */
    EXPECT_MEMBER,       /* a first key, or '}' */
    EXPECT_MORE,         /* ',' or the end of the level */
    EXPECT_NOTHING,      /* the first value is complete */
    EXPECT_FAILED
};

void js_init(struct js *s, const char *bytes, size_t len, int max_depth)
{
    *s = (struct js){.p = bytes, .start = bytes, .end = bytes + len, .max_depth = max_depth};
    s->stack = mem_alloc(max_depth > 0 ? (size_t)max_depth : 0);
    s->expect = EXPECT_VALUE;
}

void js_fini(struct js *s)
{
    free(s->stack);
    s->stack = NULL;
    buf_fini(&s->text);
}

/* Fail at a byte; the column counts characters. */
static enum js_token fail(struct js *s, const char *at, const char *text)
{
    int line = 1, col = 1;
    for (const char *p = s->start; p < at; p++) {
        if (*p == '\n') {
            line++;
            col = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            col++;
        }
    }
    char where[48];
    snprintf(where, sizeof where, "%d:%d", line, col);
    err_set(&s->why, ERR_JSON, where, "%s", text);
    s->expect = EXPECT_FAILED;
    return JS_ERROR;
}

static enum js_token fail_here(struct js *s, const char *wanted)
{
    char text[128];
    if (s->p == s->end)
        snprintf(text, sizeof text, "unexpected end, %s wanted", wanted);
    else if (*s->p > 0x20 && *s->p < 0x7f)
        snprintf(text, sizeof text, "unexpected '%c', %s wanted", *s->p, wanted);
    else
        snprintf(text, sizeof text, "unexpected byte 0x%02X, %s wanted", (unsigned)(unsigned char)*s->p,
                 wanted);
    return fail(s, s->p, text);
}

static void skip_blanks(struct js *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
        s->p++;
}

static enum js_token value_done(struct js *s, enum js_token token)
{
    s->expect = s->depth ? EXPECT_MORE : EXPECT_NOTHING;
    return token;
}

static enum js_token open_level(struct js *s, enum js_token token)
{
    if (s->depth >= s->max_depth)
        return fail(s, s->p, "JSON is too deeply nested");
    s->stack[s->depth++] = token == JS_OBJECT ? 'o' : 'a';
    s->p++;
    s->expect = token == JS_OBJECT ? EXPECT_MEMBER : EXPECT_ELEMENT;
    return token;
}

static enum js_token close_level(struct js *s)
{
    s->depth--;
    s->p++;
    return value_done(s, s->stack[s->depth] == 'o' ? JS_OBJECT_END : JS_ARRAY_END);
}

static bool continues(const unsigned char *u, size_t n, size_t i)
{
    return i < n && (u[i] & 0xc0) == 0x80;
}

/* Bytes of malformed UTF-8 at s that one U+FFFD stands for, counted as Java's decoder counts them. */
static size_t malformed_len(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    if ((u[0] & 0xf0) == 0xe0) {
        if (!continues(u, n, 1) || (u[0] == 0xe0 && u[1] < 0xa0))
            return 1;
        return continues(u, n, 2) ? 3 : 2;
    }
    if (u[0] >= 0xf0 && u[0] <= 0xf4) {
        if (!continues(u, n, 1) || (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
            return 1;
        return continues(u, n, 2) ? 3 : 2;
    }
    return 1;
}

/* Four hex digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i], lower = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            v = v << 4 | (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            v = v << 4 | (lower - 'a' + 10);
        else
            return -1;
    }
    return v;
}

static void add_code_point(struct buf *out, uint32_t cp)
{
    char utf8[4];
    buf_add(out, utf8, utf8_put(utf8, cp));
}

/* At the four digits of a \u escape; a surrogate pair is two of them. */
static bool read_unicode(struct js *s)
{
    int high = hex4(s->p, s->end);
    if (high < 0)
        return false;
    s->p += 4;
    uint32_t cp = (uint32_t)high;
    if (cp >= 0xd800 && cp < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u') {
        int low = hex4(s->p + 2, s->end);
        if (low >= 0xdc00 && low < 0xe000) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
            s->p += 6;
        }
    }
    add_code_point(&s->text, cp);
    return true;
}

/* At the character after a backslash. */
static bool read_escape(struct js *s)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (s->p == s->end)
        return false;
    char c = *s->p;
    if (c == 'u') {
        s->p++;
        return read_unicode(s);
    }
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return false;
    buf_add_char(&s->text, to[found - from]);
    s->p++;
    return true;
}

/* At a byte >= 0x80. */
static void read_wide(struct js *s)
{
    uint32_t cp;
    size_t left = (size_t)(s->end - s->p), k = utf8_next(s->p, left, &cp);
    if (k) {
        buf_add(&s->text, s->p, k);
    } else {
        k = malformed_len(s->p, left);
        add_code_point(&s->text, 0xfffd);
    }
    s->p += k;
}

static bool is_plain(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* At the opening quote. @return token, or JS_ERROR. */
static enum js_token read_string(struct js *s, enum js_token token)
{
    buf_clear(&s->text);
    s->p++;
    for (;;) {
        const char *run = s->p;
        while (s->p < s->end && is_plain(*s->p))
            s->p++;
        buf_add(&s->text, run, (size_t)(s->p - run));
        if (s->p == s->end)
            return fail_here(s, "'\"'");
        const char *at = s->p;
        unsigned char c = (unsigned char)*at;
        if (c < 0x20)
            return fail(s, at, "control character in a string");
        if (c >= 0x80) {
            read_wide(s);
            continue;
        }
        s->p++;
        if (c == '"')
            return token;
        if (!read_escape(s))
            return fail(s, at, "bad escape in a string");
    }
}

static size_t count_digits(const struct js *s, const char *p)
{
    const char *q = p;
    while (q < s->end && *q >= '0' && *q <= '9')
        q++;
    return (size_t)(q - p);
}

static bool at_delimiter(const struct js *s)
{
    return s->p == s->end || memchr(" \t\r\n,:]}", *s->p, 8);
}

static enum js_token read_number(struct js *s)
{
    const char *from = s->p;
    enum js_token token = JS_INTEGER;
    if (*s->p == '-')
        s->p++;
    size_t n = count_digits(s, s->p);
    if (n == 0)
        return fail_here(s, "a digit");
    if (n > 1 && *s->p == '0')
        return fail(s, from, "a number must not begin with 0");
    s->p += n;
    if (s->p < s->end && *s->p == '.') {
        token = JS_REAL;
        s->p++;
        n = count_digits(s, s->p);
        if (n == 0)
            return fail_here(s, "a digit");
        s->p += n;
    }
    if (s->p < s->end && (*s->p | 0x20) == 'e') {
        token = JS_REAL;
        s->p++;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
            s->p++;
        n = count_digits(s, s->p);
        if (n == 0)
            return fail_here(s, "a digit");
        s->p += n;
    }
    if (!at_delimiter(s))
        return fail_here(s, "the end of the number");
    buf_clear(&s->text);
    buf_add(&s->text, from, (size_t)(s->p - from));
    return value_done(s, token);
}

static enum js_token read_word(struct js *s)
{
    static const struct {
        const char *word;
        enum js_token token;
    } words[] = {{"true", JS_TRUE}, {"false", JS_FALSE}, {"null", JS_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(s->end - s->p) < n || memcmp(s->p, words[i].word, n) != 0)
            continue;
        s->p += n;
        if (!at_delimiter(s))
            return fail_here(s, "the end of the word");
        return value_done(s, words[i].token);
    }
    return fail_here(s, "a value");
}

static enum js_token read_value(struct js *s)
{
    skip_blanks(s);
    if (s->p == s->end)
        return fail_here(s, "a value");
    switch (*s->p) {
    case '{': return open_level(s, JS_OBJECT);
    case '[': return open_level(s, JS_ARRAY);
    case '"': return read_string(s, JS_STRING) == JS_ERROR ? JS_ERROR : value_done(s, JS_STRING);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return read_number(s);
    default: return read_word(s);
    }
}

static enum js_token read_key(struct js *s)
{
    skip_blanks(s);
    if (s->p == s->end || *s->p != '"')
        return fail_here(s, "a key in '\"'");
    if (read_string(s, JS_KEY) == JS_ERROR)
        return JS_ERROR;
    s->expect = EXPECT_MEMBER_VALUE;
    return JS_KEY;
}

static enum js_token read_more(struct js *s)
{
    bool in_object = s->stack[s->depth - 1] == 'o';
    if (s->p < s->end && *s->p == (in_object ? '}' : ']'))
        return close_level(s);
    if (s->p == s->end || *s->p != ',')
        return fail_here(s, in_object ? "',' or '}'" : "',' or ']'");
    s->p++;
    return in_object ? read_key(s) : read_value(s);
}

static enum js_token read_member_value(struct js *s)
{
    if (s->p == s->end || *s->p != ':')
        return fail_here(s, "':'");
    s->p++;
    return read_value(s);
}

enum js_token js_next(struct js *s)
{
    if (s->expect == EXPECT_FAILED)
        return JS_ERROR;
    if (s->expect == EXPECT_NOTHING)
        return JS_END;
    skip_blanks(s);
    char c = s->p < s->end ? *s->p : 0;
    switch ((enum expect)s->expect) {
    case EXPECT_MEMBER_VALUE: return read_member_value(s);
    case EXPECT_ELEMENT: return c == ']' ? close_level(s) : read_value(s);
    case EXPECT_MEMBER: return c == '}' ? close_level(s) : read_key(s);
    case EXPECT_MORE: return read_more(s);
    default: return read_value(s);
    }
}

int js_skip(struct js *s)
{
    int outside = s->depth;
    enum js_token token = js_next(s);
    if (token == JS_OBJECT_END || token == JS_ARRAY_END || token == JS_KEY || token == JS_END)
        token = fail(s, s->p, "a value is wanted here");
    while (token != JS_ERROR && s->depth > outside)
        token = js_next(s);
    return token == JS_ERROR ? ERR_JSON : 0;
}

int js_check(const char *bytes, size_t len, int max_depth, struct err_info *why)
{
    struct js s;
    js_init(&s, bytes, len, max_depth);
    int err = js_skip(&s);
    if (err)
        *why = s.why;
    js_fini(&s);
    return err;
}
