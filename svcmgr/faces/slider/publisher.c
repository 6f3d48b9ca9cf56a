/** Publisher: configurations and exports of an application. Source: slider-am 10. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/documents.h"
#include "slider/kit.h"
#include "slider/routes.h"

#define SET         "slider"
#define SITE_PREFIX "site."
#define SITE_GLOBAL "global"
#define COMPLETE    "complete-config"
#define JSON_FORM   ".json"
#define XML_FORM    ".xml"
#define TEXT_FORM   ".properties"

/** What an application publishes: each configuration a set of texts by name, resolved. */
struct published {
    json_t *configurations; /* name → {property: text} */
    int64_t updated_ms;     /* 0: never changed */
};

/* ---- what there is ---- */

/** [a-z0-9][a-z0-9_.+-]*, without the dot for configurations: others are in no URL. */
static bool is_config_name(const char *name)
{
    return *name && *name != '_' && *name != '+' && *name != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_+-")] == '\0';
}

static void add_property(json_t *configurations, const char *file, const char *property, json_t *value)
{
    mem_auto char *name = mem_str(file);
    str_lower(name);
    if (!is_config_name(name))
        return;
    if (!json_object_get(configurations, name))
        json_object_set_new(configurations, name, json_object());
    json_object_set(json_object_get(configurations, name), property, value);
}

/** site.FILE.NAME is the property NAME of the configuration FILE; all options together are complete-config. [new] */
static json_t *configurations_of(const json_t *app_conf)
{
    const char *const defaults[] = {"yarn-site", "core-site", "hdfs-site"};
    json_t *global = json_object_get(app_conf, "global"), *out = json_object(), *value;
    const char *key;
    json_object_set_new(out, COMPLETE, json_deep_copy(global));
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        json_object_set_new(out, defaults[i], json_object());
    json_object_foreach(global, key, value)
    {
        const char *dot = str_starts(key, SITE_PREFIX) ? strchr(key + strlen(SITE_PREFIX), '.') : NULL;
        if (!dot || !dot[1])
            continue;
        mem_auto char *file = mem_strn(key + strlen(SITE_PREFIX), (size_t)(dot - key) - strlen(SITE_PREFIX));
        if (strcmp(file, SITE_GLOBAL) != 0)
            add_property(out, file, dot + 1, value);
    }
    return out;
}

/** @return false: there is no such application, and that is replied; *out.configurations: json_decref */
static bool read_published(struct http_req *req, void *app, struct published *out)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find(req, face);
    slider_trees_auto struct slider_trees t = {0};
    if (!s)
        return false;
    slider_trees_of(s, &t);
    json_auto json_t *app_conf = slider_resolved_app_conf(&t);
    *out = (struct published){configurations_of(app_conf), s->last_request_ms};
    return true;
}

static void reply_missing(struct http_req *req, const char *what)
{
    mem_auto char *text = mem_fmt("Not found: %.256s", what);
    slider_reply_error(req, 404, text);
}

/* ---- forms ---- */

/** "Tue Nov 24 22:00:00 UTC 2026" */
static json_t *date_text(int64_t ms)
{
    char text[64];
    time_t at = (time_t)(ms / 1000);
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(text, sizeof text, "%a %b %d %H:%M:%S UTC %Y", &tm);
    return json_string(text);
}

/** PublishedConfiguration. @param entries  NULL: it is shown without */
static json_t *view(const char *name, int64_t updated_ms, const json_t *entries)
{
    json_t *doc = json_pack("{s:s, s:I}", "description", name, "updated", (json_int_t)updated_ms);
    if (updated_ms)
        json_object_set_new(doc, "updatedTime", date_text(updated_ms));
    json_object_set_new(doc, "entries", entries ? json_deep_copy(entries) : json_object());
    json_object_set_new(doc, "empty", json_boolean(!entries || json_object_size(entries) == 0));
    return doc;
}

static void add_xml(struct buf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        switch (*p) {
        case '&': buf_add_str(out, "&amp;"); break;
        case '<': buf_add_str(out, "&lt;"); break;
        case '>': buf_add_str(out, "&gt;"); break;
        default:
            if ((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t')
                buf_add_char(out, *p); /* no other control character is XML's */
        }
    }
}

static void write_xml(const json_t *entries, struct buf *out)
{
    const char *key;
    json_t *value;
    buf_add_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n");
    json_object_foreach((json_t *)(uintptr_t)entries, key, value)
    {
        buf_add_str(out, "<property><name>");
        add_xml(out, key);
        buf_add_str(out, "</name><value>");
        add_xml(out, json_string_value(value));
        buf_add_str(out, "</value></property>\n");
    }
    buf_add_str(out, "</configuration>\n");
}

/** A key or value of a Java properties file. Source: java.util.Properties.store. */
static void add_property_text(struct buf *out, const char *text, bool is_key)
{
    size_t len = strlen(text), n;
    for (size_t i = 0; i < len; i += n) {
        uint32_t code = 0;
        n = utf8_next(text + i, len - i, &code);
        n = n ? n : 1;
        if (code == '\n' || code == '\r' || code == '\t')
            buf_addf(out, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
        else if (code < 0x20 || (code > 0x7e && code <= 0xffff))
            buf_addf(out, "\\u%04X", code);
        else if (code > 0xffff)
            buf_addf(out, "\\u%04X\\u%04X", 0xd800 + ((code - 0x10000) >> 10),
                     0xdc00 + ((code - 0x10000) & 0x3ff));
        else if (strchr("\\=:#!", (int)code) || (code == ' ' && (is_key || i == 0)))
            buf_addf(out, "\\%c", (int)code);
        else
            buf_add_char(out, (char)code);
    }
}

static void write_properties(const json_t *entries, struct buf *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)entries, key, value)
    {
        add_property_text(out, key, true);
        buf_add_char(out, '=');
        add_property_text(out, json_string_value(value), false);
        buf_add_char(out, '\n');
    }
}

