#include "api/view.h"
#include "feed/lines.h"
#include "store/mirror/walk.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEW_MAGIC OBJ_MAGIC('V', 'I', 'E', 'W')

/** Members written in one turn of the loop. */
#define SLICE_ITEMS 256

struct view {
    struct obj obj;
    struct mirror *mirror;
    enum view_form form;
    const char *path;
    /** Last child name (nodes) or path (tree) written, or where to begin; empty: at the first. */
    struct buf after;
    int64_t left;                      /* members still allowed */
    const struct mirror_node *node;    /* the viewed node, in the first turn; then NULL */
    struct buf tail;                   /* its record as it was then */
    bool is_tail_why;                  /* the tail says why that is none */
    char store_id[STORE_REVISION_MAX]; /* after the first turn: of the store that is viewed */
    struct buf out;                    /* written, not yet taken */
    struct jw jw;                      /* on out */
    size_t n_taken;
    bool is_done;
};

/** Bytes of a view beside its record: the buffer of the common one grows once. */
#define HEAD_ROOM 512

/* ---- members ---- */

/* The first one of a turn; top is NULL when the viewed node is gone by now. */
static const struct mirror_node *first_member(const struct view *v, const struct mirror_node *top)
{
    const char *after = v->after.len ? v->after.bytes : NULL;
    if (!top)
        return NULL;
    if (v->form != VIEW_TREE)
        return mirror_child_after(top, after);
    return walk_covers(v->path, after) ? walk_next(v->mirror, v->path, after) : NULL;
}

static const struct mirror_node *next_member(const struct view *v, const struct mirror_node *top,
                                             const struct mirror_node *node)
{
    return v->form == VIEW_TREE ? mirror_walk(v->mirror, top, node) : mirror_child_after(top, node->name);
}

static void write_member(struct view *v, const struct mirror_node *node)
{
    if (v->form != VIEW_TREE) {
        jw_str(&v->jw, node->name);
        return;
    }
    buf_clear(&v->after);
    mirror_path(node, &v->after);
    jw_object(&v->jw);
    jw_kstr(&v->jw, "path", v->after.bytes);
    lines_status(&v->jw, node->name, &node->stat, mirror_store_id(v->mirror));
    lines_node_service(&v->jw, node);
    jw_object_end(&v->jw);
}

/* Keep where to go on. */
static void remember(struct view *v, const struct mirror_node *last)
{
    if (!last || v->form == VIEW_TREE)
        return; /* a member of a tree has left its path already */
    buf_clear(&v->after);
    buf_add_str(&v->after, last->name);
}

static void write_service(struct view *v)
{
    if (v->node && v->form == VIEW_SLIDER) {
        if (lines_node_has_external(v->node))
            lines_node_service(&v->jw, v->node);
    } else if (v->node) {
        lines_node_service(&v->jw, v->node);
        lines_node_invalid(&v->jw, v->node);
    } else if (v->is_tail_why) {
        jw_kstr(&v->jw, "invalidRecord", v->tail.bytes);
    } else if (v->tail.len) {
        jw_key(&v->jw, "service");
        jw_raw(&v->jw, v->tail.bytes, v->tail.len);
    }
}

static void write_end(struct view *v, bool has_more)
{
    jw_array_end(&v->jw);
    write_service(v);
    if (has_more)
        jw_kstr(&v->jw, "cursor", buf_cstr(&v->after));
    jw_object_end(&v->jw);
    v->is_done = true;
}

/* Whether the store was replaced since the first turn. */
static bool is_replaced(const struct view *v)
{
    return !v->node && strcmp(v->store_id, mirror_store_id(v->mirror)) != 0;
}

/* Write up to a slice of members, and the end when there are no more. */
static void fill(struct view *v)
{
    if (is_replaced(v)) {
        lines_broken_off(&v->out);
        v->is_done = true;
        return;
    }
    const struct mirror_node *top = v->node ? v->node : mirror_find(v->mirror, v->path);
    const struct mirror_node *node = first_member(v, top), *last = NULL;
    int n_left = SLICE_ITEMS;
    for (; node && v->left && n_left; v->left--, n_left--) {
        write_member(v, node);
        last = node;
        node = next_member(v, top, node);
    }
    remember(v, last);
    if (!node || !v->left)
        write_end(v, node != NULL);
}

