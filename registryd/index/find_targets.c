/* Endpoints as Prometheus targets. */
#include "index/find.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

/* Where one address leads. */
struct target {
    char *host;
    uint16_t port;
    char *scheme, *path; /* of a URI; NULL: none */
};

static void target_fini(struct target *t)
{
    free(t->host);
    free(t->scheme);
    free(t->path);
}

static bool read_host_port(const struct reg_address *a, struct target *t)
{
    const char *host = reg_address_get(a, "host");
    const char *port = reg_address_get(a, "port");
    int64_t number;
    host = host ? host : reg_address_get(a, "hostname");
    if (!host || !*host || !port || str_to_i64(port, 1, UINT16_MAX, &number))
        return false;
    t->host = mem_str(host);
    t->port = (uint16_t)number;
    return true;
}

static bool read_uri(const struct reg_address *a, struct target *t)
{
    const char *uri = reg_address_get(a, "uri");
    const char *colon = uri ? strstr(uri, "://") : NULL;
    if (!colon)
        return false;
    t->scheme = mem_strn(uri, (size_t)(colon - uri));
    str_lower(t->scheme);
    const char *start = colon + 3, *end = start + strcspn(start, "/?#");
    mem_auto char *authority = mem_strn(start, (size_t)(end - start));
    const char *at = strrchr(authority, '@');
    uint16_t usual = strcmp(t->scheme, "https") == 0 ? 443 : strcmp(t->scheme, "http") == 0 ? 80 : 0;
    if (*end == '/')
        t->path = mem_strn(end, strcspn(end, "?#"));
    return addr_split_host_port(at ? at + 1 : authority, usual, &t->host, &t->port) == 0 && t->port;
}

static bool read_target(const struct reg_endpoint *e, const struct reg_address *a, struct target *t)
{
    *t = (struct target){0};
    return strcmp(e->address_type, "uri") == 0 ? read_uri(a, t) : read_host_port(a, t);
}

/* What the labels of a group say besides its target. */
struct origin {
    const char *path, *scope;
    const struct reg_record *record;
    const struct reg_endpoint *endpoint;
};

static void label(struct jw *w, const char *name, const char *value)
{
    if (value && *value)
        jw_kstr(w, name, value);
}

static void write_labels(struct jw *w, const struct origin *o, const struct target *t)
{
    struct index_terms terms;
    index_terms_read(o->path, o->record, &terms);
    jw_key(w, "labels");
    jw_object(w);
    label(w, "__meta_bobbin_path", o->path);
    label(w, "__meta_bobbin_api", o->endpoint->api);
    label(w, "__meta_bobbin_protocol", o->endpoint->protocol_type);
    label(w, "__meta_bobbin_address_type", o->endpoint->address_type);
    label(w, "__meta_bobbin_scope", o->scope);
    for (size_t i = 0; i < terms.n_items; i++) {
        if (terms.items[i].kind == INDEX_USER)
            label(w, "__meta_bobbin_user", terms.items[i].text);
        else if (terms.items[i].kind == INDEX_CLASS)
            label(w, "__meta_bobbin_class", terms.items[i].text);
    }
    label(w, "__meta_bobbin_component", reg_record_get(o->record, "yarn:component"));
    label(w, "__meta_bobbin_id", reg_record_get(o->record, "yarn:id"));
    label(w, "__meta_bobbin_description", o->record->description);
    if (t->scheme && (strcmp(t->scheme, "http") == 0 || strcmp(t->scheme, "https") == 0)) {
        label(w, "__scheme__", t->scheme);
        label(w, "__metrics_path__", t->path && t->path[1] ? t->path : NULL);
    }
    jw_object_end(w);
    index_terms_fini(&terms);
}

static void write_group(struct buf *out, const struct origin *o, const struct target *t)
{
    struct jw w = jw_on(out);
    bool is_v6 = strchr(t->host, ':') != NULL;
    mem_auto char *text = mem_fmt(is_v6 ? "[%s]:%u" : "%s:%u", t->host, (unsigned)t->port);
    jw_object(&w);
    jw_key(&w, "targets");
    jw_array(&w);
    jw_str(&w, text);
    jw_array_end(&w);
    write_labels(&w, o, t);
    jw_object_end(&w);
}

static void write_endpoint(struct buf *out, const struct origin *o, bool *first)
{
    for (size_t i = 0; i < o->endpoint->n_addresses; i++) {
        struct target t;
        if (read_target(o->endpoint, &o->endpoint->addresses[i], &t)) {
            if (!*first)
                buf_add_char(out, ',');
            *first = false;
            write_group(out, o, &t);
        }
        target_fini(&t);
    }
}

void find_write_targets(struct buf *out, const char *path, const struct reg_record *record, const char *api,
                        const char *protocol, bool *first)
{
    const struct reg_endpoints *lists[] = {&record->external, &record->internal};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->n_items; i++) {
            const struct reg_endpoint *e = &lists[l]->items[i];
            struct origin o = {path, l ? "internal" : "external", record, e};
            bool fits =
                (!api || strcmp(api, e->api) == 0) &&
                (!protocol || strcmp(index_protocol(protocol), index_protocol(e->protocol_type)) == 0);
            if (fits)
                write_endpoint(out, &o, first);
        }
    }
}
