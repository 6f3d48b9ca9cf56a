/** See dns.h. */
#include "dns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/options.h"
#include "registry/wire.h"
#include "kit/services.h"

#define CALL_TIMEOUT_MS 10000
/** Longest line of a master file: a record of 65535 octets, each written as four characters, and its name. */
#define MAX_LINE ((size_t)300 << 10)

int dns_open(const struct cli *cli, int64_t timeout_ms, struct dns_client *out, struct err_info *why)
{
    const char *url = cli_value(cli, CLI_URL);
    int err = cli_timeout_ms(cli, timeout_ms, &timeout_ms, why);

    if (err)
        return err;
    *out = (struct dns_client){.timeout_ms = timeout_ms};
    out->url = url ? mem_strn(url, strlen(url) - (str_ends(url, "/") ? 1 : 0))
                   : mem_fmt("http://%s", opt_text(cli->options, KEY_DNS_HTTP_ADDRESS));
    wait_open(&out->wait);
    return 0;
}

void dns_close(struct dns_client *d)
{
    wait_close(&d->wait);
    free(d->url);
}

int dns_call(struct dns_client *d, const char *method, const char *path, json_t **out, struct err_info *why)
{
    mem_auto char *url = mem_fmt("%s%s", d->url, path);
    const struct http_call_def def = {.method = method, .url = url, .timeout_ms = d->timeout_ms};
    const struct wire_asked asked = {.url = url, .program = "dnsd"};
    struct wait_answer answer;
    int err = wait_http(&d->wait, &def, &answer, why);

    if (!err && answer.status == 200 && json_read(answer.body.bytes, answer.body.len, out, why))
        err = wire_not_readable(&asked, why);
    else if (!err && answer.status != 200)
        err = wire_read_problem(answer.status, buf_cstr(&answer.body), answer.body.len, &asked, why);
    wait_answer_fini(&answer);
    return err;
}

int dns_call_once(const struct cli *cli, const char *method, const char *path, json_t **out,
                  struct err_info *why)
{
    struct dns_client d;
    int err = dns_open(cli, CALL_TIMEOUT_MS, &d, why);

    if (err)
        return err;
    err = dns_call(&d, method, path, out, why);
    dns_close(&d);
    return err;
}

/* ---- a zone, record by record ---- */

#define READING_MAGIC OBJ_MAGIC('D', 'U', 'M', 'P')

struct reading {
    struct obj obj;
    struct wait *wait;
    struct http_call *call;
    bool (*record)(void *arg, const struct dns_line *line);
    void *arg;
    struct buf rest; /* a line that has not come whole */
    struct err_info *why;
    int err;
    bool is_enough, is_over;
};

/** One line: owner, TTL, class, type and rdata with tabs between. */
static int read_line(struct reading *r, char *line)
{
    char *fields[5];

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        fields[i] = i + 1 < ARRAY_LEN(fields) ? strsep(&line, "\t") : line;
    if (!fields[4])
        return err_set(r->why, ERR_PARSE, "dump", "dnsd sent a line that is not a record");
    const struct dns_line record = {fields[0], fields[1], fields[3], fields[4]};
    r->is_enough = r->record(r->arg, &record);
    return 0;
}

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);
    size_t done = 0;
    char *end;

    buf_add(&r->rest, bytes, len);
    while (!r->err && !r->is_enough && r->rest.len > done &&
           (end = memchr(r->rest.bytes + done, '\n', r->rest.len - done))) {
        *end = 0;
        r->err = read_line(r, r->rest.bytes + done);
        done = (size_t)(end + 1 - r->rest.bytes);
    }
    buf_drop(&r->rest, done);
    if (!r->err && r->rest.len > MAX_LINE)
        r->err = err_set(r->why, ERR_PARSE, "dump", "dnsd sent a line longer than a record can be");
    if (r->err || r->is_enough)
        http_call_cancel(r->call);
}

static void on_dumped(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);

    r->is_over = true;
    run_loop_stop(r->wait->loop);
    if (r->err || r->is_enough)
        return; /* We ended it. */
    r->err = err;
    if (err)
        *r->why = *why;
    else if (answer->status != 200)
        r->err = wire_read_problem(answer->status, answer->body.bytes, answer->body.len,
                                   &(struct wire_asked){.url = answer->url, .program = "dnsd"}, r->why);
}

int dns_each_record(struct dns_client *d, const char *zone,
                    bool (*record)(void *arg, const struct dns_line *line), void *arg, struct err_info *why)
{
    struct reading r = {.wait = &d->wait, .record = record, .arg = arg, .why = why};
    mem_auto char *quoted = services_quote(zone ? zone : "");
    mem_auto char *url = mem_fmt("%s/dump%s%s", d->url, zone ? "?zone=" : "", quoted);
    const struct http_call_def def = {
        .url = url, .idle_timeout_ms = d->timeout_ms, .on_data = on_piece, .done = on_dumped, .arg = &r};

    obj_init(&r.obj, READING_MAGIC);
    r.call = http_call(d->wait.http, &def);
    while (!r.is_over) {
        if (wait_event(&d->wait, -1) && !r.is_over)
            http_call_cancel(r.call); /* on_dumped is called inside */
    }
    buf_fini(&r.rest);
    obj_fini(&r.obj);
    return r.err;
}
