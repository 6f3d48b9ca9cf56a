#include "json/json.h"
#include "base/obj.h"

#include <stdio.h>

int json_read(const char *bytes, size_t len, json_t **out, struct err_info *why)
{
    json_error_t error;
    json_t *value = json_loadb(bytes ? bytes : "", len, JSON_DECODE_ANY, &error);
    if (!value) {
        char where[48];
        /* jansson quotes the input in its text; control characters of it must not reach a log or a terminal. */
        for (char *p = error.text; *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                *p = '?';
        snprintf(where, sizeof where, "%d:%d", error.line, error.column);
        return err_set(why, ERR_JSON, where, "%s", error.text);
    }
    *out = value;
    return 0;
}

static int add_piece(const char *piece, size_t len, void *into)
{
    struct buf *out = into;
    buf_add(out, piece, len);
    return 0;
}

void json_write(const json_t *value, struct buf *out)
{
    BUG_IF(json_dump_callback(value, add_piece, out, JSON_COMPACT | JSON_ENCODE_ANY) != 0);
}

void json_write_pretty(const json_t *value, struct buf *out)
{
    BUG_IF(json_dump_callback(value, add_piece, out, JSON_INDENT(2) | JSON_ENCODE_ANY) != 0);
}
