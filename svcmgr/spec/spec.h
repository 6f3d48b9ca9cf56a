/**
 * The application model: what a user wants to run. Decoded from JSON, completed (inheritance, merge), validated,
 * and written back. All three API faces translate into it.
 *
 *     Service ── Artifact, Resource, Configuration, Component…
 *     Component ── Artifact, Resource, Configuration, ReadinessCheck, placement
 *     Configuration ── properties, env, ConfigFile…
 *
 * Order of use: spec_read → spec_complete (once) → keep; spec_write at any time.
 * Pure: files and other services are asked for through `struct spec_world`.
 * Thread: any, one object one thread.   Source: YARN services API.
 */
#ifndef SPEC_SPEC_H
#define SPEC_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "spec/codec.h"
#include "spec/dialect.h"

/** Instances of one component; more is refused, as one request must not fill the memory. */
#define SPEC_MAX_CONTAINERS 10000 /* unless an option says otherwise */
/** What is said of more: component, wanted, allowed. */
#define SPEC_TOO_MANY                                                                                        \
    "Component %s wants %lld containers, at most %lld are allowed (yarn.service.component.max-containers)"

enum spec_artifact_type { ARTIFACT_DOCKER, ARTIFACT_TARBALL, ARTIFACT_SERVICE };
enum spec_restart { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };
enum spec_check { CHECK_HTTP, CHECK_PORT, CHECK_DEFAULT };
/* clang-format off */
enum spec_file_type { FILE_XML, FILE_PROPERTIES, FILE_JSON, FILE_YAML, FILE_TEMPLATE, FILE_HADOOP_XML, FILE_STATIC,
                      FILE_ARCHIVE, FILE_ENV };
/* What a request body asks for with "state"; the words of both dialects. */
enum spec_state { SPEC_ACCEPTED, SPEC_STARTED, SPEC_STABLE, SPEC_READY, SPEC_STOPPED, SPEC_FAILED, SPEC_FLEX,
                  SPEC_FLEXING, SPEC_UPGRADING, SPEC_UPGRADING_AUTO_FINALIZE, SPEC_EXPRESS_UPGRADING, SPEC_SUCCEEDED,
                  SPEC_CANCEL_UPGRADING, SPEC_NEEDS_UPGRADE, SPEC_INIT };
/* clang-format on */

struct spec_artifact {
    char *id;
    int type; /* enum spec_artifact_type */
    char *uri;
};

struct spec_resource {
    char *profile;
    int64_t cpus;       /* FLD_UNSET after an explicit null */
    char *memory;       /* decimal MB as text */
    json_t *additional; /* name → {value, unit, …} */
};

struct spec_file {
    int type; /* enum spec_file_type, -1: not given */
    char *dest_file;
    char *src_file;
    json_t *properties; /* strings */
};

struct spec_config {
    json_t *properties, *env; /* objects of strings, never NULL */
    struct spec_file **files;
    size_t n_files;
};

struct spec_readiness {
    int type; /* enum spec_check */
    json_t *properties;
    struct spec_artifact *artifact;
};

struct spec_component {
    char *name;
    int state; /* enum spec_state of a request, or -1 */
    char **dependencies;
    size_t n_dependencies;
    struct spec_readiness *readiness_check;
    struct spec_artifact *artifact;
    char *launch_command;
    struct spec_resource *resource;
    int64_t number_of_containers; /* FLD_UNSET: not given */
    bool count_is_relative;       /* it was given as "+n" or "-n" */
    char **decommissioned_instances;
    size_t n_decommissioned_instances;
    bool run_privileged_container;
    bool unique_component_support;
    json_t *placement_policy;
    struct spec_config *configuration; /* never NULL */
    char **quicklinks;
    size_t n_quicklinks;
    int restart_policy; /* enum spec_restart */
};

struct spec_kerberos {
    char *principal_name;
    char *keytab;
};

struct spec_service {
    char *name;
    char *version;
    char *description;
    struct spec_artifact *artifact;
    struct spec_resource *resource;
    int64_t lifetime; /* seconds; -1: unlimited; FLD_UNSET before spec_complete */
    struct spec_component **components;
    size_t n_components;
    struct spec_config *configuration; /* never NULL */
    int state;                         /* enum spec_state of a request, or -1 */
    json_t *quicklinks;                /* strings, never NULL */
    char *queue;
    struct spec_kerberos *kerberos_principal;
    char *docker_client_config;
    char **dependencies; /* names of services of the same user */
    size_t n_dependencies;
    int64_t number_of_containers; /* default of the components */
    char *launch_command;         /* default of the components */
    json_t *placement_policy;     /* default of the components */
};

extern const struct fld_type spec_service_type;
extern const struct fld_type spec_component_type;

/** The world outside as far as validation must ask. Every member is required. */
struct spec_world {
    const struct dialect *dialect;
    bool dns_enabled; /* hadoop.registry.dns.enabled */
    bool secure;      /* Kerberos is on */
    bool local;       /* cluster=local|sim: containers are processes, no image and no archive can be run */
    int64_t max_memory_mb, max_vcores; /* largest container; 0: no limit known */
    int64_t max_containers;            /* of one component; 0: SPEC_MAX_CONTAINERS */
    /** A file or directory exists. */
    bool (*path_exists)(void *arg, const char *path);
    /** Completed definition of another service of the same user, or NULL. [borrowed] */
    const struct spec_service *(*find_service)(void *arg, const char *user, const char *name);
    void *arg;
};

