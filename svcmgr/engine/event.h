/**
 * What happens to the engine: requests of faces, reports of the cluster, answers of the registry, timers.
 *
 * Thread: any; the texts of an event are borrowed for the call.   Source: design 5.
 */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/objects.h"

/* clang-format off */
#define ENG_EVENTS(X) \
    /* requests of a face: token is echoed in exactly one ANSWER */ \
    X(EV_CREATE)       /* service_kind, user, take_spec (completed), take_rules, save, value: the request */ \
    X(EV_FLEX)         /* user, name, flex[n_flex] */ \
    X(EV_STOP)         /* user, name */ \
    X(EV_START)        /* user, name */ \
    X(EV_DESTROY)      /* user, name, save: answered as soon as that it goes is stored, not when it has gone */ \
    X(EV_LIFETIME)     /* user, name, lifetime_s > 0 */ \
    X(EV_PROGRESS)     /* user, name, progress_ppm: how far it has come, until another one says it */ \
    X(EV_DECOMMISSION) /* user, name, names[n_names]: instance names; value: the request as it is then, or NULL */ \
    X(EV_EXCLUDE)      /* user, name, host, excluded: whether the service may use a node; what it has there moves */ \
    X(EV_UPGRADE)      /* user, name, take_spec (completed), mode, auto_revert: begin an upgrade to that definition */ \
    X(EV_MOVE)         /* user, name, names[n_names], are_components: upgrade these instances, or all of these components */ \
    X(EV_FINALIZE)     /* user, name: a manual upgrade ends if all instances are moved and ready; else nothing happens */ \
    X(EV_CANCEL_UPGRADE) /* user, name: go back to the definition before */ \
    X(EV_REPLACE)      /* user, name, names[n_names]: these instances get another container each */ \
    X(EV_ROLL)         /* user, name, names[n_names], value: these instances get other containers, one after the other; its text is kept */ \
    X(EV_RESTART)      /* user, name, names[n_names]: the processes of these instances are replaced, in their containers */ \
    /* user, name, take_spec (completed), take_rules: by the policy components come and go, or everything starts anew. Where */ \
    /* definitions are put (eng_policy.is_put) an unknown name is made; value: the request; save: it is wanted to be stopped */ \
    X(EV_REDEFINE) \
    /* user, name, names[n_names]: containers whose instances get others, as their policy judges it; value: what was asked; */ \
    /* NULL: these requests are deleted. What is not there is forgotten when the service runs */ \
    X(EV_MIGRATE) \
    X(EV_DOCUMENT)     /* name, value: set a document of the cluster, see ENG_CLUSTER_DOCUMENTS; NULL: delete it */ \
    /* containers: container_id; unknown ones that are alive are released */ \
    X(EV_ALLOCATED)    /* user, name, container_id, host, node_http, ip and node_ip if they are known already, gpus; allocation_id where the cluster names containers itself, else 0 */ \
    X(EV_WAITING)      /* container_id: its REQUEST, LAUNCH or recovery waits; text says for what; wait, lacking: for which kind, of which name */ \
    X(EV_ADDRESS)      /* container_id, ip: another program has it, the REQUEST or LAUNCH is over; an older ip is ignored */ \
    X(EV_LAUNCHED)     /* container_id, attempt: the node took the launch; the address follows */ \
    X(EV_RUNNING)      /* container_id, attempt, ip, host: the process runs (LAUNCHED is not required) */ \
    X(EV_EXITED)       /* container_id, attempt (0: container ended), exit of any cause. Exits of an older attempt are ignored */ \
    X(EV_LOST)         /* container_id: container or node vanished, or a STOP or LAUNCH found none; text */ \
    X(EV_PROBE)        /* container_id, attempt, ready, text */ \
    /* applications: service_kind, user, name, incarnation. Those of an earlier incarnation are ignored */ \
    X(EV_SUBMITTED)    /* application_id (NULL: ours); or code: ERR_*, text: it was refused */ \
    X(EV_RESYNC)       /* service_kind, user, name: the cluster may have lost what was asked of it for this service */ \
    X(EV_APP_ENDED)    /* exit: it has ended in the cluster, or there is none; CAUSE_STOPPED: somebody ended it there; was_unserved */ \
    X(EV_APP_WAITS)    /* text: why it does not run yet, in the cluster's words; NULL: it runs */ \
    /* key, text: a document that others write is this, or gone (NULL): what runs elsewhere; of a master what is wanted. See away.c */ \
    X(EV_FOLLOWED) \
    X(EV_RECORD)       /* ticket, code: 0 or ERR_*; one for every ticket, in bounded time but for ENDED */ \
    X(EV_SYNCED)       /* container_id, code, text: every DNS server answers without its record, or why that is not certain */ \
    X(EV_FETCHED)      /* user, name, code, text: what the operation's target needs is there, or why not */ \
    X(EV_REGISTRY)     /* the registry is heard again, or is another one: it is asked once more for what it has refused */ \
    X(EV_TIMER)        /* user, name: the time of the service's last TIMER effect has come */ \
    X(EV_NODE)         /* node: the cluster has it, or its state has changed. All of them come before EV_RESUME */ \
    /* start-up */ \
    X(EV_RECOVERED)    /* container_id, attempt (EXITED, 0: container ended), found, node_http if it is known; EXITED: exit; RUNNING: ip, host */ \
    X(EV_RESUME)       /* all documents loaded, all containers reported; with late_reports others may follow */
