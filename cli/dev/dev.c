/** `bobbin dev`: see dev.h. */
#include "dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/obj.h"
#include "kit/commands.h"

/** Exit code of --check, whatever went wrong. */
#define CHECK_FAILED 1

/** Stay until Ctrl-C; with --check end at once. */
static int stay(struct dev *d, struct err_info *why)
{
    int err = 0;

    if (d->is_check) {
        printf("\n%zu questions, %zu without an answer.\n", d->n_asked, d->n_failed);
        return 0;
    }
    printf("\nEverything runs. Ctrl-C stops it.\n");
    fflush(stdout);
    while (!err && !wait_event(&d->wait, -1))
        err = dev_all_run(d, why);
    return err;
}

/** The parts in the order in which they start. A step whose start fails is stopped as well. */
static const struct step {
    int (*start)(struct dev *d, struct err_info *why);
    void (*stop)(struct dev *d);
} steps[] = {
    {dev_place_start, dev_place_stop},
    {dev_ports_start, NULL},
    {dev_zookeeper_start, dev_zookeeper_stop},
    {dev_registryd_start, dev_registryd_stop},
    {dev_keep_start, NULL},
    {dev_dnsd_start, dev_dnsd_stop},
    {dev_svcmgr_start, dev_svcmgr_stop},
    {dev_service_start, dev_service_stop},
    {dev_answers_start, NULL},
    {dev_am_start, dev_am_stop},
    {dev_zones_start, NULL},
    {stay, NULL},
};

static int read_options(struct dev *d, struct err_info *why)
{
    const char *store = cli_value(d->cli, CLI_STORE);

    d->is_check = cli_has(d->cli, CLI_CHECK);
    d->wants_zookeeper = store && strcmp(store, "zookeeper") == 0;
    if (store && !d->wants_zookeeper && strcmp(store, "embedded") != 0)
        return err_set(why, ERR_USAGE, "--store", "the store is embedded or zookeeper, not \"%s\"", store);
    return 0;
}

static int run(struct dev *d, struct err_info *why)
{
    size_t n = 0;
    int err = 0;

    while (!err && n < ARRAY_LEN(steps))
        err = steps[n++].start(d, why);
    if (!err || err == ERR_CANCELLED)
        fprintf(stderr, "stopping\n");
    while (n-- > 0) {
        if (steps[n].stop)
            steps[n].stop(d);
    }
    return err;
}

int dev_run(struct cli *cli, struct err_info *why)
{
    struct dev d = {.cli = cli};
    int err = read_options(&d, why);

    if (err)
        return err;
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0); /* the heaps of the daemons in large pages */
    if (d.is_check)
        cli->failure_code = CHECK_FAILED;
    obj_init(&d.obj, DEV_MAGIC);
    wait_open(&d.wait);
    err = run(&d, why);
    bool was_asked = d.wait.is_interrupted;
    wait_close(&d.wait);
    if (err == ERR_CANCELLED && was_asked && !d.is_check)
        return 0;
    if (err || !d.n_failed)
        return err;
    return err_set(why, ERR_WRONGSTATE, "check", "%zu of %zu questions have no answer", d.n_failed,
                   d.n_asked);
}
