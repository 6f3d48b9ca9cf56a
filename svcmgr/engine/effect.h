/**
 * What the engine wants done: documents written, containers and processes, records, answers.
 *
 * Thread: any; an effect owns all it points to.   Source: design 5.
 */
#ifndef ENGINE_EFFECT_H
#define ENGINE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/objects.h"
#include "spec/needs.h"

/* clang-format off */
#define ENG_EFFECTS(X) \
    X(EFF_PERSIST)     /* key, bytes (NULL: delete the document), len */ \
    X(EFF_REQUEST)     /* container_id, request: a container of this size. Answer: EV_ALLOCATED or EV_WAITING */ \
    /* container_id, request with what is still wanted: this one is not needed, nor a container it was granted; no answer */ \
    X(EFF_CANCEL_REQUEST) \
    X(EFF_RELEASE)     /* container_id: give a container back that has no process; no answer. Its directory may go */ \
    X(EFF_LAUNCH)      /* container_id, launch: start the process. Answer: EV_RUNNING, or EV_EXITED with CAUSE_LAUNCH */ \
    X(EFF_STOP)        /* container_id, force: end process and container. Answer: EV_EXITED or EV_LOST, attempt 0 */ \
    X(EFF_PROBE_START) /* container_id, probe */ \
    X(EFF_PROBE_STOP)  /* container_id */ \
    X(EFF_EXCLUDE)     /* application (id), text, excluded: none of its containers may be placed on node `text`, or may again; no answer */ \
    /* where the cluster takes applications (engine_config.submits) */ \
    X(EFF_SUBMIT)      /* application: once more is no second one. Answer: EV_SUBMITTED */ \
    X(EFF_FINISH)      /* application: end it; there may be none, or it may not be known yet. Answer: EV_APP_ENDED */ \
    X(EFF_SET_LIFETIME) /* application: id, lifetime_s from now; no answer */ \
    /* record effects of one service are carried out in their order */ \
    X(EFF_PUBLISH)     /* path, record, ticket: create parents, write with overwrite */ \
    X(EFF_UNPUBLISH)   /* path, ticket: delete one record; no such path is success */ \
    X(EFF_PURGE)       /* path, ticket: delete path and all below; no such path is success */ \
    X(EFF_ENDED)       /* path, text, ticket: report to the registry that the container or application `text` has ended */ \
    X(EFF_REINIT)      /* container_id, launch: end the process, then as LAUNCH. No event about the process before */ \
    X(EFF_FETCH)       /* paths: look whether the user of the service may read these files. Answer: EV_FETCHED */ \
    X(EFF_SYNC)        /* container_id: its record is gone. Answer, in bounded time: EV_SYNCED */ \
    X(EFF_ANSWER)      /* answer */ \
    X(EFF_TIMER)       /* at_ms: send EV_TIMER at this engine time; replaces the service's earlier one; 0: none */ \
    X(EFF_NOTE)        /* text: a line for the log */
/* clang-format on */

#define ENG_EFFECT_ROW(token) token,
enum eng_effect_kind { ENG_EFFECTS(ENG_EFFECT_ROW) };
#undef ENG_EFFECT_ROW
/** Token of an effect kind, as "EFF_PERSIST". Static. Thread: any. */
const char *eng_effect_word(enum eng_effect_kind kind);

/** What is asked of the cluster. */
struct eng_request {
    /* for clusters that name containers themselves: of the key (priority, allocation_id) n_wanted containers are wanted now, whatever was
     * asked before; a lower priority comes first. allocation_id 0: container_id is held, it is asked for once more after a restart */
    int64_t priority, allocation_id, n_wanted;
    int64_t memory_mb, vcores;
    char *queue; /* of the service, else the default one; for clusters that have queues */
    char *label; /* host label, or NULL */
    char *host;  /* the only node it may be on; NULL: any */
    char *ip;    /* address kept for this instance, or NULL: the cluster's own */
    char *component, *instance;
    struct spec_needs *needs; /* resources beside those above, constraints of the component; NULL: none */
};

/** What is submitted to a cluster. */
struct eng_application {
    char *id;            /* ours: a cluster that names applications answers with its own */
    int64_t incarnation; /* echoed in events */
    char *queue;
    int64_t lifetime_s;               /* 0: none */
    enum eng_service_state end_state; /* FINISH: SUCCEEDED, FAILED or STOPPED */
    char *diagnostics;                /* FINISH: why; NULL: nothing to say */
};

enum eng_file_mode {
    FILE_BYTES,  /* write bytes                                                     */
    FILE_COPY,   /* copy of src                                                     */
    FILE_EXPAND, /* text of src through spec_expand(text, values)                    */
    FILE_UNPACK, /* unpack the archive src                                          */
    FILE_SOURCE  /* src is a file, a directory, or, by its name, an archive         */
};

