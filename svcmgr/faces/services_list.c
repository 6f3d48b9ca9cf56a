/** The handler that lists services: E2. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "faces/services.h"
#include "faces/services_kit.h"
#include "faces/waits.h"

/** Which services are listed. All is borrowed from the request. */
struct filter {
    const struct dialect *dialect;
    const char *state; /* NULL: those that run */
    const char *name;  /* they begin so; NULL: any */
    const char *user;  /* NULL: all */
    const char *after; /* "user/name" of the last one of the answer before; NULL: from the first one */
    int64_t limit;
    bool shows_user;
};

/** @return whether it may be done; else it is answered. */
static bool read_filter(struct http_req *req, const struct face *face, struct filter *out)
{
    const char *caller = http_user(req), *user = http_param_text(req, LIST_USER);
    *out = (struct filter){.dialect = face->ops->world(face->app)->dialect,
                           .state = http_param_text(req, LIST_STATE),
                           .name = http_param_text(req, LIST_NAME),
                           .user = user ? user : caller,
                           .after = http_param_text(req, LIST_CURSOR),
                           .limit = http_param_int(req, LIST_LIMIT),
                           .shows_user = user != NULL};
    bool is_other = user && strcmp(user, caller) != 0;
    if (is_other && !(http_user_is_named(req) && face->ops->administers(face->app, caller))) {
        services_reply_text(
            req, 403,
            "Only administrators may list the services of others, by name (user.name): the user "
            "who runs svcmgr, root, and those of yarn.service.api-server.admin.users");
        return false;
    }
    if (user && strcmp(user, "*") == 0)
        out->user = NULL;
    return true;
}

static bool is_listed(const struct filter *f, const struct eng_service *s)
{
    if (f->name && !str_starts(s->name, f->name))
        return false;
    if (!f->state)
        return eng_service_is_live(s);
    return strcmp(f->state, "ANY") == 0 || services_is_in(s, f->state, f->dialect);
}

static char *place_of(const struct eng_service *s)
{
    return mem_fmt("%s/%s", s->user, s->name);
}

/** The services of an answer. */
struct page {
    const struct eng_service **items; /* owned array, ended by NULL; the first n are those of the page */
    size_t n;
    bool has_more;
};

/** Keep what is listed of all that there is. */
static void cut_page(const struct filter *f, struct page *p)
{
    for (size_t i = 0; p->items[i] && !p->has_more; i++) {
        const struct eng_service *s = p->items[i];
        mem_auto char *place = f->after ? place_of(s) : NULL;
        if (!is_listed(f, s) || (place && strcmp(place, f->after) <= 0))
            continue;
        p->has_more = (int64_t)p->n == f->limit;
        if (!p->has_more)
            p->items[p->n++] = s;
    }
}

/** Entity tag of a page: which services it has, and what each was last changed by. free() */
static char *tag_of(const struct face *face, const struct page *p)
{
    buf_auto struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < p->n; i++) {
        mem_auto char *tag = waits_tag(face, p->items[i]);
        buf_addf(&text, "%s/%s %s\n", p->items[i]->user, p->items[i]->name, tag);
    }
    return mem_fmt("W/\"%llx\"", (unsigned long long)hash_bytes(buf_cstr(&text), text.len));
}

static void reply_page(struct http_req *req, const struct face *face, const struct filter *f,
                       const struct page *p)
{
    mem_auto char *tag = tag_of(face, p);
    mem_auto char *cursor = p->has_more ? place_of(p->items[p->n - 1]) : NULL;
    json_t *doc = json_array();
    http_reply_header(req, "ETag", tag);
    if (cursor)
        http_reply_header(req, "Bobbin-Cursor", cursor);
    for (size_t i = 0; i < p->n; i++) {
        json_t *v = services_view_short(p->items[i], f->dialect, face->ops->now_ms(face->app));
        if (f->shows_user)
            json_object_set_new(v, "user", json_string(p->items[i]->user));
        json_array_append_new(doc, v);
    }
    if (waits_tag_is_known(req, tag)) {
        json_decref(doc);
        services_reply_not_modified(req);
        return;
    }
    services_reply_json(req, 200, doc);
}

void services_list(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct filter f;
    if (!read_filter(req, face, &f))
        return;
    struct page page = {.items = engine_list_kind(face->ops->engine(face->app), KIND_SERVICE, f.user)};
    cut_page(&f, &page);
    reply_page(req, face, &f, &page);
    free(page.items);
}
