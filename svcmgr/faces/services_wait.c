/** See services_wait.h. */
#include "faces/services_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/services.h"
#include "faces/services_kit.h"
#include "faces/waits.h"

#define AIM_MAGIC OBJ_MAGIC('A', 'I', 'M', 'S')

/** What a read waits for. */
struct aim {
    struct obj obj;
    const char *goal; /* parameter `wait`; borrowed from the request; NULL: an event from `since` on */
    int64_t since;
    bool explains;
    char *tag; /* CHANGE: what is known */
};

static bool is_any_change(const char *goal)
{
    return strcmp(goal, "CHANGE") == 0;
}

/** It stays as it is until somebody asks for something else. */
static bool is_final(const struct eng_service *s)
{
    return !eng_service_is_live(s) && !s->destroying;
}

/** There is nothing to wait for: the goal is reached, or does not come by itself. */
static bool is_reached(const struct face *face, const struct eng_service *s, const char *goal,
                       const char *tag)
{
    if (is_any_change(goal)) {
        mem_auto char *now = waits_tag(face, s);
        return strcmp(now, tag) != 0;
    }
    return is_final(s) || services_is_in(s, goal, face->ops->world(face->app)->dialect);
}

static struct aim *aim_new(void)
{
    struct aim *aim = mem_new(struct aim);
    obj_init(&aim->obj, AIM_MAGIC);
    return aim;
}

static bool aim_is_over(void *arg, const struct face *face, const struct eng_service *s)
{
    const struct aim *aim = obj_cast(arg, struct aim, AIM_MAGIC);
    return aim->goal ? is_reached(face, s, aim->goal, aim->tag) : service_has_events(s, aim->since);
}

static void aim_answer(void *arg, struct http_req *req, struct face *face, const struct eng_service *s,
                       const char *name)
{
    const struct aim *aim = obj_cast(arg, struct aim, AIM_MAGIC);
    if (s && !aim->goal) {
        service_reply_events(req, s, aim->since);
    } else if (s) {
        service_reply(req, face, s, aim->explains);
    } else {
        mem_auto char *text = mem_fmt("Service %s not found", name);
        services_reply_status(req, 404, text, SERVICES_CODE_NOT_FOUND, NULL);
    }
}

static void aim_free(void *arg)
{
    struct aim *aim = obj_cast(arg, struct aim, AIM_MAGIC);
    free(aim->tag);
    obj_fini(&aim->obj);
    free(aim);
}

static const struct wait_ops AIM_OPS = {.is_over = aim_is_over, .answer = aim_answer, .free = aim_free};

void services_wait(struct http_req *req, struct face *face, const struct eng_service *s)
{
    const char *goal = http_param_text(req, SERVICE_WAIT);
    const char *seen = http_header(req, "If-None-Match");
    mem_auto char *tag = waits_tag(face, s);
    bool explains = http_param_bool(req, SERVICE_EXPLAIN);
    bool is_changed = is_any_change(goal) && seen && !waits_tag_is_known(req, tag);
    if (is_changed || is_reached(face, s, goal, tag)) {
        service_reply(req, face, s, explains);
        return;
    }
    struct aim *aim = aim_new();
    aim->goal = goal;
    aim->explains = explains;
    aim->tag = tag;
    tag = NULL;
    waits_begin(req, face, s, &AIM_OPS, aim, http_param_ms(req, SERVICE_TIMEOUT));
}

void services_wait_events(struct http_req *req, struct face *face, const struct eng_service *s, int64_t since)
{
    struct aim *aim = aim_new();
    aim->since = since;
    waits_begin(req, face, s, &AIM_OPS, aim, http_param_ms(req, EVENTS_TIMEOUT));
}
