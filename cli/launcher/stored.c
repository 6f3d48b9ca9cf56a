/** See stored.h. */
#include "stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "lyaml.h"

#define NAME_MAX_LEN 256

/** A request of 256 roles with 64 labels of ports each has some 60 000 values. */
static const struct lyaml_limits request_limits = {
    .depth = 32, .n_values = 200000, .n_bytes = STORED_REQUEST_MAX};

bool stored_is_name(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");

    return n >= 1 && n <= NAME_MAX_LEN && !text[n];
}

/* ---- members ---- */

static int wrong(struct err_info *why, const char *member, const char *text)
{
    return err_set(why, ERR_PARSE, member, "%s", text);
}

/** An integer, or the text of one, of 32 bits. */
static bool read_int(const json_t *value, int64_t *out)
{
    if (json_is_string(value))
        return str_to_i64(json_string_value(value), INT32_MIN, INT32_MAX, out) == 0;
    if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
        json_integer_value(value) > INT32_MAX)
        return false;
    *out = json_integer_value(value);
    return true;
}

/** What a name may look like that YAML has read as a number. @return new; NULL: it is no text */
static char *text_of(const json_t *value)
{
    if (json_is_integer(value))
        return mem_fmt("%lld", (long long)json_integer_value(value));
    return mem_str(json_string_value(value));
}

/** @param out  new [out] */
static int read_name(const json_t *value, const char *member, char **out, struct err_info *why)
{
    char *text = text_of(value);

    if (text && stored_is_name(text)) {
        *out = text;
        return 0;
    }
    free(text);
    return wrong(why, member, "must be a name of 1 to 256 of A-Z a-z 0-9 - . _ ~");
}

/** A document of a class, an object. */
static int read_document(struct stored_bytes bytes, const char *class, const struct lyaml_limits *limits,
                         json_t **out, struct err_info *why)
{
    size_t max = limits->only ? STORED_TASKS_MAX : STORED_REQUEST_MAX;
    mem_auto char *found = NULL;
    struct payload p;

    payload_begin(&p, bytes.at, bytes.len, max);
    int err = lyaml_read(&p, limits, &found, out, why);
    payload_end(&p);
    if (err)
        return err;
    if (found[0] && strcmp(found, class) != 0)
        return err_set(why, ERR_PARSE, NULL, "must be a %s, not a %.64s", class,
                       stored_is_name(found) ? found : "document of another class");
    return json_is_object(*out) ? 0 : err_set(why, ERR_PARSE, NULL, "must be a %s", class);
}

/* ---- FrameworkRequest ---- */

static int read_client(const json_t *value, char **out, struct err_info *why)
{
    static const char *const words[] = {"UNKNOWN", "LIB",   "DATA_DEPLOYMENT", "APPLICATION_MASTER",
                                        "CLI",     "WEB_UI"};

    if (!value || json_is_null(value)) {
        *out = mem_str("UNKNOWN");
        return 0;
    }
    for (size_t i = 0; json_is_string(value) && i < ARRAY_LEN(words); i++) {
        if (strcmp(words[i], json_string_value(value)) == 0) {
            *out = mem_str(words[i]);
            return 0;
        }
    }
    return wrong(why, "launchClientType", "is no such type");
}

static int read_execution(const json_t *value, bool *is_stopped, struct err_info *why)
{
    const char *word = value ? json_string_value(value) : "START";

    *is_stopped = word && strcmp(word, "STOP") == 0;
    if (*is_stopped || (word && strcmp(word, "START") == 0))
        return 0;
    return wrong(why, "frameworkDescriptor.executionType", "must be START or STOP");
}

static int read_roles(const json_t *roles, struct stored_request *out, struct err_info *why)
{
    const char *name;
    json_t *role;

    if (!json_is_object(roles) || json_object_size(roles) == 0)
        return wrong(why, "frameworkDescriptor.taskRoles", "must be an object with at least one role");
    out->roles = mem_array(json_object_size(roles), sizeof *out->roles);
    json_object_foreach((json_t *)roles, name, role)
    {
        int64_t n = 0;
        if (!stored_is_name(name))
            return wrong(why, "frameworkDescriptor.taskRoles",
                         "a key must be a name of 1 to 256 of A-Z a-z 0-9 - . _ ~");
        if (read_int(json_object_get(role, "taskNumber"), &n) && n > 0)
            out->n_tasks += n;
        out->roles[out->n_roles++] = mem_str(name);
    }
    return 0;
}