struct eng_file {
    char *name; /* relative to the working directory: "conf/x", "x" */
    enum eng_file_mode mode;
    char *bytes;
    size_t len;
    char *src;
    /* FILE_EXPAND: src is of its type, and its properties come over it; NULL: src is a text */
    struct spec_file *config;
    char *mount; /* absolute path in the image where it is mounted, too; NULL: nowhere */
};

/** An image that the command is run in. */
struct eng_image {
    char *id;       /* "nginx:latest" */
    char *hostname; /* the instance's name in DNS */
    char *network;  /* docker.network; NULL: the cluster's default */
    bool is_privileged;
};

/** A process start. env order matters: later ones win. In command and env values the launcher expands `<LOG_DIR>`. */
struct eng_launch {
    char *instance, *component, *app_id;
    char *run_as;    /* user of the service */
    int64_t attempt; /* echoed in events */
    char *command; /* for a shell, already with redirection to <LOG_DIR>/stdout.txt, stderr.txt; NULL: none */
    bool is_task;  /* command is the entry point of a task: it stays as it is, and is not redirected */
    struct eng_env {
        char *name, *value;
    } * env;
    size_t n_env;
    struct eng_file *files;
    size_t n_files;
    json_t *values; /* placeholders for FILE_EXPAND */
    int64_t memory_mb, vcores;
    char *ip;                /* CONTAINER_IP, or NULL */
    struct eng_image *image; /* NULL: the command is run on the host */
    size_t left;             /* of SPEC_EXPANDED_MAX */
    /* why nothing can be started: the texts have more; NULL: they have not. Else some are missing */
    char *too_large;
};

/** A readiness probe. All texts are final. The first result and every change of it are reported (EV_PROBE). */
struct eng_probe {
    enum spec_check type;
    int64_t attempt;
    char *ip;          /* of the container */
    char *dns_name;    /* instance name in DNS, to be resolved before; NULL: no DNS check */
    char *dns_address; /* "ip:port", or NULL: system resolver */
    char *url;         /* HTTP: ${THIS_HOST} replaced */
    int64_t port;      /* PORT */
    int64_t timeout_ms, min_success, max_success;
    int64_t interval_ms; /* at most between two probes; until the first success 0, 50, 100, 200 … up to it */
};

/** A registry record. NULL members are not written. */
struct eng_record {
    struct eng_port {
        char *name;
        int64_t port;
    } * ports; /* endpoints at ip */
    size_t n_ports;
    char *url; /* of an API that its owner serves; NULL: none */
    /* "http://host:9191/proxy/application_1_0001/" below which is the Slider API of a service; NULL: that is none of it */
    char *slider_root;
    char *description, *yarn_id, *persistence, *ip, *hostname, *component;
    bool is_unready;    /* a container whose readiness probe does not succeed */
    json_t *attributes; /* name → text, beside ours; NULL: none */
};

