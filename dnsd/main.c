#include "app.h"
#include "events.h"
#include "options.h"
#include "keys/keys.h"
#include "base/obj.h"

#include <malloc.h>

static const struct opt_def option_rows[] = {OPTIONS_ROWS(DNSD_OPTIONS)};
static const struct metric_def metric_rows[] = {METRICS_ROWS(DNSD_METRICS) NET_COUNTERS(
    DNSD_NET_METRIC_ROW) FORWARD_COUNTERS(DNSD_NET_METRIC_ROW) TAP_COUNTERS(DNSD_NET_METRIC_ROW)};

int main(int argc, char **argv)
{
    const struct daemon_def def = {.name = "dnsd",
                                   .summary = "Answers DNS from the YARN service registry.",
                                   .options = option_rows,
                                   .n_options = ARRAY_LEN(option_rows),
                                   .known = keys_known,
                                   .metrics = metric_rows,
                                   .n_metrics = ARRAY_LEN(metric_rows),
                                   .steps = dnsd_steps,
                                   .n_steps = dnsd_n_steps,
                                   .reload = dnsd_reload,
                                   .app_size = sizeof(struct dnsd),
                                   .app_magic = DNSD_MAGIC};
    /* One arena: what one thread allocates another one frees, and arenas of their own would mostly hold free memory. */
    mallopt(M_ARENA_MAX, 1);
    return daemon_main(&def, argc, argv);
}
