#include "follow/held.h"
#include "base/obj.h"
#include "wire/name.h"

void held_fini(struct held_names *h)
{
    map_fini(&h->by_owner, NULL);
}

bool held_count(struct held_names *h, const uint8_t *owner, bool is_one_more)
{
    uint8_t lower[NAME_MAX_LEN];
    char text[NAME_TEXT_MAX];
    name_lower(owner, lower);
    name_to_text(lower, text);
    uintptr_t n = (uintptr_t)map_get(&h->by_owner, text);
    BUG_IF(!is_one_more && !n);
    n = is_one_more ? n + 1 : n - 1;
    if (n)
        map_set(&h->by_owner, text, (void *)n);
    else
        map_remove(&h->by_owner, text);
    return n == is_one_more;
}
