#include "client_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void add_text(struct got *g, const char *text, const char *more, const char *end)
{
    size_t at = strlen(g->text);
    snprintf(g->text + at, sizeof g->text - at, "%s%s%s", text, more, end);
}

void client_done(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct got *g = arg;

    g->n_calls++;
    g->err = err;
    g->changed = r->changed;
    g->applied = r->applied;
    g->time_ms = r->status.time_ms;
    g->size = r->status.size;
    g->children = r->status.children;
    g->n_purged = r->n_purged;
    g->why = *why;
    snprintf(g->revision, sizeof g->revision, "%s", r->revision);
    g->text[0] = '\0';
    if (r->record)
        add_text(g, r->record->description, "", "");
    else if (r->status.path)
        add_text(g, r->status.path, "", "");
    for (size_t i = 0; i < r->n_list; i++)
        add_text(g, r->list[i].path, "", ",");
    for (size_t i = 0; i < r->n_found; i++) {
        add_text(g, r->found[i].path, "=", "");
        add_text(g, r->found[i].record ? r->found[i].record->description : "", "", ",");
    }
}

static bool is_called(void *arg)
{
    return ((struct got *)arg)->n_calls > 0;
}

int client_await(struct fixture *f)
{
    assert_int_equal(f->got.n_calls, 0); /* never inside the call */
    script_await(f->loop, is_called, &f->got);
    assert_int_equal(f->got.n_calls, 1);
    assert_int_equal(f->got.why.code, f->got.err);
    f->got.n_calls = 0;
    return f->got.err;
}

void client_open(struct fixture *f, const char *user, const char *url, int64_t timeout_ms)
{
    struct reg_options options = {.url = url, .user = user, .timeout_ms = timeout_ms};

    assert_int_equal(reg_open(f->loop, &options, &f->reg, NULL), 0);
}

void client_begin(struct fixture *f, const char *user, const struct step *steps, size_t n_steps)
{
    *f = (struct fixture){0};
    f->loop = run_loop_new();
    script_start(&f->server, f->loop, steps, n_steps);
    client_open(f, user, f->server.url, 0);
}

void client_end(struct fixture *f)
{
    reg_close(f->reg);
    script_stop(&f->server);
    run_loop_free(f->loop);
}
