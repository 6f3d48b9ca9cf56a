/**
 * How log lines get to stderr so that no thread that logs waits for a disk, a pipe or a terminal.
 *
 *     log_write ──put──┬─ a pipe, socket or terminal that takes it now, nothing waits ──write(2)──► stderr
 *                      ├─ else ──► waiting (1 MiB at most) ──taken whole by a thread──write(2)────► stderr
 *                      └─ no room: the line is lost, and counted
 *
 * One of a process. Before the start, and in programs that are no daemons, the thread that logs writes each line.
 * Source: ours; pipe(7): what poll(2) says, and PIPE_BUF.
 */
#ifndef RUN_LOG_WRITER_H
#define RUN_LOG_WRITER_H

#include <stddef.h>
#include <stdint.h>

/** Start the thread, which inherits the caller's signal mask; not twice. Thread: main, before others log. Source: ours. */
void log_writer_start(void);
/**
 * Write what waits, and end the thread. When stderr takes nothing for two seconds the rest is lost, and the thread is left to the
 * end of the process. Without log_writer_start nothing happens.
 * Thread: main, when no other logs any more.   Source: ours.
 */
void log_writer_stop(void);
/**
 * Take a line, or lose it; never waits for stderr while the thread runs.
 *
 * @param line  len bytes with a newline at the end                              [borrowed for the call]
 * @return lines lost that no earlier call has returned, once half of the room is free again, so that the caller can say it; else 0.
 * Thread: any.   Source: ours.
 */
uint64_t log_writer_put(const char *line, size_t len);
/** Bytes that wait. Thread: any. Source: ours. */
size_t log_writer_n_waiting(void);
/** Lines lost since the start of the process. Thread: any. Source: ours. */
uint64_t log_writer_n_lost(void);

#endif
