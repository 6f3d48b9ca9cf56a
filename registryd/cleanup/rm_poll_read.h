/**
 * Answers of a resource manager's REST interface, in all the shapes in which they come: with or without wrapper, one
 * element for a list, numbers as text, null for nothing. Pure. Thread: any.
 * Source: YARN ResourceManager REST API.
 */
#ifndef CLEANUP_RM_POLL_READ_H
#define CLEANUP_RM_POLL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "bobbin/error.h"

struct rm_info {
    bool is_active;     /* haState ACTIVE */
    int64_t cluster_id; /* ms: what new application ids carry */
    int64_t started_on; /* ms */
};
/** Read /info. @return 0; ERR_JSON: no such answer. */
int rm_read_info(const char *bytes, size_t len, struct rm_info *out, struct err_info *why);
struct rm_metrics {
    int64_t n_nodes;      /* active */
    int64_t n_ended_apps; /* since the start of the RM; -1: not shown */
};
/** Read /metrics. @return 0; ERR_JSON: no such answer. */
int rm_read_metrics(const char *bytes, size_t len, struct rm_metrics *out, struct err_info *why);

/** Put the ids of the nodes of /nodes that are registered into a set (value: not NULL), which map_fini(…, NULL) releases: all but those
 *  that are new, lost, rebooted, shut down or decommissioned. @return 0; ERR_JSON: *out unchanged or in part. */
int rm_read_nodes(const char *bytes, size_t len, struct map *out, struct err_info *why);

/** Internal state of an application, as clean-up sees it. */
enum rm_state {
    RM_STATE_ALIVE,   /* not over */
    RM_STATE_RUNNING, /* the same, and the AM is registered */
    RM_STATE_ENDING,  /* FINISHING, FINAL_SAVING, KILLING: over soon, and no list will name it again */
    RM_STATE_ENDED    /* FINISHED, FAILED, KILLED */
};
/** Read /apps/{id}/state. text: room for 32, the RM's word. @return 0; ERR_JSON. */
int rm_read_state(const char *bytes, size_t len, enum rm_state *out, char text[32], struct err_info *why);
/** A 404 body is the RM's own NotFoundException, not somebody else's 404. */
bool rm_read_not_found(const char *bytes, size_t len);

/** An application of a list. Borrowed. */
struct rm_listed {
    const char *id, *user; /* user "": not shown */
    bool is_ended;         /* the list says FINISHED, FAILED or KILLED: it has at least unregistered */
    int64_t finished_ms;   /* when, by the RM's clock; 0: not, or not shown */
};
/** Call fn for each application of /apps. @return 0; ERR_JSON. */
int rm_read_apps(const char *bytes, size_t len, void (*fn)(void *arg, const struct rm_listed *app), void *arg,
                 struct err_info *why);

struct rm_attempt {
    char *id;
    int64_t number; /* third number of the id */
    bool is_ended;  /* FINISHED, FAILED, KILLED */
    bool is_running;
};
struct rm_attempts {
    struct rm_attempt *items; /* ascending numbers */
    size_t n_items;
};
/** Read /appattempts; rm_attempts_fini releases. @return 0; ERR_JSON: *out unchanged. */
int rm_read_attempts(const char *bytes, size_t len, struct rm_attempts *out, struct err_info *why);
/** Release; empty afterwards. */
void rm_attempts_fini(struct rm_attempts *a);
/** Put the ids of /containers into a map to the id of the node, "" where that is not shown; map_fini(…, free) releases.
 *  @return 0; ERR_JSON: *out unchanged or in part. */
int rm_read_containers(const char *bytes, size_t len, struct map *out, struct err_info *why);

#endif
