/** What happened to a service, from an event on: see services.h. The numbers of the events are those of its history (engine/history.h). */
#include "base/mem.h"
#include "engine/history.h"
#include "faces/services.h"
#include "faces/services_kit.h"
#include "faces/services_wait.h"

static json_t *view_event(const struct eng_history_entry *e, int64_t number)
{
    json_t *v = json_pack("{s:I,s:I,s:s,s:s}", "number", (json_int_t)number, "time", (json_int_t)e->time_ms,
                          "object", e->object, "what", e->what);
    if (e->why)
        json_object_set_new(v, "why", json_string(e->why));
    return v;
}

/** Those from `since` on that are kept; since is more than the next number: all, as another service had that name. */
static json_t *view_events(const struct eng_service *s, int64_t since)
{
    int64_t next, first = eng_service_history_numbers(s, &next);
    json_t *list = json_array();
    for (int64_t number = since > first && since <= next ? since : first; number < next; number++)
        json_array_append_new(list, view_event(eng_service_history(s, (size_t)(number - first)), number));
    return list;
}

bool service_has_events(const struct eng_service *s, int64_t since)
{
    int64_t next, first = eng_service_history_numbers(s, &next);
    return since != next && first < next;
}

void service_reply_events(struct http_req *req, const struct eng_service *s, int64_t since)
{
    int64_t next;
    eng_service_history_numbers(s, &next);
    services_reply_json(req, 200,
                        json_pack("{s:o,s:I}", "events", view_events(s, since), "next", (json_int_t)next));
}

void service_events(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_name(req);
    const struct eng_service *s = name ? services_find(req, face, name, SERVICES_CODE_NOT_FOUND) : NULL;
    int64_t since = http_param_int(req, EVENTS_SINCE);
    if (!s)
        return;
    if (http_param_bool(req, EVENTS_WAIT) && !service_has_events(s, since))
        services_wait_events(req, face, s, since);
    else
        service_reply_events(req, s, since);
}
