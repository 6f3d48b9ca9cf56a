/**
 * dnsd's parts. Only app*.c, api.c and main.c see this.
 * Thread: owner.   Source: ours.
 */
#ifndef DNSD_APP_H
#define DNSD_APP_H

#include "feed/follow.h"
#include "http/server.h"
#include "net/net.h"
#include "run/daemon.h"
#include "zone/zone.h"

struct dnsd {
    struct daemon *daemon;
    uint8_t domain[NAME_MAX_LEN];
    char host[256]; /* name of this host, where an option does not name it */
    struct zoneset *zones;
    struct net *net;
    struct reg *registry;
    struct follow *follow;
    struct http_server *http;
    struct run_timer *reclaim; /* frees versions that workers still read when they were replaced */
};

/** The parts in the order in which they start: app.c. */
extern const struct daemon_step dnsd_steps[];
extern const size_t dnsd_n_steps;
/** Checks over several options, for -t. */
void dnsd_check(const struct options *o, struct buf *errors);

/** SIGHUP. */
void dnsd_reload(struct daemon *d, void *app);

/** Sockets and workers: app_net.c. */
int dnsd_net_start(struct daemon *d, void *app, struct err_info *why);
void dnsd_net_stop(struct daemon *d, void *app);
/** Load certificate and cookie secrets again. */
void dnsd_net_reload(struct dnsd *app);
/** Checks of the options of this part. */
void dnsd_net_check(const struct options *o, struct buf *errors);

/** Declare the zones that the options and the zone directory name, with SOA and NS: app_zones.c. */
int dnsd_zones_start(struct daemon *d, void *app, struct err_info *why);
void dnsd_zones_stop(struct daemon *d, void *app);

/** Routes of the HTTP interface: api.c. */
extern const struct http_route dnsd_routes[];
extern const size_t dnsd_n_routes;
/** Fill in the metrics that live elsewhere. */
void dnsd_collect(void *app);

#endif
