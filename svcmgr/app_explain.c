/**
 * Why a service is not as wanted, as its application master says: what it asks for and what each request waits for is not stored, so
 * the manager asks the master, whose URL is in the document of the service.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/app_remote.h"

#define EXPLAINING_MAGIC OBJ_MAGIC('A', 'E', 'X', 'P')

/** A request that waits for the master. */
struct explaining {
    struct obj obj;
    void (*done)(void *arg, const json_t *list, const struct err_info *why);
    void *arg;
};

static void on_document(void *arg, const json_t *doc, const struct err_info *why)
{
    struct explaining *x = obj_cast(arg, struct explaining, EXPLAINING_MAGIC);
    const json_t *list = json_object_get(doc, "explain");
    struct err_info bad = *why;

    if (doc && !json_is_array(list))
        err_set(&bad, ERR_JSON, NULL, "its answer explains nothing");
    x->done(x->arg, json_is_array(list) ? list : NULL, &bad);
    obj_fini(&x->obj);
    free(x);
}

bool app_explain(void *app, const struct eng_service *s,
                 void (*done)(void *arg, const json_t *list, const struct err_info *why), void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    const struct eng_master *m = s->master;
    buf_auto struct buf url = BUF_EMPTY;

    if (!engine_is_away(a->engine, s) || !m || !m->url || !m->container_id || !s->app_id ||
        !app_remote_is_of(m->container_id, s->app_id))
        return false;
    struct explaining *x = mem_new(struct explaining);
    obj_init(&x->obj, EXPLAINING_MAGIC);
    x->done = done;
    x->arg = arg;
    if (s->request) { /* a framework; no name needs percent-encoding */
        buf_addf(&url, "%s/v1/Frameworks/%s/Explanation", m->url, eng_service_title(s));
    } else {
        buf_addf(&url, "%s/app/v1/services/%s", m->url, s->name);
        http_query_add(&url, "explain", "true");
    }
    http_query_add(&url, "user.name", s->user);
    app_remote_get(a, buf_cstr(&url), on_document, x);
    return true;
}
