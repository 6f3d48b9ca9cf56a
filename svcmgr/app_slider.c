/* The Slider API: its configuration. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "slider/site.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

/** What struct slider_site borrows. */
struct app_slider {
    struct slider_site site;
    char *registry_url;
};

void app_slider_open(struct app *a)
{
    struct app_slider *s = mem_new(struct app_slider);
    const char *urls = opt_text(daemon_options(a->daemon), OPT_REGISTRY_URL);

    s->registry_url = urls ? str_field(urls, ',', 0) : NULL;
    s->site = (struct slider_site){.registry_url = s->registry_url};
    a->slider = s;
    a->face.slider = &s->site;
}

void app_slider_close(struct app *a)
{
    if (!a->slider)
        return;
    free(a->slider->registry_url);
    free(a->slider);
    a->slider = NULL;
    a->face.slider = NULL;
}
