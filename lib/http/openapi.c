#include "http/openapi.h"

#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "json/writer.h"

/** Errors of the checks before a handler, which any route may answer with. */
static const int check_errors[] = {ERR_PATH, ERR_USAGE, ERR_ORIGIN, ERR_TOOBIG, ERR_CANCELLED, 0};

#define STATUS_END 600

/** How an operation takes what the final star of its pattern stands for: a path of several elements. */
enum form { REST_IN_PATH, REST_IN_QUERY };

struct writer {
    const struct http_openapi_def *def;
    struct jw jw;
    struct map schemas;  /* name -> schema, those referred to */
    struct map security; /* name -> parameter that is a security scheme */
};

/* ---- schemas ---- */

#define SCHEMA_REF "#/components/schemas/"

static const struct http_schema *find_schema(const struct writer *w, const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(w->def->schemas); i++) {
        for (const struct http_schema *s = w->def->schemas[i]; s && s->name; s++) {
            if (strncmp(s->name, name, len) == 0 && s->name[len] == '\0')
                return s;
        }
    }
    return NULL;
}

/** Take a schema into the document, and those that its text refers to. */
static void note_schema(struct writer *w, const char *name, size_t len)
{
    const struct http_schema *schema = find_schema(w, name, len);
    BUG_IF(schema == NULL);
    if (map_set(&w->schemas, schema->name, (void *)(uintptr_t)schema))
        return;
    for (const char *at = schema->json; (at = strstr(at, SCHEMA_REF)); at += len) {
        at += strlen(SCHEMA_REF);
        len = strcspn(at, "\"");
        note_schema(w, at, len);
    }
}

static void write_schema_ref(struct writer *w, const char *schema)
{
    jw_key(&w->jw, "schema");
    jw_object(&w->jw);
    if (schema) {
        mem_auto char *ref = mem_fmt(SCHEMA_REF "%s", schema);
        jw_kstr(&w->jw, "$ref", ref);
        note_schema(w, schema, strlen(schema));
    }
    jw_object_end(&w->jw);
}

static void write_content(struct writer *w, const char *media_type, const char *schema)
{
    jw_key(&w->jw, "content");
    jw_object(&w->jw);
    jw_key(&w->jw, media_type);
    jw_object(&w->jw);
    write_schema_ref(w, schema);
    jw_object_end(&w->jw);
    jw_object_end(&w->jw);
}

static void write_schemes(struct writer *w)
{
    mem_auto const char **names = map_sorted_keys(&w->security);
    if (!*names)
        return;
    jw_key(&w->jw, "securitySchemes");
    jw_object(&w->jw);
    for (const char **name = names; *name; name++) {
        const struct http_param *p = map_get(&w->security, *name);
        jw_key(&w->jw, *name);
        jw_object(&w->jw);
        jw_kstr(&w->jw, "type", p->in == HTTP_AS_BASIC ? "http" : "apiKey");
        jw_kstr(&w->jw, "description", p->prose);
        if (p->in == HTTP_AS_BASIC) {
            jw_kstr(&w->jw, "scheme", "basic");
        } else {
            jw_kstr(&w->jw, "in", "header");
            jw_kstr(&w->jw, "name", p->name);
        }
        jw_object_end(&w->jw);
    }
    jw_object_end(&w->jw);
}

static void write_components(struct writer *w)
{
    mem_auto const char **names = map_sorted_keys(&w->schemas);
    jw_key(&w->jw, "components");
    jw_object(&w->jw);
    jw_key(&w->jw, "schemas");
    jw_object(&w->jw);
    for (const char **name = names; *name; name++) {
        const struct http_schema *schema = map_get(&w->schemas, *name);
        jw_key(&w->jw, *name);
        jw_raw(&w->jw, schema->json, strlen(schema->json));
    }
    jw_object_end(&w->jw);
    write_schemes(w);
    jw_object_end(&w->jw);
}

/* ---- parameters ---- */

static void write_choices(struct writer *w, const char *choices)
{
    jw_key(&w->jw, "enum");
    jw_array(&w->jw);
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, "|");
        jw_strn(&w->jw, at, len);
        at += len + (at[len] == '|');
    }
    jw_array_end(&w->jw);
}

/** A default as JSON. */
static void write_default(struct writer *w, const struct http_param *p, const struct http_value *def)
{
    if (!def->text)
        return;
    if (p->type == HTTP_BOOL)
        jw_kbool(&w->jw, "default", def->n);
    else if (p->type == HTTP_INT)
        jw_kint(&w->jw, "default", def->n);
    else
        jw_kstr(&w->jw, "default", def->text);
}

