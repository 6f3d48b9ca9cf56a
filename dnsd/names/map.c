#include "names/map_priv.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "wire/rdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A packed block: 'c' description component ip id has-hostname ready and the ports (map_service.c), 'a' and the endpoints (map_service.c), or 'n' reason
 * description component: a record without names. A field that the record lacks is the single octet 1, which no attribute
 * can be mistaken for. */
#define ABSENT "\x01"

/** Reasons of records without names; the letter is what is packed. */
#define NO_NAMES(X)                                                                                          \
    X('p', "the record has no yarn:persistence")                                                             \
    X('i', "the container record has no yarn:ip")                                                            \
    X('e', "the application record has no external endpoint with an address")

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

static void pack_nameless(const struct reg_record *r, char reason, struct buf *out)
{
    char letter[2] = {reason, 0};
    buf_clear(out);
    pack_field(out, "n");
    pack_field(out, letter);
    pack_field(out, r->description);
    pack_field(out, reg_record_get(r, "yarn:component"));
}

static void pack_container(const struct reg_record *r, struct buf *out)
{
    mem_auto char *ip = first_ip(reg_record_get(r, "yarn:ip"));
    const char *ready = reg_record_get(r, MAP_READY);
    if (!ip) {
        pack_nameless(r, 'i', out);
        return;
    }
    pack_field(out, "c");
    pack_field(out, r->description);
    pack_field(out, reg_record_get(r, "yarn:component"));
    pack_field(out, ip);
    pack_field(out, reg_record_get(r, "yarn:id"));
    pack_field(out, reg_record_get(r, "yarn:hostname") ? "h" : NULL);
    pack_field(out, ready && strcmp(ready, "false") == 0 ? NULL : "r");
    map_pack_ports(r, out);
}

char *map_pack(const struct reg_record *record, size_t *len)
{
    struct buf out = BUF_EMPTY;
    if (!record)
        return NULL;
    const char *persistence = reg_record_get(record, "yarn:persistence");
    if (!persistence)
        pack_nameless(record, 'p', &out);
    else if (strcmp(persistence, "container") == 0)
        pack_container(record, &out);
    else
        map_pack_service(record, &out);
    if (!out.len)
        pack_nameless(record, 'e', &out);
    *len = out.len;
    return buf_take(&out);
}

bool map_has_names(const char *packed)
{
    return *packed != 'n';
}

const char *map_host(const char *packed, size_t len)
{
    struct map_fields fields = {packed, packed + len};
    const char *kind = map_field(&fields), *host = NULL;
    if (*kind == 'c') {
        map_field(&fields);
        map_field(&fields);
        host = map_field(&fields);
    } else if (*kind == 'a') {
        host = map_service_host(fields);
    }
    return host && map_is_host_name(host) ? host : NULL;
}

/* ---- records ---- */

uint32_t map_ttl(const struct map_run *run, uint16_t type)
{
    const struct map_options *o = run->options;
    const struct map_type_ttl *t = &o->type_ttls[dns_type(type)->ttl];
    return t->is_set && !run->has_own_ttl ? t->ttl_s : run->ttl_s;
}

void map_emit(struct map_run *run, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len)
{
    struct zone_rr rr = {owner, type, map_ttl(run, type), rdata, (uint16_t)len};
    run->sink->rr(run->sink->arg, &rr);
}

/* The records of one address: A or AAAA, and the mapped one. @return their number. */
static size_t address_rrs(const struct map_run *run, const uint8_t *owner, const struct addr *a,
                          uint8_t mapped[16], struct zone_rr out[2])
{
    bool is_v4 = a->family == AF_INET;
    uint16_t type = is_v4 ? DNS_A : DNS_AAAA;
    out[0] = (struct zone_rr){owner, type, map_ttl(run, type), a->bytes, is_v4 ? 4 : 16};
    if (!is_v4 || !run->options->has_mapped_aaaa)
        return 1;
    memset(mapped, 0, 10);
    memset(mapped + 10, 0xff, 2);
    memcpy(mapped + 12, a->bytes, 4);
    out[1] = (struct zone_rr){owner, DNS_AAAA, map_ttl(run, DNS_AAAA), mapped, 16};
    return 2;
}

