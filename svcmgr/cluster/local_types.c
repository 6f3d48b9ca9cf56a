#include "cluster/local_types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void local_types_init(struct local_types *types, const struct spec_needs *has)
{
    types->has = spec_needs_copy(has);
    types->used = mem_array((has ? has->n_amounts : 0) + 1, sizeof types->used[0]);
}

void local_types_fini(struct local_types *types)
{
    spec_needs_free(types->has);
    free(types->used);
}

/** Place of a type among those that are declared; their number: it is none of them. */
static size_t place_of(const struct local_types *types, const char *type)
{
    size_t i = 0, n = types->has ? types->has->n_amounts : 0;

    while (i < n && strcmp(types->has->amounts[i].type, type) != 0)
        i++;
    return i;
}

int64_t local_types_has(const struct local_types *types, const char *type)
{
    size_t i = place_of(types, type);

    return types->has && i < types->has->n_amounts ? types->has->amounts[i].n : 0;
}

static char *lack_of(const struct local_types *types, const struct spec_amount *a)
{
    size_t i = place_of(types, a->type);
    bool is_declared = types->has && i < types->has->n_amounts;
    int64_t has = is_declared ? types->has->amounts[i].n : 0, left = has - (is_declared ? types->used[i] : 0);

    if (a->n > has)
        return mem_fmt("%" PRId64 " %s are wanted, this host has %" PRId64, a->n, a->type, has);
    if (a->n > left)
        return mem_fmt("%" PRId64 " %s are wanted, %" PRId64 " of %" PRId64 " are free", a->n, a->type, left,
                       has);
    return NULL;
}

char *local_types_lack(const struct local_types *types, const struct spec_needs *needs)
{
    char *lack = NULL;

    for (size_t i = 0; needs && !lack && i < needs->n_amounts; i++)
        lack = lack_of(types, &needs->amounts[i]);
    return lack;
}

void local_types_count(struct local_types *types, const struct spec_needs *needs, int by)
{
    for (size_t i = 0; needs && i < needs->n_amounts; i++) {
        size_t place = place_of(types, needs->amounts[i].type);
        if (types->has && place < types->has->n_amounts)
            types->used[place] += by * needs->amounts[i].n;
    }
}

char *local_types_write(const struct spec_needs *needs)
{
    struct buf out = BUF_EMPTY;

    for (size_t i = 0; needs && i < needs->n_amounts; i++)
        buf_addf(&out, "%s%s=%" PRId64, i ? "," : "", needs->amounts[i].type, needs->amounts[i].n);
    return out.len ? buf_take(&out) : mem_str("");
}

struct spec_needs *local_types_read(const char *text)
{
    mem_auto char *copy = mem_str(text);
    char *rest = copy, *pair;
    struct spec_needs *needs = NULL;

    while (copy[0] && (pair = strsep(&rest, ","))) {
        char *equals = strrchr(pair, '=');
        int64_t n = equals ? spec_amount_read(equals + 1) : -1;
        if (n <= 0)
            continue;
        *equals = '\0';
        needs = needs ? needs : mem_new(struct spec_needs);
        needs->amounts = mem_resize(needs->amounts, needs->n_amounts + 1, sizeof needs->amounts[0]);
        needs->amounts[needs->n_amounts++] = (struct spec_amount){mem_str(pair), n, 0};
    }
    return needs;
}
