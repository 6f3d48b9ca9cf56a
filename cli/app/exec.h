/**
 * The client side of `bobbin app exec`: its connection (exec_connect.c), and the relay between it and our own terminal or pipes
 * (exec_relay.c).
 *
 * Thread: main.   Source: RFC 9110 7.8; exec/frame.h; termios(3).
 */
#ifndef CLI_APP_EXEC_H
#define CLI_APP_EXEC_H

#include <stdbool.h>

#include "base/buf.h"
#include "bobbin/error.h"

/**
 * Send a request that upgrades its connection, and read the answer.
 *
 * @param url   "http://host:port/…" with its query                                [borrowed]
 * @param fd    connection, blocking, that speaks frames now; close it             [out]
 * @param rest  octets that came behind the answer                                 [out]
 * @return 0; ERR_USAGE: no http: URL; ERR_UNSUPPORTED: an https: one; ERR_UNAVAILABLE: it cannot be reached or does not answer;
 *         what the answer says, *why with the server's words.
 */
int exec_connect(const char *url, int *fd, struct buf *rest, struct err_info *why);

struct exec_relay {
    int fd;            /* of exec_connect */
    struct buf rest;   /* of exec_connect; the relay uses it up */
    bool has_terminal; /* of the command */
    bool passes_input; /* our standard input is the command's; else that is empty */
};

/**
 * Relay until the command has ended. A terminal at our standard input is raw meanwhile, when the command has one, and as it was
 * before at every end.
 *
 * @param code  exit code of the command; or 128 + N: signal N has ended us       [out]
 * @return 0; ERR_UNAVAILABLE: the connection has ended, and the command with it; ERR_PARSE: what came is no frame; ERR_IO.
 */
int exec_relay_run(struct exec_relay *r, int *code, struct err_info *why);

/** Size of our terminal; 24 and 80 when we have none. */
void exec_terminal_size(unsigned short *rows, unsigned short *columns);

#endif
