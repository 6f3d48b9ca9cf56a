/** Start order of the components by their depth in the dependency graph: see spec_order. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "spec/check.h"

/** Depth of a component whose dependencies all have one; SIZE_MAX while one has none. */
static size_t depth_of(const struct spec_service *s, const struct spec_component *c, const size_t *depths)
{
    size_t depth = 0;
    for (size_t d = 0; d < c->n_dependencies; d++) {
        for (size_t k = 0; k < s->n_components; k++) {
            if (strcmp(s->components[k]->name, c->dependencies[d]) != 0)
                continue;
            if (depths[k] == SIZE_MAX)
                return SIZE_MAX;
            depth = depths[k] + 1 > depth ? depths[k] + 1 : depth;
        }
    }
    return depth;
}

static int refuse_cycle(const struct spec_service *s, const size_t *depths, struct err_info *why)
{
    buf_auto struct buf left = BUF_EMPTY;
    for (size_t i = 0; i < s->n_components; i++) {
        if (depths[i] == SIZE_MAX)
            buf_addf(&left, "%s%s", left.len ? ", " : "", s->components[i]->name);
    }
    return SPEC_REFUSE(why, "Invalid dependencies, a cycle may exist: [%s]", buf_cstr(&left));
}

/** Give each component its depth, round by round. @return how many have one. */
static size_t find_depths(const struct spec_service *s, size_t *depths)
{
    size_t n_known = 0, n_before;
    do {
        n_before = n_known;
        for (size_t i = 0; i < s->n_components; i++) {
            if (depths[i] != SIZE_MAX)
                continue;
            depths[i] = depth_of(s, s->components[i], depths);
            n_known += depths[i] != SIZE_MAX;
        }
    } while (n_known > n_before);
    return n_known;
}

int spec_order(const struct spec_service *s, size_t *order, struct err_info *why)
{
    mem_auto size_t *depths = mem_array(s->n_components + 1, sizeof(size_t));
    for (size_t i = 0; i < s->n_components; i++)
        depths[i] = SIZE_MAX;
    if (find_depths(s, depths) < s->n_components)
        return refuse_cycle(s, depths, why);
    size_t n = 0;
    for (size_t depth = 0; n < s->n_components; depth++) {
        for (size_t i = 0; i < s->n_components; i++) {
            if (depths[i] == depth)
                order[n++] = i;
        }
    }
    return 0;
}
