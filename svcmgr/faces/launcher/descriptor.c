/** The tables of the request documents, and their rules. Source: framework-launcher 4. */
#include "launcher/descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

const char *const launcher_execution_words[] = {"START", "STOP", NULL};
const char *const launcher_client_words[] = {"UNKNOWN", "LIB", "DATA_DEPLOYMENT", "APPLICATION_MASTER", "CLI",
                                             "WEB_UI",  NULL};
const char *const launcher_disk_words[] = {"HDD", "SSD", NULL};
static const char *const am_type_words[] = {"DEFAULT", "AGENT", NULL};
static const char *const affinity_words[] = {"ANY", "NODE", "RACK", NULL};
static const char *const health_type_words[] = {"COMMAND", "WEB", NULL};
static const char *const health_failure_words[] = {"TRANSIENT_ERROR", "NON_TRANSIENT_ERROR", NULL};
static const char *const deployment_words[] = {"LAUNCHING", "LAUNCHED", NULL};

#define MEMBER(name_, kind_, s, m) .name = name_, .kind = kind_, .offset = offsetof(struct s, m)
#define INT(name_, s, m)           MEMBER(name_, LDOC_INT, s, m)
#define BOOL(name_, s, m)          MEMBER(name_, LDOC_BOOL, s, m)
#define TEXT(name_, s, m)          MEMBER(name_, LDOC_TEXT, s, m)
#define WORD(name_, s, m, words_)  MEMBER(name_, LDOC_WORD, s, m), .words = words_
#define OBJECT(name_, s, m, type)  MEMBER(name_, LDOC_OBJECT, s, m), .sub = &type
#define CHILD(name_, s, m, type)   MEMBER(name_, LDOC_CHILD, s, m), .sub = &type, .flags = LDOC_NULLABLE
#define MANY(name_, kind_, s, m)   MEMBER(name_, kind_, s, m), .n_offset = offsetof(struct s, n_##m)
#define MIN(n)                     .has_min = true, .min = n
#define MAX(n)                     .has_max = true, .max = n
#define REQUIRED                   .flags = LDOC_REQUIRED
#define NULLABLE                   .flags = LDOC_NULLABLE
#define TYPE(s, rows)              .size = sizeof(struct s), .members = rows, .n_members = ARRAY_LEN(rows)

/* ---- policies ---- */

static const struct ldoc_member retry_members[] = {
    {BOOL("fancyRetryPolicy", launcher_retry, is_fancy)},
    {INT("maxRetryCount", launcher_retry, max), MIN(-2)},
};
static const struct ldoc_type retry_type = {TYPE(launcher_retry, retry_members)};

static const struct ldoc_member completion_members[] = {
    {INT("minFailedTaskCount", launcher_completion, min_failed), .def = 1, NULLABLE, MIN(1)},
    {INT("minSucceededTaskCount", launcher_completion, min_succeeded), .def = LAUNCHER_NULL, NULLABLE,
     MIN(1)},
};
static const struct ldoc_type completion_type = {TYPE(launcher_completion, completion_members)};

/* ---- resources ---- */

static const struct ldoc_member ports_members[] = {
    {INT("start", launcher_ports, start), MIN(0)},
    {INT("count", launcher_ports, count), REQUIRED, MIN(1)},
};
static const struct ldoc_type ports_type = {TYPE(launcher_ports, ports_members), .is_named = true};

static int by_start(const void *a, const void *b)
{
    const struct launcher_ports *x = *(struct launcher_ports *const *)a,
                                *y = *(struct launcher_ports *const *)b;
    return (x->start > y->start) - (x->start < y->start);
}

