/**
 * Protocol between svcmgr and a container-shim: the launch file, the lines on the control socket, the exit file.
 *
 *   <container directory>/        mode 0711, owned by svcmgr's user; the shim's working directory
 *       launch                    what to run; `key=value` records, each ended by a NUL; mode 0600
 *       control.sock              Unix stream socket of the shim; mode 0600
 *       lock                      flock held by the shim from before it is executed until it has gone
 *       running                   one status line: of the shim (pid=0) before the process starts, then of both
 *       exit                      one exit line, written by rename when nothing of the container is left
 *       stderr.tail               the last bytes of standard error, as they came, written before `exit`; mode 0600;
 *                                 none when there was no output
 *       shim.log                  standard error of the shim
 *       staging/                  svcmgr's alone: the next launch's work/
 *       work/                     the process's own; stdout.txt and stderr.txt are in the log directory,
 *                                 elsewhere, and older ones as stdout.txt.1 (the younger), .2 …
 *
 * Socket: text lines. `signal N` sends a signal to the process group, or to the first process of an image; it has no answer. `status` is answered by a status line, `wait` by an exit line once the container has ended,
 * `stop MS` sends SIGTERM to the process group and SIGKILL after MS; it has no answer of its own. The descriptor 3 that a
 * shim is born with is such a connection already.
 *
 *   status format=2 shim=101 shim_start=5551 pid=102 pid_start=5552 started_ms=1700000000000 stopping=0 boot=3f0c…
 *   exit format=2 kind=exited code=0 stopped=0 started_ms=1700000000000 ended_ms=1700000000500 text=
 *
 * `…_start` is field 22 of /proc/PID/stat (clock ticks since boot), `boot` the boot's id: with the pid the three name a
 * process uniquely. A shim of an older version reports no `boot` and holds no lock.
 * `format` is that of the lines and of the launch file; without it they are of format 1, which has the same members. What has a
 * newer one is refused: its container is neither replaced nor ended.
 * The holder of the lock knows that no shim lives in the directory and that none is about to: svcmgr takes it before it
 * starts one and passes it to the shim as descriptor SHIM_LOCK_FD, so it is held before anything else of the shim exists.
 * Thread: any.   Source: ours; proc(5), flock(2), random(4).
 */
#ifndef SHIM_WIRE_H
#define SHIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "shim/records.h"

/** Format of all that is written; the one before is read. */
#define SHIM_FORMAT 2

#define SHIM_LAUNCH_FILE  "launch"
#define SHIM_SOCKET_FILE  "control.sock"
#define SHIM_RUNNING_FILE "running"
#define SHIM_EXIT_FILE    "exit"
#define SHIM_TAIL_FILE    "stderr.tail"
#define SHIM_LOG_FILE     "shim.log"
#define SHIM_LOCK_FILE    "lock"
#define SHIM_STDOUT_FILE  "stdout.txt"
#define SHIM_STDERR_FILE  "stderr.txt"

/** The descriptor a shim is born with: a control connection to svcmgr. */
#define SHIM_BORN_FD 3
/** The descriptor of the locked SHIM_LOCK_FILE that a shim is born with. */
#define SHIM_LOCK_FD 4
/** The descriptor of the claim of the container's address that a shim is born with, unless the address is nobody's own. */
#define SHIM_ADDRESS_FD 5
/** A boot's id with its NUL. */
#define SHIM_BOOT_MAX 37
/** Longest line on the socket and in the status and exit files, with newline and NUL. */
#define SHIM_LINE_MAX 512
/** Most bytes of SHIM_TAIL_FILE. */
#define SHIM_TAIL_MAX 2048
/** A launch file larger than this is refused. */
#define SHIM_LAUNCH_MAX (4 << 20)

/** Which way a container came to its end. */
enum shim_exit_kind {
    SHIM_EXITED,      /* by itself: code is its exit code                            */
    SHIM_SIGNALLED,   /* by a signal: code is the signal's number                    */
    SHIM_NOT_STARTED, /* never ran: code is an errno, text names the step            */
    SHIM_LOST         /* the shim died, how the process ended is unknown; code is 0  */
};

struct shim_exit {
    enum shim_exit_kind kind;
    int code;
    bool was_stopped;   /* a stop was asked for before it ended */
    bool was_memory;    /* the kernel killed it, as its limit of memory was reached */
    int64_t started_ms; /* wall clock, ms since the epoch; 0: never */
    int64_t ended_ms;
    char text[160]; /* step that failed, or "" */
};

struct shim_status {
    pid_t shim;
    uint64_t shim_start;
    pid_t pid;
    uint64_t pid_start;
    int64_t started_ms;
    bool stopping;
    char boot[SHIM_BOOT_MAX]; /* "": not said */
};

struct shim_rlimit {
    int resource; /* RLIMIT_* */
    int64_t soft, hard;
};

#define SHIM_RLIMITS_MAX 8
#define SHIM_CGROUPS_MAX 4

/** One directory of the container's in a cgroup hierarchy. */
struct shim_cgroup {
    char kind[12]; /* "v2", or the v1 controller: "memory", "pids", "cpu", "freezer" */
    char *dir;     /* absolute; owned */
};

