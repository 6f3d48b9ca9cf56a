/** Configuration files as JSON objects: see localizer.h. */
#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/writer.h"
#include "localizer/localizer.h"
#include "shim/wire.h"

#define PIECE 65536

static int no_config(struct source_fault *f, const char *text)
{
    mem_auto char *line = str_trim(text);

    source_fault_detail(f, line);
    return localizer_fault(f, SOURCE_NO_CONFIG, 0);
}

static void put(struct map *out, const char *name, const char *value)
{
    free(map_set(out, name, mem_str(value)));
}

/* ---- Hadoop's XML ---- */

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

/** Content of the first child of this name. free(); NULL: there is none. */
static char *child_text(xmlNode *parent, const char *name)
{
    for (xmlNode *node = parent->children; node; node = node->next) {
        if (!is_element(node, name))
            continue;
        xmlChar *content = xmlNodeGetContent(node);
        char *text = mem_str(content ? (const char *)content : "");
        xmlFree(content);
        return text;
    }
    return NULL;
}

static int take_property(xmlNode *property, struct map *out, struct source_fault *f)
{
    mem_auto char *text = child_text(property, "name");
    mem_auto char *name = text ? str_trim(text) : NULL;
    mem_auto char *value = child_text(property, "value");
    mem_auto char *where = mem_fmt("line %ld: a property without a name", xmlGetLineNo(property));

    if (!name || !*name)
        return no_config(f, where);
    if (value)
        put(out, name, value); /* One without a value sets nothing, as in Hadoop. */
    return 0;
}

static int take_root(xmlDoc *doc, struct map *out, struct source_fault *f)
{
    xmlNode *root = xmlDocGetRootElement(doc);
    int failed = 0;

    if (doc->intSubset)
        return no_config(f, "a DOCTYPE is not allowed");
    if (!root || !is_element(root, "configuration"))
        return no_config(f, "the root element must be configuration");
    for (xmlNode *node = root->children; node && !failed; node = node->next) {
        if (is_element(node, "property"))
            failed = take_property(node, out, f);
        else if (node->type == XML_ELEMENT_NODE)
            failed = no_config(f, "configuration has other elements than property");
    }
    return failed;
}

static int parse_xml(const struct buf *text, struct map *out, struct source_fault *f)
{
    const int flags = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA;
    xmlDoc *doc = xmlReadMemory(text->bytes, (int)text->len, "src_file", NULL, flags);
    const xmlError *error = xmlGetLastError();
    mem_auto char *said =
        mem_fmt("line %d: %s", error ? error->line : 0, error ? error->message : "not well-formed");
    int failed = doc ? take_root(doc, out, f) : no_config(f, said);

    xmlFreeDoc(doc);
    return failed;
}

/* ---- Java's properties ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

/** One logical line, joined, without the blanks that begin its parts; escapes stay. @return what is behind it */
static const char *take_line(const char *p, struct buf *out)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        while (is_blank(*p))
            p++;
        for (; *p && *p != '\n' && *p != '\r' && !goes_on; p++) {
            goes_on = *p == '\\' && (p[1] == '\n' || p[1] == '\r');
            if (goes_on)
                continue;
            buf_add_char(out, *p);
            if (*p == '\\' && p[1])
                buf_add_char(out, *++p);
        }
        p += *p == '\r' && p[1] == '\n' ? 2 : *p != '\0';
    }
    return p;
}

/** The character of \uXXXX at p, behind the backslash, with a second half where there is one. @return what is behind it; NULL: it is none */
static const char *take_unicode(const char *p, struct buf *out)
{
    unsigned high = 0, low = 0;
    char bytes[4];
    int n = 0;

    if (sscanf(p, "u%4x%n", &high, &n) != 1 || n != 5)
        return NULL;
    p += n;
    n = 0;
    bool is_pair = high >= 0xd800 && high < 0xdc00 && sscanf(p, "\\u%4x%n", &low, &n) == 1 && n == 6 &&
                   low >= 0xdc00 && low < 0xe000;
    p += is_pair ? n : 0;
    if (high >= 0xd800 && high < 0xe000)
        high = is_pair ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    if (!high)
        return NULL;
    buf_add(out, bytes, utf8_put(bytes, high));
    return p;
}

