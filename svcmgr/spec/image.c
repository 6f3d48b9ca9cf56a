/** Images and their mounts: which may be run here. See spec.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "spec/check.h"
#include "spec/properties.h"

#define IMAGE_MAX 512
#define TAG_MAX   128

/* ---- names of images ---- */

static bool is_lower(int ch)
{
    return islower(ch) || isdigit(ch);
}

static bool is_word(int ch)
{
    return isalnum(ch) || ch == '_';
}

/** A name that begins with these and has no path is read as a place of this host. */
static bool is_transport(const char *name, size_t len)
{
    static const char *const words[] = {
        "atomic", "containers-storage", "dir",    "docker", "docker-archive", "docker-daemon",
        "oci",    "oci-archive",        "ostree", "sif",    "tarball"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strlen(words[i]) == len && strncmp(words[i], name, len) == 0)
            return true;
    }
    return false;
}

/** Bytes of p that may be in a name, which begins and ends with a letter or digit; 0: none. */
static size_t span(const char *p, const char *also, bool upper_too)
{
    size_t n = 0;
    while (p[n] && (is_lower((unsigned char)p[n]) || (upper_too && isupper((unsigned char)p[n])) ||
                    strchr(also, p[n])))
        n++;
    return n && isalnum((unsigned char)p[0]) && isalnum((unsigned char)p[n - 1]) ? n : 0;
}

/** "registry.example:5000/" before the path. @return its length; 0: there is none */
static size_t host_len(const char *id)
{
    const char *slash = strchr(id, '/');
    size_t n = span(id, ".-", true), port = 0;
    if (!slash || !n)
        return 0;
    if (id[n] == ':')
        port = 1 + strspn(id + n + 1, "0123456789");
    bool is_host = port > 1 || memchr(id, '.', n) || (n == 9 && strncmp(id, "localhost", n) == 0);
    return is_host && id + n + port == slash ? n + port + 1 : 0;
}

static bool is_tag(const char *p, size_t len)
{
    if (!len || len > TAG_MAX || !is_word((unsigned char)*p))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_word((unsigned char)p[i]) && p[i] != '.' && p[i] != '-')
            return false;
    }
    return true;
}

static bool is_digest(const char *p)
{
    return str_starts(p, "sha256:") && strlen(p) == 7 + 64 && strspn(p + 7, "0123456789abcdef") == 64;
}

bool spec_image_is_valid(const char *id)
{
    const char *p = id + host_len(id);
    if (strlen(id) > IMAGE_MAX)
        return false;
    for (;; p++) {
        size_t n = span(p, "._-", false);
        if (!n)
            return false;
        p += n;
        if (*p != '/')
            break;
    }
    if (*p == ':') {
        size_t n = strcspn(p + 1, "@");
        if (is_transport(id, (size_t)(p - id)) || !is_tag(p + 1, n))
            return false;
        p += 1 + n;
    }
    return !*p || (*p == '@' && is_digest(p + 1));
}

/* ---- mounts ---- */

void spec_mount_fini(struct spec_mount *m)
{
    free(m->from);
    free(m->to);
    *m = (struct spec_mount){.from = NULL};
}

static bool is_clean_path(const char *path)
{
    if (*path != '/')
        return false;
    for (const char *p = path; p; p = strchr(p, '/')) {
        p++;
        if (str_starts(p, "..") && (p[2] == '/' || !p[2]))
            return false;
    }
    return true;
}

int spec_mount_read(const char *list, size_t index, struct spec_mount *out, struct err_info *why)
{
    mem_auto char *entry = str_field(list, ',', index);
    if (!entry)
        return 0;
    mem_auto char *mode = str_field(entry, ':', 2);
    mem_auto char *more = str_field(entry, ':', 3);
    struct spec_mount m = {str_field(entry, ':', 0), str_field(entry, ':', 1),
                           !mode || strcmp(mode, "ro") != 0};
    bool is_mode = !mode || strcmp(mode, "ro") == 0 || strcmp(mode, "rw") == 0;
    if (m.from && m.to && !more && is_mode && is_clean_path(m.from) && is_clean_path(m.to)) {
        *out = m;
        return 1;
    }
    spec_mount_fini(&m);
    return SPEC_REFUSE(why, "%.200s is no mount; write /FROM:/TO:ro or /FROM:/TO:rw, absolute and without ..",
                       entry);
}

bool spec_is_beneath(const char *directories, const char *path)
{
    mem_auto char *dir = NULL;
    for (size_t i = 0; directories && (dir = str_field(directories, ',', i)); i++, mem_free_ptr(&dir)) {
        size_t n = strlen(dir);
        while (n > 1 && dir[n - 1] == '/')
            n--;
        if (*dir == '/' && strncmp(dir, path, n) == 0 && (n == 1 || path[n] == '/' || !path[n]))
            return true;
    }
    return false;
}

bool spec_mount_is_allowed(const struct spec_mount *m, const char *ro_mounts, const char *rw_mounts)
{
    return spec_is_beneath(rw_mounts, m->from) || (!m->is_writable && spec_is_beneath(ro_mounts, m->from));
}

/* ---- what may be run here ---- */

