#include "yarn/ids.h"
#include "base/str.h"
#include "bobbin/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EPOCH_SHIFT = 40, NUMBER_MAX_LEN = 19 };

#define SEQUENCE_MASK ((INT64_C(1) << EPOCH_SHIFT) - 1)
#define EPOCH_MAX     (INT64_MAX >> EPOCH_SHIFT)

/* ---- to text ---- */

const char *yarn_app_id_text(const struct yarn_app_id *id, char out[YARN_ID_TEXT_MAX])
{
    snprintf(out, YARN_ID_TEXT_MAX, "application_%" PRId64 "_%04" PRId32, id->cluster_timestamp, id->id);
    return out;
}

const char *yarn_attempt_id_text(const struct yarn_attempt_id *id, char out[YARN_ID_TEXT_MAX])
{
    snprintf(out, YARN_ID_TEXT_MAX, "appattempt_%" PRId64 "_%04" PRId32 "_%06" PRId32,
             id->app.cluster_timestamp, id->app.id, id->attempt);
    return out;
}

const char *yarn_container_id_text(const struct yarn_container_id *id, char out[YARN_ID_TEXT_MAX])
{
    char epoch[24] = "";
    if (id->id >> EPOCH_SHIFT)
        snprintf(epoch, sizeof epoch, "e%02" PRId64 "_", id->id >> EPOCH_SHIFT);
    snprintf(out, YARN_ID_TEXT_MAX, "container_%s%" PRId64 "_%04" PRId32 "_%02" PRId32 "_%06" PRId64, epoch,
             id->attempt.app.cluster_timestamp, id->attempt.app.id, id->attempt.attempt,
             id->id & SEQUENCE_MASK);
    return out;
}

/* ---- from text ---- */

/* Take a number off the front, and the '_' behind it unless it is the last. */
static bool take_number(const char **text, bool is_last, int64_t max, int64_t *out)
{
    char digits[NUMBER_MAX_LEN + 1];
    size_t len = strspn(*text, "0123456789");
    if (len == 0 || len > NUMBER_MAX_LEN || (*text)[len] != (is_last ? '\0' : '_'))
        return false;
    memcpy(digits, *text, len);
    digits[len] = 0;
    *text += len + !is_last;
    return str_to_i64(digits, 0, max, out) == 0;
}

static bool take_app(const char **text, bool is_last, struct yarn_app_id *out)
{
    int64_t id = 0;
    if (!take_number(text, false, INT64_MAX, &out->cluster_timestamp) ||
        !take_number(text, is_last, INT32_MAX, &id))
        return false;
    out->id = (int32_t)id;
    return true;
}

static bool take_attempt(const char **text, bool is_last, struct yarn_attempt_id *out)
{
    int64_t attempt = 0;
    if (!take_app(text, false, &out->app) || !take_number(text, is_last, INT32_MAX, &attempt))
        return false;
    out->attempt = (int32_t)attempt;
    return true;
}

static bool take_word(const char **text, const char *word)
{
    if (!str_starts(*text, word))
        return false;
    *text += strlen(word);
    return true;
}

int yarn_app_id_parse(const char *text, struct yarn_app_id *out)
{
    struct yarn_app_id id;
    if (!take_word(&text, "application_") || !take_app(&text, true, &id))
        return ERR_PARSE;
    *out = id;
    return 0;
}

int yarn_attempt_id_parse(const char *text, struct yarn_attempt_id *out)
{
    struct yarn_attempt_id id;
    if (!take_word(&text, "appattempt_") || !take_attempt(&text, true, &id))
        return ERR_PARSE;
    *out = id;
    return 0;
}

int yarn_container_id_parse(const char *text, struct yarn_container_id *out)
{
    struct yarn_container_id id;
    int64_t epoch = 0, sequence = 0;
    if (!take_word(&text, "container_") ||
        (take_word(&text, "e") && !take_number(&text, false, EPOCH_MAX, &epoch)) ||
        !take_attempt(&text, false, &id.attempt) || !take_number(&text, true, SEQUENCE_MASK, &sequence))
        return ERR_PARSE;
    id.id = epoch << EPOCH_SHIFT | sequence;
    *out = id;
    return 0;
}

/* ---- messages ---- */

int yarn_app_id_read(const Yarn__ApplicationId *m, struct yarn_app_id *out)
{
    if (!m || !m->has_id || !m->has_cluster_timestamp)
        return ERR_PARSE;
    *out = (struct yarn_app_id){m->cluster_timestamp, m->id};
    return 0;
}

int yarn_attempt_id_read(const Yarn__AttemptId *m, struct yarn_attempt_id *out)
{
    struct yarn_attempt_id id;
    if (!m || !m->has_attempt || yarn_app_id_read(m->application_id, &id.app) != 0)
        return ERR_PARSE;
    id.attempt = m->attempt;
    *out = id;
    return 0;
}

int yarn_container_id_read(const Yarn__ContainerId *m, struct yarn_container_id *out)
{
    struct yarn_container_id id;
    if (!m || !m->has_id || yarn_attempt_id_read(m->attempt_id, &id.attempt) != 0)
        return ERR_PARSE;
    id.id = m->id;
    *out = id;
    return 0;
}

void yarn_app_id_point(const struct yarn_app_id *id, struct yarn_id_message *out)
{
    yarn__application_id__init(&out->app);
    out->app.has_id = out->app.has_cluster_timestamp = true;
    out->app.id = id->id;
    out->app.cluster_timestamp = id->cluster_timestamp;
}

void yarn_attempt_id_point(const struct yarn_attempt_id *id, struct yarn_id_message *out)
{
    yarn_app_id_point(&id->app, out);
    yarn__attempt_id__init(&out->attempt);
    out->attempt.application_id = &out->app;
    out->attempt.has_attempt = true;
    out->attempt.attempt = id->attempt;
}

void yarn_container_id_point(const struct yarn_container_id *id, struct yarn_id_message *out)
{
    yarn_attempt_id_point(&id->attempt, out);
    yarn__container_id__init(&out->container);
    out->container.attempt_id = &out->attempt;
    out->container.has_id = true;
    out->container.id = id->id;
}

bool yarn_container_id_equal(const struct yarn_container_id *a, const struct yarn_container_id *b)
{
    return a->id == b->id && a->attempt.attempt == b->attempt.attempt &&
           a->attempt.app.id == b->attempt.app.id &&
           a->attempt.app.cluster_timestamp == b->attempt.app.cluster_timestamp;
}
