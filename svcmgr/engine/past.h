/**
 * Containers of a service that have ended, in this incarnation and since this program has run: the last PAST_MAX ones, and the last
 * one of each component that has failed. Only where the policy remembers them (eng_policy.remembers_containers); not stored.
 *
 * Thread: the engine's.   Source: slider-am 6.4, 6.6.
 */
#ifndef ENGINE_PAST_H
#define ENGINE_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/objects.h"

#define PAST_MAX 1000

/** A container that has ended. Texts are NULL where they are not known; times are of day. */
struct eng_past {
    char *container_id, *component, *version;
    char *host, *node_http;
    int64_t allocated_ms, launched_ms, ended_ms;
    enum eng_placing placing; /* how it was asked for */
    bool is_released;         /* it ended as it was wanted */
    struct eng_exit *exit;    /* NULL: it was released */
};

/** The one that ended i-th, oldest first; NULL: there are not so many. [borrowed until the next step] */
const struct eng_past *eng_service_past(const struct eng_service *s, size_t i);
/** The one of a component that has failed last; NULL: none has. [borrowed until the next step] */
const struct eng_past *eng_component_last_failure(const struct eng_component *c);
/** The instance of a component whose last process has failed last, what has not come up again before others; of it the exit and the
 *  container are known where nothing else is remembered: its application master runs it. NULL: there is none. [borrowed] */
const struct eng_instance *eng_component_failing(const struct eng_component *c);

#endif
