/**
 * A trace: what happens to a simulated svcmgr, one operation a line. A seed makes one; a failing one is cut down and printed; a file
 * of one is run again.
 *
 *   +120 flex 1 0 5        120 ms after the last one: service 1, component 0, to 5 instances
 *
 * Numbers are taken modulo what there is, so a trace stays one whatever is cut out of it.
 * Pure. Thread: any.   Source: ours.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */
#define TRACE_OPS(X) \
    X(OP_WAIT,         "wait",         60) /* nothing, but time                                            */ \
    X(OP_CREATE,       "create",       70) /* a: service, b: shape of its specification                    */ \
    X(OP_SAVE,         "save",          3) /* the same, not started                                        */ \
    X(OP_FLEX,         "flex",         50) /* a: service, b: component, c: instances                       */ \
    X(OP_STOP,         "stop",         12) /* a: service                                                   */ \
    X(OP_START,        "start",        25) /* a: service                                                   */ \
    X(OP_DESTROY,      "destroy",       6) /* a: service                                                   */ \
    X(OP_LIFETIME,     "lifetime",      2) /* a: service, b: seconds                                       */ \
    X(OP_PROGRESS,     "progress",      3) /* a: service, b: thousandths                                   */ \
    X(OP_DECOMMISSION, "decommission",  8) /* a: service, b: component, c: instance                        */ \
    X(OP_UPGRADE,      "upgrade",      40) /* a: service, b: mode and auto_revert, c: the new definition   */ \
    X(OP_MOVE,         "move",         30) /* a: service, b: component, c: instance, or all of them        */ \
    X(OP_FINALIZE,     "finalize",      12) /* a: service                                                   */ \
    X(OP_CANCEL,       "cancel",        4) /* a: service                                                   */ \
    X(OP_RESTART,      "restart",       10) /* a: service, b: component, c: instance                        */ \
    X(OP_REPLACE,      "replace",       10) /* a: service, b: component, c: instance                        */ \
    X(OP_REDEFINE,     "redefine",      20) /* a: service, b: shape, c: rules, version, whether it is to stop */ \
    X(OP_MIGRATE,      "migrate",       8) /* a: service, b: container, c: asked, or not any more          */ \
    X(OP_EXCLUDE,      "exclude",       5) /* a: service, b: node, c: may not be used, or may              */ \
    X(OP_RESYNC,       "resync",       10) /* a: service whose requests the cluster may have lost          */ \
    X(OP_END,          "end",          70) /* a: container, b: how its process ends, c: exit code          */ \
    X(OP_NODE,         "node",          8) /* a: node that fails, b: ms                                    */ \
    X(OP_REGISTRY,     "registry",      8) /* a: ms without a registry                                     */ \
    X(OP_STORE,        "store",        10) /* a: writes that fail                                          */ \
    X(OP_CRASH,        "crash",        20) /* a: transactions until then, b: effects carried out, c: ms it is down */
/* clang-format on */

#define TRACE_OP_ROW(token, word, weight) token,
enum op_kind { TRACE_OPS(TRACE_OP_ROW) N_OPS };
#undef TRACE_OP_ROW

struct op {
    enum op_kind kind;
    uint32_t wait_ms, a, b, c;
};

struct trace {
    struct op *ops;
    size_t n;
};

/** n random operations of a seed; free with trace_fini. */
void trace_make(struct trace *t, uint64_t seed, size_t n);
/** Read a trace, a line each; empty lines and '#' are skipped. @return 0, or the number of the line that is none. */
int trace_read(struct trace *t, FILE *f);
void trace_print(const struct trace *t, FILE *f);
/** Release. */
void trace_fini(struct trace *t);
/**
 * Cut a trace down: as long as `fails` says true of what is left, take operations out, many at once first.
 * @param t  fails; then one that still fails, from which no single operation can be taken   [in,out]
 */
void trace_reduce(struct trace *t, bool (*fails)(void *arg, const struct trace *t), void *arg);

#endif
