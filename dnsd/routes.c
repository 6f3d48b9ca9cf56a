#include "routes.h"
#include "base/obj.h"

#define ANSWER(media_type, schema, prose)                                                                    \
    (const struct http_route_answer[])                                                                       \
    {                                                                                                        \
        {200, media_type, schema, prose},                                                                    \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
#define JSON "application/json"
#define ERRORS(...)                                                                                          \
    (const int[])                                                                                            \
    {                                                                                                        \
        __VA_ARGS__, 0                                                                                       \
    }

const struct http_route dnsd_routes[] = {
    {.method = "GET",
     .pattern = "/sync",
     .handle = dnsd_api_sync,
     .summary = "Wait until names are answered from a revision.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(SYNC_PARAMS),
     .answers = ANSWER(JSON, "State", "Names are answered from this revision."),
     .errors = ERRORS(ERR_TIMEOUT, ERR_GONE, ERR_PARSE)},
    {.method = "GET",
     .pattern = "/zones",
     .handle = dnsd_api_zones,
     .summary = "List the zones with serial, size and file.",
     .flags = HTTP_STRICT_QUERY,
     .answers = ANSWER(JSON, "Zones", "The zones.")},
    {.method = "GET",
     .pattern = "/stats",
     .handle = dnsd_api_stats,
     .summary = "Count records, names and queries.",
     .flags = HTTP_STRICT_QUERY,
     .answers = ANSWER(JSON, "Stats", "The counts.")},
    {.method = "GET",
     .pattern = "/dump",
     .handle = dnsd_api_dump,
     .summary = "Write one zone as a master file.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(DUMP_PARAMS),
     .answers = ANSWER("text/dns", NULL, "A master file."),
     .errors = ERRORS(ERR_NOTFOUND, ERR_UNAVAILABLE)},
    {.method = "GET",
     .pattern = "/explain",
     .handle = dnsd_api_explain,
     .summary = "Say why a name is answered as it is.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(EXPLAIN_PARAMS),
     .answers = ANSWER(JSON, "Explained", "From the registry's records to the answer."),
     .errors = ERRORS(ERR_NOTFOUND, ERR_UNAVAILABLE)},
    {.method = "POST",
     .pattern = "/reload",
     .handle = dnsd_api_reload,
     .summary = "Read master files, certificate and secrets again.",
     .flags = HTTP_STRICT_QUERY,
     .answers = ANSWER(JSON, "Reloaded", "Names are answered from the files as they are now."),
     .errors = ERRORS(ERR_CONFIG, ERR_IO, ERR_UNAVAILABLE)},
    {.method = "POST",
     .pattern = "/release",
     .handle = dnsd_api_release,
     .summary = "Let removals that the guard holds happen.",
     .flags = HTTP_STRICT_QUERY,
     .answers = ANSWER(JSON, "Released", "The held names are removed."),
     .errors = ERRORS(ERR_UNAVAILABLE)},
};
const size_t dnsd_n_routes = ARRAY_LEN(dnsd_routes);
