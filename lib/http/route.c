#include "http/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

/* ---- the table ---- */

void http_route_table_add(struct http_route_table *table, const struct http_route *rows, size_t n,
                          const struct options *options)
{
    table->routes = mem_resize(table->routes, table->n + n, sizeof *table->routes);
    for (size_t i = 0; i < n; i++) {
        struct http_route_bound *r = &table->routes[table->n++];
        bool is_strict = rows[i].flags & HTTP_STRICT_QUERY;
        *r = (struct http_route_bound){.row = &rows[i], .max_body = rows[i].max_body};
        if (rows[i].max_body_key)
            r->max_body *= (size_t)http_param_option(options, rows[i].max_body_key);
        http_params_init(&r->params, rows[i].params, is_strict, options);
    }
}

void http_route_table_fini(struct http_route_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        http_params_fini(&table->routes[i].params);
    free(table->routes);
    *table = (struct http_route_table){0};
}

/* ---- matching ---- */

static void add_span(struct http_route_match *m, const char *name, size_t name_len, const char *text,
                     size_t len)
{
    BUG_IF(m->n_spans == ROUTE_MAX_SPANS);
    m->spans[m->n_spans++] = (struct http_route_span){name, name_len, text, len};
}

/** Compare one element; a `{name}` takes any element that is not empty. */
static bool element_fits(const char *pat, size_t pat_len, const char *text, size_t len,
                         struct http_route_match *m)
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

bool http_route_fits(const char *pattern, const char *path, struct http_route_match *out)
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
static int find_exact(const struct http_route_table *table, const char *method, const char *path,
                      struct http_route_match *out)
{
    int miss = ERR_NOROUTE;
    for (size_t i = 0; i < table->n; i++) {
        const struct http_route_bound *route = &table->routes[i];
        if (!http_route_fits(route->row->pattern, path, out))
            continue;
        miss = ERR_METHOD;
        out->route = route;
        if (strcmp(route->row->method, method) == 0)
            return 0;
    }
    return miss;
}

int http_route_find(const struct http_route_table *table, const char *method, const char *path,
                    struct http_route_match *out)
{
    int rc = find_exact(table, method, path, out);
    if (rc == ERR_METHOD && strcmp(method, "HEAD") == 0)
        rc = find_exact(table, "GET", path, out);
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

void http_route_allow(const struct http_route_table *table, const char *path, struct buf *out)
{
    struct http_route_match m;
    size_t from = out->len;
    for (size_t i = 0; i < table->n; i++) {
        const struct http_route *row = table->routes[i].row;
        if (!http_route_fits(row->pattern, path, &m))
            continue;
        add_method(out, from, row->method);
        if (strcmp(row->method, "GET") == 0)
            add_method(out, from, "HEAD");
    }
    if (out->len > from)
        add_method(out, from, "OPTIONS");
}
