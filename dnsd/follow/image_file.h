/**
 * The image of the zones on disk (zone/image.h): written piece by piece, read into memory of its own, which is unmapped when no reader
 * needs the image.
 *
 * Source: ours.
 */
#ifndef FOLLOW_IMAGE_FILE_H
#define FOLLOW_IMAGE_FILE_H

#include "bobbin/error.h"
#include "follow/timestamp.h"
#include "run/loop.h"
#include "zone/image.h"

/** The header of an image whose content was current at `made`. Pure. Thread: any. Source: ours. */
struct zone_image_about image_file_about(const struct timestamp *made, uint64_t likeness, uint64_t n_records);
/** Age of its content now in ms: 0..TIMESTAMP_AGE_MAX. Thread: any. Source: ours. */
int64_t image_file_age_ms(const struct zone_image_about *about);

/**
 * Write an image.
 *
 * @param v  stays until this returns                                            [borrowed]
 * @return 0; or ERR_IO or a shortage (run/file.h) with the path in why.   Thread: any.   Source: ours.
 */
int image_file_write(const char *path, const struct zone_version *v, const struct zone_image_about *about,
                     struct err_info *why);

/**
 * Read an image.
 *
 * @param loop   its pool unmaps the memory                                      [borrowed, outlives the image]
 * @param image  released with zone_image_free                                   [out]
 * @return 0; ERR_NOTFOUND: there is none; ERR_IO, ERR_TOOBIG, or ERR_PARSE: damaged, or of another version of this program.
 * Thread: owner, while starting: waits for the disk.   Source: ours.
 */
int image_file_read(struct run_loop *loop, const char *path, struct zone_image **image, struct err_info *why);

#endif
