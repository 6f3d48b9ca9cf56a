/**
 * `bobbin dev`: the whole of Bobbin on one machine. dev.c has the table of steps, in the order in which they start; they
 * end in reverse.
 *
 *   DIR/data         what the daemons keep (bobbin.data.dir)        DIR/registry    records, when the store is embedded
 *   DIR/zookeeper    a ZooKeeper's data and zoo.cfg                 DIR/log/NAME.log   output of every program
 *   DIR/store        which store a kept directory is used with
 *
 * Thread: main.   Source: issue 3.
 */
#ifndef CLI_DEV_DEV_H
#define CLI_DEV_DEV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"
#include "kit/cli.h"
#include "kit/services.h"
#include "kit/wait.h"

#define DEV_MAGIC OBJ_MAGIC('D', 'E', 'V', '1')

struct dev {
    struct obj obj;
    struct cli *cli;
    struct wait wait;
    struct services services;
    bool is_check, is_temporary, wants_zookeeper;
    char *dir;   /* absolute */
    char *bin;   /* directory of the programs */
    char *user;  /* in registry form */
    char *store; /* hadoop.registry.store for registryd */
    char *registry_url, *dns_url, *services_url;
    char *dns_address; /* the first that dnsd answers on */
    char *dns_port;
    const char *domain;
    char *zones; /* absolute directory of master files; NULL: none */
    struct child zookeeper, registryd, dnsd, svcmgr, am;
    char *service_name;
    json_t *service;          /* document of the API when it was READY */
    size_t n_asked, n_failed; /* questions to dig and curl; those without an answer */
};

/* ---- place.c: directory, names, addresses ---- */

/** Directory, user, URLs. @return 0; ERR_IO; ERR_USAGE. */
int dev_place_start(struct dev *d, struct err_info *why);
/** Remove a temporary directory and release the names. */
void dev_place_stop(struct dev *d);
/** Are the ports free? @return 0; ERR_ADDRINUSE naming address, program and the option that moves it. */
int dev_ports_start(struct dev *d, struct err_info *why);
/** Path of a file below DIR. New. */
char *dev_path(const struct dev *d, const char *name);
/** Path of an installed program that is no command of its own: beside us, or in libexec. New. */
char *dev_program(const struct dev *d, const char *name);

/* ---- keep.c ---- */

/** A directory of --keep is used with the store that it was kept with. @return 0; ERR_USAGE naming both, nothing is changed. */
int dev_keep_check(const struct dev *d, struct err_info *why);
/** registryd runs: write down which store that is, unless the directory is temporary. @return 0; as file_write. */
int dev_keep_start(struct dev *d, struct err_info *why);

/* ---- daemons.c ---- */

/* Start a daemon and wait until its /readyz says 200, with progress. @return 0; ERR_IO: no such program; ERR_UNAVAILABLE: it
 * ended, its own error line is in *why; ERR_TIMEOUT; ERR_CANCELLED. The stops end it, also when its start has failed. */

int dev_registryd_start(struct dev *d, struct err_info *why);
void dev_registryd_stop(struct dev *d);
int dev_dnsd_start(struct dev *d, struct err_info *why);
void dev_dnsd_stop(struct dev *d);
int dev_svcmgr_start(struct dev *d, struct err_info *why);
/** It ends all containers first. */
void dev_svcmgr_stop(struct dev *d);
/** All that were started run still. arg is the dev. @return 0; ERR_UNAVAILABLE with the last line of the one that ended. */
int dev_all_run(void *arg, struct err_info *why);
/** As dev_all_run for one. @return 0; ERR_UNAVAILABLE */
int dev_runs(struct child *c, struct err_info *why);

/* ---- zookeeper.c: only with --store zookeeper ---- */

/** Write zoo.cfg, start the server on a free port, wait until it serves; d->store names it then. Nothing without the option.
 *  @return 0; ERR_CONFIG: not installed; ERR_USAGE: another store is configured; ERR_IO; ERR_TIMEOUT; ERR_CANCELLED. */
int dev_zookeeper_start(struct dev *d, struct err_info *why);
void dev_zookeeper_stop(struct dev *d);

/* ---- service.c ---- */

/** Launch the example, or start it again when it is kept, and wait until it is READY and DNS knows it.
 *  @return 0; as input_read_json; as services_call and services_wait; ERR_TIMEOUT: no record came. */
int dev_service_start(struct dev *d, struct err_info *why);
/** Forget it; svcmgr stops its containers. */
void dev_service_stop(struct dev *d);
/** Wait until dnsd answers with what the registry holds now. @return as wait_get; ERR_TIMEOUT. */
int dev_sync(struct dev *d, struct err_info *why);

/* ---- answers.c ---- */

/** Print the URLs, then ask dig and curl for the example: its names and pages. @return as dev_dig. */
int dev_answers_start(struct dev *d, struct err_info *why);

/* ---- zones.c ---- */

/** Ask dig the questions that the master files name in their comments, `; $ dig NAME TYPE`. @return as dev_dig; ERR_IO: a file. */
int dev_zones_start(struct dev *d, struct err_info *why);

/* ---- ask.c ---- */

/**
 * Ask dnsd with dig, print the command and what dig prints. An answer that is empty counts in d->n_failed.
 *
 * @param words  what to ask, as "hello-0.hello-world.root.bobbin.test A" or "-x 127.77.0.1", NULL-terminated   [borrowed]
 * @return 0, also without an answer; ERR_IO: there is no dig; ERR_CANCELLED.
 */
int dev_dig(struct dev *d, const char *const *words, struct err_info *why);
/** As dev_dig, whole records of the answer, authority and additional sections. */
int dev_dig_records(struct dev *d, const char *const *words, struct err_info *why);
/** As dev_dig: fetch a page of a name of ours, whose address dnsd gives. */
int dev_curl(struct dev *d, const char *host, const char *port, struct err_info *why);

/* ---- am.c ---- */

/** Run the example application master and ask dig for its names.
 *  @return 0; ERR_IO: no such program; ERR_UNAVAILABLE: it ended; ERR_TIMEOUT; as dev_sync and dev_dig. */
int dev_am_start(struct dev *d, struct err_info *why);
/** It unbinds its endpoints. */
void dev_am_stop(struct dev *d);

#endif
