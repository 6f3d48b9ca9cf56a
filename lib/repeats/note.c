#include "repeats/note.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/obj.h"
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

/** Whether an answer may have a header: not one that speaks of a connection or of how a body is sent, nor one without a proper name.
 *  Source: RFC 9110 5.6.2, 7.6.1, 8.3, 8.6. */
static bool is_header(const char *name)
{
    static const char token[] =
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static const char *const others[] = {"Connection", "Content-Length", "Content-Type",      "Date",
                                         "Keep-Alive", "Trailer",        "Transfer-Encoding", "Upgrade"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (strcasecmp(name, others[i]) == 0)
            return false;
    }
    return *name && !name[strspn(name, token)];
}

/** @return false: no answer of ours has these */
static bool read_headers(const json_t *list, struct http_kept_answer *out)
{
    if (json_array_size(list) > NOTE_HEADERS_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        const char *value = json_string_value(json_array_get(pair, 1));
        if (!name || !value || !is_header(name))
            return false;
        http_kept_header(out, name, value);
    }
    return true;
}

/** @return false: it is none of ours */
static bool read_answer(const json_t *doc, struct http_kept_answer *out)
{
    int64_t status = json_integer_value(json_object_get(doc, "status"));
    const char *type = json_string_value(json_object_get(doc, "type"));
    out->status = status >= 200 && status <= 599 ? (int)status : 0;
    out->error = (int)json_integer_value(json_object_get(doc, "error"));
    out->media_type = type ? mem_str(type) : NULL;
    out->has_lost_body = json_is_true(json_object_get(doc, "bodyLost"));
    return read_headers(json_object_get(doc, "headers"), out);
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
    if (!read_answer(doc, &k.answer)) {
        http_kept_fini(&k.answer);
        k.state = NOTE_BROKEN;
        return k;
    }
    k.state = NOTE_ANSWERED;
    buf_add(&k.answer.body, end + 1, (size_t)(bytes + len - end - 1));
    return k;
}

void note_fini(struct note *k)
{
    free(k->by);
    http_kept_fini(&k->answer);
}
