#include "feed/zonefile.h"
#include "feed/events.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/rdata.h"

#include <dirent.h>
#include <errno.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
    const char *path;
    uint8_t apex[NAME_MAX_LEN];
    int zone;
    unsigned n_soa, n_ns, n_outside, n_rrs;
};

static int bad_file(struct err_info *why, const char *path, int line, const char *what)
{
    mem_auto char *where = line ? mem_fmt("%s:%d", path, line) : mem_str(path);
    return err_set(why, ERR_CONFIG, where, "%s", what);
}

/* Rdata of an ldns record as wire, names uncompressed. @return length. */
static size_t rdata_wire(const ldns_rr *rr, uint8_t *out)
{
    size_t len = 0;
    for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
        const ldns_rdf *field = ldns_rr_rdf(rr, i);
        memcpy(out + len, ldns_rdf_data(field), ldns_rdf_size(field));
        len += ldns_rdf_size(field);
    }
    return len;
}

static int add_record(struct zone_tx *tx, struct file *f, const ldns_rr *rr)
{
    uint8_t rdata[RDATA_MAX];
    const uint8_t *owner = ldns_rdf_data(ldns_rr_owner(rr));
    struct zone_rr out = {.owner = owner,
                          .type = (uint16_t)ldns_rr_get_type(rr),
                          .ttl_s = ldns_rr_ttl(rr),
                          .rdata = rdata,
                          .rdlen = (uint16_t)rdata_wire(rr, rdata)};
    if (!name_is_within(owner, f->apex)) {
        f->n_outside++;
        return 0;
    }
    bool at_apex = name_equal(owner, f->apex);
    f->n_soa += out.type == DNS_SOA && at_apex;
    f->n_ns += out.type == DNS_NS && at_apex;
    f->n_rrs++;
    return zone_tx_add(tx, f->zone, &out);
}

/* Read records one by one, so that an error has a line. */
static int read_records(struct zone_tx *tx, struct file *f, FILE *in, struct err_info *why)
{
    uint32_t ttl = 3600;
    int line = 0, err = 0;
    ldns_rdf *origin = NULL, *prev = NULL;
    mem_auto char *apex_text = mem_zalloc(NAME_TEXT_MAX);
    name_to_text(f->apex, apex_text);
    if (ldns_str2rdf_dname(&origin, apex_text) != LDNS_STATUS_OK)
        return bad_file(why, f->path, 0, "the file name is no zone name");
    while (!err && !feof(in)) {
        ldns_rr *rr = NULL;
        ldns_status status = ldns_rr_new_frm_fp_l(&rr, in, &ttl, &origin, &prev, &line);
        if (status == LDNS_STATUS_OK && add_record(tx, f, rr))
            err = bad_file(why, f->path, line, "this record cannot be stored");
        else if (status != LDNS_STATUS_OK && status != LDNS_STATUS_SYNTAX_EMPTY &&
                 status != LDNS_STATUS_SYNTAX_TTL && status != LDNS_STATUS_SYNTAX_ORIGIN)
            err = bad_file(why, f->path, line, ldns_get_errorstr_by_id(status));
        ldns_rr_free(rr);
    }
    ldns_rdf_deep_free(origin);
    ldns_rdf_deep_free(prev);
    return err;
}

static int check(const struct file *f, struct err_info *why)
{
    if (f->n_soa != 1)
        return bad_file(why, f->path, 0, "a zone has exactly one SOA at its apex");
    if (!f->n_ns)
        return bad_file(why, f->path, 0, "a zone has at least one NS at its apex");
    return 0;
}

static int load(struct zoneset *set, struct file *f, const uint8_t *registry_apex, uint32_t serial,
                struct err_info *why)
{
    FILE *in = fopen(f->path, "re");
    if (!in)
        return bad_file(why, f->path, 0, strerror(errno));
    f->zone = zoneset_add_zone(set, f->apex, name_equal(f->apex, registry_apex) ? ZONE_REGISTRY : ZONE_FILE,
                               serial);
    if (f->zone < 0) {
        fclose(in);
        return bad_file(why, f->path, 0, "this zone is there already");
    }
    struct zone_tx *tx = zone_tx_begin(set);
    int err = read_records(tx, f, in, why);
    fclose(in);
    err = err ? err : check(f, why);
    if (err) {
        zone_tx_abort(tx);
        return err;
    }
    zone_tx_commit(tx, 0, NULL);
    log_emit(&ev_zones_loaded, LOG_STR("file", f->path), LOG_INT("records", f->n_rrs),
             LOG_INT("outside", f->n_outside));
    return 0;
}

static int is_zone_file(const struct dirent *e)
{
    return str_ends(e->d_name, ".zone") && e->d_name[0] != '.';
}

static int load_one(struct zoneset *set, const char *dir, const char *name, const uint8_t *registry_apex,
                    uint32_t serial, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    struct file f = {.path = path};
    size_t n = (size_t)(strstr(name, ".zone") - name) + 1; /* up to and with the first .zone's dot */
    if (name_from_text(name, n, f.apex) < 0)
        return bad_file(why, path, 0, "the file name is no zone name: NAME.zone was expected");
    return load(set, &f, registry_apex, serial, why);
}

int zonefile_load_dir(struct zoneset *set, const char *dir, const uint8_t *registry_apex, uint32_t serial,
                      struct err_info *why)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, is_zone_file, alphasort), err = 0;
    if (n < 0)
        return err_set(why, ERR_IO, dir, "the zone directory cannot be read: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!err)
            err = load_one(set, dir, entries[i]->d_name, registry_apex, serial, why);
        free(entries[i]);
    }
    free(entries);
    return err ? err : n;
}
