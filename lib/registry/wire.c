/**
 * Reading registryd's answers. See wire.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/scan.h"
#include "registry/record_priv.h"
#include "registry/wire.h"

#define DEPTH_MAX      1100
#define PROBLEM_PREFIX "urn:bobbin:error:"

/* ---- values ---- */

static int wrong(struct js *s, struct err_info *why, const char *text)
{
    if (s->why.code)
        return err_set(why, ERR_JSON, s->why.where, "%s", s->why.text);
    return err_set(why, ERR_JSON, NULL, "%s", text);
}

static int take_str(struct js *s, char **out, struct err_info *why)
{
    enum js_token t = js_next(s);

    if (t != JS_STRING && t != JS_NULL)
        return wrong(s, why, "a string is expected in the answer");
    free(*out);
    *out = t == JS_STRING ? mem_strn(buf_cstr(&s->text), s->text.len) : NULL;
    return 0;
}

static int take_int(struct js *s, int64_t *out, struct err_info *why)
{
    if (js_next(s) != JS_INTEGER || str_to_i64(buf_cstr(&s->text), INT64_MIN, INT64_MAX, out))
        return wrong(s, why, "a number is expected in the answer");
    return 0;
}

static int take_bool(struct js *s, bool *out, struct err_info *why)
{
    enum js_token t = js_next(s);

    if (t != JS_TRUE && t != JS_FALSE)
        return wrong(s, why, "true or false is expected in the answer");
    *out = t == JS_TRUE;
    return 0;
}

static int skip(struct js *s, struct err_info *why)
{
    return js_skip(s) ? wrong(s, why, "") : 0;
}

/** The record whose text is the next value: read from its own bytes, so that numbers and order are kept. */
static int take_record(struct js *s, struct reg_record **out, struct err_info *why)
{
    const char *start = s->p;
    struct reg_record *record = NULL;
    int err = skip(s, why);

    if (err)
        return err;
    while (start < s->p && strchr(": \t\r\n", *start))
        start++;
    err = reg_record_read(start, (size_t)(s->p - start), REG_LENIENT, &record, why);
    if (err)
        return err;
    reg_record_free(*out);
    *out = record;
    return 0;
}

/** Read an object member by member. */
static int each_member(struct js *s,
                       int (*member)(struct js *s, const char *key, void *into, struct err_info *why),
                       void *into, struct err_info *why)
{
    enum js_token t = js_next(s);
    int err = 0;

    if (t != JS_OBJECT)
        return wrong(s, why, "the answer is no JSON object");
    while (!err && (t = js_next(s)) == JS_KEY) {
        mem_auto char *key = mem_strn(buf_cstr(&s->text), s->text.len);

        err = member(s, key, into, why);
    }
    if (!err && t != JS_OBJECT_END)
        err = wrong(s, why, "the answer is malformed");
    return err;
}

/* ---- node ---- */

void wire_node_fini(struct wire_node *n)
{
    free(n->status.path);
    reg_path_split_free(n->names);
    reg_record_free(n->record);
    free(n->invalid);
    free(n->cursor);
    *n = (struct wire_node){0};
}

static int take_revision(struct js *s, char *out, struct err_info *why)
{
    mem_auto char *text = NULL;
    int err = take_str(s, &text, why);

    if (err)
        return err;
    if (!text || strlen(text) >= REG_REVISION_MAX)
        return err_set(why, ERR_JSON, NULL, "no revision in the answer");
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int status_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct reg_status *status = into;
    int64_t children;
    int err;

    if (strcmp(key, "path") == 0)
        return take_str(s, &status->path, why);
    if (strcmp(key, "time") == 0)
        return take_int(s, &status->time_ms, why);
    if (strcmp(key, "size") == 0)
        return take_int(s, &status->size, why);
    if (strcmp(key, "revision") == 0)
        return take_revision(s, status->revision, why);
    if (strcmp(key, "children") != 0)
        return skip(s, why);
    err = take_int(s, &children, why);
    if (!err)
        status->children = (int32_t)children;
    return err;
}

static int take_names(struct js *s, struct wire_node *n, struct err_info *why)
{
    enum js_token t = js_next(s);

    if (t != JS_ARRAY)
        return wrong(s, why, "nodes is no list");
    while ((t = js_next(s)) == JS_STRING) {
        n->names = record_array_room(n->names, n->n_names, sizeof *n->names);
        n->names[n->n_names++] = mem_strn(buf_cstr(&s->text), s->text.len);
    }
    n->names = record_array_room(n->names, n->n_names, sizeof *n->names);
    n->names[n->n_names] = NULL;
    return t == JS_ARRAY_END ? 0 : wrong(s, why, "nodes is no list of names");
}

