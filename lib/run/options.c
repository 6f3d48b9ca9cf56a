#include "run/options.h"
#include "base/addr.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/conf.h"
#include "run/quote.h"

#include <stdlib.h>
#include <string.h>

struct opt_value {
    char *text;   /* expanded and trimmed; NULL: unset */
    char *origin; /* "file:line", "-D", "default" */
    int64_t num;
    bool is_set;
    bool is_refused; /* what was set is wrong; the default stands in */
};

/* A key that no row has. */
struct opt_other_value {
    char *text; /* expanded, or as written where that cannot be done */
    char *origin;
};

struct options {
    const struct opt_def *defs;
    size_t n_defs;
    struct opt_value *values;
    struct map others; /* key → struct opt_other_value */
};

static const char *const type_names[] = {"text", "true or false", "integer",    "time",
                                         "size", "host:port",     "one word of"};

/* min and max as a person writes them. */
static void add_range(struct buf *out, const struct opt_def *d)
{
    const char *unit = d->type == OPT_TIME ? " ms" : d->type == OPT_SIZE ? " bytes" : "";
    buf_addf(out, "%lld to %lld%s", (long long)d->min, (long long)d->max, unit);
}

static bool has_range(const struct opt_def *d)
{
    return d->type == OPT_INT || d->type == OPT_TIME || d->type == OPT_SIZE;
}

static bool is_one_of(const char *words, const char *word)
{
    for (size_t i = 0;; i++) {
        mem_auto char *w = str_field(words, '|', i);
        if (!w)
            return false;
        if (strcmp(w, word) == 0)
            return true;
    }
}

static bool is_endpoint(const char *text)
{
    const char *colon = strrchr(text, ':');
    mem_auto char *host = NULL;
    uint16_t port;
    struct addr a;
    if (!colon || colon[1] < '0' || colon[1] > '9' || addr_split_host_port(text, 0, &host, &port))
        return false;
    /* "::1" ends like a port; with more than one colon the host stands in brackets. */
    bool bracketed = text[0] == '[';
    if (bracketed ? colon[-1] != ']' : strchr(text, ':') != colon)
        return false;
    return strcmp(host, "localhost") == 0 || addr_read(host, &a) == 0;
}

static int read_number(const struct opt_def *d, const char *text, int64_t *out)
{
    int64_t bare_unit_ms = 1, v;
    int err;
    mem_auto char *lower = mem_str(text);
    str_lower(lower);
    if (d->type == OPT_TIME) {
        mem_auto char *one = mem_fmt("1%s", d->unit);
        BUG_IF(d->unit[0] && str_to_ms(one, 1, &bare_unit_ms) != 0);
        err = str_to_ms(lower, bare_unit_ms, &v);
    } else if (d->type == OPT_SIZE) {
        err = str_to_bytes(text, &v);
    } else {
        err = str_to_i64(text, INT64_MIN, INT64_MAX, &v);
    }
    if (err || v < d->min || v > d->max)
        return ERR_PARSE;
    *out = v;
    return 0;
}

static int check_text(const struct opt_def *d, const char *text, int64_t *num)
{
    bool flag;
    switch (d->type) {
    case OPT_TEXT: return 0;
    case OPT_BOOL:
        if (str_to_bool(text, &flag))
            return ERR_PARSE;
        *num = flag;
        return 0;
    case OPT_ADDR: return is_endpoint(text) ? 0 : ERR_PARSE;
    case OPT_ENUM: return is_one_of(d->unit, text) ? 0 : ERR_PARSE;
    default: return read_number(d, text, num);
    }
}

static void add_wanted(struct buf *out, const struct opt_def *d)
{
    buf_addf(out, "%s%s%s", type_names[d->type], d->type == OPT_ENUM ? " " : "",
             d->type == OPT_ENUM ? d->unit : "");
    if (has_range(d)) {
        buf_add_str(out, " in ");
        add_range(out, d);
    }
    if (d->type == OPT_ADDR)
        buf_add_str(out, "; host is an IP address or localhost");
}

