/** `bobbin app logs`: what stands in the log files of a service's containers, and with -f what is added to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "commands.h"
#include "json/json.h"
#include "json/writer.h"

#define FOLLOW_MS       200
#define CALL_TIMEOUT_MS 10000

/** One log file and how far it was read. */
struct log_file {
    char *instance;
    const char *name;
    char container[128]; /* that it was read from */
    int64_t offset;
};

struct logs {
    struct app_client client;
    const char *service;
    struct log_file *files;
    size_t n_files;
    const struct log_file *shown; /* whose text was printed last */
};

static void add_files(struct logs *l, const char *instance)
{
    static const char *const names[] = {"stdout.txt", "stderr.txt"};

    l->files = mem_resize(l->files, l->n_files + ARRAY_LEN(names), sizeof(*l->files));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        l->files[l->n_files++] = (struct log_file){.instance = mem_str(instance), .name = names[i]};
}

/** The files of all containers of the service. */
static int find_files(struct logs *l, struct err_info *why)
{
    json_auto json_t *service = NULL;
    size_t i, k;
    json_t *component, *container;
    int err = services_get(&l->client.services, l->service, &service, why);

    if (err)
        return err;
    json_array_foreach(json_object_get(service, "components"), i, component)
    {
        json_array_foreach(json_object_get(component, "containers"), k, container)
            add_files(l, services_text(container, "component_instance_name"));
    }
    return 0;
}

static void print_json(const struct log_file *f, const struct buf *text)
{
    buf_auto struct buf line = BUF_EMPTY;
    struct jw w = jw_on(&line);

    jw_object(&w);
    jw_kstr(&w, "instance", f->instance);
    jw_kstr(&w, "container", f->container);
    jw_kstr(&w, "file", f->name);
    jw_kint(&w, "offset", f->offset);
    jw_key(&w, "text");
    jw_strn(&w, text->bytes, text->len);
    jw_object_end(&w);
    printf("%s\n", buf_cstr(&line));
}

static void print_piece(struct logs *l, const struct log_file *f, const struct buf *text)
{
    if (l->client.cli->is_json) {
        print_json(f, text);
        return;
    }
    if (l->shown != f && l->n_files > 1)
        printf("%s==> %s %s <==\n", l->shown ? "\n" : "", f->instance, f->name);
    l->shown = f;
    fwrite(text->bytes, 1, text->len, stdout);
}

/** A container took the place of another, or the file was begun anew: read it from its start. @return it was so */
static bool begins_anew(struct log_file *f, const struct wait_answer *answer)
{
    int64_t size = 0;
    bool is_first = !f->container[0];
    bool is_other = strcmp(f->container, answer->container) != 0;

    snprintf(f->container, sizeof(f->container), "%s", answer->container);
    if (is_first || str_to_i64(answer->log_size, 0, INT64_MAX, &size))
        return false;
    if (!is_other && size >= f->offset)
        return false;
    bool was_at_start = f->offset == 0;
    f->offset = 0;
    return !was_at_start;
}

/** Read and print one piece. *got: there may be more at once. */
static int read_piece(struct logs *l, struct log_file *f, bool *got, struct err_info *why)
{
    struct services *s = &l->client.services;
    struct wait_answer answer;
    mem_auto char *service = services_quote(l->service);
    mem_auto char *instance = services_quote(f->instance);
    mem_auto char *url =
        mem_fmt("%s/app/v1/services/%s/component-instances/%s/logs/%s?user.name=%s&offset=%lld", s->url,
                service, instance, f->name, s->user, (long long)f->offset);
    const struct http_call_def def = {.url = url, .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(&l->client.wait, &def, &answer, why);

    *got = false;
    if (!err && answer.status != 200) {
        json_auto json_t *doc = NULL;
        json_read(buf_cstr(&answer.body), answer.body.len, &doc, NULL);
        err = err_set(why, answer.status == 404 ? ERR_NOTFOUND : ERR_INTERNAL, f->instance, "%s, status %d",
                      services_text(doc, "diagnostics"), answer.status);
    } else if (!err && begins_anew(f, &answer)) {
        *got = true;
    } else if (!err && answer.body.len) {
        print_piece(l, f, &answer.body);
        f->offset += (int64_t)answer.body.len;
        *got = true;
    }
    wait_answer_fini(&answer);
    return err;
}

/** All that is in all files now. While following, an instance that has no container for a moment is no error. */
static int read_all(struct logs *l, bool is_following, struct err_info *why)
{
    int err = 0;

    for (size_t i = 0; i < l->n_files && !err; i++) {
        bool got = true;
        while (!err && got)
            err = read_piece(l, &l->files[i], &got, why);
        if (is_following && err == ERR_NOTFOUND)
            err = 0;
    }
    if (!err && fflush(stdout))
        err = err_set(why, ERR_IO, "standard output", "could not be written");
    return err;
}

static int follow(struct logs *l, struct err_info *why)
{
    int err = 0;

    while (!err && !wait_ms(&l->client.wait, FOLLOW_MS))
        err = read_all(l, true, why);
    return err == ERR_CANCELLED ? 0 : err;
}

int app_logs(struct cli *cli, struct err_info *why)
{
    struct logs l = {.service = cli->operands[0]};
    int err = 0;

    app_open(cli, &l.client);
    if (cli->n_operands > 1)
        add_files(&l, cli->operands[1]);
    else
        err = find_files(&l, why);
    if (!err)
        err = read_all(&l, false, why);
    if (!err && cli_has(cli, CLI_FOLLOW))
        err = follow(&l, why);
    for (size_t i = 0; i < l.n_files; i++)
        free(l.files[i].instance);
    free(l.files);
    app_close(&l.client);
    return err;
}
