/**
 * The frame of a daemon: command line, options, log, signals, readiness, and the ordered table of steps that start
 * and stop its parts. A daemon's app.c is such a table; main.c calls daemon_main.
 *
 *   NAME [--config DIR] [-D key=value]… [-t] [--show-defaults] [--log-level L] [--log-format text|json] [--version] [--help]
 *
 * start: steps in table order; when one fails the ones before it are stopped in reverse order, the error is logged, and
 * the program ends with the exit code of the error table. SIGTERM and SIGINT: stop in reverse order; each step's stop
 * calls daemon_stopped() when it has drained, then the next one is stopped. SIGHUP: options are read again (all errors
 * logged, old ones kept) and `reload` is called. Readiness is told to systemd (NOTIFY_SOCKET) by daemon_ready().
 *
 * Source: ours; sd_notify(3) for the datagram.
 */
#ifndef RUN_DAEMON_H
#define RUN_DAEMON_H

#include "bobbin/error.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "run/options.h"

struct daemon;

struct daemon_step {
    const char *name;
    /** Bring the part up. @return 0, or ERR_* with *why filled and nothing left running. */
    int (*start)(struct daemon *d, void *app, struct err_info *why);
    /** Take the part down; call daemon_stopped(d) now or later, exactly once. NULL: nothing to do. */
    void (*stop)(struct daemon *d, void *app);
};

struct daemon_def {
    const char *name;    /* "registryd" */
    const char *summary; /* one sentence for --help */
    const struct opt_def *options;
    size_t n_options;
    const struct metric_def *metrics;
    size_t n_metrics;
    const struct daemon_step *steps;
    size_t n_steps;
    /** Extra checks over several options, for -t and start; append lines as options_read does. NULL: none. */
    void (*check)(const struct options *o, struct buf *errors);
    void (*reload)(struct daemon *d, void *app); /* NULL: none */
    size_t app_size;                             /* zeroed app struct that steps get */
};

/** Run a daemon from main. @return exit code. */
int daemon_main(const struct daemon_def *def, int argc, char **argv);

struct run_loop *daemon_loop(struct daemon *d);
const struct options *daemon_options(struct daemon *d);
struct metrics *daemon_metrics(struct daemon *d);
const char *daemon_name(struct daemon *d);
/** A step's stop is complete. Thread: owner. */
void daemon_stopped(struct daemon *d);
/** Begin an orderly stop from inside, ending with this ERR_* (0: success). Thread: owner. */
void daemon_quit(struct daemon *d, int code);
/** Say "ready" or "not ready: reason" for /readyz and systemd. `reason` is copied; NULL: ready. Thread: owner. */
void daemon_ready(struct daemon *d, const char *reason);
/** NULL when ready, else the reason. Initially "starting". Thread: owner. */
const char *daemon_not_ready_reason(struct daemon *d);
/** Add a line of facts to /version: key and value are copied. Thread: owner. */
void daemon_version_fact(struct daemon *d, const char *key, const char *value);
/** Facts as a JSON object text appended to out: name, version, then the added ones. */
void daemon_version_json(struct daemon *d, struct buf *out);

#endif