/* @return false: the text is wrong, and errors says why; *v has what could be read. */
static bool read_text(const struct opt_def *d, const struct conf *conf, const char *raw, struct opt_value *v,
                      struct buf *errors)
{
    struct err_info why;
    mem_auto char *expanded = NULL;
    if (conf_expand(conf, d->key, raw, &expanded, &why)) {
        buf_addf(errors, "%s: %s: %s\n", v->origin, d->key, why.text);
        return false;
    }
    v->text = str_trim(expanded);
    if (check_text(d, v->text, &v->num) == 0)
        return true;
    buf_addf(errors, "%s: %s: ", v->origin, d->key);
    quote_text(errors, v->text);
    buf_add_str(errors, " is wrong; wanted: ");
    add_wanted(errors, d);
    buf_add_char(errors, '\n');
    return false;
}

static void read_value(struct options *o, size_t row, const struct conf *conf, struct buf *errors)
{
    const struct opt_def *d = &o->defs[row];
    struct opt_value *v = &o->values[row];
    const struct conf_item *item = conf_get(conf, d->key);
    v->is_set = item != NULL;
    v->origin = mem_str(item ? item->origin : "default");
    const char *raw = item ? item->text : d->def;
    if (!raw || read_text(d, conf, raw, v, errors))
        return;
    mem_free_ptr(&v->text);
    v->num = 0;
    v->is_refused = true;
    buf_auto struct buf known = BUF_EMPTY;
    if (d->def && !read_text(d, conf, d->def, v, &known))
        mem_free_ptr(&v->text);
}

static void other_free(void *value)
{
    struct opt_other_value *other = value;
    if (!other)
        return;
    free(other->text);
    free(other->origin);
    free(other);
}

static void read_others(struct options *o, const struct conf *conf)
{
    mem_auto const char **keys = conf_keys(conf);
    for (size_t i = 0; keys[i]; i++) {
        if (opt_find(o, keys[i]) >= 0)
            continue;
        const struct conf_item *item = conf_get(conf, keys[i]);
        struct opt_other_value *other = mem_new(struct opt_other_value);
        other->origin = mem_str(item->origin);
        if (conf_expand(conf, keys[i], item->text, &other->text, NULL))
            other->text = mem_str(item->text);
        map_set(&o->others, keys[i], other);
    }
}

struct options *options_load(const struct opt_def *defs, size_t n_defs, const char *dir,
                             const char *const *sets, struct opt_report *report)
{
    struct conf *conf = conf_new();
    for (size_t i = 0; i < n_defs; i++)
        conf_default(conf, defs[i].key, defs[i].def);
    if (dir)
        conf_load_dir(conf, dir, &report->errors);
    for (size_t i = 0; sets && sets[i]; i++)
        conf_set(conf, sets[i], &report->errors);

    struct options *o = mem_new(struct options);
    o->defs = defs;
    o->n_defs = n_defs;
    o->values = mem_array(n_defs, sizeof *o->values);
    for (size_t i = 0; i < n_defs; i++)
        read_value(o, i, conf, &report->errors);
    read_others(o, conf);
    conf_free(conf);
    return o;
}

struct options *options_read(const struct opt_def *defs, size_t n_defs, const char *dir,
                             const char *const *sets, struct buf *errors)
{
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_START);
    struct options *o = options_load(defs, n_defs, dir, sets, &report);
    bool is_fine = !report.errors.len;
    buf_add(errors, report.errors.bytes, report.errors.len);
    opt_report_fini(&report);
    if (is_fine)
        return o;
    options_free(o);
    return NULL;
}

static void value_fini(struct opt_value *v)
{
    free(v->text);
    free(v->origin);
}

void options_free(struct options *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n_defs; i++)
        value_fini(&o->values[i]);
    free(o->values);
    map_fini(&o->others, other_free);
    free(o);
}

static bool is_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void options_reload(struct options *o, struct options *take_fresh, struct buf *kept)
{
    BUG_IF(o->defs != take_fresh->defs || o->n_defs != take_fresh->n_defs);
    for (size_t i = 0; i < o->n_defs; i++) {
        struct opt_value *now = &o->values[i], *fresh = &take_fresh->values[i];
        if (o->defs[i].reload == OPT_RELOADABLE) {
            struct opt_value old = *now;
            *now = *fresh;
            *fresh = old;
        } else if (!is_equal(now->text, fresh->text)) {
            buf_addf(kept, "%s%s", kept->len ? " " : "", o->defs[i].key);
        }
    }
    options_free(take_fresh);
}

