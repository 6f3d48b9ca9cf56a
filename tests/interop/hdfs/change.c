/*
 * A request of svcmgr/fs/client.h from the command line: what the YARN application master will do with HDFS.
 *
 *     hdfs-change URI USER status              "FILE|DIRECTORY BYTES MODIFIED_MS"
 *     hdfs-change URI USER mkdirs MODE         "ok"; the mode is octal
 *     hdfs-change URI USER create|replace FILE MODE
 *     hdfs-change URI USER delete|purge        purge: with all in it
 *
 * A URI with ports of HTTP, as webhdfs://127.0.0.1:9870/x. Else "ERR_… text", exit code 1.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/client.h"
#include "run/loop.h"

struct command {
    struct run_loop *loop;
    int err;
};

static void on_done(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct command *c = arg;

    c->err = err;
    if (err)
        printf("%s %s\n", err_name(err), why->text);
    else if (status)
        printf("%s %" PRId64 " %" PRId64 "\n", status->is_dir ? "DIRECTORY" : "FILE", status->len,
               status->modified_ms);
    else
        printf("ok\n");
    run_loop_stop(c->loop);
}

static int open_content(const char *path, struct http_file *out)
{
    struct stat st;

    out->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &st))
        return -1;
    out->len = st.st_size;
    return 0;
}

/** @return 0; or -1: no such command */
static int read_command(int argc, char **argv, struct fs_request *r)
{
    const char *verb = argc > 3 ? argv[3] : "";
    const char *mode = argc > 4 ? argv[argc - 1] : NULL;

    r->user = argv[2];
    r->mode = mode ? (unsigned)strtoul(mode, NULL, 8) : 0;
    r->overwrites = !strcmp(verb, "replace");
    r->is_recursive = !strcmp(verb, "purge");
    if (!strcmp(verb, "status"))
        r->op = FS_STATUS;
    else if (!strcmp(verb, "mkdirs"))
        r->op = FS_MKDIRS;
    else if (!strcmp(verb, "delete") || !strcmp(verb, "purge"))
        r->op = FS_DELETE;
    else if (argc == 6 && (!strcmp(verb, "create") || !strcmp(verb, "replace")))
        r->op = FS_CREATE;
    else
        return -1;
    return r->op == FS_CREATE ? open_content(argv[4], &r->content) : 0;
}

int main(int argc, char **argv)
{
    const struct fs_conf conf = {NULL, NULL};
    struct fs_place place = {.path = NULL};
    struct fs_request r = {.content = {-1, 0}};
    struct err_info why = {0};

    signal(SIGPIPE, SIG_IGN);
    if (argc < 4 || read_command(argc, argv, &r) || fs_place_read(&conf, argv[1], argv[2], &place, &why)) {
        fprintf(stderr, "hdfs-change: wrong arguments, or no such file %s\n", why.text);
        return 2;
    }
    struct command c = {.loop = run_loop_new()};
    struct http_client *http = http_client_new(c.loop);
    r.place = &place;
    r.done = on_done;
    r.arg = &c;
    fs_start(http, &r);
    run_loop_run(c.loop);
    http_client_free(http);
    run_loop_free(c.loop);
    fs_place_fini(&place);
    if (r.content.fd >= 0)
        close(r.content.fd);
    return c.err ? 1 : 0;
}
