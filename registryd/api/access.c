/**
 * The identity of a caller, and the write accessors that a request grants. See docs/registry-rest.md.
 */
#include "api/api.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Bytes of the SHA-1 in a digest id. */
#define SHA1_LEN 20

static int bad_accessor(struct err_info *why, const char *header)
{
    return err_set(why, ERR_AUTH, header, "Invalid id:password");
}

/* The id:password of HTTP Basic. @return 0 and *pair, or ERR_AUTH. */
static int read_basic(const char *header, struct buf *pair, struct err_info *why)
{
    const char *text = header + strlen("Basic ");
    text += strspn(text, " ");
    if (base64_get(text, strlen(text), pair) || memchr(buf_cstr(pair), 0, pair->len))
        return bad_accessor(why, "Authorization");
    return 0;
}

int api_accessor(struct http_req *req, char **pair, char **digest, struct err_info *why)
{
    const char *own = http_header(req, "X-Bobbin-Accessor");
    const char *basic = http_header(req, "Authorization");
    buf_auto struct buf decoded = BUF_EMPTY;
    *pair = *digest = NULL;
    if (!own && (!basic || strncasecmp(basic, "Basic ", strlen("Basic ")) != 0))
        return 0;
    int err = own ? 0 : read_basic(basic, &decoded, why);
    if (err)
        return err;
    *pair = mem_str(own ? own : buf_cstr(&decoded));
    if (reg_digest_id(*pair, digest, NULL))
        return bad_accessor(why, own ? "X-Bobbin-Accessor" : "Authorization");
    return 0;
}

/* `id:` and base64 of 20 bytes. */
static bool is_digest_id(const char *id)
{
    const char *hash = strchr(id, ':');
    buf_auto struct buf bytes = BUF_EMPTY;
    return hash && hash != id && base64_get(hash + 1, strlen(hash + 1), &bytes) == 0 && bytes.len == SHA1_LEN;
}

int api_write_accessors(struct http_req *req, const char *own_digest, struct acl_list *more,
                        struct err_info *why)
{
    const char *at = http_header(req, "X-Bobbin-Write-Accessors");
    int err = 0;
    if (own_digest)
        acl_add(more, STORE_ALL, "digest", own_digest);
    for (at = at ? at : ""; !err && *at;) {
        size_t n = strcspn(at, ",");
        mem_auto char *field = mem_strn(at, n);
        mem_auto char *id = str_trim(field);
        if (is_digest_id(id))
            acl_add(more, STORE_ALL, "digest", id);
        else
            err = err_set(why, ERR_INVALID, "X-Bobbin-Write-Accessors",
                          "a write accessor is id:base64(sha1(id:password)), several with commas between");
        at += n + (at[n] == ',');
    }
    return err;
}

int api_may_administer(struct http_req *req, void *arg, struct err_info *why)
{
    const struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct access_question q = {ACCESS_DELETE_ALL, "/", http_user(req), NULL};
    if (access_is_free(api->access, &q))
        return 0;
    return err_set(
        why, ERR_PERMISSION, http_raw_path(req),
        "%s may not do this: only the accounts of hadoop.registry.system.accounts administer a secure "
        "registry",
        q.user ? q.user : "nobody");
}

int api_may_steer(struct http_req *req, void *arg, struct err_info *why)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    return access_is_secure(api->access) ? api_may_administer(req, api, why) : http_check_local(req, why);
}
