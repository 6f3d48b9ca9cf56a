/**
 * `bobbin app logs`: what stands in the log files of a service's containers, the older ones (stdout.txt.1 …) first, and with -f
 * what is added to them. A file that has become an older one meanwhile is read to its end under its new name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "json/writer.h"

#define FOLLOW_MS       200
#define CALL_TIMEOUT_MS 10000
#define LINE_MAX_BYTES  65536 /* of a line that is kept until its end comes */
#define GONE_MAX        1000  /* instances of a component that are asked for though they are not listed */

/** One log file and how far it was read. */
struct log_file {
    char *instance, *name;
    char *older;         /* the name that it has after one more rotation */
    char container[128]; /* that it was read from */
    char id[24];         /* of the file that it was read from */
    int64_t offset;
    struct buf rest; /* --all: of a line that has no end yet */
    bool is_older;   /* nothing is added to it any more */
};

struct logs {
    struct app_client client;
    const char *service;
    bool is_master; /* of the application master, instead of instances */
    struct log_file *files;
    size_t n_files;
    const struct log_file *shown; /* whose text was printed last */
};

static void add_file(struct logs *l, const char *instance, const char *name, int number)
{
    l->files = mem_resize(l->files, l->n_files + 1, sizeof *l->files);
    l->files[l->n_files++] =
        (struct log_file){.instance = mem_str(instance),
                          .name = number ? mem_fmt("%s.%d", name, number) : mem_str(name),
                          .older = mem_fmt("%s.%d", name, number + 1),
                          .is_older = number > 0};
}

