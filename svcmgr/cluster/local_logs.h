/**
 * Logs of released containers: retained for a time, then removed.
 *
 *     <root>/<application>/<container>/         the logs
 *     <root>/<application>/.<container>.ended   how long ago the container was released, at which time of which boot
 *     <root>/<application>/.<instance>.last     id of the instance's last container; goes with its logs
 *     <root>/<application>/.service             "owner/service" as the target of a link; goes last
 *
 * The time is counted on the clock since boot, from the first sweep after the container's directory is gone. After a reboot it
 * continues from the last note, which is made at each eighth of it: logs may stay longer, and never shorter.
 *
 * Thread: any; calls wait for the disk.   Source: ours.
 */
#ifndef CLUSTER_LOCAL_LOGS_H
#define CLUSTER_LOCAL_LOGS_H

#include <stdint.h>

#include "bobbin/error.h"

/**
 * Look at all logs and remove those that are old enough. What cannot be looked at, noted or removed now is left to the
 * next time.
 *
 * @param root        the directory above; of ours alone, but for the logs themselves
 * @param containers  a container with an entry of its name in this directory is not gone
 * @param keep_ms     how long they are kept
 */
void local_logs_expire(const char *root, const char *containers, int64_t keep_ms);
/** Name of the file that names an instance's last container. @return free(); NULL: not usable in a path. */
char *local_logs_instance_file(const char *instance);
/** The last container of an instance, by that file. @return free(); NULL: there is none, or its logs are gone. */
char *local_logs_container_of(const char *app_dir, const char *instance);
/**
 * Make a container's directory of logs, and note whose application it is of. The note is a link that leads nowhere, which is
 * made whole in one call. No sweep removes the application's directory meanwhile.
 *
 * @param dir      the container's directory; those above it are made too        [borrowed]
 * @param service  "owner/service", the first one stays; NULL: no note           [borrowed]
 * @param why      filled on failure                                             [out]
 * @return 0; ERR_NOSPC, ERR_LIMIT: a shortage; ERR_IO.
 */
int local_logs_make(const char *dir, const char *service, struct err_info *why);
/** What was noted. @return free(); NULL: nothing. */
char *local_logs_service_of(const char *app_dir);

#endif
