#include "cleanup/rm_poll_read.h"
#include "index/terms.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unexpected(struct err_info *why, const char *what)
{
    return err_set(why, ERR_JSON, what, "no answer of a resource manager: %s is missing or malformed", what);
}

/* A member of the wrapper, or of the root when the wrapper was dropped. */
static json_t *member(json_t *root, const char *wrapper, const char *name)
{
    json_t *inner = json_object_get(root, wrapper);
    return json_object_get(json_is_object(inner) ? inner : root, name);
}

static bool read_number(const json_t *value, int64_t *out)
{
    if (json_is_string(value))
        return str_to_i64(json_string_value(value), INT64_MIN, INT64_MAX, out) == 0;
    *out = json_is_integer(value) ? json_integer_value(value) : 0;
    return json_is_integer(value);
}

static bool is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static bool is_final(const json_t *value)
{
    return is_word(value, "FINISHED") || is_word(value, "FAILED") || is_word(value, "KILLED");
}

/* Elements of a list that may be one object or null; it is missing where there is nothing at all in its place. Something
 * else in its place is no empty list: that would say that everything has ended.
 * @return new reference to an array; NULL: anything else. */
static json_t *elements(json_t *root, const char *wrapper, const char *name)
{
    json_t *inner = json_object_get(root, wrapper);
    if (!json_is_object(root) || (inner && !json_is_object(inner) && !json_is_null(inner)))
        return NULL;
    json_t *list = member(root, wrapper, name);
    bool has_others =
        json_is_object(inner) ? json_object_size(inner) > 0 : !inner && json_object_size(root) > 0;
    if (!list && has_others)
        return NULL;
    if (!list || json_is_null(list))
        return json_array();
    if (json_is_object(list))
        return json_pack("[O]", list);
    return json_is_array(list) ? json_incref(list) : NULL;
}

int rm_read_info(const char *bytes, size_t len, struct rm_info *out, struct err_info *why)
{
    json_auto json_t *root = NULL;
    struct rm_info info = {0};
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_t *state = member(root, "clusterInfo", "haState");
    if (!json_is_string(state))
        return unexpected(why, "clusterInfo/haState");
    if (!read_number(member(root, "clusterInfo", "startedOn"), &info.started_on))
        return unexpected(why, "clusterInfo/startedOn");
    if (!read_number(member(root, "clusterInfo", "id"), &info.cluster_id))
        info.cluster_id = info.started_on;
    info.is_active = is_word(state, "ACTIVE");
    *out = info;
    return 0;
}

/* A number of clusterMetrics. @return false: it is not there. */
static bool read_metric(json_t *root, const char *name, int64_t *out)
{
    return read_number(member(root, "clusterMetrics", name), out);
}

int rm_read_metrics(const char *bytes, size_t len, struct rm_metrics *out, struct err_info *why)
{
    json_auto json_t *root = NULL;
    int64_t n_nodes, completed, failed, killed;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    if (!read_metric(root, "activeNodes", &n_nodes))
        return unexpected(why, "clusterMetrics/activeNodes");
    bool has_ended = read_metric(root, "appsCompleted", &completed) &&
                     read_metric(root, "appsFailed", &failed) && read_metric(root, "appsKilled", &killed);
    *out = (struct rm_metrics){n_nodes, has_ended ? completed + failed + killed : -1};
    return 0;
}

static bool is_registered(const json_t *state)
{
    static const char *const others[] = {"NEW", "LOST", "REBOOTED", "SHUTDOWN", "DECOMMISSIONED"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (is_word(state, others[i]))
            return false;
    }
    return true;
}

int rm_read_nodes(const char *bytes, size_t len, struct map *out, struct err_info *why)
{
    json_auto json_t *root = NULL;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_auto json_t *list = elements(root, "nodes", "node");
    if (!list)
        return unexpected(why, "nodes/node");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(item, "id"));
        const json_t *state = json_object_get(item, "state");
        if (!id || !json_is_string(state))
            return unexpected(why, "node/id");
        if (is_registered(state))
            map_set(out, id, out);
    }
    return 0;
}