static void write_bounds(struct writer *w, const struct http_param *p)
{
    jw_kint(&w->jw, "minimum", p->min);
    if (p->max)
        jw_kint(&w->jw, "maximum", p->max);
    if (p->max_key)
        jw_kstr(&w->jw, "x-maximum-option", p->max_key);
    if (p->unit)
        jw_kstr(&w->jw, "x-unit", p->unit);
}

static void write_param_schema(struct writer *w, const struct http_param *p, const struct http_value *def)
{
    static const char *const types[] = {[HTTP_TEXT] = "string",
                                        [HTTP_BOOL] = "boolean",
                                        [HTTP_INT] = "integer",
                                        [HTTP_TIME] = "string",
                                        [HTTP_CHOICE] = "string"};
    jw_key(&w->jw, "schema");
    jw_object(&w->jw);
    jw_kstr(&w->jw, "type", types[p->type]);
    if (p->type == HTTP_INT)
        write_bounds(w, p);
    if (p->type == HTTP_TIME)
        jw_kstr(&w->jw, "pattern", "^[0-9]{1,9}(ms|s|m|h|d)?$");
    if (p->type == HTTP_CHOICE)
        write_choices(w, p->choices);
    write_default(w, p, def);
    jw_object_end(&w->jw);
}

static void write_param(struct writer *w, const struct http_param *p, const struct http_value *def)
{
    static const char *const places[] = {[HTTP_IN_QUERY] = "query",
                                         [HTTP_IN_REST] = "query",
                                         [HTTP_IN_HEADER] = "header",
                                         [HTTP_IN_PATH] = "path"};
    buf_auto struct buf prose = BUF_EMPTY;
    http_param_prose(p, &prose);
    jw_object(&w->jw);
    jw_kstr(&w->jw, "name", p->name);
    jw_kstr(&w->jw, "in", places[p->in]);
    jw_kbool(&w->jw, "required", p->is_required || p->in == HTTP_IN_PATH);
    jw_kstr(&w->jw, "description", buf_cstr(&prose));
    write_param_schema(w, p, def);
    jw_object_end(&w->jw);
}

static bool has_rest(const struct http_param_set *params)
{
    return params->rest < params->n;
}

/** Prose of an element of the pattern: that of its row, else a general one. */
static const char *element_prose(const struct http_param_set *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++) {
        if (params->rows[i].in == HTTP_IN_PATH && strcmp(params->rows[i].name, name) == 0)
            return params->rows[i].prose;
    }
    if (strcmp(name, "path") != 0)
        return "One element, percent-encoded.";
    return has_rest(params)
               ? "Elements separated by '/', each percent-encoded on its own. A client that encodes the '/' "
                 "too sends the path as a query parameter."
               : "Elements separated by '/', each percent-encoded on its own; empty for the root.";
}

/** Parameters of the pattern. */
static void write_path_params(struct writer *w, const struct http_route_bound *route, enum form form)
{
    static const struct http_value none = {0};
    for (const char *at = route->row->pattern; *at; at++) {
        bool is_rest = strcmp(at, "/*") == 0;
        if ((!is_rest && *at != '{') || (is_rest && form == REST_IN_QUERY))
            continue;
        mem_auto char *name = is_rest ? mem_str("path") : mem_strn(at + 1, strcspn(at + 1, "}"));
        struct http_param p = {.name = name, .in = HTTP_IN_PATH};
        p.prose = element_prose(&route->params, name);
        write_param(w, &p, &none);
    }
}

static bool is_security(const struct http_param *p)
{
    return p->in == HTTP_AS_BASIC || p->in == HTTP_AS_KEY;
}

/** The ways to name the caller; an empty object: none is needed. */
static void write_security(struct writer *w, const struct http_param_set *params)
{
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++) {
        const struct http_param *p = &params->rows[i];
        if (!is_security(p))
            continue;
        if (n++ == 0) {
            jw_key(&w->jw, "security");
            jw_array(&w->jw);
            jw_raw(&w->jw, "{}", 2);
        }
        jw_object(&w->jw);
        jw_key(&w->jw, p->name);
        jw_raw(&w->jw, "[]", 2);
        jw_object_end(&w->jw);
        map_set(&w->security, p->name, (void *)(uintptr_t)p);
    }
    if (n)
        jw_array_end(&w->jw);
}

