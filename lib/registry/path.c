/**
 * Registry paths: joining, checking, splitting and the helper functions. See path.h.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"

#define USERS_PREFIX  "/users/"
#define SERVICES_PART "/services/"

char *reg_path_join(const char *base, const char *path)
{
    buf_auto struct buf b = BUF_EMPTY;

    if (!base || !path)
        return NULL;
    if (base[0] != '/')
        buf_add_char(&b, '/');
    buf_add_str(&b, base);
    if (b.bytes[b.len - 1] != '/')
        buf_add_char(&b, '/');
    buf_add_str(&b, path[0] == '/' ? path + 1 : path);
    if (b.len > 1 && b.bytes[b.len - 1] == '/')
        b.bytes[--b.len] = '\0';
    return buf_take(&b);
}

int reg_path_full(const char *base, const char *path, char **out, struct err_info *why)
{
    mem_auto char *joined = reg_path_join(base, path);
    int err;

    if (!joined)
        return err_set(why, ERR_INVALID, NULL, "no path given");
    err = reg_path_check(joined, why);
    if (err)
        return err;
    *out = joined;
    joined = NULL;
    return 0;
}

/** Joined to a root that is not "/", as in a cluster: that is what makes "//" no path. */
int reg_path_normal(const char *path, char **out, struct err_info *why)
{
    static const char root[] = "/r";
    mem_auto char *full = NULL;
    struct err_info inner = {0};
    int err = reg_path_full(root, path, &full, &inner);

    if (err)
        return err_set(why, err, path, "%s", inner.text);
    *out = mem_str(full[strlen(root)] ? full + strlen(root) : "/");
    return 0;
}

/** ZooKeeper forbids some UTF-16 units; a supplementary character is made of two forbidden ones. */
static bool char_allowed(uint32_t cp)
{
    return !(cp <= 0x1f || (cp >= 0x7f && cp <= 0x9f) || (cp >= 0xd800 && cp <= 0xf8ff) || cp >= 0xfff0);
}

static int check_characters(const char *path, const char *element, size_t len, struct err_info *why)
{
    size_t at = 0;

    while (at < len) {
        uint32_t cp;
        size_t n = utf8_next(element + at, len - at, &cp);

        if (n == 0)
            return err_set(why, ERR_PATH, path, "path is not UTF-8");
        if (!char_allowed(cp))
            return err_set(why, ERR_PATH, path, "character U+%04X is not allowed in a path", (unsigned)cp);
        at += n;
    }
    return 0;
}

/** @param is_visible  whether its characters are known to be fine */
static int check_element_zookeeper(const char *path, const char *element, size_t len, bool is_visible,
                                   struct err_info *why)
{
    if (len == 0)
        return err_set(why, ERR_PATH, path, "empty path element");
    if (element[0] == '.' && (len == 1 || (len == 2 && element[1] == '.')))
        return err_set(why, ERR_PATH, path, "relative path element \"%.*s\"", (int)len, element);
    return is_visible ? 0 : check_characters(path, element, len, why);
}

int reg_path_check(const char *path, struct err_info *why)
{
    const char *at;

    if (!path)
        return err_set(why, ERR_INVALID, NULL, "no path given");
    if (path[0] != '/')
        return err_set(why, ERR_PATH, path, "path does not start with '/'");
    if (path[1] == '\0')
        return 0;
    bool is_visible = str_is_visible(path, strlen(path));
    for (at = path; at;) {
        const char *element = at + 1;
        const char *end = strchrnul(element, '/');
        int err = check_element_zookeeper(path, element, (size_t)(end - element), is_visible, why);

        if (err)
            return err;
        at = *end ? end : NULL;
    }
    return 0;
}

