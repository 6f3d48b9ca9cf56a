#include "engine/document.h"

#include <stdio.h>
#include <string.h>

#include "json/json.h"
#include "json/writer.h"

#define FORMAT_MEMBER "format"

void document_write(const struct fld_type *type, const void *object, struct buf *out)
{
    struct jw w = jw_on(out);

    jw_object(&w);
    jw_kint(&w, FORMAT_MEMBER, DOCUMENT_FORMAT);
    fld_write_members(type, object, &w);
    jw_object_end(&w);
}

void document_write_value(const json_t *value, struct buf *out)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct jw w = jw_on(out);

    json_write(value, &text);
    jw_object(&w);
    jw_kint(&w, FORMAT_MEMBER, DOCUMENT_FORMAT);
    jw_key(&w, "value");
    jw_raw(&w, text.bytes, text.len);
    jw_object_end(&w);
}

void *document_read_plain(const struct fld_type *type, const char *bytes, size_t len)
{
    char start[32];
    int n = snprintf(start, sizeof start, "{\"" FORMAT_MEMBER "\":%d,", DOCUMENT_FORMAT);
    bool is_present = len > (size_t)n && memcmp(bytes, start, (size_t)n) == 0;
    return is_present ? fld_read_plain(type, FORMAT_MEMBER, bytes, len) : NULL;
}

int document_read(const char *key, const char *bytes, size_t len, json_t **out, int *format,
                  struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int rc = json_read(bytes, len, &doc, why);
    if (rc)
        return rc;
    const json_t *member = json_object_get(doc, FORMAT_MEMBER);
    json_int_t number = member ? json_integer_value(member) : 1;
    if (!json_is_object(doc) || number < 1)
        return err_set(why, ERR_JSON, key, "%s: not a document with a format", key);
    if (number > DOCUMENT_FORMAT)
        return err_set(why, ERR_UNSUPPORTED, key,
                       "%s: the document has format %lld, this version reads formats up to %d: start the "
                       "version that wrote it, or a newer one",
                       key, (long long)number, DOCUMENT_FORMAT);
    *format = (int)number;
    *out = json_incref(doc);
    return 0;
}

int document_of_text(const char *key, const char *text, json_t **out, struct err_info *why)
{
    int format = 0;
    return document_read(key, text, strlen(text), out, &format, why);
}
