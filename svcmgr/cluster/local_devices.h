/**
 * Devices of the host that belong to a resource type, in parts: a container that has n of the type gets n parts, each of which no other
 * container has at the time. A part is one device, or several with '+' between them; a device may be of several parts.
 *
 *     yarn.io/gpu=/dev/nvidia0+/dev/nvidiactl,/dev/nvidia1+/dev/nvidiactl     two parts
 *
 * Thread: owner, but for local_devices_paths.   Source: ours; yarn.service.local.devices.<type>.
 */
#ifndef CLUSTER_LOCAL_DEVICES_H
#define CLUSTER_LOCAL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "spec/needs.h"

/** What stands for a GPU that is declared and has no device: "gpu0". */
#define LOCAL_GPU_PART "gpu%zu"
/** Bytes of the parts of all types together, with what divides them: an allocation file has room for as many. */
#define LOCAL_DEVICES_MAX 4000

struct local_devices {
    struct local_device *parts;
    size_t n;
};

/**
 * Nothing is held.
 * @param text  a line "TYPE=PART,PART" for each type, each of which is_good; NULL: none            [borrowed]
 */
void local_devices_init(struct local_devices *d, const char *text);
/** Release. */
void local_devices_fini(struct local_devices *d);
/** The host has n GPUs: where none of their devices are named, each is a part without one, so that it has a number. */
void local_devices_add_gpus(struct local_devices *d, int64_t n);
/** Why a container cannot have the GPUs that it must have. @param needs  NULL: nothing @return free(); NULL: it can */
char *local_devices_lack(const struct local_devices *d, const struct spec_needs *needs);
/** A bit for each of the host's first 63 GPUs that is among the parts. @param held  as of local_devices_hold [borrowed] */
int64_t local_devices_gpus(const struct local_devices *d, const char *held);
/** How many parts a list has: absolute paths without a blank, colon or quote, no part twice. @return 0: it is no such list */
size_t local_devices_count(const char *list);
/** Hold parts for a new container. @param needs  NULL: nothing @return "PART,PART", "" for none; free() */
char *local_devices_take(struct local_devices *d, const struct spec_needs *needs);
/** Parts are held, or free again. @param held  what local_devices_take returned, perhaps in an earlier process; parts that are not
 *  configured any more are left out [borrowed] */
void local_devices_hold(struct local_devices *d, const char *held, bool is_held);
/** The devices of the parts, each once, parts without one left out: "/dev/a,/dev/b"; "" for none. free() Thread: any. */
char *local_devices_paths(const char *held);

#endif
