/**
 * Work too long for one turn of the loop: done in steps, as many a turn as the time budget allows, with input, timers and
 * messages in between.
 *
 *     RESTING ──start, now──► RUNNING ──step returns false, or stop──► RESTING          free: from either, also inside step
 *
 *     one turn:  timers │ tasks: a, b, c, a, b … until RUN_TASK_US is spent │ wait 0 ms │ sockets, messages
 *
 * All tasks of a loop share one budget a turn, so a turn is no longer for having many of them. They take it in rounds, a step each;
 * the next turn continues where this one ended. One step a turn is made even when the budget was spent before (run_task_now).
 * A step should take some 10 to 50 us: it is what the budget can be exceeded by, and two tasks share fairly when their
 * steps are alike. A task that must get through faster under pressure makes longer steps.
 *
 * Thread: owner of the loop, for everything.   Source: ours.
 */
#ifndef RUN_TASK_H
#define RUN_TASK_H

#include <stdbool.h>

#include "run/loop.h"

/**
 * Microseconds a turn that the tasks of a loop may take together: half of a turn that is counted as long (RUN_TURN_LONG_US), so
 * that input and timers have the other half; and so long that the two system calls of a turn (some 2 us) do not weigh.
 */
#define RUN_TASK_US (RUN_TURN_LONG_US / 2)

struct run_task;

/**
 * A new task, resting. Free with run_task_free, before the loop.
 *
 * @param loop  calls step on its thread                                          [borrowed, lives on]
 * @param step  one piece of the work; @return whether there is more. May start, stop or free this task and others: after
 *              a start inside it the task runs on, after a stop it rests, whatever it returns
 * @param arg   what step gets                                                    [borrowed, lives on]
 */
struct run_task *run_task_new(struct run_loop *loop, bool (*step)(void *arg), void *arg);
/** As run_task_new and run_task_start: a task that runs from the next turn on. */
struct run_task *run_task(struct run_loop *loop, bool (*step)(void *arg), void *arg);
/** There is work: step is called from the next turn on. A task that runs already keeps its place. */
void run_task_start(struct run_task *t);
/**
 * As run_task_start, but begin at once, with what is left of this turn's budget: short work is done when this returns.
 * Inside a step of any task it is run_task_start, so steps never nest.
 */
void run_task_now(struct run_task *t);
/** Rest: step is not called until the task is started again. */
void run_task_stop(struct run_task *t);
/** Stop and free; NULL is fine. step is not called any more. */
void run_task_free(struct run_task *t);

#endif