/** The places of mounts; those with placeholders are known at the launch only, and refused there. */
static int check_mounts(const char *list, const struct spec_images *images, const char *where,
                        struct err_info *why)
{
    struct spec_mount m;
    int rc = *list && !strpbrk(list, "${");
    for (size_t i = 0; rc > 0; i++) {
        rc = spec_mount_read(list, i, &m, why);
        if (rc <= 0)
            break;
        bool is_allowed = spec_mount_is_allowed(&m, images->ro_mounts, images->rw_mounts);
        if (!is_allowed)
            rc = SPEC_REFUSE(why,
                             "%s: %.200s may not be mounted %s; it is not beneath a directory of "
                             "yarn.service.local.container-runtime.%s-mounts",
                             where, m.from, m.is_writable ? "for writing" : "for reading",
                             m.is_writable ? "rw" : "ro");
        spec_mount_fini(&m);
    }
    return rc;
}

/** A file of the environment holds one variable a line. */
static int check_variable(const char *name, const char *value, const char *where, struct err_info *why)
{
    bool is_plain = !strpbrk(name, " \t\r\n") && *name != '#' && !str_ends(name, "*");
    if (!is_plain)
        return SPEC_REFUSE(why, "%s: an image can have no variable of this name", where);
    if (strpbrk(value, "\r\n"))
        return SPEC_REFUSE(
            why, "%s: a variable of an image can have no line break; put the text into a config file", where);
    return 0;
}

/** A variable that asks Hadoop's runtime for something: of those that mean nothing here, none may ask. */
static int check_runtime_variable(const struct spec_component *c, const char *name, const char *value,
                                  const char *where, struct err_info *why)
{
    static const struct {
        const char *name, *value; /* NULL: any */
    } honoured[] = {
        {SPEC_MOUNTS_ENV, NULL},
        {SPEC_MOUNTS_ENV_OLD, NULL},
        {SPEC_ENTRY_POINT_ENV, NULL},
        {SPEC_RUNTIME_ENV "TYPE", "docker"},
        {SPEC_RUNTIME_ENV "DOCKER_CONTAINER_NETWORK", "host"},
    };
    bool asks = str_starts(name, SPEC_RUNTIME_ENV) && *value && strcmp(value, "false") != 0;
    bool is_known = strcmp(name, SPEC_PRIVILEGED_ENV) == 0 && c->run_privileged_container;

    for (size_t i = 0; !is_known && i < ARRAY_LEN(honoured); i++)
        is_known = strcmp(name, honoured[i].name) == 0 &&
                   (!honoured[i].value || strcmp(value, honoured[i].value) == 0);
    return !asks || is_known
               ? 0
               : SPEC_REFUSE(why, "%s: a local cluster cannot honour the value %.60s; remove it", where,
                             value);
}

static int check_env(const struct spec_component *c, size_t index, const struct spec_images *images,
                     struct err_info *why)
{
    const char *name;
    json_t *value;
    mem_auto char *base = mem_fmt("/components/%zu/configuration/env", index);
    json_object_foreach(c->configuration->env, name, value)
    {
        mem_auto char *where = spec_pointer(base, name);
        const char *text = json_string_value(value);
        int rc = check_variable(name, text, where, why);
        if (!rc)
            rc = check_runtime_variable(c, name, text, where, why);
        if (!rc && (strcmp(name, SPEC_MOUNTS_ENV) == 0 || strcmp(name, SPEC_MOUNTS_ENV_OLD) == 0))
            rc = check_mounts(text, images, where, why);
        if (rc)
            return rc;
    }
    return 0;
}

/** Hadoop's own two keys: privileged containers are allowed at all, and to whom. */
static int check_privileged(const struct spec_component *c, size_t index, const struct spec_world *world,
                            struct err_info *why)
{
    const struct spec_images *images = world->images;
    mem_auto char *user = NULL;
    if (!c->run_privileged_container)
        return 0;
    if (!images->privileged_is_allowed)
        return SPEC_REFUSE(
            why,
            "/components/%zu/run_privileged_container: "
            "yarn.nodemanager.runtime.linux.docker.privileged-containers.allowed is false; remove it",
            index);
    for (size_t i = 0; world->user && images->privileged_users; i++, mem_free_ptr(&user)) {
        user = str_field(images->privileged_users, ',', i);
        if (!user)
            break;
        if (strcmp(user, world->user) == 0)
            return 0;
    }
    return SPEC_REFUSE(why,
                       "/components/%zu/run_privileged_container: user %s is not in "
                       "yarn.nodemanager.runtime.linux.docker.privileged-containers.acl; remove it",
                       index, world->user ? world->user : "");
}

static int check_network(const struct spec_component *c, size_t index, struct err_info *why)
{
    const char *network =
        json_string_value(json_object_get(c->configuration->properties, spec_props[PROP_DOCKER_NETWORK].key));
    if (!network || !*network || strcmp(network, "host") == 0)
        return 0;
    return SPEC_REFUSE(
        why,
        "/components/%zu/configuration/properties/docker.network: a local cluster has no network %.60s but "
        "\"host\", in which each instance has an address of its own; remove it",
        index, network);
}

int spec_check_image(const struct spec_component *c, size_t index, const struct spec_world *world,
                     struct err_info *why)
{
    const struct spec_images *images = world->images;
    if (!spec_image_is_valid(c->artifact->id))
        return SPEC_REFUSE(why, "/components/%zu/artifact/id: %.200s is no image, as \"nginx:latest\" is",
                           index, c->artifact->id);
    if (!images || !images->program)
        return SPEC_REFUSE(
            why,
            "Component %s: neither podman nor docker is found, which run an artifact of type DOCKER; "
            "install podman, or set yarn.service.local.container-runtime to the path of one of them",
            c->name);
    int rc = check_privileged(c, index, world, why);
    if (!rc)
        rc = check_network(c, index, why);
    return rc ? rc : check_env(c, index, images, why);
}