static int read_descriptor(const json_t *d, struct stored_request *out, struct err_info *why)
{
    const json_t *user = json_object_get(d, "user"), *parent = json_object_get(d, "parentFramework");
    buf_auto struct buf text = BUF_EMPTY;
    int err = 0;

    if (!json_is_object(d))
        return wrong(why, "frameworkDescriptor", "must be an object");
    if (!read_int(json_object_get(d, "version"), &out->version))
        return wrong(why, "frameworkDescriptor.version", "must be an integer of 32 bits");
    if (user)
        err = read_name(json_object_get(user, "name"), "frameworkDescriptor.user.name", &out->user, why);
    else
        out->user = mem_str("default");
    if (!err && parent && !json_is_null(parent))
        err = read_name(json_object_get(parent, "parentFrameworkName"),
                        "frameworkDescriptor.parentFramework.parentFrameworkName", &out->parent, why);
    err = err ? err : read_execution(json_object_get(d, "executionType"), &out->is_stopped, why);
    err = err ? err : read_roles(json_object_get(d, "taskRoles"), out, why);
    if (err)
        return err;
    json_write(d, &text);
    if (text.len > STORED_DESCRIPTOR_MAX)
        return err_set(why, ERR_TOOBIG, "frameworkDescriptor", "has %zu bytes, more than any launcher takes",
                       text.len);
    out->descriptor = buf_take(&text);
    return 0;
}

int stored_request_read(const char *name, struct stored_bytes bytes, struct stored_request *out,
                        struct err_info *why)
{
    json_auto json_t *doc = NULL;

    *out = (struct stored_request){.name = mem_str(name)};
    int err = read_document(bytes, "FrameworkRequest", &request_limits, &doc, why);
    if (err)
        return err;
    mem_auto char *inside = text_of(json_object_get(doc, "frameworkName"));
    if (!stored_is_name(name) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return wrong(why, "frameworkName", "the name of the node is no name of a framework");
    if (!inside || strcmp(inside, name) != 0)
        return wrong(why, "frameworkName", "is not the name of the node");
    err = read_client(json_object_get(doc, "launchClientType"), &out->client, why);
    return err ? err : read_descriptor(json_object_get(doc, "frameworkDescriptor"), out, why);
}

void stored_request_fini(struct stored_request *r)
{
    for (size_t i = 0; i < r->n_roles; i++)
        free(r->roles[i]);
    free(r->roles);
    free(r->name);
    free(r->user);
    free(r->parent);
    free(r->client);
    free(r->descriptor);
    *r = (struct stored_request){0};
}

/* ---- OverrideApplicationProgressRequest ---- */

int stored_progress_read(struct stored_bytes bytes, double *out, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = read_document(bytes, "OverrideApplicationProgressRequest", &request_limits, &doc, why);

    if (err)
        return err;
    const json_t *value = json_object_get(doc, "applicationProgress");
    double progress = json_number_value(value);
    if (!json_is_number(value) || !(progress >= 0 && progress <= 1))
        return wrong(why, "applicationProgress", "must be a number from 0 to 1");
    *out = progress;
    return 0;
}

/* ---- statuses ---- */

int stored_state_read(struct stored_bytes bytes, struct stored_state *out, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = read_document(bytes, "FrameworkStatus", &request_limits, &doc, why);

    if (err)
        return err;
    const char *state = json_string_value(json_object_get(doc, "frameworkState"));
    if (!state || !stored_is_name(state) || strlen(state) >= sizeof out->state)
        return wrong(why, "frameworkState", "must be a state");
    if (!read_int(json_object_get(doc, "frameworkVersion"), &out->version))
        return wrong(why, "frameworkVersion", "must be an integer of 32 bits");
    snprintf(out->state, sizeof out->state, "%s", state);
    return 0;
}

int stored_tasks_read(struct stored_bytes bytes, size_t *n, struct err_info *why)
{
    static const char *const only[] = {"taskStatusArray", "taskState", NULL};
    static const struct lyaml_limits limits = {
        .depth = 32, .n_values = 200000, .n_bytes = STORED_REQUEST_MAX, .only = only};
    json_auto json_t *doc = NULL;
    int err = read_document(bytes, "TaskStatuses", &limits, &doc, why);

    if (err)
        return err;
    const json_t *tasks = json_object_get(doc, "taskStatusArray");
    *n = 0;
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const char *state = json_string_value(json_object_get(json_array_get(tasks, i), "taskState"));
        *n += state && strcmp(state, "CONTAINER_RUNNING") == 0;
    }
    return 0;
}

/* ---- LauncherRequest ---- */

static json_t *object_of(const json_t *doc, const char *member)
{
    json_t *value = json_object_get(doc, member);

    return json_is_object(value) ? json_incref(value) : NULL;
}

int stored_documents_read(struct stored_bytes bytes, struct stored_documents *out, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int err = read_document(bytes, "LauncherRequest", &request_limits, &doc, why);

    *out = (struct stored_documents){0};
    if (err)
        return err;
    out->cluster = object_of(doc, "clusterConfiguration");
    out->acl = object_of(doc, "aclConfiguration");
    return 0;
}

void stored_documents_fini(struct stored_documents *d)
{
    json_decref(d->cluster);
    json_decref(d->acl);
    *d = (struct stored_documents){0};
}