static int node_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct wire_node *n = into;

    if (strcmp(key, "status") == 0)
        return each_member(s, status_member, &n->status, why);
    if (strcmp(key, "nodes") == 0)
        return take_names(s, n, why);
    if (strcmp(key, "invalidRecord") == 0)
        return take_str(s, &n->invalid, why);
    if (strcmp(key, "cursor") == 0)
        return take_str(s, &n->cursor, why);
    if (strcmp(key, "created") == 0)
        return take_bool(s, &n->created, why);
    if (strcmp(key, "deleted") == 0)
        return take_bool(s, &n->deleted, why);
    return skip(s, why);
}

static int node_and_record(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct wire_node *n = into;

    return strcmp(key, "service") == 0 ? take_record(s, &n->record, why) : node_member(s, key, into, why);
}

int wire_read_node(const char *bytes, size_t len, bool with_record, struct wire_node *n, struct err_info *why)
{
    struct js s;
    int err;

    free(n->cursor);
    n->cursor = NULL;
    js_init(&s, bytes, len, DEPTH_MAX);
    err = each_member(&s, with_record ? node_and_record : node_member, n, why);
    js_fini(&s);
    return err;
}

/* ---- many ---- */

void wire_many_fini(struct wire_many *m)
{
    reg_found_free(m->found, m->n_found);
    free(m->cursor);
    *m = (struct wire_many){0};
}

static struct reg_found *add_found(struct wire_many *m)
{
    m->found = record_array_room(m->found, m->n_found, sizeof *m->found);
    m->found[m->n_found] = (struct reg_found){0};
    return &m->found[m->n_found++];
}

/** Read a list, item by item: `item` gets the scanner before each one. */
static int each_item(struct js *s, int (*item)(struct js *s, void *into, struct err_info *why), void *into,
                     struct err_info *why)
{
    int err = 0;

    if (js_next(s) != JS_ARRAY)
        return wrong(s, why, "a list is expected in the answer");
    while (!err) {
        const char *at = s->p;

        while (at < s->end && strchr(", \t\r\n", *at))
            at++;
        if (at < s->end && *at == ']')
            return js_next(s) == JS_ARRAY_END ? 0 : wrong(s, why, "the answer is malformed");
        err = item(s, into, why);
    }
    return err;
}

static int path_item(struct js *s, void *into, struct err_info *why)
{
    return take_str(s, &add_found(into)->path, why);
}

static int found_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct reg_found *f = into;

    if (strcmp(key, "path") == 0)
        return take_str(s, &f->path, why);
    if (strcmp(key, "status") == 0)
        return each_member(s, status_member, &f->status, why);
    return strcmp(key, "service") == 0 ? take_record(s, &f->record, why) : skip(s, why);
}

static int found_item(struct js *s, void *into, struct err_info *why)
{
    struct reg_found *f = add_found(into);
    int err = each_member(s, found_member, f, why);

    return err || f->path ? err : err_set(why, ERR_JSON, NULL, "a record of the answer has no path");
}

/** The answer about one event or user. */
struct outcome {
    struct wire_many *many;
    char *error, *detail;
};

static int outcome_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct outcome *o = into;
    int64_t n = 0;
    bool created = false;
    int err;

    if (strcmp(key, "error") == 0)
        return take_str(s, &o->error, why);
    if (strcmp(key, "detail") == 0)
        return take_str(s, &o->detail, why);
    if (strcmp(key, "homes") == 0)
        return each_item(s, path_item, o->many, why);
    if (strcmp(key, "created") == 0) {
        err = take_bool(s, &created, why);
        o->many->created |= created;
        return err;
    }
    if (strcmp(key, "purged") != 0)
        return skip(s, why);
    err = take_int(s, &n, why);
    if (!err && __builtin_add_overflow(o->many->n_purged, n, &o->many->n_purged))
        err = wrong(s, why, "more was purged than can be");
    return err;
}

static int outcome_item(struct js *s, void *into, struct err_info *why)
{
    struct outcome o = {.many = into};
    int err = each_member(s, outcome_member, &o, why);

    if (!err && o.error && !o.many->failed.code) {
        bool is_ours = str_starts(o.error, PROBLEM_PREFIX);
        int code = err_from_type(is_ours ? o.error + strlen(PROBLEM_PREFIX) : o.error);
        err_set(&o.many->failed, code, NULL, "%s", o.detail ? o.detail : err_text(code));
    }
    free(o.error);
    free(o.detail);
    return err;
}

static int many_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct wire_many *m = into;

    if (strcmp(key, "records") == 0)
        return each_item(s, found_item, m, why);
    if (strcmp(key, "deleted") == 0 || strcmp(key, "gone") == 0)
        return each_item(s, path_item, m, why);
    if (strcmp(key, "ttl") == 0)
        return take_int(s, &m->ttl_ms, why);
    if (strcmp(key, "users") == 0 || strcmp(key, "events") == 0)
        return each_item(s, outcome_item, m, why);
    if (strcmp(key, "cursor") == 0)
        return take_str(s, &m->cursor, why);
    return strcmp(key, "count") == 0 ? take_int(s, &m->n_purged, why) : skip(s, why);
}

