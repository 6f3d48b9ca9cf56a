/**
 * The differences between the two dialects of the services API, as data: one row a dialect; no code branches on the dialect.
 *
 * Source: YARN services API (the `seed` document) and Apache Hadoop 3's services REST API.
 */
#ifndef SPEC_DIALECT_H
#define SPEC_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

struct dialect {
    const char *name; /* value of yarn.service.api-server.dialect */
    /* names of states */
    const char *service_stable;    /* READY or STABLE                */
    const char *container_started; /* STARTED or RUNNING_BUT_UNREADY */
    const char *container_init;    /* INIT; NULL: a container is listed when its process has started */
    /* of an ended service, not ended itself; NULL: left out, there is no word */
    const char *component_stopped;
    bool shows_upgrades; /* states of an upgrade; else those of what runs meanwhile */
    /* validation, when hadoop.registry.dns.enabled */
    size_t component_name_max;        /* characters */
    size_t component_name_max_unique; /* where unique_component_support is set */
    /* life */
    bool lifetime_from_started; /* else from submission */
    bool lifetime_destroys;     /* else the expired service is stopped and its definition kept */
    /* answers */
    bool answers_with_body; /* success of PUT and DELETE: 200/202 with a body, else 204 */
    bool strict_codes;      /* error codes of Hadoop 3 where they differ */
};

/** The dialect of a name, or NULL. Static. Thread: any. */
const struct dialect *dialect_find(const char *name);

#endif
