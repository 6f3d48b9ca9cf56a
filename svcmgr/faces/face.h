/**
 * Interface of the REST APIs (services, launcher, slider) to the app. The app implements `struct app_ops` and makes a
 * `struct face` the app pointer of its HTTP server; each API has its route table (services_routes.h).
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_FACE_H
#define FACES_FACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/obj.h"
#include "engine/engine.h"
#include "spec/spec.h"

/** A record that the registry has not taken yet, or of which it has not taken the last change. */
struct face_wait {
    int64_t since_ms;   /* wall clock */
    const char *reason; /* borrowed until the loop's next turn */
    bool is_refused;    /* the reason is the registry's refusal, which the service's diagnostics have too */
};

struct eng_plan;
struct http_req;
struct waits;
struct launcher_site;
struct slider_site;

/** What a container uses now. */
struct face_usage {
    bool is_known; /* else it runs nothing */
    int64_t cpu_ms, memory_bytes, n_processes;
};

/** What the cluster has left for containers. */
struct face_room {
    bool is_known;
    int64_t memory_mb, vcores;
    int64_t max_memory_mb, max_vcores; /* of one container, on an empty cluster; 0: not known */
};

/** A command to be executed in a container, and who asks for it. All borrowed. */
struct face_exec {
    const char *user, *service, *instance, *container_id;
    const char *const *words; /* n_words of them; none: a shell */
    size_t n_words;
    bool has_terminal;
    int64_t rows, columns;
    const char *term;  /* NULL: not known */
    int fd;            /* of the client, see cluster_exec */
    const char *early; /* early_len octets that came by it already */
    size_t early_len;
};

/** A command that is executed. */
struct face_session;

/** A file that a container elsewhere has written, from a byte on. All borrowed. */
struct face_log {
    const char *user, *application_id;
    bool is_master; /* of the application master, wherever that is */
    const char *container_id, *node_http;
    const char *file; /* a plain name */
    int64_t offset;
};

/** What there is of it. All borrowed. */
struct face_log_piece {
    const char *container_id;
    int64_t size; /* of the file; 0: there is none yet */
    const struct buf *text;
};

