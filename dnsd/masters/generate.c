#include "masters/zonefile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 63 };

/* `{offset[,width[,base]]}` after a `$`. @return octets read; 0: malformed, or larger than any number of a zone. */
static size_t read_braces(const char *p, int64_t *n, int *width, char *base)
{
    int64_t offset = 0, n_digits = 0;
    int used = 0;
    *base = 'd';
    if (sscanf(p, "{%" SCNd64 "}%n", &offset, &used) < 1 || !used)
        used = 0;
    if (!used && (sscanf(p, "{%" SCNd64 ",%" SCNd64 "}%n", &offset, &n_digits, &used) < 2 || !used))
        used = 0;
    if (!used && (sscanf(p, "{%" SCNd64 ",%" SCNd64 ",%c}%n", &offset, &n_digits, base, &used) < 3 || !used))
        return 0;
    if (offset < INT32_MIN || offset > INT32_MAX || n_digits < 0 || n_digits > WIDTH_MAX)
        return 0;
    *n += offset;
    *width = (int)n_digits;
    return (size_t)used;
}

static int put_number(struct buf *out, int64_t n, int width, char base)
{
    switch (base) {
    case 'd': buf_addf(out, "%0*" PRId64, width, n); return 0;
    case 'o': buf_addf(out, "%0*" PRIo64, width, (uint64_t)n); return 0;
    case 'x': buf_addf(out, "%0*" PRIx64, width, (uint64_t)n); return 0;
    case 'X': buf_addf(out, "%0*" PRIX64, width, (uint64_t)n); return 0;
    default: return ERR_PARSE;
    }
}

int zonefile_generate(const char *template, int64_t n, struct buf *out)
{
    for (const char *p = template; *p; p++) {
        int64_t value = n;
        int width = 0;
        char base = 'd';
        if (*p == '\\' && p[1]) {
            if (p[1] != '$')
                buf_add_char(out, '\\');
            buf_add_char(out, *++p);
        } else if (*p != '$') {
            buf_add_char(out, *p);
        } else if (p[1] == '{') {
            size_t used = read_braces(p + 1, &value, &width, &base);
            if (!used || put_number(out, value, width, base))
                return ERR_PARSE;
            p += used;
        } else {
            buf_addf(out, "%" PRId64, n);
        }
    }
    return 0;
}