static void reply_text(struct http_req *req, const char *media_type, struct buf *take_body)
{
    slider_reply_head(req);
    http_reply(req, 200, media_type, take_body);
}

/* ---- handlers ---- */

void slider_publisher_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *root = slider_root_url(req);
    mem_auto char *set = mem_fmt("%s/publisher/" SET, root);
    mem_auto char *exports = mem_fmt("%s/publisher/exports", root);
    if (slider_find(req, face))
        slider_reply_json(req, 200, json_pack("{s:{s:s, s:s}}", "uris", SET, set, "exports", exports));
}

void slider_classpath_get(struct http_req *req, void *app)
{
    if (slider_find(req, obj_cast(app, struct face, FACE_MAGIC)))
        slider_reply_json(req, 200, json_array());
}

/** Nothing is exported: that is done by agents of Slider's packages. */
void slider_exports_get(struct http_req *req, void *app)
{
    if (slider_find(req, obj_cast(app, struct face, FACE_MAGIC)))
        slider_reply_json(req, 200, json_pack("{s:{}}", "exports"));
}

void slider_export_get(struct http_req *req, void *app)
{
    if (slider_find(req, obj_cast(app, struct face, FACE_MAGIC)))
        reply_missing(req, http_path_raw(req, "x"));
}

void slider_config_set_get(struct http_req *req, void *app)
{
    struct published p;
    const char *name;
    json_t *entries, *all;
    if (!read_published(req, app, &p))
        return;
    if (strcmp(http_path_raw(req, "set"), SET) == 0) {
        all = json_object();
        json_object_foreach(p.configurations, name, entries)
            json_object_set_new(all, name, view(name, p.updated_ms, NULL));
        slider_reply_json(req, 200, json_pack("{s:o}", "configurations", all));
    } else {
        reply_missing(req, http_path_raw(req, "set"));
    }
    json_decref(p.configurations);
}

/** Entries of a configuration of the path; NULL: there is none. [borrowed] */
static const json_t *entries_of(const struct http_req *req, const struct published *p, const char *config)
{
    return strcmp(http_path_raw(req, "set"), SET) == 0 ? json_object_get(p->configurations, config) : NULL;
}

/** Reply with a configuration in the form of its suffix. */
static void reply_config(struct http_req *req, const struct published *p, const char *config,
                         const char *form)
{
    const json_t *entries = entries_of(req, p, config);
    struct buf body = BUF_EMPTY;
    if (!entries) {
        reply_missing(req, http_raw_path(req));
    } else if (strcmp(form, JSON_FORM) == 0) {
        slider_reply_json(req, 200, json_deep_copy(entries));
    } else if (strcmp(form, XML_FORM) == 0) {
        write_xml(entries, &body);
        reply_text(req, "application/xml", &body);
    } else if (strcmp(form, TEXT_FORM) == 0) {
        write_properties(entries, &body);
        reply_text(req, "text/plain", &body);
    } else if (*form) {
        reply_missing(req, http_raw_path(req));
    } else {
        slider_reply_json(req, 200, view(config, p->updated_ms, entries));
    }
}

void slider_config_get(struct http_req *req, void *app)
{
    struct published p;
    mem_auto char *element = slider_path_element(req, "config");
    if (!element || !read_published(req, app, &p))
        return;
    const char *form = element + strcspn(element, ".");
    mem_auto char *config = mem_strn(element, (size_t)(form - element));
    reply_config(req, &p, config, form);
    json_decref(p.configurations);
}

void slider_property_get(struct http_req *req, void *app)
{
    struct published p;
    mem_auto char *config = slider_path_element(req, "config");
    mem_auto char *property = config ? slider_path_element(req, "property") : NULL;
    mem_auto char *missing = mem_fmt("Property not found: %.256s", property ? property : "");
    if (!property || !read_published(req, app, &p))
        return;
    const json_t *entries = entries_of(req, &p, config);
    json_t *value = json_object_get(entries, property);
    if (!entries)
        reply_missing(req, http_raw_path(req));
    else if (!value)
        slider_reply_error(req, 404, missing);
    else
        slider_reply_json(req, 200, json_pack("{s:O}", property, value));
    json_decref(p.configurations);
}