struct app_ops {
    /**
     * Hand a request event to the engine.
     *
     * @param ev        event; the app sets its token; take_spec is consumed         [borrowed]
     * @param answered  called exactly once, later or at once, when the answer is due (its persist is durable); when the
     *                  app stops before: OUT_CANCELLED; when the state cannot be written: OUT_STORE_FAILED.
     *                  The answer is borrowed for the call.
     */
    void (*submit)(void *app, struct eng_event *ev,
                   void (*answered)(void *arg, const struct eng_answer *answer), void *arg);
    /**
     * Find out what a request event would do, and do nothing: engine/plan.h.
     *
     * @param ev    as for submit                                                  [borrowed]
     * @param done  called exactly once, later or at once, with the plan, borrowed for the call; or plan NULL, code
     *              ERR_UNAVAILABLE: the service changes all the time, or too many plans are made; ERR_CANCELLED: the app stops
     */
    void (*plan)(void *app, struct eng_event *ev,
                 void (*done)(void *arg, const struct eng_plan *plan, int code), void *arg);
    /** The engine, to read. */
    const struct engine *(*engine)(void *app);
    /** Engine time: the clock of struct eng_time.now_ms. */
    int64_t (*now_ms)(void *app);
    /** Whether services may be upgraded; NULL: not. */
    bool (*may_upgrade)(void *app);
    /** dialect, dns_enabled, secure, local and limits; path_exists, find_service and arg of it are the face's. */
    const struct spec_world *(*world)(void *app);
    /** See cluster_look: which files of the host are there for the containers of an owner. */
    void (*look)(void *app, const char *owner, const char *const *paths, size_t n,
                 void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg);
    /** Log that members of a document were ignored, as no definition knows them; service NULL: it has no name. */
    void (*note_unknown)(void *app, const char *user, const char *service, const char *members);
    /** Directory of a container's output on this host, also of one that has ended, for as long as it is kept. free(); or NULL */
    char *(*log_dir)(void *app, const char *container_id);
    /** Last container of an instance of an application that has logs, also of an instance that is gone. free(); or NULL */
    char *(*last_container)(void *app, const char *application_id, const char *instance);
    /** See cluster_is_of. */
    bool (*is_of)(void *app, const char *application_id, const char *owner, const char *service);
    /** Application of a container by its id. free(); NULL: no such id. */
    char *(*application_of)(void *app, const char *container_id);
    /**
     * Read a piece of a container's output where it is kept elsewhere; at most LOGS_PIECE bytes.
     * @param done  called once, later or at once, within seconds; piece NULL: *why says why: ERR_NOTFOUND: it is not kept any more, or no such
     *              file; ERR_UNAVAILABLE; ERR_CANCELLED: the app stops. Borrowed for the call.
     */
    void (*node_log)(void *app, const struct face_log *what,
                     void (*done)(void *arg, const struct face_log_piece *piece, const struct err_info *why),
                     void *arg);
    /**
     * Ask who runs a service why it is not as wanted. NULL: every service is run here.
     * @param done  called once, later, within seconds: the list of services_view_explain; NULL: *why says why. Borrowed for the call.
     * @return false: the service is run here, or nobody who runs it is known; done is not called
     */
    bool (*explain)(void *app, const struct eng_service *s,
                    void (*done)(void *arg, const json_t *list, const struct err_info *why), void *arg);
    /** What the cluster has left now. NULL: that is not known. */
    struct face_room (*room)(void *app);
    /**
     * Have who runs a service answer a request about what runs. NULL: every service is run here.
     * @param req  of a handler, not answered                                         [in,out]
     * @return true: it is answered, now or later; false: the service is run here, or nobody who runs it is known
     */
    bool (*forward)(void *app, struct http_req *req, const struct eng_service *s);
    /**
     * Learn the nodes of the cluster where the engine is not reported all of them. NULL: it is.
     * @param done  called once, now or later, within seconds, also when they are not learned; NULL: nobody waits
     */
    void (*know_nodes)(void *app, void (*done)(void *arg), void *arg);
    /** Those that were learned: host -> struct eng_node. Borrowed until the loop's next turn; NULL: none, the engine's count. */
    const struct map *(*nodes)(void *app);
    /** Whether a user may see the services of others. */
    bool (*administers)(void *app, const char *user);
    /** Whether the registry is away, so that any record may wait to be published. */
    bool (*registry_is_away)(void *app);
    /** See cluster_signal. */
    int (*signal)(void *app, const char *container_id, int signal, struct err_info *why);
    /** Why it is not known what containers use, though they run processes: a clause, static. NULL: usage says it. The op may be NULL, too. */
    const char *(*no_usage)(void *app);
    /** See cluster_usage. */
    void (*usage)(void *app, const char *const *ids, size_t n,
                  void (*done)(void *arg, const struct face_usage *usage), void *arg);
    /** Whether a command could be executed in a container now. @return 0; or as exec */
    int (*exec_check)(void *app, const char *container_id, struct err_info *why);
    /**
     * Execute a command, see cluster_exec.
     * @param done  called once, later, unless exec_end was: it has ended, and what it wrote was sent
     * @param out   valid until done                                                [out]
     * @return 0; as cluster_exec; ERR_LIMIT: too many are executed; ERR_UNSUPPORTED: none may be. *why is filled.
     */
    int (*exec)(void *app, const struct face_exec *what, void (*done)(void *arg), void *arg,
                struct face_session **out, struct err_info *why);
    /** End it; done is not called any more. */
    void (*exec_end)(void *app, struct face_session *take_session);
    /**
     * Read a node of the registry as Slider shows it.
     * @param path  raw elements separated by '/'; "" the root                      [borrowed]
     * @param user  who asks; NULL: nobody is named                                 [borrowed]
     * @param done  called once, later or at once, within seconds: {"nodes", "service"}, borrowed for the call; doc NULL: *why
     *              says why: ERR_NOTFOUND, ERR_PERMISSION, ERR_PATH, ERR_UNAVAILABLE
     */
    void (*registry_node)(void *app, const char *path, const char *user,
                          void (*done)(void *arg, const json_t *doc, const struct err_info *why), void *arg);
    /** Whether the record at a path of the registry waits to be published; out is filled when it does. */
    bool (*record_waits)(void *app, const char *path, struct face_wait *out);
};

#define FACE_MAGIC OBJ_MAGIC('F', 'A', 'C', 'E')

/** First member `obj` initialised with FACE_MAGIC; `app` is handed to every op. */
struct face {
    struct obj obj;
    const struct app_ops *ops;
    void *app;
    struct waits *waits;                  /* requests that wait: waits.h */
    const struct launcher_site *launcher; /* of the FrameworkLauncher API: launcher/site.h */
    const struct slider_site *slider;     /* of the Slider API: slider/site.h */
};

#endif
