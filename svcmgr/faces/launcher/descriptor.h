/**
 * Request documents of the FrameworkLauncher API as structs. A number that is null is LAUNCHER_NULL, a text that is null is NULL.
 *
 *     launcher_request ── launcher_descriptor ── launcher_role ── launcher_task_service ── launcher_resource ── launcher_ports
 *
 * Lists are arrays of pointers with a count, in the order of the document. One that was checked keeps all rules below: read it, and do not check again.
 *
 * Pure. Thread: any, one object one thread.   Source: framework-launcher 4.
 */
#ifndef LAUNCHER_DESCRIPTOR_H
#define LAUNCHER_DESCRIPTOR_H

#include "launcher/document.h"

/** More is refused by 400: a framework is stored in one write. */
#define LAUNCHER_MAX_ROLES   256   /* of a framework */
#define LAUNCHER_MAX_LABELS  64    /* port labels of a role */
#define LAUNCHER_MAX_PORTS   1024  /* ports of a role */
#define LAUNCHER_MAX_SOURCES 256   /* source locations of a role */
#define LAUNCHER_MAX_TASKS   50000 /* of a role */
#define LAUNCHER_PORT_MAX    65535

enum launcher_execution { LAUNCHER_START, LAUNCHER_STOP };
enum launcher_disk { LAUNCHER_HDD, LAUNCHER_SSD };
enum launcher_am_type { LAUNCHER_AM_DEFAULT, LAUNCHER_AM_AGENT };
enum launcher_affinity { LAUNCHER_ANY, LAUNCHER_NODE, LAUNCHER_RACK };
enum launcher_client {
    LAUNCHER_CLIENT_UNKNOWN,
    LAUNCHER_CLIENT_LIB,
    LAUNCHER_CLIENT_DATA_DEPLOYMENT,
    LAUNCHER_CLIENT_APPLICATION_MASTER,
    LAUNCHER_CLIENT_CLI,
    LAUNCHER_CLIENT_WEB_UI
};
enum launcher_deployment { LAUNCHER_LAUNCHING, LAUNCHER_LAUNCHED };
extern const char *const launcher_execution_words[], *const launcher_client_words[],
                                                         *const launcher_disk_words[];

struct launcher_retry {
    bool is_fancy;
    int64_t max; /* >= -2 */
};

struct launcher_completion {
    int64_t min_failed, min_succeeded; /* >= 1; LAUNCHER_NULL: never */
};

struct launcher_ports {
    char *label;
    int64_t start; /* 0: any free ones */
    int64_t count; /* >= 1 */
};

struct launcher_resource {
    int64_t cpus, memory_mb; /* >= 1 */
    int64_t n_gpus;
    int64_t gpu_mask; /* 0: any n_gpus; else n_gpus bits */
    struct launcher_ports **ports;
    size_t n_ports;
    int disk; /* enum launcher_disk */
    int64_t disk_mb;
};

struct launcher_task_service {
    int64_t version;
    char *entry_point; /* not empty */
    char **sources;    /* one or more */
    size_t n_sources;
    struct launcher_resource resource;
};

/** taskRoles[].platformSpecificParameters */
struct launcher_role_platform {
    char *label;     /* NULL: the framework's */
    char *gpu_types; /* a list with commas; NULL: the framework's */
    bool same_ports; /* useTheSamePorts of 2018, too */
};

struct launcher_role {
    char *name;
    int64_t n_tasks; /* 0 … LAUNCHER_MAX_TASKS */
    int64_t scale_unit_number, scale_unit_timeout_s;
    struct launcher_retry retry;
    struct launcher_completion completion;
    struct launcher_task_service service;
    struct launcher_role_platform platform;
    bool same_ports_2018;
};

struct launcher_health_check {
    int type; /* 0: COMMAND, 1: WEB */
    char *entry_point, *web_url;
    int64_t delay_s, interval_s, timeout_s, consecutive_failures, grace_period_s;
    int failure_type; /* 0: TRANSIENT_ERROR, 1: NON_TRANSIENT_ERROR */
};

