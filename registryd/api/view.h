/**
 * The JSON view of a node, written in slices: a node with a million children holds the loop no longer than one with ten. One
 * that is under way when the store is replaced is broken off: what was sent is no JSON then.
 * Thread: owner.   Source: docs/registry-rest.md.
 */
#ifndef API_VIEW_H
#define API_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "http/server.h"
#include "store/mirror/mirror.h"

enum view_form {
    VIEW_NODE,  /* {"path","status","nodes","service"} */
    VIEW_TREE,  /* {"path","status","tree","service"}: every node below */
    VIEW_SLIDER /* {"nodes","service"} */
};

struct view_def {
    struct mirror *mirror;
    const struct mirror_node *node;
    const char *path; /* of the node [borrowed] */
    enum view_form form;
    int64_t limit;      /* most nodes or tree members */
    const char *cursor; /* continue after this name (nodes) or path (tree), or NULL [borrowed] */
};

/** Answer with `status` and the view of the mirror's node: at once when it is short, else as a stream. */
void view_reply(struct http_req *req, int status, const struct view_def *def);

/** A node as the store has it, for consistency=strong. All borrowed. */
struct view_strong {
    const char *path, *store_id;
    const struct store_stat *stat;
    const char *bytes; /* stat->data_len of them */
    const char *const *names;
    size_t n_names;
    int64_t limit;
    const char *cursor;
};
/** Append the whole document (VIEW_NODE). Pure. */
void view_write_strong(struct buf *out, const struct view_strong *v);

#endif
