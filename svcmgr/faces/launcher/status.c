/** The handlers of what runs: statuses, summaries, the launcher itself. */
#include "launcher/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/face.h"
#include "faces/pieces.h"
#include "launcher/descriptor.h"
#include "launcher/kit.h"
#include "launcher/pretty.h"
#include "launcher/requests.h"
#include "launcher/site.h"
#include "launcher/walk.h"

#define DOCUMENT_MAGIC OBJ_MAGIC('L', 'D', 'O', 'C')

static struct launcher_look look_of(void *arg)
{
    const struct face *face = obj_cast(arg, struct face, FACE_MAGIC);
    const struct launcher_site *site = launcher_site_of(face); /* NULL: of an application master */
    return (struct launcher_look){.e = face->ops->engine(face->app),
                                  .now_ms = face->ops->now_ms(face->app),
                                  .rm_url = site ? site->rm_url : NULL,
                                  .own_url = site ? site->own_url : NULL};
}

/** Reply with what was written on a buffer, made pretty. */
static void reply_compact(struct http_req *req, const struct buf *compact)
{
    struct launcher_pretty p = {0};
    struct buf out = BUF_EMPTY;
    launcher_pretty_add(&p, compact->bytes, compact->len, &out);
    launcher_reply_head(req);
    http_reply(req, 200, LAUNCHER_JSON, &out);
}

/* ---- documents in pieces ---- */

/** What an answer is made of. */
struct document {
    struct obj obj;
    struct launcher_walk *walk;
};

static bool next_piece(void *arg, struct buf *out)
{
    return launcher_walk_next(obj_cast(arg, struct document, DOCUMENT_MAGIC)->walk, out);
}

static void free_document(void *arg)
{
    struct document *d = obj_cast(arg, struct document, DOCUMENT_MAGIC);
    launcher_walk_free(d->walk);
    obj_fini(&d->obj);
    free(d);
}

void launcher_reply_walk(struct http_req *req, struct face *face, const struct launcher_walk_def *def)
{
    static const struct pieces_ops ops = {next_piece, free_document};
    struct launcher_walk_def whole = *def;
    struct document *d = mem_new(struct document);
    obj_init(&d->obj, DOCUMENT_MAGIC);
    whole.look = look_of;
    whole.arg = face;
    d->walk = launcher_walk_new(&whole);
    launcher_reply_head(req);
    pieces_reply(req, LAUNCHER_JSON, &ops, d);
}

static void reply_framework(struct http_req *req, struct face *face, const struct eng_service *s,
                            enum launcher_form form)
{
    launcher_reply_walk(req, face,
                        &(struct launcher_walk_def){.form = form,
                                                    .name = s->name,
                                                    .take_part = form == LAUNCHER_FORM_INFO
                                                                     ? launcher_view_aggregated_request(s)
                                                                     : NULL});
}

/* ---- one framework ---- */

void launcher_framework_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    if (s)
        reply_framework(req, face, s, LAUNCHER_FORM_INFO);
}

void launcher_aggregated_status_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    if (s)
        reply_framework(req, face, s, LAUNCHER_FORM_STATUS);
}

void launcher_status_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    buf_auto struct buf compact = BUF_EMPTY;
    struct jw w = jw_on(&compact);
    if (!s)
        return;
    struct launcher_look look = look_of(face);
    launcher_write_status(&w, &look, s);
    reply_compact(req, &compact);
}

/* ---- all frameworks ---- */

/** Which frameworks are listed. All is borrowed from the request. */
struct filter {
    const char *user, *client; /* NULL: any */
};

/** @return whether it may be done; else it is answered. */
static bool read_filter(struct http_req *req, struct filter *out)
{
    *out =
        (struct filter){http_param_text(req, LAUNCHER_LIST_USER), http_param_text(req, LAUNCHER_LIST_CLIENT)};
    bool is_client = !out->client;
    for (size_t i = 0; !is_client && launcher_client_words[i]; i++)
        is_client = strcmp(launcher_client_words[i], out->client) == 0;
    mem_auto char *text = NULL;
    if (!is_client)
        text = mem_fmt("LaunchClientType: %s is none of " LAUNCHER_CLIENTS, out->client);
    else if (out->user && !ldoc_is_name(out->user))
        text = mem_fmt("UserName: %s is no name", out->user);
    if (text)
        launcher_reply_error(req, 400, text);
    return !text;
}

static bool is_listed(const struct filter *f, const struct eng_service *s)
{
    if (s->destroying || (f->user && strcmp(f->user, s->user) != 0))
        return false;
    const char *client =
        f->client ? json_string_value(json_object_get(s->request, "launchClientType")) : NULL;
    return !f->client || (client && strcmp(f->client, client) == 0);
}

static int by_title(const void *a, const void *b)
{
    const struct eng_service *const *x = a, *const *y = b;
    return strcmp(eng_service_title(*x), eng_service_title(*y));
}

void launcher_frameworks_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct filter f;
    if (!read_filter(req, &f))
        return;
    const struct eng_service **all = engine_list_kind(face->ops->engine(face->app), KIND_LAUNCHER, NULL);
    size_t n = 0, n_all = 0;
    for (; all[n_all]; n_all++) {
        if (is_listed(&f, all[n_all]))
            all[n++] = all[n_all];
    }
    qsort(all, n, sizeof all[0], by_title);
    char **names = mem_array(n + 1, sizeof names[0]);
    for (size_t i = 0; i < n; i++)
        names[i] = mem_str(all[i]->name);
    free(all);
    launcher_reply_walk(
        req, face,
        &(struct launcher_walk_def){.form = LAUNCHER_FORM_SUMMARIES, .take_names = names, .n_names = n});
}

/* ---- the launcher ---- */

void launcher_active_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct launcher_site *site = launcher_site_of(face);
    mem_auto char *text = mem_fmt("Active at %s: %s", site->host, site->ip);
    buf_auto struct buf compact = BUF_EMPTY;
    struct jw w = jw_on(&compact);
    jw_str(&w, text);
    reply_compact(req, &compact);
}

void launcher_launcher_status_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    buf_auto struct buf compact = BUF_EMPTY;
    struct jw w = jw_on(&compact);
    launcher_write_launcher_status(&w, launcher_site_of(face), face->ops->engine(face->app));
    reply_compact(req, &compact);
}
