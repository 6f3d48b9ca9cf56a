#include "app.h"
#include "events.h"
#include "options.h"
#include "keys/keys.h"

#include "base/obj.h"

#include <malloc.h>

static const struct opt_def option_rows[] = {OPTIONS_ROWS(REGISTRYD_OPTIONS)};
static const struct metric_def metric_rows[] = {METRICS_ROWS(REGISTRYD_METRICS)};

int main(int argc, char **argv)
{
    const struct daemon_def def = {.name = "registryd",
                                   .summary = "Keeps the YARN service registry and serves it over REST.",
                                   .options = option_rows,
                                   .n_options = ARRAY_LEN(option_rows),
                                   .known = keys_known,
                                   .metrics = metric_rows,
                                   .n_metrics = ARRAY_LEN(metric_rows),
                                   .steps = registryd_steps,
                                   .n_steps = registryd_n_steps,
                                   .app_size = sizeof(struct registryd),
                                   .app_magic = REGISTRYD_MAGIC};
    /* One arena: what one thread allocates another one frees, and arenas of their own would mostly hold free memory. */
    mallopt(M_ARENA_MAX, 1);
    return daemon_main(&def, argc, argv);
}
