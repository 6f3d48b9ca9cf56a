/** Placeholders and the text of configuration files: see spec.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "json/writer.h"
#include "spec/spec.h"

/** One pass: each `open`NAME`close` whose NAME is known is replaced. */
static char *expand_marked(const char *text, const json_t *values, const char *open, const char *close,
                           size_t max)
{
    buf_auto struct buf out = BUF_EMPTY;
    for (const char *p = text; *p && out.len <= max;) {
        const char *start = strstr(p, open);
        const char *end = start ? strstr(start + strlen(open), close) : NULL;
        if (!end) {
            buf_add_str(&out, p);
            break;
        }
        const char *name = start + strlen(open);
        const char *value = json_string_value(json_object_getn(values, name, (size_t)(end - name)));
        if (value) {
            buf_add(&out, p, (size_t)(start - p));
            buf_add_str(&out, value);
            p = end + strlen(close);
        } else {
            buf_add(&out, p, (size_t)(name - p));
            p = name;
        }
    }
    return out.len <= max ? buf_take(&out) : NULL;
}

char *spec_expand(const char *text, const json_t *values)
{
    return expand_marked(text, values, "${", "}", SIZE_MAX);
}

char *spec_expand_to(const char *text, const json_t *values, size_t max)
{
    return expand_marked(text, values, "${", "}", max);
}

char *spec_expand_from(const char *text, const json_t *values, size_t *left)
{
    char *out = spec_expand_to(text, values, *left);
    *left -= out ? strlen(out) : 0;
    return out;
}

char *spec_too_large(const char *component, const char *what, const char *name)
{
    return mem_fmt("Component %.64s: with the placeholders of %s%s%.200s replaced, the texts of a container "
                   "have more than %zu "
                   "bytes; name fewer or shorter values",
                   component, what, *what ? " " : "", name, SPEC_EXPANDED_MAX);
}

/* ---- the formats; `props` are the resolved properties ---- */

/** Keys of an object in byte order; free() the array. */
static const char **sorted_keys(const json_t *props, size_t *n)
{
    struct map keys_only = MAP_EMPTY;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)props, key, value) map_set(&keys_only, key, value);
    const char **names = map_sorted_keys(&keys_only);
    *n = keys_only.n_items;
    for (size_t i = 0; i < *n; i++)
        names[i] = json_object_iter_key(json_object_iter_at((json_t *)props, names[i]));
    map_fini(&keys_only, NULL);
    return names;
}

static const char *prop(const json_t *props, const char *key)
{
    return json_string_value(json_object_get(props, key));
}

static void add_xml_text(struct buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            buf_add_str(out, "&lt;");
        else if (*s == '>')
            buf_add_str(out, "&gt;");
        else if (*s == '&')
            buf_add_str(out, "&amp;");
        else if (*s == '\r')
            buf_add_str(out, "&#13;"); /* A reader would take it for a line's end. */
        else
            buf_add_char(out, *s);
    }
}

static void xml_begin(struct buf *out)
{
    buf_add_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n");
}

static void xml_item(struct buf *out, const char *key, const json_t *value, bool first)
{
    (void)first;
    buf_add_str(out, "<property><name>");
    add_xml_text(out, key);
    buf_add_str(out, "</name><value>");
    add_xml_text(out, json_string_value(value));
    buf_add_str(out, "</value><final>false</final><source/></property>\n");
}

static void xml_end(struct buf *out)
{
    buf_add_str(out, "</configuration>");
}

/** Java properties escapes; control characters and what is not ASCII become \uXXXX (surrogate pairs). */
static void add_property_text(struct buf *out, const char *s, const char *escaped, bool is_value)
{
    static const char controls[] = {'\n', '\r', '\t', '\f'}, letters[] = {'n', 'r', 't', 'f'};
    size_t left = strlen(s);
    for (const char *start = s; left > 0;) {
        uint32_t cp = (unsigned char)*s;
        size_t n = utf8_next(s, left, &cp);
        n = n ? n : 1;
        const char *control = cp ? memchr(controls, (int)cp, sizeof controls) : NULL;
        if (control) {
            buf_addf(out, "\\%c", letters[control - controls]);
        } else if (cp > 0xffff) {
            buf_addf(out, "\\u%04X\\u%04X", 0xd800 + ((cp - 0x10000) >> 10),
                     0xdc00 + ((cp - 0x10000) & 0x3ff));
        } else if (cp < ' ' || cp > 0x7e) {
            buf_addf(out, "\\u%04X", cp);
        } else {
            if (strchr(escaped, (int)cp) || (is_value && s == start && cp == ' '))
                buf_add_char(out, '\\');
            buf_add_char(out, (char)cp);
        }
        s += n;
        left -= n;
    }
}

static void properties_begin(struct buf *out)
{
    buf_add_str(out, "#Generated by Bobbin\n");
}

static void properties_item(struct buf *out, const char *key, const json_t *value, bool first)
{
    (void)first;
    add_property_text(out, key, " :=#!\\", false);
    buf_add_char(out, '=');
    add_property_text(out, json_string_value(value), ":=#!\\", true);
    buf_add_char(out, '\n');
}

static void json_text(struct buf *out, const char *s)
{
    struct jw w = jw_on(out);
    jw_str(&w, s);
}

static void json_begin(struct buf *out)
{
    buf_add_str(out, "{");
}

