/**
 * libbobbin: the registry for C programs, the counterpart of Hadoop's RegistryOperations.
 *
 * Asynchronous core: every operation takes a completion and returns at once; the completion runs later on the loop,
 * exactly once. `reg_blocking_*` is the same for programs without a loop. A registry is reached at registryd's REST
 * address (several, comma-separated: the next one is tried when one is away).
 *
 * Paths are registry paths ("/users/alice/…"). Errors are those of Hadoop's operations (error.h has the names).
 * Thread: the loop's, unless said otherwise.   Source: Hadoop RegistryOperations.
 */
#ifndef BOBBIN_REGISTRY_H
#define BOBBIN_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "bobbin/path.h"
#include "bobbin/record.h"

/**
 * Split a revision "<store>.<number>". store: room for REG_REVISION_MAX.
 * @return 0; or ERR_PARSE, outputs unchanged.   Thread: any.
 */
int reg_revision_read(const char *text, char *store, int64_t *n);

struct reg;
struct run_loop; /* made by reg_loop_new, or the program's own inside Bobbin */

/** Longest revision text with NUL. */
#define REG_REVISION_MAX 64

/** RegistryPathStatus. */
struct reg_status {
    char *path;                      /* last element; "" for the root */
    int64_t time_ms;                 /* creation, ms since the epoch */
    int64_t size;                    /* bytes of data */
    int32_t children;                /* direct children */
    char revision[REG_REVISION_MAX]; /* of the last change of the data */
};

/** A node that was found, deleted or made; what the operation does not fill is zero. */
struct reg_found {
    char *path;                /* whole */
    struct reg_record *record; /* find, list_records */
    struct reg_status status;  /* find, list_records */
};

/** What a completion gets; members the operation does not fill are zero. Borrowed, valid inside the completion. */
struct reg_result {
    bool changed; /* mknode, user home: made; exists: there; delete, purge, report: something was deleted */
    const struct reg_record *record; /* resolve */
    struct reg_status status;        /* resolve, stat */
    const struct reg_status *list;   /* list: one a child, in byte order of names */
    size_t n_list;
    /* find: records, in no order; list_records; purge: what was deleted; user home: the homes; keep_alive: what is gone */
    const struct reg_found *found;
    size_t n_found;
    int64_t n_purged; /* purge, report: delete operations (with dry_run: that would be made) */
    int64_t ttl_ms;   /* keep_alive: the shortest TTL of the records that live; 0: none does */
    /* write: of the change; read: the one the answer is from. "" when unknown */
    char revision[REG_REVISION_MAX];
    bool applied; /* write: readers of this registry already see it */
};

#define REG_DONE void (*done)(void *arg, int err, const struct reg_result *r, const struct err_info *why)

/**
 * The id under which an id:password stands in ACLs: `id:` and base64 of SHA-1 of the whole text.
 *
 * @param id_password  "id:password"; both not empty, the password without further colons but at its end  [borrowed]
 * @param out          new text; free()                                                              [out]
 * @return 0; ERR_IO "Invalid id:password": the text is never repeated in an error. Thread: any.
 * Source: Hadoop RegistrySecurity.digest; ZooKeeper DigestAuthenticationProvider.
 */
int reg_digest_id(const char *id_password, char **out, struct err_info *why);

enum reg_bind_flags {
    REG_CREATE = 0,
    REG_OVERWRITE = 1,      /* replace an existing node's record */
    REG_CREATE_PARENTS = 2, /* ours: make missing parents */
};

/**
 * Operations over REST. When a server cannot be reached or is not ready the next of the list is asked, and all of them again
 * until timeout_ms is over. A write is sent again only when it certainly was not done. When its answer was lost, between the
 * registry and its client or between ZooKeeper and the registry, the completion gets ERR_UNKNOWN_OUTCOME: the write may have
 * been done, or may be done later. The caller then reads the node and decides. To repeat is safe with a condition: a bind
 * without REG_OVERWRITE, a delete of what is still there. (Hadoop's client repeats blindly, and may undo a write that
 * another client has seen succeed.) ERR_TIMEOUT of a write means the same: no answer in time.
 * A path is normalised ("x", "/x" and "/x/" are one node). Completion errors of all: ERR_INVALID (no path, no record),
 * ERR_PATH, ERR_PERMISSION, ERR_UNAVAILABLE (nothing was written), ERR_UNKNOWN_OUTCOME (of a write), ERR_TIMEOUT,
 * ERR_CANCELLED (closed; of a write as ERR_TIMEOUT), ERR_IO, ERR_JSON (no registryd there).
 */

