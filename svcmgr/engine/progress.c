/**
 * How far a service has come: the share of its instances that have ended by themselves, unless a request has said it
 * (EV_PROGRESS). What has ended well or failed has come to its end, whatever was said.
 * Source: framework-launcher 5.11.
 */
#include "engine/service.h"
#include "engine/component.h"
#include "engine/history.h"

int64_t eng_service_progress_ppm(const struct eng_service *s)
{
    int64_t n_ended = 0, n = 0;
    if (s->state == SVC_SUCCEEDED || s->state == SVC_FAILED)
        return ENG_PROGRESS_ALL;
    if (s->has_progress)
        return s->progress_ppm;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        int64_t n_there = (int64_t)c->n_instances, n_wanted = c->spec->number_of_containers;
        n_ended += component_count(c, STATE_BIT(INST_SUCCEEDED) | STATE_BIT(INST_FAILED));
        n += service_is_running(s) && n_wanted > n_there ? n_wanted : n_there;
    }
    return n > 0 ? n_ended * ENG_PROGRESS_ALL / n : 0;
}

void progress_request(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    s->has_progress = true;
    s->progress_ppm = ev->progress_ppm;
    step_want(st, s);
    step_answer(st, ev->token, OUT_PROGRESS_SET, s)->n_new = ev->progress_ppm;
}
