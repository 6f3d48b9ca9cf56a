/**
 * Telling a service manager about readiness: one datagram to the socket named by NOTIFY_SOCKET.
 * Source: sd_notify(3).
 */
#ifndef RUN_NOTIFY_H
#define RUN_NOTIFY_H

#include <stdbool.h>

#include "bobbin/error.h"

/** NOTIFY_SOCKET names a socket. Thread: any while nobody changes the environment. Source: sd_notify(3). */
bool notify_is_wanted(void);
/**
 * Send a message; nothing happens when nobody wants it.
 *
 * @param lines  `KEY=value` lines separated by newline                          [borrowed]
 * @param why    filled on error, where = path of the socket                     [out]
 * @return 0; or ERR_IO: the socket cannot be reached.
 * Thread: any while nobody changes the environment.   Source: sd_notify(3).
 */
int notify_send(const char *lines, struct err_info *why);

#endif