/* clang-format on */

#define ENG_EVENT_ROW(token) token,
enum eng_event_kind { ENG_EVENTS(ENG_EVENT_ROW) };
#undef ENG_EVENT_ROW
/** Token of an event kind, as "EV_CREATE". Static. Thread: any. */
const char *eng_event_word(enum eng_event_kind kind);

/* clang-format off */
/** Documents that are of no service, with the word that names them in events and keys. */
#define ENG_CLUSTER_DOCUMENTS(X) \
    X(DOC_CLUSTER_CONFIGURATION, "cluster-configuration") /* of the FrameworkLauncher API: nodes and their types of GPU */ \
    X(DOC_ACL_CONFIGURATION, "acl-configuration")         /* who may change whose frameworks */ \
    X(DOC_DATA_DEPLOYMENT, "data-deployment-version")     /* launching and launched */
/* clang-format on */

#define ENG_DOCUMENT_ROW(token, word) token,
enum eng_cluster_document { ENG_CLUSTER_DOCUMENTS(ENG_DOCUMENT_ROW) };
#undef ENG_DOCUMENT_ROW
/** Its word, for eng_event.name. Static. Thread: any. */
const char *eng_cluster_document_word(enum eng_cluster_document document);

/** UNKNOWN: it may run or have ended. The instance is RECOVERING, if its process was seen to run, and nothing takes its place;
 *  another EV_RECOVERED follows, also after EV_RESUME. */
enum eng_found { FOUND_RUNNING, FOUND_EXITED, FOUND_GONE, FOUND_UNKNOWN };

struct eng_flex {
    const char *component;
    int64_t count; /* wanted number, or the change */
    bool relative;
};

/** When an event happens; see the top. */
struct eng_time {
    int64_t now_ms;  /* engine time, > 0 */
    int64_t wall_ms; /* time of day: ms since the epoch */
    uint64_t random; /* any number, for pauses that must not be the same everywhere */
};

/** One event. Everything is borrowed for the call, except take_spec. Members a kind does not name are zero. */
struct eng_event {
    enum eng_event_kind kind;
    uint64_t token;
    enum eng_kind service_kind; /* with user and name: which service */
    const char *user, *name;
    struct spec_service *take_spec; /* the engine owns it, whatever the outcome */
    struct eng_rules *take_rules;   /* likewise; NULL: those by default */
    bool save, auto_revert, are_components;
    enum eng_mode mode;
    const struct eng_flex *flex;
    size_t n_flex;
    const char *const *names;
    size_t n_names;
    int64_t lifetime_s;
    int64_t progress_ppm; /* 0 … ENG_PROGRESS_ALL */
    int64_t incarnation;
    const char *application_id;
    const char *container_id;
    int64_t allocation_id;
    int64_t attempt;
    const char *ip, *host;
    const char *node_ip;   /* address of the node, which the container of a task has */
    const char *node_http; /* "host:port" of the pages of its node */
    int64_t gpus;          /* a bit for each GPU of the node that the container has */
    const json_t *value;   /* nobody changes it any more */
    bool excluded;
    const struct eng_node *node; /* its host is not NULL */
    struct eng_exit exit;
    bool was_unserved; /* its master never ran, as nobody served its files while its manager was away */
    enum eng_found found;
    bool ready;
    int64_t ticket;
    int code;
    const char *text;
    const char *key;
    enum eng_wait wait; /* WAIT_NONE: by the state of the instance */
    const char *lacking;
};

#endif
