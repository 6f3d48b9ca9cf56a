/* The Slider API: its configuration. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "slider/site.h"
#include "slider/wait.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

/** What struct slider_site borrows. */
struct app_slider {
    struct slider_site site;
    char *registry_url, *own_url, *host;
};

void app_slider_open(struct app *a)
{
    struct app_slider *s = mem_new(struct app_slider);
    const char *urls = opt_text(daemon_options(a->daemon), OPT_REGISTRY_URL);

    s->registry_url = urls ? str_field(urls, ',', 0) : NULL;
    s->own_url = app_own_url(a);
    const char *host = strstr(s->own_url, "://") + 3;
    s->host = mem_strn(host, strcspn(host, ":/"));
    s->site = (struct slider_site){.own_url = s->own_url, .host = s->host, .registry_url = s->registry_url};
    a->slider = s;
    a->face.slider = &s->site;
    a->face.slider_waits = slider_waits_new(a->loop);
}

void app_slider_close(struct app *a)
{
    if (!a->slider)
        return;
    slider_waits_free(a->face.slider_waits);
    a->face.slider_waits = NULL;
    free(a->slider->registry_url);
    free(a->slider->own_url);
    free(a->slider->host);
    free(a->slider);
    a->slider = NULL;
    a->face.slider = NULL;
}
