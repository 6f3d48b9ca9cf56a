/**
 * Addresses of the host names in records, resolved in the background.
 *
 *     hosts_use ──► resolve (uv_getaddrinfo) ──► differ: changed() ──► hosts_apply installs the new ones
 *                        ▲                                                       │
 *                        └────────────────── refresh_ms later ◄──────────────────┘
 *
 * hosts_get gives the installed addresses until hosts_apply, so that the records produced with them can be removed exactly.
 * A name that does not exist has no addresses. A failure of the resolver changes nothing and is retried.
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
struct outage;

struct hosts_def {
    struct run_loop *loop;
    int64_t refresh_ms;    /* between two look-ups of one name; at least 1000 */
    struct outage *outage; /* the resolver fails for a name at least; NULL: not reported [borrowed] */
    /** The addresses of a host differ: remove the records of its users, hosts_apply, produce them again. */
    void (*changed)(void *arg, const char *host);
    void *arg;
};

/** A new set of hosts, empty. @param def copied. @return release with hosts_free. Thread: owner. Source: ours. */
struct hosts *hosts_new(const struct hosts_def *def);
/** Release; look-ups in flight are dropped. NULL is fine. Thread: owner. Source: ours. */
void hosts_free(struct hosts *h);
/** Add a record that names this host; a new host is resolved. @param path registry path of the record [copied]. Thread: owner.
 *  Source: ours. */
void hosts_use(struct hosts *h, const char *host, const char *path);
/** Remove a record that named it; a host without records is dropped. Thread: owner. Source: ours. */
void hosts_drop(struct hosts *h, const char *host, const char *path);
/** Installed addresses. @param out room for max. @return how many; 0 also for an unknown host. Thread: owner. Source: ours. */
size_t hosts_get(const struct hosts *h, const char *host, struct addr *out, size_t max);
/** Install the addresses resolved last. Inside changed(). Thread: owner. Source: ours. */
void hosts_apply(struct hosts *h, const char *host);
/** Call fn for each record that names the host. fn does not use or drop hosts. Thread: owner. Source: ours. */
void hosts_each_user(const struct hosts *h, const char *host, void (*fn)(void *arg, const char *path),
                     void *arg);

#endif
