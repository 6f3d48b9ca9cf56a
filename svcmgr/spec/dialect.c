/** The rows of the dialect table: see dialect.h. */
#include "spec/dialect.h"

#include <string.h>

#include "base/obj.h"

static const struct dialect dialects[] = {
    {.name = "seed",
     .service_stable = "READY",
     .container_started = "STARTED",
     .container_init = "INIT",
     .component_stopped = "STOPPED",
     .shows_upgrades = false,
     .component_name_max = 63,
     .component_name_max_unique = 44,
     .lifetime_from_started = true,
     .lifetime_destroys = true,
     .answers_with_body = false,
     .strict_codes = false},
    {.name = "hadoop3",
     .service_stable = "STABLE",
     .container_started = "RUNNING_BUT_UNREADY",
     .container_init = NULL,
     .component_stopped = NULL,
     .shows_upgrades = true,
     .component_name_max = 44,
     .component_name_max_unique = 44,
     .lifetime_from_started = false,
     .lifetime_destroys = false,
     .answers_with_body = true,
     .strict_codes = true},
};

const struct dialect *dialect_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    }
    return NULL;
}
