#include "app.h"
#include "routes.h"
#include "base/mem.h"
#include "base/obj.h"
#include "masters/text.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_MAGIC OBJ_MAGIC('D', 'U', 'M', 'P')

/* A zone that is being written out; the version it is read from stays until the end. */
struct dump {
    struct obj obj;
    TAILQ_ENTRY(dump) link;
    struct dnsd *app;
    const struct zone_version *version;
    unsigned zone;
    uint64_t cursor;
    struct buf text; /* made, not sent yet */
};

uint64_t dnsd_oldest_dump(const struct dnsd *app)
{
    uint64_t oldest = UINT64_MAX;
    const struct dump *d;
    TAILQ_FOREACH (d, &app->dumps, link)
        oldest = zone_version_number(d->version) < oldest ? zone_version_number(d->version) : oldest;
    return oldest;
}

static int on_rr(void *owner, const struct zone_rr *rr)
{
    struct dump *d = obj_cast(owner, struct dump, DUMP_MAGIC);
    rr_text(rr, &d->text);
    return 0;
}

static ssize_t on_read(void *arg, char *out, size_t max)
{
    struct dump *d = obj_cast(arg, struct dump, DUMP_MAGIC);
    struct zone_visitor visitor = {on_rr, d};
    while (!d->text.len && d->cursor != ZONE_DUMP_END)
        zone_dump_part(d->version, d->zone, &d->cursor, &visitor);
    if (!d->text.len)
        return -1;
    size_t n = d->text.len < max ? d->text.len : max;
    memcpy(out, d->text.bytes, n);
    buf_drop(&d->text, n);
    return (ssize_t)n;
}

static void on_closed(void *arg)
{
    struct dump *d = obj_cast(arg, struct dump, DUMP_MAGIC);
    TAILQ_REMOVE(&d->app->dumps, d, link);
    buf_fini(&d->text);
    obj_fini(&d->obj);
    free(d);
}

void dnsd_api_dump(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    static const struct http_stream_ops ops = {.read = on_read, .closed = on_closed};
    const char *name = http_param_text(req, DUMP_ZONE);
    struct err_info why;
    uint8_t apex[NAME_MAX_LEN];
    if (!name)
        memcpy(apex, app->domain, sizeof apex);
    const struct zone_version *v = zoneset_current(app->zones);
    int zone = name && name_from_text(name, strlen(name), apex) < 0 ? ERR_PARSE : zone_version_zone(v, apex);
    if (zone < 0) {
        err_set(&why, ERR_NOTFOUND, "zone", "\"%s\" is no zone of this server; GET /zones lists them", name);
        http_reply_error(req, ERR_NOTFOUND, &why);
        return;
    }
    struct dump *d = mem_new(struct dump);
    obj_init(&d->obj, DUMP_MAGIC);
    d->app = app;
    d->version = v;
    d->zone = (unsigned)zone;
    TAILQ_INSERT_TAIL(&app->dumps, d, link);
    http_stream_start(req, 200, "text/dns", &ops, d);
}
