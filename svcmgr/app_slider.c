/* The Slider API outside of its face: its configuration, records in the registry, and what an application master answers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slider/kit.h"
#include "slider/routes.h"
#include "slider/site.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

#define SLIDER_CLASS "org-apache-slider" /* of the records of its applications */

/** What struct slider_site borrows. */
struct app_slider {
    struct slider_site site;
    char *own_url, *host;
};

void app_slider_open(struct app *a)
{
    struct app_slider *s = mem_new(struct app_slider);

    s->own_url = app_own_url(a);
    const char *host = strstr(s->own_url, "://") + 3;
    s->host = mem_strn(host, strcspn(host, ":/"));
    s->site = (struct slider_site){.own_url = s->own_url, .host = s->host};
    a->slider = s;
    a->face.slider = &s->site;
}

void app_slider_close(struct app *a)
{
    if (!a->slider)
        return;
    free(a->slider->own_url);
    free(a->slider->host);
    free(a->slider);
    a->slider = NULL;
    a->face.slider = NULL;
}

/* ---- records ---- */

/** URL of the svcmgr that has the documents: of an application master's manager. free() */
static char *manager_url(const struct app *a)
{
    const char *url = opt_text(daemon_options(a->daemon), OPT_MASTER_MANAGER);

    return a->master && url ? mem_str(url) : app_own_url(a);
}

void app_slider_record(struct app *a, struct eng_effect *e)
{
    const struct eng_service *s = engine_find(a->engine, e->service_kind, e->user, e->name);
    struct eng_record *r = e->record;

    if (!s || strcmp(s->registry_class, SLIDER_CLASS) != 0)
        return;
    const struct eng_component *c = r->component ? eng_service_component(s, r->component) : NULL;
    mem_auto char *url = manager_url(a);
    if (r->component && !c)
        return; /* the record of an instance whose component has gone */
    free(r->description);
    r->description = mem_str(c ? eng_component_title(c) : "Slider Application Master");
    if (!c)
        r->slider_root = mem_fmt("%s/proxy/%s/", url, s->app_id);
}

/* ---- an application master ---- */

static void to_manager(struct http_req *req, void *face)
{
    struct app *a = obj_cast(obj_cast(face, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);
    const struct eng_service *s = slider_find(req, &a->face);
    mem_auto char *manager = manager_url(a);
    buf_auto struct buf url = BUF_EMPTY;

    if (!s)
        return;
    buf_addf(&url, "%s/proxy/%s%s", manager, s->app_id, http_raw_path(req));
    slider_add_query(req, &url);
    slider_reply_redirect(req, 307, buf_cstr(&url));
}

static const struct http_route_answer redirected[] = {{307, NULL, NULL, "To svcmgr."}, {0}};

size_t app_slider_master_routes(struct http_route *to)
{
    for (size_t i = 0; i < slider_n_routes; i++) {
        to[i] = slider_routes[i];
        to[i].pattern += strlen(SLIDER_PROXY);
        to[i].handle = to_manager;
        to[i].answers = redirected;
    }
    return slider_n_routes;
}