/** platformSpecificParameters of the framework */
struct launcher_platform {
    struct launcher_resource am_resource;
    char *am_label;
    char *label;     /* of tasks; NULL: am_label */
    char *gpu_types; /* a list with commas; NULL: any */
    char *queue;     /* never NULL */
    int64_t max_lost, max_exceed;
    bool is_anti_affine; /* tasks of the framework on distinct hosts */
    bool is_gang;
    bool skips_tried;
    int am_type; /* enum launcher_am_type */
    bool agent_heartbeat, agent_health_check;
    int64_t agent_heartbeat_interval_s, agent_expiry_interval_s;
    struct launcher_health_check *health_check;                        /* NULL: none */
    bool kill_all_on_any_completed, kill_all_on_any_service_completed; /* of 2018 */
    bool makes_ip_list; /* of 2018: gang allocation, a file ContainerIpList, no retries of tasks */
};

struct launcher_parent {
    char *name;
    bool delete_on_deleted, stop_on_stopped;
};

struct launcher_user {
    char *name;
};

struct launcher_descriptor {
    char *description; /* or NULL */
    int64_t version;
    int execution; /* enum launcher_execution: that of the PUT, see launcher_request */
    struct launcher_retry retry;
    struct launcher_parent *parent; /* or NULL */
    struct launcher_user user;
    struct launcher_role **roles; /* one or more */
    size_t n_roles;
    struct launcher_platform platform;
};

/** What the face stores of a framework (eng_service.request): what is not of the path or of the engine. */
struct launcher_request {
    struct launcher_descriptor descriptor;
    int client;                      /* enum launcher_client */
    char *client_host, *client_user; /* "UNKNOWN": not known */
};

/* ---- small requests ---- */

struct launcher_task_number {
    int64_t n_tasks;
};
struct launcher_execution_type {
    int execution;
};
struct launcher_migrate {
    int affinity; /* enum launcher_affinity; LAUNCHER_NO_WORD: null */
};
struct launcher_progress {
    double progress; /* 0 … 1 */
};
struct launcher_deployment_version {
    int type; /* enum launcher_deployment */
    char *version;
};

/* ---- documents of the cluster ---- */

struct launcher_node {
    char *host;
    bool is_null;
    char *gpu_type; /* or NULL */
};
struct launcher_cluster {
    struct launcher_node **nodes; /* NULL: hosts are not filtered */
    size_t n_nodes;
};
struct launcher_namespace {
    char *name;
    struct launcher_user **users;
    size_t n_users;
};
struct launcher_acl {
    struct launcher_namespace **namespaces;
    size_t n_namespaces;
    struct launcher_user **admins;
    size_t n_admins;
};

extern const struct ldoc_type launcher_descriptor_type, launcher_request_type, launcher_task_number_type,
    launcher_execution_type_type, launcher_migrate_type, launcher_progress_type,
    launcher_deployment_version_type, launcher_cluster_type, launcher_acl_type;

/**
 * Read and check a FrameworkDescriptor.
 *
 * @param value   JSON value                                                        [borrowed]
 * @param out     new object, launcher_descriptor_free; there also when rules are broken    [out]
 * @param report  broken rules                                                      [in,out]
 * @param why     as ldoc_read                                                      [out]
 * @return 0; ERR_JSON as ldoc_read.   Thread: any.   Source: framework-launcher 4.1.
 */
int launcher_descriptor_read(const json_t *value, struct launcher_descriptor **out,
                             struct ldoc_report *report, struct err_info *why);
/** What the dialect of 2018 says in members of its own is put into those of today: done by launcher_descriptor_read. Thread: any. */
void launcher_descriptor_adopt(struct launcher_descriptor *d);
/** Complete, with defaults and nulls. [new] Thread: any. */
json_t *launcher_descriptor_write(const struct launcher_descriptor *d);
/** Free; NULL is fine. Thread: any. */
void launcher_descriptor_free(struct launcher_descriptor *d);
/**
 * What was stored of a framework, as a struct.
 *
 * @param stored  eng_service.request; NULL: none                                   [borrowed]
 * @return new object, launcher_request_free; NULL: it is none.   Thread: any.   Source: ours.
 */
struct launcher_request *launcher_request_of(const json_t *stored);
/** Free; NULL is fine. Thread: any. */
void launcher_request_free(struct launcher_request *r);
/** A role by name; NULL: it has none. [borrowed] Thread: any. */
const struct launcher_role *launcher_role_of(const struct launcher_descriptor *d, const char *name);

#endif
