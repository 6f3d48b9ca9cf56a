/** What happened to an application, from an event on. The numbers of the events are those of its history (engine/history.h). */
#include "engine/history.h"
#include "slider/kit.h"
#include "slider/view.h"
#include "slider/view_parts.h"
#include "slider/wait.h"

static void write_event(struct jw *w, const struct eng_history_entry *e, int64_t number)
{
    jw_object(w);
    jw_kint(w, "number", number);
    jw_kint(w, "time", e->time_ms);
    jw_kstr(w, "object", e->object);
    jw_kstr(w, "what", e->what);
    if (e->why)
        jw_kstr(w, "why", e->why);
    jw_object_end(w);
}

/** Those from `since` on that are kept; since is more than the next number: all, as another application had that name. */
static void reply_events(struct http_req *req, struct face *face, const struct eng_service *s,
                         const struct eng_component *c)
{
    int64_t since = http_param_int(req, SLIDER_EVENTS_SINCE), next;
    int64_t first = eng_service_history_numbers(s, &next);
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    (void)face;
    (void)c;
    jw_object(&w);
    jw_literal_key(&w, "events");
    jw_array(&w);
    for (int64_t n = since > first && since <= next ? since : first; n < next; n++)
        write_event(&w, eng_service_history(s, (size_t)(n - first)), n);
    jw_array_end(&w);
    jw_kint(&w, "next", next);
    jw_object_end(&w);
    slider_reply_written(req, 200, &out);
}

/** Only who has an entity tag waits: for a change. */
static bool is_over(const struct eng_service *s, const struct eng_component *c)
{
    (void)s;
    (void)c;
    return true;
}

void slider_events_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    if (s)
        slider_read(req, face, s,
                    &(struct slider_read){
                        .is_over = is_over, .reply = reply_events, .timeout = SLIDER_EVENTS_TIMEOUT});
}
