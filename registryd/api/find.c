#include "api/api.h"
#include "api/routes.h"
#include "registryd/events.h"
#include "index/find.h"
#include "base/obj.h"

#include <string.h>

/* Index that a term is looked up in, by the ids of FIND_PARAMS; the names of the design document's command beside our own. */
static const enum index_kind terms[] = {
    [FIND_API] = INDEX_API,
    [FIND_USER] = INDEX_USER,
    [FIND_CLASS] = INDEX_CLASS,
    [FIND_PROTOCOL] = INDEX_PROTOCOL,
    [FIND_COMPONENT] = INDEX_COMPONENT,
    [FIND_ID] = INDEX_ID,
    [FIND_FIELD_API] = INDEX_API,
    [FIND_DASH_API] = INDEX_API,
    [FIND_FIELD_PROTOCOL] = INDEX_PROTOCOL,
    [FIND_DASH_PROTOCOL] = INDEX_PROTOCOL,
    [FIND_FIELD_TYPE] = INDEX_PROTOCOL,
    [FIND_DASH_TYPE] = INDEX_PROTOCOL,
};

#define PARAM_NAME(id, name, ...) [id] = name,
static const char *const names[] = {FIND_PARAMS(PARAM_NAME)};

static int read_terms(const struct http_req *req, struct find_def *def, struct err_info *why)
{
    bool has_any = false;
    for (int id = 0; id < (int)ARRAY_LEN(terms); id++) {
        const char *value = http_param_text(req, id);
        const char **term = &def->terms[terms[id]];
        if (value && *term && strcmp(value, *term) != 0)
            return err_set(why, ERR_USAGE, names[id], "the same term is asked for with two values");
        if (value)
            *term = value;
        has_any = has_any || value;
    }
    if (has_any)
        return 0;
    return err_set(why, ERR_USAGE, "",
                   "a search needs at least one of api, user, class, protocol, component, id");
}

static int read_find(struct api *api, const struct http_req *req, struct find_def *def, struct err_info *why)
{
    const char *cursor = http_param_text(req, FIND_CURSOR);
    bool is_paged = cursor || http_param_given(req, FIND_LIMIT);
    int err = read_terms(req, def, why);
    if (err)
        return err;
    def->form = http_param_choice(req, FIND_FORMAT) == FORMAT_HTTP_SD ? FIND_HTTP_SD : FIND_RECORDS;
    if (def->form == FIND_HTTP_SD && is_paged)
        return err_set(why, ERR_USAGE, "format",
                       "format=http_sd has no pages: it goes with neither limit nor cursor");
    def->limit = def->form == FIND_HTTP_SD ? INT64_MAX : http_param_int(req, FIND_LIMIT);
    return cursor ? find_cursor_read(api->index, cursor, &def->after, why) : 0;
}

void api_find(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    struct find_def def = {.index = api->index, .mirror = api->mirror};
    if (!api_ready(api, req))
        return;
    int err = read_find(api, req, &def, &why);
    if (!err && !index_ready(api->index))
        err =
            err_set(&why, ERR_UNAVAILABLE, "", "the index of records is being built; try again in a moment");
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    metric_add(api->metrics, M_FINDS, 1);
    api_mirror_headers(api, req);
    find_reply(req, &def);
}
