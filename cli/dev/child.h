/**
 * Processes that a command starts. They begin with an empty signal mask and default dispositions, in a process group of
 * their own (Ctrl-C at the terminal is for the command, which then ends them in order), and get SIGTERM from the kernel
 * when the command dies.
 *
 * Thread: main.   Source: prctl(2) PR_SET_PDEATHSIG; ours.
 */
#ifndef CLI_DEV_CHILD_H
#define CLI_DEV_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "kit/wait.h"

struct child {
    const char *name; /* NULL: never started */
    pid_t pid;        /* 0: does not run */
    int status;       /* of waitpid(2), when it has ended */
    char *log;        /* file of its output */
};

struct child_def {
    const char *name;
    char *const *argv; /* argv[0] is a path, or a name that is looked for on PATH */
    const char *log;   /* file that stdout and stderr are appended to */
    const char *dir;   /* working directory; NULL: ours */
};

/** Start. Environment: ours without HADOOP_CONF_DIR. @param out  child_end, then child_fini [out]
 *  @return 0; ERR_IO: the log cannot be opened, or there is no such program. */
int child_start(const struct child_def *def, struct child *out, struct err_info *why);
/** It runs still; takes notice of its end. */
bool child_runs(struct child *c);
/** How it ended, as "exit code 3" or "signal 9". @param out  room for 40 @return out */
const char *child_end_text(const struct child *c, char out[40]);
/** Last line of its log that reports an error, else the last that says something, new text, "" when there is none. */
char *child_last_line(const struct child *c);
/** SIGTERM, and SIGKILL when it has not ended after limit_ms. Waits for the end, also when interrupted. */
void child_end(struct child *c, int64_t limit_ms);
/** Release the names; it has ended. */
void child_fini(struct child *c);
/**
 * Run a program to its end and take what it writes to stdout.
 *
 * @param argv  as child_def.argv                                                   [borrowed]
 * @param out   appended                                                            [in,out]
 * @param code  exit code, 128 + signal when a signal ended it                      [out]
 * @return 0; ERR_IO: it cannot be started; ERR_CANCELLED: interrupted, the program was killed.
 */
int child_run(struct wait *w, char *const *argv, struct buf *out, int *code, struct err_info *why);

#endif
