/** See slider.h. */
#include "slider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/out.h"
#include "kit/services.h"

#define ROOT "/ws/v1/slider/applications"
/** A document of 10 000 containers has some megabytes. */
#define BODY_MAX ((size_t)256 << 20)

void slider_open(struct cli *cli, struct slider_client *out)
{
    *out = (struct slider_client){.user = services_quote(cli->user)};
    obj_init(&out->obj, SLIDER_CLIENT_MAGIC);
    api_open(cli, &out->api);
}

void slider_close(struct slider_client *s)
{
    free(s->user);
    api_close(&s->api);
    obj_fini(&s->obj);
}

static char *url_of(const struct slider_client *s, const struct slider_request *r)
{
    mem_auto char *name = r->name ? services_quote(r->name) : NULL;
    const char *rest = r->rest ? r->rest : "";

    return mem_fmt("%s" ROOT "%s%s%s%s%cuser.name=%s", s->api.url, name ? "/" : "", name ? name : "",
                   *rest && *rest != '?' ? "/" : "", rest, strchr(rest, '?') ? '&' : '?', s->user);
}

int slider_call(struct slider_client *s, const struct slider_request *r, json_t **out, struct err_info *why)
{
    mem_auto char *url = url_of(s, r);
    const char *const headers[] = {"Accept: application/json",
                                   r->form ? "Content-Type: application/x-www-form-urlencoded" : NULL, NULL};
    const struct api_request request = {.method = r->method,
                                        .url = url,
                                        .headers = headers,
                                        .body = r->body,
                                        .form = r->form,
                                        .max_body = BODY_MAX};

    return api_json(&s->api, &request, out, why);
}

int slider_get(struct slider_client *s, const char *name, const char *rest, json_t **out,
               struct err_info *why)
{
    const struct slider_request r = {.method = "GET", .name = name, .rest = rest};

    return slider_call(s, &r, out, why);
}

void slider_print_change(const struct cli *cli, const char *change, const char *name)
{
    if (!cli->is_json) {
        printf("%s %s\n", change, name);
        return;
    }
    json_auto json_t *v = json_pack("{s:s, s:s}", "change", change, "application", name);
    out_json(v);
}

/* ---- waiting ---- */

/** Whether it runs, or is to. */
static bool is_live(const json_t *application)
{
    return json_is_true(json_object_get(application, "live"));
}

/** Everything that is wanted has started: the requests are satisfied, and the state says that the containers run. */
static int look_live(void *arg, const char *name, char **line, struct err_info *why)
{
    struct slider_client *s = obj_cast(arg, struct slider_client, SLIDER_CLIENT_MAGIC);
    json_auto json_t *application = NULL, *liveness = NULL;
    int err = slider_get(s, name, "application/live/liveness?timeout=1", &liveness, why);

    if (err && err != ERR_UNAVAILABLE && err != ERR_NOTFOUND)
        return err;
    bool is_satisfied = json_is_true(json_object_get(liveness, "allRequestsSatisfied"));
    err = slider_get(s, name, NULL, &application, why);
    if (err)
        return err;
    const char *state = services_text(application, "state"),
               *diagnostics = services_text(application, "diagnostics");
    if (!is_live(application))
        return err_set(why, ERR_WRONGSTATE, name, "the application is %s%s%s", state,
                       diagnostics[0] ? ": " : "", diagnostics);
    if (!is_satisfied || strcmp(state, "STABLE") != 0)
        *line = mem_fmt("%s %s, %lld containers outstanding", name, state,
                        (long long)json_integer_value(json_object_get(liveness, "requestsOutstanding")));
    return 0;
}

int slider_wait_live(struct slider_client *s, const char *name, struct err_info *why)
{
    const struct api_goal goal = {.look = look_live, .arg = s, .what = "application"};

    return api_wait(&s->api, name, &goal, why);
}

static int look_stopped(void *arg, const char *name, char **line, struct err_info *why)
{
    struct slider_client *s = obj_cast(arg, struct slider_client, SLIDER_CLIENT_MAGIC);
    json_auto json_t *application = NULL;
    int err = slider_get(s, name, NULL, &application, why);

    if (err)
        return err;
    if (is_live(application))
        *line = mem_fmt("%s %s", name, services_text(application, "state"));
    return 0;
}

int slider_wait_stopped(struct slider_client *s, const char *name, struct err_info *why)
{
    const struct api_goal goal = {.look = look_stopped, .arg = s, .what = "application"};

    return api_wait(&s->api, name, &goal, why);
}
