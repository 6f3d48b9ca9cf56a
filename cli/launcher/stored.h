/**
 * Documents of the original launcher's store: what an import needs of them.
 *
 *     Requests        LauncherRequest      stored_documents
 *     Requests/F      FrameworkRequest     stored_request: summary and descriptor
 *     Requests/F/Override…  OverrideApplicationProgressRequest
 *     Statuses/F      FrameworkStatus      stored_state
 *     Statuses/F/R/…  TaskStatuses         number of running tasks
 *
 * What svcmgr would refuse is left to svcmgr; refused here is what is not read as the document that its place promises, and what would not
 * be safe in a header or a path.
 *
 * Pure. Thread: any.   Source: framework-launcher 3, 4, 6.1, 7.1, 15.
 */
#ifndef CLI_LAUNCHER_STORED_H
#define CLI_LAUNCHER_STORED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

/** Most bytes of a request, unpacked; a node has at most 1 MiB of them packed. */
#define STORED_REQUEST_MAX ((size_t)16 << 20)
/** Most bytes of the statuses of the tasks of a role, unpacked: 50 000 tasks have some 80 MB. */
#define STORED_TASKS_MAX ((size_t)1 << 30)
/** Most bytes of a descriptor as JSON: more than any launcher takes. */
#define STORED_DESCRIPTOR_MAX ((size_t)4 << 20)

/** A FrameworkRequest. */
struct stored_request {
    char *name, *user;
    char *parent; /* or NULL */
    char *client; /* LaunchClientType */
    int64_t version;
    bool is_stopped; /* its execution type is STOP */
    int64_t n_tasks; /* of all roles; roles whose number is no number count none */
    char **roles;    /* names */
    size_t n_roles;
    char *descriptor; /* JSON */
};

/** The part of a FrameworkStatus that says whether the framework still runs. */
struct stored_state {
    char state[64];
    int64_t version;
};

/** What a LauncherRequest has beside versions of a data deployment. */
struct stored_documents {
    json_t *cluster, *acl; /* ClusterConfiguration, AclConfiguration; NULL: none */
};

/** What a node holds. */
struct stored_bytes {
    const char *at;
    size_t len;
};

/** Whether a text is a name: ^[A-Za-z0-9\-._~]{1,256}$. Thread: any.   Source: framework-launcher 3. */
bool stored_is_name(const char *text);
/**
 * Read a FrameworkRequest.
 *
 * @param name  of its node                                                         [borrowed]
 * @param out   stored_request_fini releases it, also after an error              [out]
 * @return 0; ERR_PARSE: malformed, where: "line:col" or the member; ERR_TOOBIG; *why filled.
 * Thread: any.   Source: framework-launcher 4, 15.
 */
int stored_request_read(const char *name, struct stored_bytes bytes, struct stored_request *out,
                        struct err_info *why);
/** Release. Thread: any. */
void stored_request_fini(struct stored_request *r);
/** Read a FrameworkStatus. @param out  [out] @return as stored_request_read.   Thread: any.   Source: framework-launcher 6.1. */
int stored_state_read(struct stored_bytes bytes, struct stored_state *out, struct err_info *why);
/** Read an OverrideApplicationProgressRequest. @param out  0 to 1 [out] @return as stored_request_read.   Thread: any.   Source: framework-launcher 4.5. */
int stored_progress_read(struct stored_bytes bytes, double *out, struct err_info *why);
/** Count the tasks of a TaskStatuses that run. @param n  [out] @return as stored_request_read.   Thread: any.   Source: framework-launcher 7.1. */
int stored_tasks_read(struct stored_bytes bytes, size_t *n, struct err_info *why);
/** Read a LauncherRequest. @param out  stored_documents_fini [out] @return as stored_request_read.   Thread: any.   Source: framework-launcher 4.6. */
int stored_documents_read(struct stored_bytes bytes, struct stored_documents *out, struct err_info *why);
/** Release. Thread: any. */
void stored_documents_fini(struct stored_documents *d);

#endif
