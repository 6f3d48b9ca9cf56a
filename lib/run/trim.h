/**
 * The memory that a process has used and does not use any more. A start touches much that is never needed again: the loader and the
 * constructors of each library, the reader of configurations, free pieces of the heap.
 *
 *     code and constants of the program and of libraries, read-only   ──> unmapped; a page that is used comes back from the page cache
 *     free memory of malloc                                           ──> returned to the system
 *     what the loader relocated, variables, stacks                    stay
 *
 * Source: madvise(2), MADV_DONTNEED; malloc_trim(3); dl_iterate_phdr(3).
 */
#ifndef RUN_TRIM_H
#define RUN_TRIM_H

/** Give back what can be had again. Takes less than a millisecond; the next use of each page of code costs a minor fault. Thread: any. */
void trim_memory(void);

#endif