/** Outcomes of requests; the face turns them into status and words. */
/* clang-format off */
#define ENG_OUTCOMES(X) \
    X(OUT_LAUNCHED)         /* app_id */ \
    X(OUT_SAVED)            /* version */ \
    X(OUT_FLEXED)           /* component, n_old, n_new (of the last one) */ \
    X(OUT_STOPPED)          /* */ \
    X(OUT_STARTED)          /* app_id */ \
    X(OUT_DESTROYED)        /* */ \
    X(OUT_LIFETIME_SET)     /* at_ms (time of day, to be shown), n_new seconds */ \
    X(OUT_PROGRESS_SET)     /* n_new: ppm */ \
    X(OUT_DECOMMISSIONED)   /* */ \
    X(OUT_EXCLUDED)         /* host */ \
    X(OUT_DOCUMENT_SET)     /* name */ \
    X(OUT_UPGRADING)        /* upgrade: version */ \
    X(OUT_MOVING)           /* move: n_new names; component: those of components, or the containers of instances, with ',' */ \
    X(OUT_FINALIZED)        /* version */ \
    X(OUT_NOT_MOVED)        /* finalize: n_new instances are not moved, or not ready; the upgrade goes on */ \
    X(OUT_CANCELLING)       /* cancel of an upgrade */ \
    X(OUT_REPLACING)        /* */ \
    X(OUT_ROLLING)          /* n_new instances */ \
    X(OUT_RESTARTING)       /* component: the last of the instances */ \
    X(OUT_REDEFINED)        /* */ \
    X(OUT_RECORDED)         /* stop, start: kept as what is wanted, and nothing follows: only another version starts again */ \
    X(OUT_MIGRATING)        /* n_new requests */ \
    X(OUT_TOO_MANY_MIGRATIONS) /* n_old: most that may wait */ \
    X(OUT_LACKS_COMPONENT)  /* redefine: component, which only another version may leave out */ \
    X(OUT_SAME_VERSION)     /* upgrade: version is what runs already */ \
    X(OUT_NEVER_RESTARTED)  /* upgrade: every component has the restart policy NEVER */ \
    X(OUT_NOT_STABLE)       /* upgrade: state */ \
    X(OUT_NOT_UPGRADABLE)   /* upgrade: version, reason: "changes to queue not supported by upgrade" */ \
    X(OUT_NOT_UPGRADING)    /* cancel, finalize, move */ \
    X(OUT_NO_NEED)          /* move: component: the instance or component that needs no upgrade */ \
    X(OUT_IS_UPGRADING)     /* flex, redefine: state */ \
    X(OUT_TAKEN)            /* create, redefine: the name is in use; user: whose it is, where names are of all users together */ \
    X(OUT_HOME_TAKEN)       /* create, start: user, who has services in the same registry directory */ \
    X(OUT_NOT_FOUND)        /* no such service */ \
    X(OUT_NO_COMPONENT)     /* component */ \
    X(OUT_NO_INSTANCE)      /* component: the instance name */ \
    X(OUT_BAD_COUNT)        /* component, n_new: result would be negative */ \
    X(OUT_TOO_MANY)         /* component, n_new: result; n_old: most allowed */ \
    X(OUT_ALREADY_STOPPED) \
    X(OUT_ALREADY_LIVE)     /* start while live */ \
    X(OUT_NEEDS_VERSION)    /* start: what has ended starts again only with another version */ \
    X(OUT_NOT_RUNNING)      /* state */ \
    X(OUT_NOT_SUBMITTED)    /* saved, never launched */ \
    X(OUT_PURGE_FAILED)     /* destroy: registry clean-up failed, it is retried */ \
    X(OUT_QUOTA)            /* create, start, flex: quota, n_old: its limit; n_new: what would be wanted together */ \
    X(OUT_NO_PARENT)        /* create: name, parent, which is not there and with which it would be destroyed */ \
    X(OUT_PARENT_STOPPED)   /* start: parent, with which it is stopped */ \
    X(OUT_STILL_RUNNING)    /* destroy: its containers have not ended yet, it continues */ \
    X(OUT_NO_NODE)          /* exclude: host, that the cluster does not have */ \
    X(OUT_TOO_MANY_NODES)   /* exclude: host, n_old: most nodes of which one service remembers something */ \
    /* never made by the engine, but by the app: */ \
    X(OUT_CANCELLED)        /* it is stopping */ \
    X(OUT_STORE_FAILED)     /* reason: what the store says; it was not written, the request was taken back */ \
    X(OUT_TOO_LARGE)        /* reason: the state is larger than may be stored; the request was taken back */ \
    X(OUT_NOT_STORABLE)     /* reason: the state can never be written; the request was taken back */ \
    X(OUT_UNKNOWN)          /* the store did not say what became of the write */ \
    X(OUT_BUSY)             /* too much waits for the store; nothing was done */
/* clang-format on */

#define ENG_OUTCOME_ROW(token) token,
enum eng_outcome { ENG_OUTCOMES(ENG_OUTCOME_ROW) };
#undef ENG_OUTCOME_ROW
/** Token of an outcome, as "OUT_LAUNCHED". Static. Thread: any. */
const char *eng_outcome_word(enum eng_outcome outcome);

struct eng_answer {
    uint64_t token;
    enum eng_outcome outcome;
    enum eng_service_state state; /* of the service, when there is one */
    char *name, *app_id, *version, *component, *user, *host, *parent, *quota;
    char *reason; /* NOT_UPGRADABLE; else set by the app: why the store did not take the write */
    int64_t n_old, n_new;
    int64_t at_ms;
};

/** One effect. It owns all it points to (eng_effect_fini); members a kind does not name are zero. */
struct eng_effect {
    enum eng_effect_kind kind;
    enum eng_kind service_kind;
    char *user, *name; /* service it belongs to; NULL for the engine document and unknown containers */
    /* PERSIST: see document.h */
    char *key;
    char *bytes;
    size_t len;
    char *container_id;
    bool force;
    bool excluded;
    char *path; /* absolute registry path, "/users/…" */
    int64_t ticket;
    int64_t at_ms;
    char *text;
    struct eng_request *request;
    struct eng_application *application;
    struct eng_launch *launch;
    struct eng_probe *probe;
    struct eng_record *record;
    struct eng_answer *answer;
    char **paths; /* FETCH: n_paths of them */
    size_t n_paths;
};

/** Effects in order. Start as {0}; release what is left with eng_effects_fini. */
struct eng_effects {
    struct eng_effect *items;
    size_t n, cap;
};

/** Release what an effect owns; the effect is zeroed. Thread: any. */
void eng_effect_fini(struct eng_effect *e);
/** Append all effects of `from` to `to`; `from` is empty and usable again. Thread: any. */
void eng_effects_move(struct eng_effects *from, struct eng_effects *to);
/** Release all effects and the list; it is empty and usable again. Thread: any. */
void eng_effects_fini(struct eng_effects *list);

#endif
