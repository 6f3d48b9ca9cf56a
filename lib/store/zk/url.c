#include "store/zk/url.h"
#include "store/store_backend.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PORT = 2181 };

int zk_url_read(const char *url, char **servers, char **root, struct err_info *why)
{
    static const char scheme[] = "zk://";
    if (!str_starts(url, scheme))
        return err_set(why, ERR_INVALID, url, "a ZooKeeper store is named as zk://host:port,host:port/path");
    const char *list = url + strlen(scheme);
    const char *path = strchrnul(list, '/');
    if (path == list)
        return err_set(why, ERR_INVALID, url, "no server is named between zk:// and the path");
    size_t path_len = strlen(path);
    if (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    mem_auto char *bare = mem_strn(path, path_len);
    struct err_info path_why = {0};
    if (path_len > 0 && store_path_check(bare, &path_why) != 0)
        return err_set(why, ERR_INVALID, url, "the path of the root is not valid: %s", path_why.text);
    *servers = mem_strn(list, (size_t)(path - list));
    *root = mem_strn(bare, path_len);
    return 0;
}

int zk_servers_read(const char *text, struct zk_servers *out, struct err_info *why)
{
    struct zk_servers list = {0};
    for (size_t i = 0;; i++) {
        mem_auto char *field = str_field(text, ',', i);
        if (!field)
            break;
        list.items = mem_resize(list.items, i + 1, sizeof *list.items);
        bool is_split =
            addr_split_host_port(field, DEFAULT_PORT, &list.items[i].host, &list.items[i].port) == 0;
        list.n_items = i + is_split;
        if (!is_split || !addr_is_host(list.items[i].host)) {
            zk_servers_fini(&list);
            return err_set(why, ERR_INVALID, NULL, "\"%.255s\" is no host or host:port", field);
        }
    }
    if (list.n_items == 0)
        return err_set(why, ERR_INVALID, text, "no ZooKeeper server is named");
    *out = list;
    return 0;
}

void zk_servers_fini(struct zk_servers *servers)
{
    for (size_t i = 0; i < servers->n_items; i++)
        free(servers->items[i].host);
    free(servers->items);
    *servers = (struct zk_servers){0};
}
