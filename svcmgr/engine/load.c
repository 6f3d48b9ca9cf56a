/** Documents at start-up become objects again: see engine_load in engine.h, and document.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/away.h"
#include "engine/document.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"
#include "json/json.h"

static int load_engine(struct engine *e, const json_t *doc, struct err_info *why)
{
    json_t *ts = json_object_get(doc, "cluster_ts"), *next = json_object_get(doc, "next_app");
    if (!json_is_integer(ts) || !json_is_integer(next))
        return err_set(why, ERR_JSON, "engine", "the engine document lacks cluster_ts or next_app");
    e->cluster_ts = json_integer_value(ts);
    e->next_app = json_integer_value(next);
    e->stored = true;
    return 0;
}

/* ---- services ---- */

/** Of format 1: exits had kinds, and instances stood in the document of their service once. */
static void upgrade_service(json_t *service)
{
    size_t i, k;
    json_t *component, *inst;
    eng_exit_upgrade(json_object_get(json_object_get(service, "failure"), "exit"));
    json_array_foreach(json_object_get(service, "components"), i, component)
    {
        json_array_foreach(json_object_get(component, "instances"), k, inst)
            eng_exit_upgrade(json_object_get(inst, "last_exit"));
    }
}

static void enlist_instance(struct engine *e, struct eng_instance *inst)
{
    addresses_mark(&e->addresses, inst->ip, true);
    ports_mark(e, inst, true);
    inst->unresumed = true;
    /* One that is REQUESTED after a start was asked for again after a restart: its record may stand since before that. */
    inst->published = inst->container_id && (inst->state != INST_REQUESTED || inst->attempt > 0);
    if (inst->container_id)
        map_set(&e->containers, inst->container_id, inst);
    if (inst->container_id && inst->state != INST_REQUESTED)
        places_allocated(NULL, inst);
}

static void enlist(struct engine *e, struct eng_service *s)
{
    services_add(e, s);
}

/** Instances of a document of format 1 move out of it. */
static void enlist_inner_instances(struct engine *e, struct eng_service *s)
{
    struct eng_walk walk = {0};
    struct eng_instance *inst;
    while ((inst = instances_next(s, &walk))) {
        enlist_instance(e, inst);
        inst->dirty = true;
        TAILQ_INSERT_TAIL(&s->dirty_instances, inst, dirty_link);
    }
}

/** The document names a service that is not there yet, and stands at its key. */
static int check_new(const struct engine *e, const struct eng_service *s, const char *key,
                     char *key_of(const struct eng_service *s), struct err_info *why)
{
    bool whole = s->user && s->name && s->spec && s->spec->name;
    mem_auto char *own_key = whole ? key_of(s) : NULL;
    if (!whole || strcmp(own_key, key) != 0 || engine_find(e, s->kind, s->user, s->name))
        return err_set(why, ERR_JSON, key, "%s: not the document of this service", key);
    return 0;
}

/** What is wanted, and what is, in one. */
static int load_service_1(struct engine *e, const char *key, json_t *doc, struct err_info *why)
{
    void *object = NULL;
    upgrade_service(doc);
    int rc = fld_read(&eng_service_type, doc, &object, why);
    if (rc)
        return rc;
    struct eng_service *s = object;
    rc = check_new(e, s, key, service_document_key, why);
    if (!rc)
        rc = service_link(s, why);
    if (rc) {
        service_free(s);
        return rc;
    }
    backlog_take_lists(s);
    s->dirty = s->is_wanted_dirty = s->is_loaded = true;
    enlist(e, s);
    enlist_inner_instances(e, s);
    return 0;
}

static int load_wanted(struct engine *e, const char *key, json_t *doc, struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&eng_wanted_type, doc, &object, why);
    if (rc)
        return rc;
    struct eng_service *s = object;
    rc = check_new(e, s, key, definition_document_key, why);
    if (!rc)
        rc = service_link(s, why);
    if (rc)
        service_free(s);
    else
        enlist(e, s);
    return rc;
}

static int load_is(struct engine *e, struct eng_service *s, const char *key, json_t *doc,
                   struct err_info *why)
{
    void *object = NULL;
    if (s->is_loaded)
        return err_set(why, ERR_JSON, key, "%s: a second document of this service", key);
    int rc = fld_read(&eng_is_type, doc, &object, why);
    if (rc)
        return rc;
    services_move_in(e, &eng_is_type, object, s);
    rc = service_link(s, why);
    if (rc)
        services_move_in(e, &eng_is_type, object, s); /* what is absent there: nothing was loaded */
    s->is_loaded = !rc;
    components_free(object);
    fld_free(&eng_is_type, object);
    return rc;
}

