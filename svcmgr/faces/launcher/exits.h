/**
 * Exit codes of the FrameworkLauncher API: what it calls the typed exits of the engine.
 *
 *     0            the process succeeded
 *     1 … 255      the exit code of the process, or 128 + its signal
 *     -1 … -999    a code of the cluster that the API has no name for
 *     -7100 …      container    -7200 … manager    -7300 … application    -7400 task
 *
 * Pure. Thread: any.   Source: framework-launcher 9.
 */
#ifndef LAUNCHER_EXITS_H
#define LAUNCHER_EXITS_H

#include "engine/engine.h"

#define LAUNCHER_APP_STOPPED  (-7351)
#define LAUNCHER_TASK_STOPPED (-7400)

/** Of what an exit is. */
enum launcher_scope {
    LAUNCHER_TASK,       /* a task, or an application that ended with a task's exit */
    LAUNCHER_APPLICATION /* an application by itself */
};

struct launcher_exit {
    int64_t code;
    enum eng_exit_type type;
    const char *description; /* static */
};

/**
 * The code of an exit, its type and the sentence that describes it.
 *
 * @param e      whose types of exit codes count                                    [borrowed]
 * @param x      how something ended                                                [borrowed]
 * @param scope  of what it is the exit
 * Thread: any.   Source: framework-launcher 9.2, 9.3, 9.4.
 */
struct launcher_exit launcher_exit_of(const struct engine *e, const struct eng_exit *x,
                                      enum launcher_scope scope);
/** The type and the sentence of a code. Thread: any.   Source: framework-launcher 9.3. */
struct launcher_exit launcher_exit_of_code(const struct engine *e, int64_t code);
/** Word of a type: "TRANSIENT_NORMAL". Static. Thread: any.   Source: framework-launcher 9.1. */
const char *launcher_exit_type_word(enum eng_exit_type type);
/**
 * What is known of an exit beside its code: nothing after a success; after another exit of the process its code and the last lines of its
 * standard error; else what the cluster said. free() Thread: any.   Source: framework-launcher 7.1.
 */
char *launcher_exit_diagnostics(const struct eng_exit *x);

#endif
