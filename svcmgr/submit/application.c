#include "submit/application.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/obj.h"
#include "base/str.h"

enum { SHA256_LEN = 32, TAG_LEN = 16 };

static const int64_t last_ms = INT64_C(253402300799999); /* of the year 9999 */

static void add_part(struct buf *b, const char *text)
{
    buf_addf(b, "%zu:%s,", strlen(text), text);
}

const char *submit_tag(const struct submit_key *key, char out[SUBMIT_TAG_ROOM])
{
    buf_auto struct buf text = BUF_EMPTY;
    unsigned char hash[SHA256_LEN];
    add_part(&text, key->state);
    add_part(&text, key->kind);
    add_part(&text, key->user);
    add_part(&text, key->name);
    buf_addf(&text, "%" PRId64, key->incarnation);
    BUG_IF(gnutls_hash_fast(GNUTLS_DIG_SHA256, text.bytes, text.len, hash) != 0);
    int n = snprintf(out, SUBMIT_TAG_ROOM, "bobbin:");
    for (size_t i = 0; i < TAG_LEN; i++)
        n += snprintf(out + n, SUBMIT_TAG_ROOM - (size_t)n, "%02x", hash[i]);
    return out;
}

int submit_expiry(int64_t wall_ms, char out[SUBMIT_TIME_ROOM])
{
    if (wall_ms <= 0 || wall_ms > last_ms)
        return ERR_INVALID;
    time_t s = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&s, &tm);
    size_t n = strftime(out, SUBMIT_TIME_ROOM, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, SUBMIT_TIME_ROOM - n, ".%03d+0000", (int)(wall_ms % 1000));
    return 0;
}

bool submit_is_refusal(int code)
{
    return code == ERR_INVALID || code == ERR_PERMISSION || code == ERR_TOOBIG || code == ERR_UNSUPPORTED ||
           code == ERR_CONFLICT;
}

/* ---- the message ---- */

static bool is_tag(const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return n > 0 && n <= SUBMIT_TAG_MAX;
}

/* Lower-case: clients look for tags so. */
static int add_tags(struct arena *a, const struct submit_def *def, Yarn__SubmissionContext *m,
                    struct err_info *why)
{
    if (def->n_tags + 1 > SUBMIT_MAX_TAGS)
        return err_set(why, ERR_INVALID, "tags", "%zu tags are more than %d", def->n_tags + 1,
                       SUBMIT_MAX_TAGS);
    m->tags = arena_alloc(a, (def->n_tags + 1) * sizeof *m->tags);
    for (size_t i = 0; i <= def->n_tags; i++) {
        const char *text = i < def->n_tags ? def->tags[i] : def->tag;
        if (!is_tag(text))
            return err_set(why, ERR_INVALID, "tags", "a tag is 1 to %d visible ASCII characters and blanks",
                           SUBMIT_TAG_MAX);
        m->tags[i] = arena_str(a, text);
        str_lower(m->tags[i]);
    }
    m->n_tags = def->n_tags + 1;
    return 0;
}

static void add_lifetime(struct arena *a, int64_t lifetime_s, Yarn__SubmissionContext *m)
{
    if (lifetime_s <= 0)
        return;
    Yarn__TimeoutAtSubmission *t = arena_new_obj(a, Yarn__TimeoutAtSubmission);
    yarn__timeout_at_submission__init(t);
    t->has_type = t->has_timeout = true;
    t->type = YARN__TIMEOUT_TYPE__TIMEOUT_LIFETIME;
    t->timeout = lifetime_s;
    m->timeouts = arena_alloc(a, sizeof *m->timeouts);
    m->timeouts[0] = t;
    m->n_timeouts = 1;
}

/* With one pattern the message has all four: an absent one has a default of the server, which may be "nothing". */
static void add_logs(struct arena *a, const struct submit_logs *logs, Yarn__SubmissionContext *m)
{
    if (!logs->include && !logs->exclude && !logs->rolled_include && !logs->rolled_exclude)
        return;
    Yarn__LogAggregation *l = arena_new_obj(a, Yarn__LogAggregation);
    yarn__log_aggregation__init(l);
    l->include_pattern = arena_str(a, logs->include ? logs->include : ".*");
    l->exclude_pattern = arena_str(a, logs->exclude ? logs->exclude : "");
    l->rolled_include_pattern = arena_str(a, logs->rolled_include ? logs->rolled_include : "");
    l->rolled_exclude_pattern = arena_str(a, logs->rolled_exclude   ? logs->rolled_exclude
                                             : logs->rolled_include ? ""
                                                                    : ".*");
    m->log_aggregation = l;
}

static void add_size(struct arena *a, const struct submit_def *def, Yarn__SubmissionContext *m)
{
    Yarn__Resource *r = arena_new_obj(a, Yarn__Resource);
    yarn__resource__init(r);
    r->has_memory = r->has_virtual_cores = true;
    r->memory = def->memory_mb;
    r->virtual_cores = def->vcores;
    m->resource = r;
}

int submit_message(struct arena *a, const struct submit_def *def, Yarn__SubmissionContext **out,
                   struct err_info *why)
{
    Yarn__SubmissionContext *m = arena_new_obj(a, Yarn__SubmissionContext);
    yarn__submission_context__init(m);
    m->application_name = arena_str(a, def->name);
    m->application_type = arena_str(a, def->type);
    m->queue = arena_str(a, def->queue);
    m->node_label = def->label && *def->label ? arena_str(a, def->label) : NULL;
    m->has_keep_containers = m->has_max_attempts = m->has_attempt_failures_validity_interval = true;
    m->keep_containers = def->keep_containers;
    m->max_attempts = def->max_attempts;
    m->attempt_failures_validity_interval = def->validity_ms;
    add_lifetime(a, def->lifetime_s, m);
    add_logs(a, &def->logs, m);
    add_size(a, def, m);
    int err = add_tags(a, def, m, why);
    if (err == 0)
        err = submit_launch_message(a, &def->launch, &m->am_container_spec, why);
    if (err == 0)
        *out = m;
    return err;
}
