/**
 * Copies the standard output and error of a container's process from two pipes to files of bounded size.
 *
 *   process --pipe--> shim --> stdout.txt      at most file_bytes; then it becomes
 *                              stdout.txt.1    the one before, which becomes stdout.txt.2, … the oldest goes
 *
 * With a pipe instead of the file itself the process cannot exceed the bound, and a full disk costs the output and not the
 * process (dropped bytes are counted and noted in the file when there is space again). svcmgr is not needed for it; if
 * the shim dies the kernel kills the process anyway. Files are made, renamed and removed with the rights of the container's user.
 *
 * Thread: the program's only one.   Source: ours; pipe(7), setfsuid(2).
 */
#ifndef SHIM_OUTPUT_H
#define SHIM_OUTPUT_H

#include "shim/wire.h"

/** Numbers of the outputs. */
enum { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_N };

struct output {
    const char *name; /* of the file */
    int pipe_fd;      /* our end, not blocking; -1: closed by all writers */
    int file_fd;
    int64_t size;   /* of the file */
    int64_t n_lost; /* bytes since the last that was written */
    int error;      /* errno of the first of them */
};

struct outputs {
    const struct shim_launch *launch;
    int dir_fd; /* log directory */
    struct output items[OUTPUT_N];
    char tail[SHIM_TAIL_MAX]; /* the last bytes of standard error, whatever became of its file */
    size_t tail_len;
};

/**
 * Open the files and the pipes.
 *
 * @param l          log_dir, log_bytes, log_files and user are used                 [borrowed, lives on]
 * @param write_fds  the process's ends, close-on-exec: stdout, stderr              [out]
 * @return 0; -1 with errno: a file is not there to be written by that user, or not a file of its own. Nothing is open.
 */
int outputs_open(struct outputs *o, const struct shim_launch *l, int write_fds[OUTPUT_N]);
/** Take what is in one pipe now, a piece at most. @return false: it was empty, or closed by all writers. */
bool output_take(struct outputs *o, struct output *out);
/** Take what the pipes hold and close all: when no process of the container is left. */
void outputs_close(struct outputs *o);

#endif
