/**
 * The owner loop of a program: one libuv loop that owns all mutable state, and the only door into it from elsewhere.
 * Timers, sockets and signals are libuv's own (run_loop_uv).
 *
 * Source: ours.
 */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdint.h>
#include <uv.h>

struct run_loop;

/** A new loop. Free with run_loop_free. */
struct run_loop *run_loop_new(void);
/** Close what the loop itself holds, run it until every handle is closed, and free it. All handles that others
 *  opened must be closed or closing. Messages still queued are delivered first. Thread: owner. */
void run_loop_free(struct run_loop *loop);
/** The libuv loop inside. Thread: owner. */
uv_loop_t *run_loop_uv(struct run_loop *loop);
/** Run until run_loop_stop(). Thread: owner. */
void run_loop_run(struct run_loop *loop);
/** Make run_loop_run return after the current iteration. Thread: owner (others: post a message that calls it). */
void run_loop_stop(struct run_loop *loop);
/**
 * Call fn(arg) on the loop's thread, soon; messages of one thread keep their order.
 * Thread: any, until run_loop_free.
 */
void run_post(struct run_loop *loop, void (*fn)(void *arg), void *arg);

/** Wall clock in ms since the epoch / monotonic clock in ms and µs. Thread: any. */
int64_t run_wall_ms(void);
int64_t run_now_ms(void);
int64_t run_now_us(void);

/** A timer that frees itself when closed: libuv wants handles to outlive uv_close. */
struct run_timer;
struct run_timer *run_timer_new(struct run_loop *loop, void (*fn)(void *arg), void *arg);
/** (Re)start: first after delay_ms, then every repeat_ms (0: once). Thread: owner. */
void run_timer_start(struct run_timer *t, uint64_t delay_ms, uint64_t repeat_ms);
void run_timer_stop(struct run_timer *t);
/** Stop and free; NULL is fine. fn is not called any more. Thread: owner. */
void run_timer_free(struct run_timer *t);

#endif