/** Whether a row is written as a parameter of this form, those of the pattern aside. */
static bool is_shown(const struct http_param *p, enum form form)
{
    if (p->in == HTTP_IN_REST)
        return form == REST_IN_QUERY;
    return !is_security(p) && p->in != HTTP_IN_PATH && p->in != HTTP_IN_ALIAS;
}

static void write_params(struct writer *w, const struct http_route_bound *route, enum form form)
{
    static const struct http_param callers[] = {
        {.name = "user.name", .type = HTTP_TEXT, .prose = "The caller; else a configured user."},
        {.name = "doAs",
         .type = HTTP_TEXT,
         .prose = "For whom the caller asks, who must be allowed to: hadoop.proxyuser.CALLER."}};
    static const struct http_param request_id = {.name = "X-Request-Id",
                                                 .type = HTTP_TEXT,
                                                 .prose =
                                                     "Names the request: one that comes again within 60 s is "
                                                     "answered as the first was, and not done again.",
                                                 .in = HTTP_IN_HEADER};
    static const struct http_value none = {0};
    const struct http_param_set *params = &route->params;
    jw_key(&w->jw, "parameters");
    jw_array(&w->jw);
    write_path_params(w, route, form);
    for (size_t i = 0; i < ARRAY_LEN(callers); i++)
        write_param(w, &callers[i], &none);
    for (size_t i = 0; i < params->n; i++) {
        if (is_shown(&params->rows[i], form))
            write_param(w, &params->rows[i], &params->defaults[i]);
    }
    if (route->row->flags & HTTP_DONE_ONCE)
        write_param(w, &request_id, &none);
    jw_array_end(&w->jw);
}

/* ---- answers ---- */

static void write_repeated_header(struct writer *w)
{
    jw_key(&w->jw, "headers");
    jw_object(&w->jw);
    jw_key(&w->jw, "Bobbin-Repeated");
    jw_object(&w->jw);
    jw_kstr(&w->jw, "description", "true: the answer of an earlier request with this X-Request-Id.");
    jw_key(&w->jw, "schema");
    jw_object(&w->jw);
    jw_kstr(&w->jw, "type", "string");
    jw_object_end(&w->jw);
    jw_object_end(&w->jw);
    jw_object_end(&w->jw);
}

static void begin_answer(struct writer *w, int status, const char *prose)
{
    mem_auto char *key = mem_fmt("%d", status);
    jw_key(&w->jw, key);
    jw_object(&w->jw);
    jw_kstr(&w->jw, "description", prose);
}

/** The answer of one status; adjacent rows of one status become one answer with several media types. */
static const struct http_route_answer *write_answer(struct writer *w, const struct http_route *row,
                                                    const struct http_route_answer *a)
{
    int status = a->status;
    begin_answer(w, status, a->prose);
    if (row->flags & HTTP_DONE_ONCE)
        write_repeated_header(w);
    if (a->media_type)
        jw_key(&w->jw, "content");
    if (a->media_type)
        jw_object(&w->jw);
    bool has_content = a->media_type != NULL;
    for (; a->status == status; a++) {
        if (!a->media_type)
            continue;
        jw_key(&w->jw, a->media_type);
        jw_object(&w->jw);
        write_schema_ref(w, a->schema);
        jw_object_end(&w->jw);
    }
    if (has_content)
        jw_object_end(&w->jw);
    jw_object_end(&w->jw);
    return a;
}

/** Append the texts of a list of errors, by status. */
static void add_errors(struct buf texts[STATUS_END], const int *errors)
{
    for (; errors && *errors; errors++) {
        struct buf *text = &texts[err_http_status(*errors)];
        if (text->len && strstr(text->bytes, err_text(*errors)))
            continue;
        buf_addf(text, "%s%s", text->len ? "; " : "", err_text(*errors));
    }
}

static void write_errors(struct writer *w, const struct http_route *row)
{
    static const int json_errors[] = {ERR_MEDIATYPE, 0};
    struct buf *texts = mem_array(STATUS_END, sizeof *texts);
    add_errors(texts, check_errors);
    if (row->flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL))
        add_errors(texts, json_errors);
    add_errors(texts, row->errors);
    for (int status = 0; status < STATUS_END; status++) {
        if (!texts[status].len)
            continue;
        begin_answer(w, status, texts[status].bytes);
        write_content(w, w->def->error_media_type, w->def->error_schema);
        jw_object_end(&w->jw);
        buf_fini(&texts[status]);
    }
    mem_free_ptr(&texts);
}

