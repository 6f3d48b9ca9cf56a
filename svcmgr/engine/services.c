/** The services of an engine, and what is kept of them beside: whose registry directory, whose children, what counts for
 *  quotas, who waits for others. */
#include "base/mem.h"
#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

void services_add(struct engine *e, struct eng_service *s)
{
    mem_auto char *key = service_key(s->kind, s->user, s->name);
    map_set(&e->services, key, s);
    framework_add(e, s);
    homes_add(e, s);
    parents_add(e, s);
    quota_count(e, s);
}

void services_remove(struct engine *e, struct eng_service *s)
{
    mem_auto char *key = service_key(s->kind, s->user, s->name);
    map_remove(&e->services, key);
    framework_remove(e, s);
    homes_remove(e, s);
    parents_remove(e, s);
    quota_forget(e, s);
    service_stop_waiting(e, s);
}
