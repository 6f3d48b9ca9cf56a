#include "store/mirror/walk.h"
#include "base/mem.h"
#include "base/path.h"

#include <string.h>

bool walk_covers(const char *top, const char *path)
{
    size_t n = strlen(top);
    if (path[0] != '/')
        return false;
    if (n == 1)
        return true;
    return strncmp(top, path, n) == 0 && (path[n] == 0 || path[n] == '/');
}

void walk_join(struct buf *out, const char *parent, const char *name)
{
    buf_add_str(out, parent);
    if (parent[0] && parent[1])
        buf_add_char(out, '/');
    buf_add_str(out, name);
}

/* The first node that comes after everything below `parent` whose child was `name`; climbs until one has a sibling. */
static const struct mirror_node *climb(const struct mirror *m, const char *top, char *path)
{
    while (walk_covers(top, path) && strcmp(top, path) != 0) {
        mem_auto char *name = mem_str(path_name(path));
        path[path_parent_len(path)] = 0;
        const struct mirror_node *parent = mirror_find(m, path);
        const struct mirror_node *next = parent ? mirror_child_after(parent, name) : NULL;
        if (next)
            return next;
    }
    return NULL;
}

const struct mirror_node *walk_next(const struct mirror *m, const char *top, const char *after)
{
    if (!after)
        return mirror_find(m, top);
    const struct mirror_node *node = mirror_find(m, after);
    const struct mirror_node *child = node ? mirror_child_after(node, NULL) : NULL;
    if (child)
        return child;
    mem_auto char *path = mem_str(after);
    return climb(m, top, path);
}
