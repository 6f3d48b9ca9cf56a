#include "submit/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"

enum { REASON_MAX = 500 };

/* ContainerExitStatus.INVALID: a container whose files could not be fetched never had another one. */
#define NOT_LAUNCHED "-1000"

static const char *const words[] = {
    [SUBMIT_NEW] = "NEW",           [SUBMIT_ACCEPTED] = "ACCEPTED", [SUBMIT_RUNNING] = "RUNNING",
    [SUBMIT_FINISHED] = "FINISHED", [SUBMIT_FAILED] = "FAILED",     [SUBMIT_KILLED] = "KILLED",
    [SUBMIT_UNKNOWN] = "UNKNOWN",
};

const char *submit_state_word(enum submit_state state)
{
    return words[state];
}

static bool read_state(const Yarn__ApplicationReport *m, enum submit_state *out)
{
    switch ((int)m->state) {
    case YARN__APPLICATION_STATE__APPLICATION_NEW:
    case YARN__APPLICATION_STATE__APPLICATION_NEW_SAVING: *out = SUBMIT_NEW; return true;
    case YARN__APPLICATION_STATE__APPLICATION_SUBMITTED:
    case YARN__APPLICATION_STATE__APPLICATION_ACCEPTED: *out = SUBMIT_ACCEPTED; return true;
    case YARN__APPLICATION_STATE__APPLICATION_RUNNING: *out = SUBMIT_RUNNING; return true;
    case YARN__APPLICATION_STATE__APPLICATION_FINISHED: *out = SUBMIT_FINISHED; return true;
    case YARN__APPLICATION_STATE__APPLICATION_FAILED: *out = SUBMIT_FAILED; return true;
    case YARN__APPLICATION_STATE__APPLICATION_KILLED: *out = SUBMIT_KILLED; return true;
    default: return false;
    }
}

static enum submit_final read_final(const Yarn__ApplicationReport *m)
{
    int final = m->has_final_status ? (int)m->final_status : 0;
    return final >= SUBMIT_UNDEFINED && final <= SUBMIT_ENDED ? (enum submit_final) final : SUBMIT_UNDEFINED;
}

/* "N/A": there is none, or it is not ours to see. */
static char *text_of(const char *text)
{
    return mem_str(text && strcmp(text, "N/A") != 0 ? text : "");
}

int submit_report_read(const Yarn__ApplicationReport *m, struct submit_report *out)
{
    struct submit_report r = {.attempt = 0};
    if (!m || !m->has_state || !read_state(m, &r.state) || yarn_app_id_read(m->application_id, &r.id) != 0)
        return ERR_PARSE;
    const Yarn__AttemptId *attempt = m->current_attempt_id;
    r.attempt = attempt && attempt->has_attempt && attempt->attempt > 0 ? attempt->attempt : 0;
    r.final = read_final(m);
    r.has_ended = r.state == SUBMIT_FAILED || r.state == SUBMIT_KILLED;
    r.queue = text_of(m->queue);
    r.diagnostics = submit_reason(m->diagnostics);
    r.tracking_url = text_of(m->tracking_url);
    r.own_url = text_of(m->original_tracking_url);
    submit_report_fini(out);
    *out = r;
    return 0;
}

bool submit_report_is_unfetched(const struct submit_report *r)
{
    return r->state == SUBMIT_FAILED && strstr(r->diagnostics, "exitCode: " NOT_LAUNCHED) != NULL;
}

void submit_report_fini(struct submit_report *r)
{
    free(r->queue);
    free(r->diagnostics);
    free(r->tracking_url);
    free(r->own_url);
    *r = (struct submit_report){.attempt = 0};
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool submit_report_equal(const struct submit_report *a, const struct submit_report *b)
{
    return a->id.id == b->id.id && a->id.cluster_timestamp == b->id.cluster_timestamp &&
           a->state == b->state && a->final == b->final && a->has_ended == b->has_ended &&
           a->attempt == b->attempt && is_same(a->queue, b->queue) &&
           is_same(a->diagnostics, b->diagnostics) && is_same(a->tracking_url, b->tracking_url) &&
           is_same(a->own_url, b->own_url);
}

static int32_t number_of(const Yarn__AttemptReport *r)
{
    return r->attempt_id && r->attempt_id->has_attempt ? r->attempt_id->attempt : 0;
}

bool submit_attempts_ended(const Yarn__Attempts *m)
{
    const Yarn__AttemptReport *last = NULL;
    for (size_t i = 0; i < m->n_reports; i++)
        if (!last || number_of(m->reports[i]) > number_of(last))
            last = m->reports[i];
    int state = last && last->has_state ? (int)last->state : 0;
    return !last || state == YARN__ATTEMPT_STATE__ATTEMPT_FINISHED ||
           state == YARN__ATTEMPT_STATE__ATTEMPT_FAILED || state == YARN__ATTEMPT_STATE__ATTEMPT_KILLED;
}

/* "[Tue Nov 24 …] " at the begin; what it begins with otherwise stays. */
static const char *behind_date(const char *text)
{
    const char *end = *text == '[' ? strchr(text, ']') : NULL;
    return end ? end + 1 : text;
}

char *submit_reason(const char *text)
{
    if (!text || strcmp(text, "N/A") == 0)
        return mem_str("");
    text = behind_date(text);
    const char *details = strstr(text, "Details :");
    size_t n = details ? (size_t)(details - text) : strlen(text);
    buf_auto struct buf out = BUF_EMPTY;
    uint32_t cp;
    for (size_t i = 0; i < n && out.len < REASON_MAX;) {
        size_t len = utf8_next(text + i, n - i, &cp);
        bool is_blank = len == 0 || (len == 1 && (cp <= ' ' || cp == 0x7f));
        if (!is_blank)
            buf_add(&out, text + i, len);
        else if (out.len && out.bytes[out.len - 1] != ' ')
            buf_add_char(&out, ' ');
        i += len ? len : 1;
    }
    return str_trim(buf_cstr(&out));
}