void map_emit_addr(struct map_run *run, const uint8_t *owner, const struct addr *a)
{
    uint8_t mapped[16];
    struct zone_rr rrs[2];
    size_t n = address_rrs(run, owner, a, mapped, rrs);
    for (size_t i = 0; i < n; i++)
        run->sink->rr(run->sink->arg, &rrs[i]);
}

void map_emit_addrs(struct map_run *run, const uint8_t *owner, const struct map_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n_items; i++)
        map_emit_addr(run, owner, &hosts->items[i]);
}

void map_emit_shared(struct map_run *run, const struct zone_rr *rr, bool is_ready)
{
    const struct map_sink *sink = run->sink;
    if (sink->shared)
        sink->shared(sink->arg, rr, is_ready);
    else
        sink->rr(sink->arg, rr);
}

/* Addresses at a name that containers share. */
static void emit_shared(struct map_run *run, const uint8_t *owner, const struct map_hosts *hosts,
                        bool is_ready)
{
    uint8_t mapped[16];
    struct zone_rr rrs[2];
    for (size_t i = 0; i < hosts->n_items; i++) {
        size_t n = address_rrs(run, owner, &hosts->items[i], mapped, rrs);
        for (size_t k = 0; k < n; k++)
            map_emit_shared(run, &rrs[k], is_ready);
    }
}

void map_none(const struct map_run *run, const uint8_t *owner, const char *reason)
{
    if (run->sink->none)
        run->sink->none(run->sink->arg, owner, reason);
}

bool map_is_host_name(const char *text)
{
    size_t n = strlen(text);
    n -= n > 0 && text[n - 1] == '.';
    const char *last = n ? memrchr(text, '.', n) : NULL;
    last = last ? last + 1 : text;
    size_t n_last = (size_t)(text + n - last);
    return n > 0 && n_last > 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == strlen(text) &&
           strspn(last, "0123456789") < n_last;
}

