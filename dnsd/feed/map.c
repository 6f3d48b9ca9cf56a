#include "feed/map_inside.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "wire/rdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A packed block: 'c' description component ip id has-hostname, or 'a' and the endpoints (map_service.c). A field that the
 * record lacks is the single octet 1, which no attribute can be mistaken for. */
#define ABSENT "\x01"

static void pack_field(struct buf *out, const char *value)
{
    buf_add_str(out, value ? value : ABSENT);
    buf_add_char(out, 0);
}

const char *map_field(struct map_fields *f)
{
    if (f->p >= f->end)
        return NULL;
    const char *field = f->p;
    f->p += strlen(field) + 1;
    return field;
}

static const char *present(const char *field)
{
    return field && strcmp(field, ABSENT) != 0 ? field : NULL;
}

/* The first address of a list, trimmed; NULL when there is none. */
static char *first_ip(const char *ip)
{
    char *first = ip ? str_field(ip, ',', 0) : NULL;
    if (first && !*first)
        mem_free_ptr(&first);
    return first;
}

static void pack_container(const struct reg_record *r, struct buf *out)
{
    mem_auto char *ip = first_ip(reg_record_get(r, "yarn:ip"));
    if (!ip)
        return;
    pack_field(out, "c");
    pack_field(out, r->description);
    pack_field(out, reg_record_get(r, "yarn:component"));
    pack_field(out, ip);
    pack_field(out, reg_record_get(r, "yarn:id"));
    pack_field(out, reg_record_get(r, "yarn:hostname") ? "h" : NULL);
}

char *map_pack(const struct reg_record *record, size_t *len)
{
    struct buf out = BUF_EMPTY;
    const char *persistence = record ? reg_record_get(record, "yarn:persistence") : NULL;
    if (persistence && strcmp(persistence, "container") == 0)
        pack_container(record, &out);
    else if (persistence && record->external.n_items)
        map_pack_service(record, &out);
    if (!out.len)
        return NULL;
    *len = out.len;
    return buf_take(&out);
}

/* ---- records ---- */

void map_emit(struct map_run *run, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len)
{
    struct zone_rr rr = {owner, type, run->options->ttl_s, rdata, (uint16_t)len};
    run->sink->rr(run->sink->arg, &rr);
}

void map_emit_addr(struct map_run *run, const uint8_t *owner, const struct addr *a)
{
    map_emit(run, owner, a->family == AF_INET ? DNS_A : DNS_AAAA, a->bytes, a->family == AF_INET ? 4 : 16);
}

void map_emit_txt(struct map_run *run, const uint8_t *owner, const char *first, const char *second)
{
    uint8_t rdata[512];
    size_t len = 0;
    const char *strings[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        int n = strings[i] ? rdata_put_string(strings[i], strlen(strings[i]), rdata + len) : 0;
        if (n < 0)
            run->n_left_out++;
        else
            len += (size_t)n;
    }
    if (len)
        map_emit(run, owner, DNS_TXT, rdata, len);
}

/* UTF-8 to one octet a character. @return length; or ERR_PARSE beyond U+00FF or when it does not fit. */
static int to_octets(const char *text, char *out, size_t room)
{
    size_t left = strlen(text), n = 0;
    while (left) {
        uint32_t cp;
        size_t k = utf8_next(text, left, &cp);
        if (!k || cp > 0xff || n == room)
            return ERR_PARSE;
        out[n++] = (char)cp;
        text += k;
        left -= k;
    }
    return (int)n;
}

int map_name(struct map_run *run, const char *text, const uint8_t *rest, uint8_t *out)
{
    char octets[NAME_TEXT_MAX];
    int n = to_octets(text, octets, sizeof octets);
    int len = n > 0 ? name_join(octets, (size_t)n, rest, out) : ERR_PARSE;
    if (len < 0)
        run->n_left_out++;
    return len;
}

static int reverse_v4(const uint8_t *b, uint8_t *out)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%u.%u.%u.%u.in-addr.arpa.", b[3], b[2], b[1], b[0]);
    return name_from_text(text, (size_t)n, out);
}

int map_reverse_name(const struct addr *a, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    if (a->family == AF_INET)
        return reverse_v4(a->bytes, out);
    char text[80];
    size_t n = 0;
    for (int i = 15; i >= 0; i--) {
        text[n++] = digits[a->bytes[i] & 15];
        text[n++] = '.';
        text[n++] = digits[a->bytes[i] >> 4];
        text[n++] = '.';
    }
    memcpy(text + n, "ip6.arpa.", 10);
    return name_from_text(text, n + 9, out);
}

/* ---- containers ---- */

/* <service>.<user>.D of a container's path: the service is the element above the parent. */
static int container_suffix(struct map_run *run, const char *path, uint8_t *out)
{
    size_t n;
    char **elements = reg_path_split(path, &n);
    mem_auto char *user = reg_path_user(path);
    uint8_t under_user[NAME_MAX_LEN];
    int len = n >= 3 ? map_name(run, user, run->options->domain, under_user) : ERR_PARSE;
    if (len > 0)
        len = map_name(run, elements[n - 3], under_user, out);
    reg_path_split_free(elements);
    return len;
}

static void emit_instance(struct map_run *run, const uint8_t *name, const struct addr *ip, const char *id,
                          bool has_hostname)
{
    mem_auto char *text = mem_fmt("id=%s", id ? id : "null");
    uint8_t reverse[NAME_MAX_LEN], target[NAME_MAX_LEN];
    map_emit_addr(run, name, ip);
    map_emit_txt(run, name, text, NULL);
    if (has_hostname && map_reverse_name(ip, reverse) > 0)
        map_emit(run, reverse, DNS_PTR, target, rdata_put_name(name, target));
}

static void produce_container(struct map_run *run, const char *path, struct map_fields fields)
{
    mem_auto char *description = mem_str(present(map_field(&fields)));
    mem_auto char *component = mem_str(present(map_field(&fields)));
    const char *ip_text = map_field(&fields);
    const char *id = present(map_field(&fields));
    bool has_hostname = present(map_field(&fields)) != NULL;
    mem_auto char *last = reg_path_last(path);
    uint8_t suffix[NAME_MAX_LEN], name[NAME_MAX_LEN];
    struct addr ip;
    if (addr_read(ip_text, &ip)) {
        run->n_left_out++;
        return;
    }
    if (map_name(run, last, run->options->domain, name) > 0)
        map_emit_addr(run, name, &ip);
    if (container_suffix(run, path, suffix) < 0)
        return;
    if (component)
        str_lower(component);
    if (component && map_name(run, component, suffix, name) > 0)
        map_emit_addr(run, name, &ip);
    if (description)
        str_lower(description);
    if (description && map_name(run, description, suffix, name) > 0)
        emit_instance(run, name, &ip, id, has_hostname);
}

unsigned map_produce(const struct map_options *options, const char *path, const char *packed, size_t len,
                     const struct map_sink *sink)
{
    struct map_run run = {options, sink, 0};
    struct map_fields fields = {packed, packed + len};
    const char *kind = map_field(&fields);
    if (*kind == 'c')
        produce_container(&run, path, fields);
    else
        map_produce_service(&run, path, fields);
    return run.n_left_out;
}
