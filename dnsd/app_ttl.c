#include "app.h"
#include "options.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define TTL_MAGIC OBJ_MAGIC('T', 'T', 'L', 'S')

struct ttl {
    uint32_t ttl_s;
};

struct ttl_reader {
    struct obj obj;
    struct map *ttls;
    const struct options *options;
    struct opt_report *report;
};

static void on_key(void *arg, const char *key, const char *text)
{
    struct ttl_reader *r = obj_cast(arg, struct ttl_reader, TTL_MAGIC);
    int64_t ms;
    mem_auto char *component = mem_str(key + strlen(DNSD_TTL_FAMILY));
    str_lower(component);
    if (str_to_ms(text, 1000, &ms) || ms < 0 || ms / 1000 > INT32_MAX) {
        struct err_info why;
        err_set(&why, ERR_CONFIG, key, "\"%s\" is no time in 0 to 2147483647 s", text);
        opt_error(r->options, key, &why, r->report);
        return;
    }
    struct ttl *t = mem_new(struct ttl);
    t->ttl_s = (uint32_t)(ms / 1000);
    free(map_set(r->ttls, component, t));
}

void dnsd_ttls_read(const struct options *o, struct map *ttls, struct opt_report *report)
{
    struct ttl_reader reader = {{TTL_MAGIC}, ttls, o, report};
    opt_each_other(o, DNSD_TTL_FAMILY, on_key, &reader);
}

bool dnsd_component_ttl(void *arg, const char *component, uint32_t *ttl_s)
{
    const struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct ttl *t = map_get(&app->ttls, component);
    if (t)
        *ttl_s = t->ttl_s;
    return t != NULL;
}
