/** See wait.h. */
#include "slider/wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/waits.h"
#include "slider/kit.h"

#define WAITING_MAGIC OBJ_MAGIC('S', 'W', 'T', 'R')
#define PREFERENCE    "wait="

/** A read that waits. */
struct waiting {
    struct obj obj;
    struct slider_read read; /* its component is found by its name again */
    char *component;         /* NULL: none */
    char *tag;               /* that is known; NULL: any is */
};

/* ---- what is asked for ---- */

bool slider_wait_preferred(const struct http_req *req, int64_t *out)
{
    const char *at = http_header(req, "Prefer");
    while (at && *at) {
        size_t len = strcspn(at, ",;");
        mem_auto char *part = mem_strn(at, len);
        mem_auto char *bare = str_trim(part);
        if (str_starts(bare, PREFERENCE))
            return str_to_i64(bare + strlen(PREFERENCE), 0, INT64_MAX, out) == 0;
        at += len + (at[len] != '\0');
    }
    return true;
}

/** Seconds that the request waits; -1: it does not. @return false: it asks wrongly, and that is replied. */
static bool read_seconds(struct http_req *req, int timeout, int64_t *out)
{
    *out = http_param_given(req, timeout) ? http_param_int(req, timeout) : -1;
    if (!slider_wait_preferred(req, out)) {
        slider_reply_error(req, 400, "Prefer: wait= must have a number of seconds, 0 or more");
        return false;
    }
    if (*out > SLIDER_WAIT_MAX_S)
        *out = SLIDER_WAIT_MAX_S;
    return true;
}

/* ---- waiting ---- */

static void reply_now(struct http_req *req, struct face *face, const struct eng_service *s,
                      const struct slider_read *read)
{
    mem_auto char *tag = waits_tag(face, s);
    http_reply_header(req, "ETag", tag);
    read->reply(req, face, s, read->component);
}

/** Nothing to wait for any more: reached, changed, or it never comes. */
static bool is_over(const struct face *face, const struct eng_service *s, const struct slider_read *read,
                    const char *known_tag)
{
    bool is_ending = !eng_service_is_live(s) || s->state == SVC_FINISHING;
    if (!known_tag)
        return is_ending || read->is_over(s, read->component);
    mem_auto char *tag = waits_tag(face, s);
    return strcmp(tag, known_tag) != 0;
}

/** Find its component again. @return false: it had one that is gone */
static bool waiting_find(struct waiting *w, const struct eng_service *s)
{
    w->read.component = w->component ? eng_service_component(s, w->component) : NULL;
    return w->read.component || !w->component;
}

static bool waiting_is_over(void *arg, const struct face *face, const struct eng_service *s)
{
    struct waiting *w = obj_cast(arg, struct waiting, WAITING_MAGIC);
    return !waiting_find(w, s) || is_over(face, s, &w->read, w->tag);
}

static void waiting_answer(void *arg, struct http_req *req, struct face *face, const struct eng_service *s,
                           const char *name)
{
    struct waiting *w = obj_cast(arg, struct waiting, WAITING_MAGIC);
    (void)name;
    if (s && waiting_find(w, s))
        reply_now(req, face, s, &w->read);
    else
        slider_reply_error(req, 404, s ? "Unknown component" : "Unknown application");
}

static void waiting_free(void *arg)
{
    struct waiting *w = obj_cast(arg, struct waiting, WAITING_MAGIC);
    free(w->component);
    free(w->tag);
    obj_fini(&w->obj);
    free(w);
}

static const struct wait_ops WAITING_OPS = {
    .is_over = waiting_is_over, .answer = waiting_answer, .free = waiting_free};

static void begin(struct http_req *req, struct face *face, const struct eng_service *s,
                  const struct slider_read *read, int64_t wait_s)
{
    struct waiting *w = mem_new(struct waiting);
    obj_init(&w->obj, WAITING_MAGIC);
    w->read = *read;
    w->component = read->component ? mem_str(read->component->name) : NULL;
    w->tag = http_header(req, "If-None-Match") ? waits_tag(face, s) : NULL;
    waits_begin(req, face, s, &WAITING_OPS, w, wait_s * 1000);
}

void slider_read(struct http_req *req, struct face *face, const struct eng_service *s,
                 const struct slider_read *read)
{
    int64_t wait_s;
    if (!read_seconds(req, read->timeout, &wait_s))
        return;
    mem_auto char *tag = waits_tag(face, s);
    mem_auto char *applied = mem_fmt(PREFERENCE "%lld", (long long)wait_s);
    bool has_tag = http_header(req, "If-None-Match") != NULL;
    bool is_ready = has_tag ? !waits_tag_is_known(req, tag) : is_over(face, s, read, NULL);
    if (wait_s >= 0)
        http_reply_header(req, "Preference-Applied", applied);
    if (wait_s <= 0 || is_ready || waits_n_of(face->waits, s, &WAITING_OPS) >= SLIDER_WAITERS_MAX)
        reply_now(req, face, s, read);
    else
        begin(req, face, s, read, wait_s);
}
