#include "bobbin/registry.h"
#include "base/str.h"

#include <string.h>

int reg_revision_read(const char *text, char *store, int64_t *n)
{
    const char *dot = strrchr(text, '.');
    size_t len = dot ? (size_t)(dot - text) : 0;
    int64_t number;
    if (!len || len >= REG_REVISION_MAX || str_to_i64(dot + 1, 0, INT64_MAX, &number))
        return ERR_PARSE;
    memcpy(store, text, len);
    store[len] = 0;
    *n = number;
    return 0;
}
