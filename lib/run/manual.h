/**
 * Documents derived from the tables: the manual page of a daemon, and its keys as a Hadoop configuration file.
 * Pure. Thread: any.   Source: ours; man-pages(7) for the form, Hadoop's *-default.xml for the other.
 */
#ifndef RUN_MANUAL_H
#define RUN_MANUAL_H

#include "run/daemon.h"

/**
 * Append the manual page of a daemon, section 8, as roff.
 *
 * @param def  its option and metric tables are listed                            [borrowed]
 * @param out  grows                                                              [in,out]
 */
void manual_page(const struct daemon_def *def, struct buf *out);
/** Append every key with its default and prose as a `<configuration>` file. Parameters as manual_page. */
void manual_xml(const struct daemon_def *def, struct buf *out);

/* Pieces of a page, for programs that are no daemons. `out` grows [in,out]. */

/** Append text as roff: no line begins with a control character, backslashes and hyphens are literal. */
void manual_text(struct buf *out, const char *text);
/** Append an entry for each row of an option table: key, type, default, prose. */
void manual_keys(const struct opt_def *defs, size_t n, struct buf *out);
/** Append the section of exit codes. */
void manual_exit_codes(struct buf *out);

#endif