/** Make a node without record. ERR_NOTFOUND: the parent is missing. */
void reg_mknode(struct reg *r, const char *path, bool create_parents, REG_DONE, void *arg);
/** Write a record (changed: the node was made). ERR_RECORD; ERR_EXISTS without REG_OVERWRITE; ERR_NOTFOUND (parent). */
void reg_bind(struct reg *r, const char *path, const struct reg_record *record, unsigned flags, REG_DONE,
              void *arg);
/**
 * As reg_bind, for so long as this program lives: the record goes, with everything below it, when it is not renewed within
 * ttl_ms. All records that are bound so with one registry object have one lease, which reg_keep_alive renews. A later write of
 * the record by anybody without a lease ends its lease and keeps the record. What other clients see is an ordinary record.
 *
 * @param ttl_ms  1000 to 86400000, unless the registry's options say otherwise (hadoop.registry.lease.min-ttl, .max-ttl)
 * Completion: as reg_bind; ERR_USAGE: a TTL that the registry does not allow; ERR_LIMIT: it holds as many leases as it may;
 * ERR_UNSUPPORTED: its store takes none.   Source: ours.
 */
void reg_bind_leased(struct reg *r, const char *path, const struct reg_record *record, unsigned flags,
                     int64_t ttl_ms, REG_DONE, void *arg);
/**
 * Renew the lease of all records that reg_bind_leased has bound: one small request, however many they are. Send it at least three
 * times in the shortest TTL, or have it sent: reg_keep_alive_start. It is harmless to send it twice.
 *
 * Completion: ttl_ms, the shortest of the records that live; found, n_found: paths of records of the lease that are not the
 * program's any more, each said once, to be bound again if they are wanted: expired, deleted, or written by somebody else.
 * ERR_NOTFOUND: no record of the lease is left; ERR_UNAVAILABLE, ERR_TIMEOUT: ask again, for no record goes by an outage of the
 * registry.   Source: ours.
 */
void reg_keep_alive(struct reg *r, REG_DONE, void *arg);
/**
 * Renew by itself from now on, three times in the shortest TTL that this registry object has bound or was answered.
 *
 * @param notify  called on the loop after a renewal that failed or found records gone (as the completion of reg_keep_alive);
 *                it may bind them again. NULL: nobody is notified
 * A second call only changes notify and arg. Ends with reg_keep_alive_stop or reg_close.   Source: ours.
 */
void reg_keep_alive_start(struct reg *r,
                          void (*notify)(void *arg, int err, const struct reg_result *result,
                                         const struct err_info *why),
                          void *arg);
/** Stop renewing by itself; no call of notify afterwards. The records go when their TTL is over. */
void reg_keep_alive_stop(struct reg *r);
/** The key of the lease, a secret that lets its holder renew: reg_options.lease of a program that goes on with these records.
 *  Valid until reg_close. */
const char *reg_lease(const struct reg *r);
/** ERR_NOTFOUND; ERR_NORECORD: the node holds none, or nothing that is one. */
void reg_resolve(struct reg *r, const char *path, REG_DONE, void *arg);
/** ERR_NOTFOUND. */
void reg_stat(struct reg *r, const char *path, REG_DONE, void *arg);
/** changed: it is there. */
void reg_exists(struct reg *r, const char *path, REG_DONE, void *arg);
/** Names of the children: of each status only `path` is filled, ask reg_stat for more. ERR_NOTFOUND. */
void reg_list(struct reg *r, const char *path, REG_DONE, void *arg);
/**
 * The children of a node that hold records, each with its status and record. Not recursive: what is below a child is neither
 * read nor shown.
 *
 * Passed over are children that hold no record or an invalid one (ERR_NORECORD, ERR_RECORD of reg_resolve) and those that
 * vanish before they were read; any other error of a child ends it. Names are asked for page by page, then children, a few at
 * a time: each is as it was when it was read, and timeout_ms is that of each of these requests, not of all together.
 *
 * Completion: found, in byte order of names (none is n_found = 0); revision: of the first page. ERR_NOTFOUND: the path. On an
 * error nothing is found.   Source: Hadoop RegistryUtils.listServiceRecords (statChildren and extractServiceRecords, one after
 * the other); there a child that vanishes ends it.
 */
