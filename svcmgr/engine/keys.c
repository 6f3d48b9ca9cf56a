/** Keys of documents in their elements: see document.h. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/documents.h"
#include "engine/policy.h"

void key_parts_fini(struct key_parts *p)
{
    while (p->n)
        free(p->items[--p->n]);
}

bool key_parts_read(struct key_parts *p, const char *key)
{
    p->is_definition = str_starts(key, DEFINITIONS "/");
    if (p->is_definition)
        key += strlen(DEFINITIONS "/");
    for (p->n = 0; p->n < KEY_PARTS_MAX;) {
        const char *slash = strchr(key, '/');
        size_t len = slash ? (size_t)(slash - key) : strlen(key);
        char *item = p->items[p->n++] = mem_alloc(len + 1);
        item[0] = '\0';
        if (str_unpercent(key, len, item) < 0)
            return false;
        if (!slash)
            return true;
        key = slash + 1;
    }
    return false;
}

struct eng_service *key_parts_service(const struct engine *e, const struct key_parts *p)
{
    if (p->n < 3)
        return NULL;
    mem_auto char *key = mem_fmt("%s/%s/%s", policy_kind_word(p->items[0]), p->items[1], p->items[2]);
    return map_get(&e->services, key);
}
