/**
 * The frame of a daemon: command line, options, log, signals, readiness, and the ordered table of steps that start
 * and stop its parts. A daemon's app.c is such a table; main.c calls daemon_main.
 *
 *   NAME [--config DIR] [-D key=value]… [-t [--strict]] [--show-defaults] [--log-level L] [--log-format text|json] [--version] [--help]
 *
 * start: steps in table order; when one fails the ones before it are stopped in reverse order, the error is logged, and
 * the program ends with the exit code of the error table. SIGTERM and SIGINT: stop in reverse order; each step's stop
 * calls daemon_stopped() when it has drained, then the next one is stopped. SIGHUP: options are read again (all errors
 * logged, old ones kept) and `reload` is called. daemon_ready() notifies systemd (NOTIFY_SOCKET) of readiness.
 *
 * SIGTERM, SIGINT and SIGHUP are blocked in all threads and come through a descriptor of the loop; SIGPIPE is ignored,
 * and so is SIGXFSZ: a write beyond a limit is an error like a full disk.
 * uv_spawn gives a child a clean mask; code that starts processes by other means unblocks them there.
 *
 * The soft limit of descriptors is raised to the hard one before the first step; code that starts processes gives them the first
 * one back (run/fdlimit.h).
 *
 * Source: ours; sd_notify(3) for the datagram; signalfd(2).
 */
#ifndef RUN_DAEMON_H
#define RUN_DAEMON_H

#include "bobbin/error.h"
#include "run/known.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "run/options.h"
#include "run/outage.h"

struct daemon;

struct daemon_step {
    const char *name;
    /** Bring the part up. @return 0, or ERR_* with *why filled and nothing left running. */
    int (*start)(struct daemon *d, void *app, struct err_info *why);
    /** Take the part down; call daemon_stopped(d) now or later, exactly once. NULL: nothing to do. */
    void (*stop)(struct daemon *d, void *app);
    /**
     * Report what `start` would refuse because of the options, and what a person should hear of: for -t, before the first part
     * starts, and for a reload (report->purpose). Reads files that options name; opens no socket and no store, and changes
     * nothing. NULL: nothing can be wrong.
     */
    void (*check)(const struct options *o, struct opt_report *report);
};

struct daemon_def {
    const char *name;    /* "registryd" */
    const char *summary; /* one sentence for --help */
    const struct opt_def *options;
    size_t n_options;
    const struct known_keys *const
        *known; /* keys that a configuration may have, see run/known.h; NULL: any */
    const struct metric_def *metrics;
    size_t n_metrics;
    const struct daemon_step *steps;
    size_t n_steps;
    void (*reload)(struct daemon *d, void *app); /* NULL: none */
    /** Append sections to the manual page, before METRICS: what only this daemon has. NULL: none. */
    void (*manual)(struct buf *out);
    size_t app_size;    /* zeroed app struct that steps get */
    uint32_t app_magic; /* obj_init of the `struct obj` that the app struct begins with; 0: it has none */
};

/**
 * Run a daemon from main, from command line to the last step's stop.
 *
 * @param def   what the daemon is                                               [borrowed]
 * @param argc  argc of main
 * @param argv  argv of main; may be reordered                                   [borrowed]
 * @return exit code of the program: 0, or err_exit_code() of what ended it; ERR_USAGE for a wrong command line,
 *         ERR_CONFIG for wrong options.
 * Thread: main, once.   Source: ours.
 */
int daemon_main(const struct daemon_def *def, int argc, char **argv);

/** The owner loop; lives until the last step is stopped. Borrowed. Thread: owner. Source: ours. */
struct run_loop *daemon_loop(struct daemon *d);
/** The options in force; the pointer stays the same over reloads, see options_reload for the texts. Thread: owner.
 *  Source: ours. */
const struct options *daemon_options(struct daemon *d);
/** The metrics of def's table. Borrowed. Thread: owner (bumping: any). Source: ours. */
struct metrics *daemon_metrics(struct daemon *d);
/** Name of the program. Static. Thread: any. Source: ours. */
const char *daemon_name(struct daemon *d);
/** A step's stop is complete; called from inside stop or later, exactly once (else a BUG). Thread: owner. Source: ours. */
void daemon_stopped(struct daemon *d);
/** Begin an orderly stop from inside, ending with this ERR_* (0: success); a second call changes nothing. From inside a
 *  step's start the steps after it are not started. Thread: owner. Source: ours. */
void daemon_quit(struct daemon *d, int code);
/** Say "ready" or "not ready: reason" for /readyz and systemd. `reason` is copied; NULL: ready. Nothing happens once
 *  the daemon is stopping. Until the first "ready" systemd is asked for patience. Thread: owner. Source: sd_notify(3). */
void daemon_ready(struct daemon *d, const char *reason);
/** NULL when ready, else the reason: "starting" at first, "stopping" at last; when only a shortage is in the way
 *  "degraded: …" (run/degraded.h). Borrowed until the loop's next turn, daemon_ready or daemon_quit. Thread: owner. Source: ours. */
const char *daemon_not_ready_reason(struct daemon *d);
/** What the daemon needs from others; /readyz repeats the outages that last, whether it is ready or not. Lives until the last step is
 *  stopped. Borrowed. Thread: owner. Source: ours. */
struct outages *daemon_outages(struct daemon *d);
/** Add a fact to /version, or change it: key and value are copied. Thread: owner. Source: ours. */
void daemon_version_fact(struct daemon *d, const char *key, const char *value);
/** Append the facts as the text of a JSON object of strings: name, version, then the added ones. Thread: owner.
 *  Source: ours. */
void daemon_version_json(struct daemon *d, struct buf *out);

#endif
