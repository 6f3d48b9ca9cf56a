#include "shim/records.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void record_text(struct buf *out, const char *key, const char *value)
{
    if (!value)
        return;
    buf_addf(out, "%s=%s", key, value);
    buf_add_char(out, '\0');
}

void record_int(struct buf *out, const char *key, int64_t value)
{
    buf_addf(out, "%s=%" PRId64, key, value);
    buf_add_char(out, '\0');
}

void record_user(struct buf *out, const struct shim_user *u)
{
    if (!u->is_set)
        return;
    record_int(out, "uid", u->uid);
    record_int(out, "gid", u->gid);
    for (size_t i = 0; i < u->n_groups; i++)
        record_int(out, "group", u->groups[i]);
}

bool record_is_user(const char *key)
{
    return !strcmp(key, "uid") || !strcmp(key, "gid") || !strcmp(key, "group");
}

int record_take_user(struct shim_user *u, const char *key, const char *value)
{
    int64_t n;

    if (str_to_i64(value, 0, UINT32_MAX - 1, &n))
        return ERR_PARSE;
    u->is_set = true;
    if (!strcmp(key, "uid"))
        u->uid = (uid_t)n;
    else if (!strcmp(key, "gid"))
        u->gid = (gid_t)n;
    else if (u->n_groups < SHIM_GROUPS_MAX)
        u->groups[u->n_groups++] = (gid_t)n;
    else
        return ERR_PARSE;
    return 0;
}

int records_each(const char *bytes, size_t len, int (*take)(void *into, const char *key, const char *value),
                 void *into, struct err_info *why)
{
    const char *p = bytes, *end = bytes + len;

    while (p < end) {
        const char *stop = memchr(p, '\0', (size_t)(end - p));
        const char *eq = stop ? memchr(p, '=', (size_t)(stop - p)) : NULL;
        mem_auto char *key = eq ? mem_strn(p, (size_t)(eq - p)) : NULL;
        if (!key || take(into, key, eq + 1))
            return err_set(why, ERR_PARSE, key, "there is a bad record at byte %zu", (size_t)(p - bytes));
        p = stop + 1;
    }
    return 0;
}