void reg_list_records(struct reg *r, const char *path, REG_DONE, void *arg);

enum reg_delete_flags {
    REG_RECURSIVE = 1,  /* with all that is below it */
    REG_MUST_EXIST = 2, /* a missing path is ERR_NOTFOUND */
};
/**
 * Delete a node.
 *
 * @param flags  of reg_delete_flags; 0 and 1 are what false and true of Hadoop's `recursive` are
 * Completion: changed (something was deleted; a missing path is success without REG_MUST_EXIST), revision. ERR_NOTEMPTY: there
 * are children, and no REG_RECURSIVE; ERR_NOTFOUND: REG_MUST_EXIST, and there is no such node.
 * Source: Hadoop RegistryOperations.delete; must-exist: Hadoop's registry design.
 */
void reg_delete(struct reg *r, const char *path, unsigned flags, REG_DONE, void *arg);

/** What reg_find looks for; a NULL member is any, at least one is not. All must fit, exactly. */
struct reg_find {
    const char *api, *protocol; /* both of one endpoint, external or internal */
    const char *user;           /* element after /users/ */
    const char *service_class;  /* element after /users/U/services/ */
    const char *component;      /* yarn:component */
    const char *id;             /* yarn:id */
};
/**
 * All records that have these terms, answered from registryd's index.
 *
 * @param what  copied; the texts too
 * Completion: found, n_found. ERR_INVALID: no term. ERR_GONE: the registry was started anew between two pages, ask again.
 * Source: Hadoop's registry design, find; ours.
 */
void reg_find(struct reg *r, const struct reg_find *what, REG_DONE, void *arg);

enum reg_purge_policy {
    REG_PURGE_ALL,  /* a record that matches goes with all that is below it */
    REG_PURGE_FAIL, /* one with children ends the purge with ERR_NOTEMPTY; what was deleted before stays so */
    REG_PURGE_SKIP  /* one with children stays */
};
struct reg_purge {
    const char *id;          /* yarn:id */
    const char *persistence; /* yarn:persistence: "application", "application-attempt", "container" */
    const char *path;        /* where to begin, included; NULL: "/" */
    enum reg_purge_policy policy;
    bool dry_run; /* delete nothing, report what would be */
};
/**
 * Delete the records of what has ended. In a secure registry only system accounts may.
 *
 * @param what  copied; the texts too
 * Completion: found (paths), n_purged. ERR_INVALID (id or persistence missing or empty); ERR_NOTEMPTY; ERR_CONFLICT (a record
 * kept changing). After ERR_TIMEOUT registryd goes on with it.   Source: Hadoop RegistryAdminService.purge.
 */
void reg_purge(struct reg *r, const struct reg_purge *what, REG_DONE, void *arg);

/**
 * Make the home directory of a user where it is missing, with the ACL of a home. In a secure registry only system
 * accounts may. (Where it is: reg_home_path.)
 *
 * Completion: found (one path, or two where Hadoop's own rules differ), changed. ERR_INVALID (user NULL, or cannot be encoded).
 * Source: Hadoop RegistryAdminService.initUserRegistry.
 */
void reg_user_home(struct reg *r, const char *user, REG_DONE, void *arg);

/** Something that happened on the cluster. */
struct reg_event {
    const char *type; /* "container-finished", "application-completed": docs/registry-rest.md, Cleaning up */
    const char *id;   /* of the container, attempt or application; for "application-stored" the user */
};
/**
 * Report events to the registry, so that it removes the records of what has ended. In a secure registry only system accounts may.
 *
 * @param events  n of them, at most 10000; copied
 * Completion: n_purged. ERR_INVALID: no such event, or an id not of its kind; nothing was done. Any other error is that of
 * the first event that failed: the others were carried out, and all of them can be reported again.
 * Source: Hadoop RMRegistryOperationsService.
 */
