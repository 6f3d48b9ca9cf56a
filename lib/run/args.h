/**
 * The command line that all daemons share. Pure but for getopt's own state. Source: ours.
 */
#ifndef RUN_ARGS_H
#define RUN_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/log.h"

enum args_action {
    ARGS_RUN,
    ARGS_TEST,
    ARGS_SHOW_DEFAULTS,
    ARGS_SHOW_XML,
    ARGS_MAN,
    ARGS_COMPLETION,
    ARGS_VERSION,
    ARGS_HELP
};

struct args {
    enum args_action action;
    const char *config_dir; /* --config, else HADOOP_CONF_DIR, else NULL; borrowed from argv or environment */
    const char **sets;      /* -D arguments, NULL-terminated */
    size_t n_sets;
    bool is_strict; /* with ARGS_TEST: unknown keys of files are errors */
    enum log_level level;
    enum log_format format;
};

/**
 * Read a command line.
 *
 * @param argc  arguments, at least 1
 * @param argv  argv of main; getopt may reorder it                              [borrowed while `out` lives]
 * @param out   release with args_fini, also after an error                      [out]
 * @param why   filled on error                                                  [out]
 * @return 0; or ERR_USAGE: an unknown option, a missing or wrong value, an operand, or --strict without -t.
 * Thread: main.   Source: ours.
 */
int args_read(int argc, char **argv, struct args *out, struct err_info *why);
/** Release what args_read made. Thread: main. Source: ours. */
void args_fini(struct args *a);
/**
 * Append the help of a program: usage line, sentence, switches.
 *
 * @param name     program                                                       [borrowed]
 * @param summary  one sentence                                                  [borrowed]
 * @param out      grows                                                         [in,out]
 * Thread: any.   Source: ours.
 */
void args_help(const char *name, const char *summary, struct buf *out);
/** Append the rows of bash completion of the switches (run/completion.h). Parameters as args_help. */
void args_completion(const char *name, struct buf *out);

#endif