/** Static ranges end at a port and share none. */
static void check_ports(const struct launcher_resource *r, const char *path, struct ldoc_report *report)
{
    mem_auto struct launcher_ports **sorted = mem_array(r->n_ports + 1, sizeof *sorted);
    mem_auto char *place = mem_fmt("%s%sportDefinitions", path, *path ? "." : "");
    const struct launcher_ports *before = NULL;
    int64_t n = 0;
    if (r->n_ports)
        memcpy(sorted, r->ports, r->n_ports * sizeof *sorted);
    qsort(sorted, r->n_ports, sizeof *sorted, by_start);
    for (size_t i = 0; i < r->n_ports; i++) {
        const struct launcher_ports *p = sorted[i];
        n += p->count;
        if (p->start + p->count - 1 > LAUNCHER_PORT_MAX)
            ldoc_break(report, place, "Ports [%s] end beyond %d", p->label, LAUNCHER_PORT_MAX);
        if (p->start && before && before->start + before->count > p->start)
            ldoc_break(report, place, "Ports [%s] overlap Ports [%s]", p->label, before->label);
        if (p->start)
            before = p;
    }
    if (n > LAUNCHER_MAX_PORTS)
        ldoc_break(report, place, "number of ports must be less than or equal to %d", LAUNCHER_MAX_PORTS);
}

static void check_resource(const void *object, const char *path, struct ldoc_report *report)
{
    const struct launcher_resource *r = object;
    int n_bits = __builtin_popcountll((unsigned long long)r->gpu_mask);
    if (r->gpu_mask && n_bits != r->n_gpus)
        ldoc_break(report, path, "GpuNumber [%lld] is not consistent with GpuAttribute [%lld(%d)]",
                   (long long)r->n_gpus, (long long)r->gpu_mask, n_bits);
    check_ports(r, path, report);
}

#define RESOURCE_MEMBERS(cpus_, memory_)                                                                     \
    {INT("cpuNumber", launcher_resource, cpus), cpus_, MIN(1)},                                              \
        {INT("memoryMB", launcher_resource, memory_mb), memory_, MIN(1)},                                    \
        {INT("gpuNumber", launcher_resource, n_gpus), MIN(0)},                                               \
        {MEMBER("gpuAttribute", LDOC_LONG, launcher_resource, gpu_mask), MIN(0)},                            \
        {MANY("portDefinitions", LDOC_MAP, launcher_resource, ports), .sub = &ports_type,                    \
         .pattern = LDOC_NAME, MAX(LAUNCHER_MAX_LABELS)},                                                    \
        {WORD("diskType", launcher_resource, disk, launcher_disk_words)},                                    \
    {                                                                                                        \
        INT("diskMB", launcher_resource, disk_mb), MIN(0)                                                    \
    }

static const struct ldoc_member resource_members[] = {RESOURCE_MEMBERS(REQUIRED, REQUIRED)};
static const struct ldoc_type resource_type = {TYPE(launcher_resource, resource_members),
                                               .check = check_resource};

/** That of a manager, when it is left out as a whole. */
static const struct ldoc_member am_resource_members[] = {RESOURCE_MEMBERS(.def = 1, .def = 4096)};
static const struct ldoc_type am_resource_type = {TYPE(launcher_resource, am_resource_members),
                                                  .check = check_resource};

/* ---- task roles ---- */

static const struct ldoc_member service_members[] = {
    {INT("version", launcher_task_service, version), REQUIRED},
    {TEXT("entryPoint", launcher_task_service, entry_point), REQUIRED, MIN(1)},
    {MANY("sourceLocations", LDOC_TEXTS, launcher_task_service, sources), REQUIRED, MIN(1),
     MAX(LAUNCHER_MAX_SOURCES)},
    {OBJECT("resource", launcher_task_service, resource, resource_type), REQUIRED},
};
static const struct ldoc_type service_type = {TYPE(launcher_task_service, service_members)};

static const struct ldoc_member role_platform_members[] = {
    {TEXT("taskNodeLabel", launcher_role_platform, label), NULLABLE},
    {TEXT("taskNodeGpuType", launcher_role_platform, gpu_types), NULLABLE, .pattern = LDOC_GPU_TYPES},
    {BOOL("samePortAllocation", launcher_role_platform, same_ports)},
};
static const struct ldoc_type role_platform_type = {TYPE(launcher_role_platform, role_platform_members)};

