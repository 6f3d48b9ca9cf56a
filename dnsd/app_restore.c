/* The start from the files of the last run: answers from an image of the zones at once, while the records are read. */
#include "app.h"
#include "events.h"
#include "options.h"
#include "base/mem.h"
#include "base/obj.h"
#include "follow/events.h"
#include "follow/image_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- what zones are made of, besides the registry ---- */

static void add_type_ttl(struct buf *out, const struct map_type_ttl *t)
{
    buf_addf(out, " %d %u", t->is_set, t->is_set ? t->ttl_s : 0);
}

static uint64_t likeness(void *arg)
{
    const struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct map_options *o = follow_map_options(app->follow);
    buf_auto struct buf text = BUF_EMPTY;
    mem_auto const char **components = map_sorted_keys(&app->ttls);
    char domain[NAME_TEXT_MAX];
    buf_addf(&text, "%s %u %u %d%d%d%d%d", name_to_text(o->domain, domain), o->ttl_s, o->max_answers,
             o->has_service_names, o->has_port_names, o->has_mapped_aaaa, o->has_api_cname,
             o->has_one_address);
    for (unsigned i = DNS_TTL_NONE + 1; i < DNS_N_TTLS; i++)
        add_type_ttl(&text, &o->type_ttls[i]);
    for (size_t i = 0; components[i]; i++) {
        uint32_t ttl_s = 0;
        o->component_ttl(o->ttl_arg, components[i], &ttl_s);
        buf_addf(&text, " %s %u", components[i], ttl_s);
    }
    return sum_bytes(SUM_START, buf_cstr(&text), text.len) + masters_likeness(app->masters);
}

/* ---- the image ---- */

/* Raise the serial of a zone of the image above the zone's, and the zone's above that. A zone that is only a file keeps its own. */
static void pass_serial(struct dnsd *app, struct zone_image *image, unsigned i, struct zone_tx *tx)
{
    struct zone_info old, now;
    zone_version_info(zone_image_version(image), i, &old);
    int zone = old.kind == ZONE_GONE ? ERR_NOTFOUND : zoneset_zone(app->zones, old.apex);
    if (zone < 0)
        return;
    zone_version_info(zoneset_newest(app->zones), (unsigned)zone, &now);
    if (now.kind == ZONE_FILE && now.serial == old.serial)
        return;
    zone_image_set_serial(image, i, now.serial + 1);
    zone_tx_raise_serial(tx, zone, now.serial + 2);
}

static void use_image(struct dnsd *app, struct zone_image *take_image)
{
    const struct zone_image_about about = *zone_image_about(take_image);
    int64_t age_ms = image_file_age_ms(&about);
    unsigned flags = follow_image(app->follow, age_ms);
    struct zone_tx *tx = zone_tx_begin(app->zones);
    for (unsigned i = 0; i < zone_version_n_zones(zone_image_version(take_image)); i++)
        pass_serial(app, take_image, i, tx);
    app->has_image = true; /* the gate closes */
    zone_tx_commit(tx, flags, NULL);
    zoneset_use_image(app->zones, take_image, flags);
    log_emit(&ev_feed_image, LOG_INT("records", (int64_t)about.n_records), LOG_INT("age_ms", age_ms));
}

/* Not used when no serial can be reserved for it, nor when it has no records: then it could only answer NXDOMAIN. */
static void open_image(struct dnsd *app, const char *snapshot)
{
    mem_auto char *path = snapshot_image_path(snapshot);
    struct zone_image *image;
    struct err_info why;
    int err = serials_error(app->serials) ? ERR_NOTFOUND
                                          : image_file_read(daemon_loop(app->daemon), path, &image, &why);
    if (err == ERR_NOTFOUND)
        return;
    if (err) {
        log_emit(&ev_dns_nothing_kept, LOG_ERR(&why));
        return;
    }
    const struct zone_image_about about = *zone_image_about(image);
    bool is_alike = about.likeness == likeness(app);
    if (is_alike && about.n_records) {
        use_image(app, image);
        return;
    }
    if (!is_alike)
        log_emit(&ev_dns_image_unlike, LOG_STR("file", path));
    zone_image_free(image);
}

bool dnsd_is_on_image(const struct dnsd *app)
{
    struct follow_state state;
    if (!app->has_image || !app->follow)
        return false;
    follow_state(app->follow, &state);
    return !state.is_filled;
}

/* ---- the records ---- */

static char *snapshot_path(struct dnsd *app)
{
    const struct options *o = daemon_options(app->daemon);
    const char *file = opt_text(o, OPT_SNAPSHOT_FILE);
    mem_auto char *leaf = mem_fmt("%s.snapshot", opt_text(o, OPT_DOMAIN));
    return file ? mem_str(file) : dnsd_data_path(app, leaf);
}

static void on_restored(void *arg, int err, const struct err_info *why)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    mem_auto char *path = snapshot_path(app);
    struct snapshots_def def = {.loop = daemon_loop(app->daemon),
                                .follow = app->follow,
                                .zones = app->zones,
                                .path = path,
                                .interval_ms = opt_ms(daemon_options(app->daemon), OPT_SNAPSHOT_INTERVAL),
                                .likeness = likeness,
                                .arg = app};
    app->restore = NULL;
    if (err && err != ERR_NOTFOUND)
        log_emit(&ev_dns_nothing_kept, LOG_ERR(why));
    app->snapshots = snapshots_new(&def);
    follow_begin(app->follow);
}

void dnsd_restore_start(struct dnsd *app)
{
    mem_auto char *path = snapshot_path(app);
    struct snapshot_restore_def def = {daemon_loop(app->daemon), app->follow, path, on_restored, app};
    if (path) {
        open_image(app, path);
        app->restore = snapshot_restore_start(&def);
    }
    dnsd_changed(app);
    if (!path)
        follow_begin(app->follow);
}