/** Undo the escapes of n bytes. @return new text, free(); NULL: one is none */
static char *unescape(const char *p, size_t n)
{
    mem_auto char *text = mem_strn(p, n);
    buf_auto struct buf out = BUF_EMPTY;

    for (const char *q = text; *q;) {
        const char *letter = *q == '\\' && q[1] ? strchr("t\tn\nr\rf\f", q[1]) : NULL;
        if (*q != '\\' || !q[1]) {
            buf_add_char(&out, *q++);
        } else if (q[1] == 'u') {
            q = take_unicode(q + 1, &out);
            if (!q)
                return NULL;
        } else {
            buf_add_char(&out, letter && strchr("tnrf", q[1]) ? letter[1] : q[1]);
            q += 2;
        }
    }
    return buf_take(&out);
}

static int take_pair(const char *line, struct map *out, struct source_fault *f)
{
    size_t n = 0;

    while (line[n] && line[n] != '=' && line[n] != ':' && !is_blank(line[n]))
        n += line[n] == '\\' && line[n + 1] ? 2 : 1;
    const char *value = line + n;
    while (is_blank(*value))
        value++;
    if (*value == '=' || *value == ':')
        value++;
    while (is_blank(*value))
        value++;
    mem_auto char *name = unescape(line, n);
    mem_auto char *text = unescape(value, strlen(value));
    if (!name || !text)
        return no_config(f, line);
    put(out, name, text);
    return 0;
}

static int parse_properties(struct buf *text, struct map *out, struct source_fault *f)
{
    int failed = 0;

    for (const char *p = buf_cstr(text); *p && !failed;) {
        buf_auto struct buf line = BUF_EMPTY;
        p += strspn(p, " \t\f\r\n");
        if (*p == '#' || *p == '!') {
            p += strcspn(p, "\r\n");
            continue;
        }
        p = take_line(p, &line);
        if (line.len > 0)
            failed = take_pair(buf_cstr(&line), out, f);
    }
    return failed;
}

/* ---- the whole ---- */

static int read_text(int from, int64_t max, struct buf *out, struct source_fault *f)
{
    ssize_t n = 1;

    while (n > 0 && (int64_t)out->len <= max) {
        n = read(from, buf_room(out, PIECE), PIECE);
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return localizer_fault(f, SOURCE_UNREAD, errno);
    if ((int64_t)out->len > max || out->len > INT32_MAX)
        return localizer_fault(f, SOURCE_TOO_LARGE, 0);
    return out->len && memchr(out->bytes, '\0', out->len) ? no_config(f, "it has a NUL") : 0;
}

static int write_object(int to, const struct map *all, struct source_fault *f)
{
    const char **names = map_sorted_keys(all);
    buf_auto struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);

    jw_object(&w);
    for (size_t i = 0; names[i]; i++) {
        jw_key(&w, names[i]);
        jw_str(&w, map_get(all, names[i]));
    }
    jw_object_end(&w);
    free(names);
    return shim_write_all(to, text.bytes, text.len) ? localizer_fault(f, SOURCE_UNWRITTEN, errno) : 0;
}

int localizer_convert(int from, int to, enum source_form form, int64_t max_bytes, struct source_fault *f)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct map all = MAP_EMPTY;
    int failed = read_text(from, max_bytes, &text, f);

    if (!failed)
        failed = form == SOURCE_XML ? parse_xml(&text, &all, f) : parse_properties(&text, &all, f);
    if (!failed)
        failed = write_object(to, &all, f);
    map_fini(&all, free);
    return failed;
}
