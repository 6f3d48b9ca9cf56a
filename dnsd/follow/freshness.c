#include "follow/freshness.h"
#include "zone/zone.h"

bool freshness_is_stale(const struct freshness *f)
{
    return f->is_ready &&
           (!f->is_connected || !f->is_synced || f->is_store_away || f->is_behind || f->is_frozen);
}

int64_t freshness_stale_ms(const struct freshness *f, int64_t now_ms)
{
    return freshness_is_stale(f) ? now_ms - f->since_ms : 0;
}

int64_t freshness_left_ms(const struct freshness *f, int64_t now_ms)
{
    if (!freshness_is_stale(f) || !f->max_ms)
        return -1;
    int64_t left_ms = f->since_ms + f->max_ms - now_ms;
    return left_ms > 0 ? left_ms : 0;
}

void freshness_check(struct freshness *f, int64_t now_ms)
{
    f->is_expired = freshness_left_ms(f, now_ms) == 0;
}

/* A reason to be stale begins: the age counts from now unless there is one already. */
static void age_from(struct freshness *f, int64_t now_ms)
{
    if (!freshness_is_stale(f))
        f->since_ms = now_ms;
}

void freshness_init(struct freshness *f, int64_t max_ms)
{
    *f = (struct freshness){.max_ms = max_ms};
}

void freshness_image(struct freshness *f, int64_t age_ms, int64_t now_ms)
{
    f->since_ms = now_ms - age_ms;
    f->is_ready = true;
    freshness_check(f, now_ms);
}

void freshness_restored(struct freshness *f, int64_t age_ms, int64_t now_ms)
{
    f->since_ms = now_ms - age_ms;
    freshness_check(f, now_ms);
}

bool freshness_connected(struct freshness *f, bool is_connected, int64_t now_ms)
{
    if (f->is_connected == is_connected)
        return false;
    if (!is_connected)
        age_from(f, now_ms);
    f->is_connected = is_connected;
    f->is_just_back = is_connected && f->is_ready;
    freshness_check(f, now_ms);
    return true;
}

void freshness_heard(struct freshness *f)
{
    f->is_just_back = false;
}

void freshness_store(struct freshness *f, bool is_away, int64_t now_ms)
{
    if (is_away)
        age_from(f, now_ms);
    f->is_store_away = is_away;
    freshness_check(f, now_ms);
}

/* How old it is when the registry was away before the snapshot is known. */
void freshness_reset(struct freshness *f, int64_t now_ms)
{
    if (!f->is_just_back)
        age_from(f, now_ms);
    f->is_behind = true;
    freshness_check(f, now_ms);
}

bool freshness_frozen(struct freshness *f, bool is_frozen, int64_t now_ms)
{
    if (f->is_frozen == is_frozen)
        return false;
    if (is_frozen)
        age_from(f, now_ms);
    f->is_frozen = is_frozen;
    freshness_check(f, now_ms);
    return true;
}

void freshness_published(struct freshness *f, bool is_restored, bool is_behind, int64_t now_ms)
{
    f->is_ready = f->is_filled = true;
    f->is_synced |= !is_restored;
    f->is_behind = is_behind;
    freshness_check(f, now_ms);
}

unsigned freshness_flags(const struct freshness *f)
{
    if (!f->is_ready || f->is_expired)
        return 0;
    return ZONE_READY | (freshness_is_stale(f) ? ZONE_STALE : 0u);
}

const char *freshness_unready(const struct freshness *f)
{
    if (!f->is_ready)
        return "the registry was not read completely yet";
    return f->is_expired ? "what is known is older than hadoop.registry.dns.stale.max" : NULL;
}