static void write_answers(struct writer *w, const struct http_route *row)
{
    jw_key(&w->jw, "responses");
    jw_object(&w->jw);
    for (const struct http_route_answer *a = row->answers; a && a->status;)
        a = write_answer(w, row, a);
    write_errors(w, row);
    if (!row->answers) {
        jw_key(&w->jw, "default");
        jw_object(&w->jw);
        jw_kstr(&w->jw, "description", "Its answers are not described here.");
        jw_object_end(&w->jw);
    }
    jw_object_end(&w->jw);
}

/* ---- operations ---- */

static void write_body(struct writer *w, const struct http_route *row)
{
    if (!(row->flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL)))
        return;
    jw_key(&w->jw, "requestBody");
    jw_object(&w->jw);
    jw_kbool(&w->jw, "required", (row->flags & HTTP_JSON_IN) != 0);
    write_content(w, "application/json", row->body);
    jw_object_end(&w->jw);
}

static void add_lower(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_add_char(out, (char)tolower((unsigned char)*text));
}

/** "get_ws_v1_registry_path": unique, as method and pattern are. */
static void write_id(struct writer *w, const struct http_route *row, const char *path)
{
    buf_auto struct buf id = BUF_EMPTY;
    add_lower(&id, row->method);
    for (const char *c = path; *c; c++) {
        if (isalnum((unsigned char)*c))
            buf_add_char(&id, *c);
        else if (id.bytes[id.len - 1] != '_' && c[1])
            buf_add_char(&id, '_');
    }
    jw_kstr(&w->jw, "operationId", buf_cstr(&id));
}

static void write_operation(struct writer *w, const struct http_route_bound *route, const char *path,
                            enum form form)
{
    const struct http_route *row = route->row;
    buf_auto struct buf method = BUF_EMPTY;
    add_lower(&method, row->method);
    jw_key(&w->jw, buf_cstr(&method));
    jw_object(&w->jw);
    write_id(w, row, path);
    jw_kstr(&w->jw, "summary", row->summary);
    if (row->role)
        jw_kstr(&w->jw, "description", row->role);
    write_params(w, route, form);
    write_security(w, &route->params);
    write_body(w, row);
    write_answers(w, row);
    jw_object_end(&w->jw);
}

/** Pattern as OpenAPI writes it; free(). */
static char *path_of(const char *pattern, enum form form)
{
    size_t len = strlen(pattern);
    if (len >= 2 && strcmp(pattern + len - 2, "/*") == 0)
        return mem_fmt("%.*s%s", (int)(len - 2), pattern, form == REST_IN_PATH ? "/{path}" : "");
    return mem_str(pattern);
}

/** Rows of one pattern in one form, from the first one on. */
static void write_path(struct writer *w, const char *pattern, enum form form)
{
    const struct http_route_table *table = w->def->routes;
    mem_auto char *path = path_of(pattern, form);
    jw_key(&w->jw, path);
    jw_object(&w->jw);
    for (size_t i = 0; i < table->n; i++) {
        if (strcmp(table->routes[i].row->pattern, pattern) == 0)
            write_operation(w, &table->routes[i], path, form);
    }
    jw_object_end(&w->jw);
}

static void write_paths(struct writer *w)
{
    const struct http_route_table *table = w->def->routes;
    struct map seen = MAP_EMPTY;
    jw_key(&w->jw, "paths");
    jw_object(&w->jw);
    for (size_t i = 0; i < table->n; i++) {
        const char *pattern = table->routes[i].row->pattern;
        if (map_set(&seen, pattern, (void *)(uintptr_t)pattern))
            continue;
        write_path(w, pattern, REST_IN_PATH);
        if (has_rest(&table->routes[i].params))
            write_path(w, pattern, REST_IN_QUERY);
    }
    jw_object_end(&w->jw);
    map_fini(&seen, NULL);
}

void http_openapi_write(const struct http_openapi_def *def, struct buf *out)
{
    struct writer w = {def, jw_on(out), MAP_EMPTY, MAP_EMPTY};
    jw_object(&w.jw);
    jw_kstr(&w.jw, "openapi", "3.0.3");
    jw_key(&w.jw, "info");
    jw_object(&w.jw);
    jw_kstr(&w.jw, "title", def->title);
    jw_kstr(&w.jw, "version", def->version);
    jw_kstr(&w.jw, "description",
            "HEAD is answered wherever GET is. Times are seconds, or carry a unit: 500ms, 2m.");
    jw_object_end(&w.jw);
    write_paths(&w);
    write_components(&w);
    jw_object_end(&w.jw);
    map_fini(&w.schemas, NULL);
    map_fini(&w.security, NULL);
}
