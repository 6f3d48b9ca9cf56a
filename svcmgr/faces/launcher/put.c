/** PUT and DELETE of a framework as a whole. Source: framework-launcher 5.1, 5.2, 5.3, 5.8. */
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "launcher/acl.h"
#include "launcher/kit.h"
#include "launcher/routes.h"
#include "launcher/translate.h"

#define CLIENT_HEADER "LaunchClientType"
#define NOT_KNOWN     "UNKNOWN"

/** What the client says it is. @return false: that is no such type, and that is replied */
static bool read_client(struct http_req *req, int *out)
{
    const char *text = http_header(req, CLIENT_HEADER);
    *out = LAUNCHER_CLIENT_UNKNOWN;
    for (int i = 0; text && launcher_client_words[i]; i++) {
        if (!strcmp(launcher_client_words[i], text)) {
            *out = i;
            return true;
        }
    }
    if (text)
        launcher_reply_error(req, 400, CLIENT_HEADER ": must be one of " LAUNCHER_CLIENTS);
    return !text;
}

/** What is stored as eng_service.request. [new] */
static json_t *request_of(const struct http_req *req, const struct launcher_descriptor *d, int client)
{
    const char *user = http_user_is_named(req) ? http_user(req) : NOT_KNOWN;
    json_t *out = json_object();
    json_object_set_new(out, "frameworkDescriptor", launcher_descriptor_write(d));
    json_object_set_new(out, "launchClientType", json_string(launcher_client_words[client]));
    json_object_set_new(out, "launchClientHostName", json_string(http_peer_address(req)));
    json_object_set_new(out, "launchClientUserName", json_string(user));
    return out;
}

static void put(struct http_req *req, const struct face *face, const char *name,
                const struct launcher_descriptor *d, int client)
{
    const struct eng_service *s = launcher_framework(face, name);
    json_auto json_t *request = request_of(req, d, client);
    mem_auto char *taken =
        s && strcmp(s->user, d->user.name) != 0
            ? mem_fmt("user.name: Framework [%s] is that of user [%s]; delete it first", name, s->user)
            : NULL;
    if (taken) {
        launcher_reply_error(req, 400, taken);
        return;
    }
    struct spec_service *spec = launcher_spec(face->launcher, name, d);
    mem_auto char *label = mem_str(spec->name);
    struct eng_event ev = {.kind = EV_REDEFINE,
                           .service_kind = KIND_LAUNCHER,
                           .user = d->user.name,
                           .name = label,
                           .take_spec = spec,
                           .take_rules = launcher_rules(face->launcher, name, d, client),
                           .value = request,
                           .save = d->execution == LAUNCHER_STOP};
    launcher_submit(req, face, &ev, (struct launcher_verb){.done = 202, .missing = 404});
}

void launcher_framework_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    launcher_body_auto struct launcher_body body;
    int client;
    if (!launcher_body_read(req, &launcher_descriptor_type, &body))
        return;
    mem_auto char *name = launcher_path_name(req, "f");
    struct launcher_descriptor *d = body.object;
    if (!name || !launcher_body_check(req, &body))
        return;
    launcher_descriptor_adopt(d);
    if (!launcher_may_write(req, face, (struct launcher_write){name, d->user.name}) ||
        !read_client(req, &client))
        return;
    put(req, face, name, d, client);
}

void launcher_framework_delete(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = launcher_path_name(req, "f");
    if (!name || !launcher_may_write(req, face, (struct launcher_write){name, NULL}))
        return;
    const struct eng_service *s = launcher_framework(face, name);
    if (!s) {
        launcher_reply_done(req, 202);
        return;
    }
    struct eng_event ev = {
        .kind = EV_DESTROY, .service_kind = KIND_LAUNCHER, .user = s->user, .name = s->name, .save = true};
    launcher_submit(req, face, &ev, (struct launcher_verb){.done = 202, .missing = 202});
}
