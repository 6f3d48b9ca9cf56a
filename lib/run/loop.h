/**
 * The owner loop of a program: one libuv loop that owns all mutable state, and the way into it from other threads (run_post).
 * Timers, sockets and signals are libuv's own (run_loop_uv).
 *
 * Source: ours.
 */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdint.h>
#include <uv.h>

struct run_loop;

/** A new loop; its owner is the thread that runs it. Free with run_loop_free. Thread: any. Source: ours. */
struct run_loop *run_loop_new(void);
/**
 * Deliver the messages still queued, run until every handle is closed and every request is done, and free the loop.
 *
 * @param loop  stopped; every handle that others opened is closed or closing (else a BUG)    [taken]
 * Thread: owner; no other thread posts any more.   Source: ours.
 */
void run_loop_free(struct run_loop *loop);
/** The libuv loop inside, for timers, sockets and signals. Borrowed. Thread: owner. Source: ours. */
uv_loop_t *run_loop_uv(struct run_loop *loop);
/** Run until run_loop_stop(). Thread: owner. Source: ours. */
void run_loop_run(struct run_loop *loop);
/** Make run_loop_run return after the current iteration. Thread: owner (others: post a message that calls it).
 *  Source: ours. */
void run_loop_stop(struct run_loop *loop);
/**
 * Call fn(arg) on the loop's thread, soon; messages of one thread keep their order, none is lost.
 *
 * @param fn   called exactly once, not from inside run_post
 * @param arg  what fn gets; may be NULL                                         [taken until fn is called]
 * Thread: any, until run_loop_free.   Source: ours.
 */
void run_post(struct run_loop *loop, void (*fn)(void *arg), void *arg);

/** How long turns of a loop took, the wait for the next event not counted; and how much of a processor they used. Where others want the
 *  processor, too, the first is longer. */
struct run_turns {
    uint64_t n;         /* since the loop was made */
    uint64_t n_long;    /* of more than RUN_TURN_LONG_US */
    uint64_t n_busy;    /* that used more than RUN_TURN_LONG_US of a processor */
    int64_t longest_us; /* of all */
    int64_t busiest_us; /* most of a processor that one used */
};

/** A longer turn delays other work noticeably. */
#define RUN_TURN_LONG_US 1000

/** The turns until now, the present one left out. Thread: owner. Source: ours; libuv, uv_metrics_idle_time. */
struct run_turns run_loop_turns(const struct run_loop *loop);

/** Wall clock: ms since 1970-01-01 UTC. Thread: any. Source: clock_gettime(2). */
int64_t run_wall_ms(void);
/** Monotonic clock in ms; only differences mean something. Thread: any. Source: clock_gettime(2). */
int64_t run_now_ms(void);
/** The same clock in µs. Thread: any. Source: clock_gettime(2). */
int64_t run_now_us(void);
/** Time since the host booted in ms, suspended time counted; nobody sets it. Thread: any. Source: clock_gettime(2),
 *  CLOCK_BOOTTIME. */
int64_t run_boot_ms(void);
#define RUN_BOOT_ID_LEN 96
/**
 * The clock that run_boot_ms reads: the kernel's boot id and the time namespace. Two times of it can be compared when their ids
 * are equal, also those of two processes.
 *
 * @param out  text; "" without /proc, which then equals no other                [out]
 * Thread: any.   Source: random(4), boot_id; time_namespaces(7).
 */
void run_boot_id(char out[RUN_BOOT_ID_LEN]);

/**
 * Close a handle of libuv's that has a descriptor of its own (socket, pipe): uv_close, announced to the thread sanitizer.
 *
 * @param handle  open, not closing                                              [lives until closed is called]
 * @param closed  called on a later turn of the loop, or NULL
 * Thread: owner.   Source: libuv, uv_close.
 */
void run_handle_close(uv_handle_t *handle, uv_close_cb closed);
/**
 * Start a process: uv_spawn, in a form that the thread sanitizer understands.
 *
 * @param process  not initialised yet; it is when this returns, also with an error   [lives until it is closed]
 * @param options  what uv_spawn takes                                               [borrowed]
 * @return 0, or libuv's negative error.
 * Thread: owner.   Source: libuv, uv_spawn.
 */
int run_spawn(struct run_loop *loop, uv_process_t *process, const uv_process_options_t *options);

/** A timer that frees itself when closed: libuv wants handles to outlive uv_close. */
struct run_timer;
/**
 * A new timer, not running. Free with run_timer_free, before the loop.
 *
 * @param loop  calls fn on its thread                                           [borrowed, lives on]
 * @param fn    may start, stop or free the timer
 * @param arg   what fn gets                                                     [borrowed, lives on]
 * Thread: owner.   Source: ours.
 */
struct run_timer *run_timer_new(struct run_loop *loop, void (*fn)(void *arg), void *arg);
/** (Re)start: first delay_ms from now, then every repeat_ms (0: once). Without either it is called in the loop's next turn.
 *  Long work is a task (run/task.h). Thread: owner. Source: ours. */
void run_timer_start(struct run_timer *t, uint64_t delay_ms, uint64_t repeat_ms);
/** Stop; a stopped timer can be started again. Thread: owner. Source: ours. */
void run_timer_stop(struct run_timer *t);
/** Stop and free; NULL is fine. fn is not called any more. Thread: owner. */
void run_timer_free(struct run_timer *t);

#endif
