/** Reading leases from the store, and what their nodes hold. See keeper.h. */
#include "lease/priv.h"
#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "json/writer.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_MAGIC OBJ_MAGIC('L', 'L', 'O', 'D')
#define READ_MAGIC OBJ_MAGIC('L', 'R', 'D', '1')

/** Nodes that are read at once. */
enum { FLYING_MAX = 32, SHA256_LEN = 32 };

/*
 *     sync ──► names of buckets ──► bucket: changed? ──► its names ──► nodes that the table lacks ──► next bucket …
 */
struct load {
    struct obj obj;
    struct leases *leases;
    char *id;         /* of the owner; NULL: all */
    uint64_t n_terms; /* when it began */
    char **buckets, **names;
    size_t n_buckets, bucket_at, n_names, name_at, n_flying;
    int err;
    struct err_info why;
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};

struct load_read {
    struct obj obj;
    struct load *load;
    char *name;
};

/* ---- names and data ---- */

void lease_id(const char *key, char *out)
{
    unsigned char hash[SHA256_LEN];
    BUG_IF(gnutls_hash_fast(GNUTLS_DIG_SHA256, key, strlen(key), hash) != 0);
    for (size_t i = 0; i < LEASE_ID_LEN / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

char *lease_path(const char *name)
{
    return mem_fmt(STORE_ASIDE "/%.2s/%s", name, name);
}

char *lease_data(const char *path, int64_t ttl_ms, bool is_expired)
{
    struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);
    jw_object(&w);
    jw_kstr(&w, "path", path);
    jw_kint(&w, "ttl", ttl_ms);
    if (is_expired)
        jw_kbool(&w, "expired", true);
    jw_object_end(&w);
    return buf_take(&text);
}

static bool is_hex(const char *text, size_t len)
{
    return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

/* ---- one load ---- */

static void load_go_on(struct load *d);

static void names_free(char ***names, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        free((*names)[i]);
    free(*names);
    *names = NULL;
    *n = 0;
}

static void load_finish(struct load *d, int err, const struct err_info *why)
{
    struct leases *l = d->leases;
    if (err && !d->id)
        memset(l->bucket_pzxid, 0, sizeof l->bucket_pzxid);
    l->n_loads--;
    lease_sweep(l);
    d->done(d->arg, err, why);
    names_free(&d->buckets, &d->n_buckets);
    names_free(&d->names, &d->n_names);
    free(d->id);
    obj_fini(&d->obj);
    free(d);
}

/* A call of the load has come back. @return whether it goes on; else it was finished or waits for its other calls. */
static bool load_came_back(struct load *d, int err, const struct store_result *r)
{
    bool goes_on = lease_call_ends(d->leases);
    if (!d->err && (!goes_on || d->n_terms != d->leases->n_terms)) {
        d->err = err_set(&d->why, ERR_CANCELLED, "", "the keeper of leases changes");
    } else if (!d->err && err && err != ERR_NOTFOUND) {
        d->err = err;
        d->why = r->why;
    }
    if (!d->err)
        return true;
    if (d->n_flying == 0)
        load_finish(d, d->err, &d->why);
    return false;
}

/* ---- nodes ---- */

static void take_node(struct leases *l, const char *name, const struct store_result *r)
{
    json_auto json_t *doc = NULL;
    if (json_read(r->data, r->data_len, &doc, NULL))
        return; /* not ours */
    const char *path = json_string_value(json_object_get(doc, "path"));
    int64_t ttl_ms = json_integer_value(json_object_get(doc, "ttl"));
    mem_auto char *owner = mem_strn(name, LEASE_ID_LEN);
    const struct lease_def def = {.owner = owner,
                                  .name = name,
                                  .path = path,
                                  .ttl_ms = ttl_ms,
                                  .zxid = r->stat.czxid,
                                  .is_marked = json_is_true(json_object_get(doc, "expired"))};
    if (path && ttl_ms > 0)
        lease_add(l, &def);
}

static void on_node(void *arg, int err, const struct store_result *r)
{
    struct load_read *one = obj_cast(arg, struct load_read, READ_MAGIC);
    struct load *d = one->load;
    d->n_flying--;
    if (!err && !d->leases->is_stopped && d->n_terms == d->leases->n_terms)
        take_node(d->leases, one->name, r);
    free(one->name);
    obj_fini(&one->obj);
    free(one);
    if (load_came_back(d, err, r))
        load_go_on(d);
}

static bool is_wanted(const struct load *d, const char *name)
{
    return is_hex(name, LEASE_NAME_LEN) && (!d->id || str_starts(name, d->id)) &&
           !map_get(&d->leases->table.names, name);
}

static void read_node(struct load *d, const char *name)
{
    mem_auto char *path = lease_path(name);
    struct load_read *one = mem_new(struct load_read);
    obj_init(&one->obj, READ_MAGIC);
    one->load = d;
    one->name = mem_str(name);
    d->n_flying++;
    lease_call_begins(d->leases);
    store_get(d->leases->def.store, path, on_node, one);
}

/* ---- buckets ---- */

static void take_names(char ***out, size_t *n_out, const struct store_result *r)
{
    *out = mem_array(r->n_children + 1, sizeof(char *));
    for (size_t i = 0; i < r->n_children; i++)
        (*out)[i] = mem_str(r->children[i]);
    *n_out = r->n_children;
}

static int64_t *pzxid_of(struct load *d)
{
    return &d->leases->bucket_pzxid[strtoul(d->buckets[d->bucket_at - 1], NULL, 16) % LEASE_BUCKETS];
}

static void on_names(void *arg, int err, const struct store_result *r)
{
    struct load *d = obj_cast(arg, struct load, LOAD_MAGIC);
    if (!load_came_back(d, err, r))
        return;
    names_free(&d->names, &d->n_names);
    d->name_at = 0;
    if (!err)
        take_names(&d->names, &d->n_names, r);
    if (!err && !d->id)
        *pzxid_of(d) = r->stat.pzxid;
    load_go_on(d);
}

static void list_bucket(struct load *d)
{
    mem_auto char *path = mem_fmt(STORE_ASIDE "/%s", d->buckets[d->bucket_at - 1]);
    lease_call_begins(d->leases);
    store_children(d->leases->def.store, path, on_names, d);
}

static void on_bucket(void *arg, int err, const struct store_result *r)
{
    struct load *d = obj_cast(arg, struct load, LOAD_MAGIC);
    if (!load_came_back(d, err, r))
        return;
    if (!err && (d->id || r->stat.pzxid != *pzxid_of(d)))
        list_bucket(d);
    else
        load_go_on(d);
}

static void next_bucket(struct load *d)
{
    while (d->bucket_at < d->n_buckets && !is_hex(d->buckets[d->bucket_at], 2))
        d->bucket_at++;
    if (d->bucket_at == d->n_buckets) {
        load_finish(d, 0, NULL);
        return;
    }
    mem_auto char *path = mem_fmt(STORE_ASIDE "/%s", d->buckets[d->bucket_at++]);
    lease_call_begins(d->leases);
    store_stat(d->leases->def.store, path, on_bucket, d);
}

static void load_go_on(struct load *d)
{
    for (; d->name_at < d->n_names && d->n_flying < FLYING_MAX; d->name_at++) {
        if (is_wanted(d, d->names[d->name_at]))
            read_node(d, d->names[d->name_at]);
    }
    if (d->n_flying == 0)
        next_bucket(d);
}

static void on_buckets(void *arg, int err, const struct store_result *r)
{
    struct load *d = obj_cast(arg, struct load, LOAD_MAGIC);
    if (!load_came_back(d, err, r))
        return;
    if (!err)
        take_names(&d->buckets, &d->n_buckets, r);
    next_bucket(d);
}

static void on_synced(void *arg, int err, const struct store_result *r)
{
    struct load *d = obj_cast(arg, struct load, LOAD_MAGIC);
    if (!load_came_back(d, err, r))
        return;
    if (d->id) {
        d->buckets = mem_array(2, sizeof(char *));
        d->buckets[0] = mem_strn(d->id, 2);
        d->n_buckets = 1;
        next_bucket(d);
        return;
    }
    lease_call_begins(d->leases);
    store_children(d->leases->def.store, STORE_ASIDE, on_buckets, d);
}

void load_leases(struct leases *l, const char *id,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    struct load *d = mem_new(struct load);
    obj_init(&d->obj, LOAD_MAGIC);
    d->leases = l;
    d->id = mem_str(id);
    d->n_terms = l->n_terms;
    l->n_loads++;
    d->done = done;
    d->arg = arg;
    lease_call_begins(l);
    store_sync(l->def.store, on_synced, d);
}
