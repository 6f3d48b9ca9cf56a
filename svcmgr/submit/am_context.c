#include "submit/am_context.h"

#include <string.h>

#include "base/str.h"

enum { NO_PORT = -1, PORT_MAX = 65535 };

#define REDIRECTION " 1><LOG_DIR>/serviceam-out.txt 2><LOG_DIR>/serviceam-err.txt"

/* ---- command and environment ---- */

static bool is_name(const char *text)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    return *text && strchr(first, *text) &&
           strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") == strlen(text);
}

/* Nothing that means anything to a shell, nor to the node manager ("<LOG_DIR>", "{{NAME}}"). */
static bool is_plain(const char *text)
{
    return *text &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/=:,@%+-") ==
               strlen(text);
}

/* Between the quotes of one shell. */
static bool is_quotable(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || strchr("\"`$\\<>{}!", *p))
            return false;
    return true;
}

static int write_command(const struct submit_launch *l, struct buf *out, struct err_info *why)
{
    if (l->library_path && !is_plain(l->library_path))
        return err_set(why, ERR_INVALID, l->library_path, "a shell would not take this path as it is");
    if (l->library_path)
        buf_addf(out, "LD_LIBRARY_PATH=%s ", l->library_path);
    for (size_t i = 0; i < l->n_words; i++) {
        if (!is_plain(l->words[i]))
            return err_set(why, ERR_INVALID, l->words[i], "a shell would not take this word as it is");
        buf_addf(out, "%s%s", i ? " " : "", l->words[i]);
    }
    buf_add_str(out, REDIRECTION);
    return 0;
}

static int add_variables(struct arena *a, const struct submit_launch *l, Yarn__LaunchContext *m,
                         struct err_info *why)
{
    m->environment = arena_alloc(a, (l->n_variables + 1) * sizeof *m->environment);
    for (size_t i = 0; i < l->n_variables; i++) {
        const struct submit_variable *v = &l->variables[i];
        if (!is_name(v->name) || !is_quotable(v->value))
            return err_set(why, ERR_INVALID, v->name, "a shell would not take this variable as it is");
        Yarn__StringPair *pair = arena_new_obj(a, Yarn__StringPair);
        yarn__string_pair__init(pair);
        pair->key = arena_str(a, v->name);
        pair->value = arena_str(a, v->value);
        m->environment[i] = pair;
    }
    m->n_environment = l->n_variables;
    return 0;
}

/* ---- files ---- */

/* host, host:port, [address]:port; n octets. An absent port is -1: without it Hadoop reads 0. */
static bool read_authority(struct arena *a, const char *text, size_t n, Yarn__Url *out)
{
    const char *end = text + n, *host_end = end;
    int64_t port = NO_PORT;
    for (const char *p = text; p < end; p++)
        if (*p == ':')
            host_end = p;
    if (host_end < end && memchr(host_end, ']', (size_t)(end - host_end)))
        host_end = end;
    char *digits = arena_strn(a, host_end, (size_t)(end - host_end));
    if (*digits && str_to_i64(digits + 1, 1, PORT_MAX, &port) != 0)
        return false;
    out->host = host_end > text ? arena_strn(a, text, (size_t)(host_end - text)) : NULL;
    out->has_port = true;
    out->port = (int32_t)port;
    return true;
}

static bool read_url(struct arena *a, const char *url, Yarn__Url *out)
{
    const char *scheme_end = strstr(url, "://");
    if (!scheme_end || scheme_end == url)
        return false;
    const char *path = strchr(scheme_end + 3, '/');
    if (!path)
        return false;
    out->scheme = arena_strn(a, url, (size_t)(scheme_end - url));
    out->file = arena_str(a, path);
    return read_authority(a, scheme_end + 3, (size_t)(path - scheme_end - 3), out);
}

