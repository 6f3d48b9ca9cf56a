/**
 * The stored form of the objects: tables of their members, keys of their documents. Shared by the files of the engine: nothing outside of it includes this.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_DOCUMENTS_H
#define ENGINE_DOCUMENTS_H

#include "engine/step.h"

/* ---- state.c: documents ---- */
/** All of a service; what is wanted; what is. The latter two are its documents. */
extern const struct fld_type eng_service_type, eng_wanted_type, eng_is_type;
extern const struct fld_type eng_component_type;
extern const struct fld_type eng_instance_type;
extern const struct fld_type eng_exit_type;
extern const struct fld_type eng_operation_type;
extern const struct fld_type eng_waiting_type;
extern const struct fld_type eng_failure_type;
extern const struct fld_type eng_place_type;
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
/** Key of the document of a container that is gone; id NULL: of their folder. free() */
char *gone_document_key(const struct eng_service *s, const char *id);
/** Key of the document of what a service has met on a node; host NULL: of what those keys begin with. free() */
char *place_document_key(const struct eng_service *s, const char *host);
/** Key of the document of an instance by name. free() */
char *instance_document_key(const struct eng_service *s, const char *instance);

#endif
