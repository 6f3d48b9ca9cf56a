#include "names/addresses.h"

#include <string.h>

#define DIGITS     "0123456789"
#define HOST_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-."

bool addresses_is_host_name(const char *text)
{
    size_t n = strlen(text);
    n -= n > 0 && text[n - 1] == '.';
    const char *last = n ? memrchr(text, '.', n) : NULL;
    last = last ? last + 1 : text;
    size_t n_last = (size_t)(text + n - last);
    return n > 0 && n_last > 0 && strspn(text, HOST_CHARS) == strlen(text) && strspn(last, DIGITS) < n_last;
}

bool addresses_read(const struct map_options *o, const char *text, struct addresses *out)
{
    out->n_items = 1;
    if (addr_read(text, &out->items[0]) == 0)
        return true;
    out->n_items = 0;
    if (!addresses_is_host_name(text))
        return false;
    if (o->addresses)
        out->n_items = o->addresses(o->addresses_arg, text, out->items);
    if (o->has_one_address && out->n_items > 1)
        out->n_items = 1;
    return true;
}

bool addresses_contain(const struct addresses *addresses, const struct addr *a)
{
    for (size_t i = 0; i < addresses->n_items; i++)
        if (addr_equal(a, &addresses->items[i]))
            return true;
    return false;
}