void reg_report(struct reg *r, const struct reg_event *events, size_t n, REG_DONE, void *arg);

struct reg_locate {
    const char *path;
    /* the record must have an endpoint of this API with an address; NULL: any record will do */
    const char *api;
    int64_t give_up_ms; /* 0: 60000 */
    /* first pause between tries; pauses double up to 5 s, each drawn from its half to its whole; 0: 200 */
    int64_t pause_ms;
};
/**
 * Resolve a record that may come later: a container looks for its application master. Asks again and again, with jittered
 * pauses so that many who start together do not ask together, until the record is there, and reachable if an api is wanted.
 *
 * @param what  copied; the texts too
 * Completion: as reg_resolve, but ERR_TIMEOUT (why says what was missing last) where that would be ERR_NOTFOUND,
 * ERR_NORECORD or an unreachable service, when the next try would come after give_up_ms; ERR_UNAVAILABLE: no registry
 * could be asked.   Source: Hadoop, "Using the YARN Service Registry"; ours.
 */
void reg_locate(struct reg *r, const struct reg_locate *what, REG_DONE, void *arg);

/**
 * Let the holder of id:password write the nodes that this registry object makes from now on; duplicates accumulate. Existing
 * nodes and what this object itself may do stay as they are. Only the digest is sent.
 *
 * Completion: 0 (changed: the registry is secure, it has an effect); ERR_IO (not of the form, see reg_digest_id; nothing was
 * added); ERR_INVALID (an id with a comma or control character cannot be sent); errors of asking the registry (it is added).
 * Source: Hadoop RegistryOperations.addWriteAccessor.
 */
void reg_add_write_accessor(struct reg *r, const char *id, const char *password, REG_DONE, void *arg);
/** Forget what reg_add_write_accessor added; nodes made already keep it. Source: Hadoop clearWriteAccessors. */
void reg_clear_write_accessors(struct reg *r);

struct reg_options {
    const char *url;      /* "http://127.0.0.1:9192,http://…"; NULL: that default */
    const char *user;     /* user.name to send; NULL: reg_current_user() */
    const char *accessor; /* "id:password": write as the holder of a write accessor, too; NULL: not */
    /* key of the lease of an earlier registry object (reg_lease), to go on with it; NULL: a new one */
    const char *lease;
    int64_t timeout_ms; /* of one operation, retries included; 0: 10000 */
    /** Asked on the loop before an operation is sent again; false: it ends with ERR_UNAVAILABLE. NULL: it may be. */
    bool (*may_send)(void *arg);
    void *may_send_arg;
    /* of user, for a gateway such as Apache Knox: HTTP Basic with every request, to https URLs only. Watches are asked for 10 s at a
     * time, and resumed: a gateway does not notice that a client has left. A write that it answers with 500 is ERR_UNKNOWN_OUTCOME.
     * NULL: no gateway */
    const char *password;
    /* PEM file of the authorities that https servers are checked by; NULL: the system's */
    const char *ca_file;
    int64_t idle_ms; /* a watch that hears nothing for so long reconnects; 0: 15000 */
};
/** Whether a text may be the url of reg_options. @return 0; ERR_INVALID. Thread: any. */
int reg_check_url(const char *url, struct err_info *why);
/**
 * A registry to speak to; nothing is sent yet.
 *
 * @param loop     where everything runs                                            [borrowed]
 * @param options  copied; NULL: all defaults
 * @return 0 and *out, to be closed before the loop is freed; ERR_INVALID (URL, lease, password for http://); ERR_IO (accessor, see reg_digest_id).
 */
int reg_open(struct run_loop *loop, const struct reg_options *options, struct reg **out,
             struct err_info *why);
/** Operations still running complete with ERR_CANCELLED before this returns (do not start new ones then), watches end.
 *  Not inside a watch's callback. NULL is fine. */
void reg_close(struct reg *r);

/* ---- following ---- */

struct reg_watch;
/**
 * The notifications of a follower, in order. A snapshot is framed by reset and synced: build aside, publish at synced. After a
 * reconnect that could resume there is no reset, even when another server continues. Every notification is idempotent.
 */