static const struct ldoc_member role_members[] = {
    {INT("taskNumber", launcher_role, n_tasks), REQUIRED, MIN(0), MAX(LAUNCHER_MAX_TASKS)},
    {INT("scaleUnitNumber", launcher_role, scale_unit_number), .def = 1},
    {INT("scaleUnitTimeoutSec", launcher_role, scale_unit_timeout_s)},
    {OBJECT("taskRetryPolicy", launcher_role, retry, retry_type)},
    {OBJECT("applicationCompletionPolicy", launcher_role, completion, completion_type)},
    {OBJECT("taskService", launcher_role, service, service_type), REQUIRED},
    {OBJECT("platformSpecificParameters", launcher_role, platform, role_platform_type)},
    {BOOL("useTheSamePorts", launcher_role, same_ports_2018), .flags = LDOC_SILENT},
};
/** A name of a path on its own, which no URL can hold as an element. */
static void check_role(const void *object, const char *path, struct ldoc_report *report)
{
    (void)object;
    if (!strcmp(path, "taskRoles[.]") || !strcmp(path, "taskRoles[..]"))
        ldoc_break(report, path, "is no name of a task role");
}

static const struct ldoc_type role_type = {TYPE(launcher_role, role_members), .is_named = true,
                                           .check = check_role};

/* ---- frameworks ---- */

static const struct ldoc_member health_members[] = {
    {WORD("healthCheckType", launcher_health_check, type, health_type_words)},
    {TEXT("entryPoint", launcher_health_check, entry_point), NULLABLE},
    {TEXT("webUrl", launcher_health_check, web_url), NULLABLE},
    {INT("delaySeconds", launcher_health_check, delay_s), .def = 30},
    {INT("intervalSeconds", launcher_health_check, interval_s), .def = 30},
    {INT("timeoutSeconds", launcher_health_check, timeout_s), .def = 30},
    {INT("consecutiveFailures", launcher_health_check, consecutive_failures), .def = 10},
    {INT("gracePeriodSeconds", launcher_health_check, grace_period_s), .def = 60},
    {WORD("healthCheckFailureType", launcher_health_check, failure_type, health_failure_words)},
};
static const struct ldoc_type health_type = {TYPE(launcher_health_check, health_members)};

static const struct ldoc_member platform_members[] = {
    {OBJECT("amResource", launcher_platform, am_resource, resource_type), .def_sub = &am_resource_type},
    {TEXT("amNodeLabel", launcher_platform, am_label), NULLABLE},
    {TEXT("taskNodeLabel", launcher_platform, label), NULLABLE},
    {TEXT("taskNodeGpuType", launcher_platform, gpu_types), NULLABLE, .pattern = LDOC_GPU_TYPES},
    {TEXT("queue", launcher_platform, queue), .def_text = "default"},
    {INT("containerConnectionMaxLostCount", launcher_platform, max_lost), .def = -2, MIN(-2)},
    {INT("containerConnectionMaxExceedCount", launcher_platform, max_exceed), .def = 2, MIN(0)},
    {BOOL("antiaffinityAllocation", launcher_platform, is_anti_affine)},
    {BOOL("gangAllocation", launcher_platform, is_gang)},
    {BOOL("skipLocalTriedResource", launcher_platform, skips_tried), .def = 1},
    {WORD("amType", launcher_platform, am_type, am_type_words)},
    {BOOL("agentUseHeartbeat", launcher_platform, agent_heartbeat)},
    {BOOL("agentUseHealthCheck", launcher_platform, agent_health_check)},
    {INT("agentHeartbeatIntervalSec", launcher_platform, agent_heartbeat_interval_s), .def = 30},
    {INT("agentExpiryIntervalSec", launcher_platform, agent_expiry_interval_s), .def = 180},
    {CHILD("taskServiceHealthCheck", launcher_platform, health_check, health_type)},
    {BOOL("killAllOnAnyCompleted", launcher_platform, kill_all_on_any_completed), .flags = LDOC_SILENT},
    {BOOL("killAllOnAnyServiceCompleted", launcher_platform, kill_all_on_any_service_completed),
     .flags = LDOC_SILENT},
    {BOOL("generateContainerIpList", launcher_platform, makes_ip_list), .flags = LDOC_SILENT},
};
static const struct ldoc_type platform_type = {TYPE(launcher_platform, platform_members)};

