/**
 * Addresses of host names that records name, found in the background and remembered as they were installed.
 *
 *     hosts_use ──► asked (uv_getaddrinfo) ──► other than before: changed() ──► hosts_apply takes the new ones over
 *                        ▲                                                                  │
 *                        └───────────────────── refresh_ms later ◄──────────────────────────┘
 *
 * hosts_get gives the addresses that are installed, until hosts_apply: so what was produced with them can be taken away
 * exactly. A name that does not exist has no addresses; an answer that does not come (a resolver that fails) changes
 * nothing and is asked for again.
 *
 * Thread: owner.   Source: Hadoop RegistryDNS (names are resolved by the host's resolver); ours.
 */
#ifndef NAMES_HOSTS_H
#define NAMES_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "run/loop.h"

struct hosts;

struct hosts_def {
    struct run_loop *loop;
    int64_t refresh_ms; /* between two questions about one name; at least 1000 */
    /** New addresses are there: take away what was produced with the old ones, hosts_apply, produce again. */
    void (*changed)(void *arg, const char *host);
    void *arg;
};

/** Nothing is asked yet. @param def copied. Free with hosts_free. Thread: owner. Source: ours. */
struct hosts *hosts_new(const struct hosts_def *def);
/** Release; questions on their way are forgotten. NULL is fine. Thread: owner. Source: ours. */
void hosts_free(struct hosts *h);
/** A record names this host; it is asked for when it is new. @param path registry path of the record [copied]. Thread: owner.
 *  Source: ours. */
void hosts_use(struct hosts *h, const char *host, const char *path);
/** The record names it no more. Thread: owner. Source: ours. */
void hosts_drop(struct hosts *h, const char *host, const char *path);
/** Installed addresses. @param out room for max. @return how many; 0 too when nobody uses the host. Thread: owner. */
size_t hosts_get(const struct hosts *h, const char *host, struct addr *out, size_t max);
/** Install what was found last. Inside changed(). Thread: owner. Source: ours. */
void hosts_apply(struct hosts *h, const char *host);
/** Call fn for each record that names the host. fn does not use or drop hosts. Thread: owner. Source: ours. */
void hosts_each_user(const struct hosts *h, const char *host, void (*fn)(void *arg, const char *path),
                     void *arg);

#endif
