/* Serials are on disk before readers see them: readers stay at an older version while none is reserved for the newest. */
#include "app.h"
#include "events.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>

/** A write of the serials that takes longer than this counts as failed for who waits. */
#define FREEZE_MS 1000

/* The gate of the zones. */
static bool may_publish(void *arg, const struct zone_version *next)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    serials_mind(app->serials, next);
    return !dnsd_is_on_image(app) && serials_cover(app->serials, next);
}

static void on_written(void *arg)
{
    dnsd_published(obj_cast(arg, struct dnsd, DNSD_MAGIC));
}

static void wait(struct dnsd *app, bool is_waiting)
{
    if (is_waiting && !app->freeze.is_waiting)
        run_timer_start(app->freeze.timer, FREEZE_MS, 0);
    else if (!is_waiting)
        run_timer_stop(app->freeze.timer);
    app->freeze.is_waiting = is_waiting;
}

/* ---- calls when readers see the newest version ---- */

struct seen_call {
    TAILQ_ENTRY(seen_call) link;
    void (*fn)(void *arg, bool is_visible);
    void *arg;
};

void dnsd_when_visible(struct dnsd *app, void (*fn)(void *arg, bool is_visible), void *arg)
{
    bool is_late = app->freeze.is_on || dnsd_is_on_image(app);
    if (is_late || !zoneset_is_frozen(app->zones)) {
        fn(arg, !is_late);
        return;
    }
    struct seen_call *c = mem_new(struct seen_call);
    c->fn = fn;
    c->arg = arg;
    TAILQ_INSERT_TAIL(&app->freeze.calls, c, link);
}

static void call_free(struct dnsd *app, struct seen_call *c)
{
    TAILQ_REMOVE(&app->freeze.calls, c, link);
    free(c);
}

void dnsd_forget_visible(struct dnsd *app, void *arg)
{
    struct seen_call *c = TAILQ_FIRST(&app->freeze.calls);
    while (c) {
        struct seen_call *next = TAILQ_NEXT(c, link);
        if (c->arg == arg)
            call_free(app, c);
        c = next;
    }
}

static void call_all(struct dnsd *app, bool is_visible)
{
    struct seen_call *c;
    while ((c = TAILQ_FIRST(&app->freeze.calls))) {
        struct seen_call copy = *c;
        call_free(app, c);
        copy.fn(copy.arg, is_visible);
    }
}

/* ---- frozen or not ---- */

static void freeze(struct dnsd *app)
{
    buf_auto struct buf why = BUF_EMPTY;
    wait(app, false);
    app->freeze.is_on = true;
    dnsd_serials_frozen(app, &why);
    log_emit(&ev_zones_frozen, LOG_STR("why", buf_cstr(&why)));
    follow_frozen(app->follow, true);
    call_all(app, false);
}

static void on_freeze(void *arg)
{
    freeze(obj_cast(arg, struct dnsd, DNSD_MAGIC));
}

void dnsd_serials_mind(struct dnsd *app)
{
    bool is_seen = zoneset_publish(app->zones), is_frozen = !is_seen && !dnsd_is_on_image(app);
    if (!app->follow)
        return;
    if (is_frozen == app->freeze.is_on) {
        wait(app, false);
    } else if (is_frozen && !serials_error(app->serials)) {
        wait(app, true);
    } else if (is_frozen) {
        freeze(app);
    } else {
        app->freeze.is_on = false;
        log_emit0(&ev_zones_moving);
        follow_frozen(app->follow, false);
    }
    follow_visible(app->follow);
    if (is_seen)
        call_all(app, true);
}

bool dnsd_serials_frozen(const struct dnsd *app, struct buf *out)
{
    const struct err_info *why = serials_error(app->serials);
    if (!app->freeze.is_on)
        return false;
    buf_add_str(out, "names are answered as they were, since no serial can be reserved for what is new: ");
    if (why)
        buf_addf(out, "%s: %s", why->where, why->text);
    else
        buf_add_str(out, "the disk does not answer");
    return true;
}

void dnsd_serials_start(struct dnsd *app)
{
    struct err_info why = {0};
    mem_auto char *path = dnsd_data_path(app, "serials");
    struct serials_def def = {daemon_loop(app->daemon), path, on_written, app};
    struct zone_gate gate = {may_publish, app};
    TAILQ_INIT(&app->freeze.calls);
    app->freeze.timer = run_timer_new(daemon_loop(app->daemon), on_freeze, app);
    app->serials = serials_open(&def, &why);
    if (why.code)
        log_emit(&ev_dns_nothing_kept, LOG_ERR(&why));
    zoneset_gate(app->zones, &gate);
}

void dnsd_serials_begin(struct dnsd *app)
{
    struct err_info why;
    if (!serials_reserve(app->serials, zoneset_newest(app->zones), &why))
        zoneset_publish(app->zones);
}

static void close_gate(struct dnsd *app)
{
    struct zone_gate open = {NULL, NULL};
    zoneset_gate(app->zones, &open);
    run_timer_free(app->freeze.timer);
    app->freeze.timer = NULL;
}

void dnsd_serials_stop(struct dnsd *app, void (*stopped)(void *arg))
{
    close_gate(app);
    serials_stop(app->serials, zoneset_newest(app->zones), stopped, app);
    app->serials = NULL;
}

void dnsd_serials_free(struct dnsd *app)
{
    close_gate(app);
    serials_free(app->serials);
    app->serials = NULL;
}