static const struct opt_value *value_of(const struct options *o, int id)
{
    BUG_IF(id < 0 || (size_t)id >= o->n_defs);
    return &o->values[id];
}

int opt_find(const struct options *o, const char *key)
{
    for (size_t i = 0; i < o->n_defs; i++) {
        if (strcmp(o->defs[i].key, key) == 0)
            return (int)i;
    }
    return -1;
}

const char *opt_text(const struct options *o, int id)
{
    return value_of(o, id)->text;
}

bool opt_bool(const struct options *o, int id)
{
    const struct opt_value *v = value_of(o, id);
    BUG_IF(o->defs[id].type != OPT_BOOL);
    return v->num != 0;
}

int64_t opt_int(const struct options *o, int id)
{
    const struct opt_value *v = value_of(o, id);
    BUG_IF(o->defs[id].type != OPT_INT && o->defs[id].type != OPT_SIZE);
    return v->num;
}

int64_t opt_ms(const struct options *o, int id)
{
    const struct opt_value *v = value_of(o, id);
    BUG_IF(o->defs[id].type != OPT_TIME);
    return v->num;
}

bool opt_is_set(const struct options *o, int id)
{
    return value_of(o, id)->is_set;
}

const char *opt_origin(const struct options *o, int id)
{
    return value_of(o, id)->origin;
}

const char *opt_other(const struct options *o, const char *key)
{
    const struct opt_other_value *other = map_get(&o->others, key);
    return other ? other->text : NULL;
}

const char *opt_other_origin(const struct options *o, const char *key)
{
    const struct opt_other_value *other = map_get(&o->others, key);
    return other ? other->origin : NULL;
}

void opt_each_other(const struct options *o, const char *prefix,
                    void (*fn)(void *arg, const char *key, const char *text), void *arg)
{
    mem_auto const char **keys = map_sorted_keys(&o->others);
    for (size_t i = 0; keys[i]; i++)
        if (str_starts(keys[i], prefix))
            fn(arg, keys[i], opt_other(o, keys[i]));
}

/* ---- reports ---- */

void opt_report_fini(struct opt_report *report)
{
    buf_fini(&report->errors);
    buf_fini(&report->warnings);
}

static void add_line(const struct options *o, const char *key, const struct err_info *why, struct buf *out)
{
    if (opt_find(o, why->where) >= 0)
        key = why->where;
    int row = opt_find(o, key);
    const struct opt_value *v = row >= 0 ? &o->values[row] : NULL;
    const struct opt_other_value *other = v ? NULL : map_get(&o->others, key);
    bool has_place = strcmp(why->where, key) != 0 && !strstr(why->text, why->where);
    if (v && v->is_refused)
        return;
    if (other || (v && v->is_set))
        buf_addf(out, "%s: ", v ? v->origin : other->origin);
    quote_line(out, key);
    buf_add_str(out, ": ");
    if (has_place) {
        quote_line(out, why->where);
        buf_add_str(out, ": ");
    }
    quote_line(out, why->text);
    buf_add_char(out, '\n');
}

void opt_error(const struct options *o, const char *key, const struct err_info *why,
               struct opt_report *report)
{
    add_line(o, key, why, &report->errors);
}

void opt_warning(const struct options *o, const char *key, const struct err_info *why,
                 struct opt_report *report)
{
    add_line(o, key, why, &report->warnings);
}

void options_show(const struct opt_def *defs, size_t n_defs, struct buf *out)
{
    for (size_t i = 0; i < n_defs; i++) {
        const struct opt_def *d = &defs[i];
        if (d->def)
            buf_addf(out, "%s=%s\n    ", d->key, d->def);
        else
            buf_addf(out, "%s (unset)\n    ", d->key);
        add_wanted(out, d);
        if (d->type == OPT_TIME && d->unit[0])
            buf_addf(out, "; a bare number counts %s", d->unit);
        buf_addf(out, "%s\n    %s\n", d->reload == OPT_RELOADABLE ? "; read again on SIGHUP" : "", d->prose);
    }
}
