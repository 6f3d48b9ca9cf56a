#include "base/list.h"

#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"

static int read_field(const char *text, const struct list_kind *kind, char *items, size_t *n_items,
                      struct err_info *why)
{
    if (!*text)
        return 0;
    if (*n_items == kind->max_items)
        return err_set(why, ERR_INVALID, text, "more than %zu %ss", kind->max_items, kind->noun);
    if (kind->read(text, items + *n_items * kind->item_size))
        return err_set(why, ERR_INVALID, text, "\"%s\" is no %s: %s was expected", text, kind->noun,
                       kind->form);
    ++*n_items;
    return 0;
}

int list_read(const char *list, const struct list_kind *kind, void *items, size_t *n_items,
              struct err_info *why)
{
    int err = 0;
    *n_items = 0;
    for (size_t i = 0; list && !err; i++) {
        mem_auto char *text = str_field(list, ',', i);
        if (!text)
            break;
        err = read_field(text, kind, items, n_items, why);
    }
    return err;
}
