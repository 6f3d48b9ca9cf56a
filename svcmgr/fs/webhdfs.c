#include "fs/webhdfs.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"

char *webhdfs_escape(const char *text, const char *plain)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    buf_auto struct buf out = BUF_EMPTY;

    for (; *text; text++) {
        if (strchr(unreserved, *text) || strchr(plain, *text))
            buf_add_char(&out, *text);
        else
            buf_addf(&out, "%%%02X", (unsigned)(unsigned char)*text);
    }
    return buf_take(&out);
}

char *webhdfs_url(const char *url, const char *query, const char *user)
{
    mem_auto char *name = user && *user ? webhdfs_escape(user, "") : NULL;

    return mem_fmt("%s?%s%s%s", url, query, name ? "&user.name=" : "", name ? name : "");
}

/** @return member of the answer's object, borrowed from *top; NULL: *why says what there is instead. */
static const json_t *member_of(const char *bytes, size_t len, const char *name, json_t **top,
                               struct err_info *why)
{
    const json_t *found = json_read(bytes, len, top, NULL) ? NULL : json_object_get(*top, name);

    if (!found)
        err_set(why, ERR_PARSE, NULL, "it is no answer of WebHDFS: there is no \"%s\" in it", name);
    return found;
}

int webhdfs_read_status(const char *bytes, size_t len, struct fs_status *out, struct err_info *why)
{
    json_auto json_t *top = NULL;
    const json_t *s = member_of(bytes, len, "FileStatus", &top, why);
    const char *type = json_string_value(json_object_get(s, "type"));
    const json_t *size = json_object_get(s, "length"), *time = json_object_get(s, "modificationTime");

    if (!s)
        return ERR_PARSE;
    if (!type || json_integer_value(size) < 0 || !json_is_integer(size) || !json_is_integer(time))
        return err_set(
            why, ERR_PARSE, NULL,
            "it is no answer of WebHDFS: its \"FileStatus\" lacks type, length or modificationTime");
    *out = (struct fs_status){.is_dir = strcmp(type, "FILE") != 0,
                              .len = json_integer_value(size),
                              .modified_ms = json_integer_value(time),
                              .id = json_integer_value(json_object_get(s, "fileId"))};
    return 0;
}

int webhdfs_read_boolean(const char *bytes, size_t len, bool *out, struct err_info *why)
{
    json_auto json_t *top = NULL;
    const json_t *found = member_of(bytes, len, "boolean", &top, why);

    if (!found)
        return ERR_PARSE;
    *out = json_is_true(found);
    return 0;
}

static int code_of(const char *exception)
{
    static const struct {
        const char *name;
        int code;
    } rows[] = {
        {"FileNotFoundException", ERR_NOTFOUND},
        {"AccessControlException", ERR_PERMISSION},
        {"SecurityException", ERR_AUTH},
        {"StandbyException", ERR_UNAVAILABLE},
        {"RetriableException", ERR_UNAVAILABLE},
        {"SafeModeException", ERR_UNAVAILABLE},
        {"FileAlreadyExistsException", ERR_EXISTS},
        {"ParentNotDirectoryException", ERR_EXISTS},
        {"PathIsNotEmptyDirectoryException", ERR_NOTEMPTY},
        {"NSQuotaExceededException", ERR_LIMIT},
        {"DSQuotaExceededException", ERR_LIMIT},
        {"QuotaExceededException", ERR_LIMIT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].name, exception))
            return rows[i].code;
    return ERR_IO;
}

/** Bytes of the first line. */
static int line_len(const char *text)
{
    return text ? (int)strcspn(text, "\r\n") : 0;
}

int webhdfs_read_fault(int status, const char *bytes, size_t len, struct err_info *why)
{
    json_auto json_t *top = NULL;
    const json_t *e = json_read(bytes, len, &top, NULL) ? NULL : json_object_get(top, "RemoteException");
    const char *name = json_string_value(json_object_get(e, "exception"));
    const char *message = json_string_value(json_object_get(e, "message"));

    if (status == 401)
        return err_set(why, ERR_AUTH, NULL, "HTTP status 401: it wants another sign-in than user.name");
    if (!name)
        return err_set(why, status >= 500 ? ERR_UNAVAILABLE : ERR_IO, NULL,
                       "HTTP status %d, without a RemoteException", status);
    return err_set(why, code_of(name), NULL, "%.*s: %.*s", line_len(name), name, line_len(message),
                   message ? message : "");
}
