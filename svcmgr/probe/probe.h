/**
 * Readiness probes of running containers, all concurrently: DEFAULT, HTTP, PORT, each after an optional look-up in DNS.
 * The first probe comes at once, then after 50, 100, 200 … ms up to the interval until the first success, the interval
 * after that. A probe never overlaps itself.
 *
 * Thread: owner for everything.   Source: YARN services API 9.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "engine/engine.h"
#include "http/client.h"
#include "run/loop.h"

struct probes;

/**
 * The prober of a program.
 *
 * @param http    client for HTTP probes                                            [borrowed, outlives it]
 * @param result  called with the first result of a probe and of every change. `text` says why it is not ready (NULL when it
 *                is); it may start and stop probes                                  [borrowed]
 */
struct probes *probes_new(struct run_loop *loop, struct http_client *http,
                          void (*result)(void *arg, const char *container_id, int64_t attempt, bool ready,
                                         const char *text),
                          void *arg);
/** Stop all probes and free; no call afterwards. NULL is fine. */
void probes_free(struct probes *p);
/** Begin to probe a container, instead of what was probed there before. @param def copied. */
void probe_start(struct probes *p, const char *container_id, const struct eng_probe *def);
/** Stop probing a container; no call about it afterwards. Unknown ones are fine. */
void probe_stop(struct probes *p, const char *container_id);

#endif