int rm_read_state(const char *bytes, size_t len, enum rm_state *out, char text[32], struct err_info *why)
{
    json_auto json_t *root = NULL;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_t *state = member(root, "appstate", "state");
    if (!json_is_string(state) || !json_string_length(state))
        return unexpected(why, "state");
    if (is_final(state))
        *out = RM_STATE_ENDED;
    else if (is_word(state, "FINISHING") || is_word(state, "FINAL_SAVING") || is_word(state, "KILLING"))
        *out = RM_STATE_ENDING;
    else
        *out = is_word(state, "RUNNING") ? RM_STATE_RUNNING : RM_STATE_ALIVE;
    snprintf(text, 32, "%s", json_string_value(state));
    return 0;
}

bool rm_read_not_found(const char *bytes, size_t len)
{
    json_auto json_t *root = NULL;
    if (json_read(bytes, len, &root, NULL))
        return false;
    json_t *name = member(root, "RemoteException", "exception");
    return json_is_string(name) && str_ends(json_string_value(name), "NotFoundException");
}

int rm_read_apps(const char *bytes, size_t len, void (*fn)(void *arg, const struct rm_listed *app), void *arg,
                 struct err_info *why)
{
    json_auto json_t *root = NULL;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_auto json_t *list = elements(root, "apps", "app");
    if (!list)
        return unexpected(why, "apps/app");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *user = json_string_value(json_object_get(item, "user"));
        struct rm_listed app = {.id = json_string_value(json_object_get(item, "id")),
                                .user = user ? user : "",
                                .is_ended = is_final(json_object_get(item, "state"))};
        read_number(json_object_get(item, "finishedTime"), &app.finished_ms);
        if (app.id)
            fn(arg, &app);
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const struct rm_attempt *)a)->number, y = ((const struct rm_attempt *)b)->number;
    return (x > y) - (x < y);
}

int rm_read_attempts(const char *bytes, size_t len, struct rm_attempts *out, struct err_info *why)
{
    json_auto json_t *root = NULL;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_auto json_t *list = elements(root, "appAttempts", "appAttempt");
    if (!list)
        return unexpected(why, "appAttempts/appAttempt");
    struct rm_attempts a = {mem_array(json_array_size(list) + 1, sizeof *a.items), 0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const json_t *state = json_object_get(item, "appAttemptState");
        const char *id = json_string_value(json_object_get(item, "appAttemptId"));
        int64_t number = id ? index_attempt_number(id) : -1;
        if (number < 0 || !json_is_string(state)) {
            rm_attempts_fini(&a);
            return unexpected(why, "appAttempt/appAttemptId");
        }
        a.items[a.n_items++] =
            (struct rm_attempt){mem_str(id), number, is_final(state), is_word(state, "RUNNING")};
    }
    qsort(a.items, a.n_items, sizeof *a.items, by_number);
    *out = a;
    return 0;
}

void rm_attempts_fini(struct rm_attempts *a)
{
    for (size_t i = 0; i < a->n_items; i++)
        free(a->items[i].id);
    free(a->items);
    *a = (struct rm_attempts){NULL, 0};
}

int rm_read_containers(const char *bytes, size_t len, struct map *out, struct err_info *why)
{
    json_auto json_t *root = NULL;
    int err = json_read(bytes, len, &root, why);
    if (err)
        return err;
    json_auto json_t *list = elements(root, "containers", "container");
    if (!list)
        return unexpected(why, "containers/container");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(item, "containerId"));
        id = id ? id : json_string_value(json_object_get(item, "id"));
        if (!id)
            return unexpected(why, "container/containerId");
        const char *node = json_string_value(json_object_get(item, "assignedNodeId"));
        node = node ? node : json_string_value(json_object_get(item, "nodeId"));
        free(map_set(out, id, mem_str(node ? node : "")));
    }
    return 0;
}
