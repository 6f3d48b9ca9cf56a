#include "http/params.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/options.h"

/** Parameters that name the caller, which any request may have: ours, and the one of Hadoop's proxies. */
static const char *const caller_names[] = {"user.name", "doAs"};

/* ---- the values that a row allows ---- */

static bool is_of_query(const struct http_param *p)
{
    return p->in == HTTP_IN_QUERY || p->in == HTTP_IN_ALIAS || p->in == HTTP_IN_REST;
}

static int64_t upper_bound(const struct http_param *p)
{
    return p->max ? p->max : INT64_MAX;
}

/** Index of a word in "a|b|c"; -1: it is none of them. */
static int64_t choice_index(const char *choices, const char *text)
{
    size_t len = strlen(text);
    int64_t index = 0;
    for (const char *at = choices;; index++) {
        size_t n = strcspn(at, "|");
        if (n == len && memcmp(at, text, len) == 0)
            return index;
        if (!at[n])
            return -1;
        at += n + 1;
    }
}

/** The number that a text is for a row. @return 0; ERR_PARSE, *out unspecified. */
static int parse(const struct http_param *p, const char *text, int64_t *out)
{
    bool flag = true;
    int rc = 0;
    switch (p->type) {
    case HTTP_TEXT: break;
    case HTTP_BOOL:
        rc = *text ? str_to_bool(text, &flag) : 0;
        *out = flag;
        break;
    case HTTP_INT: rc = str_to_i64(text, p->min, upper_bound(p), out); break;
    case HTTP_TIME:
        rc = str_to_ms(text, 1000, out);
        rc = rc == 0 && (*out < p->min || *out > upper_bound(p)) ? ERR_PARSE : rc;
        break;
    case HTTP_CHOICE:
        *out = choice_index(p->choices, text);
        rc = *out < 0 ? ERR_PARSE : 0;
        break;
    }
    return rc;
}

static void add_bounds(const struct http_param *p, const char *unit, struct buf *out)
{
    if (p->max && p->min == p->max)
        buf_addf(out, " of %" PRId64 "%s", p->max, unit);
    else if (p->max)
        buf_addf(out, " from %" PRId64 "%s to %" PRId64 "%s", p->min, unit, p->max, unit);
    else
        buf_addf(out, " of at least %" PRId64 "%s", p->min, unit);
    if (p->max_key)
        buf_addf(out, ", the value of %s", p->max_key);
}

static void add_choices(const char *choices, struct buf *out)
{
    for (const char *at = choices; *at;) {
        size_t n = strcspn(at, "|");
        buf_addf(out, "%s%.*s", at == choices ? "" : " or ", (int)n, at);
        at += n + (at[n] == '|');
    }
}

void http_param_allowed(const struct http_param *p, struct buf *out)
{
    switch (p->type) {
    case HTTP_TEXT: buf_add_str(out, "a text"); break;
    case HTTP_BOOL: buf_add_str(out, "true or false"); break;
    case HTTP_INT:
        buf_add_str(out, "an integer");
        add_bounds(p, "", out);
        break;
    case HTTP_TIME:
        buf_add_str(out, "a time such as 10, 500ms or 2m");
        if (p->min || p->max)
            add_bounds(p, "ms", out);
        break;
    case HTTP_CHOICE: add_choices(p->choices, out); break;
    }
}

void http_param_prose(const struct http_param *p, struct buf *out)
{
    buf_add_char(out, (char)toupper((unsigned char)*p->prose));
    buf_add_str(out, p->prose + 1);
    if (out->bytes[out->len - 1] != '.')
        buf_add_char(out, '.');
}

/* ---- a set ---- */

static void read_default(const struct http_param *p, struct http_value *out)
{
    bool is_max = p->def && strcmp(p->def, HTTP_DEFAULT_MAX) == 0;
    *out = (struct http_value){.text = p->def};
    if (is_max)
        out->n = p->max;
    else if (p->def)
        BUG_IF(parse(p, p->def, &out->n) != 0);
}

int64_t http_param_option(const struct options *options, const char *key)
{
    int id = options ? opt_find(options, key) : -1;
    BUG_IF(id < 0);
    return opt_int(options, id);
}

void http_params_init(struct http_param_set *set, const struct http_param *rows, bool is_strict,
                      const struct options *options)
{
    size_t n = 0;
    while (rows && rows[n].name)
        n++;
    *set = (struct http_param_set){.n = n, .rest = n, .is_strict = is_strict};
    if (n == 0)
        return;
    set->rows = mem_copy(rows, n * sizeof *rows);
    set->defaults = mem_array(n, sizeof *set->defaults);
    for (size_t i = 0; i < n; i++) {
        struct http_param *p = &set->rows[i];
        if (p->max_key)
            p->max = http_param_option(options, p->max_key);
        set->has_required = set->has_required || (p->is_required && is_of_query(p));
        set->rest = p->in == HTTP_IN_REST ? i : set->rest;
        read_default(p, &set->defaults[i]);
    }
}