/* ---- the view ---- */

/* Begin a view of the present tree. v borrows the path of def. */
static void view_begin(struct view *v, const struct view_def *def)
{
    const struct mirror_node *node = def->node;
    *v = (struct view){
        .mirror = def->mirror, .form = def->form, .path = def->path, .left = def->limit, .node = node};
    /* The node itself is not below itself: a tree begins after it. */
    if (def->cursor && *def->cursor)
        buf_add_str(&v->after, def->cursor);
    else if (def->form == VIEW_TREE)
        buf_add_str(&v->after, def->path);
    buf_room(&v->out, node->stat.data_len + HEAD_ROOM);
    v->jw = jw_on(&v->out);
    jw_object(&v->jw);
    if (def->form != VIEW_SLIDER) {
        jw_literal_key(&v->jw, "path");
        jw_str(&v->jw, def->path);
        lines_status(&v->jw, node->name, &node->stat, mirror_store_id(def->mirror));
    }
    if (def->form == VIEW_TREE)
        jw_literal_key(&v->jw, "tree");
    else
        jw_literal_key(&v->jw, "nodes");
    jw_array(&v->jw);
}

/* The view as one that lasts longer than this turn. */
static struct view *view_keep(const struct view *begun)
{
    struct view *v = mem_copy(begun, sizeof *begun);
    obj_init(&v->obj, VIEW_MAGIC);
    v->path = mem_str(begun->path);
    v->jw.out = &v->out;
    snprintf(v->store_id, sizeof v->store_id, "%s", mirror_store_id(v->mirror));
    if (!lines_node_record(&v->tail, v->node) && v->form != VIEW_SLIDER)
        v->is_tail_why = lines_why_invalid(&v->tail, v->node->data, v->node->stat.data_len);
    if (v->form == VIEW_SLIDER && v->tail.len && !lines_node_has_external(v->node))
        buf_clear(&v->tail);
    v->node = NULL;
    return v;
}

static void view_free(void *arg)
{
    struct view *v = obj_cast(arg, struct view, VIEW_MAGIC);
    buf_fini(&v->out);
    buf_fini(&v->tail);
    buf_fini(&v->after);
    free((void *)(uintptr_t)v->path);
    obj_fini(&v->obj);
    free(v);
}

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct view *v = obj_cast(arg, struct view, VIEW_MAGIC);
    if (v->n_taken == v->out.len) {
        if (v->is_done)
            return -1;
        buf_clear(&v->out);
        v->n_taken = 0;
        fill(v);
    }
    size_t n = v->out.len - v->n_taken;
    n = n < max ? n : max;
    memcpy(to, v->out.bytes + v->n_taken, n);
    v->n_taken += n;
    return (ssize_t)n;
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = view_free};

void view_reply(struct http_req *req, int status, const struct view_def *def)
{
    struct view v;
    view_begin(&v, def);
    fill(&v);
    if (!v.is_done) {
        http_stream_start(req, status, "application/json", &stream_ops, view_keep(&v));
        return;
    }
    http_reply(req, status, "application/json", &v.out);
    buf_fini(&v.after);
}

void view_write_strong(struct buf *out, const struct view_strong *v)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "path", v->path);
    lines_status(&w, path_name(v->path), v->stat, v->store_id);
    jw_key(&w, "nodes");
    jw_array(&w);
    size_t i = 0;
    while (i < v->n_names && v->cursor && strcmp(v->names[i], v->cursor) <= 0)
        i++;
    int64_t left = v->limit;
    for (; i < v->n_names && left > 0; i++, left--)
        jw_str(&w, v->names[i]);
    jw_array_end(&w);
    buf_auto struct buf why = BUF_EMPTY;
    size_t len = v->stat->data_len;
    if (!lines_service(&w, v->bytes, len) && lines_why_invalid(&why, v->bytes, len))
        jw_kstr(&w, "invalidRecord", why.bytes);
    if (i < v->n_names && i > 0)
        jw_kstr(&w, "cursor", v->names[i - 1]);
    jw_object_end(&w);
}
