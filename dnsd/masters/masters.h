/**
 * Zones whose SOA, NS and other fixed records do not come from the registry: generated ones (the registry zone, reverse
 * zones, empty zones) and master files `NAME.zone` of a directory. A file of a generated zone's name takes its place; when
 * the file goes, the generated records come back.
 *
 *     generated ──► declared ◄── file read ──► changed: old records out, new ones in, one version
 *                      │                          └─ bad: the old ones stay, file:line is reported
 *                      └─ file gone, not generated: records out, zone retired
 *
 * The directory is read, and files are parsed, on a thread of the pool (masters/master_dir.h); zones change on the owner's, one after
 * the other, each in steps and published as a whole (follow/writer.h).
 *
 * Thread: owner.   Source: RFC 1035 5; Hadoop RegistryDNS (file names); reloading: ours.
 */
#ifndef MASTERS_MASTERS_H
#define MASTERS_MASTERS_H

#include "bobbin/error.h"
#include "follow/follow.h"
#include "masters/rrlist.h"
#include "follow/writer.h"
#include "run/loop.h"
#include "zone/zone.h"

struct masters;

struct masters_def {
    struct run_loop *loop;
    struct zoneset *zones;
    struct writer *writer; /* of these zones                                        [borrowed] */
    const char *dir;       /* of master files; NULL: none                               [borrowed] */
    int64_t poll_ms;       /* between two scans of the directory; 0: only masters_reload */
    /** First serial of a zone that comes. Called, too, when the file of a declared one has another serial; the result does not count
     *  then. @param wanted of the file, or 0. */
    uint32_t (*serial)(void *arg, const uint8_t *apex, enum zone_kind kind, uint32_t wanted);
    /** Move some RRs of the registry within a zone: records_rezone_part. */
    bool (*rezone)(void *arg, struct zone_tx *tx, const struct records_move *move, uint32_t *cursor);
    /** A version was published. */
    void (*changed)(void *arg);
    void *arg;
};

/** The result of a scan of the directory. */
struct masters_outcome {
    unsigned n_files, n_changed, n_bad;
    struct err_info why; /* of the first bad file */
};

/** No zone yet. @param def copied. Free with masters_free. Thread: owner. Source: ours. */
struct masters *masters_new(const struct masters_def *def);
/** Release; zones stay. Reloads under way end with ERR_CANCELLED. NULL is fine. Thread: owner. Source: ours. */
void masters_free(struct masters *m);

/**
 * A generated zone; before masters_load. A second one of the same apex is left out.
 *
 * @param take_rrs  its records, SOA and NS among them                           [taken]
 * Thread: owner.   Source: ours.
 */
void masters_generate(struct masters *m, const uint8_t *apex, enum zone_kind kind, struct rrlist *take_rrs);

/**
 * Read the directory and declare every zone; waits for the disk, so only while starting. A bad file is reported as by a reload, and
 * its zone is the generated one, or none.
 *
 * @return 0; ERR_IO: the directory cannot be read; ERR_LIMIT: too many zones. Some zones may be declared.
 * Thread: owner.   Source: ours.
 */
int masters_load(struct masters *m, struct err_info *why);
/** Read a directory for -t. @param bad called for each bad file, with why->where "file:line", and with ERR_IO for a directory that
 *  cannot be read. Thread: any. Source: ours. */
void masters_check(const char *dir, void (*bad)(void *arg, const struct err_info *why), void *arg);

/**
 * Read what has changed, and apply it.
 *
 * @param done  called from the loop with the result; NULL: nobody asks for it. err: 0, ERR_CONFIG (a file is bad: its zone is
 *              as it was), ERR_IO (the directory), ERR_CANCELLED
 * Thread: owner.   Source: ours.
 */
void masters_reload(struct masters *m,
                    void (*done)(void *arg, int err, const struct masters_outcome *outcome), void *arg);
/** Forget the calls of arg. Thread: owner. Source: ours. */
void masters_forget(struct masters *m, void *arg);

/** File a zone is read from, or NULL. Borrowed. @param error what is wrong with it now, or NULL; borrowed [out]. Thread: owner. Source:
 *  ours. */
const char *masters_file(const struct masters *m, const uint8_t *apex, const struct err_info **error);
/** A checksum of the zones and their records, those of the registry left out: two that differ have different ones, most likely. Thread:
 *  owner. Source: ours. */
uint64_t masters_likeness(const struct masters *m);
/** Number of files that are bad now. Thread: owner. Source: ours. */
unsigned masters_n_bad(const struct masters *m);

#endif
