/**
 * The last lines that a container's process wrote to its standard error, from the file that its shim leaves (shim/wire.h).
 *
 * The shim has read them from a pipe and keeps them in the container's directory, where only svcmgr may write: nothing of
 * the container's user is opened.
 *
 * Thread: any.   Source: ours.
 */
#ifndef CLUSTER_SHIM_TAIL_H
#define CLUSTER_SHIM_TAIL_H

#include <stdbool.h>
#include <stddef.h>

/** Most lines that are kept. */
#define SHIM_TAIL_LINES 10

/**
 * Make text of what a process wrote last.
 *
 * @param bytes   `len` bytes of any content; a beginning that was cut off is no whole line   [borrowed]
 * @param is_cut  there were more bytes before
 * @return the last SHIM_TAIL_LINES lines without a newline at the end, at most len bytes: UTF-8 in which every other byte and every
 *         control character but \n and \t is '?'; carriage returns and terminal sequences (ESC [ … letter) are left out. free();
 *         NULL: nothing to see is left.
 */
char *shim_tail_text(const char *bytes, size_t len, bool is_cut);
/**
 * Read the file of a container that has ended.
 *
 * @param dir  container directory, absolute                                        [borrowed]
 * @return as shim_tail_text; NULL also when the file cannot be read.
 */
char *shim_tail_read(const char *dir);

#endif
