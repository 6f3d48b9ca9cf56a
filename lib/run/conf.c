#include "run/conf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/uri.h>
#include <libxml/xinclude.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_EXPANSIONS 20
#define MAX_DEPTH      40 /* as deep as libxml2 includes */
#define SET_ORIGIN     "-D"

struct conf {
    struct map items;    /* key → struct conf_item */
    struct map defaults; /* key → char */
};

/* One file being read. */
struct reading {
    struct conf *conf;
    const char *path; /* of the file whose properties are read now: an included one names its own */
    struct buf *errors;
    bool has_failed;
};

struct conf *conf_new(void)
{
    return mem_new(struct conf);
}

static void item_free(void *value)
{
    struct conf_item *item = value;
    if (!item)
        return;
    free(item->text);
    free(item->origin);
    free(item);
}

void conf_free(struct conf *c)
{
    if (!c)
        return;
    map_fini(&c->items, item_free);
    map_fini(&c->defaults, free);
    free(c);
}

void conf_default(struct conf *c, const char *key, const char *text)
{
    if (text)
        free(map_set(&c->defaults, key, mem_str(text)));
}

static void put(struct conf *c, const char *key, const char *text, const char *origin, bool is_final)
{
    const struct conf_item *old = map_get(&c->items, key);
    if (old && old->is_final && strcmp(origin, SET_ORIGIN) != 0)
        return;
    struct conf_item *item = mem_new(struct conf_item);
    item->text = mem_str(text);
    item->origin = mem_str(origin);
    item->is_final = is_final;
    item_free(map_set(&c->items, key, item));
}

void conf_set(struct conf *c, const char *assignment, struct buf *errors)
{
    mem_auto char *raw_key = mem_strn(assignment, strcspn(assignment, "="));
    mem_auto char *key = str_trim(raw_key);
    const char *value = strchr(assignment, '=');
    if (!value || !key[0])
        buf_addf(errors, SET_ORIGIN " %s: not of the form key=value\n", assignment);
    else
        put(c, key, value + 1, SET_ORIGIN, false);
}

const struct conf_item *conf_get(const struct conf *c, const char *key)
{
    return map_get(&c->items, key);
}

const char **conf_keys(const struct conf *c)
{
    return map_sorted_keys(&c->items);
}

static char *place_of(const struct reading *r, const xmlNode *node)
{
    return mem_fmt("%s:%ld", r->path, xmlGetLineNo(node));
}

static void report(struct reading *r, const xmlNode *node, const char *text)
{
    mem_auto char *place = place_of(r, node);
    buf_addf(r->errors, "%s: %s\n", place, text);
}

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* Content of a child element, or of the attribute of that name; NULL when there is neither. free(). */
static char *part_of(xmlNode *property, const char *name)
{
    xmlChar *text = xmlGetNoNsProp(property, (const xmlChar *)name);
    for (xmlNode *child = property->children; child; child = child->next)
        if (is_element(child, name)) {
            xmlFree(text);
            text = xmlNodeGetContent(child);
        }
    char *copy = mem_str((const char *)text);
    xmlFree(text);
    return copy;
}

static void read_property(struct reading *r, xmlNode *property)
{
    mem_auto char *raw_name = part_of(property, "name");
    mem_auto char *value = part_of(property, "value");
    mem_auto char *final_text = part_of(property, "final");
    mem_auto char *name = str_trim(raw_name ? raw_name : "");
    bool is_final = false;
    if (!name[0]) {
        report(r, property, "a property needs a name");
        return;
    }
    if (final_text && str_to_bool(final_text, &is_final)) {
        report(r, property, "final must be true or false");
        return;
    }
    if (!value)
        return;
    mem_auto char *origin = place_of(r, property);
    put(r->conf, name, value, origin, is_final);
}

/* The href of an include that was carried out; libxml2 takes it away when it used the fallback. */
static xmlChar *href_of(const xmlNode *include)
{
    for (const xmlAttr *attr = include->properties; attr; attr = attr->next)
        if (strcmp((const char *)attr->name, "href") == 0)
            return xmlNodeListGetString(include->doc, attr->children, 1);
    return NULL;
}

/* File that an include brought in, or NULL when its fallback did; free(). */
static char *included_path(const xmlNode *include)
{
    xmlChar *href = href_of(include);
    xmlChar *base = xmlNodeGetBase(include->doc, include);
    xmlChar *uri = href ? xmlBuildURI(href, base) : NULL;
    char *path = uri ? xmlURIUnescapeString((const char *)uri, 0, NULL) : NULL;
    char *copy = mem_str(path);
    xmlFree(href);
    xmlFree(base);
    xmlFree(uri);
    xmlFree(path);
    return copy;
}

