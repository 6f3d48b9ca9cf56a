/**
 * The memory that a process has used and does not use any more. A start touches much that is never needed again: the loader and the
 * constructors of each library, the reader of configurations, free pieces of the heap.
 *
 *     of the program and each library                     trim_start                          trim_memory
 *     code, constants                                     -                                   unmapped; what is used comes back from its file
 *     tables of pointers, which the loader has relocated  moved to a file without a name,     the same
 *       and made read-only (RELRO)                        which is mapped in their place
 *     variables as the loader left them                   the same, as a private mapping      stay
 *     free memory of malloc                               -                                   returned to the system
 *
 * Relocated pages are like no file, so the kernel has to keep them, used or not: 1.4 MB of the sixty libraries of svcmgr, most of which it hardly
 * ever calls. With a file it keeps those that are used. Android's loader shares RELRO in this way.
 *
 * Source: ours; madvise(2), MADV_DONTNEED; mmap(2), MAP_FIXED; malloc_trim(3); dl_iterate_phdr(3).
 */
#ifndef RUN_TRIM_H
#define RUN_TRIM_H

/**
 * Begin, with what is loaded now; what is loaded later is not trimmed. Once in a process, first thing.
 *
 * @param dir  where the file is made; without room or a right to write there, what it would hold stays in memory [borrowed]
 * Thread: the only one of the process.
 */
void trim_start(const char *dir);
/** Give back what can be had again. Takes less than a millisecond; the next use of each page costs a minor fault. Thread: any, after trim_start. */
void trim_memory(void);

#endif
