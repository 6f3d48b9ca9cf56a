/**
 * What svcmgr asks of `container-shim exec`, the parent of one command that is executed in a container: records (shim/records.h) in a
 * file. It is started in the container's directory with these descriptors:
 *
 *     EXEC_ASK_FD      the request
 *     EXEC_CONTROL_FD  a socket, on which nothing is said: when svcmgr closes it, or dies, the session ends
 *     EXEC_CLIENT_FD   the connection to the client, which speaks frames (exec/frame.h) from now on
 *
 * It ends with the exit code that it has reported to the client.
 * Thread: any.   Source: ours.
 */
#ifndef SHIM_EXEC_WIRE_H
#define SHIM_EXEC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"

#define EXEC_ASK_FD     0
#define EXEC_CONTROL_FD 1
#define EXEC_CLIENT_FD  3

/** A request larger than this is refused. */
#define EXEC_ASK_MAX (1 << 20)

/** Strings are owned by the struct; release with exec_ask_fini. */
struct exec_ask {
    char **words; /* n_words of them, NULL-terminated; none: a shell */
    size_t n_words;
    bool has_terminal;
    int64_t rows, columns; /* of the terminal */
    char *term;            /* its TERM; or NULL */
    struct buf early;      /* what the client has sent already */
};

/** Append a word (copied) to the command. */
void exec_ask_word(struct exec_ask *ask, const char *word);
/** Release the strings; *ask is empty afterwards. */
void exec_ask_fini(struct exec_ask *ask);
/** Append *ask as records. */
void exec_ask_write(const struct exec_ask *ask, struct buf *out);
/** Read records. @param bytes  len bytes [borrowed] @param out  empty before; release it also on error [in,out] @return 0; ERR_PARSE. */
int exec_ask_read(const char *bytes, size_t len, struct exec_ask *out, struct err_info *why);

#endif