struct reg_watch_ops {
    void (*reset)(void *arg);
    /** record: NULL when the node holds none. revision: of the change. */
    void (*put)(void *arg, const char *path, const struct reg_record *record, const char *revision);
    void (*deleted)(void *arg, const char *path, const char *revision);
    void (*synced)(void *arg, const char *revision);
    void (*progress)(void *arg, const char *revision); /* everything up to here was delivered */
    /** Connection lost (why) or back (NULL). It reconnects by itself: the other servers at once, all of them again after
     *  growing, jittered pauses up to 5 s. */
    void (*state)(void *arg, const struct err_info *why);
    /** The registry answers, but its store is away: what was delivered may be old (true); or the store is back (false).
     *  Called on a change, before the synced or progress it came with; the first state is false. */
    void (*stale)(void *arg, bool is_stale);
    /** Everything that has arrived so far was delivered; the progress of it may come with more changes, or later. */
    void (*drained)(void *arg);
    /** The registry answered that it does not do this (4xx, but for 408, 410, 425 and 429: no such revision text, not permitted,
     *  no registry at this address), as it would again. @return true: give up, no call comes after this one (reg_watch_stop frees
     *  the watch); false: reconnect as after any loss, with a call of state. NULL: false. With several servers the first refusal
     *  counts, as it does for an operation. */
    bool (*refused)(void *arg, const struct err_info *why);
    /** A connection was lost or a try to connect has failed: the server's URL, and why. Called each time, before state. */
    void (*failed)(void *arg, const char *url, const struct err_info *why);
};
/** URL of the server that is asked now, of those of reg_options.url: the one that answered last. Borrowed, valid until reg_close. */
const char *reg_server(const struct reg *r);
/**
 * Follow everything below path ("/" for all).
 *
 * @param since  resume after this revision, or NULL for a snapshot                [borrowed]
 * @param ops    callbacks; those that are NULL are left out. Outlives the watch.   [borrowed]
 * @return the watch, connecting by itself; NULL when path is no path.
 */
struct reg_watch *reg_watch_start(struct reg *r, const char *path, const char *since,
                                  const struct reg_watch_ops *ops, void *arg);
/** Stop; no call afterwards. NULL is fine. Before reg_close; a callback of the watch may stop it. */
void reg_watch_stop(struct reg_watch *w);

/* ---- a loop for programs that have none ---- */

/** A new loop; free with reg_loop_free. */
struct run_loop *reg_loop_new(void);
/** Run until reg_loop_stop. */
void reg_loop_run(struct run_loop *loop);
/** Make reg_loop_run return soon. Thread: the loop's. */
void reg_loop_stop(struct run_loop *loop);
/** Free, after everything that was opened on it was closed. */
void reg_loop_free(struct run_loop *loop);
/** The libuv loop inside, as uv_loop_t. */
struct uv_loop_s *reg_loop_uv(struct run_loop *loop);

/* ---- blocking form: runs its own loop inside; one thread at a time ---- */

struct reg_blocking;
/** As reg_open, with a loop of its own. @return 0 and *out; errors of reg_open. */
int reg_blocking_open(const struct reg_options *options, struct reg_blocking **out, struct err_info *why);
/** Close; NULL is fine. */
void reg_blocking_close(struct reg_blocking *b);
/** This and the calls below: the operation of the same name, @return its error, with *why (may be NULL); outputs are set on
 *  success only. made: may be NULL. A registry that is not open yet, or no more (b NULL), is ERR_WRONGSTATE. */
int reg_blocking_mknode(struct reg_blocking *b, const char *path, bool create_parents, bool *made,
                        struct err_info *why);
/** revision: room for REG_REVISION_MAX, or NULL. */
int reg_blocking_bind(struct reg_blocking *b, const char *path, const struct reg_record *record,
                      unsigned flags, char *revision, struct err_info *why);
/** revision: as reg_blocking_bind. */
int reg_blocking_bind_leased(struct reg_blocking *b, const char *path, const struct reg_record *record,
                             unsigned flags, int64_t ttl_ms, char *revision, struct err_info *why);
