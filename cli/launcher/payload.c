/** See payload.h. */
#include "payload.h"

#include <string.h>

#include "base/obj.h"

#define GZIP_ONLY 16 /* added to the window bits: zlib, inflateInit2 */

static bool is_gzip(const char *bytes, size_t len)
{
    return len >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

void payload_begin(struct payload *p, const char *bytes, size_t len, size_t max)
{
    *p = (struct payload){.bytes = bytes, .len = len, .left = max, .max = max};
    p->is_packed = is_gzip(bytes, len);
    if (!p->is_packed)
        return;
    BUG_IF(len > UINT32_MAX || inflateInit2(&p->z, GZIP_ONLY + MAX_WBITS) != Z_OK);
    p->z.next_in = (Bytef *)bytes;
    p->z.avail_in = (uInt)len;
}

static size_t copy(struct payload *p, unsigned char *out, size_t size)
{
    size_t n = p->len < size ? p->len : size;

    if (n)
        memcpy(out, p->bytes, n);
    p->bytes += n;
    p->len -= n;
    return n;
}

static int unpack(struct payload *p, unsigned char *out, size_t size, size_t *n, struct err_info *why)
{
    uInt room = size < (1u << 20) ? (uInt)size : 1u << 20;

    *n = 0;
    if (p->is_over)
        return 0;
    p->z.next_out = out;
    p->z.avail_out = room;
    int result = inflate(&p->z, Z_NO_FLUSH);
    *n = room - p->z.avail_out;
    p->is_over = result == Z_STREAM_END;
    if (result == Z_BUF_ERROR || (result == Z_OK && !*n))
        return err_set(why, ERR_PARSE, NULL, "the gzip is truncated");
    if (result != Z_OK && !p->is_over)
        return err_set(why, ERR_PARSE, NULL, "the gzip is damaged: %s",
                       p->z.msg ? p->z.msg : "not understood");
    if (p->is_over && p->z.avail_in)
        return err_set(why, ERR_PARSE, NULL, "something stands behind the gzip");
    return 0;
}

int payload_read(struct payload *p, unsigned char *out, size_t size, size_t *n, struct err_info *why)
{
    int err = 0;

    if (p->is_packed)
        err = unpack(p, out, size, n, why);
    else
        *n = copy(p, out, size);
    if (!err && *n > p->left)
        err = err_set(why, ERR_TOOBIG, NULL, "has more than %zu bytes%s", p->max,
                      p->is_packed ? " unpacked" : "");
    if (!err)
        p->left -= *n;
    return err;
}

void payload_end(struct payload *p)
{
    if (p->is_packed)
        inflateEnd(&p->z);
    *p = (struct payload){0};
}
