/** `bobbin registry export`: the lines of the server's export as they come, but for the last, which says that it is whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kit/commands.h"
#include "json/json.h"
#include "registry/wire.h"
#include "admin.h"
#include "kit/services.h"

#define EXPORT_MAGIC OBJ_MAGIC('C', 'E', 'X', 'P')

/** Longest time without a byte from the server. */
#define IDLE_MS 120000

struct exporting {
    struct obj obj;
    struct wait wait;
    struct buf line; /* the last one, until its end has come */
    bool is_begun;   /* something was printed */
    bool is_whole, is_over;
    int err;
    struct err_info why;
};

/** The last line is not a node. */
static void take_last(struct exporting *x, const char *line, size_t len)
{
    json_auto json_t *last = NULL;

    x->err = json_read(line, len, &last, &x->why);
    const char *detail = json_string_value(json_object_get(last, "detail"));
    if (!x->err && detail)
        x->err = err_set(&x->why, ERR_IO, "export", "the server stopped with an error: %s", detail);
    x->is_whole = !x->err && json_is_true(json_object_get(last, "end"));
}

static void take_line(struct exporting *x, const char *line, size_t len)
{
    static const char node[] = "{\"path\":";

    if (x->err)
        return;
    if (len < sizeof node || strncmp(line, node, sizeof node - 1) != 0) {
        take_last(x, line, len);
        return;
    }
    x->is_begun = true;
    if (fwrite(line, 1, len, stdout) != len)
        x->err = err_set(&x->why, ERR_IO, "standard output", "could not be written");
}

static void on_data(void *arg, const char *bytes, size_t len)
{
    struct exporting *x = obj_cast(arg, struct exporting, EXPORT_MAGIC);
    const char *end;

    while ((end = memchr(bytes, '\n', len))) {
        size_t n = (size_t)(end - bytes) + 1;
        buf_add(&x->line, bytes, n);
        take_line(x, x->line.bytes, x->line.len);
        buf_clear(&x->line);
        bytes += n;
        len -= n;
    }
    buf_add(&x->line, bytes, len);
}

static void on_done(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct exporting *x = obj_cast(arg, struct exporting, EXPORT_MAGIC);
    struct buf body = answer->body;

    x->is_over = true;
    if (!x->err && err) {
        x->err = err;
        x->why = *why;
    }
    if (!x->err && answer->status != 200)
        x->err = wire_read_problem(answer->status, body.len ? body.bytes : "", body.len,
                                   &(struct wire_asked){.url = answer->url, .program = "registryd"}, &x->why);
    if (!x->err && !x->is_whole)
        x->err = err_set(&x->why, ERR_IO, "export", "the server closed the connection before the end");
    run_loop_stop(x->wait.loop);
}

static int ask(struct exporting *x, const char *url)
{
    const struct http_call_def def = {
        .url = url, .idle_timeout_ms = IDLE_MS, .on_data = on_data, .done = on_done, .arg = x};
    struct http_call *call = http_call(x->wait.http, &def);

    x->is_over = false;
    x->err = 0;
    while (!x->is_over) {
        if ((wait_event(&x->wait, -1) || x->err) && !x->is_over)
            http_call_cancel(call); /* on_done is called inside */
    }
    return x->err;
}

/** Ask the first registryd of the list that can be reached. */
static int ask_any(const struct cli *cli, struct exporting *x, struct err_info *why)
{
    mem_auto char *path = services_quote(cli->n_operands ? cli->operands[0] : "/");
    mem_auto char *call = mem_fmt("export?path=%s", path);
    int err = ERR_UNAVAILABLE;

    for (size_t i = 0; err == ERR_UNAVAILABLE && !x->is_begun; i++) {
        mem_auto char *url = registry_admin_url(cli, i, call);
        if (!url)
            return i ? err : err_set(why, ERR_INVALID, "hadoop.registry.url", "names no server");
        err = ask(x, url);
        if (err)
            *why = x->why;
    }
    return err;
}

int registry_export(struct cli *cli, struct err_info *why)
{
    struct exporting x = {0};

    obj_init(&x.obj, EXPORT_MAGIC);
    wait_open(&x.wait);
    int err = ask_any(cli, &x, why);
    wait_close(&x.wait);
    buf_fini(&x.line);
    return err;
}
