#include "slider/condition.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "json/json.h"
#include "slider/kit.h"

#define TAG_BYTES 16

void slider_tag(const json_t *doc, char *out)
{
    buf_auto struct buf text = BUF_EMPTY;
    uint8_t digest[SHA256_LEN];
    json_write(doc, &text);
    sha256(text.bytes, text.len, digest);
    *out++ = '"';
    for (size_t i = 0; i < TAG_BYTES; i++)
        out += snprintf(out, 3, "%02x", digest[i]);
    strcpy(out, "\"");
}

bool slider_tag_matches(struct http_req *req, const json_t *doc)
{
    const char *condition = http_header(req, "If-Match");
    char tag[SLIDER_TAG_ROOM];
    slider_tag(doc, tag);
    if (!condition || strcmp(condition, "*") == 0 || strstr(condition, tag))
        return true;
    slider_reply_error(req, 412, "If-Match: the document is another one now");
    return false;
}
