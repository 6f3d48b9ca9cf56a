#include "base/path.h"
#include "base/mem.h"

#include <string.h>

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_name_in(const char *path, size_t len)
{
    const char *slash = memrchr(path, '/', len);
    return slash ? slash + 1 : path;
}

size_t path_parent_len(const char *path)
{
    size_t len = (size_t)(path_name(path) - path);
    return len > 1 ? len - 1 : len;
}

char *path_parent(const char *path)
{
    size_t len = path_parent_len(path);
    return len ? mem_strn(path, len) : mem_str(".");
}
