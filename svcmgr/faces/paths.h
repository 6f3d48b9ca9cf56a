/**
 * Checks the files of this host that a document names. Validation cannot wait, and a file is looked up with the rights of the
 * container's user, by another process. So a document is validated twice: first every file is assumed to exist and noted, then,
 * when the look-up has answered, validation uses its answers.
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_PATHS_H
#define FACES_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "faces/face.h"

struct paths {
    char **items; /* each once; owned */
    size_t n;
    bool may_be_empty;  /* the service may have no components */
    bool is_other_api;  /* as in struct spec_world */
    const bool *absent; /* one for each item, from the second time on; NULL: they are noted [borrowed] */
};

/**
 * Complete and check a service, as spec_complete and, when it is to be launched, spec_check_launch; its files are noted in *p, or
 * answered from it.
 *
 * @param s     completed in place, also half-way on error                           [in,out]
 * @param user  caller                                                               [borrowed]
 * @return 0; ERR_INVALID with the literal diagnostics.
 */
int paths_complete(struct spec_service *s, const char *user, const struct face *face, struct paths *p,
                   struct err_info *why);
/**
 * Where a service names a file.
 *
 * @param s     completed or as it was sent                                          [borrowed]
 * @param path  as the service has it                                                [borrowed]
 * @return JSON pointer of the first place, for a completed service in its components; free(). NULL: nowhere.
 */
char *paths_place(const struct spec_service *s, const char *path);
/** Release the items; *p is empty afterwards. */
void paths_fini(struct paths *p);

#endif
