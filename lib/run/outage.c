#include "run/outage.h"
#include "base/mem.h"
#include "run/loop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

struct outage {
    TAILQ_ENTRY(outage) link;
    const struct outage_def *def;
    struct metrics *metrics;
    int64_t since_ms; /* wall clock; 0: none lasts */
    int64_t begun_ms, logged_ms;
    int64_t n_tries;
    char *reason;
};

struct outages {
    TAILQ_HEAD(, outage) list;
    struct metrics *metrics;
};

struct outages *outages_new(struct metrics *metrics)
{
    struct outages *s = mem_new(struct outages);
    TAILQ_INIT(&s->list);
    s->metrics = metrics;
    return s;
}

void outages_free(struct outages *s)
{
    struct outage *o;
    if (!s)
        return;
    while ((o = TAILQ_FIRST(&s->list))) {
        TAILQ_REMOVE(&s->list, o, link);
        free(o->reason);
        free(o);
    }
    free(s);
}

static void set_metrics(const struct outage *o)
{
    metric_set(o->metrics, o->def->up_row, o->since_ms == 0);
    metric_set(o->metrics, o->def->since_row, o->since_ms / 1000);
}

struct outage *outage_new(struct outages *s, const struct outage_def *def)
{
    struct outage *o = mem_new(struct outage);
    o->def = def;
    o->metrics = s->metrics;
    TAILQ_INSERT_TAIL(&s->list, o, link);
    set_metrics(o);
    return o;
}

/* An error without a text has that of its code. */
static const char *text_of(const struct err_info *why)
{
    return why->text[0] ? why->text : err_text(why->code);
}

/* The text of an error does not always name the server. */
static char *reason_of(const char *url, const struct err_info *why)
{
    const char *text = text_of(why);
    return strstr(text, url) ? mem_str(text) : mem_fmt("%s: %s", url, text);
}

static void begin(struct outage *o, const char *url, const struct err_info *why, int64_t now_ms)
{
    o->since_ms = run_wall_ms();
    o->begun_ms = o->logged_ms = now_ms;
    o->n_tries = 1;
    set_metrics(o);
    log_emit(o->def->begins, LOG_STR("url", url), LOG_STR("error", text_of(why)));
}

void outage_fails(struct outage *o, const char *url, const struct err_info *why, int64_t now_ms)
{
    free(o->reason);
    o->reason = reason_of(url, why);
    if (!o->since_ms) {
        begin(o, url, why, now_ms);
        return;
    }
    o->n_tries++;
    if (now_ms - o->logged_ms < OUTAGE_AGAIN_MS)
        return;
    o->logged_ms = now_ms;
    log_emit(o->def->lasts, LOG_STR("url", url), LOG_STR("error", text_of(why)),
             LOG_INT("lasts_s", (now_ms - o->begun_ms) / 1000), LOG_INT("tries", o->n_tries));
}

bool outage_ends(struct outage *o, const char *url, int64_t now_ms)
{
    if (!o->since_ms)
        return false;
    o->since_ms = 0;
    mem_free_ptr(&o->reason);
    set_metrics(o);
    log_emit(o->def->ends, LOG_STR("url", url), LOG_INT("lasted_s", (now_ms - o->begun_ms) / 1000),
             LOG_INT("tries", o->n_tries));
    return true;
}

bool outage_lasts(const struct outage *o)
{
    return o->since_ms != 0;
}

int64_t outage_since_ms(const struct outage *o)
{
    return o->since_ms;
}

const char *outage_reason(const struct outage *o)
{
    return o->reason ? o->reason : "";
}

void outage_time(int64_t wall_ms, struct buf *out)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char text[32];
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    buf_add_str(out, text);
}

void outage_write(const struct outage *o, struct buf *out)
{
    if (!o->since_ms)
        return;
    buf_addf(out, "%s (since ", o->reason);
    outage_time(o->since_ms, out);
    buf_add_char(out, ')');
}

void outages_write(const struct outages *s, const char *separator, struct buf *out)
{
    const struct outage *o;
    size_t n = 0;
    TAILQ_FOREACH (o, &s->list, link) {
        if (!o->since_ms)
            continue;
        buf_addf(out, "%s%s is missing: ", n++ ? separator : "", o->def->of);
        outage_write(o, out);
    }
}
