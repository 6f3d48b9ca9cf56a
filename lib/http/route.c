#include "http/route.h"

#include <string.h>

#include "base/obj.h"

static void add_span(struct route_match *m, const char *name, size_t name_len, const char *text, size_t len)
{
    BUG_IF(m->n_spans == ROUTE_MAX_SPANS);
    m->spans[m->n_spans++] = (struct route_span){name, name_len, text, len};
}

/** Compare one element; a `{name}` takes any element that is not empty. */
static bool element_fits(const char *pat, size_t pat_len, const char *text, size_t len, struct route_match *m)
{
    if (pat_len < 2 || pat[0] != '{' || pat[pat_len - 1] != '}')
        return pat_len == len && memcmp(pat, text, len) == 0;
    if (len == 0)
        return false;
    add_span(m, pat + 1, pat_len - 2, text, len);
    return true;
}

static bool has_star(const char *pattern)
{
    size_t len = strlen(pattern);
    return len >= 2 && strcmp(pattern + len - 2, "/*") == 0;
}

bool route_fits(const char *pattern, const char *path, struct route_match *out)
{
    size_t path_len = strlen(path);
    if (path_len > 1 && path[path_len - 1] == '/' && !has_star(pattern))
        path_len--;
    const char *end = path + path_len, *text = path, *pat = pattern;
    out->n_spans = 0;
    while (*pat) {
        bool is_rest = strcmp(pat, "/*") == 0;
        if (is_rest && text == end) {
            add_span(out, "*", 1, end, 0);
            return true;
        }
        if (text == end || *text != '/')
            return false;
        pat++, text++;
        if (is_rest) {
            add_span(out, "*", 1, text, (size_t)(end - text));
            return true;
        }
        size_t pat_len = (size_t)(strchrnul(pat, '/') - pat), len = (size_t)(strchrnul(text, '/') - text);
        if (len > (size_t)(end - text))
            len = (size_t)(end - text);
        if (!element_fits(pat, pat_len, text, len, out))
            return false;
        pat += pat_len, text += len;
    }
    return text == end;
}

/** Look for path and method as they are. @return 0, ERR_NOROUTE or ERR_METHOD. */
static int find_exact(const struct route_tables *tables, const char *method, const char *path,
                      struct route_match *out)
{
    int miss = ERR_NOROUTE;
    for (size_t t = 0; t < ARRAY_LEN(tables->rows); t++) {
        for (size_t i = 0; i < tables->n_rows[t]; i++) {
            const struct http_route *row = &tables->rows[t][i];
            if (!route_fits(row->pattern, path, out))
                continue;
            miss = ERR_METHOD;
            out->route = row;
            if (strcmp(row->method, method) == 0)
                return 0;
        }
    }
    return miss;
}

int route_find(const struct route_tables *tables, const char *method, const char *path,
               struct route_match *out)
{
    int rc = find_exact(tables, method, path, out);
    if (rc == ERR_METHOD && strcmp(method, "HEAD") == 0)
        rc = find_exact(tables, "GET", path, out);
    return rc;
}

/** Append a method unless the list that starts at `from` has it. */
static void add_method(struct buf *out, size_t from, const char *method)
{
    size_t method_len = strlen(method);
    const char *at = buf_cstr(out) + from;
    while (*at) {
        size_t len = strcspn(at, ",");
        if (len == method_len && memcmp(at, method, len) == 0)
            return;
        at += len;
        at += strspn(at, ", ");
    }
    buf_addf(out, "%s%s", out->len > from ? ", " : "", method);
}

void route_allow(const struct route_tables *tables, const char *path, struct buf *out)
{
    struct route_match m;
    size_t from = out->len;
    for (size_t t = 0; t < ARRAY_LEN(tables->rows); t++) {
        for (size_t i = 0; i < tables->n_rows[t]; i++) {
            const struct http_route *row = &tables->rows[t][i];
            if (!route_fits(row->pattern, path, &m))
                continue;
            add_method(out, from, row->method);
            if (strcmp(row->method, "GET") == 0)
                add_method(out, from, "HEAD");
        }
    }
    if (out->len > from)
        add_method(out, from, "OPTIONS");
}
