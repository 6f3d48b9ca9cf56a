/**
 * The JSON that registryd answers with, read into structs: a node's view, a line of the feed, a problem.
 * Unknown members are skipped. Pure. Thread: any.   Source: docs/registry-rest.md.
 */
#ifndef REGISTRY_WIRE_H
#define REGISTRY_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "bobbin/registry.h"

/** An answer about a node; members it did not have are zero. */
struct wire_node {
    struct reg_status status; /* status.path is owned here */
    char **names;             /* children, ended by NULL; more answers append */
    size_t n_names;
    struct reg_record *record;
    char *invalid; /* what the node holds is meant as a record and is none: why */
    char *cursor;
    bool created, deleted;
};

void wire_node_fini(struct wire_node *n);
/**
 * Read an answer into *n, over what is there; names are appended.
 *
 * @param with_record  false: its record is skipped, which is most of the time that reading takes
 * @return 0; or ERR_JSON, ERR_RECORD with *why filled; *n is safe to release.
 */
int wire_read_node(const char *bytes, size_t len, bool with_record, struct wire_node *n,
                   struct err_info *why);

/** An answer about many nodes: a search, a purge, homes, events. Members it did not have are zero. */
struct wire_many {
    struct reg_found *found; /* owned; more answers append */
    size_t n_found;
    char *cursor;
    int64_t n_purged;
    int64_t ttl_ms; /* of a renewal: within which the next one must come */
    bool created;
    struct err_info failed; /* the first event or user that failed; code 0: none */
};

void wire_many_fini(struct wire_many *m);
/**
 * Read an answer into *m, over what is there; found is appended to.
 * @return 0; or ERR_JSON, ERR_RECORD with *why filled; *m is safe to release.
 */
int wire_read_many(const char *bytes, size_t len, struct wire_many *m, struct err_info *why);

/** A line of the feed. */
struct wire_line {
    char *type, *path, *revision; /* NULL when the line has none */
    struct reg_record *record;
    bool stale; /* sync, progress: the registry's store is away; absent is false */
};

void wire_line_fini(struct wire_line *l);
/** Read one line. @return 0; or ERR_JSON, ERR_RECORD with *why filled; *l is to be released in any case. */
int wire_read_line(const char *bytes, size_t len, struct wire_line *l, struct err_info *why);

/** Whose answer it is meant to be: for the words about another program that answers in its place. */
struct wire_asked {
    const char *url;     /* that was asked; its query is left out of the words */
    const char *program; /* "registryd" */
    bool is_write;       /* it may have been done, whatever somebody between says */
    bool is_gateway;     /* by way of an Apache Knox, which answers 500 when the program is away or silent */
};
/**
 * The error of an answer that is none of 2xx: that of its problem document, else what its status says; where it is no such document,
 * or says that there is no such route, with the URL and the program that was expected there.
 * @return ERR_*, also when the body is no problem document; *why is filled. ERR_UNKNOWN_OUTCOME also when somebody between lost the
 *         answer to a write, ERR_UNAVAILABLE when that was a read.
 */
int wire_read_problem(int status, const char *bytes, size_t len, const struct wire_asked *asked,
                      struct err_info *why);
/** The words about a 2xx answer that cannot be read: its URL, and what is wrong with it (*why as it was). @return why->code. */
int wire_not_readable(const struct wire_asked *asked, struct err_info *why);

#endif
