#include "masters/zonefile.h"
#include "masters/conflict.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "wire/rdata.h"

#include <errno.h>
#include <inttypes.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Files within files. */
#define MAX_DEPTH 10
/** Records one $GENERATE may make. */
#define MAX_GENERATED 65536
/** Longest record as text, comments out: ldns cuts silently what is longer than 65535. */
#define MAX_ENTRY 65000
/** A default that no file states: shows that a record had no TTL. */
#define NO_TTL 0x7ffffffeu

/** Where a record of the zone stands. */
struct place {
    unsigned file; /* of the reader's files */
    int line;
};

/** Reading one zone; the fields below `line` change with the file and the position in it. */
struct reader {
    struct zonefile *out;
    struct buf *stamp;
    struct err_info *why;
    const uint8_t *apex;
    unsigned n_soa, n_ns;
    uint32_t ttl_s, last_ttl_s, minimum_s;
    bool has_ttl, has_last_ttl;
    int depth;
    char **files; /* n_files; those that were read so far */
    unsigned n_files;
    struct buf places; /* a struct place for each record of out */
    unsigned file;     /* of files, that path names */
    const char *path;
    int line; /* where the entry begins */
    ldns_rdf *origin, *prev;
};

static int bad(const struct reader *r, const char *what)
{
    mem_auto char *where = r->line ? mem_fmt("%s:%d", r->path, r->line) : mem_str(r->path);
    return err_set(r->why, ERR_CONFIG, where, "%s", what);
}

/* ---- stamps: a line a file ---- */

static void add_stamp(struct buf *out, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        memset(&st, 0, sizeof st);
    buf_addf(out, "%lld.%09ld %lld %llu %s\n", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
             (long long)st.st_size, (unsigned long long)st.st_ino, path);
}

bool zonefile_is_current(const char *stamp)
{
    buf_auto struct buf now = BUF_EMPTY;
    for (const char *p = stamp; *p; p = strchr(p, '\n') + 1) {
        mem_auto char *line = mem_strn(p, strcspn(p, "\n"));
        int path = 0;
        if (sscanf(line, "%*s %*s %*s %n", &path) == EOF || !path)
            return false;
        add_stamp(&now, line + path);
    }
    return strcmp(buf_cstr(&now), stamp) == 0;
}

/* ---- records ---- */

/* Rdata of an ldns record as wire, names uncompressed. @return length; or ERR_NOSPC: longer than a record can be. */
static int rdata_wire(const ldns_rr *rr, uint8_t *out)
{
    size_t len = 0;
    for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
        const ldns_rdf *field = ldns_rr_rdf(rr, i);
        if (ldns_rdf_size(field) > RDATA_MAX - len)
            return ERR_NOSPC;
        memcpy(out + len, ldns_rdf_data(field), ldns_rdf_size(field));
        len += ldns_rdf_size(field);
    }
    return (int)len;
}

/* TTL of a record: its own, else that of $TTL, of the record before, or the SOA's minimum. */
static uint32_t ttl_of(struct reader *r, uint32_t stated)
{
    if (stated != NO_TTL) {
        r->last_ttl_s = stated;
        r->has_last_ttl = true;
        return stated;
    }
    return r->has_ttl ? r->ttl_s : r->has_last_ttl ? r->last_ttl_s : r->minimum_s;
}