/**
 * Decode a Service document.
 *
 * @param bytes    JSON text of `len` bytes                                        [borrowed]
 * @param out      new object, free with spec_free                                 [out]
 * @param unknown  the members that no definition knows are appended, for a person: "/components/0/readyness_check, did you mean
 *                 "readiness_check"?; …", some kilobytes at most; NULL: they are of no interest   [in,out]
 * @return 0; or ERR_JSON: malformed, wrong JSON types, unknown enum word; *out and *unknown unchanged.
 * Thread: any.   Source: YARN services API 2; that unknown members are named: ours.
 */
int spec_read(const char *bytes, size_t len, struct spec_service **out, struct buf *unknown,
              struct err_info *why);
/** Decode a Component document (flex requests). As spec_read; free with fld_free(&spec_component_type, …). */
int spec_read_component(const char *bytes, size_t len, struct spec_component **out, struct buf *unknown,
                        struct err_info *why);
/** Free; NULL is fine. */
void spec_free(struct spec_service *s);
/** Deep copy. */
struct spec_service *spec_copy(const struct spec_service *s);
/** A new JSON object of the definition; `state`, id and live members are not in it. */
json_t *spec_write(const struct spec_service *s);

/**
 * Inherit, merge and validate: rules V1..V24 in their order, the first failure is reported.
 *
 * @param s      decoded service; completed in place, also half-way on error       [in,out]
 * @param user   caller                                                            [borrowed]
 * @param world  what must be asked for                                            [borrowed]
 * @return 0; or ERR_INVALID: why->text is the literal diagnostics.
 * Thread: any.   Source: YARN services API 3.
 */
int spec_complete(struct spec_service *s, const char *user, const struct spec_world *world,
                  struct err_info *why);
/**
 * Checks of a launch, after spec_complete: memory is a number, containers fit the cluster, properties are known and good
 * (properties.h), the cluster can run them. What it cannot do is refused by its JSON pointer in the completed definition.
 * A definition that is only saved needs none of this.
 *
 * @return 0; or ERR_INVALID: why->text is the diagnostics.
 * Thread: any.   Source: YARN services API 3.7; what a local cluster cannot run: ours.
 */
int spec_check_launch(const struct spec_service *s, const struct spec_world *world, struct err_info *why);
/** Check the format of a service or component name. @return 0 or ERR_INVALID with the literal diagnostics. */
int spec_check_name(const char *name, bool dns_enabled, struct err_info *why);

/**
 * Start order: indices of the components, sorted by depth in the dependency graph, input order kept inside a depth.
 *
 * @param order  room for s->n_components                                           [out]
 * @return 0; or ERR_INVALID naming the components that are left over by a cycle.
 */
int spec_order(const struct spec_service *s, size_t *order, struct err_info *why);

/** Component by name, or NULL. [borrowed] */
struct spec_component *spec_component(const struct spec_service *s, const char *name);
/** What the placement constraints of a component come to where every node and rack is the same one host. */
struct spec_placement {
    int64_t min; /* fewer are not started at all */
    int64_t max; /* at most that many containers at once; INT64_MAX: no limit */
};
/** ANTI_AFFINITY allows one container, AFFINITY any number, a cardinality what it says; several are ANDed. */
void spec_placement_one_host(const struct spec_component *c, struct spec_placement *out);
/** Memory of a completed component in MB. */
int64_t spec_memory_mb(const struct spec_component *c);

/** Registry form of a user: lower case, cut at '@' and '/', '_' becomes '-'. free() */
char *spec_registry_user(const char *user);
/** Registry form of a container id: container_1_2 gives ctr-1-2. free() */
char *spec_registry_container(const char *container_id);

/* ---- placeholders ---- */

/**
 * Replace `${NAME}` in one left-to-right pass without re-scanning; unknown names stay as they are.
 *
 * @param text    template                                                          [borrowed]
 * @param values  object of strings                                                 [borrowed]
 * @return new text, free().   Thread: any.   Source: YARN services API 5.
 */
char *spec_expand(const char *text, const json_t *values);
/** The expanded texts of one container may have this many bytes together, and so each of them; a template that is read from a file may
 *  have as many. */
#define SPEC_EXPANDED_MAX ((size_t)16 << 20)
/** As spec_expand; NULL: the result would have more than max bytes. It is not built much further than that. */
char *spec_expand_to(const char *text, const json_t *values, size_t max);
/** As spec_expand_to with what is left, from which the text is taken. @param left  bytes [in,out] */
char *spec_expand_from(const char *text, const json_t *values, size_t *left);
/**
 * Bytes of a configuration file without src_file.
 *
 * @param file    any type but STATIC and ARCHIVE                                    [borrowed]
 * @param values  placeholders, environment names included                           [borrowed]
 * @param left    bytes that it may have, from which it is taken                     [in,out]
 * @return new NUL-terminated text, free(); NULL: it, or what goes into it, would have more.   Thread: any.   Source: YARN services API 6.
 */
char *spec_file_render(const struct spec_file *file, const json_t *values, size_t *left);
/**
 * Text for the user: the expanded texts of a container are larger than SPEC_EXPANDED_MAX. free()
 *
 * @param what  "variable", "config file" or ""; name: which                         [borrowed]
 */
char *spec_too_large(const char *component, const char *what, const char *name);

#endif
