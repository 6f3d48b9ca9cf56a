/** What a map_sink gets, as sorted lines, for the tests of dnsd/names. */
#ifndef NAMES_KIT_H
#define NAMES_KIT_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "names/emit.h"
#include "names/map.h"
#include "wire/rdata.h"

enum { KIT_LINES = 64 };

struct kit_lines {
    char *items[KIT_LINES];
    size_t n;
};

static inline void kit_rdata_text(const struct zone_rr *rr, struct buf *out)
{
    char name[NAME_TEXT_MAX], ip[64];
    switch (rr->type) {
    case DNS_A:
    case DNS_AAAA:
        buf_add_str(out, inet_ntop(rr->type == DNS_A ? AF_INET : AF_INET6, rr->rdata, ip, sizeof ip));
        return;
    case DNS_SRV:
        buf_addf(out, "%u %u %u %s", wire_get16(rr->rdata), wire_get16(rr->rdata + 2),
                 wire_get16(rr->rdata + 4), name_to_text(rr->rdata + 6, name));
        return;
    case DNS_TXT:
        for (size_t i = 0; i < rr->rdlen; i += 1u + rr->rdata[i])
            buf_addf(out, "%s\"%.*s\"", i ? " " : "", rr->rdata[i], (const char *)rr->rdata + i + 1);
        return;
    default: buf_add_str(out, name_to_text(rr->rdata, name)); return;
    }
}

/** Add a line; the same one twice is one, as the zone counts it. */
static inline void kit_add_line(struct kit_lines *l, struct buf *take_line)
{
    char *text = buf_take(take_line);
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i], text) == 0) {
            free(text);
            return;
        }
    assert_true(l->n < KIT_LINES);
    l->items[l->n++] = text;
}

static inline void kit_line(struct kit_lines *l, const char *before, const struct zone_rr *rr)
{
    char owner[NAME_TEXT_MAX], type[16];
    struct buf line = BUF_EMPTY;
    assert_int_equal(rdata_check(rr->type, rr->rdata, rr->rdlen), 0);
    buf_addf(&line, "%s%s %u %s ", before, name_to_text(rr->owner, owner), rr->ttl_s,
             dns_type_text(rr->type, type));
    kit_rdata_text(rr, &line);
    kit_add_line(l, &line);
}

static inline void kit_on_rr(void *arg, const struct zone_rr *rr)
{
    kit_line(arg, "", rr);
}

static inline void kit_on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    kit_line(arg, is_ready ? "ready " : "unready ", rr);
}

static inline void kit_on_none(void *arg, const uint8_t *owner, uint16_t type, const char *reason)
{
    (void)type;
    char text[NAME_TEXT_MAX];
    struct buf line = BUF_EMPTY;
    buf_addf(&line, "none %s %s", name_to_text(owner, text), reason);
    kit_add_line(arg, &line);
}

static inline int kit_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Compare with lines that end in \n, sorted; l is empty afterwards. */
static inline void kit_expect(struct kit_lines *l, const char *want)
{
    struct buf text = BUF_EMPTY;
    qsort(l->items, l->n, sizeof l->items[0], kit_by_text);
    for (size_t i = 0; i < l->n; i++) {
        buf_addf(&text, "%s\n", l->items[i]);
        free(l->items[i]);
    }
    l->n = 0;
    assert_string_equal(buf_cstr(&text), want);
    buf_fini(&text);
}

/** An emit for domain dev.test. that collects lines. The caller may change options and sink. */
struct kit_emit {
    struct map_options options;
    struct map_sink sink;
    struct kit_lines lines;
    struct emit e;
    uint8_t domain[NAME_MAX_LEN];
};

static inline struct emit *kit_emit_init(struct kit_emit *k)
{
    memset(k, 0, sizeof *k);
    assert_true(name_from_text("dev.test.", 9, k->domain) > 0);
    k->options = (struct map_options){.domain = k->domain, .ttl_s = 30};
    k->sink =
        (struct map_sink){.rr = kit_on_rr, .arg = &k->lines, .shared = kit_on_shared, .none = kit_on_none};
    k->e = (struct emit){.options = &k->options, .sink = &k->sink, .ttl_s = k->options.ttl_s};
    return &k->e;
}

#endif
