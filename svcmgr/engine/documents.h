/**
 * The stored form of the objects: tables of their members, keys of their documents. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_DOCUMENTS_H
#define ENGINE_DOCUMENTS_H

#include "engine/document.h"
#include "engine/step.h"

/* ---- keys.c ---- */
/** Room for all elements of a key that name something: more are of nobody. */
#define KEY_PARTS_MAX 8

/** The elements of a key, decoded, and the hash of the document there. Of what is wanted the first element is left out. */
struct key_parts {
    char *items[KEY_PARTS_MAX + 1];
    size_t n;
    uint64_t hash;
    bool is_definition;
};
void key_parts_fini(struct key_parts *p);
#define parts_auto __attribute__((cleanup(key_parts_fini)))
/** @return false: an element is badly encoded, or there are too many. */
bool key_parts_read(struct key_parts *p, const char *key);
/** The service that the first elements name, or NULL. */
struct eng_service *key_parts_service(const struct engine *e, const struct key_parts *p);

/* ---- state.c: documents ---- */
/** All of a service; what is wanted, with orders; what is. The latter two are its documents. */
extern const struct fld_type eng_service_type, eng_wanted_type, eng_is_type;
/** What is wanted, without orders: a document of an application master. The orders alone. What was put alone. */
extern const struct fld_type eng_runs_type, eng_orders_type, eng_request_type;
extern const struct fld_type eng_order_type;
extern const struct fld_type eng_component_type;
extern const struct fld_type eng_instance_type;
extern const struct fld_type eng_exit_type;
extern const struct fld_type eng_operation_type;
extern const struct fld_type eng_waiting_type;
extern const struct fld_type eng_failure_type;
extern const struct fld_type eng_master_type;
extern const struct fld_type eng_place_type;
extern const struct fld_type eng_migration_type;
extern const struct fld_type eng_roll_type;
/** Free the components with everything in them; no effects. */
void components_free(struct eng_service *s);
/** Free a service with everything in it; no effects. */
void service_free(struct eng_service *s);
/** Set the borrowed pointers of a loaded or newly built service. @return 0; or ERR_JSON: spec and components differ. */
int service_link(struct eng_service *s, struct err_info *why);
/** The same for an instance that comes from a document of its own. @return 0; or ERR_JSON: it is none of this service's. */
int instance_link(struct eng_service *s, struct eng_instance *inst, struct err_info *why);
/** Key in the map of services: "service/user/name". free() */
char *service_key(enum eng_kind kind, const char *user, const char *name);
/** Key of the document of what is wanted, and of what is. free() */
char *definition_document_key(const struct eng_service *s);
char *service_document_key(const struct eng_service *s);
/** Key of the document of what its application master runs. free() */
char *runs_document_key(const struct eng_service *s);
/** Key of the document of a container that is gone; id NULL: of their folder. free() */
char *gone_document_key(const struct eng_service *s, const char *id);
/** Key of the document of what a service has met on a node; host NULL: of what those keys begin with. free() */
char *place_document_key(const struct eng_service *s, const char *host);
/** Key of the document of an instance by name. free() */
char *instance_document_key(const struct eng_service *s, const char *instance);

#endif