/** What its application master has made of the definition, which is what it runs. */
static int load_runs(struct engine *e, struct eng_service *s, const char *key, json_t *doc,
                     struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&eng_runs_type, doc, &object, why);
    if (rc)
        return rc;
    s->has_runs = true;
    if (away_take_definition(e, s, object))
        return err_set(why, ERR_JSON, key, "%s: not a definition of this service", key);
    s->is_wanted_dirty = e->cfg.role != ROLE_MASTER;
    return 0;
}

/* ---- instances ---- */

static int add_instance(struct engine *e, struct eng_service *s, const char *key,
                        struct eng_instance *take_inst, struct err_info *why)
{
    struct eng_instance *inst = take_inst;
    mem_auto char *own_key = inst->name ? instance_document_key(s, inst->name) : NULL;
    int rc = 0;
    if (!own_key || strcmp(own_key, key) != 0)
        rc = err_set(why, ERR_JSON, key, "%s: not the document of this instance", key);
    else
        rc = instance_link(s, inst, why);
    if (rc)
        fld_free(&eng_instance_type, inst);
    else
        enlist_instance(e, inst);
    return rc;
}

static int load_instance(struct engine *e, struct eng_service *s, const char *key, json_t *doc, uint64_t hash,
                         struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&eng_instance_type, doc, &object, why);
    if (rc)
        return rc;
    struct eng_instance *inst = object;
    inst->stored_hash = hash;
    return add_instance(e, s, key, inst, why);
}

/* ---- any ---- */

/** A document of a service, or of something in it. */
static int load_of_service(struct engine *e, const char *key, const struct key_parts *p, json_t *doc,
                           int format, struct err_info *why)
{
    struct eng_service *s = key_parts_service(e, p);
    if (p->n == 3 && format == 1)
        return load_service_1(e, key, doc, why);
    if (!s)
        return err_set(why, ERR_JSON, key, "%s: its service has no document", key);
    if (p->n == 3)
        return load_is(e, s, key, doc, why);
    if (p->n == 4 && strcmp(p->items[3], RUNS) == 0)
        return load_runs(e, s, key, doc, why);
    if (p->n == 5 && strcmp(p->items[3], "gone") == 0)
        return backlog_load(s, key, doc, why);
    if (p->n == 5 && strcmp(p->items[3], "history") == 0)
        return history_load(s, key, doc, why);
    if (p->n == 5 && strcmp(p->items[3], "nodes") == 0)
        return place_load(s, key, doc, why);
    if (format == 1)
        eng_exit_upgrade(json_object_get(doc, "last_exit"));
    return load_instance(e, s, key, doc, p->hash, why);
}

/** Most documents are those of instances, as this version writes them. @return the instance; NULL: it is none, or is read in the long way */
static struct eng_instance *read_instance(const struct key_parts *p, const char *bytes, size_t len)
{
    bool is_instance = p->n == 4 && !p->is_definition && strcmp(p->items[3], RUNS) != 0;
    struct eng_instance *inst = is_instance ? document_read_plain(&eng_instance_type, bytes, len) : NULL;
    if (inst)
        inst->stored_hash = p->hash;
    return inst;
}

int engine_load(struct engine *e, const char *key, const char *bytes, size_t len, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    parts_auto struct key_parts parts = {.hash = hash_bytes(bytes, len)};
    int format = 0;
    bool is_key = key_parts_read(&parts, key);
    struct eng_service *s = is_key ? key_parts_service(e, &parts) : NULL;
    struct eng_instance *inst = s ? read_instance(&parts, bytes, len) : NULL;
    if (inst)
        return add_instance(e, s, key, inst, why);
    int rc = document_read(key, bytes, len, &doc, &format, why);
    if (rc)
        return rc;
    if (!is_key)
        return err_set(why, ERR_JSON, key, "%s: no key of a document", key);
    if (strcmp(parts.items[0], "engine") == 0)
        return load_engine(e, doc, why);
    if (strcmp(parts.items[0], CLUSTER_DOCUMENTS) == 0)
        return cluster_document_load(e, key, parts.n == 2 ? parts.items[1] : "", doc, why);
    if (parts.is_definition)
        return load_wanted(e, key, doc, why);
    return load_of_service(e, key, &parts, doc, format, why);
}
