#include "http/limits.h"

#define ROW_ONE(id, ...) ROW_##id,
enum { HTTP_OPTIONS(ROW_ONE, "") N_ROWS };

void http_limits_read(const struct options *o, int first, const char *prefix, struct http_limits *out)
{
    *out = (struct http_limits){
        .prefix = prefix,
        .body_budget = (size_t)opt_int(o, first + ROW_OPT_HTTP_BODY_BUDGET),
        .body_min_rate = opt_int(o, first + ROW_OPT_HTTP_BODY_MIN_RATE),
        .body_window_ms = opt_ms(o, first + ROW_OPT_HTTP_BODY_WINDOW),
        .head_timeout_ms = opt_ms(o, first + ROW_OPT_HTTP_HEAD_TIMEOUT),
        .hosts = opt_text(o, first + ROW_OPT_HTTP_HOSTS),
        .per_address = (size_t)opt_int(o, first + ROW_OPT_HTTP_PER_ADDRESS),
    };
}