static int add_resource(struct arena *a, const struct submit_resource *r, Yarn__NamedLocalResource *out,
                        struct err_info *why)
{
    Yarn__LocalResource *m = arena_new_obj(a, Yarn__LocalResource);
    Yarn__Url *url = arena_new_obj(a, Yarn__Url);
    yarn__named_local_resource__init(out);
    yarn__local_resource__init(m);
    yarn__url__init(url);
    if (!is_plain(r->link) || *r->link == '/' || strstr(r->link, ".."))
        return err_set(why, ERR_INVALID, r->link, "no name of a file in the working directory");
    if (!read_url(a, r->url, url))
        return err_set(why, ERR_INVALID, r->link, "\"%.200s\" is no URL with a scheme and a path", r->url);
    m->resource = url;
    m->has_size = m->has_timestamp = m->has_type = m->has_visibility = true;
    m->size = r->size;
    m->timestamp = r->modified_ms;
    m->type = r->is_archive ? YARN__LOCAL_RESOURCE_TYPE__ARCHIVE : YARN__LOCAL_RESOURCE_TYPE__FILE;
    m->visibility = r->is_of_user ? YARN__LOCAL_RESOURCE_VISIBILITY__PRIVATE
                                  : YARN__LOCAL_RESOURCE_VISIBILITY__APPLICATION;
    out->key = arena_str(a, r->link);
    out->value = m;
    return 0;
}

static int add_resources(struct arena *a, const struct submit_launch *l, Yarn__LaunchContext *m,
                         struct err_info *why)
{
    m->local_resources = arena_alloc(a, (l->n_resources + 1) * sizeof *m->local_resources);
    for (size_t i = 0; i < l->n_resources; i++) {
        m->local_resources[i] = arena_new_obj(a, Yarn__NamedLocalResource);
        int err = add_resource(a, &l->resources[i], m->local_resources[i], why);
        if (err)
            return err;
    }
    m->n_local_resources = l->n_resources;
    return 0;
}

int submit_launch_message(struct arena *a, const struct submit_launch *l, Yarn__LaunchContext **out,
                          struct err_info *why)
{
    buf_auto struct buf command = BUF_EMPTY;
    Yarn__LaunchContext *m = arena_new_obj(a, Yarn__LaunchContext);
    yarn__launch_context__init(m);
    int err = write_command(l, &command, why);
    if (err == 0)
        err = add_variables(a, l, m, why);
    if (err == 0)
        err = add_resources(a, l, m, why);
    if (err)
        return err;
    m->command = arena_alloc(a, sizeof *m->command);
    m->command[0] = arena_str(a, buf_cstr(&command));
    m->n_command = 1;
    *out = m;
    return 0;
}

/* ---- the file of options ---- */

/* @return false: XML cannot hold it. */
static bool add_text(struct buf *out, const char *text)
{
    if (!utf8_valid(text, strlen(text)))
        return false;
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' && !strchr("\t\n\r", *p))
            return false;
        switch (*p) {
        case '&': buf_add_str(out, "&amp;"); break;
        case '<': buf_add_str(out, "&lt;"); break;
        case '>': buf_add_str(out, "&gt;"); break;
        case '\r': buf_add_str(out, "&#13;"); break;
        default: buf_add_char(out, *p);
        }
    }
    return true;
}

int submit_site(const struct submit_option *options, size_t n, struct buf *out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    buf_add_str(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n");
    for (size_t i = 0; i < n; i++) {
        buf_add_str(&text, "<property><name>");
        bool is_fine = add_text(&text, options[i].key);
        buf_add_str(&text, "</name><value>");
        is_fine = add_text(&text, options[i].value) && is_fine;
        buf_add_str(&text, "</value></property>\n");
        if (!is_fine)
            return err_set(why, ERR_INVALID, options[i].key, "XML cannot hold this value");
    }
    buf_add_str(&text, "</configuration>\n");
    buf_add(out, text.bytes, text.len);
    return 0;
}
