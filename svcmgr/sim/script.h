/**
 * The script of a simulated cluster: which nodes there are, how long things take, and what goes wrong.
 *
 *   nodes 100 memory=131072 vcores=64 gpus=8 label=gpu rack=/r1 attributes=os:linux,disk:ssd resources=yarn.io/fpga:2
 *   delay allocate=0-20ms start=5-50ms stop=0-10ms ready=0-1s
 *   end exit=1 of=web-* share=20% after=1s-5s attempts=1
 *   unready of=web-* share=5% after=1s for=2s-3s
 *   node-failure every=60s down=5s-10s
 *   answers lost=1% repeated=5%
 *
 * gpus is the amount of the resource type yarn.io/gpu. A statement is a line, or ends at ';'. '#' begins a comment. Without `nodes` there are 100 of 131072 MB and 64 vcores.
 * Pure. Thread: any.   Source: ours.
 */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

#define SIM_GROUPS_MAX 64 /* a bit each in sim_tag_groups */
#define SIM_TYPES_MAX  8  /* resource types beside memory and cores */
#define SIM_GPU_TYPE   0  /* yarn.io/gpu */
#define SIM_RULES_MAX  64
#define SIM_NODES_MAX  100000
#define SIM_PPM        1000000 /* a share of all */

/** Durations from min_ms to max_ms, both included. */
struct sim_span {
    int64_t min_ms, max_ms;
};

/* clang-format off */
/** How a container's process ends. The word is that of the script; NULL: no script says it. */
#define SIM_CAUSES(X)                                                                        \
    X(SIM_EXITED, "exit")           /* value: exit code                                   */ \
    X(SIM_SIGNALLED, "signal")      /* value: signal number                               */ \
    X(SIM_NOT_STARTED, "launch")    /* it never ran                                       */ \
    X(SIM_MEMORY, "memory")         /* it used more than it asked for                     */ \
    X(SIM_PREEMPTED, "preempted")   /* the cluster took the container back                */ \
    X(SIM_LOST, "lost")             /* it vanished; value: SIM_NODE_LOST with its node, or 0 */ \
    X(SIM_STOPPED, NULL)            /* sim_stop                                           */
/* clang-format on */

#define SIM_NODE_LOST (-100) /* as YARN numbers it */

#define SIM_CAUSE_ROW(token, word) token,
enum sim_cause { SIM_CAUSES(SIM_CAUSE_ROW) };
#undef SIM_CAUSE_ROW

/** Nodes that are alike. */
struct sim_group {
    int64_t n, memory_mb, vcores;
    int64_t amounts[SIM_TYPES_MAX]; /* by the types of the script */
    char *label, *rack;             /* NULL: none */
    json_t *attributes;             /* {"os": "linux", …}; NULL: none */
};

/** A share of the process starts ends so. The first rule that applies decides. */
struct sim_end {
    char *of;          /* instance, or the beginning of its name with '*'; NULL: every one */
    int64_t share_ppm; /* of the starts */
    int64_t attempts;  /* only of the first so many in one container; 0: of all */
    struct sim_span after;
    enum sim_cause cause;
    int value;
};

/** A share of the processes is not ready for a time. */
struct sim_unready {
    char *of;
    int64_t share_ppm;
    struct sim_span after, lasts; /* after the process became ready */
};

struct sim_script {
    struct sim_group groups[SIM_GROUPS_MAX];
    size_t n_groups;
    char *types[SIM_TYPES_MAX]; /* "yarn.io/gpu", … */
    size_t n_types;
    struct sim_end ends[SIM_RULES_MAX];
    size_t n_ends;
    struct sim_unready unready[SIM_RULES_MAX];
    size_t n_unready;
    struct sim_span allocate, start, stop, ready;
    struct sim_span failure_every, failure_lasts; /* of some node; failure_every.max_ms 0: never */
    int64_t lost_ppm, repeated_ppm;               /* of the answers */
};

/**
 * Read a script.
 *
 * @param text  statements; NULL or "": the default cluster, in which nothing goes wrong      [borrowed]
 * @param out   free with sim_script_free                                                     [out]
 * @param why   names the statement and the word that cannot be read; may be NULL             [out]
 * @return 0; or ERR_CONFIG: *out is NULL.
 */
int sim_script_read(const char *text, struct sim_script **out, struct err_info *why);
/** Free; NULL is fine. */
void sim_script_free(struct sim_script *script);
/** The rule is for this instance: of is NULL, the name, or its beginning with '*'. instance NULL: only NULL is for it. */
bool sim_rule_is_for(const char *of, const char *instance);

#endif