int wire_read_many(const char *bytes, size_t len, struct wire_many *m, struct err_info *why)
{
    struct js s;
    int err;

    free(m->cursor);
    m->cursor = NULL;
    js_init(&s, bytes, len, DEPTH_MAX);
    err = each_member(&s, many_member, m, why);
    js_fini(&s);
    return err;
}

/* ---- line ---- */

void wire_line_fini(struct wire_line *l)
{
    free(l->type);
    free(l->path);
    free(l->revision);
    reg_record_free(l->record);
    *l = (struct wire_line){0};
}

static int line_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct wire_line *l = into;

    if (strcmp(key, "type") == 0)
        return take_str(s, &l->type, why);
    if (strcmp(key, "path") == 0)
        return take_str(s, &l->path, why);
    if (strcmp(key, "revision") == 0)
        return take_str(s, &l->revision, why);
    if (strcmp(key, "service") == 0)
        return take_record(s, &l->record, why);
    if (strcmp(key, "stale") == 0)
        return take_bool(s, &l->stale, why);
    return skip(s, why);
}

int wire_read_line(const char *bytes, size_t len, struct wire_line *l, struct err_info *why)
{
    struct js s;
    int err;

    js_init(&s, bytes, len, DEPTH_MAX);
    err = each_member(&s, line_member, l, why);
    js_fini(&s);
    if (!err && !l->type)
        err = err_set(why, ERR_JSON, NULL, "a line of the feed has no type");
    return err;
}

/* ---- problem ---- */

struct problem {
    char *type, *detail, *where;
};

static int problem_member(struct js *s, const char *key, void *into, struct err_info *why)
{
    struct problem *p = into;

    if (strcmp(key, "type") == 0)
        return take_str(s, &p->type, why);
    if (strcmp(key, "detail") == 0)
        return take_str(s, &p->detail, why);
    if (strcmp(key, "where") == 0)
        return take_str(s, &p->where, why);
    return skip(s, why);
}

static int code_of_status(int status)
{
    if (status == 404)
        return ERR_NOROUTE;
    if (status == 401)
        return ERR_AUTH;
    if (status == 403)
        return ERR_PERMISSION;
    return status == 503 ? ERR_UNAVAILABLE : ERR_IO;
}

/** Without its query, which only says who asks. */
static char *address_of(const struct wire_asked *asked)
{
    return mem_strn(asked->url, strcspn(asked->url, "?"));
}

/** Another program is there, or another Bobbin program: what was said, where, and who was expected. */
static int name_other(int err, const char *said, const struct wire_asked *asked, struct err_info *why)
{
    mem_auto char *address = address_of(asked);

    return err_set(why, err, address, "%s, not as %s does: is %s at this address?", said, asked->program,
                   asked->program);
}

/** Whether somebody between says that the program did not answer. Source: RFC 9110 15.6.3, 15.6.5; Knox 2.0.0. */
static bool is_lost_between(int status, const struct wire_asked *asked)
{
    return status == 502 || status == 504 || (status == 500 && asked->is_gateway);
}

static int name_lost(int status, const struct wire_asked *asked, struct err_info *why)
{
    mem_auto char *address = address_of(asked);

    if (asked->is_write)
        return err_set(
            why, ERR_UNKNOWN_OUTCOME, address,
            "what stands between answered with HTTP status %d, and whether this was done is not known",
            status);
    return err_set(why, ERR_UNAVAILABLE, address,
                   "what stands between answered with HTTP status %d: %s is away, or does not answer", status,
                   asked->program);
}

int wire_read_problem(int status, const char *bytes, size_t len, const struct wire_asked *asked,
                      struct err_info *why)
{
    struct problem p = {0};
    struct js s;
    bool is_other = false;
    int err;

    js_init(&s, bytes, len, DEPTH_MAX);
    err = each_member(&s, problem_member, &p, NULL);
    js_fini(&s);
    if (!err && p.type && str_starts(p.type, PROBLEM_PREFIX)) {
        err = err_from_type(p.type + strlen(PROBLEM_PREFIX));
        err_set(why, err, p.where, "%s", p.detail && p.detail[0] ? p.detail : err_text(err));
    } else if (is_lost_between(status, asked)) {
        err = name_lost(status, asked, why);
    } else {
        err = code_of_status(status);
        is_other = true;
    }
    if (is_other || err == ERR_NOROUTE) {
        mem_auto char *said = mem_fmt("the server answered with HTTP status %d", status);
        name_other(err, said, asked, why);
    }
    free(p.type);
    free(p.detail);
    free(p.where);
    return err;
}

int wire_not_readable(const struct wire_asked *asked, struct err_info *why)
{
    struct err_info wrong = *why;
    mem_auto char *said = mem_fmt("the server sent an answer that cannot be read (%s)", wrong.text);

    return name_other(wrong.code, said, asked, why);
}
