/**
 * Answers of a search, written in slices: JSON with the records, or Prometheus' http_sd form with their endpoints.
 * A slice that finds nothing writes a blank, so a long search neither blocks the loop nor falls silent. When the index is rebuilt
 * during a search the answer is cut off: what was sent is no JSON then.
 * Thread: owner.   Source: docs/registry-rest.md; Prometheus HTTP service discovery.
 */
#ifndef INDEX_FIND_H
#define INDEX_FIND_H

#include "http/server.h"
#include "index/index.h"

enum find_form {
    FIND_RECORDS, /* {"records":[{"path","status","service"},…],"cursor":…} */
    FIND_HTTP_SD  /* [{"targets":["h:p"],"labels":{…}},…] */
};

struct find_def {
    const struct index *index;
    const struct mirror *mirror;
    enum find_form form;
    const char *terms
        [INDEX_N_KINDS]; /* as index_query, but INDEX_API and INDEX_PROTOCOL together mean one endpoint */
    int64_t limit;       /* records at most; the answer has a cursor when there may be more */
    uint64_t after;      /* as index_next */
};

/** Answer req; at least one term is set, the index is ready. All is copied. */
void find_reply(struct http_req *req, const struct find_def *def);
/** Read a cursor of an earlier answer. @return 0; ERR_PARSE; ERR_GONE: it is of another start of this registryd. */
int find_cursor_read(const struct index *ix, const char *text, uint64_t *after, struct err_info *why);
/**
 * Append the http_sd groups of one record's endpoints that have this api and protocol (NULL: any), without brackets, a
 * comma before each unless *first. An address without host and port gives none. Pure.
 */
void find_write_targets(struct buf *out, const char *path, const struct reg_record *record, const char *api,
                        const char *protocol, bool *first);

#endif
