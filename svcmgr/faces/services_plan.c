/** The answer to a request with plan=true: what it would do, as an object `Plan`. */
#include "engine/plan.h"

#include <stdlib.h>

#include "base/str.h"
#include "faces/services.h"
#include "faces/services_kit.h"
#include "json/json.h"

bool services_wants_plan(const struct http_req *req)
{
    const char *value = http_query(req, "plan");
    bool wants = false;
    return value && str_to_bool(value, &wants) == 0 && wants;
}

static void set_text(json_t *doc, const char *name, const char *text)
{
    if (text)
        json_object_set_new(doc, name, json_string(text));
}

static json_t *view_step(const struct eng_planned_step *s)
{
    json_t *doc = json_pack("{s:s,s:s,s:s}", "component_instance_name", s->instance, "component",
                            s->component, "action", eng_planned_word(s->action));
    set_text(doc, "from_version", s->from);
    set_text(doc, "to_version", s->to);
    set_text(doc, "after", s->after);
    if (s->drain_s)
        json_object_set_new(doc, "drain_seconds", json_integer(s->drain_s));
    if (s->at_ms)
        json_object_set_new(doc, "not_before_ms", json_integer(s->at_ms));
    return doc;
}

static json_t *view_steps(const struct eng_plan *plan)
{
    size_t n;
    const struct eng_planned_step *const *steps = eng_plan_steps(plan, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, view_step(steps[i]));
    return list;
}

/** What would be afterwards. */
static void add_outcome(json_t *doc, const struct eng_plan *plan, const struct services_pending *p)
{
    const struct eng_service *s = eng_plan_service(plan);
    set_text(doc, "from_version", eng_plan_version_before(plan));
    json_object_set_new(doc, "instances", view_steps(plan));
    json_object_set_new(doc, "complete", json_boolean(eng_plan_is_whole(plan)));
    if (!s)
        return;
    set_text(doc, "to_version", s->spec->version);
    set_text(doc, "state", services_state_word(s, p->dialect));
    json_object_set_new(doc, "waits",
                        eng_service_is_live(s) ? services_view_explain(s, p->face) : json_array());
}

json_t *services_view_plan(const struct eng_plan *plan, const struct services_pending *p)
{
    const struct eng_answer *a = eng_plan_answer(plan);
    buf_auto struct buf text = BUF_EMPTY;
    struct services_reply reply = services_answer(a, p->verb, p->dialect, &text);
    json_t *doc = json_pack("{s:b,s:i,s:s}", "accepted", reply.is_success, "status", reply.status,
                            "diagnostics", buf_cstr(&text));
    if (reply.is_success)
        add_outcome(doc, plan, p);
    return doc;
}

void services_planned(void *arg, const struct eng_plan *plan, int code)
{
    struct services_pending *p = obj_cast(arg, struct services_pending, SERVICES_PENDING_MAGIC);
    struct err_info why;
    if (p->req && plan)
        services_reply_json(p->req, 200, services_view_plan(plan, p));
    else if (p->req)
        http_reply_error(p->req,
                         err_set(&why, code, NULL, "%s",
                                 code == ERR_UNAVAILABLE
                                     ? "The service changes all the time, or too many plans are made at once"
                                     : err_text(code)),
                         &why);
    services_drop(p);
}
