#include "http/openapi.h"

#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "json/writer.h"

const struct http_schema http_problem_schema = {
    "Problem",
    "{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\",\"detail\"],\"properties\":{"
    "\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},"
    "\"detail\":{\"type\":\"string\"},\"where\":{\"type\":\"string\"},\"exception\":{\"type\":\"string\"}}}",
    NULL};

/** Errors of the checks before a handler, which any route may answer with. */
static const int check_errors[] = {ERR_PATH, ERR_USAGE, ERR_ORIGIN, ERR_TOOBIG, ERR_CANCELLED, 0};

#define STATUS_END 600

struct writer {
    const struct openapi_def *def;
    struct jw jw;
    struct map schemas;  /* name -> schema, those referred to */
    struct map security; /* name -> parameter that is a security scheme */
};

/* ---- schemas ---- */

static void note_schema(struct writer *w, const struct http_schema *schema)
{
    if (map_set(&w->schemas, schema->name, (void *)(uintptr_t)schema))
        return;
    for (const struct http_schema *const *used = schema->uses; used && *used; used++)
        note_schema(w, *used);
}

static void write_schema_ref(struct writer *w, const struct http_schema *schema)
{
    jw_key(&w->jw, "schema");
    jw_object(&w->jw);
    if (schema) {
        mem_auto char *ref = mem_fmt("#/components/schemas/%s", schema->name);
        jw_kstr(&w->jw, "$ref", ref);
        note_schema(w, schema);
    }
    jw_object_end(&w->jw);
}

static void write_content(struct writer *w, const char *media_type, const struct http_schema *schema)
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

static void write_param_schema(struct writer *w, const struct http_param *p)
{
    static const char *const types[] = {[HTTP_TEXT] = "string",
                                        [HTTP_BOOL] = "boolean",
                                        [HTTP_INT] = "integer",
                                        [HTTP_TIME] = "string",
                                        [HTTP_CHOICE] = "string"};
    jw_key(&w->jw, "schema");
    jw_object(&w->jw);
    jw_kstr(&w->jw, "type", types[p->kind]);
    if (p->kind == HTTP_INT) {
        jw_kint(&w->jw, "minimum", p->min);
        jw_kint(&w->jw, "maximum", p->max);
    }
    if (p->kind == HTTP_TIME)
        jw_kstr(&w->jw, "pattern", "^[0-9]{1,9}(ms|s|m|h|d)?$");
    if (p->kind == HTTP_CHOICE)
        write_choices(w, p->choices);
    jw_object_end(&w->jw);
}

static void write_param(struct writer *w, const struct http_param *p, const char *in)
{
    jw_object(&w->jw);
    jw_kstr(&w->jw, "name", p->name);
    jw_kstr(&w->jw, "in", in);
    jw_kbool(&w->jw, "required", p->is_required);
    jw_kstr(&w->jw, "description", p->prose);
    write_param_schema(w, p);
    jw_object_end(&w->jw);
}

/** Parameters that stand in the pattern. */
static void write_path_params(struct writer *w, const char *pattern)
{
    for (const char *at = pattern; *at; at++) {
        struct http_param p = {
            .kind = HTTP_TEXT, .is_required = true, .prose = "One element, percent-encoded."};
        mem_auto char *name = NULL;
        if (strcmp(at, "/*") == 0) {
            name = mem_str("path");
            p.prose = "Elements separated by '/', each percent-encoded on its own; empty for the root.";
        } else if (*at == '{') {
            name = mem_strn(at + 1, strcspn(at + 1, "}"));
        } else {
            continue;
        }
        p.name = name;
        write_param(w, &p, "path");
    }
}

static bool is_security(const struct http_param *p)
{
    return p->in == HTTP_AS_BASIC || p->in == HTTP_AS_KEY;
}

