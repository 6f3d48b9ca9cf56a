/** The URLs of a registry's servers, as options and configuration list them. See client_priv.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "registry/client_priv.h"

void client_urls_free(char **urls)
{
    for (size_t i = 0; urls && urls[i]; i++)
        free(urls[i]);
    free(urls);
}

int client_urls_read(const char *list, char ***out, size_t *n, struct err_info *why)
{
    char **urls = mem_array(strlen(list) + 2, sizeof(char *));
    size_t n_urls = 0;
    char *url;

    while ((url = str_field(list, ',', n_urls))) {
        size_t len = strlen(url);
        size_t scheme = str_starts(url, "http://") ? 7 : str_starts(url, "https://") ? 8 : 0;

        while (len > scheme && url[len - 1] == '/')
            url[--len] = '\0';
        urls[n_urls++] = url;
        if (scheme && len > scheme && !strpbrk(url, "?# "))
            continue;
        client_urls_free(urls);
        return err_set(why, ERR_INVALID, list,
                       "not a registry URL (http://host:port, several comma-separated)");
    }
    *out = urls;
    *n = n_urls;
    return 0;
}

int reg_check_url(const char *url, struct err_info *why)
{
    char **urls = NULL;
    size_t n_urls = 0;
    int err = client_urls_read(url, &urls, &n_urls, why);

    if (!err)
        client_urls_free(urls);
    return err;
}