static int keep_record(struct reader *r, const ldns_rr *rr)
{
    uint8_t rdata[RDATA_MAX];
    int len = rdata_wire(rr, rdata);
    struct zone_rr out = {.owner = ldns_rdf_data(ldns_rr_owner(rr)),
                          .type = (uint16_t)ldns_rr_get_type(rr),
                          .rdata = rdata,
                          .rdlen = (uint16_t)len};
    if (len < 0)
        return bad(r, "the record is longer than 65535 octets");
    if (name_len(out.owner, ldns_rdf_size(ldns_rr_owner(rr))) <
        0) /* ldns joins with the origin whatever comes of it */
        return bad(r, "the name is longer than 255 octets");
    if (ldns_rr_get_class(rr) != LDNS_RR_CLASS_IN)
        return bad(r, "only class IN is served");
    if (!dns_type_is_data(out.type) || rdata_check(out.type, rdata, out.rdlen))
        return bad(r, "this record cannot be stored");
    bool at_apex = name_equal(out.owner, r->apex);
    if (out.type == DNS_SOA && at_apex) {
        r->n_soa++;
        r->out->serial = wire_get32(rdata + out.rdlen - 20);
        r->minimum_s = wire_get32(rdata + out.rdlen - 4);
    }
    out.ttl_s = ttl_of(r, ldns_rr_ttl(rr));
    if (out.ttl_s > INT32_MAX)
        return bad(r, "the TTL is larger than 2147483647");
    if (!name_is_within(out.owner, r->apex)) {
        r->out->n_outside++;
        return 0;
    }
    r->n_ns += out.type == DNS_NS && at_apex;
    rrlist_add(&r->out->rrs, &out);
    buf_add(&r->places, &(struct place){r->file, r->line}, sizeof(struct place));
    return 0;
}

static bool is_class(const char *word, size_t n)
{
    return n == 2 && (strncasecmp(word, "IN", 2) == 0 || strncasecmp(word, "CH", 2) == 0 ||
                      strncasecmp(word, "HS", 2) == 0);
}

/* The text with "class TTL" as "TTL class", the only order that ldns reads (RFC 1035 5.1 has both). */
static char *ttl_first(const char *text)
{
    static const char blanks[] = " \t";
    const char *class = text + strcspn(text, blanks);
    class += strspn(class, blanks);
    size_t n_class = strcspn(class, blanks);
    const char *ttl = class + n_class + strspn(class + n_class, blanks);
    size_t n_ttl = strcspn(ttl, blanks);
    if (!is_class(class, n_class) || *ttl < '0' || *ttl > '9')
        return mem_str(text);
    return mem_fmt("%.*s%.*s %.*s%s", (int)(class - text), text, (int)n_ttl, ttl, (int)n_class, class,
                   ttl + n_ttl);
}

static int read_record(struct reader *r, const char *text)
{
    ldns_rr *rr = NULL;
    mem_auto char *ordered = ttl_first(text);
    ldns_status status = ldns_rr_new_frm_str(&rr, ordered, NO_TTL, r->origin, &r->prev);
    if (status != LDNS_STATUS_OK)
        return bad(r, ldns_get_errorstr_by_id(status));
    int err = keep_record(r, rr);
    ldns_rr_free(rr);
    return err;
}

/* ---- directives ---- */

static int read_file(struct reader *r, const char *path);

/* A name in a directive: relative to the origin unless it ends with a dot. */
static int read_origin(struct reader *r, const char *text, ldns_rdf **out)
{
    uint8_t name[NAME_MAX_LEN];
    size_t n = strlen(text);
    bool is_whole = n && text[n - 1] == '.';
    int len = strcmp(text, "@") == 0 ? ERR_PARSE
              : is_whole             ? name_from_text(text, n, name)
                                     : name_join(text, n, ldns_rdf_data(r->origin), name);
    if (strcmp(text, "@") == 0) {
        *out = ldns_rdf_clone(r->origin);
        return 0;
    }
    if (len < 0)
        return bad(r, "the origin is no domain name");
    *out = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, (size_t)len, name);
    return 0;
}

static int set_origin(struct reader *r, const char *text)
{
    ldns_rdf *origin = NULL;
    int err = text ? read_origin(r, text, &origin) : bad(r, "$ORIGIN needs a name");
    if (err)
        return err;
    ldns_rdf_deep_free(r->origin);
    r->origin = origin;
    return 0;
}

static int set_ttl(struct reader *r, const char *text)
{
    const char *end = "";
    uint32_t ttl_s = text ? ldns_str2period(text, &end) : 0;
    if (!text || *end || ttl_s > INT32_MAX)
        return bad(r, "$TTL needs a time, as 3600 or 1h");
    r->ttl_s = ttl_s;
    r->has_ttl = true;
    return 0;
}