void http_params_fini(struct http_param_set *set)
{
    free(set->rows);
    free(set->defaults);
    *set = (struct http_param_set){0};
}

/* ---- a query ---- */

/** Decode a name or value. @return text in the arena, or NULL: bad escape, NUL or not UTF-8. */
static char *decode(struct arena *arena, const char *raw, size_t len)
{
    char *plain = arena_strn(arena, raw, len);
    for (size_t i = 0; i < len; i++) {
        if (plain[i] == '+')
            plain[i] = ' ';
    }
    char *out = arena_alloc(arena, len + 1);
    int64_t n = str_unpercent(plain, len, out);
    if (n < 0 || strlen(out) != (size_t)n || !utf8_valid(out, (size_t)n))
        return NULL;
    return out;
}

int http_params_split(struct arena *arena, const char *query, struct http_pair **out, struct err_info *why)
{
    struct http_pair **tail = out;
    *out = NULL;
    for (const char *at = query; at && *at;) {
        size_t len = strcspn(at, "&");
        size_t name_len = strcspn(at, "=&");
        const char *value = at + name_len + (at[name_len] == '=');
        struct http_pair *pair = arena_new_obj(arena, struct http_pair);
        pair->name = decode(arena, at, name_len);
        pair->value = decode(arena, value, (size_t)(at + len - value));
        if (!pair->name || !pair->value)
            return err_set(why, ERR_USAGE, arena_strn(arena, at, name_len),
                           "query parameter is not percent-encoded UTF-8 text");
        if (len > 0) {
            *tail = pair;
            tail = &pair->next;
        }
        at += len + (at[len] == '&');
    }
    return 0;
}

enum http_caller_name http_params_caller_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(caller_names); i++) {
        if (strcasecmp(name, caller_names[i]) == 0)
            return i == 0 ? HTTP_USER_NAME : HTTP_DO_AS;
    }
    return HTTP_NO_CALLER;
}

static int refuse_unknown(const struct http_param_set *set, const char *name, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct nearest meant = nearest_to(name);
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        nearest_offer(&meant, is_of_query(&set->rows[i]) ? set->rows[i].name : NULL);
    for (size_t i = 0; i < ARRAY_LEN(caller_names); i++)
        nearest_offer(&meant, caller_names[i]);
    buf_addf(&text, "\"%.100s\" is no query parameter here", name);
    if (meant.name)
        buf_addf(&text, ", did you mean \"%s\"?", meant.name);
    for (size_t i = 0; i < set->n; i++)
        if (is_of_query(&set->rows[i]))
            buf_addf(&text, "%s%s",
                     n++          ? ", "
                     : meant.name ? " Send only "
                                  : ": send only ",
                     set->rows[i].name);
    if (!n)
        buf_add_str(&text, meant.name ? " This request takes none" : ": this request takes none");
    return err_set(why, ERR_USAGE, name, "%s", buf_cstr(&text));
}

static int refuse_value(const struct http_param *p, const char *text, struct err_info *why)
{
    buf_auto struct buf allowed = BUF_EMPTY;
    http_param_allowed(p, &allowed);
    if (!text) {
        buf_add_str(&allowed, ". ");
        http_param_prose(p, &allowed);
        return err_set(why, ERR_USAGE, p->name, "query parameter %s is missing: send %s", p->name,
                       buf_cstr(&allowed));
    }
    return err_set(why, ERR_USAGE, p->name, "query parameter %s is \"%.100s\": send %s", p->name, text,
                   buf_cstr(&allowed));
}

/** Row of a name; set->n: there is none. */
static size_t find_row(const struct http_param_set *set, const char *name)
{
    size_t i = 0;
    while (i < set->n && (!is_of_query(&set->rows[i]) || strcmp(set->rows[i].name, name) != 0))
        i++;
    return i;
}

static int check_required(const struct http_param_set *set, const struct http_value *values,
                          struct err_info *why)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct http_param *p = &set->rows[i];
        if (p->is_required && is_of_query(p) && !values[i].is_given)
            return refuse_value(p, NULL, why);
    }
    return 0;
}

int http_params_read(const struct http_param_set *set, struct arena *arena, const struct http_pair *query,
                     const struct http_value **out, struct err_info *why)
{
    struct http_value *values = set->defaults;
    if (query && set->n) {
        values = arena_alloc(arena, set->n * sizeof *values);
        memcpy(values, set->defaults, set->n * sizeof *values);
    }
    for (const struct http_pair *pair = query; pair; pair = pair->next) {
        size_t i = find_row(set, pair->name);
        if (i == set->n && set->is_strict && http_params_caller_name(pair->name) == HTTP_NO_CALLER)
            return refuse_unknown(set, pair->name, why);
        if (i == set->n || values[i].is_given)
            continue;
        values[i] = (struct http_value){.text = pair->value, .is_given = true};
        if (parse(&set->rows[i], pair->value, &values[i].n))
            return refuse_value(&set->rows[i], pair->value, why);
    }
    int rc = set->has_required ? check_required(set, values, why) : 0;
    if (rc == 0)
        *out = values;
    return rc;
}
