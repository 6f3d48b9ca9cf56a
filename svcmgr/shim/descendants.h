/**
 * The processes that descend from this one. A subreaper's orphans become its children, so nothing that a container has
 * started leaves this tree, whatever group or session it made for itself.
 *
 * Thread: the program's only one.   Source: ours; prctl(2) PR_SET_CHILD_SUBREAPER, proc(5).
 */
#ifndef SHIM_DESCENDANTS_H
#define SHIM_DESCENDANTS_H

/**
 * Signal every descendant of this process. It reads all of /proc once: call it when something is known to be left, not to
 * find out; and again later, for a process may fork while the list is read.
 *
 * @return how many got the signal.
 */
int descendants_signal(int signal);

#endif