/** [a-z0-9] | [a-z0-9][a-z0-9-]*[a-z0-9] */
static bool element_is_dns(const char *element)
{
    size_t len = strlen(element);

    if (len == 0 || element[0] == '-' || element[len - 1] == '-')
        return false;
    return strspn(element, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

int reg_path_check_element(const char *element, struct err_info *why)
{
    if (!element_is_dns(element))
        return err_set(why, ERR_PATH, element,
                       "path element \"%s\" is no DNS label (lower-case letters, digits, inner hyphens)",
                       element);
    if (strlen(element) > REG_LABEL_MAX)
        return err_set(why, ERR_PATH, element, "path element \"%s\" is longer than 63 bytes", element);
    return 0;
}

int reg_path_check_dns(const char *path, struct err_info *why)
{
    char **elements = reg_path_split(path, NULL);
    int err = 0;

    for (size_t i = 0; elements[i] && !err; i++)
        if (!element_is_dns(elements[i]))
            err = err_set(why, ERR_PATH, path, "path element \"%s\" is no DNS label", elements[i]);
    reg_path_split_free(elements);
    return err;
}

char **reg_path_split(const char *path, size_t *n)
{
    char **elements = mem_array(strlen(path) / 2 + 2, sizeof(char *));
    size_t n_elements = 0;

    while (*path) {
        size_t len = strcspn(path, "/");

        if (len > 0)
            elements[n_elements++] = mem_strn(path, len);
        path += len;
        path += *path == '/';
    }
    if (n)
        *n = n_elements;
    return elements;
}

void reg_path_split_free(char **elements)
{
    for (size_t i = 0; elements && elements[i]; i++)
        free(elements[i]);
    free(elements);
}

/** End of the last element (trailing slashes left out) and its start; both `path` when there is none. */
static void find_last(const char *path, const char **start, const char **end)
{
    *end = path + strlen(path);
    while (*end > path && (*end)[-1] == '/')
        (*end)--;
    *start = *end;
    while (*start > path && (*start)[-1] != '/')
        (*start)--;
}

char *reg_path_last(const char *path)
{
    const char *start, *end;

    find_last(path, &start, &end);
    return mem_strn(start, (size_t)(end - start));
}

int reg_path_parent(const char *path, char **out, struct err_info *why)
{
    buf_auto struct buf b = BUF_EMPTY;
    char **elements;
    size_t n;

    elements = reg_path_split(path, &n);
    for (size_t i = 0; i + 1 < n; i++)
        buf_addf(&b, "/%s", elements[i]);
    reg_path_split_free(elements);
    if (n == 0)
        return err_set(why, ERR_NOTFOUND, path, "the root has no parent");
    *out = n == 1 ? mem_str("/") : buf_take(&b);
    return 0;
}

int reg_home_path(const char *user, char **out, struct err_info *why)
{
    mem_auto char *converted = NULL;
    mem_auto char *encoded = NULL;
    int err;

    if (!user)
        return err_set(why, ERR_INVALID, NULL, "no user given");
    if (user[0] == '\0') {
        *out = mem_str(SERVICES_PART);
        return 0;
    }
    if (str_starts(user, USERS_PREFIX)) {
        *out = mem_str(user);
        return 0;
    }
    converted = reg_convert_user(user);
    err = reg_encode(converted, &encoded, why);
    if (err)
        return err;
    *out = reg_path_join(USERS_PREFIX, encoded);
    return 0;
}

/** Join each part (ended by NULL) to a home path. */
static int join_home(const char *user, const char *const *parts, char **out, struct err_info *why)
{
    char *path = NULL;
    int err = reg_home_path(user, &path, why);

    for (; !err && *parts; parts++) {
        char *longer = reg_path_join(path, *parts);

        free(path);
        path = longer;
    }
    if (!err)
        *out = path;
    return err;
}

int reg_class_path(const char *user, const char *service_class, char **out, struct err_info *why)
{
    if (!service_class)
        return err_set(why, ERR_INVALID, NULL, "no service class given");
    return join_home(user, (const char *[]){SERVICES_PART, service_class, NULL}, out, why);
}

int reg_service_path(const char *user, const char *service_class, const char *service, char **out,
                     struct err_info *why)
{
    if (!service_class || !service)
        return err_set(why, ERR_INVALID, NULL, "no service given");
    return join_home(user, (const char *[]){SERVICES_PART, service_class, service, NULL}, out, why);
}

int reg_components_path(const char *user, const char *service_class, const char *service, char **out,
                        struct err_info *why)
{
    if (!service_class || !service)
        return err_set(why, ERR_INVALID, NULL, "no service given");
    return join_home(user, (const char *[]){SERVICES_PART, service_class, service, "/components/", NULL}, out,
                     why);
}

int reg_component_path(const char *user, const char *service_class, const char *service,
                       const char *component, char **out, struct err_info *why)
{
    if (!service_class || !service || !component)
        return err_set(why, ERR_INVALID, NULL, "no component given");
    return join_home(user,
                     (const char *[]){SERVICES_PART, service_class, service, "/components/", component, NULL},
                     out, why);
}

int reg_design_service_path(const char *user, const char *service_class, const char *service, char **out,
                            struct err_info *why)
{
    if (!service_class || !service)
        return err_set(why, ERR_INVALID, NULL, "no service given");
    return join_home(user, (const char *[]){service_class, service, NULL}, out, why);
}

char *reg_path_user(const char *path)
{
    const char *at = path;

    while ((at = strstr(at, USERS_PREFIX))) {
        at += strlen(USERS_PREFIX);
        if (*at >= 'a' && *at <= 'z')
            return mem_strn(at, strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-."));
        at--; /* the slash may begin the next match */
    }
    return mem_str("anonymous");
}
