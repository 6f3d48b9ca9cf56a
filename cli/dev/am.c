/** The example application master and its names: see dev.h.   Source: RegistryDNS names of application records. */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define AM_HOST      "127.77.255.254" /* far from the addresses that instances get first */
#define AM_CLASS     "example"
#define AM_NAME      "am"
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

int dev_am_start(struct dev *d, struct err_info *why)
{
    /* Below NAME.USER.DOMAIN: the application, then each endpoint of docs/examples/am.c. */
    static const char *const questions[][2] = {
        {"", "A"},
        {"", "SRV"},
        {"", "TXT"},
        {"http-api.", "SRV"},
        {"http-api.", "TXT"},
        {"appmaster-rest-api.", "SRV"},
        {"appmaster-rest-api.", "TXT"},
        {"appmaster-ipc-api.", "SRV"},
        {"appmaster-ipc-api.", "TXT"},
    };
    int err = start_program(d, why);

    if (!err)
        err = wait_bound(d, why);
    if (!err)
        err = dev_sync(d, why);
    for (size_t i = 0; i < ARRAY_LEN(questions) && !err; i++) {
        mem_auto char *name = mem_fmt("%s" AM_NAME ".%s.%s", questions[i][0], d->user, d->domain);
        err = dev_dig(d, (const char *const[]){name, questions[i][1], NULL}, why);
    }
    return err;
}

void dev_am_stop(struct dev *d)
{
    child_end(&d->am, END_LIMIT_MS);
    child_fini(&d->am);
}
