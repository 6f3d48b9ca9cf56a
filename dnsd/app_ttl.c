#include "app.h"
#include "options.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "hadoop.registry.dns.ttl."

struct ttl {
    uint32_t ttl_s;
};

struct ttl_run {
    struct map *ttls;
    struct buf *errors;
};

static void on_key(void *arg, const char *key, const char *text)
{
    struct ttl_run *r = arg;
    int64_t ms;
    mem_auto char *component = mem_str(key + strlen(PREFIX));
    str_lower(component);
    if (str_to_ms(text, 1000, &ms) || ms < 0 || ms / 1000 > INT32_MAX) {
        buf_addf(r->errors, "%s: \"%s\" is no time in 0 to 2147483647 s\n", key, text);
        return;
    }
    struct ttl *t = mem_new(struct ttl);
    t->ttl_s = (uint32_t)(ms / 1000);
    free(map_set(r->ttls, component, t));
}

void dnsd_ttls_read(const struct options *o, struct map *ttls, struct buf *errors)
{
    struct ttl_run run = {ttls, errors};
    opt_each_other(o, PREFIX, on_key, &run);
}

bool dnsd_component_ttl(void *ttls, const char *component, uint32_t *ttl_s)
{
    const struct ttl *t = map_get(ttls, component);
    if (t)
        *ttl_s = t->ttl_s;
    return t != NULL;
}
