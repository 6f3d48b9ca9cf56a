#include "names/map.h"
#include "base/buf.h"
#include "names/application.h"
#include "names/container.h"

#include <string.h>

/** Why a record has no names; the code is what is packed. */
#define NO_NAMES(X)                                                                                          \
    X(NO_PERSISTENCE, "p", "the record has no yarn:persistence")                                             \
    X(NO_IP, "i", "the container record has no yarn:ip")                                                     \
    X(NO_ENDPOINT, "e", "the application record has no external endpoint with an address")

enum no_names {
#define NO_NAMES_ENUM(token, code, text) token,
    NO_NAMES(NO_NAMES_ENUM)
#undef NO_NAMES_ENUM
        N_NO_NAMES,
};

static const struct {
    const char *code, *text;
} reasons[] = {
#define NO_NAMES_ROW(token, code, text) {code, text},
    NO_NAMES(NO_NAMES_ROW)
#undef NO_NAMES_ROW
};

static void pack_no_names(const struct reg_record *r, enum no_names why, struct buf *out)
{
    block_begin(out, BLOCK_NO_NAMES);
    block_add(out, reasons[why].code);
    block_add(out, r->description);
    block_add(out, reg_record_get(r, "yarn:component"));
}

char *map_pack(const struct reg_record *record, size_t *len)
{
    struct buf out = BUF_EMPTY;
    if (!record)
        return NULL;
    const char *persistence = reg_record_get(record, "yarn:persistence");
    if (!persistence) {
        pack_no_names(record, NO_PERSISTENCE, &out);
    } else if (strcmp(persistence, "container") == 0) {
        if (!container_pack(record, &out))
            pack_no_names(record, NO_IP, &out);
    } else if (!application_pack(record, &out)) {
        pack_no_names(record, NO_ENDPOINT, &out);
    }
    *len = out.len;
    return buf_take(&out);
}

bool map_has_names(const char *packed)
{
    return *packed != BLOCK_NO_NAMES;
}

const char *map_host(const char *packed, size_t len)
{
    struct block fields = {packed, packed + len};
    const char *host = NULL;
    switch (block_next_kind(&fields)) {
    case BLOCK_CONTAINER: host = container_host(fields); break;
    case BLOCK_APPLICATION: host = application_host(fields); break;
    case BLOCK_NO_NAMES: break;
    }
    return host && addresses_is_host_name(host) ? host : NULL;
}

static enum no_names reason_of(const char *code)
{
    for (int i = 0; code && i < N_NO_NAMES; i++)
        if (*reasons[i].code == *code)
            return (enum no_names)i;
    return NO_PERSISTENCE;
}

/* Emit why for the names that the record would have as a container and as an application, whichever it may be. */
static void emit_no_names(struct emit *e, const char *path, struct block fields)
{
    enum no_names why = reason_of(block_next(&fields));
    unsigned n_left_out = e->n_left_out;
    uint8_t service[NAME_MAX_LEN];
    if (!e->sink->none)
        return;
    if (why != NO_IP && application_name(e, path, service) > 0)
        emit_none(e, service, 0, reasons[why].text);
    if (why != NO_ENDPOINT)
        container_emit_none(e, path, fields, reasons[why].text);
    e->n_left_out = n_left_out; /* nobody asked for these names */
}

unsigned map_produce(const struct map_options *options, const char *path, const char *packed, size_t len,
                     const struct map_sink *sink)
{
    struct emit e = {.options = options, .sink = sink, .ttl_s = options->ttl_s};
    struct block fields = {packed, packed + len};
    switch (block_next_kind(&fields)) {
    case BLOCK_CONTAINER: container_emit(&e, path, fields); break;
    case BLOCK_APPLICATION: application_emit(&e, path, fields); break;
    case BLOCK_NO_NAMES: emit_no_names(&e, path, fields); break;
    }
    return e.n_left_out;
}
