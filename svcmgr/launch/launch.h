/**
 * Makes a cluster's launch of the engine's: the environment, the command and the files of one process, with the values
 * expanded that are known only when the container is allocated.
 *
 *   <LOG_DIR>   the container's log directory        in the command and in values of the environment
 *   $PWD        the working directory                in values of the environment (in the command the shell knows it)
 *   {{NAME}}    a variable of this environment       in both
 *
 * The entry point of a task stays as it is: bash gets it between double quotes, so that the shell before takes what it finds in it.
 *
 * Where the directories are known on the node only (work_dir, log_dir NULL) the first two stay for it.
 *
 * Nothing is opened here: sources are read where the container runs, with its user's rights.
 *
 * Thread: owner.   Source: YARN services API 8.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "cluster/cluster.h"
#include "engine/engine.h"

/** What cluster_launch needs, with everything it points to. Release with launch_plan_fini. */
struct launch_plan {
    struct cluster_launch launch;
    char *command;
    char **env; /* "NAME=value", by name, NULL-terminated */
    struct cluster_file *files;
    size_t n_files;
    struct cluster_image image;
    char *mounts;              /* of image */
    enum eng_exit_cause cause; /* what kind of end an error is */
};

/**
 * Plan a process start. Without a command the plan has an empty one: an image has its own, and a process without any is refused when
 * its definition comes (spec_check_launch).
 *
 * @param wanted     what the engine wants                                           [borrowed, until launch_plan_fini]
 * @param container  where                                                           [borrowed for the call]
 * @param out        filled on success                                               [out]
 * @return 0; ERR_TOOBIG: the expanded texts have more than SPEC_EXPANDED_MAX bytes, it names which; ERR_UNSUPPORTED: a name that no variable can have; ERR_INVALID:
 *         two sources of a task have one base name, or one has none. *out is empty on error but for cause, why->text is for the user.
 */
int launch_plan(const struct eng_launch *wanted, const struct cluster_container *container,
                struct launch_plan *out, struct err_info *why);
/** Release; the plan is empty afterwards. */
void launch_plan_fini(struct launch_plan *p);

#endif
