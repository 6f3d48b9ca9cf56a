#include "repeats/note.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/writer.h"

static void write_answer(struct jw *w, const struct http_kept_answer *answer)
{
    jw_kint(w, "status", answer->status);
    jw_kint(w, "error", answer->error);
    if (answer->media_type)
        jw_kstr(w, "type", answer->media_type);
    if (answer->has_lost_body || answer->body.len > NOTE_BODY_MAX)
        jw_kbool(w, "bodyLost", true);
    jw_key(w, "headers");
    jw_array(w);
    for (const struct http_pair *h = answer->headers; h; h = h->next) {
        jw_array(w);
        jw_str(w, h->name);
        jw_str(w, h->value);
        jw_array_end(w);
    }
    jw_array_end(w);
}

void note_write(const char *by, const struct http_kept_answer *answer, struct buf *out)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "by", by);
    if (answer)
        write_answer(&w, answer);
    jw_object_end(&w);
    buf_add_char(out, '\n');
    if (answer && answer->body.len && answer->body.len <= NOTE_BODY_MAX)
        buf_add(out, answer->body.bytes, answer->body.len);
}

static void read_headers(const json_t *list, struct http_kept_answer *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        const char *value = json_string_value(json_array_get(pair, 1));
        if (name && value)
            http_kept_header(out, name, value);
    }
}

static void read_answer(const json_t *doc, struct note *k)
{
    int64_t status = json_integer_value(json_object_get(doc, "status"));
    const char *type = json_string_value(json_object_get(doc, "type"));
    k->state = NOTE_ANSWERED;
    k->answer.status = status >= 200 && status <= 599 ? (int)status : 0;
    k->answer.error = (int)json_integer_value(json_object_get(doc, "error"));
    k->answer.media_type = type ? mem_str(type) : NULL;
    k->answer.has_lost_body = json_is_true(json_object_get(doc, "bodyLost"));
    read_headers(json_object_get(doc, "headers"), &k->answer);
}

struct note note_read(const char *bytes, size_t len)
{
    struct note k = {0};
    json_auto json_t *doc = NULL;
    const char *end = len ? memchr(bytes, '\n', len) : NULL;
    if (!end || json_read(bytes, (size_t)(end - bytes), &doc, NULL))
        return k;
    const char *by = json_string_value(json_object_get(doc, "by"));
    if (!by)
        return k;
    k.by = mem_str(by);
    k.state = NOTE_TAKEN;
    if (!json_object_get(doc, "status"))
        return k;
    read_answer(doc, &k);
    buf_add(&k.answer.body, end + 1, (size_t)(bytes + len - end - 1));
    return k;
}

void note_fini(struct note *k)
{
    free(k->by);
    http_kept_fini(&k->answer);
}
