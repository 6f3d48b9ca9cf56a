/**
 * The digest ids of ACLs. See registry.h.
 */
#include <gnutls/crypto.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "bobbin/registry.h"

#define SHA1_LEN 20

/* Split at colons, empty pieces at the end dropped, there are two and neither is empty. */
static bool is_pair(const char *text)
{
    size_t id_len = strcspn(text, ":");
    const char *rest = text + id_len;

    if (id_len == 0 || *rest == '\0')
        return false;
    rest++;
    size_t password_len = strcspn(rest, ":");
    return password_len > 0 && strspn(rest + password_len, ":") == strlen(rest + password_len);
}

int reg_digest_id(const char *id_password, char **out, struct err_info *why)
{
    unsigned char hash[SHA1_LEN];
    buf_auto struct buf id = BUF_EMPTY;

    if (!id_password || !is_pair(id_password))
        return err_set(why, ERR_IO, NULL, "Invalid id:password");
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, id_password, strlen(id_password), hash) != 0)
        return err_set(why, ERR_INTERNAL, NULL, "SHA-1 is not available");
    buf_add(&id, id_password, strcspn(id_password, ":") + 1);
    base64_put(&id, hash, sizeof hash);
    *out = buf_take(&id);
    return 0;
}
