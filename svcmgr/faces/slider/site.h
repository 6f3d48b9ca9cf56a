/**
 * How the Slider API is configured. The app fills it once at its start.
 *
 * Thread: owner; nobody changes it afterwards.   Source: slider-am 1.6, 9.
 */
#ifndef SLIDER_SITE_H
#define SLIDER_SITE_H

/** All texts are borrowed, for as long as it lives. */
struct slider_site {
    const char *own_url; /* "http://host:9191" of this server */
    const char *host;    /* its host */
};

#endif
