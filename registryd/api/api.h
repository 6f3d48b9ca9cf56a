/**
 * The REST interface of registryd: the parts that its handlers use, and their common functions for paths, revisions and
 * entity tags.
 * Thread: owner.   Source: RFC 9110.
 */
#ifndef API_API_H
#define API_API_H

#include "access/access.h"
#include "access/accessors.h"
#include "base/obj.h"
#include "cleanup/cleanup.h"
#include "feed/feed.h"
#include "http/server.h"
#include "index/index.h"
#include "http/client.h"
#include "lease/keeper.h"
#include "registry/ops_store.h"
#include "run/metrics.h"
#include "run/options.h"
#include "store/mirror/mirror.h"
#include "store/store.h"

#define API_MAGIC OBJ_MAGIC('R', 'A', 'P', 'I')

/** The parts of registryd that handlers use; every handler gets it as its argument. app.c fills it; all parts are borrowed. */
struct api {
    struct obj obj;
    const struct options *options;
    struct metrics *metrics;
    struct store *store;
    struct mirror *mirror;
    struct reg_store *ops;
    struct access *access;
    struct accessors *accessors;
    struct outage *store_outage; /* of the frame's */
    struct feed *feed;
    struct index *index;
    struct cleanup *cleanup;
    struct leases *leases;
    struct http_client *http; /* to the registryd that keeps the leases */
    enum reg_names names;     /* which names a write may make */
    int64_t write_wait_ms;    /* how long an answer of a write waits for the mirror */
};

/**
 * The registry path that a request names: that of the query, decoded as a whole; else the one in the URL, split at '/',
 * each element decoded on its own.
 * @param out  "/" or "/a/b"; free()                                               [out]
 * @return 0; ERR_PATH: an empty element, a malformed escape, or a decoded '/', NUL, control character, ".", "..", or
 *         text that is not UTF-8; *why names the element.
 */
int api_path(struct http_req *req, char **out, struct err_info *why);
/** Set Bobbin-Revision. */
void api_revision(struct api *api, struct http_req *req, int64_t zxid);
/** Set the headers of an answer from the mirror: Bobbin-Revision, which covers all it shows, and while the store is away
 *  Bobbin-Stale. */
void api_mirror_headers(struct api *api, struct http_req *req);
/** Set ETag `"<mzxid>.<pzxid>"`. */
void api_etag(struct http_req *req, const struct store_stat *stat);
/** If-Match or If-None-Match names this tag (weak or strong form, list, `*`). */
bool api_etag_matches(const char *header, const struct store_stat *stat);
/** mzxid of the first tag of an If-Match header. @return 0; or ERR_CONFLICT for one that is not of our form. */
int api_etag_mzxid(const char *header, int64_t *mzxid, struct err_info *why);
/** Add a warning for the person who sent the request to the answer: header Warning, code 299. @param text  one sentence,
 *  copied [borrowed]   Source: RFC 7234 5.5.7. */
void api_warn(struct http_req *req, const char *text);
/** Answer with an error and count it. */
void api_refuse(struct api *api, struct http_req *req, int code, const struct err_info *why);
/** Whether the mirror is complete. @return 0; ERR_UNAVAILABLE. */
int api_check_ready(struct api *api, struct err_info *why);
/** The mirror is complete; else the request was answered with ERR_UNAVAILABLE. */
bool api_ready(struct api *api, struct http_req *req);

/**
 * The write accessor that the caller holds: X-Bobbin-Accessor, else HTTP Basic.
 * @param pair    its id:password; free(); NULL: none                                [out]
 * @param digest  its digest id; free(); NULL: none                                  [out]
 * @return 0; ERR_AUTH: not of the form id:password; pair and digest are set or NULL.
 */
int api_accessor(struct http_req *req, char **pair, char **digest, struct err_info *why);
/**
 * Whom the ACL of nodes made by this request admits, besides those that every node admits: the caller's accessor, and
 * the digest ids of X-Bobbin-Write-Accessors.
 * @param own_digest  NULL: none                                                     [borrowed]
 * @param more        entries are appended                                           [in,out]
 * @return 0; ERR_INVALID.
 */
int api_write_accessors(struct http_req *req, const char *own_digest, struct acl_list *more,
                        struct err_info *why);

/** What a PUT says of a lease. */
struct api_lease {
    char key[LEASE_KEY_MAX + 1];
    int64_t ttl_ms;         /* 0: none */
    struct lease_node node; /* empty: none */
};
/**
 * Read `ttl` and X-Bobbin-Lease of a PUT.
 *
 * @param path  of the record                                                        [borrowed]
 * @param out   {0}; api_lease_fini, also after an error                             [out]
 * @return 0; ERR_USAGE, ERR_INVALID, ERR_LIMIT, ERR_UNSUPPORTED.
 */
int api_lease_read(struct api *api, struct http_req *req, const char *path, struct api_lease *out,
                   struct err_info *why);
/** Release. */
void api_lease_fini(struct api_lease *l);

/* ---- checks of the head, before a body is taken (struct http_route.check) ---- */

/** In a secure registry only system accounts administer. @return 0: the caller may; ERR_PERMISSION. */
int api_may_administer(struct http_req *req, void *api, struct err_info *why);
/** Whether the caller may change how registryd runs: in a secure registry as api_may_administer, else from this host only.
 *  @return 0; ERR_PERMISSION. */
int api_may_steer(struct http_req *req, void *api, struct err_info *why);
/** Only administrators export, import and back up: the system accounts of a secure registry, else the user who runs registryd and
 *  hadoop.registry.admin.users. @return 0: the caller may; ERR_PERMISSION. */
int api_may_copy(struct http_req *req, void *api, struct err_info *why);
/** Check a PUT but for its body. @return 0; ERR_UNAVAILABLE: the mirror is not complete; ERR_PATH, ERR_USAGE, ERR_CONFLICT,
 *  ERR_AUTH, ERR_INVALID: path or headers are invalid. */
int api_check_put(struct http_req *req, void *api, struct err_info *why);
/** Check a POST but for its body. @return as api_check_put. */
int api_check_post(struct http_req *req, void *api, struct err_info *why);

/* ---- one handler a route ---- */

/* read.c */
void api_get(struct http_req *req, void *api);
void api_slider_get(struct http_req *req, void *api);
/* write.c */
void api_put(struct http_req *req, void *api);
void api_post(struct http_req *req, void *api);
void api_delete(struct http_req *req, void *api);
/* find.c */
void api_find(struct http_req *req, void *api);
/* admin.c */
void api_purge(struct http_req *req, void *api);
void api_events(struct http_req *req, void *api);
void api_users(struct http_req *req, void *api);
/* lease.c */
void api_renew(struct http_req *req, void *api);
void api_lease(struct http_req *req, void *api);
/* copy.c */
void api_export(struct http_req *req, void *api);
void api_import(struct http_req *req, void *api);
void api_backup(struct http_req *req, void *api);

#endif