/* The children of <configuration>; an included file brings a <configuration> of its own, between two marks. */
static void read_children(struct reading *r, xmlNode *configuration, int depth)
{
    const char *own_path = r->path;
    mem_auto char *included = NULL;
    for (xmlNode *node = configuration->children; node; node = node->next) {
        if (node->type == XML_XINCLUDE_START || node->type == XML_XINCLUDE_END) {
            free(included);
            included = node->type == XML_XINCLUDE_START ? included_path(node) : NULL;
            r->path = included ? included : own_path;
        } else if (is_element(node, "property")) {
            read_property(r, node);
        } else if (is_element(node, "configuration") && depth < MAX_DEPTH) {
            read_children(r, node, depth + 1);
        } else if (node->type == XML_ELEMENT_NODE) {
            report(r, node, "only property stands in configuration");
        }
    }
    r->path = own_path;
}

#if LIBXML_VERSION >= 21200
static void on_xml_error(void *arg, const xmlError *error)
#else
static void on_xml_error(void *arg, xmlError *error)
#endif
{
    struct reading *r = arg;
    if (error->level < XML_ERR_ERROR)
        return;
    mem_auto char *text = str_trim(error->message ? error->message : "not well-formed");
    r->has_failed = true;
    buf_addf(r->errors, "%s:%d: %s\n", error->file ? error->file : r->path, error->line, text);
}

static void read_file(struct conf *c, const char *path, struct buf *errors)
{
    struct reading r = {c, path, errors, false};
    const int flags = XML_PARSE_NONET | XML_PARSE_BIG_LINES;
    struct stat st;
    if (stat(path, &st) != 0 && errno == ENOENT)
        return;
    if (access(path, R_OK) != 0) {
        buf_addf(errors, "%s: cannot be read: %s\n", path, strerror(errno));
        return;
    }
    xmlSetStructuredErrorFunc(&r, on_xml_error);
    xmlDoc *doc = xmlReadFile(path, NULL, flags);
    int included = doc ? xmlXIncludeProcessFlags(doc, flags) : 0;
    xmlSetStructuredErrorFunc(NULL, NULL);
    xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    if (!r.has_failed && (!root || included < 0))
        buf_addf(errors, "%s: cannot be parsed\n", path);
    else if (!r.has_failed && !is_element(root, "configuration"))
        report(&r, root, "the root element must be configuration");
    else if (!r.has_failed)
        read_children(&r, root, 0);
    xmlFreeDoc(doc);
}

void conf_load_dir(struct conf *c, const char *dir, struct buf *errors)
{
    static const char *const names[] = {"core-site.xml", "hdfs-site.xml", "yarn-site.xml"};
    struct stat st;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        buf_addf(errors, "%s: is not a directory of configuration files\n", dir);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mem_auto char *path = mem_fmt("%s/%s", dir, names[i]);
        read_file(c, path, errors);
    }
}

/* The first reference without another one inside: [*from, *to) is "${name}". */
static bool find_reference(const char *text, const char **from, const char **to)
{
    for (const char *open = strstr(text, "${"); open; open = strstr(open + 2, "${")) {
        size_t n = strcspn(open + 2, "}$ ");
        if (n > 0 && open[2 + n] == '}') {
            *from = open;
            *to = open + n + 3;
            return true;
        }
    }
    return false;
}

static char *value_of_env(const char *expression)
{
    const char *dash = strchr(expression, '-');
    bool or_empty = dash && dash > expression && dash[-1] == ':';
    size_t n = dash ? (size_t)(dash - expression) - or_empty : strlen(expression);
    mem_auto char *name = mem_strn(expression, n);
    const char *value = getenv(name);
    if (dash && (!value || (or_empty && !value[0])))
        value = dash + 1;
    return mem_str(value);
}

static char *value_of_user(const char *property)
{
    char room[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) || !found)
        return NULL;
    return mem_str(strcmp(property, "user.name") == 0 ? found->pw_name : found->pw_dir);
}

/* Value of a reference, or NULL; free(). */
static char *value_of(const struct conf *c, const char *name)
{
    char *value = NULL;
    if (str_starts(name, "env.") && name[4])
        value = value_of_env(name + 4);
    else if (strcmp(name, "user.name") == 0 || strcmp(name, "user.home") == 0)
        value = value_of_user(name);
    if (value)
        return value;
    const struct conf_item *item = conf_get(c, name);
    return mem_str(item ? item->text : map_get(&c->defaults, name));
}

int conf_expand(const struct conf *c, const char *key, const char *text, char **out, struct err_info *why)
{
    mem_auto char *now = mem_str(text);
    const char *from, *to;
    for (int i = 0; i < MAX_EXPANSIONS; i++) {
        if (!find_reference(now, &from, &to)) {
            *out = now;
            now = NULL;
            return 0;
        }
        mem_auto char *name = mem_strn(from + 2, (size_t)(to - from) - 3);
        mem_auto char *value = value_of(c, name);
        if (!value)
            return err_set(why, ERR_CONFIG, key, "${%s} has no value", name);
        char *next = mem_fmt("%.*s%s%s", (int)(from - now), now, value, to);
        free(now);
        now = next;
    }
    if (find_reference(now, &from, &to))
        return err_set(why, ERR_CONFIG, key, "more than %d references: does ${%s} lead back to itself?",
                       MAX_EXPANSIONS, key);
    *out = now;
    now = NULL;
    return 0;
}
