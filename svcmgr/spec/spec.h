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
/** Named ports of one component. */
#define SPEC_PORTS_MAX 16
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

/** A port that each instance of a component listens on: `_name._tcp` in DNS. Source: ours. */
struct spec_port {
    char *name;
    int64_t port; /* 0, as when it is not given: one that is free on the address of the instance */
};

/** Ports of one label of a task: `count` from `start` on, or, where that is 0, any. Source: framework-launcher 4.2. */
struct spec_task_ports {
    char *label;
    int64_t start, count;
};

/**
 * What makes a component's instances tasks of FrameworkLauncher. Their launch_command is its entry point: neither placeholders nor marks are
 * replaced in it, and bash gets it between double quotes. A document of the services API has no such member.
 * Source: framework-launcher 12.
 */
struct spec_task {
    /* files and directories, read-only by their base names in the working directory; archives, by their names, are unpacked there */
    char **sources;
    size_t n_sources;
    struct spec_task_ports **ports; /* fixed ones, then any; each by label: the order of CONTAINER_PORTS */
    size_t n_ports;
    int64_t gpu_mask; /* the GPUs that it must have, bit 0 the first; 0: as many as its resource says */
    bool has_ip_list; /* a file has the addresses of all instances of the service */
    /* all instances of the component get the same numbers, where each has an address of its own */
    bool same_ports;
};
/** That file, in the working directory. */
#define SPEC_IP_LIST_FILE "ContainerIpList"
/** The resource type of GPUs. */
#define SPEC_GPU_TYPE "yarn.io/gpu"

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
    struct spec_port **ports;
    size_t n_ports;
    int restart_policy;     /* enum spec_restart */
    struct spec_task *task; /* NULL: of another API */
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

/** A container in a request that upgrades it: what is used of it. */
struct spec_container {
    char *component_instance_name;
    int state; /* enum spec_state, or -1 */
};
/** Where the files that svcmgr generates, and what a TARBALL has, are in a working directory. */
#define SPEC_CONF_DIR    "conf"
#define SPEC_TARBALL_DIR "lib"

extern const struct fld_type spec_service_type;
extern const struct fld_type spec_component_type;
extern const struct fld_type spec_container_type;
extern const struct fld_type spec_task_type;
extern const struct fld_type spec_resource_type;

struct spec_needs;

/** What the host of a local cluster declares for placement. */
struct spec_host {
    struct spec_needs *types; /* amounts of resource types beside memory and cores; NULL: none */
    json_t *attributes;       /* {"os": "linux", …}; NULL: none */
    char *partition;          /* its label; NULL or "": none */
};

/** How artifacts of type DOCKER are run. */
struct spec_images {
    const char *program;          /* podman or docker; NULL: none is found */
    bool privileged_is_allowed;   /* to privileged_users */
    const char *privileged_users; /* names, separated by commas */
    const char *ro_mounts,
        *rw_mounts; /* absolute directories, separated by commas, that may be mounted; rw ones read-only, too */
};

/** The world outside as far as validation must ask. Every member is required but images and user. */
struct spec_world {
    const struct dialect *dialect;
    bool dns_enabled;  /* hadoop.registry.dns.enabled */
    bool secure;       /* Kerberos is on */
    bool local;        /* containers are on this host */
    bool may_be_empty; /* a service may have no components: they may come later */
    bool is_other_api; /* it is none of the services API: words of that one's URLs may be its name */
    /* why the cluster takes no placement constraints: a clause with a remedy; NULL: it does */
    const char *no_constraints;
    bool minimum_is_of_nodes;          /* a min_cardinality above 1 counts on nodes only, not on racks */
    const struct spec_images *images;  /* of this host; NULL: it runs none */
    const char *user;                  /* who asks; NULL: nobody who may more than others */
    int64_t max_memory_mb, max_vcores; /* largest container; 0: no limit known */
    int64_t max_containers;            /* of one component; 0: SPEC_MAX_CONTAINERS */
    const struct spec_host *host;      /* local: what the host declares; NULL: nothing */
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
/** Decode a Container document. As spec_read; free with fld_free(&spec_container_type, …). */
int spec_read_container(const char *bytes, size_t len, struct spec_container **out, struct buf *unknown,
                        struct err_info *why);

/** Objects of one type: struct spec_component or struct spec_container. */
struct spec_list {
    const struct fld_type *type;
    void **items;
    size_t n;
};
/**
 * Decode an array of documents of one type; null is an empty one.
 *
 * @param type     spec_component_type or spec_container_type                        [borrowed]
 * @param out      release with spec_list_fini                                       [out]
 * @param unknown  as in spec_read
 * @return 0; or ERR_JSON, as spec_read. Relative counts are not noted.
 */
int spec_read_list(const struct fld_type *type, const char *bytes, size_t len, struct spec_list *out,
                   struct buf *unknown, struct err_info *why);
/** Release. */
void spec_list_fini(struct spec_list *list);
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
    /* the constraints that say so; NULL: none does [borrowed from the component] */
    const json_t *min_by, *max_by;
};
/** ANTI_AFFINITY allows one container, AFFINITY any number, a cardinality what it says; several are ANDed. */
void spec_placement_one_host(const struct spec_component *c, struct spec_placement *out);
/** What a constraint is called: its name, or its place, as "constraints/0". free() */
char *spec_constraint_name(const struct spec_component *c, const json_t *constraint);
/** Memory of a completed component in MB. */
int64_t spec_memory_mb(const struct spec_component *c);

