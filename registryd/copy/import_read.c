/* Records that stand in an import as objects. jansson would not keep their numbers, so their text never gets to it:
 *
 *     document ──► scan: where they stand ──► each one's text ──► canonical text ─┐
 *         └────► the same with a 0 and blanks in their places ──► jansson ──► tree ◄┘
 */
#include "copy/import.h"
#include "access/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "json/scan.h"

#include <string.h>

/** As deep as jansson goes. */
#define DEPTH_MAX 2048

/* A record in the document. */
struct place {
    size_t node; /* index of its node */
    const char *at;
    size_t len;
};

struct scan {
    struct js js;
    struct place *places; /* in the order of the document, one for a node at most */
    size_t n_places, n_room;
};

/* ---- where the records stand ---- */

static bool is_key(struct scan *s, const char *name)
{
    return s->js.text.len == strlen(name) && memcmp(buf_cstr(&s->js.text), name, s->js.text.len) == 0;
}

/* Go behind the container that has just begun. @return 0; or ERR_JSON. */
static int skip_rest(struct scan *s)
{
    for (size_t depth = 1; depth;) {
        enum js_token t = js_next(&s->js);
        if (t == JS_ERROR || t == JS_END)
            return ERR_JSON;
        depth += t == JS_OBJECT || t == JS_ARRAY;
        depth -= t == JS_OBJECT_END || t == JS_ARRAY_END;
    }
    return 0;
}

/* The value of a node's member `record`; of several the last one counts. */
static int scan_record(struct scan *s, size_t node)
{
    if (s->n_places && s->places[s->n_places - 1].node == node)
        s->n_places--;
    const char *at = s->js.p;
    int err = js_skip(&s->js);
    if (err)
        return err;
    at += strspn(at, ": \t\r\n");
    if (*at != '{')
        return 0;
    if (s->n_places == s->n_room) {
        s->n_room = 2 * s->n_room + 16;
        s->places = mem_resize(s->places, s->n_room, sizeof *s->places);
    }
    s->places[s->n_places++] = (struct place){node, at, (size_t)(s->js.p - at)};
    return 0;
}

static int scan_node(struct scan *s, size_t node)
{
    enum js_token t;
    while ((t = js_next(&s->js)) == JS_KEY) {
        int err = is_key(s, "record") ? scan_record(s, node) : js_skip(&s->js);
        if (err)
            return err;
    }
    return t == JS_OBJECT_END ? 0 : ERR_JSON;
}

/* The value of the member `nodes`; of several the last one counts. */
static int scan_nodes(struct scan *s)
{
    enum js_token t = js_next(&s->js);
    s->n_places = 0;
    if (t == JS_OBJECT)
        return skip_rest(s);
    if (t != JS_ARRAY)
        return t == JS_ERROR ? ERR_JSON : 0;
    for (size_t node = 0; (t = js_next(&s->js)) != JS_ARRAY_END; node++) {
        int err = t == JS_OBJECT  ? scan_node(s, node)
                  : t == JS_ARRAY ? skip_rest(s)
                  : t == JS_ERROR ? ERR_JSON
                                  : 0;
        if (err)
            return err;
    }
    return 0;
}

static int scan_document(struct scan *s)
{
    enum js_token t = js_next(&s->js);
    if (t != JS_OBJECT)
        return t == JS_ERROR ? ERR_JSON : 0;
    while ((t = js_next(&s->js)) == JS_KEY) {
        int err = is_key(s, "nodes") ? scan_nodes(s) : js_skip(&s->js);
        if (err)
            return err;
    }
    return t == JS_OBJECT_END ? 0 : ERR_JSON;
}

/* ---- the tree ---- */

/* The document without the records: a place in it keeps its line, and its column counts as many characters. */
static void blank_records(const struct scan *s, const char *bytes, size_t len, struct buf *out)
{
    const char *from = bytes;
    buf_room(out, len);
    for (size_t i = 0; i < s->n_places; i++) {
        const struct place *p = &s->places[i];
        buf_add(out, from, (size_t)(p->at - from));
        buf_add_char(out, '0');
        for (size_t k = 1; k < p->len; k++) {
            bool is_more = ((unsigned char)p->at[k] & 0xc0) == 0x80; /* of a character that was counted */
            if (!is_more)
                buf_add_char(out, p->at[k] == '\n' ? '\n' : ' ');
        }
        from = p->at + p->len;
    }
    buf_add(out, from, (size_t)(bytes + len - from));
}

/* A record as people write it, to canonical text in its node. */
static int put_record(json_t *node, const struct place *p, const struct options *o, struct err_info *why)
{
    const char *path = json_string_value(json_object_get(node, "path"));
    struct reg_checked record;
    struct err_info cause;
    int err = limits_read(o, p->at, p->len, &record, &cause);
    if (err == ERR_NORECORD)
        err = err_set(&cause, ERR_RECORD, "", "this is no service record");
    if (err)
        return err_set(why, err, path ? path : "/nodes", "record%s: %s", cause.where, cause.text);
    json_object_set_new(node, "record", json_stringn(record.bytes, record.len));
    reg_checked_fini(&record);
    return 0;
}

static int read_tree(const struct scan *s, const char *bytes, size_t len, const struct options *o,
                     json_t **out, struct err_info *why)
{
    buf_auto struct buf blanked = BUF_EMPTY;
    json_auto json_t *tree = NULL;
    blank_records(s, bytes, len, &blanked);
    int err = json_read(blanked.bytes, blanked.len, &tree, why);
    for (size_t i = 0; !err && i < s->n_places; i++) {
        json_t *nodes = json_object_get(tree, "nodes");
        err = put_record(json_array_get(nodes, s->places[i].node), &s->places[i], o, why);
    }
    if (!err)
        *out = json_incref(tree);
    return err;
}

int import_read(const char *bytes, size_t len, const struct options *o, json_t **out, struct err_info *why)
{
    struct scan s = {0};
    js_init(&s.js, bytes, len, DEPTH_MAX);
    int err = scan_document(&s);
    if (err)
        err_set(why, err, s.js.why.where, "%s", s.js.why.text);
    else
        err = read_tree(&s, bytes, len, o, out, why);
    js_fini(&s.js);
    mem_free_ptr(&s.places);
    return err;
}