/** *gone: new NULL-terminated array of the paths of `found`, free with reg_path_split_free; may be NULL. ttl_ms: may be NULL. The
 *  program calls it in time: nothing is renewed between two calls. */
int reg_blocking_keep_alive(struct reg_blocking *b, char ***gone, int64_t *ttl_ms, struct err_info *why);
/** As reg_lease. NULL when the registry is not open. */
const char *reg_blocking_lease(const struct reg_blocking *b);
/** secure: may be NULL; the registry is secure, it has an effect. */
int reg_blocking_add_write_accessor(struct reg_blocking *b, const char *id, const char *password,
                                    bool *secure, struct err_info *why);
/** As reg_clear_write_accessors. */
void reg_blocking_clear_write_accessors(struct reg_blocking *b);
/** *out: new record, free with reg_record_free. */
int reg_blocking_resolve(struct reg_blocking *b, const char *path, struct reg_record **out,
                         struct err_info *why);
/** *out: as of reg_blocking_resolve. */
int reg_blocking_locate(struct reg_blocking *b, const struct reg_locate *what, struct reg_record **out,
                        struct err_info *why);
/** *found: new list of n, free with reg_found_free. */
int reg_blocking_find(struct reg_blocking *b, const struct reg_find *what, struct reg_found **found,
                      size_t *n, struct err_info *why);
/** *found: as of reg_blocking_find. */
int reg_blocking_list_records(struct reg_blocking *b, const char *path, struct reg_found **found, size_t *n,
                              struct err_info *why);
/** *found: paths of what was deleted, as of reg_blocking_find. */
int reg_blocking_purge(struct reg_blocking *b, const struct reg_purge *what, struct reg_found **found,
                       size_t *n, struct err_info *why);
/** *homes: new NULL-terminated array, free with reg_path_split_free. made: may be NULL. */
int reg_blocking_user_home(struct reg_blocking *b, const char *user, char ***homes, bool *made,
                           struct err_info *why);
/** n_purged: may be NULL. */
int reg_blocking_report(struct reg_blocking *b, const struct reg_event *events, size_t n, int64_t *n_purged,
                        struct err_info *why);
/** Free a list of the calls above; NULL is fine. */
void reg_found_free(struct reg_found *found, size_t n);
/** *out: filled; free out->path. */
int reg_blocking_stat(struct reg_blocking *b, const char *path, struct reg_status *out, struct err_info *why);
/** *out: it is there. */
int reg_blocking_exists(struct reg_blocking *b, const char *path, bool *out, struct err_info *why);
/** *names: new NULL-terminated array, free with reg_path_split_free. */
int reg_blocking_list(struct reg_blocking *b, const char *path, char ***names, struct err_info *why);
/** flags: of reg_delete_flags. revision: as reg_blocking_bind; "" when unknown. */
int reg_blocking_delete(struct reg_blocking *b, const char *path, unsigned flags, char *revision,
                        struct err_info *why);

struct reg_follow {
    const char *path;  /* everything below it; "/" for all */
    const char *since; /* as of reg_watch_start */
    int64_t for_ms;    /* give back after so long; 0: not before reg_blocking_stop */
};
/**
 * Follow in this thread: the callbacks run inside, until one of them calls reg_blocking_stop, or for_ms is over. Other calls
 * with b are ERR_WRONGSTATE in a callback. A registry that is lost is tried again and again (with calls of state); one that
 * refuses ends it (ops->refused is not called).
 *
 * @param what, ops  borrowed until this returns
 * @return 0: stopped; ERR_TIMEOUT: the time is over, and the registry was heard; ERR_UNAVAILABLE: it is over, and none is heard;
 *         ERR_INVALID (no path, since), ERR_PATH, ERR_WRONGSTATE: nothing was asked; or the registry's own refusal, as
 *         ERR_PARSE (since), ERR_PERMISSION, ERR_NOROUTE, with its words.
 */
int reg_blocking_watch(struct reg_blocking *b, const struct reg_follow *what, const struct reg_watch_ops *ops,
                       void *arg, struct err_info *why);
/** In a callback of reg_blocking_watch: no callback comes after this one, and the watch returns 0. Else nothing. NULL is fine. */
void reg_blocking_stop(struct reg_blocking *b);

#endif
