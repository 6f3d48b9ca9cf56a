#include "feed/lines.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/record.h"

#include <stdlib.h>
#include <string.h>

/* Room for a stat and a revision as members. */
enum { STAT_MAX = 64 + 3 * STR_I64_MAX, REVISION_MAX = 32 + STORE_REVISION_MAX };

/* Put a string literal at `to`, without its NUL; `to` moves on. */
#define PUT(to, literal) (memcpy((to), (literal), sizeof(literal) - 1), (to) += sizeof(literal) - 1)

static void put_number(char **to, int64_t number)
{
    *to += str_put_i64(*to, number);
}

/* "time":…,"size":… @return the end */
static char *put_stat(char *to, const struct store_stat *stat)
{
    PUT(to, "\"time\":");
    put_number(&to, stat->ctime_ms);
    PUT(to, ",\"size\":");
    put_number(&to, stat->data_len);
    return to;
}

/* "revision":"…" @return the end */
static char *put_revision(char *to, const char *store_id, int64_t zxid)
{
    PUT(to, "\"revision\":\"");
    store_revision_text(store_id, zxid, to);
    to += strlen(to);
    PUT(to, "\"");
    return to;
}

static void revision(struct jw *w, const char *store_id, int64_t zxid)
{
    char text[REVISION_MAX];
    jw_raw(w, text, (size_t)(put_revision(text, store_id, zxid) - text));
}

void lines_status(struct jw *w, const char *name, const struct store_stat *stat, const char *store_id)
{
    char text[STAT_MAX + REVISION_MAX];
    char *end = put_stat(text, stat);
    PUT(end, ",\"children\":");
    put_number(&end, stat->n_children);
    PUT(end, ",");
    end = put_revision(end, store_id, stat->mzxid);
    jw_literal_key(w, "status");
    jw_object(w);
    jw_literal_key(w, "path");
    jw_str(w, name);
    jw_raw(w, text, (size_t)(end - text));
    jw_object_end(w);
}

bool lines_record(struct buf *out, const char *bytes, size_t len)
{
    struct reg_record *record;
    if (reg_record_read(bytes, len, REG_STRICT, &record, NULL))
        return false;
    size_t n;
    mem_auto char *canonical = reg_record_write(record, &n);
    reg_record_free(record);
    buf_add(out, canonical, n);
    return true;
}

/* What a node's bytes are: its note in the mirror. */
enum { NOTE_NO_RECORD = 1, NOTE_CANONICAL, NOTE_OTHER };

bool lines_node_record(struct buf *out, const struct mirror_node *node)
{
    size_t before = out->len, len = node->stat.data_len;
    uint8_t note = mirror_node_note(node);
    if (note == NOTE_NO_RECORD)
        return false;
    if (note == NOTE_CANONICAL) {
        buf_add(out, node->data, len);
        return true;
    }
    bool is_record = lines_record(out, node->data, len);
    bool is_same = is_record && out->len - before == len && memcmp(out->bytes + before, node->data, len) == 0;
    mirror_node_set_note(node, !is_record ? NOTE_NO_RECORD : is_same ? NOTE_CANONICAL : NOTE_OTHER);
    return is_record;
}

void lines_node_service(struct jw *w, const struct mirror_node *node)
{
    buf_auto struct buf record = BUF_EMPTY;
    if (mirror_node_note(node) == NOTE_CANONICAL) {
        jw_literal_key(w, "service");
        jw_raw(w, node->data, node->stat.data_len);
        return;
    }
    if (!lines_node_record(&record, node))
        return;
    jw_key(w, "service");
    jw_raw(w, record.bytes, record.len);
}

bool lines_node_has_external(const struct mirror_node *node)
{
    struct reg_record *r;
    if (reg_record_read(node->data, node->stat.data_len, REG_STRICT, &r, NULL))
        return false;
    bool has_external = !r->external.absent;
    reg_record_free(r);
    return has_external;
}

bool lines_service(struct jw *w, const char *bytes, size_t len)
{
    buf_auto struct buf record = BUF_EMPTY;
    if (!lines_record(&record, bytes, len))
        return false;
    jw_key(w, "service");
    jw_raw(w, record.bytes, record.len);
    return true;
}

bool lines_why_invalid(struct buf *out, const char *bytes, size_t len)
{
    struct reg_record *record = NULL;
    struct err_info why;
    int err = reg_record_read(bytes, len, REG_STRICT, &record, &why);
    reg_record_free(record);
    if (err == ERR_RECORD)
        buf_add_str(out, why.text);
    return err == ERR_RECORD;
}

void lines_node_invalid(struct jw *w, const struct mirror_node *node)
{
    buf_auto struct buf why = BUF_EMPTY;
    bool is_record = mirror_node_note(node) != NOTE_NO_RECORD;
    if (!is_record && lines_why_invalid(&why, node->data, node->stat.data_len))
        jw_kstr(w, "invalidRecord", why.bytes);
}

void lines_put(struct buf *out, const char *path, const struct mirror_node *node, const char *store_id)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "type", "put");
    jw_kstr(&w, "path", path);
    char text[STAT_MAX];
    revision(&w, store_id, node->stat.mzxid);
    jw_raw(&w, text, (size_t)(put_stat(text, &node->stat) - text));
    lines_node_service(&w, node);
    jw_object_end(&w);
    buf_add_char(out, '\n');
}

void lines_delete(struct buf *out, const char *path, int64_t zxid, const char *store_id)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "type", "delete");
    jw_kstr(&w, "path", path);
    revision(&w, store_id, zxid);
    jw_object_end(&w);
    buf_add_char(out, '\n');
}

void lines_mark(struct buf *out, const char *type, int64_t zxid, const char *store_id, enum lines_stale stale)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "type", type);
    revision(&w, store_id, zxid);
    if (stale != LINES_UNSAID)
        jw_kbool(&w, "stale", stale == LINES_STALE);
    jw_object_end(&w);
    buf_add_char(out, '\n');
}

int lines_why_replaced(struct err_info *why)
{
    return err_set(why, ERR_GONE, "", "the store was replaced meanwhile: this is not everything, ask again");
}

void lines_broken_off(struct buf *out)
{
    struct err_info why;
    mem_auto char *type = mem_fmt("urn:bobbin:error:%s", err_type(lines_why_replaced(&why)));
    struct jw w = jw_on(out);
    buf_add_char(out, '\n');
    jw_object(&w);
    jw_kstr(&w, "error", type);
    jw_kstr(&w, "detail", why.text);
    jw_object_end(&w);
    buf_add_char(out, '\n');
}