/** Ask for a piece of a file. @return 0: answer->status is 200 */
static int ask(struct logs *l, const struct log_file *f, const char *name, struct wait_answer *answer,
               struct err_info *why)
{
    struct services *s = &l->client.services;
    mem_auto char *service = services_quote(l->service);
    mem_auto char *instance = services_quote(f->instance);
    mem_auto char *place =
        l->is_master ? mem_str("application-master") : mem_fmt("component-instances/%s", instance);
    mem_auto char *url = mem_fmt("%s/app/v1/services/%s/%s/logs/%s?user.name=%s&offset=%lld", s->url, service,
                                 place, name, s->user, (long long)f->offset);
    const struct http_call_def def = {.url = url, .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(&l->client.wait, &def, answer, why);

    if (err || answer->status == 200)
        return err;
    json_auto json_t *doc = NULL;
    json_read(buf_cstr(&answer->body), answer->body.len, &doc, NULL);
    int code = answer->status == 404   ? ERR_NOTFOUND
               : answer->status == 503 ? ERR_UNAVAILABLE
               : answer->status == 501 ? ERR_UNSUPPORTED
                                       : ERR_INTERNAL;
    return err_set(why, code, f->instance, "%s, status %d", services_text(doc, "diagnostics"),
                   answer->status);
}

/** How many older files there are of a name. */
static int count_older(struct logs *l, const char *instance, const char *name)
{
    const struct log_file f = {.instance = (char *)instance};
    int n = 0;
    bool there = true;

    while (there) {
        mem_auto char *older = mem_fmt("%s.%d", name, n + 1);
        struct wait_answer answer = {0};
        struct err_info why;
        int64_t size = 0;
        there = !ask(l, &f, older, &answer, &why) && !str_to_i64(answer.log_size, 0, INT64_MAX, &size) &&
                size > 0;
        n += there;
        wait_answer_fini(&answer);
    }
    return n;
}

static void add_files(struct logs *l, const char *instance)
{
    static const char *const names[] = {"stdout.txt", "stderr.txt"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (int k = count_older(l, instance, names[i]); k >= 0; k--)
            add_file(l, instance, names[i], k);
}

static void add_master(struct logs *l)
{
    add_file(l, "application-master", "serviceam-out.txt", 0);
    add_file(l, "application-master", "serviceam-err.txt", 0);
}

/** The kept files of instances that are not listed: of a component without containers, of a service that has ended. */
static void add_gone(struct logs *l, const json_t *component)
{
    json_int_t n = json_integer_value(json_object_get(component, "number_of_containers"));

    for (json_int_t i = 0; i < n && i < GONE_MAX; i++) {
        mem_auto char *instance = mem_fmt("%s-%lld", services_text(component, "name"), (long long)i);
        const struct log_file f = {.instance = instance};
        struct wait_answer answer = {0};
        struct err_info why;
        if (!ask(l, &f, "stdout.txt", &answer, &why))
            add_files(l, instance);
        wait_answer_fini(&answer);
    }
}

/** The files of all containers of the service. */
static int find_files(struct logs *l, struct err_info *why)
{
    json_auto json_t *service = NULL;
    size_t i, k;
    const json_t *component, *container;
    int err = services_get(&l->client.services, l->service, &service, why);

    if (err)
        return err;
    json_array_foreach(json_object_get(service, "components"), i, component)
    {
        const json_t *containers = json_object_get(component, "containers");
        json_array_foreach(containers, k, container)
            add_files(l, services_text(container, "component_instance_name"));
        if (!json_array_size(containers))
            add_gone(l, component);
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

static void print_line(const struct log_file *f, const char *text, size_t len)
{
    printf("%s | %.*s\n", f->instance, (int)len, text);
}

/** Whole lines; the rest is kept until its line has ended, or is too long. */
static void print_lines(struct log_file *f, const struct buf *text)
{
    const char *end;

    buf_add(&f->rest, text->bytes, text->len);
    const char *p = buf_cstr(&f->rest);
    size_t left = f->rest.len;
    while ((end = memchr(p, '\n', left))) {
        print_line(f, p, (size_t)(end - p));
        left -= (size_t)(end + 1 - p);
        p = end + 1;
    }
    if (left > LINE_MAX_BYTES) {
        print_line(f, p, left);
        left = 0;
    }
    buf_drop(&f->rest, f->rest.len - left);
}

/** The file is read: what has no end of line is a line, too. */
static void print_rest(struct log_file *f)
{
    if (f->rest.len)
        print_line(f, buf_cstr(&f->rest), f->rest.len);
    buf_fini(&f->rest);
    f->rest = BUF_EMPTY;
}

static void print_piece(struct logs *l, struct log_file *f, const struct buf *text)
{
    if (l->client.cli->is_json) {
        print_json(f, text);
        return;
    }
    if (cli_has(l->client.cli, CLI_ALL)) {
        print_lines(f, text);
        return;
    }
    if (l->shown != f && l->n_files > 1)
        printf("%s==> %s %s <==\n", l->shown ? "\n" : "", f->instance, f->name);
    l->shown = f;
    fwrite(text->bytes, 1, text->len, stdout);
}

/** Print what an answer holds. @return it held something */
static bool take_piece(struct logs *l, struct log_file *f, const struct wait_answer *answer)
{
    if (!answer->body.len)
        return false;
    print_piece(l, f, &answer->body);
    f->offset += (int64_t)answer->body.len;
    return true;
}

/** The file has another name now: read the rest of it. */
static int read_rest(struct logs *l, struct log_file *f, struct err_info *why)
{
    bool got = true;
    int err = 0;

    while (!err && got) {
        struct wait_answer answer = {0};
        err = ask(l, f, f->older, &answer, why);
        got = !err && !strcmp(answer.log_id, f->id) && take_piece(l, f, &answer);
        wait_answer_fini(&answer);
    }
    return err;
}

enum place { SAME_FILE, OTHER_CONTAINER, OTHER_FILE };

/** Whether the answer is about what was read before. */
static enum place compare_place(const struct log_file *f, const struct wait_answer *answer)
{
    int64_t size = 0;

    if (!f->container[0])
        return SAME_FILE;
    if (strcmp(f->container, answer->container))
        return OTHER_CONTAINER;
    if (f->id[0] && strcmp(f->id, answer->log_id) && f->offset)
        return OTHER_FILE;
    return !str_to_i64(answer->log_size, 0, INT64_MAX, &size) && size < f->offset ? OTHER_CONTAINER
                                                                                  : SAME_FILE;
}

/** Read and print one piece. *got: there may be more at once. */
static int read_piece(struct logs *l, struct log_file *f, bool *got, struct err_info *why)
{
    struct wait_answer answer = {0};
    int err = ask(l, f, f->name, &answer, why);

    *got = false;
    if (!err) {
        enum place place = compare_place(f, &answer);
        if (place == OTHER_FILE)
            err = read_rest(l, f, why);
        snprintf(f->container, sizeof f->container, "%s", answer.container);
        snprintf(f->id, sizeof f->id, "%s", answer.log_id);
        *got = place == SAME_FILE ? take_piece(l, f, &answer) : f->offset > 0;
        if (place != SAME_FILE)
            f->offset = 0;
    }
    wait_answer_fini(&answer);
    return err;
}

/** All that is in a file now. While following, an instance that has no container for a moment is no error. */
static int read_file(struct logs *l, struct log_file *f, bool is_following, struct err_info *why)
{
    bool got = !is_following || !f->is_older;
    int err = 0;

    while (!err && got)
        err = read_piece(l, f, &got, why);
    return is_following && err == ERR_NOTFOUND ? 0 : err;
}

/** All that is in all files now. One instance whose files cannot be read keeps those of others from nobody. @return the first error */
static int read_all(struct logs *l, bool is_following, struct err_info *why)
{
    const char *failed = NULL; /* instance whose file could not be read */
    int first = 0;

    for (size_t i = 0; i < l->n_files; i++) {
        struct log_file *f = &l->files[i];
        struct err_info own = {0};
        if (failed && strcmp(failed, f->instance) == 0)
            continue;
        int err = read_file(l, f, is_following, &own);
        failed = err ? f->instance : failed;
        if (err && !first) {
            first = err;
            *why = own;
        }
        if (err && (is_following || err == ERR_CANCELLED))
            break;
    }
    if (!first && fflush(stdout))
        first = err_set(why, ERR_IO, "standard output", "could not be written");
    return first;
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
    struct logs l = {.service = cli->operands[0], .is_master = cli_has(cli, CLI_MASTER)};
    int err = 0;

    if (cli->n_operands > 1 && l.is_master)
        return err_set(why, ERR_USAGE, "--master", "the application master is no instance: leave %.100s out",
                       cli->operands[1]);
    if (cli->n_operands > 1 && cli_has(cli, CLI_ALL))
        return err_set(why, ERR_USAGE, "--all", "--all is for all instances; leave %.100s out, or --all",
                       cli->operands[1]);
    app_open(cli, &l.client);
    if (l.is_master)
        add_master(&l);
    else if (cli->n_operands > 1)
        add_files(&l, cli->operands[1]);
    else
        err = find_files(&l, why);
    if (!err)
        err = read_all(&l, false, why);
    if (!err && cli_has(cli, CLI_FOLLOW))
        err = follow(&l, why);
    for (size_t i = 0; i < l.n_files; i++) {
        print_rest(&l.files[i]);
        free(l.files[i].instance);
        free(l.files[i].name);
        free(l.files[i].older);
    }
    free(l.files);
    app_close(&l.client);
    return err;
}
