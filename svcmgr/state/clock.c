#include "state/clock.h"

#include <string.h>

#include "base/obj.h"
#include "json/json.h"
#include "json/writer.h"

void clock_begin(struct clock *c, int64_t boot_ms, int64_t wall_ms)
{
    run_boot_id(c->boot);
    c->is_read = false;
    c->ahead_ms = (wall_ms > 0 ? wall_ms : 1) - boot_ms;
}

int clock_read(struct clock *c, const char *bytes, size_t len, int64_t boot_ms, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = json_read(bytes, len, &doc, why);
    if (err)
        return err;

    json_int_t format = json_integer_value(json_object_get(doc, "format")); /* 0: before there were formats */
    if (format > CLOCK_FORMAT)
        return err_set(why, ERR_UNSUPPORTED, CLOCK_KEY,
                       "The clock document has format %lld, this version reads formats up to %d.",
                       (long long)format, CLOCK_FORMAT);
    const char *boot = json_string_value(json_object_get(doc, "boot"));
    json_t *then = json_object_get(doc, "boot_ms"), *engine = json_object_get(doc, "engine_ms");
    if (!boot || !json_is_integer(then) || json_integer_value(engine) <= 0)
        return err_set(why, ERR_JSON, CLOCK_KEY, "The clock document lacks boot, boot_ms or engine_ms.");
    int64_t passed = boot_ms - json_integer_value(then);
    bool same = boot[0] && strcmp(boot, c->boot) == 0 && passed > 0;
    int64_t ahead_ms = json_integer_value(engine) + (same ? passed : 0) - boot_ms;
    if (!c->is_read || ahead_ms > c->ahead_ms)
        c->ahead_ms = ahead_ms;
    c->is_read = true;
    return 0;
}

void clock_write(const struct clock *c, int64_t boot_ms, struct buf *out)
{
    buf_clear(out);
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kint(&w, "format", CLOCK_FORMAT);
    jw_kstr(&w, "boot", c->boot);
    jw_kint(&w, "boot_ms", boot_ms);
    jw_kint(&w, "engine_ms", clock_now_ms(c, boot_ms));
    jw_object_end(&w);
}

int64_t clock_now_ms(const struct clock *c, int64_t boot_ms)
{
    return boot_ms + c->ahead_ms;
}