/** The ways to say who one is; an empty object: nobody must. */
static void write_security(struct writer *w, const struct http_doc *doc)
{
    size_t n = 0;
    for (const struct http_param *p = doc ? doc->params : NULL; p && p->name; p++) {
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

static void write_params(struct writer *w, const struct http_route *row, const struct http_doc *doc)
{
    static const struct http_param user = {
        .name = "user.name", .kind = HTTP_TEXT, .prose = "Who calls; else a configured user."};
    jw_key(&w->jw, "parameters");
    jw_array(&w->jw);
    write_path_params(w, row->pattern);
    write_param(w, &user, "query");
    for (const struct http_param *p = doc ? doc->params : NULL; p && p->name; p++)
        if (!is_security(p))
            write_param(w, p, p->in == HTTP_IN_HEADER ? "header" : "query");
    jw_array_end(&w->jw);
}

/* ---- answers ---- */

static void begin_answer(struct writer *w, int status, const char *prose)
{
    mem_auto char *key = mem_fmt("%d", status);
    jw_key(&w->jw, key);
    jw_object(&w->jw);
    jw_kstr(&w->jw, "description", prose);
}

/** The answer of one status; rows of the same status stand together and become one with several media types. */
static const struct http_doc_answer *write_answer(struct writer *w, const struct http_doc_answer *a)
{
    int status = a->status;
    begin_answer(w, status, a->prose);
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

/** Mark the statuses of a list of errors, and collect what they say. */
static void add_errors(struct buf texts[STATUS_END], const int *errors)
{
    for (; errors && *errors; errors++) {
        struct buf *text = &texts[err_http_status(*errors)];
        if (text->len && strstr(text->bytes, err_text(*errors)))
            continue;
        buf_addf(text, "%s%s", text->len ? "; " : "", err_text(*errors));
    }
}

static void write_errors(struct writer *w, const struct http_route *row, const struct http_doc *doc)
{
    static const int json_errors[] = {ERR_MEDIATYPE, 0};
    struct buf *texts = mem_array(STATUS_END, sizeof(*texts));
    add_errors(texts, check_errors);
    if (row->flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL))
        add_errors(texts, json_errors);
    add_errors(texts, doc ? doc->errors : NULL);
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

static void write_answers(struct writer *w, const struct http_route *row, const struct http_doc *doc)
{
    jw_key(&w->jw, "responses");
    jw_object(&w->jw);
    for (const struct http_doc_answer *a = doc ? doc->answers : NULL; a && a->status;)
        a = write_answer(w, a);
    write_errors(w, row, doc);
    if (!doc) {
        jw_key(&w->jw, "default");
        jw_object(&w->jw);
        jw_kstr(&w->jw, "description", "What this answers is not described here.");
        jw_object_end(&w->jw);
    }
    jw_object_end(&w->jw);
}

/* ---- operations ---- */

static const struct http_doc *find_doc(const struct writer *w, const struct http_route *row)
{
    for (size_t t = 0; t < ARRAY_LEN(w->def->docs); t++)
        for (size_t i = 0; i < w->def->n_docs[t]; i++)
            if (w->def->docs[t][i].handle == row->handle)
                return &w->def->docs[t][i];
    return NULL;
}

static void write_body(struct writer *w, const struct http_route *row, const struct http_doc *doc)
{
    if (!(row->flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL)))
        return;
    jw_key(&w->jw, "requestBody");
    jw_object(&w->jw);
    jw_kbool(&w->jw, "required", (row->flags & HTTP_JSON_IN) != 0);
    write_content(w, "application/json", doc ? doc->body : NULL);
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

static void write_operation(struct writer *w, const struct http_route *row, const char *path)
{
    const struct http_doc *doc = find_doc(w, row);
    buf_auto struct buf method = BUF_EMPTY;
    add_lower(&method, row->method);
    jw_key(&w->jw, buf_cstr(&method));
    jw_object(&w->jw);
    write_id(w, row, path);
    jw_kstr(&w->jw, "summary", row->summary);
    write_params(w, row, doc);
    write_security(w, doc);
    write_body(w, row, doc);
    write_answers(w, row, doc);
    jw_object_end(&w->jw);
}

/** Pattern as OpenAPI writes it; free(). */
static char *path_of(const char *pattern)
{
    size_t len = strlen(pattern);
    if (len >= 2 && strcmp(pattern + len - 2, "/*") == 0)
        return mem_fmt("%.*s/{path}", (int)(len - 2), pattern);
    return mem_str(pattern);
}

/** Rows of one pattern, from the first one on. */
static void write_path(struct writer *w, const char *pattern)
{
    const struct route_tables *tables = w->def->tables;
    mem_auto char *path = path_of(pattern);
    jw_key(&w->jw, path);
    jw_object(&w->jw);
    for (size_t t = 0; t < ARRAY_LEN(tables->rows); t++)
        for (size_t i = 0; i < tables->n_rows[t]; i++)
            if (strcmp(tables->rows[t][i].pattern, pattern) == 0)
                write_operation(w, &tables->rows[t][i], path);
    jw_object_end(&w->jw);
}

static void write_paths(struct writer *w)
{
    const struct route_tables *tables = w->def->tables;
    struct map seen = MAP_EMPTY;
    jw_key(&w->jw, "paths");
    jw_object(&w->jw);
    for (size_t t = 0; t < ARRAY_LEN(tables->rows); t++)
        for (size_t i = 0; i < tables->n_rows[t]; i++) {
            const char *pattern = tables->rows[t][i].pattern;
            if (!map_set(&seen, pattern, (void *)(uintptr_t)pattern))
                write_path(w, pattern);
        }
    jw_object_end(&w->jw);
    map_fini(&seen, NULL);
}

void openapi_write(const struct openapi_def *def, struct buf *out)
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
