/* submit-drive: svcmgr/submit on a real cluster. Each line of standard input is a command, each answered by one line of JSON. With --version it
 * is the master that the tests submit. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "http/client.h"
#include "http/server.h"
#include "json/writer.h"
#include "run/conf.h"
#include "submit/files.h"
#include "submit/manager.h"
#include "submit/package.h"
#include "fs/upload.h"

enum { LINE_MAX_LEN = 4096, MAX_WORDS = 16, MEMORY_MB = 128, REPORT_MS = 1000 };

struct drive {
    struct run_loop *loop;
    struct conf *conf;
    struct submit *submit;
    struct submit_op *watch;
    struct http_server *server;
    struct http_client *http;
    struct submit_files *files;
    struct submit_package package;
    struct yarn_app_id id;
    char *dir, *user, *url, *wanted;
    struct submit_resource resource;
    bool is_done, has_resource, has_ended;
    struct buf out;
    struct jw w;
};

static void run(struct drive *d)
{
    while (!d->is_done)
        uv_run(run_loop_uv(d->loop), UV_RUN_ONCE);
    d->is_done = false;
}

static void put_error(struct drive *d, int err, const struct err_info *why)
{
    jw_kstr(&d->w, "error", err_name(err));
    jw_kstr(&d->w, "text", why->text);
}

static const char *text_of(void *arg, const char *key)
{
    struct drive *d = arg;
    const struct conf_item *item = conf_get(d->conf, key);
    return item ? item->text : NULL;
}

static struct submit *manager(struct drive *d)
{
    struct yarn_addresses list = ADDRESSES_EMPTY;
    struct err_info why = {0};
    const struct yarn_keys keys = {text_of, d};
    if (d->submit)
        return d->submit;
    const struct submit_config config = {.addresses = &list, .report_ms = REPORT_MS, .max_links = 1};
    if (yarn_rm_addresses(&keys, YARN_RM_CLIENT, &list, &why) != 0 ||
        submit_open(d->loop, &config, &d->submit, &why) != 0) {
        fprintf(stderr, "submit-drive: %s\n", why.text);
        exit(1);
    }
    yarn_addresses_fini(&list);
    return d->submit;
}

static void on_done(void *arg, const struct submit_result *r)
{
    struct drive *d = arg;
    char text[YARN_ID_TEXT_MAX];
    if (r->err)
        put_error(d, r->err, r->why);
    if (r->id) {
        d->id = *r->id;
        jw_kstr(&d->w, "id", yarn_app_id_text(r->id, text));
    }
    jw_kbool(&d->w, "new", r->is_new);
    d->is_done = true;
}

/* start TAG QUEUE MEMORY WORD… */
static void start(struct drive *d, char *rest)
{
    char *tag = strtok(rest, " "), *queue = strtok(NULL, " "), *memory = strtok(NULL, " ");
    const char *words[MAX_WORDS], *tags[] = {"name: Drive"};
    size_t n = 0;
    struct submit_op *op;
    struct err_info why = {0};
    while (n < MAX_WORDS && (words[n] = strtok(NULL, " ")))
        n++;
    struct submit_def def = {.user = d->user,
                             .tag = tag,
                             .name = "drive",
                             .type = "yarn-service",
                             .queue = queue,
                             .tags = tags,
                             .n_tags = 1,
                             .memory_mb = atoi(memory),
                             .vcores = 1,
                             .max_attempts = 1,
                             .validity_ms = -1,
                             .keep_containers = true,
                             .launch = {.words = words, .n_words = n}};
    if (d->has_resource) {
        def.launch.resources = &d->resource;
        def.launch.n_resources = 1;
        def.launch.library_path = "./am/lib";
    }
    if (submit_start(manager(d), &def, on_done, d, &op, &why) != 0)
        put_error(d, why.code, &why);
    else
        run(d);
}

static void on_changed(void *arg, const struct submit_report *r)
{
    struct drive *d = arg;
    const char *word = submit_state_word(r->state);
    if (strcmp(word, d->wanted) != 0 && strcmp(r->has_ended ? "ended" : "", d->wanted) != 0 &&
        !(*r->diagnostics && strstr(r->diagnostics, d->wanted)) && !r->has_ended)
        return;
    jw_kstr(&d->w, "state", word);
    jw_kint(&d->w, "final", r->final);
    jw_kint(&d->w, "attempt", r->attempt);
    jw_kbool(&d->w, "ended", r->has_ended);
    jw_kstr(&d->w, "diagnostics", r->diagnostics);
    jw_kstr(&d->w, "queue", r->queue);
    submit_cancel(d->watch);
    d->is_done = true;
}

/* until WORD: the state, "ended", or a part of the diagnostics */
static void until(struct drive *d, char *rest)
{
    const struct submit_target target = {d->user, NULL, &d->id};
    d->wanted = rest;
    d->watch = submit_watch(manager(d), &target, on_changed, d);
    run(d);
}

/* kill [TAG]: by the tag; without one the application of the last start */
static void kill_it(struct drive *d, char *rest)
{
    const struct submit_target target = {d->user, rest, *rest ? NULL : &d->id};
    submit_kill(manager(d), &target, "killed by the test", on_done, d);
    run(d);
}

static void lifetime(struct drive *d, char *rest)
{
    const struct submit_target target = {d->user, NULL, &d->id};
    submit_set_lifetime(manager(d), &target, atoi(rest), on_done, d);
    run(d);
}

static void set_conf(struct drive *d, char *rest)
{
    buf_auto struct buf errors = BUF_EMPTY;
    conf_load_dir(d->conf, rest, &errors);
}

