#include "index/find.h"
#include "feed/lines.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIND_MAGIC OBJ_MAGIC('F', 'I', 'N', 'D')

/** Postings looked at, and records written, in one turn of the loop. */
#define SLICE_VISITS  2048
#define SLICE_RECORDS 64

struct find {
    struct obj obj;
    const struct index *index;
    const struct mirror *mirror;
    enum find_form form;
    char *terms[INDEX_N_KINDS];
    char *api, *protocol;
    uint64_t epoch, after;
    int64_t left; /* records still allowed */
    bool first;   /* no member written yet */
    bool is_done;
    struct buf out; /* written, not yet taken */
    size_t n_taken;
};

/* ---- cursors ---- */

int find_cursor_read(const struct index *ix, const char *text, uint64_t *after, struct err_info *why)
{
    int64_t epoch, number;
    mem_auto char *first = str_field(text, '-', 0), *second = str_field(text, '-', 1);
    if (!first || !second || str_to_i64(first, 0, INT64_MAX, &epoch) ||
        str_to_i64(second, 0, INT64_MAX, &number))
        return err_set(why, ERR_PARSE, "cursor", "\"%s\" is no cursor of a search", text);
    if ((uint64_t)epoch != index_epoch(ix))
        return err_set(why, ERR_GONE, "cursor", "the index was built anew since: search from the beginning");
    *after = (uint64_t)number;
    return 0;
}

static void write_cursor(struct find *f)
{
    buf_addf(&f->out, ",\"cursor\":\"%" PRIu64 "-%" PRIu64 "\"", f->epoch, f->after);
}

/* ---- writing ---- */

static void write_record(struct find *f, const struct mirror_node *node, const char *path)
{
    if (!f->first)
        buf_add_char(&f->out, ',');
    f->first = false;
    struct jw w = jw_on(&f->out);
    jw_object(&w);
    jw_kstr(&w, "path", path);
    lines_status(&w, node->name, &node->stat, mirror_store_id(f->mirror));
    lines_node_service(&w, node);
    jw_object_end(&w);
}

static void write_targets(struct find *f, const struct mirror_node *node, const char *path)
{
    struct reg_record *record;
    if (reg_record_read(node->data, node->stat.data_len, REG_STRICT, &record, NULL))
        return;
    find_write_targets(&f->out, path, record, f->api, f->protocol, &f->first);
    reg_record_free(record);
}

static void write_end(struct find *f, bool has_more)
{
    buf_add_char(&f->out, ']');
    if (f->form == FIND_RECORDS) {
        if (has_more)
            write_cursor(f);
        buf_add_char(&f->out, '}');
    }
    f->is_done = true;
}

/* Write up to a slice; the end when there is no more. The numbers of another epoch mean nothing. */
static void fill(struct find *f)
{
    struct index_query query = {{NULL}};
    size_t n_visits = SLICE_VISITS;
    memcpy(query.terms, f->terms, sizeof query.terms);
    if (index_epoch(f->index) != f->epoch) {
        lines_broken_off(&f->out);
        f->is_done = true;
        return;
    }
    for (int i = 0; i < SLICE_RECORDS; i++) {
        uint64_t after = f->after;
        const struct mirror_node *node = index_next(f->index, &query, &after, &n_visits);
        if (!node && n_visits)
            write_end(f, false);
        else if (node && f->left == 0)
            write_end(f, true);
        if (f->is_done || !node) {
            f->after = f->is_done ? f->after : after;
            return;
        }
        f->after = after;
        f->left--;
        buf_auto struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        if (f->form == FIND_RECORDS)
            write_record(f, node, buf_cstr(&path));
        else
            write_targets(f, node, buf_cstr(&path));
    }
}

/* ---- answering ---- */

static struct find *find_new(const struct find_def *def)
{
    struct find *f = mem_new(struct find);
    obj_init(&f->obj, FIND_MAGIC);
    f->index = def->index;
    f->mirror = def->mirror;
    f->form = def->form;
    f->api = mem_str(def->terms[INDEX_API]);
    f->protocol = mem_str(def->terms[INDEX_PROTOCOL]);
    for (int kind = 0; kind < INDEX_N_KINDS; kind++)
        f->terms[kind] = mem_str(def->terms[kind]);
    if (f->protocol) {
        free(f->terms[INDEX_PROTOCOL]);
        f->terms[INDEX_PROTOCOL] = mem_str(index_protocol(f->protocol));
    }
    if (f->api && f->protocol)
        f->terms[INDEX_API_PROTOCOL] = index_pair(f->api, f->terms[INDEX_PROTOCOL]);
    f->epoch = index_epoch(def->index);
    f->after = def->after;
    f->left = def->limit;
    f->first = true;
    buf_add_str(&f->out, def->form == FIND_RECORDS ? "{\"records\":[" : "[");
    return f;
}

static void find_free(void *arg)
{
    struct find *f = obj_cast(arg, struct find, FIND_MAGIC);
    for (int kind = 0; kind < INDEX_N_KINDS; kind++)
        free(f->terms[kind]);
    free(f->api);
    free(f->protocol);
    buf_fini(&f->out);
    obj_fini(&f->obj);
    free(f);
}

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct find *f = obj_cast(arg, struct find, FIND_MAGIC);
    if (f->n_taken == f->out.len) {
        if (f->is_done)
            return -1;
        buf_clear(&f->out);
        f->n_taken = 0;
        fill(f);
        if (!f->out.len)
            buf_add_char(&f->out, ' ');
    }
    size_t n = f->out.len - f->n_taken;
    n = n < max ? n : max;
    memcpy(to, f->out.bytes + f->n_taken, n);
    f->n_taken += n;
    return (ssize_t)n;
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = find_free};

void find_reply(struct http_req *req, const struct find_def *def)
{
    struct find *f = find_new(def);
    fill(f);
    if (!f->is_done) {
        http_stream_start(req, 200, "application/json", &stream_ops, f);
        return;
    }
    http_reply(req, 200, "application/json", &f->out);
    find_free(f);
}
