/**
 * What svcmgr and a container-shim say to each other: the launch file, the lines on the control socket, the exit file.
 *
 *   <container directory>/        mode 0711, owned by svcmgr's user; the shim's working directory
 *       launch                    what to run; `key=value` records, each ended by a NUL; mode 0600
 *       control.sock              Unix stream socket of the shim; mode 0600
 *       running                   one status line, written when the process runs
 *       exit                      one exit line, written by rename when nothing of the container is left
 *       shim.log                  what the shim has to say
 *       work/ logs/               the process's own; logs/ holds stdout.txt and stderr.txt
 *
 * Socket: text lines. `status` is answered by a status line, `wait` by an exit line once the container has ended,
 * `stop MS` sends SIGTERM to the process group and SIGKILL after MS; it has no answer of its own. The descriptor 3 that a
 * shim is born with is such a connection already.
 *
 *   status shim=101 shim_start=5551 pid=102 pid_start=5552 started_ms=1700000000000 stopping=0
 *   exit kind=exited code=0 stopped=0 started_ms=1700000000000 ended_ms=1700000000500 text=
 *
 * `…_start` is field 22 of /proc/PID/stat (clock ticks since boot): with the pid it names a process for good.
 * Thread: any.   Source: ours; proc(5).
 */
#ifndef SHIM_WIRE_H
#define SHIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"

#define SHIM_LAUNCH_FILE  "launch"
#define SHIM_SOCKET_FILE  "control.sock"
#define SHIM_RUNNING_FILE "running"
#define SHIM_EXIT_FILE    "exit"
#define SHIM_LOG_FILE     "shim.log"
#define SHIM_STDOUT_FILE  "stdout.txt"
#define SHIM_STDERR_FILE  "stderr.txt"

/** The descriptor a shim is born with: a control connection to svcmgr. */
#define SHIM_BORN_FD 3
/** Longest line on the socket and in the status and exit files, with newline and NUL. */
#define SHIM_LINE_MAX 512
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
};

struct shim_rlimit {
    int resource; /* RLIMIT_* */
    int64_t soft, hard;
};

#define SHIM_RLIMITS_MAX 8
#define SHIM_GROUPS_MAX  64

/** What to run. Strings are owned by the struct; release with shim_launch_fini. */
struct shim_launch {
    char *command; /* for /bin/sh -c                                                */
    char **env;    /* "NAME=value", NULL-terminated; the whole environment          */
    size_t n_env;
    char *work_dir;       /* absolute, exists                                              */
    char *log_dir;        /* absolute, exists                                              */
    char *cgroup;         /* directory to make and use; NULL: no resource limits           */
    int64_t memory_bytes; /* 0: no limit                                             */
    int64_t cpu_milli;    /* thousandths of a core; 0: no limit                      */
    int64_t grace_ms;     /* when the shim itself is told to stop                    */
    bool switch_user;     /* become uid, gid, groups before running                  */
    uid_t uid;
    gid_t gid;
    gid_t groups[SHIM_GROUPS_MAX];
    size_t n_groups;
    struct shim_rlimit rlimits[SHIM_RLIMITS_MAX];
    size_t n_rlimits;
};

/** Release the strings; *l is empty afterwards. */
void shim_launch_fini(struct shim_launch *l);
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
/** Read a line (newline optional). @return 0; or ERR_PARSE: *out unchanged. */
int shim_status_read(const char *line, struct shim_status *out);
int shim_exit_read(const char *line, struct shim_exit *out);

/** "exited", "signalled", "not_started", "lost". Static. */
const char *shim_exit_kind_text(enum shim_exit_kind kind);

/** What /proc/PID/stat says of a process. */
struct shim_proc {
    char state; /* 'R', 'S', 'Z', … */
    pid_t parent, group, session;
    uint64_t start; /* ticks since boot */
};

/** Read /proc/PID/stat. @return 0; or ERR_NOTFOUND: no such process, *out unchanged. */
int shim_proc_read(pid_t pid, struct shim_proc *out);
/**
 * Call fn for every process of the machine. @return 0; or ERR_IO when /proc cannot be read.
 */
int shim_proc_each(void (*fn)(void *arg, pid_t pid, const struct shim_proc *proc), void *arg);

#endif
