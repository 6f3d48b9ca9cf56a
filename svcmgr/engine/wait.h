/**
 * Why a service, a component or an instance is not further: one reason of a table, with its parameters.
 *
 * What a program needs is the reason; what a person reads is made of the reason's sentence and the parameters.
 *
 * Thread: any; one object one thread.   Source: design 5; the reasons: ours.
 */
#ifndef ENGINE_WAIT_H
#define ENGINE_WAIT_H

#include <stdint.h>

/* clang-format off */
/** Token, word, sentence, remedy: what would end the wait. In a sentence and a remedy {name}, {text}, {n} and {of} stand for the parameters. */
#define ENG_WAITS(X) \
    X(WAIT_NONE, "none", "", \
      "") \
    /* of a service */ \
    X(WAIT_SERVICE, "service", "dependency: service {name} is {text}", \
      "start service {name}, or remove it from dependencies") \
    X(WAIT_SUBMISSION, "submission", "submission: the cluster has not taken the application yet", \
      "nothing to do; if it lasts, look at the resource manager and its queue") \
    X(WAIT_APPLICATION, "application", "application: {text}", \
      "look at the queue and the nodes of the cluster: what the resource manager says is shown") \
    X(WAIT_MASTER, "master", "application master: it runs the service and has not reported yet", \
      "nothing to do; if it lasts, look at the logs of the application") \
    X(WAIT_BACKOFF, "backoff", "backoff: the next try follows {n} ms after the end of the last one", \
      "nothing to do; read why the last try ended in its events and logs") \
    X(WAIT_FETCH, "fetch", "upgrade: the files of version {name} are looked for", \
      "nothing to do; if it lasts, look at the file system that holds them") \
    X(WAIT_MOVES, "moves", "upgrade: {n} of {of} instances run version {name}", \
      "nothing to do; what an instance waits for is listed with it") \
    X(WAIT_MOVE_REQUESTS, "move_requests", "upgrade: {n} of {of} instances run version {name}; the others are upgraded by request", \
      "upgrade the other instances, or cancel") \
    X(WAIT_FINALIZE, "finalize", "upgrade: all {of} instances run version {name}; it is finalized, or cancelled, by request", \
      "finalize the upgrade, or cancel it") \
    X(WAIT_FAILED_UPGRADE, "failed_upgrade", "upgrade: stands still: {text}", \
      "correct the cause and upgrade that instance again, or cancel") \
    X(WAIT_REVERT, "revert", "upgrade: {n} of {of} instances are to return to version {name}", \
      "nothing to do; what an instance waits for is listed with it") \
    /* of a component */ \
    X(WAIT_COMPONENT, "component", "dependency: component {name} has {n} of {of} instances ready", \
      "nothing to do once {name} is ready; what its instances wait for is listed with them") \
    X(WAIT_MASTER_AWAY, "master_away", "application master: it does not answer, so what it has stored is shown: {text}", \
      "nothing to do: the cluster starts another attempt; if it lasts, look at the logs of the application master") \
    /* of an instance, on its way */ \
    X(WAIT_PLACEMENT_MIN, "placement_min", "placement: constraint {name} wants at least {n} containers together, and fewer are wanted", \
      "flex the component to at least {n}, or lower min_cardinality of the constraint") \
    X(WAIT_PLACEMENT, "placement", "placement: constraint {name}: {text}", \
      "change the constraint, want fewer containers, or give the cluster a node that satisfies it") \
    X(WAIT_TURN, "turn", "container not requested yet: those of its component are asked for one at a time", \
      "nothing to do once the one that is asked for has come; what that waits for is listed with it") \
    X(WAIT_LABEL, "label", "placement: no node has the label {name}", \
      "change placement_policy.label, or give a node this label") \
    X(WAIT_ADDRESS, "address", "address: none is free in {name}", \
      "widen yarn.service.local.addresses, or stop what uses its addresses") \
    X(WAIT_PORT, "port", "port: every number for named ports is given out to instances that share an address", \
      "set yarn.service.local.addresses, so that each instance has its own address, or give ports fixed numbers") \
    X(WAIT_ALLOCATION, "allocation", "container requested", \
      "nothing to do; if it lasts, look at the load of the cluster") \
    X(WAIT_NODE, "node", "container requested on {name}, where its component was", \
      "nothing to do; another node is asked for when its time is over, unless the placement is strict") \
    X(WAIT_RESOURCE, "resource", "resource: {text}", \
      "stop or shrink something, ask for less, or give the cluster more") \
    X(WAIT_GANG, "gang", "gang: every other instance must have its container, too", \
      "nothing to do once the others have theirs; what they wait for is listed with them") \
    X(WAIT_START, "start", "process is being started", \
      "nothing to do; if it lasts, look at the logs of the instance") \
    X(WAIT_REINIT, "reinit", "process is being replaced by one of version {name}", \
      "nothing to do; if it lasts, look at the logs of the instance") \
    X(WAIT_CONTAINER_ADDRESS, "container_address", "address of the container is not known yet", \
      "nothing to do; if it lasts, look at the network of its node") \
    X(WAIT_FIRST_PROBE, "first_probe", "readiness: not probed yet", \
      "nothing to do") \
    X(WAIT_READINESS, "readiness", "readiness: {text}", \
      "look at the logs of the instance, and at the readiness_check of its component") \
    /* of an instance, after its process ended */ \
    X(WAIT_RETRY, "retry", "retry in {n} ms after: {text}", \
      "correct what ends the process: its logs and the exit say more") \
    X(WAIT_RESTART, "restart", "restart in {n} ms after: {text}", \
      "correct what ends the process: its logs and the exit say more") \
    X(WAIT_RECOVERY, "recovery", "recovering: {text}", \
      "nothing to do; it is replaced when it is not found in time") \
    /* of an instance, on its way out */ \
    X(WAIT_DRAIN_RECORD, "drain_record", "drain: the registry deletes its record", \
      "nothing to do; if it lasts, look at registryd") \
    X(WAIT_DRAIN_SYNC, "drain_sync", "drain: the DNS servers have not confirmed yet that they answer without it", \
      "nothing to do; if it lasts, look at dnsd") \
    X(WAIT_DRAIN_CLIENTS, "drain_clients", "drain: its clients have {n} s to leave", \
      "nothing to do") \
    X(WAIT_STOP, "stop", "container is being stopped", \
      "nothing to do; it is killed when its time is over") \
    /* of a face, beside those of the engine */ \
    X(WAIT_PUBLISH, "publish", "its record is not published in the registry: {text}", \
      "start registryd, or correct hadoop.registry.url") \
    /* by the registry, for good */ \
    X(WAIT_REFUSED, "refused", "{text}", \
      "correct the names or rights that the registry refuses, then start the service again") \
    /* the service has ended, or ends */ \
    X(WAIT_ENDED, "ended", "{text}", \
      "start the service again; if it failed, correct the cause first") \
    /* an instance that is not started again */ \
    X(WAIT_FAILED, "failed", "failed for good, by its restart or retry policy: {text}", \
      "correct what ended the process, then stop and start the service") \
    X(WAIT_FAILED_VERSION, "failed_version", "failed to run version {name}: {text}", \
      "correct the cause and upgrade this instance again, or cancel the upgrade")
/* clang-format on */

#define ENG_WAIT_TOKEN(token, ...) token,
enum eng_wait { ENG_WAITS(ENG_WAIT_TOKEN) };
#undef ENG_WAIT_TOKEN

/** A reason with its parameters; those that its sentence does not name are NULL and 0. */
struct eng_waiting {
    enum eng_wait why;
    char *name; /* of a service, component, constraint, label or network */
    char *text; /* what another part says: the cluster, a probe, an exit */
    int64_t n, of;
};

struct eng_instance;

/** Word of a reason, as "first_probe". Static. */
const char *eng_wait_word(enum eng_wait why);
/** Its sentence with the parameters; "" for WAIT_NONE. free() */
char *eng_wait_text(const struct eng_waiting *w);
/** What would end the wait, with the parameters; "" for WAIT_NONE. free() */
char *eng_wait_remedy(const struct eng_waiting *w);
/** Why an instance is not further: its component's reason, or its own. [borrowed]; NULL: nothing to wait for. */
const struct eng_waiting *eng_instance_waiting(const struct eng_instance *inst);

#endif
