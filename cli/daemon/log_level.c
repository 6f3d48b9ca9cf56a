/** `bobbin log-level`: the level of the log of daemons that run, over the routes that every daemon has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/commands.h"
#include "kit/options.h"
#include "kit/out.h"
#include "kit/services.h"
#include "kit/wait.h"
#include "registry/wire.h"
#include "run/log.h"

#define CALL_TIMEOUT_MS 10000

static const char *const programs[] = {"registryd", "dnsd", "svcmgr"};

/** What is asked of whom. */
struct order {
    const char *program; /* one of `programs`; NULL: each of them, or the one at `url` */
    const char *url;     /* NULL: those of the configuration */
    const char *level;   /* to be set; NULL: it is read */
};

/** What has come of it. */
struct report {
    struct cli *cli;
    struct wait wait;
    json_t *list; /* a row a daemon */
    int err;      /* the first one */
    struct err_info why;
};

/* ---- the words ---- */

static bool is_level(const char *word)
{
    enum log_level level;

    return log_level_read(word, &level) == 0;
}

static int read_place(const char *word, struct order *out, struct err_info *why)
{
    if (strstr(word, "://")) {
        out->url = word;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        if (strcmp(programs[i], word) == 0)
            out->program = programs[i];
    }
    const char *near = nearest_of(word, programs, ARRAY_LEN(programs));
    if (out->program)
        return 0;
    return err_set(why, ERR_USAGE, word, "is neither registryd, dnsd or svcmgr, nor a URL, nor a level%s%s%s",
                   near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int read_order(const struct cli *cli, struct order *out, struct err_info *why)
{
    size_t n = cli->n_operands;
    bool has_level = n && is_level(cli->operands[n - 1]);

    *out = (struct order){.url = cli_value(cli, CLI_URL), .level = has_level ? cli->operands[n - 1] : NULL};
    n -= has_level;
    if (n == 2)
        return err_set(why, ERR_USAGE, cli->operands[1], "is not error, warn, info or debug");
    if (n && out->url)
        return err_set(why, ERR_USAGE, cli->operands[0], "stands beside --url, which names the daemon");
    return n ? read_place(cli->operands[0], out, why) : 0;
}

/* ---- one daemon ---- */

static int ask(struct report *r, const char *url, const char *program, const char *level, json_t **out)
{
    mem_auto char *user = services_quote(r->cli->user);
    mem_auto char *whole = level ? mem_fmt("%s/log-level?level=%s&user.name=%s", url, level, user)
                                 : mem_fmt("%s/log-level", url);
    const struct http_call_def def = {
        .method = level ? "POST" : "GET", .url = whole, .timeout_ms = CALL_TIMEOUT_MS};
    const struct wire_asked asked = {.url = whole, .program = program};
    struct wait_answer answer;
    int err = wait_http(&r->wait, &def, &answer, &r->why);

    if (!err && answer.status != 200)
        err = wire_read_problem(answer.status, buf_cstr(&answer.body), answer.body.len, &asked, &r->why);
    else if (!err && json_read(answer.body.bytes, answer.body.len, out, &r->why))
        err = wire_not_readable(&asked, &r->why);
    wait_answer_fini(&answer);
    return err;
}

static void add_row(struct report *r, const char *program, const char *url, const char *member,
                    const char *text)
{
    json_t *row = json_object();
    json_object_set_new(row, "daemon", json_string(program));
    json_object_set_new(row, "url", json_string(url));
    json_object_set_new(row, member, json_string(text));
    json_array_append_new(r->list, row);
}

static void ask_one(struct report *r, const char *base, const char *program, const char *level)
{
    mem_auto char *url = mem_strn(base, strlen(base) - (str_ends(base, "/") ? 1 : 0));
    json_auto json_t *doc = NULL;
    struct err_info before = r->why;
    int err = ask(r, url, program, level, &doc);

    add_row(r, program, url, err ? "error" : "level", err ? r->why.text : services_text(doc, "level"));
    if (r->err)
        r->why = before;
    else
        r->err = err;
}

/** The servers of a program that the configuration names. */
static void ask_program(struct report *r, const char *program, const char *level)
{
    const struct options *o = r->cli->options;
    bool is_dns = strcmp(program, "dnsd") == 0;

    if (strcmp(program, "registryd") != 0) {
        mem_auto char *url =
            mem_fmt("http://%s", opt_text(o, is_dns ? KEY_DNS_HTTP_ADDRESS : KEY_SERVICES_ADDRESS));
        ask_one(r, url, program, level);
        return;
    }
    for (size_t i = 0;; i++) {
        mem_auto char *url = str_field(opt_text(o, KEY_REGISTRY_URL), ',', i);
        if (!url)
            return;
        ask_one(r, url, program, level);
    }
}

static void print_rows(const json_t *list)
{
    static const char *const members[] = {"daemon", "url", "level", "error"};
    struct out_table t;
    json_t *row;
    size_t i;

    out_table_begin(&t, (const char *const[]){"DAEMON", "URL", "LEVEL", "ERROR", NULL});
    json_array_foreach(list, i, row)
    {
        for (size_t k = 0; k < ARRAY_LEN(members); k++)
            out_table_add(&t, services_text(row, members[k]));
    }
    out_table_print(&t);
}

int log_level_run(struct cli *cli, struct err_info *why)
{
    json_auto json_t *list = json_array();
    struct report r = {.cli = cli, .list = list};
    struct order order;
    int err = read_order(cli, &order, why);

    if (err)
        return err;
    wait_open(&r.wait);
    for (size_t i = 0; i < ARRAY_LEN(programs) && !order.url; i++) {
        if (!order.program || order.program == programs[i])
            ask_program(&r, programs[i], order.level);
    }
    if (order.url)
        ask_one(&r, order.url, "daemon", order.level);
    wait_close(&r.wait);
    *why = r.why;
    cli->is_reported = r.err && json_array_size(list) > 1;
    if (cli->is_json)
        out_json(list);
    else if (!r.err || cli->is_reported)
        print_rows(list);
    return r.err;
}