/* $INCLUDE file [origin]: the file is read in place; position, origin and last owner come back after it. */
static int include(struct reader *r, const char *file, const char *origin_text)
{
    struct reader outer = *r;
    ldns_rdf *origin = NULL;
    if (!file)
        return bad(r, "$INCLUDE needs a file");
    if (r->depth == MAX_DEPTH)
        return bad(r, "files include each other more than 10 deep");
    int err = origin_text ? read_origin(r, origin_text, &origin) : 0;
    if (err)
        return err;
    int dir_len = *file == '/' ? 0 : (int)(path_name(r->path) - r->path);
    mem_auto char *path = mem_fmt("%.*s%s", dir_len, r->path, file);
    r->origin = origin ? origin : ldns_rdf_clone(r->origin);
    r->prev = r->prev ? ldns_rdf_clone(r->prev) : NULL;
    r->depth++;
    err = read_file(r, path);
    ldns_rdf_deep_free(r->origin);
    ldns_rdf_deep_free(r->prev);
    r->origin = outer.origin;
    r->prev = outer.prev;
    r->path = outer.path;
    r->file = outer.file;
    r->line = outer.line;
    r->depth = outer.depth;
    return err;
}

/* $GENERATE start-stop[/step] owner rest. */
static int generate(struct reader *r, const char *text)
{
    int64_t from, to, step = 1;
    int used = 0;
    int n = sscanf(text, "%*s %" SCNd64 "-%" SCNd64 "%n/%" SCNd64 "%n", &from, &to, &used, &step, &used);
    const char *template = text + used + strspn(text + used, " \t");
    if (n < 2 || from < 0 || to < from || to > INT32_MAX || step < 1 || step > INT32_MAX || !*template)
        return bad(r, "$GENERATE needs start-stop[/step], an owner and a record");
    if ((to - from) / step >= MAX_GENERATED)
        return bad(r, "$GENERATE would make more than 65536 records");
    int err = 0;
    for (int64_t i = from; !err && i <= to; i += step) {
        buf_auto struct buf record = BUF_EMPTY;
        err = zonefile_generate(template, i, &record) ? bad(r, "malformed ${offset,width,base}")
                                                      : read_record(r, buf_cstr(&record));
    }
    return err;
}

static char *word(const char *text, size_t n)
{
    const char *p = text + strspn(text, " \t");
    for (; n && *p; n--) {
        p += strcspn(p, " \t");
        p += strspn(p, " \t");
    }
    return *p ? mem_strn(p, strcspn(p, " \t")) : NULL;
}

static int read_entry(struct reader *r, const char *text)
{
    if (!text[strspn(text, " \t\r")])
        return 0;
    if (*text != '$')
        return read_record(r, text);
    mem_auto char *verb = word(text, 0);
    mem_auto char *first = word(text, 1);
    mem_auto char *second = word(text, 2);
    if (strcasecmp(verb, "$ORIGIN") == 0)
        return set_origin(r, first);
    if (strcasecmp(verb, "$TTL") == 0)
        return set_ttl(r, first);
    if (strcasecmp(verb, "$INCLUDE") == 0)
        return include(r, first, second);
    if (strcasecmp(verb, "$GENERATE") == 0)
        return generate(r, text);
    return bad(r, "unknown directive; $ORIGIN, $TTL, $INCLUDE and $GENERATE are known");
}

/* ---- entries: lines joined by parentheses, comments taken out ---- */

struct scan {
    struct buf entry;
    int line, n_open;
    bool in_quotes, is_escaped, in_comment;
};

/* One octet inside an entry. @return 0; or ERR_PARSE: a parenthesis too many. */
static int scan_octet(struct scan *s, char c)
{
    bool is_plain = s->is_escaped || s->in_quotes;
    if (s->in_comment)
        return 0;
    if (!is_plain && c == ';') {
        s->in_comment = true;
        return 0;
    }
    if (!is_plain && (c == '(' || c == ')')) {
        s->n_open += c == '(' ? 1 : -1;
        c = ' ';
    } else if (!s->is_escaped && c == '"') {
        s->in_quotes = !s->in_quotes;
    }
    s->is_escaped = !s->is_escaped && c == '\\';
    if (c == '\r' || (c == '\n' && s->n_open))
        c = ' ';
    buf_add_char(&s->entry, c);
    return s->n_open < 0 ? ERR_PARSE : 0;
}

