/** See framework.h. */
#include "framework.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "kit/out.h"
#include "kit/services.h"

/** A framework of 50 000 tasks has some 80 MB. */
#define BODY_MAX ((size_t)1 << 30)

void framework_open(struct cli *cli, struct framework_client *out)
{
    *out = (struct framework_client){.user = mem_str(cli->user), .client = "CLI"};
    api_open(cli, &out->api);
}

void framework_close(struct framework_client *f)
{
    free(f->user);
    api_close(&f->api);
}

void framework_act(struct framework_client *f, const char *user, const char *client)
{
    char *acting = mem_str(f->api.wait.is_gateway ? f->api.cli->user : user);

    free(f->user);
    f->user = acting;
    f->client = client;
}

char *framework_path(const char *name, const char *rest)
{
    mem_auto char *quoted = services_quote(name);

    return mem_fmt("/%s%s%s", quoted, rest ? "/" : "", rest ? rest : "");
}

int framework_api(struct framework_client *f, const char *method, const char *path, const json_t *body,
                  struct buf *out, struct err_info *why)
{
    mem_auto char *quoted = services_quote(f->user);
    mem_auto char *url = mem_fmt("%s/v1%s?user.name=%s", f->api.url, path, quoted);
    mem_auto char *user = mem_fmt("UserName: %s", f->user);
    mem_auto char *client = mem_fmt("LaunchClientType: %s", f->client);
    const char *const headers[] = {user, client, NULL};
    const struct api_request request = {
        .method = method, .url = url, .headers = headers, .body = body, .max_body = BODY_MAX};

    return api_call(&f->api, &request, out, why);
}

int framework_call(struct framework_client *f, const char *method, const char *path, const json_t *body,
                   struct buf *out, struct err_info *why)
{
    mem_auto char *whole = mem_fmt("/Frameworks%s", path);

    return framework_api(f, method, whole, body, out, why);
}

int framework_get(struct framework_client *f, const char *path, json_t **out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = framework_call(f, "GET", path, NULL, &text, why);

    return err ? err : json_read(text.bytes, text.len, out, why);
}

int framework_show(struct framework_client *f, const char *path, json_t **out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = framework_call(f, "GET", path, NULL, &text, why);

    *out = NULL;
    if (err)
        return err;
    if (!f->api.cli->is_json)
        return json_read(text.bytes, text.len, out, why);
    fwrite(text.bytes, 1, text.len, stdout);
    putchar('\n');
    return 0;
}

void framework_print_change(const struct cli *cli, const char *change, const char *name)
{
    if (!cli->is_json) {
        printf("%s %s\n", change, name);
        return;
    }
    json_auto json_t *v = json_pack("{s:s, s:s}", "change", change, "framework", name);
    out_json(v);
}

/* ---- status ---- */

static void print_exit(const json_t *status)
{
    const json_t *code = json_object_get(status, "applicationExitCode");
    const char *message = services_text(status, "applicationExitTriggerMessage");
    const char *diagnostics = services_text(status, "applicationExitDiagnostics");

    if (!json_is_integer(code))
        return;
    printf("exit %lld %s: %s\n", (long long)json_integer_value(code),
           services_text(status, "applicationExitType"), services_text(status, "applicationExitDescription"));
    if (message[0])
        out_lines_to(stdout, message);
    if (diagnostics[0])
        out_lines_to(stdout, diagnostics);
}

void framework_print_status(const json_t *status)
{
    const json_t *progress = json_object_get(status, "applicationProgress");
    const json_t *retries = json_object_get(status, "frameworkRetryPolicyState");

    printf("%s version %lld %s %s\n", services_text(status, "frameworkName"),
           (long long)json_integer_value(json_object_get(status, "frameworkVersion")),
           services_text(status, "frameworkState"), services_text(status, "applicationId"));
    if (json_is_number(progress))
        printf("progress %.0f %%, retried %lld times\n", 100 * json_number_value(progress),
               (long long)json_integer_value(json_object_get(retries, "retriedCount")));
    print_exit(status);
}

/* ---- waiting ---- */

#define AIM_MAGIC OBJ_MAGIC('F', 'W', 'A', 'I')

/** A state that is waited for. */
struct aim {
    struct obj obj;
    struct framework_client *client;
    const char *state;
    json_t *status; /* that was seen last */
};

static int look(void *arg, const char *name, char **line, struct err_info *why)
{
    struct aim *aim = obj_cast(arg, struct aim, AIM_MAGIC);
    mem_auto char *path = framework_path(name, "FrameworkStatus");

    json_decref(aim->status);
    aim->status = NULL;
    int err = framework_get(aim->client, path, &aim->status, why);
    const char *now = services_text(aim->status, "frameworkState");
    if (!err && strcmp(now, aim->state) != 0 && strcmp(now, "FRAMEWORK_COMPLETED") != 0)
        *line = mem_fmt("%s: %s", name, now);
    return err;
}

int framework_wait(struct framework_client *f, const char *name, const char *state, json_t **out,
                   struct err_info *why)
{
    struct aim aim = {.client = f, .state = state};
    const struct api_goal goal = {.look = look, .arg = &aim, .what = "framework"};

    obj_init(&aim.obj, AIM_MAGIC);
    int err = api_wait(&f->api, name, &goal, why);
    obj_fini(&aim.obj);
    *out = aim.status;
    return err;
}