/**
 * Placeholders of a component's named ports.
 *
 * @param numbers  name → number of those that were given as 0; NULL: none is known   [borrowed]
 * @return new object, "PORT.http" → "8080"; a number that is not known is "0".   Thread: any.   Source: ours.
 */
json_t *spec_port_values(const struct spec_component *c, const json_t *numbers);

/** Registry form of a user: lower case, cut at '@' and '/', '_' becomes '-'; what is no label of DNS then is mapped to one (label.h). free() */
char *spec_registry_user(const char *user);
/** Registry form of a container id: container_1_2 gives ctr-1-2. free() */
char *spec_registry_container(const char *container_id);

/* ---- images ---- */

/** Variables beginning so are for what runs the image, not for what runs in it. */
#define SPEC_RUNTIME_ENV "YARN_CONTAINER_RUNTIME_"
/** "true" beside run_privileged_container, which decides. */
#define SPEC_PRIVILEGED_ENV SPEC_RUNTIME_ENV "DOCKER_RUN_PRIVILEGED_CONTAINER"
/** The caller's mounts: "/from:/to" or "/from:/to:ro", separated by commas, in the environment of a component. */
#define SPEC_MOUNTS_ENV "YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS"
/** The older name of the same. */
#define SPEC_MOUNTS_ENV_OLD "YARN_CONTAINER_RUNTIME_DOCKER_LOCAL_RESOURCE_MOUNTS"
/** "true": launch_command is handed to the image's own entry point. */
#define SPEC_ENTRY_POINT_ENV "YARN_CONTAINER_RUNTIME_DOCKER_RUN_OVERRIDE_DISABLE"

/** One mount of a host's directory or file. */
struct spec_mount {
    char *from, *to; /* owned; absolute, without ".." */
    bool is_writable;
};

/** Release the texts; the mount is empty afterwards. */
void spec_mount_fini(struct spec_mount *m);
/**
 * Read the index-th mount of a list.
 *
 * @param out  filled when there is one; release with spec_mount_fini                [out]
 * @return 1: there is one; 0: the list has no more; ERR_INVALID: it is no mount, *why says which.
 * Thread: any.   Source: Hadoop, DockerLinuxContainerRuntime.
 */
int spec_mount_read(const char *list, size_t index, struct spec_mount *out, struct err_info *why);
/** Whether a path is one of the directories of the list or beneath one. Thread: any. */
bool spec_is_beneath(const char *directories, const char *path);
/** Whether a mount is beneath what may be mounted in its mode; `from` has no symbolic link left. Thread: any. */
bool spec_mount_is_allowed(const struct spec_mount *m, const char *ro_mounts, const char *rw_mounts);
/**
 * Whether a text names an image of a registry or of the local storage: [HOST[:PORT]/]PATH[:TAG][@DIGEST]. A file of the host, which
 * container runtimes take as well ("oci-archive:/x"), is none.   Thread: any.   Source: Hadoop, container-executor's
 * validation of image names; containers-transports(5).
 */
bool spec_image_is_valid(const char *id);

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
 * As spec_file_render, of a file with src_file: its properties come over what the source has, then all values are expanded.
 *
 * @param file    of type XML, HADOOP_XML, PROPERTIES or JSON                         [borrowed]
 * @param source  text of a JSON object, what the source has; what is no string stays in a JSON file as it is, and is left out of
 *                others                                                             [borrowed]
 * @return as spec_file_render; NULL with ERR_INVALID in *why: the source is no object.
 */
char *spec_file_overlay(const struct spec_file *file, const char *source, const json_t *values, size_t *left,
                        struct err_info *why);
/** Deep copy; NULL of NULL. */
struct spec_file *spec_file_copy(const struct spec_file *f);
/** Free; NULL is fine. */
void spec_file_free(struct spec_file *f);
/**
 * Text for the user: the expanded texts of a container are larger than SPEC_EXPANDED_MAX. free()
 *
 * @param what  "variable", "config file" or ""; name: which                         [borrowed]
 */
char *spec_too_large(const char *component, const char *what, const char *name);

#endif