static void set_user(struct drive *d, char *rest)
{
    free(d->user);
    d->user = mem_str(rest);
}

/* ---- the program ---- */

static void on_package(void *arg, int err, struct submit_package *take_package, const struct err_info *why)
{
    struct drive *d = arg;
    if (err) {
        put_error(d, err, why);
    } else {
        d->package = *take_package;
        *take_package = (struct submit_package){.path = NULL};
        jw_kstr(&d->w, "path", d->package.path);
        jw_kint(&d->w, "size", d->package.size);
    }
    d->is_done = true;
}

/* package DIR */
static void package(struct drive *d, char *rest)
{
    d->dir = mem_str(rest);
    submit_package_start(d->loop, rest, on_package, d);
    run(d);
}

static void on_file(struct http_req *req, void *app)
{
    struct drive *d = app;
    submit_files_reply(d->files, req);
}

static const struct http_route routes[] = {
    {"GET", "/files/{token}/{name}", 0, 0, on_file, .summary = "A file of a master."},
};

static void use(struct drive *d, const char *url, int64_t modified_ms)
{
    free(d->url);
    d->url = mem_str(url);
    d->resource = (struct submit_resource){.link = SUBMIT_PROGRAM_LINK,
                                           .url = d->url,
                                           .size = d->package.size,
                                           .modified_ms = modified_ms,
                                           .is_archive = true,
                                           .is_of_user = true};
    d->has_resource = true;
}

/* serve: the package over HTTP */
static void serve(struct drive *d, char *rest)
{
    struct err_info why = {0};
    (void)rest;
    d->files = submit_files_new(d->dir);
    const struct http_server_def def = {
        .listen = "127.0.0.1:0", .routes = routes, .n_routes = ARRAY_LEN(routes), .app = d};
    if (http_server_start(d->loop, &def, &d->server, &why) != 0) {
        put_error(d, why.code, &why);
        return;
    }
    mem_auto char *url =
        mem_fmt("http://127.0.0.1:%d/files/%s/am.tar.gz", http_server_port(d->server), d->package.hash);
    use(d, url, 0);
}

static const char *get_option(const struct options *o, const char *key)
{
    return text_of((void *)(uintptr_t)o, key);
}

static void on_uploaded(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct drive *d = arg;
    if (err)
        put_error(d, err, why);
    else
        jw_kint(&d->w, "modified", d->resource.modified_ms = status->modified_ms);
    d->is_done = true;
}

/* upload DIRECTORY: the package to HDFS */
static void upload(struct drive *d, char *rest)
{
    const struct fs_conf conf = {get_option, (const struct options *)(uintptr_t)d};
    struct fs_place directory = {0}, file = {0};
    struct err_info why = {0};
    mem_auto char *uri = mem_fmt("%s%s/am-%s.tar.gz", text_of(d, "fs.defaultFS"), rest, d->package.hash);
    mem_auto char *above = mem_fmt("%s%s", text_of(d, "fs.defaultFS"), rest);
    if (fs_place_read(&conf, above, d->user, &directory, &why) != 0 ||
        fs_place_read(&conf, uri, d->user, &file, &why) != 0) {
        put_error(d, why.code, &why);
        return;
    }
    if (!d->http)
        d->http = http_client_new(d->loop);
    int fd = open(d->package.path, O_RDONLY | O_CLOEXEC);
    const struct fs_upload_def def = {&directory, &file, d->user, 0700, 0600, {fd, d->package.size}};
    use(d, file.path, 0);
    fs_upload_start(d->http, &def, on_uploaded, d);
    run(d);
    close(fd);
    fs_place_fini(&directory);
    fs_place_fini(&file);
}

static const struct {
    const char *word;
    void (*run)(struct drive *d, char *rest);
} commands[] = {{"conf", set_conf},   {"user", set_user}, {"start", start},
                {"until", until},     {"kill", kill_it},  {"lifetime", lifetime},
                {"package", package}, {"serve", serve},   {"upload", upload}};

static void run_line(struct drive *d, char *line)
{
    line[strcspn(line, "\n")] = 0;
    size_t len = strcspn(line, " ");
    char *rest = line[len] ? line + len + 1 : line + len;
    line[len] = 0;
    buf_clear(&d->out);
    d->w = jw_on(&d->out);
    jw_object(&d->w);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(line, commands[i].word) == 0)
            commands[i].run(d, rest);
    jw_object_end(&d->w);
    puts(buf_cstr(&d->out));
    fflush(stdout);
}

static void on_closed(void *arg)
{
    struct drive *d = arg;
    d->is_done = true;
}

int main(int argc, char **argv)
{
    struct drive d = {.is_done = false};
    char line[LINE_MAX_LEN];
    if (argc > 1) {
        puts(strcmp(argv[1], "--version") == 0 ? "submit-drive 1" : "?");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    d.loop = run_loop_new();
    d.conf = conf_new();
    while (fgets(line, sizeof line, stdin))
        run_line(&d, line);
    if (d.server) {
        http_server_stop(d.server, on_closed, &d);
        run(&d);
    }
    if (d.submit) {
        submit_close(d.submit, on_closed, &d);
        run(&d);
    }
    if (d.http)
        http_client_free(d.http);
    run_loop_free(d.loop);
    submit_files_free(d.files);
    submit_package_fini(&d.package);
    conf_free(d.conf);
    buf_fini(&d.out);
    free(d.user);
    free(d.url);
    free(d.dir);
    return 0;
}
