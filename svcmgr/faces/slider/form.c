#include "slider/form.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "slider/kit.h"

#define FORM_TYPE "application/x-www-form-urlencoded"

static bool is_form(const struct http_req *req)
{
    const char *type = http_header(req, "Content-Type");
    return type && strncasecmp(type, FORM_TYPE, strlen(FORM_TYPE)) == 0;
}

/** @return 0; ERR_USAGE: a malformed escape, or no UTF-8 */
static int form_parse(const struct http_req *req, struct slider_form *out, struct err_info *why)
{
    struct http_pair *first = NULL;
    size_t len;
    const char *body = http_body(req, &len);
    *out = (struct slider_form){.is_form = is_form(req), .arena = arena_new(0)};
    int rc = out->is_form && len ? http_params_split(out->arena, body, &first, why) : 0;
    out->first = first;
    return rc;
}

bool slider_form_read(struct http_req *req, struct slider_form *out)
{
    struct err_info why = {0};
    if (form_parse(req, out, &why) == 0)
        return true;
    slider_reply_why(req, 400, &why);
    return false;
}

void slider_form_fini(struct slider_form *form)
{
    arena_free(form->arena);
    *form = (struct slider_form){.first = NULL};
}

const char *slider_form_get(const struct slider_form *form, const char *name)
{
    for (const struct http_pair *p = form->first; p; p = p->next) {
        if (strcmp(p->name, name) == 0)
            return p->value;
    }
    return NULL;
}

/** A path of this server: nothing that a browser takes for another host. */
static bool is_own_path(const char *path)
{
    return path && path[0] == '/' && path[1] != '/' && !strchr(path, '\\') && strspn(path, " ") == 0 &&
           path[strcspn(path, "\r\n\t")] == '\0';
}

void slider_reply_action(struct http_req *req, const struct face *face, json_t *take_doc)
{
    slider_form_auto struct slider_form form;
    struct err_info why = {0};
    const char *path = form_parse(req, &form, &why) == 0 ? slider_form_get(&form, "redirect") : NULL;
    (void)face;
    if (!is_own_path(path)) {
        slider_reply_json(req, 202, take_doc);
        return;
    }
    json_decref(take_doc);
    slider_reply_redirect(req, 303, path);
}
