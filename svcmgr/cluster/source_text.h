/**
 * The text of a configuration file that has a source: what is read, what becomes of it, and what is said when it cannot be had. The same on
 * every cluster.
 *
 * Thread: any.   Source: YARN services API 6; ours.
 */
#ifndef CLUSTER_SOURCE_TEXT_H
#define CLUSTER_SOURCE_TEXT_H

#include "cluster/cluster.h"
#include "shim/sources_wire.h"

/** Most bytes of a source whose text is expanded. */
#define SOURCE_TEXT_MAX (1 << 20)

/** What the source of a file is read as. @param f  with a source [borrowed] */
enum source_form source_form_of(const struct cluster_file *f);
/**
 * Replace the placeholders of a source's text; of a configuration the properties come over it first.
 *
 * @param text  of the source as source_form_of says                                 [borrowed]
 * @param f     with values                                                          [borrowed]
 * @return new text, free(); NULL: *why is ERR_TOOBIG, or ERR_INVALID: the source is no configuration of its type.
 */
char *source_expand(const char *text, const struct cluster_file *f, struct err_info *why);
/**
 * Say why a source cannot be had.
 *
 * @param user  who was to read it: of the process, or of HDFS                       [borrowed]
 * @return ERR_UNAVAILABLE: its server is away; ERR_LIMIT, … as shortage_code: a resource of the host is missing; else ERR_INVALID.
 */
int source_fault_why(const struct source *s, const char *user, const struct source_fault *f,
                     struct err_info *why);

#endif