/** Most files of one output. */
#define SHIM_LOG_FILES_MAX 100

/** What to run. Strings are owned by the struct; release with shim_launch_fini. */
struct shim_launch {
    char *command; /* for /bin/sh -c                                                */
    char **env;    /* "NAME=value", NULL-terminated; the whole environment          */
    size_t n_env;
    char *work_dir; /* absolute, exists                                              */
    char *log_dir;  /* absolute, exists                                              */
    struct shim_cgroup cgroups[SHIM_CGROUPS_MAX]; /* to make and use, see cgroup.h                     */
    size_t n_cgroups;
    bool cgroups_required; /* not to run without them */
    int64_t pids_max;      /* processes and threads; 0: no limit                     */
    bool cpu_is_strict;    /* cpu_milli is a limit, not only a share when it is short */
    int64_t memory_bytes;  /* 0: no limit                                             */
    int64_t cpu_milli;     /* thousandths of a core; 0: no limit                      */
    int64_t grace_ms;      /* when the shim itself is to stop                         */
    int64_t log_bytes;     /* of one file of output; 0: no limit                      */
    int64_t log_files;     /* kept of each output, the present one included; from 1   */
    struct shim_user user;
    struct shim_rlimit rlimits[SHIM_RLIMITS_MAX];
    size_t n_rlimits;
    /* Of an image: the command is a container runtime, which keeps our rights, and by which the container is signalled and
     * removed. Both NULL: the command is the process itself */
    char *runtime;    /* words for a shell: the program and what is before its commands */
    char *runtime_id; /* name of the container there */
};

/** Write all to a file that does not hold its writer up. @return 0; -1 with errno. */
int shim_write_all(int fd, const char *bytes, size_t len);

/** Append a word for a shell, quoted, after a blank. */
void shim_shell_word(struct buf *out, const char *word);
/** Release the strings; *l is empty afterwards. */
void shim_launch_fini(struct shim_launch *l);
/** Append one cgroup (copied). @return 0; ERR_LIMIT: there are SHIM_CGROUPS_MAX. */
int shim_launch_cgroup(struct shim_launch *l, const char *kind, const char *dir);
/** Append one "NAME=value" (copied) to the environment. */
void shim_launch_env(struct shim_launch *l, const char *name, const char *value);
/** Write *l in the form of the launch file, appended to out. */
void shim_launch_write(const struct shim_launch *l, struct buf *out);
/**
 * Read a launch file's bytes.
 * @param bytes  len bytes                                                           [borrowed]
 * @param out    filled on success, an empty struct before                           [out]
 * @return 0; or ERR_PARSE naming the record: *out is empty.
 */
int shim_launch_read(const char *bytes, size_t len, struct shim_launch *out, struct err_info *why);

/** Write a status / exit line with its newline. @param out room for SHIM_LINE_MAX. @return its length. */
size_t shim_status_write(const struct shim_status *s, char out[SHIM_LINE_MAX]);
size_t shim_exit_write(const struct shim_exit *e, char out[SHIM_LINE_MAX]);
/** Read a line (newline optional). @return 0; ERR_PARSE; ERR_UNSUPPORTED: of a newer format; *out unchanged on error. */
int shim_status_read(const char *line, struct shim_status *out);
int shim_exit_read(const char *line, struct shim_exit *out);

/** "exited", "signalled", "not_started", "lost". Static. */
const char *shim_exit_kind_text(enum shim_exit_kind kind);

/** What /proc/PID/stat says of a process. */
struct shim_proc {
    char state; /* 'R', 'S', 'Z', … */
    pid_t parent, group, session;
    uint64_t start;     /* ticks since boot */
    uint64_t cpu_ticks; /* used by it and by its children that have ended */
    int64_t rss_pages;
};

/**
 * Read /proc/PID/stat. @return 0; ERR_NOTFOUND: no such process; ERR_UNAVAILABLE: it cannot be said now, for lack of a
 * descriptor or memory. *out is unchanged on error.
 */
int shim_proc_read(pid_t pid, struct shim_proc *out);
/** The id of this boot of the machine. @return 0; ERR_IO: it cannot be read, out is "". */
int shim_boot_id(char out[SHIM_BOOT_MAX]);
/**
 * Signal the process that has this pid and this start, and never another that got the number since.
 * @param signal  0: nothing is sent, only looked
 * @return 0: sent; ERR_NOTFOUND: it is gone (a zombie counts as gone); ERR_PERMISSION: not ours to signal;
 *         ERR_UNAVAILABLE: it cannot be said now, for lack of a descriptor or memory.   Source: pidfd_open(2).
 */
int shim_proc_signal(pid_t pid, uint64_t start, int signal);
/**
 * Call fn for every process of the machine. @return 0; ERR_UNAVAILABLE: /proc cannot be read whole now, fn was called for
 * what could.
 */
int shim_proc_each(void (*fn)(void *arg, pid_t pid, const struct shim_proc *proc), void *arg);

#endif
