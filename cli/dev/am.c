/**
 * The example application master and the names of its endpoints: see dev.h. What DNS must say is computed from its
 * record in the registry.   Source: RegistryDNS names of application records.
 */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/registry.h"
#include "json/json.h"
#include "kit/out.h"
#include "registry/wire.h"

#define AM_HOST      "127.77.255.254" /* far from the addresses that instances get first */
#define AM_CLASS     "example"
#define AM_NAME      "am"
#define API_PREFIX   "classpath:org.apache.hadoop.yarn.service."
#define AM_LIMIT_MS  10000
#define LOOK_MS      20
#define END_LIMIT_MS 5000

static int start_program(struct dev *d, struct err_info *why)
{
    mem_auto char *program = dev_program(d, "example-am");
    mem_auto char *log = dev_path(d, "log/am.log");
    char *const argv[] = {program,  "--registry", d->registry_url, "--user", d->user, "--class",
                          AM_CLASS, "--name",     AM_NAME,         "--host", AM_HOST, NULL};
    const struct child_def def = {.name = "example-am", .argv = argv, .log = log};

    return child_start(&def, &d->am, why);
}

/** One look at the AM's log: it says `resolved` when it has bound and updated everything. */
static bool is_bound(const struct dev *d)
{
    mem_auto char *line = child_last_line(&d->am);

    return str_starts(line, "resolved ");
}

static int wait_bound(struct dev *d, struct err_info *why)
{
    int64_t end_ms = run_now_ms() + AM_LIMIT_MS;
    int err = 0;

    while (!err && !is_bound(d)) {
        err = dev_runs(&d->am, why);
        if (!err && run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, "example-am", "has not bound its endpoints");
        if (!err && wait_ms(&d->wait, LOOK_MS))
            err = err_set(why, ERR_CANCELLED, "example-am", "interrupted");
    }
    return err;
}

/** Its record. *out is released with wire_node_fini in any case. */
static int read_record(struct dev *d, struct wire_node *out, struct err_info *why)
{
    struct wait_answer answer = {0};
    mem_auto char *path = NULL;
    int err = reg_service_path(d->user, AM_CLASS, AM_NAME, &path, why);

    if (err)
        return err;
    mem_auto char *url = mem_fmt("%s/ws/v1/registry%s", d->registry_url, path);
    err = wait_get(&d->wait, url, AM_LIMIT_MS, &answer, why);
    if (!err)
        err = wire_read_node(buf_cstr(&answer.body), answer.body.len, out, why);
    wait_answer_fini(&answer);
    if (!err && !out->record)
        err = err_set(why, ERR_NORECORD, path, "the example application master has no record");
    return err;
}

/** What one endpoint becomes in DNS. */
struct names {
    char *owner, *srv, *txt; /* owned */
};

static void names_fini(struct names *n)
{
    free(n->owner);
    free(n->srv);
    free(n->txt);
}

/** Word of an api in names: what follows the common prefix, or `http`; '.' becomes '-'. New. */
static char *api_word(const char *api)
{
    char *word = mem_str(str_starts(api, API_PREFIX) ? api + strlen(API_PREFIX) : "http");

    for (char *p = word; *p; p++)
        *p = *p == '.' ? '-' : *p;
    return word;
}

/** Port of an authority "host:port", or "". New. */
static char *authority_port(const char *authority, size_t len)
{
    const char *colon = memchr(authority, ':', len);

    return colon ? mem_strn(colon + 1, (size_t)(authority + len - colon - 1)) : mem_str("");
}

static void names_of(const struct dev *d, const struct reg_endpoint *e, struct names *out)
{
    const struct reg_address *a = &e->addresses[0];
    const char *uri = reg_address_get(a, "uri");
    const char *slashes = uri ? strstr(uri, "://") : NULL;
    const char *authority = slashes ? slashes + 3 : "";
    size_t len = strcspn(authority, "/");
    mem_auto char *word = api_word(e->api);
    mem_auto char *port = uri ? authority_port(authority, len) : mem_str(reg_address_get(a, "port"));

    out->owner = mem_fmt("%s-api." AM_NAME ".%s.%s", word, d->user, d->domain);
    out->srv = mem_fmt("1 1 %s " AM_NAME ".%s.%s.", port ? port : "", d->user, d->domain);
    out->txt = uri ? mem_fmt("\"api=%s\" \"path=%s\"", word, authority + len) : mem_fmt("\"api=%s\"", word);
}

/** SRV and TXT of one endpoint's own name. */
static int ask_endpoint(struct dev *d, const struct names *n, struct err_info *why)
{
    int err =
        dev_dig(d, (const char *const[]){n->owner, "SRV", NULL}, (const char *const[]){n->srv, NULL}, why);

    if (err)
        return err;
    return dev_dig(d, (const char *const[]){n->owner, "TXT", NULL}, (const char *const[]){n->txt, NULL}, why);
}

/** The application's name: its address, and SRV and TXT of all endpoints; equal ones count once. */
static int ask_application(struct dev *d, const struct names *names, size_t n, struct err_info *why)
{
    mem_auto char *owner = mem_fmt(AM_NAME ".%s.%s", d->user, d->domain);
    const char **srv = mem_array(n + 1, sizeof(char *));
    const char **txt = mem_array(n + 1, sizeof(char *));
    size_t n_srv = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_new = true;
        txt[i] = names[i].txt;
        for (size_t k = 0; k < n_srv && is_new; k++)
            is_new = strcmp(srv[k], names[i].srv) != 0;
        if (is_new)
            srv[n_srv++] = names[i].srv;
    }
    int err = dev_dig(d, (const char *const[]){owner, "A", NULL}, (const char *const[]){AM_HOST, NULL}, why);
    if (!err)
        err = dev_dig(d, (const char *const[]){owner, "SRV", NULL}, srv, why);
    if (!err)
        err = dev_dig(d, (const char *const[]){owner, "TXT", NULL}, txt, why);
    free(srv);
    free(txt);
    return err;
}

static int ask_all(struct dev *d, const struct reg_record *record, struct err_info *why)
{
    size_t n = 0;
    struct names *names = mem_array(record->external.n_items + 1, sizeof(*names));

    for (size_t i = 0; i < record->external.n_items; i++) {
        if (record->external.items[i].n_addresses)
            names_of(d, &record->external.items[i], &names[n++]);
    }
    int err = ask_application(d, names, n, why);
    for (size_t i = 0; i < n && !err; i++)
        err = ask_endpoint(d, &names[i], why);
    for (size_t i = 0; i < n; i++)
        names_fini(&names[i]);
    free(names);
    return err;
}

int dev_am_start(struct dev *d, struct err_info *why)
{
    struct wire_node node = {0};
    int err = start_program(d, why);

    if (!err)
        err = wait_bound(d, why);
    if (!err)
        err = dev_sync(d, why);
    if (!err)
        err = read_record(d, &node, why);
    if (!err)
        err = ask_all(d, node.record, why);
    wire_node_fini(&node);
    return err;
}

void dev_am_stop(struct dev *d)
{
    child_end(&d->am, END_LIMIT_MS);
    child_fini(&d->am);
}
