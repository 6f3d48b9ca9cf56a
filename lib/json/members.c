#include "json/members.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

static bool is_known(const char *key, const char *const *names)
{
    while (*names && strcmp(*names, key) != 0)
        names++;
    return *names != NULL;
}

int members_check(const json_t *object, const char *const *names, struct err_info *why)
{
    void *at = json_object_iter((json_t *)object);
    buf_auto struct buf list = BUF_EMPTY;
    while (at && is_known(json_object_iter_key(at), names))
        at = json_object_iter_next((json_t *)object, at);
    if (!at)
        return 0;
    for (size_t i = 0; names[i]; i++)
        buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    mem_auto char *where = mem_fmt("/%s", json_object_iter_key(at));
    return err_set(why, ERR_INVALID, where, "there is no such member; there are: %s", buf_cstr(&list));
}
