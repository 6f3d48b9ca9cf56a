/**
 * The reader of sources: see sources_wire.h. Its calls may block in a file system without limit; svcmgr kills it after a time-out.
 *
 * Thread: the program's only one.   Source: ours; openat(2), symlink(7).
 */
#ifndef SHIM_SOURCES_H
#define SHIM_SOURCES_H

/**
 * Be a reader, from the request on descriptor 0 to the answer on descriptor 1.
 * @return exit code of the program: 0, also when files could not be had; else what standard error says.
 */
int sources_main(void);

#endif