bool map_hosts_read(const struct map_run *run, const char *text, struct map_hosts *out)
{
    const struct map_options *o = run->options;
    out->n_items = 1;
    if (addr_read(text, &out->items[0]) == 0)
        return true;
    out->n_items = 0;
    if (!map_is_host_name(text))
        return false;
    if (o->addresses)
        out->n_items = o->addresses(o->addresses_arg, text, out->items);
    if (o->has_one_address && out->n_items > 1)
        out->n_items = 1;
    return true;
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

/* What is read of a container record. */
struct container {
    char *description, *component; /* lower case, NULL where absent */
    const char *id;
    bool has_hostname, is_ready, has_service_name;
    struct map_hosts hosts;
    uint8_t x[NAME_MAX_LEN], suffix[NAME_MAX_LEN]; /* X; <service>.<user>.D */
    bool has_x, has_suffix;
};

static char *lower_copy(const char *field)
{
    char *copy = mem_str(present(field));
    if (copy)
        str_lower(copy);
    return copy;
}

/* Names that the path gives: the service is the element above the parent, its class the one above. */
static void read_path(struct map_run *run, const char *path, struct container *c)
{
    size_t n;
    char **elements = reg_path_split(path, &n);
    mem_auto char *user = reg_path_user(path);
    uint8_t under_user[NAME_MAX_LEN];
    c->has_x = n && map_name(run, elements[n - 1], run->options->domain, c->x) > 0;
    if (n < 3)
        run->n_left_out++;
    else
        c->has_suffix = map_name(run, user, run->options->domain, under_user) > 0 &&
                        map_name(run, elements[n - 3], under_user, c->suffix) > 0;
    c->has_service_name = run->options->has_service_names && c->has_suffix && n >= 4 &&
                          strcmp(elements[n - 4], "yarn-service") == 0;
    reg_path_split_free(elements);
}

static void emit_instance(struct map_run *run, const uint8_t *name, const struct container *c)
{
    mem_auto char *text = mem_fmt("id=%s", c->id ? c->id : "null");
    uint8_t reverse[NAME_MAX_LEN], target[NAME_MAX_LEN];
    map_emit_addrs(run, name, &c->hosts);
    map_emit_txt(run, name, text, NULL);
    for (size_t i = 0; c->has_hostname && i < c->hosts.n_items; i++)
        if (map_reverse_name(&c->hosts.items[i], reverse) > 0)
            map_emit(run, reverse, DNS_PTR, target, rdata_put_name(name, target));
}

static void emit_container(struct map_run *run, const struct container *c, struct map_fields ports)
{
    uint8_t name[NAME_MAX_LEN];
    struct map_instance instance = {c->component, c->suffix, c->x, &c->hosts, c->is_ready};
    if (c->has_x)
        map_emit_addrs(run, c->x, &c->hosts);
    if (!c->has_suffix)
        return;
    if (c->component && map_name(run, c->component, c->suffix, name) > 0)
        emit_shared(run, name, &c->hosts, c->is_ready);
    if (c->has_service_name)
        emit_shared(run, c->suffix, &c->hosts, c->is_ready);
    if (c->description && map_name(run, c->description, c->suffix, name) > 0) {
        emit_instance(run, name, c);
        instance.self = name;
    }
    if (run->options->has_port_names && (instance.self == name || c->has_x))
        map_produce_ports(run, &instance, ports);
}

/* Say of every name of a container why it has no address. */
static void tell_none(struct map_run *run, const struct container *c, const char *reason)
{
    uint8_t name[NAME_MAX_LEN];
    if (c->has_x)
        map_none(run, c->x, reason);
    if (c->has_service_name)
        map_none(run, c->suffix, reason);
    if (c->has_suffix && c->component && map_name(run, c->component, c->suffix, name) > 0)
        map_none(run, name, reason);
    if (c->has_suffix && c->description && map_name(run, c->description, c->suffix, name) > 0)
        map_none(run, name, reason);
}

static void produce_container(struct map_run *run, const char *path, struct map_fields fields)
{
    struct container c = {.has_x = false};
    mem_auto char *description = lower_copy(map_field(&fields));
    mem_auto char *component = lower_copy(map_field(&fields));
    c.description = description;
    c.component = component;
    const char *ip_text = map_field(&fields);
    c.id = present(map_field(&fields));
    c.has_hostname = present(map_field(&fields)) != NULL;
    c.is_ready = present(map_field(&fields)) != NULL;
    if (component && run->options->component_ttl)
        run->has_own_ttl = run->options->component_ttl(run->options->ttl_arg, component, &run->ttl_s);
    read_path(run, path, &c);
    if (!ip_text) /* a block cut short */
        return;
    if (!map_hosts_read(run, ip_text, &c.hosts)) {
        run->n_left_out++;
        tell_none(run, &c, "yarn:ip is neither an address nor a host name");
        return;
    }
    if (!c.hosts.n_items)
        tell_none(run, &c, "yarn:ip is a host name that has no address now");
    emit_container(run, &c, fields);
}

/* A record without names: say so of those it would have. */
static void produce_nameless(struct map_run *run, const char *path, struct map_fields fields)
{
    static const char *const reasons[UINT8_MAX + 1] = {
#define REASON(letter, text) [letter] = text,
        NO_NAMES(REASON)
#undef REASON
    };
    unsigned n_left_out = run->n_left_out;
    const char *reason = map_field(&fields);
    char letter = reason ? *reason : 'p';
    struct container c = {.has_x = false};
    mem_auto char *description = lower_copy(map_field(&fields));
    mem_auto char *component = lower_copy(map_field(&fields));
    c.description = description;
    c.component = component;
    uint8_t service[NAME_MAX_LEN];
    if (!run->sink->none)
        return;
    if (letter != 'i' && map_service_name(run, path, service) > 0)
        map_none(run, service, reasons[(uint8_t)letter]);
    if (letter != 'e') {
        read_path(run, path, &c);
        tell_none(run, &c, reasons[(uint8_t)letter]);
    }
    run->n_left_out = n_left_out; /* names that nobody asked for */
}

unsigned map_produce(const struct map_options *options, const char *path, const char *packed, size_t len,
                     const struct map_sink *sink)
{
    struct map_run run = {.options = options, .sink = sink, .ttl_s = options->ttl_s};
    struct map_fields fields = {packed, packed + len};
    switch (*map_field(&fields)) {
    case 'c': produce_container(&run, path, fields); break;
    case 'a': map_produce_service(&run, path, fields); break;
    default: produce_nameless(&run, path, fields); break;
    }
    return run.n_left_out;
}
