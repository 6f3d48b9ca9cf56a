/** ComponentInformation, and the numbers of one component: see live.h. */
#include "base/mem.h"
#include "base/obj.h"
#include "slider/conf.h"
#include "slider/model.h"
#include "slider/live.h"
#include "slider/live_parts.h"

/** "Failure container_1 on host n1 (1): http://…"; "" when there was none. free() */
static char *failure_message(const struct slider_look *look, const struct eng_component *c)
{
    const struct eng_past *p = eng_component_last_failure(c);
    const struct eng_instance *inst = p ? NULL : eng_component_failing(c);
    struct eng_past last;
    if (inst && slider_last_of(inst, &last))
        p = &last;
    if (!p)
        return mem_str("");
    mem_auto char *log_url = slider_log_url(look, c->service, p->container_id, p->node_http);
    return mem_fmt("Failure %s on host %s (%lld): %s", p->container_id, p->host ? p->host : "",
                   (long long)slider_exit_code(p->exit), log_url ? log_url : "");
}

void slider_write_component(struct jw *w, const struct slider_look *look, const struct eng_component *c)
{
    const struct eng_totals *t = &c->totals;
    struct slider_counts n = slider_counts_of(c);
    mem_auto char *failure = failure_message(look, c);
    jw_kstr(w, "name", eng_component_title(c));
    jw_kint(w, "priority", slider_priority_of(c));
    jw_kint(w, "desired", n.desired);
    jw_kint(w, "actual", n.actual);
    jw_kint(w, "requested", n.requested);
    jw_kint(w, "releasing", n.releasing);
    jw_kint(w, "placementPolicy", slider_placement_of(c));
    jw_kint(w, "failed", t->n_failed);
    jw_kint(w, "failedRecently", slider_recent_failures(c, look->now_ms));
    jw_kint(w, "startFailed", t->n_start_failed);
    jw_kint(w, "nodeFailed", t->n_node_failed);
    jw_kint(w, "preempted", t->n_preempted);
    jw_kint(w, "started", t->n_started);
    jw_kint(w, "completed", t->n_released);
    jw_kint(w, "totalRequested", t->n_requested);
    jw_kint(w, "pendingAntiAffineRequestCount", n.n_pending);
    jw_kbool(w, "isAARequestOutstanding", n.is_asked);
    jw_kstr(w, "failureMessage", failure);
}

void slider_write_master_component(struct jw *w)
{
    static const char *const zeros[] = {"failed", "failedRecently", "startFailed", "nodeFailed", "preempted"};
    jw_kstr(w, "name", SLIDER_MASTER);
    jw_kint(w, "priority", 0);
    jw_kint(w, "desired", 1);
    jw_kint(w, "actual", 1);
    jw_kint(w, "requested", 0);
    jw_kint(w, "releasing", 0);
    jw_kint(w, "placementPolicy", SLIDER_PLACE_NOT_FLEXED);
    for (size_t i = 0; i < ARRAY_LEN(zeros); i++)
        jw_kint(w, zeros[i], 0);
    jw_kint(w, "started", 1);
    jw_kint(w, "completed", 0);
    jw_kint(w, "totalRequested", 0);
    jw_kint(w, "pendingAntiAffineRequestCount", 0);
    jw_kbool(w, "isAARequestOutstanding", false);
    jw_kstr(w, "failureMessage", "");
}

/* ---- liveness ---- */

/** What is open, of one or of all components. */
struct open {
    int64_t desired, actual, n_lacking, requested, last_started_ms;
};

static void add_open(struct open *o, const struct eng_component *c)
{
    struct slider_counts n = slider_counts_of(c);
    o->desired += n.desired;
    o->actual += n.actual;
    o->n_lacking += n.desired > n.actual ? n.desired - n.actual : 0;
    o->requested += n.requested;
    if (c->totals.last_started_ms > o->last_started_ms)
        o->last_started_ms = c->totals.last_started_ms;
}

static void write_open(struct jw *w, const struct open *o)
{
    jw_kbool(w, "allRequestsSatisfied", o->n_lacking == 0);
    jw_kint(w, "requestsOutstanding", o->n_lacking);
    jw_kint(w, "activeRequests", o->requested);
    jw_kint(w, "lastAllocationTime", o->last_started_ms);
}

static void write_room(struct jw *w, const struct face_room *room)
{
    if (!room->is_known)
        return;
    jw_literal_key(w, "availableResource");
    jw_object(w);
    jw_kint(w, "memory", room->memory_mb);
    jw_kint(w, "virtualCores", room->vcores);
    jw_object_end(w);
}

void slider_write_liveness(struct jw *w, const struct slider_look *look, const struct eng_service *s)
{
    struct open o = {.n_lacking = !slider_has_master(s)};
    for (size_t i = 0; i < s->n_components; i++)
        add_open(&o, s->components[i]);
    jw_object(w);
    write_open(w, &o);
    write_room(w, &look->room);
    jw_object_end(w);
}

void slider_write_component_liveness(struct jw *w, const struct eng_component *c)
{
    struct open o = {.desired = !c, .actual = !c};
    if (c)
        add_open(&o, c);
    jw_object(w);
    write_open(w, &o);
    jw_kstr(w, "component", c ? eng_component_title(c) : SLIDER_MASTER);
    jw_kint(w, "desired", o.desired);
    jw_kint(w, "actual", o.actual);
    jw_object_end(w);
}

/* ---- statistics ---- */

void slider_write_statistics(struct jw *w, const struct eng_service *s)
{
    struct eng_totals t = {0};
    int64_t n_live = slider_has_master(s);
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        n_live += slider_counts_of(c).n_owned;
        t.n_released += c->totals.n_released;
        t.n_unplanned += c->totals.n_unplanned;
        t.n_started += c->totals.n_started;
        t.n_start_failed += c->totals.n_start_failed;
    }
    jw_object(w);
    jw_kint(w, "containers.live", n_live);
    jw_kint(w, "containers.completed", t.n_released);
    jw_kint(w, "containers.failed", t.n_unplanned);
    jw_kint(w, "containers.start.started", t.n_started);
    jw_kint(w, "containers.start.failed", t.n_start_failed);
    jw_kint(w, "containers.surplus", s->n_surplus);
    jw_kint(w, "containers.unknown.completed", s->n_unknown_ended);
    jw_object_end(w);
}

void slider_write_component_statistics(struct jw *w, const struct eng_component *c)
{
    static const struct eng_totals of_master = {.n_started = 1};
    const struct eng_totals *t = c ? &c->totals : &of_master;
    struct slider_counts n = {.desired = 1, .n_owned = 1};
    if (c)
        n = slider_counts_of(c);
    jw_object(w);
    jw_kint(w, "containers.active.requests", n.requested);
    jw_kint(w, "containers.anti-affine.pending", n.n_pending);
    jw_kint(w, "containers.completed", t->n_released);
    jw_kint(w, "containers.desired", n.desired);
    jw_kint(w, "containers.failed", t->n_failed);
    jw_kint(w, "containers.failed.node", t->n_node_failed);
    jw_kint(w, "containers.failed.recently", c ? c->n_failures : 0);
    jw_kint(w, "containers.live", n.n_owned);
    jw_kint(w, "containers.failed.preempted", t->n_preempted);
    jw_kint(w, "containers.requested", t->n_requested);
    jw_kint(w, "containers.start.started", t->n_started);
    jw_kint(w, "containers.start.failed", t->n_start_failed);
    jw_object_end(w);
}
