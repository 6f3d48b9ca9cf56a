/** The services of an engine, and what is kept of them beside: whose registry directory, whose children, what counts for
 *  quotas, who waits for others. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

/* ---- by application id ---- */

static void index_application(struct engine *e, struct eng_service *s)
{
    if (s->app_id)
        map_set(&e->applications, s->app_id, s);
}

static void forget_application(struct engine *e, const struct eng_service *s)
{
    if (s->app_id && map_get(&e->applications, s->app_id) == s)
        map_remove(&e->applications, s->app_id);
}

void services_set_application(struct engine *e, struct eng_service *s, char *take_id)
{
    forget_application(e, s);
    free(s->app_id);
    s->app_id = take_id;
    index_application(e, s);
}

void services_move_in(struct engine *e, const struct fld_type *type, struct eng_service *from,
                      struct eng_service *s)
{
    forget_application(e, s);
    fld_move(type, from, s);
    index_application(e, s);
}

const struct eng_service *engine_find_application(const struct engine *e, const char *application_id)
{
    return map_get(&e->applications, application_id);
}

/* ---- all ---- */

void services_add(struct engine *e, struct eng_service *s)
{
    mem_auto char *key = service_key(s->kind, s->user, s->name);
    map_set(&e->services, key, s);
    index_application(e, s);
    framework_add(e, s);
    homes_add(e, s);
    parents_add(e, s);
    quota_count(e, s);
}

void services_remove(struct engine *e, struct eng_service *s)
{
    mem_auto char *key = service_key(s->kind, s->user, s->name);
    map_remove(&e->services, key);
    forget_application(e, s);
    framework_remove(e, s);
    homes_remove(e, s);
    parents_remove(e, s);
    quota_forget(e, s);
    service_stop_waiting(e, s);
}