static void json_item(struct buf *out, const char *key, const json_t *value, bool first)
{
    buf_add_str(out, first ? "\n  " : ",\n  ");
    json_text(out, key);
    buf_add_str(out, " : ");
    if (json_is_string(value)) {
        json_text(out, json_string_value(value));
        return;
    }
    mem_auto char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
    buf_add_str(out, text ? text : "null");
}

static void json_end(struct buf *out)
{
    buf_add_str(out, "\n}");
}

/** A YAML reader takes the bare text for this very string. */
static bool yaml_is_plain(const char *s)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
    bool letter = (*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z') || *s == '/';
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        letter = letter && strcasecmp(s, words[i]) != 0;
    size_t len = strlen(s);
    return letter && s[len - 1] != ' ' &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._/-") == len;
}

static void add_yaml_text(struct buf *out, const char *s)
{
    bool control = false;
    for (const char *p = s; *p; p++)
        control = control || (unsigned char)*p < ' ';
    if (control) {
        json_text(out, s);
        return;
    }
    if (yaml_is_plain(s)) {
        buf_add_str(out, s);
        return;
    }
    buf_add_char(out, '\'');
    for (; *s; s++)
        buf_add_str(out, *s == '\'' ? "''" : (char[]){*s, '\0'});
    buf_add_char(out, '\'');
}

static void yaml_item(struct buf *out, const char *key, const json_t *value, bool first)
{
    (void)first;
    add_yaml_text(out, key);
    buf_add_str(out, ": ");
    add_yaml_text(out, json_string_value(value));
    buf_add_char(out, '\n');
}

static void env_item(struct buf *out, const char *key, const json_t *value, bool first)
{
    (void)first;
    buf_addf(out, "%s=%s\n", key, json_string_value(value));
}

/** How a flat file is written. */
struct flat_format {
    void (*begin)(struct buf *out);
    void (*item)(struct buf *out, const char *key, const json_t *value, bool first);
    void (*end)(struct buf *out);
};

static const struct flat_format flat_formats[] = {
    [FILE_XML] = {xml_begin, xml_item, xml_end},
    [FILE_HADOOP_XML] = {xml_begin, xml_item, xml_end},
    [FILE_PROPERTIES] = {properties_begin, properties_item, NULL},
    [FILE_JSON] = {json_begin, json_item, json_end},
    [FILE_YAML] = {NULL, yaml_item, NULL},
    [FILE_ENV] = {NULL, env_item, NULL},
};

static char *render_flat(const struct flat_format *format, const json_t *props, size_t max)
{
    buf_auto struct buf out = BUF_EMPTY;
    size_t n;
    mem_auto const char **keys = sorted_keys(props, &n);
    if (format->begin)
        format->begin(&out);
    for (size_t i = 0; i < n && out.len <= max; i++)
        format->item(&out, keys[i], json_object_get(props, keys[i]), i == 0);
    if (format->end)
        format->end(&out);
    return out.len <= max ? buf_take(&out) : NULL;
}

static char *render_template(const json_t *props, size_t max)
{
    mem_auto char *once = expand_marked(prop(props, "content"), props, "${", "}", max);
    return once ? expand_marked(once, props, "{{", "}}", max) : NULL;
}

static char *render(const struct spec_file *file, const json_t *props, size_t max)
{
    bool has_content = prop(props, "content") != NULL;
    if (file->type == FILE_TEMPLATE || (file->type == FILE_ENV && has_content))
        return render_template(props, max);
    BUG_IF(file->type < 0 || (size_t)file->type >= ARRAY_LEN(flat_formats) || !flat_formats[file->type].item);
    return render_flat(&flat_formats[file->type], props, max);
}

/** The properties with their values expanded. @return new object; NULL: they have more than `max` bytes */
static json_t *resolve(const json_t *properties, const json_t *values, size_t max)
{
    json_auto json_t *props = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)properties, key, value)
    {
        mem_auto char *text =
            json_is_string(value) ? spec_expand_from(json_string_value(value), values, &max) : NULL;
        if (!text && json_is_string(value))
            return NULL;
        json_object_set_new(props, key, text ? json_string(text) : json_incref(value));
    }
    return json_incref(props);
}

static char *render_resolved(const struct spec_file *file, const json_t *properties, const json_t *values,
                             size_t *left)
{
    json_auto json_t *props = resolve(properties, values, *left);
    char *out = props ? render(file, props, *left) : NULL;

    *left -= out ? strlen(out) : 0;
    return out;
}

char *spec_file_render(const struct spec_file *file, const json_t *values, size_t *left)
{
    return render_resolved(file, file->properties, values, left);
}

char *spec_file_overlay(const struct spec_file *file, const char *source, const json_t *values, size_t *left,
                        struct err_info *why)
{
    json_auto json_t *all = json_object();
    json_error_t at;
    json_auto json_t *under = json_loads(source, 0, &at);
    const char *key;
    json_t *value;

    if (!json_is_object(under)) {
        err_set(why, ERR_INVALID, file->src_file, "src_file %.140s is no JSON object: line %d: %.100s",
                file->src_file, under ? 1 : at.line, under ? "it is another value" : at.text);
        return NULL;
    }
    json_object_foreach(under, key, value)
    {
        if (file->type == FILE_JSON || json_is_string(value))
            json_object_set(all, key, value);
    }
    json_object_update(all, file->properties);
    return render_resolved(file, all, values, left);
}
