/**
 * Answers of a resource manager's REST interface, in all the shapes in which they come: with or without wrapper, one
 * element for a list, numbers as text, null for nothing. Pure. Thread: any.
 * Source: YARN ResourceManager REST API.
 */
#ifndef REGISTRYD_RM_POLL_READ_H
#define REGISTRYD_RM_POLL_READ_H

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
/** Read clusterMetrics.activeNodes of /metrics. @return 0; ERR_JSON. */
int rm_read_active_nodes(const char *bytes, size_t len, int64_t *out, struct err_info *why);

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

/** Call fn with id and user ("" when not shown) of each application of /apps. @return 0; ERR_JSON. */
int rm_read_apps(const char *bytes, size_t len, void (*fn)(void *arg, const char *id, const char *user),
                 void *arg, struct err_info *why);

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
/** Put the ids of /containers into a set (value: not NULL), which map_fini(…, NULL) releases. @return 0; ERR_JSON. */
int rm_read_containers(const char *bytes, size_t len, struct map *out, struct err_info *why);

#endif