/* A line has ended outside parentheses: the entry is whole. */
static int end_entry(struct reader *r, struct scan *s)
{
    int err = s->in_quotes               ? bad(r, "a quote is not closed")
              : s->entry.len > MAX_ENTRY ? bad(r, "the record is longer than 65000 octets of text")
                                         : read_entry(r, buf_cstr(&s->entry));
    buf_clear(&s->entry);
    return err;
}

static int scan_text(struct reader *r, const char *text, size_t n)
{
    struct scan s = {.line = 1};
    int err = 0;
    r->line = 1;
    for (size_t i = 0; !err && i < n; i++) {
        if (text[i] != '\n') {
            err = scan_octet(&s, text[i]) ? bad(r, "a parenthesis is closed that was not opened") : 0;
            continue;
        }
        s.line++;
        s.in_comment = s.is_escaped = false;
        if (s.n_open) {
            buf_add_char(&s.entry, ' ');
            continue;
        }
        err = end_entry(r, &s);
        r->line = s.line;
    }
    if (!err && s.n_open)
        err = bad(r, "a parenthesis is not closed");
    if (!err)
        err = end_entry(r, &s);
    buf_fini(&s.entry);
    return err;
}

static int read_all(FILE *in, struct buf *out)
{
    size_t n;
    do {
        n = fread(buf_room(out, 65536), 1, 65536, in);
        out->len += n;
    } while (n);
    buf_add_char(out, '\n');
    return ferror(in) ? ERR_IO : 0;
}

static int read_file(struct reader *r, const char *path)
{
    struct buf text = BUF_EMPTY;
    FILE *in = fopen(path, "re");
    if (!in) {
        add_stamp(r->stamp, path);
        mem_auto char *what = mem_fmt("%s: %s", path, strerror(errno));
        return bad(r, what);
    }
    add_stamp(r->stamp, path);
    r->path = path;
    r->file = r->n_files++;
    r->files = mem_resize(r->files, r->n_files, sizeof *r->files);
    r->files[r->file] = mem_str(path);
    int err = read_all(in, &text);
    fclose(in);
    r->line = 0;
    if (err)
        err = bad(r, "the file cannot be read");
    else if (memchr(text.bytes, 0, text.len))
        err = bad(r, "the file holds a NUL: it is no text");
    else
        err = scan_text(r, text.bytes, text.len);
    buf_fini(&text);
    return err;
}

/* Records that cannot stand together are refused with the place of the later one. */
static int check_conflicts(struct reader *r)
{
    size_t index;
    struct place place;
    const char *what = conflict_find(&r->out->rrs, r->apex, &index);
    if (!what)
        return 0;
    memcpy(&place, r->places.bytes + index * sizeof place, sizeof place);
    r->path = r->files[place.file];
    r->line = place.line;
    return bad(r, what);
}

static int check(struct reader *r)
{
    r->line = 0;
    if (r->n_soa != 1)
        return bad(r, "a zone has exactly one SOA at its apex");
    return r->n_ns ? check_conflicts(r) : bad(r, "a zone has at least one NS at its apex");
}

static void reader_fini(struct reader *r)
{
    ldns_rdf_deep_free(r->origin);
    ldns_rdf_deep_free(r->prev);
    for (unsigned i = 0; i < r->n_files; i++)
        free(r->files[i]);
    free(r->files);
    buf_fini(&r->places);
}

int zonefile_read(const char *path, const uint8_t *apex, struct zonefile *out, struct buf *stamp,
                  struct err_info *why)
{
    struct reader r = {.out = out, .stamp = stamp, .why = why, .apex = apex, .path = path, .minimum_s = 3600};
    *out = (struct zonefile){.serial = 0};
    r.origin = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, (size_t)name_len(apex, NAME_MAX_LEN), apex);
    int err = read_file(&r, path);
    r.path = path;
    err = err ? err : check(&r);
    reader_fini(&r);
    return err;
}

int zonefile_apex(const char *file_name, uint8_t *out)
{
    const char *end = strstr(file_name, ".zone"); /* up to and with the first .zone's dot */
    if (!end || end == file_name)
        return ERR_PARSE;
    return name_from_text(file_name, (size_t)(end - file_name) + 1, out) < 0 ? ERR_PARSE : 0;
}
