/** The example service of `bobbin dev`: see dev.h. */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bobbin/registry.h"
#include "kit/input.h"
#include "json/json.h"

#define READY_LIMIT_MS   120000
#define RECORDS_LIMIT_MS 10000
#define SYNC_LIMIT_MS    10000
#define LOOK_MS          20

/** --example, else what is installed. New. */
static char *example_file(const struct dev *d)
{
    const char *given = cli_value(d->cli, CLI_EXAMPLE);

    return given ? mem_str(given) : mem_fmt("%s/../share/bobbin/examples/hello-world.json", d->bin);
}

/** A service of an earlier run: start it if somebody stopped it; svcmgr goes on with the others by itself. */
static int start_kept(struct dev *d, const json_t *service, struct err_info *why)
{
    const char *state = services_text(service, "state");
    mem_auto char *quoted = services_quote(d->service_name);
    mem_auto char *path = mem_fmt("/%s", quoted);
    json_auto json_t *body = json_pack("{s:s}", "state", "STARTED");

    fprintf(stderr, "%s: kept from an earlier run, %s\n", d->service_name, state);
    if (strcmp(state, "STOPPED") != 0 && strcmp(state, "FAILED") != 0)
        return 0;
    return services_call(&d->services, "PUT", path, body, NULL, why);
}

static int launch(struct dev *d, const json_t *definition, struct err_info *why)
{
    json_auto json_t *kept = NULL;
    int err = services_get(&d->services, d->service_name, &kept, why);

    if (!err)
        return start_kept(d, kept, why);
    if (err != ERR_NOTFOUND)
        return err;
    fprintf(stderr, "%s: launching\n", d->service_name);
    return services_call(&d->services, "POST", "", definition, NULL, why);
}

/* ---- waiting for names ---- */

/** An answer holds a record that does not say that the container is not ready. */
static bool is_ready_record(const struct wait_answer *answer)
{
    json_auto json_t *node = NULL;

    if (answer->status != 200 || json_read(answer->body.bytes, answer->body.len, &node, NULL))
        return false;
    const json_t *service = json_object_get(node, "service");
    const char *ready = json_string_value(json_object_get(service, "bobbin:ready"));
    return service && !(ready && strcmp(ready, "false") == 0);
}

/** The registry holds a record of a container, by which it is ready. */
static int has_record(struct dev *d, const char *container_id, bool *out, struct err_info *why)
{
    struct wait_answer answer;
    mem_auto char *encoded = reg_encode_yarn_id(container_id);
    mem_auto char *path = NULL;
    int err = reg_component_path(d->user, "yarn-service", d->service_name, encoded, &path, why);

    if (err)
        return err;
    mem_auto char *url = mem_fmt("%s/ws/v1/registry%s", d->registry_url, path);
    const struct http_call_def def = {.url = url, .timeout_ms = RECORDS_LIMIT_MS};
    err = wait_http(&d->wait, &def, &answer, why);
    *out = !err && is_ready_record(&answer);
    wait_answer_fini(&answer);
    return err;
}

/** svcmgr publishes the record after the API has said READY. */
static int wait_record(struct dev *d, const char *container_id, struct err_info *why)
{
    int64_t end_ms = run_now_ms() + RECORDS_LIMIT_MS;
    bool is_there = false;
    int err = 0;

    while (!err && !is_there) {
        err = has_record(d, container_id, &is_there, why);
        if (!err && !is_there && run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, container_id, "has no record in the registry");
        if (!err && !is_there && wait_ms(&d->wait, LOOK_MS))
            err = err_set(why, ERR_CANCELLED, container_id, "interrupted");
    }
    return err;
}

static int wait_records(struct dev *d, struct err_info *why)
{
    size_t i, k;
    json_t *component, *container;
    int err = 0;

    json_array_foreach(json_object_get(d->service, "components"), i, component)
    {
        json_array_foreach(json_object_get(component, "containers"), k, container)
        {
            if (!err)
                err = wait_record(d, services_text(container, "id"), why);
        }
    }
    return err;
}

int dev_sync(struct dev *d, struct err_info *why)
{
    struct wait_answer registry, dns = {0};
    mem_auto char *read = mem_fmt("%s/ws/v1/registry/", d->registry_url);
    int err = wait_get(&d->wait, &(struct wire_asked){.url = read, .program = "registryd"}, SYNC_LIMIT_MS,
                       &registry, why);

    if (!err) {
        mem_auto char *sync =
            mem_fmt("%s/sync?revision=%s&timeout=%dms", d->dns_url, registry.revision, SYNC_LIMIT_MS);
        err = wait_get(&d->wait, &(struct wire_asked){.url = sync, .program = "dnsd"},
                       SYNC_LIMIT_MS + LOOK_MS * 50, &dns, why);
    }
    wait_answer_fini(&registry);
    wait_answer_fini(&dns);
    return err;
}

int dev_service_start(struct dev *d, struct err_info *why)
{
    json_auto json_t *definition = NULL;
    mem_auto char *file = example_file(d);
    int err = input_read_json(file, &definition, why);

    if (err)
        return err;
    d->service_name = mem_str(services_text(definition, "name"));
    if (!d->service_name[0])
        return err_set(why, ERR_INVALID, file, "the service has no name");
    err = launch(d, definition, why);
    if (!err)
        err = services_wait(&d->services, d->service_name, &services_ready, READY_LIMIT_MS, &d->service, why);
    if (!err)
        err = wait_records(d, why);
    return err ? err : dev_sync(d, why);
}

void dev_service_stop(struct dev *d)
{
    free(d->service_name);
    json_decref(d->service);
}
