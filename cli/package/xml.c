/** metainfo.xml in the form of metainfo.json: see parts.h. */
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "package/parts.h"

#define DEPTH_MAX 16

/** Elements that are lists of what is in them. */
static const char *const lists[] = {"components",  "commands",      "packages",
                                    "configFiles", "osSpecifics",   "exportGroups",
                                    "exports",     "commandOrders", "dockerContainers"};

static bool is_list(const xmlNode *node)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp((const char *)node->name, lists[i]) == 0)
            return true;
    return false;
}

static const xmlNode *first_element(const xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

static json_t *text_of(const xmlNode *node)
{
    xmlChar *content = xmlNodeGetContent(node);
    mem_auto char *text = str_trim(content ? (const char *)content : "");

    xmlFree(content);
    return json_string(text);
}

/** What an element is. New reference; NULL: nested too deeply. */
static json_t *value_of(const xmlNode *node, int depth)
{
    const xmlNode *child = first_element(node->children);

    if (depth > DEPTH_MAX)
        return NULL;
    if (!child)
        return text_of(node);
    json_t *out = is_list(node) ? json_array() : json_object();
    for (; child; child = first_element(child->next)) {
        json_t *value = value_of(child, depth + 1);
        if (!value) {
            json_decref(out);
            return NULL;
        }
        if (json_is_array(out))
            json_array_append_new(out, value);
        else
            json_object_set_new(out, (const char *)child->name, value);
    }
    return out;
}

static int take_root(xmlDoc *doc, const char *where, json_t **out, struct err_info *why)
{
    const xmlNode *root = xmlDocGetRootElement(doc);

    if (doc->intSubset)
        return err_set(why, ERR_PARSE, where, "a DOCTYPE is not allowed");
    if (!root || strcmp((const char *)root->name, "metainfo") != 0 || !first_element(root->children))
        return err_set(why, ERR_PARSE, where, "the root element must be metainfo, with elements in it");
    json_t *value = value_of(root, 1);
    if (!value)
        return err_set(why, ERR_PARSE, where, "elements are nested more than %d deep", DEPTH_MAX);
    *out = value;
    return 0;
}

int package_xml_read(const struct buf *text, const char *where, json_t **out, struct err_info *why)
{
    const int flags = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA;
    xmlDoc *doc = xmlReadMemory(text->bytes, (int)text->len, "metainfo.xml", NULL, flags);
    const xmlError *error = xmlGetLastError();

    if (!doc) {
        mem_auto char *said = str_trim(error && error->message ? error->message : "");
        package_one_line(said); /* it may have a second one, of the bytes that are wrong */
        mem_auto char *place = mem_fmt("%s:%d", where, error ? error->line : 0);
        return err_set(why, ERR_PARSE, place, "not well-formed: %.300s", said);
    }
    int rc = take_root(doc, where, out, why);
    xmlFreeDoc(doc);
    return rc;
}
