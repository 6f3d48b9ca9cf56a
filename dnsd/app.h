/**
 * dnsd's parts. Only app*.c, api*.c and main.c see this.
 * Thread: owner.   Source: ours.
 */
#ifndef DNSD_APP_H
#define DNSD_APP_H

#include <sys/queue.h>

#include "follow/follow.h"
#include "masters/masters.h"
#include "follow/serials.h"
#include "follow/snapshot.h"
#include "forward/forward.h"
#include "base/map.h"
#include "base/obj.h"
#include "http/openapi.h"
#include "http/server.h"
#include "net/net.h"
#include "run/daemon.h"
#include "tap/tap.h"
#include "zone/zone.h"

struct jw;

#define DNSD_MAGIC OBJ_MAGIC('D', 'N', 'S', 'D')

struct dnsd {
    struct obj obj;
    struct daemon *daemon;
    uint8_t domain[NAME_MAX_LEN];
    char host[256]; /* name of this host, where an option does not name it */
    int lock;       /* of the data directory, or -1 */
    struct zoneset *zones;
    struct writer *writer; /* of zones */
    struct serials *serials;
    struct masters *masters;
    struct map ttls; /* component -> its TTL */
    struct net *net;
    struct forward *forward; /* NULL: nothing is forwarded */
    struct tap *tap;         /* query log and dnstap */
    struct reg *registry;
    struct follow *follow;            /* NULL before its step and after it */
    struct snapshot_restore *restore; /* reads the snapshot of the last run; else NULL */
    struct snapshots *snapshots;      /* NULL: none can be written, or not yet */
    bool has_image;                   /* an image of the last run was answered from at the start */
    TAILQ_HEAD(, dump) dumps;         /* versions that are being dumped: api_dump.c */
    struct http_server *http;
    struct run_timer *reclaim; /* frees versions that workers still read when they were replaced */
    struct {
        /** Runs while readers are kept at an older version and that is not reported yet. */
        struct run_timer *timer;
        bool is_waiting, is_on; /* is_on: it is reported */
        TAILQ_HEAD(, seen_call) calls;
    } freeze;
};

/** The parts in the order in which they start: app.c. */
extern const struct daemon_step dnsd_steps[];
extern const size_t dnsd_n_steps;

/** SIGHUP. */
void dnsd_reload(struct daemon *d, void *app);

/** Sockets and workers: app_net.c. */
int dnsd_net_start(struct daemon *d, void *app, struct err_info *why);
void dnsd_net_stop(struct daemon *d, void *app);
/** Reload certificate and cookie secrets; what cannot be read stays in force, and is logged. @param why the first such
 *  file [out] @return 0; or ERR_CONFIG: at least one could not be read. */
int dnsd_net_reload(struct dnsd *app, struct err_info *why);
/** What the start would refuse, of the forwarder too. */
void dnsd_net_check(const struct options *o, struct opt_report *report);

/** Make the forwarder of the options, if any, and set it in the options of net_start: app_forward.c. */
int dnsd_forward_start(struct dnsd *app, struct net_options *opts, struct err_info *why);
/** Write the forwarder's part of /stats, as members of the open object; nothing when there is none. */
void dnsd_forward_write(const struct dnsd *app, struct jw *w);
/** What dnsd_forward_start would refuse. */
void dnsd_forward_check(const struct options *o, struct opt_report *report);

/** Query log and dnstap: app_tap.c. Begins before net_start, ends after net_stop. */
int dnsd_tap_start(struct dnsd *app, struct err_info *why);
void dnsd_tap_stop(struct dnsd *app);
/** Put the rates of the options in force. */
void dnsd_tap_reload(struct dnsd *app);
/** Write its part of /stats, as a member of the open object. */
void dnsd_tap_write(const struct dnsd *app, struct jw *w);
/** Checks of the options of this part. */
void dnsd_tap_check(const struct options *o, struct opt_report *report);

/** Declare the zones that the options and the zone directory name, with SOA and NS: app_zones.c. */
int dnsd_zones_start(struct daemon *d, void *app, struct err_info *why);
void dnsd_zones_stop(struct daemon *d, void *app);
/** What the start would refuse. */
void dnsd_zones_check(const struct options *o, struct opt_report *report);

/** Open the serials of the zones, and let readers see no version that they do not cover: app_serials.c. */
void dnsd_serials_start(struct dnsd *app);
/** The zones are declared: reserve their serials, which waits for the disk. */
void dnsd_serials_begin(struct dnsd *app);
/** Write the serials as they are, then call stopped. */
void dnsd_serials_stop(struct dnsd *app, void (*stopped)(void *arg));
/** The start failed: release. */
void dnsd_serials_free(struct dnsd *app);
/** A version was made: report when readers are kept at an older one, and when they no longer are. */
void dnsd_serials_mind(struct dnsd *app);
/**
 * Call fn when readers see the newest version: with false when they are kept at an older one for so long that it is reported, or see
 * an image. Maybe before this returns; not after dnsd_forget_visible.
 */
void dnsd_when_visible(struct dnsd *app, void (*fn)(void *arg, bool is_visible), void *arg);
/** Forget what dnsd_when_visible is to call with arg. */
void dnsd_forget_visible(struct dnsd *app, void *arg);
/** Why readers have been kept at an older version for some time, appended to `out`. @return false: they are not. */
bool dnsd_serials_frozen(const struct dnsd *app, struct buf *out);

/** TTL of the registry's records in seconds, by whichever key. */
uint32_t dnsd_ttl_s(const struct options *o);
/** A path below bobbin.data.dir/dnsd, which is made (leaf NULL: that itself); free(). NULL: it cannot be made, which is logged. */
char *dnsd_data_path(struct dnsd *app, const char *leaf);
/** A version was made: reclaim old ones, reserve serials: app.c. */
void dnsd_published(struct dnsd *app);
/** Answer from the image and the snapshot of the last run, then begin to follow the registry: app_restore.c. */
void dnsd_restore_start(struct dnsd *app);
/** Are names answered from an image of the last run? */
bool dnsd_is_on_image(const struct dnsd *app);
/** A version was made, or what is known of the registry changed: app.c. */
void dnsd_changed(void *app);
/** Read the TTLs of components from the options: app_ttl.c. @param report  errors are appended [in,out] */
void dnsd_ttls_read(const struct options *o, struct map *ttls, struct opt_report *report);
/** The TTL of a component, for map_options. @param app struct dnsd */
bool dnsd_component_ttl(void *app, const char *component, uint32_t *ttl_s);

/** Oldest version that a dump is at; UINT64_MAX: none: api_dump.c. */
uint64_t dnsd_oldest_dump(const struct dnsd *app);
/** Words for zone kinds. */
const char *dnsd_zone_kind(enum zone_kind kind);

/** Fill in the metrics that live elsewhere. */
void dnsd_collect(void *app);

#endif
