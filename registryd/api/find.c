#include "api/api.h"
#include "registryd/events.h"
#include "index/find.h"
#include "base/obj.h"

#include <string.h>

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000

/* Parameters of a search; those of the design document's command beside our own. */
static const struct {
    const char *name;
    enum index_kind kind;
} parameters[] = {
    {"api", INDEX_API},
    {"user", INDEX_USER},
    {"class", INDEX_CLASS},
    {"protocol", INDEX_PROTOCOL},
    {"component", INDEX_COMPONENT},
    {"id", INDEX_ID},
    {"endpointField.api", INDEX_API},
    {"-endpointField.api", INDEX_API},
    {"endpointField.protocol", INDEX_PROTOCOL},
    {"-endpointField.protocol", INDEX_PROTOCOL},
    {"endpointField.protocolType", INDEX_PROTOCOL},
    {"-endpointField.protocolType", INDEX_PROTOCOL},
};

/* The others that a search knows. */
static const char *const pages[] = {"format", "limit", "cursor"};
/* What every request may say: who the caller is, in the letters of any proxy. */
static const char *const callers[] = {"user.name", "doAs"};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        if (strcmp(name, parameters[i].name) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        if (strcmp(name, pages[i]) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(callers); i++)
        if (strcasecmp(name, callers[i]) == 0)
            return true;
    return false;
}

/* A term that is passed over would find too much. */
static int check_names(const struct http_req *req, struct err_info *why)
{
    size_t n = 0;
    const char *name;
    buf_auto struct buf list = BUF_EMPTY;
    while ((name = http_query_name(req, n)) && is_known(name))
        n++;
    if (!name)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        buf_addf(&list, "%s, ", parameters[i].name);
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        buf_addf(&list, "%s%s", i ? ", " : "", pages[i]);
    return err_set(why, ERR_USAGE, name, "\"%.100s\" is no parameter of a search; there are: %s", name,
                   buf_cstr(&list));
}

static int read_terms(struct http_req *req, struct find_def *def, struct err_info *why)
{
    bool has_any = false;
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++) {
        const char *value = http_query(req, parameters[i].name);
        const char **term = &def->terms[parameters[i].kind];
        if (value && *term && strcmp(value, *term) != 0)
            return err_set(why, ERR_USAGE, parameters[i].name, "the same term is asked for with two values");
        if (value)
            *term = value;
        has_any = has_any || value;
    }
    if (has_any)
        return 0;
    return err_set(why, ERR_USAGE, "",
                   "a search needs at least one of api, user, class, protocol, component, id");
}

static int read_find(struct registryd *app, struct http_req *req, struct find_def *def, struct err_info *why)
{
    const char *format = http_query(req, "format"), *cursor = http_query(req, "cursor");
    int err = check_names(req, why);
    err = err ? err : read_terms(req, def, why);
    if (!err && format && strcmp(format, "http_sd") != 0 && strcmp(format, "records") != 0)
        err = err_set(why, ERR_USAGE, "format", "\"%s\" is neither records nor http_sd", format);
    if (err)
        return err;
    def->form = format && strcmp(format, "http_sd") == 0 ? FIND_HTTP_SD : FIND_RECORDS;
    if (def->form == FIND_HTTP_SD && (cursor || http_query(req, "limit")))
        return err_set(why, ERR_USAGE, "format",
                       "format=http_sd has no pages: it goes with neither limit nor cursor");
    def->limit = INT64_MAX;
    if (def->form == FIND_RECORDS)
        err = http_query_int(req, "limit", LIMIT_DEFAULT, 1, LIMIT_MAX, &def->limit, why);
    if (!err && cursor)
        err = find_cursor_read(app->index, cursor, &def->after, why);
    return err;
}

void api_find(struct http_req *req, void *arg)
{
    struct registryd *app = arg;
    struct err_info why;
    struct find_def def = {.index = app->index, .mirror = app->mirror};
    if (!api_ready(app, req))
        return;
    int err = read_find(app, req, &def, &why);
    if (!err && !index_ready(app->index))
        err =
            err_set(&why, ERR_UNAVAILABLE, "", "the index of records is being built; try again in a moment");
    if (err) {
        api_refuse(app, req, err, &why);
        return;
    }
    metric_add(daemon_metrics(app->daemon), M_FINDS, 1);
    api_mirror_headers(app, req);
    find_reply(req, &def);
}