static const struct ldoc_member parent_members[] = {
    {TEXT("parentFrameworkName", launcher_parent, name), REQUIRED, .pattern = LDOC_NAME},
    {BOOL("deleteOnParentDeleted", launcher_parent, delete_on_deleted)},
    {BOOL("stopOnParentStopped", launcher_parent, stop_on_stopped)},
};
static const struct ldoc_type parent_type = {TYPE(launcher_parent, parent_members)};

static const struct ldoc_member user_members[] = {
    {TEXT("name", launcher_user, name), REQUIRED, .pattern = LDOC_NAME},
};
static const struct ldoc_type user_type = {TYPE(launcher_user, user_members)};
/** That of a descriptor which says nothing of it. */
static const struct ldoc_member default_user_members[] = {
    {TEXT("name", launcher_user, name), .def_text = "default"}};
static const struct ldoc_type default_user_type = {TYPE(launcher_user, default_user_members)};

static const struct ldoc_member descriptor_members[] = {
    {TEXT("description", launcher_descriptor, description), NULLABLE, MAX(1024)},
    {INT("version", launcher_descriptor, version), REQUIRED},
    {WORD("executionType", launcher_descriptor, execution, launcher_execution_words)},
    {OBJECT("retryPolicy", launcher_descriptor, retry, retry_type)},
    {CHILD("parentFramework", launcher_descriptor, parent, parent_type)},
    {OBJECT("user", launcher_descriptor, user, user_type), .def_sub = &default_user_type},
    {MANY("taskRoles", LDOC_MAP, launcher_descriptor, roles), .sub = &role_type, REQUIRED,
     .pattern = LDOC_NAME, MIN(1), MAX(LAUNCHER_MAX_ROLES)},
    {OBJECT("platformSpecificParameters", launcher_descriptor, platform, platform_type)},
};
const struct ldoc_type launcher_descriptor_type = {TYPE(launcher_descriptor, descriptor_members)};

static const struct ldoc_member request_members[] = {
    {OBJECT("frameworkDescriptor", launcher_request, descriptor, launcher_descriptor_type), REQUIRED},
    {WORD("launchClientType", launcher_request, client, launcher_client_words)},
    {TEXT("launchClientHostName", launcher_request, client_host), .def_text = "UNKNOWN"},
    {TEXT("launchClientUserName", launcher_request, client_user), .def_text = "UNKNOWN"},
};
const struct ldoc_type launcher_request_type = {TYPE(launcher_request, request_members)};

/* ---- small requests ---- */

static const struct ldoc_member task_number_members[] = {
    {INT("taskNumber", launcher_task_number, n_tasks), REQUIRED, MIN(0), MAX(LAUNCHER_MAX_TASKS)},
};
const struct ldoc_type launcher_task_number_type = {TYPE(launcher_task_number, task_number_members)};

static const struct ldoc_member execution_type_members[] = {
    {WORD("executionType", launcher_execution_type, execution, launcher_execution_words), REQUIRED},
};
const struct ldoc_type launcher_execution_type_type = {TYPE(launcher_execution_type, execution_type_members)};

static const struct ldoc_member migrate_members[] = {
    {WORD("antiAffinityLevel", launcher_migrate, affinity, affinity_words), NULLABLE},
};
const struct ldoc_type launcher_migrate_type = {TYPE(launcher_migrate, migrate_members)};

