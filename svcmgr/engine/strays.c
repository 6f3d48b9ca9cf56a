/**
 * Containers of an application that none of its instances has, counted where ended containers are remembered: such that came beyond what was
 * asked for, and ends of such that it has never had. A report that is repeated is of neither kind. Source: slider-am 5.5, 6.6.
 */
#include <string.h>

#include "base/str.h"
#include "engine/instance.h"
#include "engine/policy.h"
#include "engine/step.h"

#define CONTAINER "container_"
#define DIGITS    "0123456789"

/** "application_1_0001" of "container_1_0001_01_000002" or "container_e17_1_0001_01_000002". free(); NULL: it is none */
static char *application_of(const char *container_id)
{
    const char *p = str_starts(container_id, CONTAINER) ? container_id + strlen(CONTAINER) : "";
    size_t n_epoch = *p == 'e' ? 1 + strspn(p + 1, DIGITS) : 0;
    p += n_epoch + (n_epoch && p[n_epoch] == '_');
    size_t n = strspn(p, DIGITS);
    if (n == 0 || p[n] != '_')
        return NULL;
    n += 1 + strspn(p + n + 1, DIGITS);
    return mem_fmt("application_%.*s", (int)n, p);
}

/** The service whose last application a container is of, where strays are counted; NULL: there is none. */
static struct eng_service *owner_of(const struct step *st, const char *container_id)
{
    mem_auto char *application = application_of(container_id);
    struct eng_service *s = application ? map_get(&st->e->applications, application) : NULL;
    return s && policy_of(s->kind)->remembers_containers ? s : NULL;
}

/** One came that nobody asks for. */
static void allocated(struct step *st, const char *container_id)
{
    struct eng_service *s = owner_of(st, container_id);
    if (!s || map_get(&s->surplus, container_id) || pasts_has(s, container_id))
        return;
    map_set(&s->surplus, container_id, s);
    s->n_surplus++;
    step_touch(st, s);
}

/** The end of one was reported. */
static void ended(struct step *st, const char *container_id)
{
    struct eng_service *s = owner_of(st, container_id);
    if (!s || map_remove(&s->surplus, container_id) || pasts_has(s, container_id))
        return;
    s->n_unknown_ended++;
    step_touch(st, s);
}

void strays_event(struct step *st, const struct eng_event *ev)
{
    bool running = ev->kind == EV_RUNNING || (ev->kind == EV_RECOVERED && ev->found == FOUND_RUNNING);
    if (ev->kind == EV_ALLOCATED)
        allocated(st, ev->container_id);
    else if (ev->kind == EV_EXITED || ev->kind == EV_LOST)
        ended(st, ev->container_id);
    if (ev->kind != EV_ALLOCATED && !running) {
        if (ev->kind != EV_PROBE)
            step_note(st, NULL, "%s for unknown container %s ignored", eng_event_word(ev->kind),
                      ev->container_id);
        return;
    }
    step_emit(st, running ? EFF_STOP : EFF_RELEASE, NULL)->container_id = mem_str(ev->container_id);
}

void strays_forget(struct eng_service *s)
{
    map_fini(&s->surplus, NULL);
    s->n_surplus = s->n_unknown_ended = 0;
}
