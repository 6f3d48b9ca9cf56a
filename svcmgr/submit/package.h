/**
 * The program of an application master as one archive, for nodes that have neither it nor its libraries:
 *
 *     svcmgr              this program
 *     lib/libuv.so.1 …    the libraries that it has loaded, without those of the C library, which every node has
 *
 * The same files give the same bytes (no times, no owners, names in order). The archive is named by its content, so a running application
 * finds its own after svcmgr was replaced.
 *
 * Source: ours; dl_iterate_phdr(3), libarchive.
 */
#ifndef SUBMIT_PACKAGE_H
#define SUBMIT_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"

/** In the archive: the program, and the directory of its libraries. */
#define SUBMIT_PACKAGE_PROGRAM "svcmgr"
#define SUBMIT_PACKAGE_LIBS    "lib"
/** Hexadecimal digits of a name, and its NUL. */
#define SUBMIT_HASH_ROOM 65

struct submit_package {
    char *path;                  /* DIR/am-HASH.tar.gz; owned          */
    char hash[SUBMIT_HASH_ROOM]; /* of its content: SHA-256            */
    int64_t size;                /* bytes                              */
};

/** What an archive is made of. */
struct submit_parts;
/** This program and what it has loaded. Free with submit_parts_free. Thread: any. */
struct submit_parts *submit_parts_new(void);
/** NULL is fine. Thread: any. */
void submit_parts_free(struct submit_parts *parts);
/**
 * Make the archive, or find the one that was made of the same files before: a second of a processor is saved at each start. Files are the
 * same when device, inode, size and times are; an archive that is found is read, and made again when its bytes are not those of its name.
 *
 * @param parts  of submit_parts_new                                             [borrowed]
 * @param dir    exists; only svcmgr may enter it                                [borrowed]
 * @param out    submit_package_fini releases it                                 [out]
 * @param why    filled on error                                                 [out]
 * @return 0; or ERR_IO, ERR_NOSPC, ERR_LIMIT: a part cannot be read, the archive cannot be written.
 * Thread: any; takes two seconds of a processor, a tenth when it is found.
 */
int submit_package_make(const struct submit_parts *parts, const char *dir, struct submit_package *out,
                        struct err_info *why);
/** Release; empty afterwards. Thread: any. */
void submit_package_fini(struct submit_package *p);
/**
 * The same on a thread of the pool.
 *
 * @param done  called once, on the loop, never inside this call: 0 with the package, which the callee empties to keep it; or ERR_IO
 * Thread: owner.
 */
void submit_package_start(struct run_loop *loop, const char *dir,
                          void (*done)(void *arg, int err, struct submit_package *take_package,
                                       const struct err_info *why),
                          void *arg);

#endif