static const struct ldoc_member progress_members[] = {
    {MEMBER("applicationProgress", LDOC_DECIMAL, launcher_progress, progress), REQUIRED, MIN(0), MAX(1)},
};
const struct ldoc_type launcher_progress_type = {TYPE(launcher_progress, progress_members)};

static const struct ldoc_member deployment_members[] = {
    {WORD("dataDeploymentVersionType", launcher_deployment_version, type, deployment_words), REQUIRED},
    {TEXT("dataDeploymentVersion", launcher_deployment_version, version), REQUIRED, MIN(1)},
};
const struct ldoc_type launcher_deployment_version_type = {
    TYPE(launcher_deployment_version, deployment_members)};

/* ---- documents of the cluster ---- */

static const struct ldoc_member node_members[] = {
    {TEXT("gpuType", launcher_node, gpu_type), NULLABLE, .pattern = LDOC_GPU_TYPE},
};
static const struct ldoc_type node_type = {TYPE(launcher_node, node_members), .is_named = true};
static const struct ldoc_member cluster_members[] = {
    {MANY("nodes", LDOC_MAP, launcher_cluster, nodes), .sub = &node_type,
     .flags = LDOC_NULLABLE | LDOC_NULL_ITEMS},
};
const struct ldoc_type launcher_cluster_type = {TYPE(launcher_cluster, cluster_members)};

static const struct ldoc_member namespace_members[] = {
    {MANY("users", LDOC_LIST, launcher_namespace, users), .sub = &user_type, .flags = LDOC_SET},
};
static const struct ldoc_type namespace_type = {TYPE(launcher_namespace, namespace_members),
                                                .is_named = true};
static const struct ldoc_member acl_members[] = {
    {MANY("namespaceAcls", LDOC_MAP, launcher_acl, namespaces), .sub = &namespace_type, .pattern = LDOC_NAME},
    {MANY("normalAdminUsers", LDOC_LIST, launcher_acl, admins), .sub = &user_type, .flags = LDOC_SET},
};
const struct ldoc_type launcher_acl_type = {TYPE(launcher_acl, acl_members)};

/* ---- descriptors ---- */

void launcher_descriptor_adopt(struct launcher_descriptor *d)
{
    for (size_t i = 0; i < d->n_roles; i++) {
        struct launcher_role *role = d->roles[i];
        role->platform.same_ports = role->platform.same_ports || role->same_ports_2018;
        role->same_ports_2018 = false;
    }
}

int launcher_descriptor_read(const json_t *value, struct launcher_descriptor **out,
                             struct ldoc_report *report, struct err_info *why)
{
    void *object = NULL;
    int err = ldoc_read(&launcher_descriptor_type, value, &object, report, why);
    if (err)
        return err;
    *out = object;
    launcher_descriptor_adopt(*out);
    return 0;
}

json_t *launcher_descriptor_write(const struct launcher_descriptor *d)
{
    return ldoc_write(&launcher_descriptor_type, d);
}

void launcher_descriptor_free(struct launcher_descriptor *d)
{
    ldoc_free(&launcher_descriptor_type, d);
}

struct launcher_request *launcher_request_of(const json_t *stored)
{
    struct ldoc_report report = LDOC_REPORT_EMPTY;
    struct err_info why;
    void *out = NULL;
    if (stored)
        ldoc_read(&launcher_request_type, stored, &out, &report, &why);
    ldoc_report_fini(&report);
    return out;
}

void launcher_request_free(struct launcher_request *r)
{
    ldoc_free(&launcher_request_type, r);
}

const struct launcher_role *launcher_role_of(const struct launcher_descriptor *d, const char *name)
{
    for (size_t i = 0; i < d->n_roles; i++) {
        if (!strcmp(d->roles[i]->name, name))
            return d->roles[i];
    }
    return NULL;
}
